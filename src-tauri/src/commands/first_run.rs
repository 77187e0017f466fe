//! The first run: what is there already, and a sample of what an agent would know.

use pao_core::spawn::request::Request;
use pao_core::wire::Check;
use pao_core::wire::door::FirstRun;
use pao_core::{Error, doctor, spawn};
use tokio_util::sync::CancellationToken;

use crate::door::FirstChoices;
use crate::jobs::Unasked;
use crate::shell::Shell;
use crate::{events, hotkey, not_yet};

/// What the first run is about, by the names the doctor has for it.
const ABOUT: [&str; 5] = ["agent", "claude-code", "terminal", "history", "transcripts"];
/// How many lines of a sample are shown.
const SAMPLE: usize = 2;

pub async fn first_run(shell: &Shell, _with: ()) -> Result<FirstRun, Error> {
    let checks = doctor::examine(&shell.host).await;
    let checks: Vec<Check> = checks.iter().filter(|c| ABOUT.contains(&&*c.name)).map(Into::into).collect();
    let context = shell.context_to_ask().await?;
    let recent = context.registry.folders().await?.into_iter().find(|folder| folder.is_dir());
    let mut first = FirstRun {
        checks,
        roots: Vec::new(),
        sample: Vec::new(),
        sample_project: None,
        sample_lines: 0,
        hotkey: hotkey::PROPOSED.into(),
    };
    if let Some(folder) = recent {
        let request = Request { folder: Some(folder), ..Request::default() };
        let brief = spawn::brief(&context, &request, &Unasked, &CancellationToken::new()).await?;
        let lines = pao_core::view::preview::delivered(&brief.briefing.markdown);
        first.sample_lines = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        first.sample = lines.into_iter().take(SAMPLE).collect();
        first.sample_project = Some(brief.topic.project.name);
    }
    Ok(first)
}

pub async fn finish(shell: &Shell, with: FirstChoices) -> Result<(), Error> {
    if with.open_at_login {
        return Err(not_yet::verb("opening at login", "add the app to your login items yourself"));
    }
    if !with.roots.is_empty() {
        return Err(not_yet::verb(
            "watching folders",
            "choose none for now; a spawn finds any folder you name",
        ));
    }
    let hotkey = hotkey::change(shell, with.hotkey.as_deref())?;
    if let Some(note) = hotkey.note {
        return Err(Error::user(note, "choose other keys, or none"));
    }
    // The key now stands in the file, `off` included, which is what ends the first run.
    events::look_for_agent(shell.clone()).await;
    Ok(())
}

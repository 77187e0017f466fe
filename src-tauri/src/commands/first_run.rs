//! The first run: what is there already, and a sample of what an agent would know.

use std::path::PathBuf;

use pao_core::spawn::request::Request;
use pao_core::view::roots;
use pao_core::wire::Check;
use pao_core::wire::door::FirstRun;
use pao_core::{Error, doctor, projects, spawn};
use tokio_util::sync::CancellationToken;

use super::settings::watch_exactly;
use crate::door::FirstChoices;
use crate::jobs::Unasked;
use crate::shell::Shell;
use crate::{events, hotkey, switches};

/// What the first run is about, by the names the doctor has for it.
const ABOUT: [&str; 4] = ["agent", "login", "terminal", "history"];
/// How many lines of a sample are shown.
const SAMPLE: usize = 2;

pub async fn first_run(shell: &Shell, _with: ()) -> Result<FirstRun, Error> {
    let checks = doctor::examine(&shell.host).await;
    let checks = checks.iter().filter(|c| ABOUT.contains(&&*c.name)).map(|c| here(c.into())).collect();
    let context = shell.context_to_ask().await?;
    let (proposals, sessions) = projects::proposed(&shell.host, &context.config).await;
    let recent =
        sessions.iter().map(|session| PathBuf::from(&session.project)).find(|folder| folder.is_dir());
    let mut first = FirstRun {
        checks,
        roots: roots::proposed(&shell.host, &proposals, Some(shell.host.now())),
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

/// A check whose cure is something to be done in a window, and no command to type.
fn here(mut check: Check) -> Check {
    if check.cure.contains("pao ") {
        check.cure = match check.name.as_str() {
            "agent" => "Install it, or say in the settings where it is.",
            "terminal" => "Choose another in the settings.",
            "history" => "They are being read now.",
            _ => "",
        }
        .into();
    }
    check
}

pub async fn finish(shell: &Shell, with: FirstChoices) -> Result<(), Error> {
    if !with.roots.is_empty() {
        watch_exactly(shell, with.roots)?;
    }
    let hotkey = hotkey::change(shell, with.hotkey.as_deref())?;
    if let Some(note) = hotkey.note {
        return Err(Error::user(note, "choose other keys, or none"));
    }
    if with.open_at_login {
        switches::set_login_item(&shell.host, true).await?;
    }
    // The key now stands in the file, `off` included, which is what ends the first run.
    events::look_for_agent(shell.clone()).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cure_is_a_command_to_type() {
        let check = |name: &str, cure: &str| Check {
            name: name.into(),
            state: "warning",
            found: String::new(),
            cure: cure.into(),
        };
        assert_eq!(here(check("history", "pao index")).cure, "They are being read now.");
        let login = check("login", "start Claude Code once by hand and log in");
        assert_eq!(here(login.clone()), login);
    }
}

//! Preview, spawn and what belongs to them.

use std::path::{Path, PathBuf};

use pao_core::Error;
use pao_core::capture::redact::redact;
use pao_core::host::Host;
use pao_core::marks;
use pao_core::registry::agents::Agent;
use pao_core::spawn::passed::Permission;
use pao_core::spawn::request::{Delivery, Request};
use pao_core::spawn::{self, topic};
use pao_core::view::preview::{self as view, Around};
use pao_core::wire::door::{Job, Preview, Wish};
use tokio_util::sync::CancellationToken;

use crate::door::{Again, Answer, Marking, Memory};
use crate::jobs::{Followed, Started, Unasked, Wanted};
use crate::shell::Shell;

pub async fn preview(shell: &Shell, wish: Wish) -> Result<Preview, Error> {
    let cancel = shell.next_preview();
    let request = request(&wish, &shell.host)?;
    let context = shell.context_to_ask().await?;
    let made = spawn::preview::preview(&context, &request, &Unasked, &cancel).await?;
    shell.asked(&made.brief.gathered.reports);
    shell.keep_memories(&made.brief.gathered);
    let folder = &made.brief.topic.folder;
    let agents = context.registry.agents().await?;
    let here = |agent: &&Agent| agent.folder == *folder;
    let neighbours = agents.iter().filter(here).filter(|a| a.state.live()).map(|a| a.name.clone()).collect();
    let found = if request.folder.is_none() { topic::mentioned(&wish.text, &context.host) } else { None };
    let around = Around { host: &context.host, typed: (&wish.text, found), neighbours };
    Ok(view::preview(&made, around))
}

pub async fn spawn(shell: &Shell, wish: Wish) -> Result<String, Error> {
    let request = request(&wish, &shell.host)?;
    Ok(begin(shell, request))
}

/// Begins a spawn that windows follow; the job's id.
pub fn begin(shell: &Shell, request: Request) -> String {
    let folder = request.folder.as_deref();
    let base = folder.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = request.name.clone().or(base).unwrap_or_default();
    let shown = folder.map(|folder| shell.host.display(folder)).unwrap_or_default();
    let (cancel, wanted) = (CancellationToken::new(), Wanted::Spawn(Box::new(request.clone())));
    let job = shell.jobs.begin(&name, &shown, wanted, &cancel, shell.host.now());
    let face = Followed { shell: shell.clone(), job: job.clone(), cancel };
    tauri::async_runtime::spawn(async move {
        let shell = &face.shell;
        let result = match shell.context().await {
            Ok(context) => spawn::spawn(&context, &request, &face, &face.cancel).await,
            Err(error) => Err(error),
        };
        if let Err(error) = &result {
            tracing::warn!(%error, "a spawn ended");
        }
        shell.jobs.end(shell, &face.job, result.as_ref().map(Started::from));
        shell.refresh().await;
    });
    job
}

pub async fn again(shell: &Shell, with: Again) -> Result<String, Error> {
    let wanted = shell.jobs.wanted(&with.job);
    match wanted.ok_or_else(|| Error::user("this start is too long ago", "begin it anew"))? {
        Wanted::Spawn(mut request) => {
            request.terminal = with.terminal.or(request.terminal);
            Ok(begin(shell, *request))
        }
        Wanted::Resume(agent, mut how) => {
            how.terminal = with.terminal.or(how.terminal);
            super::resume::again(shell, &agent, how).await
        }
    }
}

pub async fn jobs(shell: &Shell, _with: ()) -> Result<Vec<Job>, Error> {
    Ok(shell.jobs.all())
}

/// What the window chose, checked.
fn request(wish: &Wish, host: &Host) -> Result<Request, Error> {
    let unknown = |what: &str, word: &str| Error::internal(format!("the window asks for {what} {word:?}"));
    let permission = wish.permission.as_deref();
    let permission =
        permission.map(|word| Permission::from_name(word).ok_or_else(|| unknown("permission", word)));
    let delivery = wish.delivery.as_deref();
    let delivery = delivery.map(|word| Delivery::from_name(word).ok_or_else(|| unknown("delivery", word)));
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let folder = |text: &Option<String>| filled(text).map(PathBuf::from);
    Ok(Request {
        folder: topic::beside(folder(&wish.folder), folder(&wish.otherwise), &wish.text, host),
        text: wish.text.clone(),
        name: filled(&wish.name),
        agent: filled(&wish.agent),
        terminal: filled(&wish.terminal),
        permission: permission.transpose()?,
        delivery: delivery.transpose()?,
        budget: wish.budget.and_then(|budget| usize::try_from(budget).ok()),
        without_sources: wish.without_sources.clone(),
        briefing: wish.markdown.clone(),
        // On a new branch.
        worktree: wish.worktree.then(String::new),
        ..Request::default()
    })
}

pub async fn answer(shell: &Shell, with: Answer) -> Result<(), Error> {
    shell.jobs.answer(&with.job, with.yes)
}

pub async fn cancel(shell: &Shell, job: String) -> Result<(), Error> {
    shell.jobs.cancel(&job)
}

pub async fn mark(shell: &Shell, with: Marking) -> Result<(), Error> {
    let context = shell.context().await?;
    let scope = marks::scope_of(with.folder.as_deref().map(Path::new));
    match with.mark {
        Some(mark) => {
            let named = marks::find_cited(&context, &with.source, &with.id).await?;
            marks::mark(&context, &scope, mark.into(), &named).await?;
        }
        None => marks::undo_cited(&context, &with.source, &with.id, &scope).await?,
    }
    Ok(())
}

pub async fn show_source(shell: &Shell, with: Memory) -> Result<String, Error> {
    let text = shell.memory(&with.source, &with.id).ok_or_else(|| {
        Error::user("this memory is not of the last preview", "let the preview be made again, then look")
    })?;
    Ok(redact(&text).into_owned())
}

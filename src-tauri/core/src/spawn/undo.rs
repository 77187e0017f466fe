//! Takes back what was done for an agent, newest first, each kind by the room that did it.

use std::path::{Path, PathBuf};

use super::{deliver, launch, trust};
use crate::agent;
use crate::host::Host;
use crate::host::process::Identity;
use crate::registry::agents::{Agent, State, nobody};
use crate::registry::change::Change;
use crate::registry::journal::Entry;
use crate::{Context, Error};

/// Whose changes are to be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One agent, by name or id.
    Agent(String),
    /// All agents of a folder.
    Folder(PathBuf),
}

/// One change and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneItem {
    /// Name of the agent it was made for.
    pub agent: String,
    /// What was changed.
    pub what: String,
    /// What became of it, a phrase.
    pub outcome: String,
    /// It is no longer there.
    pub gone: bool,
}

/// Takes back everything done for the target. A running agent whose start was seen through is only ended when
/// `end_live` says so; one whose start was cut short belongs to the half-done job and is ended with it.
pub async fn undo(context: &Context, target: &Target, end_live: bool) -> Result<Vec<UndoneItem>, Error> {
    let agents = targets(context, target).await?;
    if let (Target::Agent(id), []) = (target, &*agents) {
        return of_unreadable(context, id, end_live).await;
    }
    if let Some(agent) = agents.iter().find(|a| runs(a) && a.receipt.is_some()).filter(|_| !end_live) {
        return Err(Error::user(
            format!("{} is still running ({})", agent.name, agent.state.name()),
            format!("end it yourself, or `pao undo {} --end`", agent.name),
        )
        .in_window("end it in its window, or pause it, first"));
    }
    let mut items = Vec::new();
    for agent in &agents {
        items.extend(take_back(context, &agent.id, &agent.name).await?);
        items.extend(worktree(context, agent).await);
        if agent.ended_at.is_none() {
            context.registry.set_state(&agent.id, State::Ended, None, "undo", context.host.now()).await?;
        }
    }
    Ok(items)
}

/// Takes back what was done for an agent whose row does not read, and forgets the row.
async fn of_unreadable(context: &Context, id: &str, end_live: bool) -> Result<Vec<UndoneItem>, Error> {
    if !end_live {
        return Err(Error::user(
            format!("the row of agent {id} does not read, so it may still run"),
            format!("to end it: pao undo {id} --end"),
        ));
    }
    let items = take_back(context, id, id).await?;
    if items.iter().all(|item| item.gone) {
        context.registry.forget(id).await?;
    }
    Ok(items)
}

fn runs(agent: &Agent) -> bool {
    agent.process.is_some_and(Identity::alive)
}

async fn targets(context: &Context, target: &Target) -> Result<Vec<Agent>, Error> {
    match target {
        Target::Agent(word) => match context.registry.find(word).await? {
            Some(agent) => Ok(vec![agent]),
            None if context.registry.is_unreadable(word) => Ok(Vec::new()),
            None => Err(nobody(word)),
        },
        Target::Folder(folder) => {
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let agents = context.registry.agents().await?;
            Ok(agents.into_iter().filter(|a| a.folder == real).collect())
        }
    }
}

/// Takes back every open change of one agent. A change that cannot be taken back now is reported, stays
/// journalled, and does not keep the others.
pub(super) async fn take_back(context: &Context, id: &str, name: &str) -> Result<Vec<UndoneItem>, Error> {
    take_back_after(context, id, name, 0).await
}

/// The same for changes journalled behind that row.
async fn take_back_after(
    context: &Context,
    id: &str,
    name: &str,
    after: i64,
) -> Result<Vec<UndoneItem>, Error> {
    let mut items = Vec::new();
    for entry in context.registry.open_changes(Some(id)).await? {
        if entry.id <= after {
            continue;
        }
        let what = describe(&context.host, &entry.change);
        let (outcome, gone) = match one(context, &entry).await {
            Ok(outcome) => outcome,
            Err(error) => (format!("kept: {error}; {}", error.next), false),
        };
        items.push(UndoneItem { agent: name.to_string(), what, outcome, gone });
    }
    Ok(items)
}

const GONE: &str = "was gone already";

/// Takes back the worktree that was made for an agent, unless another works in it or there is work in it.
async fn worktree(context: &Context, agent: &Agent) -> Option<UndoneItem> {
    let path = agent.worktree.as_ref()?;
    let agents = context.registry.agents().await.ok()?;
    let other =
        agents.iter().find(|a| a.id != agent.id && a.ended_at.is_none() && a.folder.starts_with(path));
    let (outcome, gone) = match other {
        Some(other) => (format!("kept: {} works there too", other.name), true),
        None => crate::worktree::take_back(&context.host, path).await,
    };
    let what = format!("worktree {}", context.host.display(path));
    Some(UndoneItem { agent: agent.name.clone(), what, outcome, gone })
}

pub(super) async fn one(context: &Context, entry: &Entry) -> Result<(String, bool), Error> {
    let Context { host, registry, .. } = context;
    if let Some(undone) = deliver::undo(host, registry, entry).await? {
        return Ok(match undone {
            deliver::Undone::Removed => ("removed".into(), true),
            deliver::Undone::Gone => (gone(context, entry).await?, true),
            deliver::Undone::Kept(why) => (format!("kept: {why}"), false),
            deliver::Undone::Waiting(why) => (format!("kept for now: {why}"), false),
        });
    }
    let window_was_gone = launch::window_is_gone(host, entry).await;
    if let Some(taken) = launch::undo(host, registry, entry).await? {
        return Ok(match taken {
            launch::TakenBack::Closed if window_was_gone => ("was gone already".into(), true),
            launch::TakenBack::Closed => ("ended and closed".into(), true),
            launch::TakenBack::LeftOpen(why) => (format!("agent ended, window left open: {why}"), false),
        });
    }
    if let Some(other) = neighbour(context, entry).await? {
        // The other agent found the folder trusted and relies on it; from now on the record is its to take back.
        let id = registry.plan_change(&other.id, &entry.change, host.now()).await?;
        registry.change_applied(id).await?;
        registry.change_undone(entry.id).await?;
        return Ok((format!("kept: {} works there too", other.name), true));
    }
    let Change::Trust { config, .. } = &entry.change else {
        return Err(Error::internal("a journalled change belongs to no room"));
    };
    let Some(agent) = agent::by_trust_file(config) else {
        return Err(Error::internal("a trust record belongs to no host agent"));
    };
    match trust::undo(host, registry, entry, agent.trust).await? {
        Some(trust::Revoked::Removed) => Ok(("removed".into(), true)),
        Some(trust::Revoked::Gone) => Ok(("was gone already".into(), true)),
        None => Err(Error::internal("a journalled change belongs to no room")),
    }
}

/// How it is said that something was not there.
async fn gone(context: &Context, entry: &Entry) -> Result<String, Error> {
    let agent = context.registry.agent(&entry.agent).await?;
    Ok(match (&entry.change, agent) {
        (Change::File { path, .. } | Change::Block { path, .. }, Some(agent)) if !agent.folder.exists() => {
            let name = path.strip_prefix(&agent.folder).unwrap_or(path).display();
            format!("gone with its folder; if you moved that, delete {name} in it")
        }
        _ => "was gone already".into(),
    })
}

/// Another agent that has not ended in the folder whose trust is to be taken back.
async fn neighbour(context: &Context, entry: &Entry) -> Result<Option<Agent>, Error> {
    let Change::Trust { folder, .. } = &entry.change else { return Ok(None) };
    let agents = context.registry.agents().await?;
    Ok(agents
        .into_iter()
        .find(|a| a.id != entry.agent && a.ended_at.is_none() && a.folder.as_os_str() == &**folder))
}

pub(crate) fn describe(host: &Host, change: &Change) -> String {
    let show = |path: &PathBuf| host.display(path);
    match change {
        Change::File { path, .. } => format!("file {}", show(path)),
        Change::Folder { path } => format!("folder {}", show(path)),
        Change::Block { path, .. } => format!("our block in {}", show(path)),
        Change::Exclude { path, line, .. } => format!("line {line} in {}", show(path)),
        Change::Trust { config, folder, .. } => {
            format!("trust of {} in {}", host.display(Path::new(&**folder)), show(config))
        }
        Change::Terminal { terminal, .. } => format!("window in {terminal}"),
        Change::Private { path } => format!("private folder {}", show(path)),
    }
}

/// Takes back a spawn that failed or was cancelled, and says so in its error.
pub(super) async fn after_failure(context: &Context, id: &str, error: Error) -> Error {
    let mut items = match take_back(context, id, id).await {
        Ok(items) => items,
        Err(second) => {
            return error.after(format!("what was done is journalled but could not be taken back: {second}"));
        }
    };
    if let Ok(Some(agent)) = context.registry.agent(id).await {
        items.extend(worktree(context, &agent).await.filter(|item| item.outcome != GONE));
    }
    let left: Vec<&UndoneItem> = items.iter().filter(|item| !item.gone).collect();
    if left.is_empty() {
        // Nothing is left of it, so its name is free again and nothing has to be cleaned up.
        let _ = context.registry.forget(id).await;
        return match items.len() {
            0 => error.after("nothing had been written"),
            _ => error.after("everything done before was taken back"),
        };
    }
    let _ = context.registry.set_state(id, State::Ended, None, "undo", context.host.now()).await;
    let left: Vec<String> = left.iter().map(|item| format!("{} ({})", item.what, item.outcome)).collect();
    error.after(format!("taken back, except: {}", left.join("; ")))
}

/// Takes back what the return of an agent did that failed or was cancelled, and says so in its error. What was done
/// for the agent's first start stays: it can still come back.
pub(super) async fn after_failed_return(context: &Context, id: &str, before: i64, error: Error) -> Error {
    let items = match take_back_after(context, id, id, before).await {
        Ok(items) => items,
        Err(second) => {
            return error.after(format!("what was done is journalled but could not be taken back: {second}"));
        }
    };
    let left: Vec<String> = items
        .iter()
        .filter(|item| !item.gone)
        .map(|item| format!("{} ({})", item.what, item.outcome))
        .collect();
    match (items.is_empty(), left.is_empty()) {
        (true, _) => error.after("nothing had been started; its conversation is as it was"),
        (_, true) => error.after("everything done for its return was taken back; its conversation is kept"),
        _ => error.after(format!("taken back, except: {}", left.join("; "))),
    }
}

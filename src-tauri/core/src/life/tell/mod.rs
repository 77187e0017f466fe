//! Telling agents something: a text is accepted into a queue and typed into the agent's prompt line when that stands
//! empty, nothing runs and no dialog is on the screen. Each text is sent at most once, in the order of acceptance.
//!
//! Nothing is ever typed into a dialog or behind what the user has typed. What was typed without proof of its
//! arrival stays unknown and is not sent again. What stands typed and unsent, because its sender was killed, is sent by
//! whoever delivers next.

mod deliver;
mod settle;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};

use super::state_of;
use crate::project::Project;
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};
use crate::registry::messages::{Fate, Message};
use crate::{Context, Error};

pub use deliver::{deliver, left_standing};
pub use settle::settle;

/// How often the fate of a text is looked at while another process sends it.
const TICK: Duration = Duration::from_millis(50);

/// How long an agent that is not busy is waited for.
const WAITS: Duration = Duration::from_secs(5);
/// How long, in seconds, an agent has to have been busy for that to be sure.
const SURE_S: i64 = 2;

/// How long a detached delivery waits for an agent that has just become idle to show its prompt line.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Who is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum To {
    /// The agent of that name or id.
    Name(String),
    /// All that live.
    All,
    /// All that live and belong to the project of that folder.
    Project(PathBuf),
}

/// What became of one text for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Registry id of the agent.
    pub agent: String,
    /// Its name.
    pub name: String,
    /// Number of the text, for `--withdraw`.
    pub id: i64,
    /// When it was accepted.
    pub at: DateTime<Utc>,
    /// The text.
    pub text: String,
    /// How far it is.
    pub fate: Fate,
    /// Why, or what to expect; a phrase.
    pub note: Option<String>,
}

/// Refuses what no terminal can take as text: NUL, and what begins an escape sequence.
pub fn check(text: &str) -> Result<(), Error> {
    let bad = text.char_indices().find(|(_, c)| matches!(c, '\0' | '\u{1b}' | '\u{80}'..='\u{9f}'));
    let message = match bad {
        None if text.is_empty() => "there is no text".to_string(),
        None => return Ok(()),
        Some((at, '\0')) => format!("byte {at} of the text is NUL; nothing was sent"),
        Some((at, _)) => format!("byte {at} of the text begins a terminal escape sequence; nothing was sent"),
    };
    Err(Error::user(message, "give the text without it, or put it into a file and name the file"))
}

/// Accepts a text for whom it is meant and delivers it where that is possible within `wait`.
/// Without `wait` only an agent that is not busy is waited for, a little.
pub async fn tell(
    context: &Context,
    to: &To,
    text: &str,
    wait: Option<Duration>,
) -> Result<Vec<Told>, Error> {
    check(text)?;
    let Context { host, registry, .. } = context;
    let agents = addressed(registry, to).await?;
    let mut accepted = Vec::new();
    for agent in agents {
        let id = registry.queue(&agent.id, text, host.now()).await?;
        accepted.push((agent, id));
    }
    let delivered = accepted.iter().map(|(agent, id)| async {
        if agent.state.live() {
            follow(context, agent, *id, patience(context, agent, wait).await?).await?;
        }
        told(registry, agent, *id).await
    });
    futures::future::try_join_all(delivered).await
}

/// How long it is worth waiting for an agent: one in a turn, or at a question, is not told within moments. What has
/// only just begun may be over by now.
async fn patience(context: &Context, agent: &Agent, wait: Option<Duration>) -> Result<Duration, Error> {
    if let Some(wait) = wait {
        return Ok(wait);
    }
    let row = state_of(context, &agent.id).await?;
    let busy = row.is_some_and(|row| {
        matches!(row.state, State::Working | State::NeedsYou)
            && context.host.now() - row.state_at > TimeDelta::seconds(SURE_S)
    });
    Ok(if busy { Duration::ZERO } else { WAITS })
}

/// Delivers, or watches another process deliver, until the text has left the queue or the time is over.
async fn follow(context: &Context, agent: &Agent, id: i64, wait: Duration) -> Result<(), Error> {
    let Context { host, registry, .. } = context;
    let began = Instant::now();
    loop {
        let left = wait.saturating_sub(began.elapsed());
        deliver(host, registry, &agent.id, left).await?;
        let fate = registry.message(id).await?.map(|message| message.fate);
        let over = match fate {
            Some(Fate::Queued) => began.elapsed() >= wait,
            // Another process is at it, and will have settled it soon.
            Some(Fate::Sent) => began.elapsed() >= wait + deliver::LONGEST,
            _ => true,
        };
        if over {
            return Ok(());
        }
        tokio::time::sleep(TICK).await;
    }
}

async fn told(registry: &Registry, agent: &Agent, id: i64) -> Result<Told, Error> {
    let message =
        registry.message(id).await?.ok_or_else(|| Error::internal("a text left the queue unseen"))?;
    let state = registry.agent(&agent.id).await?.map_or(agent.state, |row| row.state);
    Ok(shown(&message, &agent.name, state))
}

fn shown(message: &Message, name: &str, state: State) -> Told {
    let waits = match state {
        State::Paused => "it is paused; delivered once it is resumed",
        State::NeedsYou => "it waits for you; delivered once that is settled",
        State::Working => "it is busy; delivered when its turn ends",
        State::Starting => "it is starting; delivered when it is ready",
        State::Idle => "its prompt line is not free; delivered when it is",
        State::Ended | State::Lost => "it is gone",
    };
    let queued = (message.fate == Fate::Queued).then(|| waits.to_string());
    Told {
        agent: message.agent.clone(),
        name: name.to_string(),
        id: message.id,
        at: message.at,
        text: message.text.clone(),
        fate: message.fate,
        note: message.note.clone().or(queued),
    }
}

/// Whom a word is for; at least one agent.
pub(crate) async fn addressed(registry: &Registry, to: &To) -> Result<Vec<Agent>, Error> {
    let project = match to {
        To::Name(name) => return Ok(vec![named(registry, name).await?]),
        To::All => None,
        To::Project(folder) => Some(project(folder)?),
    };
    let mut agents = registry.agents().await?;
    agents.retain(|a| a.state.live() && project.as_ref().is_none_or(|id| a.project == *id));
    if agents.is_empty() {
        let of = if project.is_some() { " of that project" } else { "" };
        return Err(Error::user(format!("no agent{of} is running"), "see `pao agents --all`")
            .in_window("spawn one, or resume one that is paused"));
    }
    agents.reverse();
    Ok(agents)
}

fn project(folder: &Path) -> Result<String, Error> {
    let folder = folder.canonicalize().map_err(|e| {
        Error::user(format!("{}: {e}", folder.display()), "give an existing folder with --project")
    })?;
    Ok(Project::of(&folder).id)
}

/// The agent of that name, which must not have ended.
pub(crate) async fn named(registry: &Registry, name: &str) -> Result<Agent, Error> {
    let agent = registry.named(name).await?;
    let why = match agent.state {
        State::Ended => format!("{} has ended and can be told nothing", agent.name),
        State::Lost => format!("{} is lost: its process is gone without a word", agent.name),
        _ => return Ok(agent),
    };
    Err(Error::user(why, format!("bring it back with `pao resume {}`, then tell it", agent.name))
        .in_window("resume it, then tell it"))
}

/// Texts for one agent (ended or not), or for all, oldest first.
pub async fn list(registry: &Registry, name: Option<&str>) -> Result<Vec<Told>, Error> {
    let agents = registry.agents().await?;
    let only = match name {
        None => None,
        Some(name) => Some(registry.named(name).await?.id),
    };
    let messages = registry.messages(only.as_deref()).await?;
    let named = |message: &Message| {
        let agent = agents.iter().find(|agent| agent.id == message.agent)?;
        Some(shown(message, &agent.name, agent.state))
    };
    Ok(messages.iter().filter_map(named).collect())
}

/// Takes back a text of which nothing was sent.
pub async fn withdraw(context: &Context, id: i64) -> Result<Told, Error> {
    let Context { host, registry, .. } = context;
    let Some(message) = registry.message(id).await? else {
        return Err(Error::user(format!("there is no text {id}"), "see `pao tell --list`"));
    };
    // What waits for a hook was not handed over as long as its file is there.
    if message.fate == Fate::Sent
        && let Some(name) = settle::by_hook(&message)
        && crate::hook::next::withdraw(host, &message.agent, name).unwrap_or(false)
    {
        registry.move_message(id, Fate::Sent, Fate::Withdrawn, Some("withdrawn"), host.now()).await?;
    } else if !registry.move_message(id, Fate::Queued, Fate::Withdrawn, Some("withdrawn"), host.now()).await?
    {
        let fate = registry.message(id).await?.map_or("gone", |message| message.fate.name());
        return Err(Error::user(
            format!("text {id} cannot be taken back: it is {fate}"),
            "see `pao tell --list`",
        ));
    }
    let agent = registry.agent(&message.agent).await?;
    let (name, state) = agent.map_or((message.agent.clone(), State::Ended), |a| (a.name, a.state));
    let message = registry.message(id).await?.unwrap_or(message);
    Ok(shown(&message, &name, state))
}

#[cfg(test)]
mod tests;

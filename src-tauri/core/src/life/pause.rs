//! Pausing: a checkpoint, then the agent's process is asked to end, and is seen to be gone.
//!
//! What it asks with is the signal on which the host agent ends its session in order, hooks and transcript included;
//! nothing is ever typed. An agent in the middle of something is only interrupted by the user's word, and one that
//! does not end is left running. Name, conversation, folder, options and private folder stay; what lies in the
//! project is taken back, and put there again when the agent returns.

use std::path::Path;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;

use super::checkpoint::{self, Checkpoint};
use super::state_of;
use super::tell;
use super::unfinished::close_windows;
use crate::agent::HostAgent;
use crate::agent::screen::Screen;
use crate::capture::redact::redact;
use crate::host::memory::{self, Tree};
use crate::host::process::{Identity, gone};
use crate::host::{Host, terminal};
use crate::project::Project;
use crate::registry::agents::{Agent, State, nobody};
use crate::spawn::deliver;
use crate::{Context, Error, agent, hook};

/// How long an agent may take to end: its hooks at a session's end share a second and a half.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// How much of an unsent text an error quotes, in characters.
const QUOTED: usize = 200;
/// How often a busy agent is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long its own file and its screen may lag behind a hook that has already said that the turn is over.
const LAGS_S: i64 = 2;

/// What the user asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pausing {
    /// Interrupt an agent that is busy, waits for an answer or has unsent text in its prompt line.
    pub now: bool,
    /// Wait that long for a busy one.
    pub wait: Option<Duration>,
    /// The user's own words about the checkpoint.
    pub message: Option<String>,
}

/// An agent that rests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paused {
    /// Registry id.
    pub agent: String,
    /// Name.
    pub name: String,
    /// Where it stood.
    pub checkpoint: Checkpoint,
    /// Bytes of memory that it and everything it had started no longer take.
    pub freed: u64,
    /// Its turn was cut short.
    pub interrupted: bool,
    /// What stood in its prompt line and was never sent; the checkpoint keeps it too.
    pub unsent: Option<String>,
    /// What the user should know although all went well.
    pub notes: Vec<String>,
    /// How long it took, waiting for it to be idle not counted.
    pub took: Duration,
}

/// How an agent stands right now, as far as pausing it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Standing {
    /// At its prompt line, with nothing in it.
    Idle,
    /// In the middle of something; a phrase.
    Busy(String),
    /// Something that would be lost; a phrase.
    Holds(String),
    /// That text, not sent.
    Typed(String),
    /// That text of ours, typed by a `pao tell` that has not sent it.
    Told(String),
}

/// Pauses one agent.
pub async fn pause(
    context: &Context,
    id: &str,
    how: &Pausing,
    cancel: &CancellationToken,
) -> Result<Paused, Error> {
    let Context { host, registry, .. } = context;
    let (row, standing) = until_idle(context, id, how, cancel).await?;
    let Some(process) = row.process else {
        return Err(Error::user(format!("{} has not started yet", row.name), "wait until it has"));
    };
    let begun = Instant::now();
    let unsent = match &standing {
        Standing::Typed(text) | Standing::Told(text) => Some(redact(text).into_owned()),
        _ => None,
    };
    let message = match (how.message.as_deref(), &unsent) {
        (message, None) => message.map(str::to_string),
        (None, Some(text)) => Some(format!("not sent: {text}")),
        (Some(message), Some(text)) => Some(format!("{message}\nnot sent: {text}")),
    };
    let checkpoint = checkpoint::make(host, registry, &row, message.as_deref()).await?;
    let me = Identity::own();
    // From here on its end is its rest, whoever sees it.
    if !registry.claim_to_pause(id, row.claim, me, host.now()).await? {
        // It has ended meanwhile, or another pao was faster: the row says which.
        let stands = registry.agent(id).await?.unwrap_or(row);
        can_be_paused(&stands)?;
        return Err(taken(&stands.name));
    }
    let before = memory::tree(process);
    // The first below it is its child.
    let child = agent::by_kind(&row.host_agent).filter(|kind| kind.works_in_child);
    let child = child.and(before.below.first()).map(|(child, _)| *child);
    let ended = end(process, child.unwrap_or(process)).await;
    if !ended {
        registry.release(id, me).await?;
        return Err(Error::environment(
            format!("{} did not end within {} s and runs on", row.name, ENDS_WITHIN.as_secs()),
            format!("see what it does: `pao focus {}`", row.name),
        )
        .in_window("focus it to see what it does")
        .after(format!("checkpoint {} was made", checkpoint.id)));
    }
    let notes = put_to_rest(context, &row, &before).await;
    registry.release(id, me).await?;
    let left: u64 = before.below.iter().filter(|(p, _)| p.alive()).map(|(p, _)| memory::tree(*p).bytes).sum();
    Ok(Paused {
        agent: row.id,
        name: row.name,
        checkpoint,
        freed: before.bytes.saturating_sub(left),
        interrupted: matches!(standing, Standing::Busy(_)),
        unsent,
        notes: notes?,
        took: begun.elapsed(),
    })
}

/// What there is to do at a window about an agent that is busy.
const INTERRUPT: &str = "wait until it is idle, or stop it in its window with Esc";

/// Another process is at work on the agent of that name.
pub(super) fn taken(name: &str) -> Error {
    Error::user(format!("another pao is at work on {name}"), "see `pao agents` in a moment")
        .in_window("try again in a moment")
}

/// Looks until the agent may be paused as the user wants it.
async fn until_idle(
    context: &Context,
    id: &str,
    how: &Pausing,
    cancel: &CancellationToken,
) -> Result<(Agent, Standing), Error> {
    let since = Instant::now();
    loop {
        let row = state_of(context, id).await?;
        let row = row.ok_or_else(|| nobody(id))?;
        let name = &row.name;
        can_be_paused(&row)?;
        if row.claim.is_some_and(|claim| claim.by.alive()) {
            return Err(taken(name));
        }
        let standing = standing(context, &row).await;
        if how.now || standing == Standing::Idle {
            return Ok((row, standing));
        }
        let (why, waits) = match &standing {
            Standing::Busy(what) => (format!("{name} is busy: {what}"), true),
            Standing::Holds(what) => (format!("{name} is not to be interrupted: {what}"), false),
            Standing::Typed(text) => {
                let text: String = text.chars().take(QUOTED).collect();
                (format!("{name} has text in its prompt line that was not sent: “{text}”"), false)
            }
            Standing::Told(text) => {
                let text: String = text.chars().take(QUOTED).collect();
                (
                    format!(
                        "{name} has text in its prompt line that was told to it and is not sent: “{text}”"
                    ),
                    true,
                )
            }
            Standing::Idle => continue,
        };
        let (next, in_window) = if waits && how.wait.is_some() {
            ("wait longer, or interrupt it with --now", INTERRUPT)
        } else if waits {
            ("wait for it with --wait, or interrupt it with --now", INTERRUPT)
        } else {
            ("see to it in its window, or pause it all the same with --now", "focus it and see to it there")
        };
        let lag = if waits && context.host.now() - row.state_at < TimeDelta::seconds(LAGS_S) {
            Duration::from_secs(LAGS_S.unsigned_abs())
        } else {
            Duration::ZERO
        };
        if since.elapsed() >= how.wait.unwrap_or_default().max(lag) {
            return Err(Error::environment(why, next).in_window(in_window));
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = cancel.cancelled() => return Err(Error::user("cancelled", "run it again when you like")),
        }
    }
}

fn can_be_paused(row: &Agent) -> Result<(), Error> {
    let name = &row.name;
    match row.state {
        State::Paused => Err(Error::user(format!("{name} is paused already"), resume_it(name))),
        State::Ended | State::Lost => {
            let why = format!("{name} has ended already ({})", row.state.name());
            Err(Error::user(why, resume_it(name)))
        }
        _ => Ok(()),
    }
}

fn resume_it(name: &str) -> String {
    format!("`pao resume {name}` brings it back")
}

/// What its screen shows beyond its state, and else its state. Both lag a little behind one another.
async fn standing(context: &Context, row: &Agent) -> Standing {
    let screen = match agent::by_kind(&row.host_agent) {
        Some(kind) => screen(context, kind, row).await,
        None => None,
    };
    match (row.state, screen) {
        (State::Starting, _) => Standing::Busy("it is still starting".into()),
        (_, Some(Screen::Dialog(dialog))) => {
            Standing::Holds(format!("it asks {}", dialog.text.lines().next().unwrap_or("something")))
        }
        (State::Working, _) | (_, Some(Screen::Busy | Screen::Retrying(_))) => {
            Standing::Busy("it is in a turn".into())
        }
        (_, Some(screen @ Screen::Typed { .. })) => {
            let told = tell::left_standing(&context.host, &context.registry, row, &screen).await;
            match (told, screen) {
                (Ok(Some(text)), _) => Standing::Told(text),
                (_, Screen::Typed { text, .. }) => Standing::Typed(text),
                _ => Standing::Idle,
            }
        }
        (State::NeedsYou, Some(Screen::Ready | Screen::Failed(_) | Screen::Interrupted)) => Standing::Idle,
        (State::NeedsYou, _) => {
            Standing::Holds(row.needs.clone().unwrap_or_else(|| "it waits for an answer".into()))
        }
        _ => Standing::Idle,
    }
}

async fn screen(context: &Context, kind: &HostAgent, row: &Agent) -> Option<Screen> {
    let terminal = terminal::choose(&context.host, row.terminal.as_deref()?).ok()?;
    let handle = row.handle.as_deref()?;
    if !terminal.capabilities_of(handle).read {
        return None;
    }
    Some(kind.screens.classify(&terminal.screen(handle).await.ok()?))
}

/// Asks a process, or who works for it, to end and sees that it has.
async fn end(process: Identity, asked: Identity) -> bool {
    if let Err(error) = asked.terminate() {
        tracing::warn!("process {} could not be signalled: {error}", asked.pid);
    }
    gone(&[process], ENDS_WITHIN).await
}

/// Everything after its end. The row first: what fails afterwards is tried again by a later sweep.
async fn put_to_rest(context: &Context, row: &Agent, before: &Tree) -> Result<Vec<String>, Error> {
    let Context { host, registry, .. } = context;
    hook::drain(host, registry).await?;
    registry.set_state(&row.id, State::Paused, None, "pause", host.now()).await?;
    let mut notes = close_windows(host, registry, row).await?;
    for (_, undone) in deliver::sweep(host, registry, |id| id != row.id).await? {
        match undone {
            Ok(deliver::Undone::Kept(why) | deliver::Undone::Waiting(why)) => notes.push(why),
            Ok(_) => {}
            Err(error) => notes.push(error.to_string()),
        }
    }
    // What it had started may take a moment to notice that it is gone.
    let below: Vec<Identity> = before.below.iter().map(|(process, _)| *process).collect();
    gone(&below, Duration::from_secs(1)).await;
    for (process, name) in before.below.iter().filter(|(p, _)| p.alive()) {
        notes.push(format!("{name}, which it had started, runs on (process {})", process.pid));
    }
    Ok(notes)
}

/// Agents that `--all` means: those that live, of one project where one is named.
pub async fn all(context: &Context, project: Option<&Path>) -> Result<Vec<Agent>, Error> {
    let agents = context.registry.agents().await?;
    Ok(agents.into_iter().filter(|a| a.state.live() && in_project(context, a, project)).collect())
}

/// Whether an agent works in that folder or in its project.
pub(super) fn in_project(context: &Context, agent: &Agent, project: Option<&Path>) -> bool {
    project.is_none_or(|folder| works_in(&context.host, agent, folder))
}

/// The same for a folder that is named.
pub fn works_in(host: &Host, agent: &Agent, folder: &Path) -> bool {
    let folder = host.cwd.join(folder);
    let folder = folder.canonicalize().unwrap_or(folder);
    agent.folder == folder || agent.project == Project::of(&folder).id
}

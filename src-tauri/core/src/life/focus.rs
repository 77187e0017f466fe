//! Brings an agent's terminal forward, or says how a person gets there.

use super::evidence::Effort;
use super::state_of;
use super::sweep::sweep_with;
use crate::host::process::Identity;
use crate::host::terminal::{self, TerminalError};
use crate::registry::agents::{Agent, State};
use crate::{Context, Error};

/// Where the agent is now to be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Focused {
    /// Its window is in front.
    InFront,
    /// It is open in a window that could not be brought to the front; this command shows it here, too.
    Behind(String),
    /// No window can be shown here; this command shows it.
    Attach(String),
}

/// The agent that needs the user, the longest waiting one.
pub async fn neediest(context: &Context) -> Result<Agent, Error> {
    let Context { host, registry, .. } = context;
    sweep_with(host, registry, Effort::FULL).await;
    let waits = registry.agents().await?.into_iter().filter(|agent| agent.state == State::NeedsYou);
    waits
        .min_by_key(|agent| agent.state_at)
        .ok_or_else(|| Error::user("no agent needs you", "name one of `pao agents`: pao focus NAME"))
}

/// Brings the terminal of that agent (name or id) forward.
pub async fn focus(context: &Context, word: &str) -> Result<(Agent, Focused), Error> {
    let agent = context.registry.named(word).await?;
    let agent = state_of(context, &agent.id).await?.unwrap_or(agent);
    let name = &agent.name;
    let (Some(terminal), Some(handle)) = (agent.terminal.as_deref(), agent.handle.as_deref()) else {
        let why = if agent.state.live() { "no window was opened for it yet" } else { "it has no window" };
        return Err(Error::user(format!("{name} is {}, and {why}", agent.state.name()), next(&agent))
            .in_window(next_in_window(&agent)));
    };
    let terminal = terminal::choose(&context.host, terminal)?;
    match terminal.focus(handle).await {
        Ok(()) => Ok((agent, Focused::InFront)),
        Err(TerminalError::Gone { .. }) => Err(gone(&agent)),
        Err(error @ TerminalError::Behind { .. }) => match terminal.attach(handle) {
            Some(command) => Ok((agent, Focused::Behind(command))),
            None => Err(error.into()),
        },
        // Where there is no display, a person can still attach.
        Err(error @ TerminalError::NotCapable { .. }) => match terminal.attach(handle) {
            Some(command) => Ok((agent, Focused::Attach(command))),
            None => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}

fn gone(agent: &Agent) -> Error {
    let name = &agent.name;
    match agent.process.filter(|process| process.alive()) {
        Some(Identity { pid, .. }) => Error::environment(
            format!("the window of {name} is gone; its process {pid} still runs"),
            format!("end it with `pao undo {name} --end`, or kill {pid}"),
        )
        .in_window(format!("pause or forget it, or end the process {pid} yourself")),
        None => Error::environment(
            format!("the window of {name} is gone; it is {}", agent.state.name()),
            next(agent),
        )
        .in_window(next_in_window(agent)),
    }
}

fn next_in_window(agent: &Agent) -> &'static str {
    if agent.state.live() { "look at its page" } else { "resume it to bring it back" }
}

fn next(agent: &Agent) -> String {
    if agent.state.live() {
        format!("see `pao agent show {}`", agent.name)
    } else {
        format!("`pao resume {0}` brings it back; `pao logs {0}` shows what it did", agent.name)
    }
}

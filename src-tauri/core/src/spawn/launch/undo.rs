//! Takes a start back: ends the agent's process and closes the window we opened for it.

use std::time::{Duration, Instant};

use super::{LaunchError, SCRIPT, withdraw};
use crate::host::Host;
use crate::host::process::Identity;
use crate::host::terminal::{Alive, Script, TerminalError, choose};
use crate::registry::Registry;
use crate::registry::agents::State;
use crate::registry::change::Change;
use crate::registry::journal::Entry;

/// How long an agent may take to end in order: its hooks at the end of a session share 1.5 s.
const PATIENCE: Duration = Duration::from_secs(4);

/// What became of a terminal we had opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenBack {
    /// The agent was ended and its window closed.
    Closed,
    /// The agent was ended where it ran; its window stays, for this reason.
    LeftOpen(String),
}

/// Takes back one change of the kind this room makes; `None` for all others.
pub async fn undo(host: &Host, registry: &Registry, entry: &Entry) -> Result<Option<TakenBack>, LaunchError> {
    let Change::Terminal { terminal, handle } = &entry.change else { return Ok(None) };
    // First, so that a window that is just opening finds nothing to start.
    withdraw(host, &entry.agent)?;
    let agent = registry.agent(&entry.agent).await?;
    if let Some(process) = agent.as_ref().and_then(|a| a.process) {
        end(process).await?;
    }
    let taken = match close(host, &entry.agent, terminal, handle).await {
        Ok(()) => TakenBack::Closed,
        Err(e @ (TerminalError::LeftOpen { .. } | TerminalError::NotInstalled { .. })) => {
            TakenBack::LeftOpen(e.to_string())
        }
        Err(e) => return Err(e.into()),
    };
    if agent.is_some_and(|a| a.state.live()) {
        registry.set_state(&entry.agent, State::Ended, None, "undo", host.now()).await?;
    }
    registry.change_undone(entry.id).await?;
    Ok(Some(taken))
}

/// Finds the window of a start that was cut short between opening it and noting where it is, and notes it. Does
/// nothing for changes of other kinds, and where the window is known or none is found.
pub async fn find_window(host: &Host, registry: &Registry, entry: &Entry) -> Result<(), LaunchError> {
    let Change::Terminal { terminal, handle } = &entry.change else { return Ok(()) };
    if !handle.is_empty() {
        return Ok(());
    }
    let chosen = choose(host, terminal)?;
    let script = Script { path: host.agent_dir(&entry.agent).join(SCRIPT), title: String::new() };
    let Some(handle) = chosen.find(&script).await? else { return Ok(()) };
    registry.set_terminal(&entry.agent, terminal, &handle).await?;
    let found = Change::Terminal { terminal: terminal.clone(), handle };
    let known = registry.plan_change(&entry.agent, &found, host.now()).await?;
    registry.change_applied(known).await?;
    registry.change_undone(entry.id).await?;
    Ok(())
}

/// Closes a window in which nothing runs any more; `None` for changes of other kinds. Ends nothing: where
/// something still runs the window stays, and so does its journal entry.
pub async fn close_over(
    host: &Host,
    registry: &Registry,
    entry: &Entry,
) -> Result<Option<TakenBack>, LaunchError> {
    let Change::Terminal { terminal, handle } = &entry.change else { return Ok(None) };
    withdraw(host, &entry.agent)?;
    let stays = |why: String| Ok(Some(TakenBack::LeftOpen(why)));
    match choose(host, terminal) {
        Ok(chosen) if !handle.is_empty() && chosen.alive(handle).await? == Alive::Yes => {
            return stays("something still runs in it".into());
        }
        Ok(_) | Err(TerminalError::NotInstalled { .. }) => {}
        Err(e) => return Err(e.into()),
    }
    match close(host, &entry.agent, terminal, handle).await {
        Ok(()) => {}
        Err(e @ (TerminalError::LeftOpen { .. } | TerminalError::NotInstalled { .. })) => {
            // It cannot be closed by us, and what ran in it is over.
            registry.change_undone(entry.id).await?;
            return stays(e.to_string());
        }
        Err(e) => return Err(e.into()),
    }
    registry.change_undone(entry.id).await?;
    Ok(Some(TakenBack::Closed))
}

/// Whether that change opened a window which is known to be closed by now.
pub async fn window_is_gone(host: &Host, entry: &Entry) -> bool {
    let Change::Terminal { terminal, handle } = &entry.change else { return false };
    match choose(host, terminal) {
        Ok(chosen) if !handle.is_empty() => matches!(chosen.alive(handle).await, Ok(Alive::No)),
        _ => false,
    }
}

async fn close(host: &Host, id: &str, terminal: &str, handle: &str) -> Result<(), TerminalError> {
    let terminal = choose(host, terminal)?;
    if !handle.is_empty() {
        return terminal.close(handle).await;
    }
    // We ended between opening the window and noting where it is.
    let script = Script { path: host.agent_dir(id).join(SCRIPT), title: String::new() };
    match terminal.find(&script).await? {
        Some(handle) => terminal.close(&handle).await,
        None => Ok(()),
    }
}

/// Ends this very process: asks, waits, insists.
pub async fn end(process: Identity) -> Result<(), LaunchError> {
    for insist in [false, true] {
        let asked = if insist { process.kill() } else { process.terminate() };
        if let Err(e) = asked {
            tracing::warn!("process {} could not be signalled: {e}", process.pid);
        }
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            if !process.alive() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }
    Err(LaunchError::StillRuns(process.pid))
}

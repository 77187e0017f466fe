//! What every `pao` command does first: sees which agents are gone and takes back what was lent to them.
//!
//! Evidence is the process by pid *and* start time. Age proves nothing: an agent may wait for days.

use chrono::TimeDelta;

use super::deliver;
use crate::hook;
use crate::host::Host;
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};

/// How long a start may take before it counts as lost when no process was ever recorded.
const START_LIMIT: TimeDelta = TimeDelta::minutes(2);

/// Brings the registry up to date with the machine. What cannot be taken back now stays journalled and is tried
/// again next time, so nothing here is an error for the command that is about to run.
pub async fn sweep(host: &Host, registry: &Registry) {
    if let Err(error) = try_sweep(host, registry).await {
        tracing::warn!(%error, "the sweep was not finished");
    }
}

async fn try_sweep(host: &Host, registry: &Registry) -> Result<(), crate::Error> {
    hook::drain(host, registry).await?;
    let now = host.now();
    for agent in registry.agents().await?.iter().filter(|a| a.state.live()) {
        let gone = match agent.process {
            Some(process) => !process.alive(),
            None => agent.state == State::Starting && now - agent.created_at > START_LIMIT,
        };
        if gone {
            // A session that ended in order has said so by its last hook; this one has not.
            registry.set_state(&agent.id, State::Lost, None, now).await?;
        }
    }
    let agents = registry.agents().await?;
    let is_live = |id: &str| agents.iter().any(|a| a.id == id && is_live(a));
    for (entry, undone) in deliver::sweep(host, registry, is_live).await? {
        match undone {
            Ok(undone) => tracing::debug!(?entry.change, ?undone, "taken back after its session"),
            Err(error) => tracing::warn!(?entry.change, %error, "could not be taken back after its session"),
        }
    }
    Ok(())
}

/// Whether the agent is there, or was paused on purpose and may come back to its files.
fn is_live(agent: &Agent) -> bool {
    agent.state.live() || agent.state == State::Paused
}

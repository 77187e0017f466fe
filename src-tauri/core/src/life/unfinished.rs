//! Pauses and returns whose own process was killed: each is settled by whoever comes by next, so that an agent is
//! either at rest or alive, and never in between.

use chrono::TimeDelta;

use crate::host::Host;
use crate::host::process::Identity;
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};
use crate::registry::change::Change;
use crate::spawn::launch;

/// How long after its process is gone a claim is left alone: what it had begun may just be coming to its end.
const GRACE: TimeDelta = TimeDelta::seconds(5);

/// Settles what was left half-done.
pub async fn settle(host: &Host, registry: &Registry) -> Result<(), crate::Error> {
    for agent in registry.agents().await? {
        let Some(claim) = agent.claim else { continue };
        if claim.by.alive() || host.now() - claim.at < GRACE {
            continue;
        }
        let runs = agent.process.is_some_and(Identity::alive);
        if !runs && agent.process.is_some() && agent.state.live() {
            // It ended, and nobody was left to say so.
            registry.set_state(&agent.id, State::Lost, None, "process", host.now()).await?;
        }
        if !runs && (agent.process.is_none() || !agent.state.live()) {
            // The window of a return that never became an agent, or the one its rest should have closed.
            close_windows(host, registry, &agent).await?;
            if agent.state.live() {
                registry.set_state(&agent.id, State::Ended, None, "resume was cut short", host.now()).await?;
            }
        }
        registry.release(&agent.id, claim.by).await?;
    }
    Ok(())
}

/// Closes the windows opened for an agent that does not run; what cannot be closed now is said and stays journalled.
pub(super) async fn close_windows(
    host: &Host,
    registry: &Registry,
    agent: &Agent,
) -> Result<Vec<String>, crate::Error> {
    let mut left = Vec::new();
    for entry in registry.open_changes(Some(&agent.id)).await? {
        if !matches!(entry.change, Change::Terminal { .. }) {
            continue;
        }
        match launch::undo(host, registry, &entry).await {
            Ok(Some(launch::TakenBack::LeftOpen(why))) => left.push(why),
            Ok(_) => {}
            Err(error) => left.push(error.to_string()),
        }
    }
    Ok(left)
}

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
    let begun = registry.open_changes(None).await?;
    for agent in registry.agents().await? {
        let since = agent.claim.map_or(agent.created_at, |claim| claim.at);
        if agent.claim.is_some_and(|claim| claim.by.alive()) || host.now() - since < GRACE {
            continue;
        }
        let runs = agent.process.is_some_and(Identity::alive);
        if runs && agent.state.live() {
            // Its window stands; whoever opened it may have been gone before noting which.
            for entry in begun.iter().filter(|entry| entry.agent == agent.id) {
                if let Err(error) = launch::find_window(host, registry, entry).await {
                    tracing::warn!(%error, "the window of {} could not be looked for", agent.name);
                }
            }
        }
        let Some(claim) = agent.claim else { continue };
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;
    use crate::host::process::Run;
    use crate::host::terminal::{self, Alive, Script, tmux};

    #[tokio::test]
    async fn the_window_of_a_start_whose_starter_was_killed_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let socket = format!("pao-found-{}", uuid::Uuid::new_v4().simple());
        #[expect(clippy::disallowed_methods, reason = "tmux is where the caller's PATH says")]
        let path = std::env::var_os("PATH").unwrap();
        let host = Host {
            pao_home: home.join("pao"),
            exe: "/usr/bin/true".into(),
            env: BTreeMap::from([("PATH".into(), path), ("PAO_TMUX_SOCKET".into(), socket.clone().into())]),
            frozen: chrono::DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").ok().map(|t| t.to_utc()),
            ..Host::at(&home)
        };
        let registry = Registry::open(&host.registry_file()).await.unwrap();
        let before = host.now() - TimeDelta::hours(1);
        registry.add(&Agent::starting("a", "api", &host.home, "claude-code", before)).await.unwrap();
        registry.set_process("a", Identity::own(), None, before).await.unwrap();
        registry.set_terminal("a", tmux::NAME, "the window of an earlier life").await.unwrap();
        let planned = Change::Terminal { terminal: tmux::NAME.into(), handle: String::new() };
        registry.plan_change("a", &planned, before).await.unwrap();
        let script = Script { path: host.agent_dir("a").join("launch.command"), title: "api".into() };
        fs::create_dir_all(host.agent_dir("a")).unwrap();
        crate::host::files::write_private(&script.path, b"#!/bin/sh\nexec sleep 60\n", true).unwrap();
        let terminal = terminal::choose(&host, tmux::NAME).unwrap();
        terminal.open(&script).await.unwrap();

        settle(&host, &registry).await.unwrap();
        let found = registry.agent("a").await.unwrap().unwrap().handle.unwrap();
        let alive = terminal.alive(&found).await;
        let open = registry.open_changes(Some("a")).await.unwrap();
        Run::new("tmux").args(["-L", &socket, "kill-server"]).output().await.unwrap();
        assert_eq!(alive.unwrap(), Alive::Yes, "{found}");
        let noted = Change::Terminal { terminal: tmux::NAME.into(), handle: found };
        assert_eq!(open.iter().map(|e| (&e.change, e.applied)).collect::<Vec<_>>(), [(&noted, true)]);
    }
}

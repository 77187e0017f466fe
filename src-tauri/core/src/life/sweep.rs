//! What every `pao` command does first: sees which agents are gone and takes back what was lent to them.
//!
//! Evidence is the process by pid *and* start time. Age proves nothing: an agent may wait for days.

use chrono::TimeDelta;

use crate::hook;
use crate::host::Host;
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};
use crate::spawn::deliver;
use crate::spawn::passed::Receipt;

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
            registry.set_state(&agent.id, State::Lost, None, "process", now).await?;
        }
    }
    confirm_late(registry).await?;
    let agents = registry.agents().await?;
    // Of an agent whose row does not read nothing is known: it may well be at work.
    let is_live = |id: &str| agents.iter().any(|a| a.id == id && is_live(a)) || registry.is_unreadable(id);
    for (entry, undone) in deliver::sweep(host, registry, is_live).await? {
        match undone {
            Ok(undone) => tracing::debug!(?entry.change, ?undone, "taken back after its session"),
            Err(error) => tracing::warn!(?entry.change, %error, "could not be taken back after its session"),
        }
    }
    Ok(())
}

/// Confirms prompts whose arrival was seen only after their spawn had stopped watching.
async fn confirm_late(registry: &Registry) -> Result<(), crate::Error> {
    for agent in registry.agents().await? {
        let Some(prompt) =
            agent.prompt.as_deref().filter(|_| agent.receipt.is_some_and(|r| r != Receipt::Confirmed))
        else {
            continue;
        };
        let Some(host_agent) = crate::agent::by_kind(&agent.host_agent) else { continue };
        let sent = hook::fingerprint(&host_agent.defused(prompt));
        let events = registry.events_after(&agent.id, 0).await?;
        if events.iter().any(|(_, event)| hook::prompt_fingerprint(event).as_deref() == Some(&*sent)) {
            registry.set_receipt(&agent.id, Receipt::Confirmed).await?;
        }
    }
    Ok(())
}

/// Whether the agent is there, or was paused on purpose and may come back to its files.
fn is_live(agent: &Agent) -> bool {
    agent.state.live() || agent.state == State::Paused
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;
    use crate::host::process::Identity;
    use crate::registry::events::Event;

    async fn world() -> (tempfile::TempDir, Host, Registry) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_path_buf();
        let host = Host {
            pao_home: home.join(".pao"),
            cwd: home.clone(),
            exe: PathBuf::from("/usr/bin/true"),
            env: BTreeMap::new(),
            frozen: chrono::DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").ok().map(|t| t.to_utc()),
            home,
        };
        let registry = Registry::open(&host.registry_file()).await.unwrap();
        (dir, host, registry)
    }

    fn agent(host: &Host, id: &str) -> Agent {
        Agent {
            prompt: Some("/fix it".into()),
            receipt: Some(Receipt::Unknown),
            ..Agent::starting(id, id, &host.home, "claude-code", host.now())
        }
    }

    #[tokio::test]
    async fn only_an_agent_whose_process_is_gone_is_lost() {
        let (_dir, host, registry) = world().await;
        for id in ["young", "alive", "dead", "reused"] {
            registry.add(&agent(&host, id)).await.unwrap();
        }
        let mut never = agent(&host, "never");
        never.created_at -= TimeDelta::hours(1);
        registry.add(&never).await.unwrap();
        let own = Identity::own();
        let other_start = Identity { started: own.started - 500, ..own };
        for (id, process) in
            [("alive", own), ("dead", Identity { pid: u32::MAX / 2, started: 1 }), ("reused", other_start)]
        {
            registry.set_process(id, process, None, host.now()).await.unwrap();
        }
        sweep(&host, &registry).await;
        for (id, lost) in
            [("young", false), ("alive", false), ("dead", true), ("reused", true), ("never", true)]
        {
            let state = registry.agent(id).await.unwrap().unwrap().state;
            assert_eq!(state == State::Lost, lost, "{id} is {state:?}");
        }
    }

    #[tokio::test]
    async fn a_prompt_that_arrived_late_is_confirmed_and_another_one_proves_nothing() {
        let (_dir, host, registry) = world().await;
        registry.add(&agent(&host, "a")).await.unwrap();
        let submitted = |text: &str| Event {
            agent: "a".into(),
            at: host.now(),
            event: "UserPromptSubmit".into(),
            session: None,
            detail: format!(r#"{{"prompt_sha256":"{}"}}"#, hook::fingerprint(text)),
        };
        registry.record_event(&submitted("something else"), None, None).await.unwrap();
        sweep(&host, &registry).await;
        assert_eq!(registry.agent("a").await.unwrap().unwrap().receipt, Some(Receipt::Unknown));
        let as_sent = crate::agent::CLAUDE_CODE.defused("/fix it");
        registry.record_event(&submitted(&as_sent), None, None).await.unwrap();
        sweep(&host, &registry).await;
        assert_eq!(registry.agent("a").await.unwrap().unwrap().receipt, Some(Receipt::Confirmed));
    }
}

//! What every `pao` command does first: sees what agents do, which are gone, and takes back what was lent to those.
//!
//! What follows from what is seen is decided in [`super::truth`]. Age proves nothing: an agent may wait for days.

use chrono::{DateTime, TimeDelta, Utc};

use super::clean;
use super::evidence::{self, Effort, Seen};
use super::tell;
use super::truth::{self, Truth};
use super::unfinished;
use crate::hook;
use crate::host::Host;
use crate::registry::agents::{Agent, State};
use crate::registry::conversations::Judged;
use crate::registry::{Registry, RegistryError};
use crate::spawn::deliver;
use crate::spawn::passed::Receipt;
use crate::{Context, Error};

/// How long after its end a lost agent is still looked for. What runs on longer has said so by its hooks.
const LOOKED_FOR: TimeDelta = TimeDelta::days(7);
/// How long after an agent's end its last prompt may still be seen to have arrived.
const CONFIRMED_LATE: TimeDelta = TimeDelta::hours(1);

/// Brings the registry up to date with the machine. What cannot be taken back now stays journalled and is tried
/// again next time, so nothing here is an error for the command that is about to run. Where nothing can be written
/// it only looks: an event that is taken in, or a change that is taken back, has to be noted for good.
pub async fn sweep(host: &Host, registry: &Registry) {
    sweep_with(host, registry, Effort::LITTLE).await;
}

/// The same with as much effort as the command is worth.
pub async fn sweep_with(host: &Host, registry: &Registry, effort: Effort) {
    if let Err(error) = try_sweep(host, registry, effort).await {
        tracing::warn!(%error, "the sweep was not finished");
    }
}

/// What one agent does right now: looks at its hooks, its own file, its process, its window and, where nothing else
/// tells, its screen; notes it, and gives the row as it then stands. `None` where there is no such agent.
///
/// Cheap enough to be called a few times a second for one agent.
pub async fn state_of(context: &Context, id: &str) -> Result<Option<Agent>, Error> {
    let Context { host, registry, .. } = context;
    hook::drain(host, registry).await?;
    let Some(row) = registry.agent(id).await? else { return Ok(None) };
    look_at(host, registry, std::iter::once(&row), Effort::FULL).await?;
    Ok(registry.agent(id).await?)
}

async fn try_sweep(host: &Host, registry: &Registry, effort: Effort) -> Result<(), crate::Error> {
    if registry.refusal().is_some() {
        let agents = registry.agents().await?;
        look_at(host, registry, worth_a_look(&agents, host.now()), effort).await?;
        return Ok(());
    }
    hook::drain(host, registry).await?;
    unfinished::settle(host, registry).await?;
    if let Err(error) = clean::finish(host, registry).await {
        tracing::warn!(%error, "a cleanup that was cut short is not finished yet");
    }
    let agents = registry.agents().await?;
    let changed = look_at(host, registry, worth_a_look(&agents, host.now()), effort).await?;
    confirm_late(registry, &agents, host.now() - CONFIRMED_LATE).await?;
    tell::settle(host, registry).await?;
    let agents = if changed { registry.agents().await? } else { agents };
    // Of an agent whose row does not read nothing is known: it may well be at work. A folder that is not there may have
    // been moved or be on a disk that comes back: what lies in it is not gone.
    let stays = |agent: &Agent| agent.state.live() || !agent.folder.exists();
    let is_live = |id: &str| agents.iter().any(|a| a.id == id && stays(a)) || registry.is_unreadable(id);
    for (entry, undone) in deliver::sweep(host, registry, is_live).await? {
        match undone {
            Ok(undone) => tracing::debug!(?entry.change, ?undone, "taken back after its session"),
            Err(error) => tracing::warn!(?entry.change, %error, "could not be taken back after its session"),
        }
    }
    Ok(())
}

/// Those whose state may be another by now.
fn worth_a_look(agents: &[Agent], now: DateTime<Utc>) -> impl Iterator<Item = &Agent> {
    let recently = now - LOOKED_FOR;
    agents.iter().filter(move |agent| match agent.state {
        State::Paused => false,
        State::Ended | State::Lost => agent.process.is_some() && agent.state_at > recently,
        _ => true,
    })
}

/// Looks, judges and notes. Whether any row changed.
async fn look_at<'a>(
    host: &Host,
    registry: &Registry,
    agents: impl Iterator<Item = &'a Agent>,
    effort: Effort,
) -> Result<bool, RegistryError> {
    let mut changed = false;
    for seen in evidence::collect(host, registry, agents, effort).await? {
        changed |= note(registry, &seen, &truth::judge(&seen.evidence)).await?;
    }
    Ok(changed)
}

async fn note(registry: &Registry, seen: &Seen<'_>, truth: &Truth) -> Result<bool, RegistryError> {
    let row = seen.evidence.row;
    let mut changed = false;
    if let Some(identity) = seen.better {
        registry.set_process(&row.id, identity, row.tty.as_deref(), row.sign_at).await?;
        changed = true;
    }
    if let Some(session) = seen.other_session().filter(|_| truth.state.live()) {
        registry.set_session(&row.id, session, "session file", seen.evidence.now).await?;
        changed = true;
    }
    let by = row.state_by.as_deref().unwrap_or("row");
    if truth.state != row.state || truth.needs != row.needs || truth.by != by {
        let Truth { state, needs, by, at } = truth;
        let judged = Judged { state: *state, needs: needs.as_deref(), by, at: *at };
        changed |= registry.set_judged(row, &judged).await?;
    }
    Ok(changed)
}

/// Confirms prompts whose arrival was seen only after their spawn had stopped watching.
async fn confirm_late(
    registry: &Registry,
    agents: &[Agent],
    since: DateTime<Utc>,
) -> Result<(), crate::Error> {
    for agent in agents.iter().filter(|agent| agent.state.live() || agent.state_at > since) {
        let Some(prompt) =
            agent.prompt.as_deref().filter(|_| agent.receipt.is_some_and(|r| r != Receipt::Confirmed))
        else {
            continue;
        };
        let Some(host_agent) = crate::agent::by_kind(&agent.host_agent) else { continue };
        let sent = hook::fingerprint(&host_agent.bare(&host_agent.defused(prompt)));
        let events = registry.events_after(&agent.id, 0).await?;
        if events.iter().any(|(_, event)| hook::prompt_fingerprint(event).as_deref() == Some(&*sent)) {
            registry.set_receipt(&agent.id, Receipt::Confirmed).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::host::process::{Identity, Mark, Started};
    use crate::registry::events::Event;

    async fn world() -> (tempfile::TempDir, Host, Registry) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_path_buf();
        let host = Host {
            exe: PathBuf::from("/usr/bin/true"),
            frozen: chrono::DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").ok().map(|t| t.to_utc()),
            ..Host::at(&home)
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
        never.starting_since = None;
        registry.add(&never).await.unwrap();
        let own = Identity::own();
        let mark = own.mark().unwrap();
        let other_start =
            Identity { started: Started::Marked(Mark { start: mark.start + 1, ..mark }), ..own };
        for (id, process) in [
            ("alive", own),
            ("dead", Identity { pid: u32::MAX / 2, started: Started::Clock(1) }),
            ("reused", other_start),
        ] {
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

//! What became of texts whose sender is gone: confirmed where a hook saw them, else unknown. And who is to be told
//! now: agents that are idle while a text waits for them.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use nix::fcntl::{Flock, FlockArg};

use crate::agent;
use crate::hook;
use crate::host::process::Run;
use crate::host::{Host, files};
use crate::registry::agents::{Agent, State};
use crate::registry::events::Event;
use crate::registry::messages::{Fate, Message};
use crate::registry::{Registry, RegistryError};

/// How long an unknown text may still be confirmed by what is seen later.
const LATE: TimeDelta = TimeDelta::days(1);
/// Marks, in place of a fingerprint, that a hook hands the text over, and under which name.
const BY_HOOK: &str = "hook ";

/// Name under which a text waits for a hook, where it does.
pub(super) fn by_hook(message: &Message) -> Option<&str> {
    message.sent.as_deref()?.strip_prefix(BY_HOOK)
}

/// What stands in place of a fingerprint for a text that a hook hands over under that name.
pub(super) fn as_by_hook(name: &str) -> String {
    format!("{BY_HOOK}{name}")
}

/// The right to type into one agent's window; free again when its holder is gone, however it went.
pub(super) fn lock(host: &Host, agent: &str) -> Option<Flock<std::fs::File>> {
    let folder = host.pao_home.join("locks");
    files::private_subdir(&folder).ok()?;
    let path = folder.join(format!("tell-{agent}.lock"));
    let file = std::fs::File::options().create(true).append(true).open(path).ok()?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
}

/// Brings every text's fate up to date, and starts telling where an agent is idle. Part of every sweep; nothing is
/// typed by this very process.
pub async fn settle(host: &Host, registry: &Registry) -> Result<(), RegistryError> {
    let unsettled = registry.unsettled_messages(host.now() - LATE).await?;
    let agents: BTreeSet<&str> = unsettled.iter().map(|message| message.agent.as_str()).collect();
    for id in agents {
        let Some(agent) = registry.agent(id).await? else { continue };
        // Whoever holds it is about to say more.
        let Some(held) = lock(host, id) else { continue };
        let orphaned = settle_agent(host, registry, &agent).await?;
        drop(held);
        if agent.state == State::Idle && (orphaned || registry.has_queued(id).await?) {
            let run = Run::new(&host.exe).args([hook::DELIVER, id]).env("PAO_HOME", &host.pao_home);
            let _ = run.cwd(&host.home).detach();
        }
    }
    Ok(())
}

/// The same for one agent, by who holds its lock: then nobody else is sending. Whether a text's sender is found to
/// be gone, so that it may stand in the prompt line.
pub(super) async fn settle_agent(
    host: &Host,
    registry: &Registry,
    agent: &Agent,
) -> Result<bool, RegistryError> {
    let mut orphaned = false;
    let gone = matches!(agent.state, State::Ended | State::Lost);
    let mut events: Option<Vec<Event>> = None;
    for message in registry.messages(Some(&agent.id)).await? {
        let (to, note) = match message.fate {
            Fate::Queued if gone => (Fate::Withdrawn, "the agent was gone before"),
            Fate::Sent | Fate::Unknown => {
                if events.is_none() {
                    let all = registry.events_after(&agent.id, 0).await?;
                    events = Some(all.into_iter().map(|(_, event)| event).collect());
                }
                let waits = by_hook(&message).is_some_and(|name| hook::next::waits(host, &agent.id, name));
                if events.as_ref().is_some_and(|events| events.iter().any(|e| proves(e, &message))) {
                    (Fate::Confirmed, "UserPromptSubmit hook")
                } else if waits && gone {
                    (Fate::Withdrawn, "the agent was gone before")
                } else if message.fate == Fate::Sent && !waits {
                    (
                        Fate::Unknown,
                        "whoever sent it was gone before anything proved its arrival; look at its window",
                    )
                } else {
                    continue;
                }
            }
            _ => continue,
        };
        if to == Fate::Withdrawn
            && let Some(name) = by_hook(&message)
        {
            let _ = hook::next::withdraw(host, &agent.id, name);
        }
        registry.move_message(message.id, message.fate, to, Some(note), host.now()).await?;
        orphaned |= to == Fate::Unknown;
    }
    Ok(orphaned)
}

/// Whether an event shows that the text arrived.
fn proves(event: &Event, message: &Message) -> bool {
    let since = message.settled_at.unwrap_or(message.at);
    let fresh = event.at >= message.at && (message.fate == Fate::Unknown || event.at >= since);
    match by_hook(message) {
        Some(name) => hook::handed(event).iter().any(|handed| handed == name),
        None => fresh && message.sent.is_some() && hook::prompt_fingerprint(event) == message.sent,
    }
}

/// The host agent of a row, where it is one we know.
pub(super) fn kind(agent: &Agent) -> Option<&'static agent::HostAgent> {
    agent::by_kind(&agent.host_agent)
}

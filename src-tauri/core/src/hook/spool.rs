//! Events that could not be written at once: one small file each, so that hooks never wait for one another and a
//! crash loses nothing, until a command of ours takes them into the registry.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use super::seen::{Seen, repeats};
use crate::host::{Host, files};
use crate::registry::agents::State;
use crate::registry::events::Event;
use crate::registry::{Registry, RegistryError};

/// Folder in an agent's private one.
const SPOOL: &str = "spool";

/// An event as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    at: DateTime<Utc>,
    event: String,
    session: Option<String>,
    detail: String,
    state: Option<String>,
    needs: Option<String>,
    session_source: Option<String>,
}

/// Keeps an event for later. An agent without a private folder is one that was taken away: its events go with it.
pub(super) fn keep(host: &Host, event: &Event, seen: &Seen) {
    let folder = host.agent_dir(&event.agent);
    if !folder.is_dir() {
        return;
    }
    let id = uuid::Uuid::new_v4().simple().to_string();
    let kept = Kept {
        at: event.at,
        event: event.event.clone(),
        session: event.session.clone(),
        detail: event.detail.clone(),
        state: seen.state.map(|state| state.name().to_string()),
        needs: seen.needs.clone(),
        session_source: seen.session_source.clone(),
    };
    let folder = folder.join(SPOOL);
    let name = format!("{:020}-{id}.json", event.at.timestamp_micros().max(0));
    if let Ok(bytes) = serde_json::to_vec(&kept)
        && files::private_subdir(&folder).is_ok()
    {
        // Nothing is printed on failure: standard output belongs to the answer, and there is nobody to tell.
        let _ = files::write_private(&folder.join(name), &bytes, false);
    }
}

/// Takes all kept events into the registry, oldest first per agent, each exactly once. Returns how many. Cheap
/// when there are none; every command calls it. Where nothing can be written they stay for later.
pub async fn drain(host: &Host, registry: &Registry) -> Result<usize, RegistryError> {
    let mut count = 0;
    if registry.refusal().is_some() {
        return Ok(count);
    }
    for folder in sorted(&host.pao_home.join("agents")) {
        let spool = folder.join(SPOOL);
        let Some(agent) = folder.file_name().and_then(|name| name.to_str()).filter(|_| spool.is_dir()) else {
            continue;
        };
        // Somebody else is at it.
        let Some(_lock) = lock(&spool) else { continue };
        for file in sorted(&spool).iter().filter(|file| file.extension().is_some_and(|e| e == "json")) {
            if let Ok(Some(bytes)) = files::read_if_there(file)
                && let Ok(kept) = serde_json::from_slice::<Kept>(&bytes)
            {
                take_in(registry, agent, kept).await?;
                count += 1;
            }
            // A file that does not read as we write it holds nothing that could be taken in.
            let _ = files::remove_if_there(file);
        }
    }
    Ok(count)
}

async fn take_in(registry: &Registry, agent: &str, kept: Kept) -> Result<(), RegistryError> {
    let event = Event {
        agent: agent.to_string(),
        at: kept.at,
        event: kept.event,
        session: kept.session,
        detail: kept.detail,
    };
    let state = kept.state.as_deref().and_then(State::from_name);
    // What happened since then counts more than what is told late.
    let row = registry.agent(agent).await?;
    let late = row.as_ref().is_some_and(|row| row.sign_at > event.at);
    let repeats = row.is_some_and(|row| repeats(&event.event, state, &row));
    let state = state.filter(|_| !late && !repeats).map(|state| (state, kept.needs.as_deref()));
    let source = kept.session_source.as_deref().filter(|_| !late);
    match registry.record_event(&event, state, source).await {
        // The state would bring an agent back whose name another has by now.
        Err(RegistryError::Database(sqlx::Error::Database(e))) if e.is_unique_violation() => {
            registry.record_event(&event, None, None).await
        }
        other => other,
    }
}

fn lock(spool: &Path) -> Option<Flock<std::fs::File>> {
    let file =
        std::fs::File::options().create(true).append(true).mode(0o600).open(spool.join("lock")).ok()?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

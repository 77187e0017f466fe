//! Checkpoints: where an agent stood at one moment, kept so that it can be looked at, compared and started from.
//!
//! Making one only looks: at the row, at git, at the transcript. It works while the agent runs, rests or has ended,
//! and says nothing where there is nothing to be seen. Everything is redacted before it is stored.

mod compare;
mod data;
mod fork;

use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

pub use compare::{Compared, compare};
pub use data::{Data, FORMAT, Place, Said};
pub use fork::{Forked, fork};

use crate::capture::redact::redact;
use crate::host::Host;
use crate::life::{extract, repository};
use crate::registry::agents::{Agent, State};
use crate::registry::checkpoints::Stored;
use crate::registry::{Registry, RegistryError};
use crate::{Error, agent};

/// A turn that was over this recently may not be written down to its end.
const JUST_NOW: TimeDelta = TimeDelta::seconds(3);
/// How often, and how far apart, it is looked whether a transcript still grows.
const LOOKS: u32 = 4;
const LOOK_AFTER: Duration = Duration::from_millis(400);
/// Longest message of the user's kept with one, in characters.
const MESSAGE: usize = 4_000;
/// Shortest beginning of an id that names a checkpoint.
const BEGINNING: usize = 4;

/// A checkpoint, read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its id: short, unique.
    pub id: String,
    /// Registry id of the agent.
    pub agent: String,
    /// When it was made.
    pub at: DateTime<Utc>,
    /// The user's own words about it.
    pub message: Option<String>,
    /// The rest.
    pub data: Data,
}

impl Checkpoint {
    fn read(stored: Stored) -> Result<Self, RegistryError> {
        let data = serde_json::from_str(&stored.data)
            .map_err(|_| RegistryError::Unreadable { what: "checkpoints.data", value: stored.data })?;
        let Stored { id, agent, at, message, .. } = stored;
        Ok(Self { id, agent, at, message, data })
    }
}

/// Makes a checkpoint of an agent as it is now.
pub async fn make(
    host: &Host,
    registry: &Registry,
    row: &Agent,
    message: Option<&str>,
) -> Result<Checkpoint, Error> {
    let git = repository::standing(&row.folder).await;
    let (transcript, said) = conversation(host, row).await?;
    let clean = |text: &str| redact(text).into_owned();
    let data = Data {
        format: FORMAT,
        name: row.name.clone(),
        folder: row.folder.clone(),
        project: row.project.clone(),
        host_agent: row.host_agent.clone(),
        version: row.version.clone(),
        state: row.state.name().to_string(),
        needs: row.needs.as_deref().map(clean),
        task: row.prompt.as_deref().map(clean),
        git,
        session: row.session.clone(),
        transcript,
        said,
    };
    let text = serde_json::to_string(&data)
        .map_err(|e| Error::internal(format!("the checkpoint cannot be written down: {e}")))?;
    let message = message.map(str::trim).filter(|message| !message.is_empty());
    let stored = Stored {
        id: new_id(),
        agent: row.id.clone(),
        at: host.now(),
        message: message.map(|message| redact(message).chars().take(MESSAGE).collect()),
        data: text,
    };
    registry.keep_checkpoint(&stored).await?;
    let Stored { id, agent, at, message, .. } = stored;
    Ok(Checkpoint { id, agent, at, message, data })
}

/// Where the conversation stands and what it has come to. Long transcripts take a moment, so it is read aside.
async fn conversation(host: &Host, row: &Agent) -> Result<(Option<Place>, Said), Error> {
    let Some(kind) = agent::by_kind(&row.host_agent) else { return Ok((None, Said::default())) };
    let Some(path) = extract::transcript(host, kind, row) else { return Ok((None, Said::default())) };
    if row.state != State::Working && host.now() - row.state_at < JUST_NOW {
        written_out(&path).await;
    }
    let file = path.clone();
    let read = tokio::task::spawn_blocking(move || extract::read(std::fs::File::open(file)?)).await;
    let extract =
        read.map_err(|e| Error::internal(format!("the transcript's reader broke down: {e}")))?.map_err(
            |e| Error::environment(format!("{} cannot be read: {e}", path.display()), "see who may read it"),
        )?;
    let place = Place { path, position: extract.position };
    Ok((Some(place), Said::of(extract)))
}

/// Waits until a transcript stands still: the last words of a turn are written a moment after the turn is over.
async fn written_out(path: &Path) {
    let length = || std::fs::metadata(path).map_or(0, |meta| meta.len());
    let mut before = length();
    for _ in 0..LOOKS {
        tokio::time::sleep(LOOK_AFTER).await;
        let now = length();
        if now == before {
            return;
        }
        before = now;
    }
}

fn new_id() -> String {
    let mut id = uuid::Uuid::new_v4().simple().to_string();
    id.truncate(8);
    id
}

/// Checkpoints of one agent, or of all, oldest first.
pub async fn list(registry: &Registry, agent: Option<&str>) -> Result<Vec<Checkpoint>, Error> {
    let stored = registry.checkpoints(agent).await?;
    Ok(stored.into_iter().map(Checkpoint::read).collect::<Result<_, _>>()?)
}

/// The last checkpoint of an agent.
pub async fn last(registry: &Registry, agent: &str) -> Result<Option<Checkpoint>, Error> {
    let stored = registry.checkpoints(Some(agent)).await?;
    Ok(stored.into_iter().next_back().map(Checkpoint::read).transpose()?)
}

/// The checkpoint of that id, or of a beginning of it that no other shares.
pub async fn find(registry: &Registry, id: &str) -> Result<Checkpoint, Error> {
    let stored = registry.checkpoints(None).await?;
    let exact = stored.iter().find(|stored| stored.id == id);
    let found = exact.or_else(|| {
        let mut starts = stored.iter().filter(|s| id.len() >= BEGINNING && s.id.starts_with(id));
        starts.next().filter(|_| starts.next().is_none())
    });
    let Some(found) = found else {
        let message = format!("there is no checkpoint {id}");
        return Err(Error::user(message, "see `pao checkpoint list`")
            .in_window("look at the agent's checkpoints on its page"));
    };
    Ok(Checkpoint::read(found.clone())?)
}

/// Removes a checkpoint, found as [`find`] does, and gives it back.
pub async fn remove(registry: &Registry, id: &str) -> Result<Checkpoint, Error> {
    let found = find(registry, id).await?;
    registry.drop_checkpoint(&found.id).await?;
    Ok(found)
}

#[cfg(test)]
mod tests;

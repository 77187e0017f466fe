//! Fifth room: the host agent's own trust record for exactly one folder, so that no dialog appears.
//!
//! The user has agreed before, having been shown what trust enables there ([`inspect`]). One value is written;
//! a configuration that is not strictly what it should be is refused and stays as it is. A missing one is only
//! made where the host agent was used before and had just nothing to write; otherwise it was never set up here, and
//! its first dialogs are for the user anyway.

mod inspect;
mod json;
mod lock;
mod record;
mod restore;
#[cfg(test)]
mod tests;
mod toml;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

pub use inspect::{Enabled, Enabling, enables, inspect};
pub use record::RecordError;
pub use restore::{keepsake, restore};

use self::lock::HostLock;
use self::record::Document;
use crate::agent::{Covers, TrustRecord};
use crate::host::Host;
use crate::host::files;
use crate::project::Project;
use crate::registry::change::{Change, TrustBefore};
use crate::registry::journal::Entry;
use crate::registry::{Registry, RegistryError};

/// How long another pao may hold its lock: it may itself wait for the host agent's.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the host agent may hold its lock: until it would be stale.
const HOST_PATIENCE: Duration = Duration::from_secs(12);
/// How long a configuration that changes under our hands is read again. Our text is safe on the disk before it
/// takes the place of another, which on a busy disk takes longer than some programs wait between two writes.
const PERSISTENCE: Duration = Duration::from_secs(10);
/// How often and how far apart what was written is looked at again. A program that read the configuration before us
/// writes its copy back within that time; the host agent itself takes longer until it reads it.
const LOOKS: u32 = 4;
const LOOK_AFTER: Duration = Duration::from_millis(10);

/// Where a trust record is kept, and for which folder it is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The host agent's configuration file, as the host agent names it (links not followed).
    pub config: &'a Path,
    /// Keys of the record in it.
    pub record: TrustRecord,
    /// Where the agent works (realpath).
    pub folder: &'a Path,
    /// The project of that folder.
    pub project: &'a Project,
}

/// How the folder came to be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Granted {
    /// It was: by its own entry, a parent's, or its repository's. Nothing was written.
    AlreadyTrusted {
        /// Key of the entry that says so.
        by: String,
    },
    /// Its own entry says so now.
    Added,
    /// There is no configuration: the host agent was never started by this user. Nothing was written.
    NeverStarted,
}

/// What became of a trust record that was to be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    /// It is as it was before; what others wrote into the entry since stays.
    Removed,
    /// It no longer said yes, or was never written.
    Gone,
}

/// Why trust could not be recorded or taken back. The configuration is as others left it.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It exists, but cannot be edited safely.
    #[error("{} was left as it is, for a rewrite could have lost its {bytes} bytes: {source}", .path.display())]
    Unreadable {
        /// The configuration.
        path: PathBuf,
        /// Its size.
        bytes: usize,
        /// What is wrong with it.
        source: RecordError,
    },
    /// It is a folder, or locked against its owner, or the disk refused.
    #[error("{} was left as it is: {source}", .path.display())]
    Io {
        /// The configuration.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another program holds its lock, or changes it again and again.
    #[error("{} is being changed by another program", .0.display())]
    Busy(PathBuf),
    /// The record is text, and this path is none.
    #[error("the name of {} is not Unicode, so it cannot be recorded as trusted", .0.display())]
    NotUnicode(PathBuf),
    /// The journal could not be written, so nothing was changed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

impl From<TrustError> for crate::Error {
    fn from(error: TrustError) -> Self {
        let message = error.to_string();
        match error {
            TrustError::Registry(e) => e.into(),
            TrustError::Unreadable { path, .. } => Self::environment(
                message,
                format!(
                    "mend {} (the agent keeps copies in its backups folder), then try again",
                    path.display()
                ),
            ),
            TrustError::Io { path, .. } => Self::environment(
                message,
                format!("make {} a file that you can read and write", path.display()),
            ),
            TrustError::Busy(_) => Self::environment(message, "try again in a moment"),
            TrustError::NotUnicode(_) => Self::user(message, "rename the folder"),
        }
    }
}

/// Records that the user trusts the folder. Safe beside other writers: under our lock and the host agent's own,
/// written only over what was read. Others may still write back an older copy: see [`keep`].
pub async fn grant(
    host: &Host,
    registry: &Registry,
    agent: &str,
    place: &Place<'_>,
    now: DateTime<Utc>,
) -> Result<Granted, TrustError> {
    let key = place.folder.to_str().ok_or_else(|| TrustError::NotUnicode(place.folder.to_path_buf()))?;
    // Most folders are trusted already; then no lock is needed, for nothing is written.
    let Some(text) = Text::of(place)? else { return Ok(Granted::NeverStarted) };
    if let Some(by) = covered(&document(place.config, &text.bytes, place.record)?, place) {
        return Ok(Granted::AlreadyTrusted { by });
    }
    let config = Config::lock(host, place.config, place.record).await?;
    let mut planned: Option<(i64, TrustBefore)> = None;
    let mut written = false;
    let begun = Instant::now();
    let mut again = false;
    while !std::mem::replace(&mut again, true) || begun.elapsed() < PERSISTENCE {
        let Some(old) = Text::of(place)? else { return Ok(Granted::NeverStarted) };
        let document = document(place.config, &old.bytes, place.record)?;
        let edited = match covered(&document, place) {
            Some(_) => None,
            None => config.edited(&old.bytes, document.accept(key))?,
        };
        let Some((text, before)) = edited else {
            // Ours, seen again after a write that others may have undone, or somebody else's in the meantime.
            return Ok(match planned {
                Some((id, _)) if written => {
                    registry.change_applied(id).await?;
                    Granted::Added
                }
                planned => {
                    if let Some((id, _)) = planned {
                        registry.change_undone(id).await?;
                    }
                    Granted::AlreadyTrusted { by: key.to_string() }
                }
            });
        };
        let before = if old.there { before } else { TrustBefore::NoFile };
        // Journalled once for all tries: between reading and writing, where others write all the time, there is
        // none for the journal.
        let id = match planned.take() {
            Some((id, known)) if known == before => id,
            other => {
                if let Some((id, _)) = other {
                    registry.change_undone(id).await?;
                }
                let (config, folder) = (place.config.to_path_buf(), key.to_string());
                let change = Change::Trust { config, folder, before: before.clone() };
                let open = registry.open_changes(Some(agent)).await?;
                // Written before, and then undone by others: it is one change, to be taken back once.
                if let Some(known) = open.into_iter().find(|entry| entry.change == change) {
                    written = true;
                    known.id
                } else {
                    registry.plan_change(agent, &change, now).await?
                }
            }
        };
        planned = Some((id, before));
        if !config.swap(old.there.then_some(&*old.bytes), text.as_bytes()).await? {
            continue;
        }
        written = true;
        if is_trusted(place) {
            registry.change_applied(id).await?;
            return Ok(Granted::Added);
        }
    }
    Err(TrustError::Busy(place.config.to_path_buf()))
}

/// Looks again for a moment at what [`grant`] wrote, and writes it anew where another program has put an older copy in
/// its place. For the time in which the agent is being started: it need not be waited for.
pub async fn keep(
    host: &Host,
    registry: &Registry,
    agent: &str,
    place: &Place<'_>,
    now: DateTime<Utc>,
) -> Result<(), TrustError> {
    let begun = Instant::now();
    let mut looks = 0;
    while looks < LOOKS && begun.elapsed() < PERSISTENCE {
        tokio::time::sleep(LOOK_AFTER).await;
        looks += 1;
        if !is_trusted(place) {
            grant(host, registry, agent, place, now).await?;
            looks = 0;
        }
    }
    Ok(())
}

/// Takes back what [`grant`] wrote, if it still says so. Entries of other kinds are not for this room.
pub async fn undo(
    host: &Host,
    registry: &Registry,
    entry: &Entry,
    record: TrustRecord,
) -> Result<Option<Revoked>, TrustError> {
    let Change::Trust { config: path, folder, before } = &entry.change else { return Ok(None) };
    let config = match Config::lock(host, path, record).await {
        Err(TrustError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
        other => Some(other?),
    };
    if let Some(config) = config {
        let begun = Instant::now();
        while begun.elapsed() < PERSISTENCE {
            let Some(bytes) = read(path)? else { break };
            let revoked = document(path, &bytes, record)?.revoke(folder, before);
            let Some(text) = config.edited(&bytes, revoked)? else { break };
            let made = *before == TrustBefore::NoFile && text.trim() == Document::empty(record);
            let gone = if made {
                config.remove(&bytes)?
            } else {
                config.swap(Some(&bytes), text.as_bytes()).await?
            };
            if gone {
                registry.change_undone(entry.id).await?;
                return Ok(Some(Revoked::Removed));
            }
        }
        if read(path)?.is_some_and(|b| {
            Document::parse(&b, record).is_ok_and(|d| d.revoke(folder, before).is_ok_and(|t| t.is_some()))
        }) {
            return Err(TrustError::Busy(path.clone()));
        }
    }
    registry.change_undone(entry.id).await?;
    Ok(Some(Revoked::Gone))
}

/// Whether the host agent will take the folder as trusted: by its own entry, a parent's, or that of the
/// repository a linked worktree belongs to. False also where the configuration cannot be read.
pub fn is_trusted(place: &Place<'_>) -> bool {
    look(place).unwrap_or(false)
}

/// The same, where a configuration that [`grant`] would refuse to edit is an error.
pub fn look(place: &Place<'_>) -> Result<bool, TrustError> {
    let Some(text) = Text::of(place)? else { return Ok(false) };
    Ok(covered(&document(place.config, &text.bytes, place.record)?, place).is_some())
}

/// Whether the host agent has no configuration yet and none may be made, so that it asks about trust itself.
pub fn cannot_be_said(place: &Place<'_>) -> Result<bool, TrustError> {
    Ok(Text::of(place)?.is_none())
}

fn covered(document: &Document<'_>, place: &Place<'_>) -> Option<String> {
    let repository = place.project.worktree.is_some().then(|| Path::new(&place.project.id));
    let named = |path: &Path| path.to_str().map(str::to_string);
    let yes = |key: &String| document.accepts(key);
    let mut above = place.folder.ancestors().filter_map(named);
    match place.record.covers {
        Covers::Below => above.chain(repository.and_then(named)).find(yes),
        Covers::BelowUnlessDenied => above.find(|key| document.says(key).is_some()).filter(yes),
        Covers::Repository => {
            [Some(place.folder), repository].into_iter().flatten().filter_map(named).find(yes)
        }
    }
}

/// A configuration as it is, or as it would be where it may be made.
struct Text {
    bytes: Vec<u8>,
    there: bool,
}

impl Text {
    /// `None` where there is none and none may be made.
    fn of(place: &Place<'_>) -> Result<Option<Self>, TrustError> {
        if let Some(bytes) = read(place.config)? {
            return Ok(Some(Self { bytes, there: true }));
        }
        let used = place.record.may_be_made && place.config.parent().is_some_and(Path::is_dir);
        Ok(used.then(|| Self { bytes: Document::empty(place.record).into(), there: false }))
    }
}

/// The configuration's bytes; `None` where there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, TrustError> {
    let io = |source| TrustError::Io { path: path.to_path_buf(), source };
    match fs::metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            return Ok(None);
        }
        Err(e) => return Err(io(e)),
        // A file that its owner may not read was locked on purpose, even where we are root.
        Ok(meta) if meta.permissions().mode() & 0o400 == 0 => {
            return Err(io(io::ErrorKind::PermissionDenied.into()));
        }
        Ok(_) => {}
    }
    files::read_if_there(path).map_err(io)
}

fn document<'a>(path: &Path, bytes: &'a [u8], record: TrustRecord) -> Result<Document<'a>, TrustError> {
    Document::parse(bytes, record).map_err(|source| TrustError::Unreadable {
        path: path.to_path_buf(),
        bytes: bytes.len(),
        source,
    })
}

/// The configuration under our own lock.
struct Config<'a> {
    path: &'a Path,
    target: PathBuf,
    record: TrustRecord,
    _ours: files::Lock,
}

impl<'a> Config<'a> {
    async fn lock(host: &Host, path: &'a Path, record: TrustRecord) -> Result<Self, TrustError> {
        let io = |source| TrustError::Io { path: path.to_path_buf(), source };
        let target = files::resolve(path).map_err(io)?;
        let ours = files::lock(&host.lock_file(&target), PATIENCE).await;
        let ours = ours.map_err(|e| match e.kind() {
            io::ErrorKind::TimedOut => TrustError::Busy(path.to_path_buf()),
            _ => io(e),
        })?;
        Ok(Self { path, target, record, _ours: ours })
    }

    fn edited<T>(&self, bytes: &[u8], edit: Result<T, RecordError>) -> Result<T, TrustError> {
        edit.map_err(|source| TrustError::Unreadable {
            path: self.path.to_path_buf(),
            bytes: bytes.len(),
            source,
        })
    }

    /// Writes under the host agent's lock, if the file is still as it was read.
    async fn swap(&self, old: Option<&[u8]>, new: &[u8]) -> Result<bool, TrustError> {
        let io = |source| TrustError::Io { path: self.path.to_path_buf(), source };
        let held = if self.record.locked {
            let held = HostLock::take(self.path, HOST_PATIENCE).await.map_err(io)?;
            Some(held.ok_or_else(|| TrustError::Busy(self.path.to_path_buf()))?)
        } else {
            None
        };
        let swapped = files::swap(&self.target, old, new).map_err(io)?;
        if swapped && old.is_none() {
            fs::set_permissions(&self.target, fs::Permissions::from_mode(0o600)).map_err(io)?;
        }
        drop(held);
        Ok(swapped)
    }

    /// Removes a file of ours, if it is still as it was read.
    fn remove(&self, old: &[u8]) -> Result<bool, TrustError> {
        let io = |source| TrustError::Io { path: self.path.to_path_buf(), source };
        if read(self.path)?.is_some_and(|bytes| bytes != old) {
            return Ok(false);
        }
        files::remove_if_there(&self.target).map_err(io)?;
        Ok(true)
    }
}

//! Takes changes back, looking at what is really there: what is no longer as we left it stays.

use std::fs;
use std::io;
use std::path::Path;

use super::apply::PATIENCE;
use super::{DeliverError, block, exclude};
use crate::host::Host;
use crate::host::files;
use crate::registry::Registry;
use crate::registry::change::Change;
use crate::registry::journal::Entry;

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undone {
    /// It is gone now.
    Removed,
    /// It was gone already, or had never happened.
    Gone,
    /// It stays for good; the reason. Its journal entry is closed: it belongs to the user now.
    Kept(String),
    /// It stays for now; the reason. Its journal entry stays open, and the next undo tries again.
    Waiting(String),
}

/// Takes back one change of the kinds this room makes; `None` for all others. Entries of one agent are to be given
/// newest first.
pub async fn undo(host: &Host, registry: &Registry, entry: &Entry) -> Result<Option<Undone>, DeliverError> {
    if !entry.applied {
        half_written(&entry.change)?;
    }
    let undone = match &entry.change {
        Change::File { path, sha256 } => file(path, sha256)?,
        Change::Folder { path } => folder(registry, entry, path).await?,
        Change::Private { path } => private(host, path)?,
        Change::Block { path, created } => return self::block(host, registry, entry, path, *created).await,
        Change::Exclude { path, line, created } => {
            return self::exclude(host, registry, entry, path, line, *created).await;
        }
        Change::Trust { .. } | Change::Terminal { .. } => return Ok(None),
    };
    registry.change_undone(entry.id).await?;
    Ok(Some(undone))
}

/// Takes back what agents that are no longer alive left in projects and exclude files. Private folders stay: an
/// ended agent may be taken up again. One failure does not keep the others.
pub async fn sweep(
    host: &Host,
    registry: &Registry,
    is_live: impl Fn(&str) -> bool,
) -> Result<Vec<(Entry, Result<Undone, DeliverError>)>, DeliverError> {
    let mut swept = Vec::new();
    for entry in registry.open_changes(None).await? {
        let in_project = matches!(
            entry.change,
            Change::File { .. } | Change::Folder { .. } | Change::Block { .. } | Change::Exclude { .. }
        );
        if in_project && !is_live(&entry.agent) {
            let undone = undo(host, registry, &entry).await;
            if let Some(undone) = undone.transpose() {
                swept.push((entry, undone));
            }
        }
    }
    Ok(swept)
}

/// Removes what a writer that was killed at this change left beside its file.
fn half_written(change: &Change) -> Result<(), DeliverError> {
    let (Change::File { path, .. } | Change::Block { path, .. } | Change::Exclude { path, .. }) = change
    else {
        return Ok(());
    };
    for half in path.parent().map(files::abandoned).unwrap_or_default() {
        files::remove_if_there(&half).map_err(|e| DeliverError::io(&half, e))?;
    }
    Ok(())
}

pub(super) fn missing(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn file(path: &Path, sha256: &str) -> Result<Undone, DeliverError> {
    let io = |e| DeliverError::io(path, e);
    match fs::symlink_metadata(path) {
        Err(e) if missing(&e) => return Ok(Undone::Gone),
        Err(e) => return Err(io(e)),
        Ok(meta) if !meta.is_file() => {
            return Ok(Undone::Kept(format!("{} is no longer a file of ours", path.display())));
        }
        Ok(_) => {}
    }
    let bytes = fs::read(path).map_err(io)?;
    if files::sha256(&bytes) != sha256 {
        return Ok(Undone::Kept(format!("{} was changed by someone", path.display())));
    }
    files::remove_if_there(path).map_err(io)?;
    files::sync_dir(path.parent().unwrap_or(Path::new("/"))).map_err(io)?;
    Ok(Undone::Removed)
}

async fn folder(registry: &Registry, entry: &Entry, path: &Path) -> Result<Undone, DeliverError> {
    let shared = |e: &Entry| e.id != entry.id && e.change == entry.change;
    if registry.open_changes(None).await?.iter().any(shared) {
        return Ok(Undone::Kept(format!("{} is used by another agent's delivery", path.display())));
    }
    match fs::remove_dir(path) {
        Ok(()) => Ok(Undone::Removed),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Undone::Gone),
        Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => {
            Ok(Undone::Kept(format!("{} is not empty", path.display())))
        }
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            Ok(Undone::Kept(format!("{} is no longer a folder", path.display())))
        }
        Err(e) => Err(DeliverError::io(path, e)),
    }
}

fn private(host: &Host, path: &Path) -> Result<Undone, DeliverError> {
    // The journal is data: only a folder that can be an agent's is removed with all it holds.
    if path.parent() != Some(&host.pao_home.join("agents")) || path.file_name().is_none() {
        return Ok(Undone::Kept(format!("{} is not an agent's private folder", path.display())));
    }
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(Undone::Removed),
        Err(e) if missing(&e) => Ok(Undone::Gone),
        Err(e) => Err(DeliverError::io(path, e)),
    }
}

/// Writes `new`, or removes the file when nothing is left of one that we created.
fn put(path: &Path, old: &[u8], new: &[u8], created: bool) -> Result<Undone, DeliverError> {
    let io = |e| DeliverError::io(path, e);
    if created && new.is_empty() && fs::read(path).map_err(io)? == old {
        files::remove_if_there(path).map_err(io)?;
        files::sync_dir(path.parent().unwrap_or(Path::new("/"))).map_err(io)?;
        return Ok(Undone::Removed);
    }
    if files::swap(path, Some(old), new).map_err(io)? {
        return Ok(Undone::Removed);
    }
    Ok(Undone::Waiting(format!("{} is being changed by another program", path.display())))
}

async fn block(
    host: &Host,
    registry: &Registry,
    entry: &Entry,
    path: &Path,
    created: bool,
) -> Result<Option<Undone>, DeliverError> {
    let io = |e| DeliverError::io(path, e);
    let _lock = files::lock(&host.lock_file(path), PATIENCE).await.map_err(io)?;
    let text = match files::read_if_there(path) {
        Err(e) if missing(&e) => None,
        other => other.map_err(io)?,
    };
    let undone = match text {
        None => Undone::Gone,
        Some(_) if fs::symlink_metadata(path).map_err(io)?.is_symlink() => {
            Undone::Waiting(format!("{} became a link", path.display()))
        }
        Some(text) => match block::remove(&text, &entry.agent) {
            Ok(None) => Undone::Gone,
            Ok(Some(new)) => put(path, &text, &new, created)?,
            Err(e) => Undone::Waiting(format!("{}, {e}", path.display())),
        },
    };
    settle(registry, entry, undone).await
}

async fn exclude(
    host: &Host,
    registry: &Registry,
    entry: &Entry,
    path: &Path,
    line: &str,
    created: bool,
) -> Result<Option<Undone>, DeliverError> {
    let io = |e| DeliverError::io(path, e);
    // Under the lock of `apply`: of two agents that share a line the last one to go takes it along.
    let _lock = files::lock(&host.lock_file(path), PATIENCE).await.map_err(io)?;
    let needed = |e: &Entry| {
        e.id != entry.id
            && matches!(&e.change, Change::Exclude { path: p, line: l, .. } if p == path && l == line)
    };
    let undone = if registry.open_changes(None).await?.iter().any(needed) {
        Undone::Kept(format!("{line} in {} is needed by another agent", path.display()))
    } else {
        match files::read_if_there(path) {
            Err(e) if missing(&e) => Undone::Gone,
            Err(e) => return Err(io(e)),
            Ok(None) => Undone::Gone,
            Ok(Some(text)) => match exclude::remove(&text, line) {
                None => Undone::Gone,
                Some(new) => put(path, &text, &new, created)?,
            },
        }
    };
    settle(registry, entry, undone).await
}

async fn settle(registry: &Registry, entry: &Entry, undone: Undone) -> Result<Option<Undone>, DeliverError> {
    if !matches!(undone, Undone::Waiting(_)) {
        registry.change_undone(entry.id).await?;
    }
    Ok(Some(undone))
}

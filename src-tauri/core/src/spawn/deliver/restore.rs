//! Puts back what was taken back: only where nothing else has come in its place, each piece journalled before it
//! is written.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use chrono::{DateTime, Utc};

use super::apply::PATIENCE;
use super::undo::missing;
use super::{DeliverError, block, exclude};
use crate::host::Host;
use crate::host::files;
use crate::keepsake::{Keepsake, Splice};
use crate::registry::Registry;
use crate::registry::change::Change;

/// What became of a piece that was to be put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// It is back.
    Back,
    /// It was there already, just so.
    There,
    /// Something else is there now, or its place is gone; nothing was written. The reason.
    Refused(String),
}

/// For whom something is put back, and whether it is journalled again as theirs.
#[derive(Debug, Clone, Copy)]
pub struct For<'a> {
    /// Registry id of the agent.
    pub agent: &'a str,
    /// Whether it was in the journal before.
    pub journalled: bool,
    /// When.
    pub now: DateTime<Utc>,
}

/// What has to be kept so that [`restore`] can undo what [`super::undo`] is about to do. Only reads.
pub fn keepsake(change: &Change, agent: &str) -> Result<Keepsake, DeliverError> {
    match change {
        Change::File { path, sha256 } => {
            let whole = whole(path)?;
            Ok(whole.filter(|(bytes, _)| files::sha256(bytes) == *sha256).map_or(Keepsake::Nothing, kept))
        }
        Change::Folder { path } => match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_dir() => Ok(Keepsake::Folder { mode: meta.mode() & 0o7777 }),
            Ok(_) => Ok(Keepsake::Nothing),
            Err(e) if missing(&e) => Ok(Keepsake::Nothing),
            Err(e) => Err(DeliverError::io(path, e)),
        },
        Change::Block { path, created } => {
            let Some(before) = whole(path)? else { return Ok(Keepsake::Nothing) };
            let after = block::remove(&before.0, agent).ok().flatten();
            Ok(part(before, after, *created))
        }
        Change::Exclude { path, line, created } => {
            let Some(before) = whole(path)? else { return Ok(Keepsake::Nothing) };
            let after = exclude::remove(&before.0, line);
            Ok(part(before, after, *created))
        }
        Change::Private { .. } | Change::Trust { .. } | Change::Terminal { .. } => Ok(Keepsake::Nothing),
    }
}

/// A plain file's bytes and permissions; `None` where there is none.
fn whole(path: &Path) -> Result<Option<(Vec<u8>, u32)>, DeliverError> {
    let io = |e| DeliverError::io(path, e);
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => {
            let bytes = files::read_if_there(path).map_err(io)?;
            Ok(bytes.map(|bytes| (bytes, meta.mode() & 0o7777)))
        }
        Ok(_) => Ok(None),
        Err(e) if missing(&e) => Ok(None),
        Err(e) => Err(io(e)),
    }
}

fn kept((bytes, mode): (Vec<u8>, u32)) -> Keepsake {
    Keepsake::Whole { bytes, mode }
}

fn part(before: (Vec<u8>, u32), after: Option<Vec<u8>>, created: bool) -> Keepsake {
    match after {
        None => Keepsake::Nothing,
        // Such a file goes as a whole.
        Some(after) if created && after.is_empty() => kept(before),
        Some(after) => Keepsake::Part(Splice::between(&before.0, &after)),
    }
}

/// Puts back one change of the kinds this room makes; `None` for all others. Nothing that stands there now is
/// replaced.
pub async fn restore(
    host: &Host,
    registry: &Registry,
    change: &Change,
    keepsake: &Keepsake,
    whom: For<'_>,
) -> Result<Option<Restored>, DeliverError> {
    let restored = match (change, keepsake) {
        (Change::Trust { .. } | Change::Terminal { .. } | Change::Private { .. }, _) => return Ok(None),
        (_, Keepsake::Nothing) => Restored::Refused("nothing of it was kept".into()),
        (Change::Folder { path }, Keepsake::Folder { mode }) => {
            folder(registry, change, path, *mode, whom).await?
        }
        (
            Change::File { path, .. } | Change::Block { path, .. } | Change::Exclude { path, .. },
            Keepsake::Whole { bytes, mode },
        ) => {
            let _lock = lock(host, path).await?;
            file(registry, change, path, bytes, *mode, whom).await?
        }
        (Change::Block { path, .. } | Change::Exclude { path, .. }, Keepsake::Part(splice)) => {
            let _lock = lock(host, path).await?;
            cut(registry, change, path, splice, whom).await?
        }
        _ => Restored::Refused("what was kept of it is of another kind".into()),
    };
    Ok(Some(restored))
}

async fn lock(host: &Host, path: &Path) -> Result<files::Lock, DeliverError> {
    files::lock(&host.lock_file(path), PATIENCE).await.map_err(|e| DeliverError::io(path, e))
}

/// Journals, does, and notes that it was done.
async fn journalled(
    registry: &Registry,
    change: &Change,
    whom: For<'_>,
    make: impl FnOnce() -> Result<Restored, DeliverError>,
) -> Result<Restored, DeliverError> {
    if !whom.journalled {
        return make();
    }
    let open = registry.open_changes(Some(whom.agent)).await?;
    let id = match open.into_iter().find(|e| e.change == *change) {
        Some(entry) => entry.id,
        None => registry.plan_change(whom.agent, change, whom.now).await?,
    };
    let done = make();
    match &done {
        Ok(Restored::Back | Restored::There) => registry.change_applied(id).await?,
        _ => registry.change_undone(id).await?,
    }
    done
}

async fn folder(
    registry: &Registry,
    change: &Change,
    path: &Path,
    mode: u32,
    whom: For<'_>,
) -> Result<Restored, DeliverError> {
    let make = || match fs::create_dir(path) {
        Ok(()) => {
            let set = fs::set_permissions(path, Permissions::from_mode(mode));
            set.map(|()| Restored::Back).map_err(|e| DeliverError::io(path, e))
        }
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(Restored::There),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            Ok(Restored::Refused(format!("{} is something else now", path.display())))
        }
        Err(e) if missing(&e) => Ok(place_gone(path)),
        Err(e) => Err(DeliverError::io(path, e)),
    };
    journalled(registry, change, whom, make).await
}

fn place_gone(path: &Path) -> Restored {
    Restored::Refused(format!("the folder of {} is gone", path.display()))
}

async fn file(
    registry: &Registry,
    change: &Change,
    path: &Path,
    bytes: &[u8],
    mode: u32,
    whom: For<'_>,
) -> Result<Restored, DeliverError> {
    if !path.parent().is_some_and(Path::is_dir) {
        return Ok(place_gone(path));
    }
    let make = || match files::create_with(path, bytes, mode) {
        Ok(()) => Ok(Restored::Back),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(match whole(path)? {
            Some((there, _)) if there == bytes => Restored::There,
            _ => Restored::Refused(format!("{} exists again, and is left as it is", path.display())),
        }),
        Err(e) => Err(DeliverError::io(path, e)),
    };
    journalled(registry, change, whom, make).await
}

async fn cut(
    registry: &Registry,
    change: &Change,
    path: &Path,
    splice: &Splice,
    whom: For<'_>,
) -> Result<Restored, DeliverError> {
    let Some((now, _)) = whole(path)? else {
        return Ok(Restored::Refused(format!("{} is gone", path.display())));
    };
    let again = match change {
        Change::Exclude { line, .. } if exclude::has(&now, line) => None,
        // One more line on top takes nothing from what the user has written since.
        Change::Exclude { line, .. } => {
            Some(splice.reversed(&now).unwrap_or_else(|| exclude::add(&now, line)))
        }
        _ if block::agents(&now).is_ok_and(|there| there.iter().any(|id| id == whom.agent)) => None,
        _ => {
            let Some(before) = splice.reversed(&now) else {
                let why = format!("{} was changed since, and is left as it is", path.display());
                return Ok(Restored::Refused(why));
            };
            Some(before)
        }
    };
    let make = || match &again {
        None => Ok(Restored::There),
        Some(text) => match files::swap(path, Some(&now), text) {
            Ok(true) => Ok(Restored::Back),
            Ok(false) => {
                Ok(Restored::Refused(format!("{} is being changed by another program", path.display())))
            }
            Err(e) => Err(DeliverError::io(path, e)),
        },
    };
    journalled(registry, change, whom, make).await
}

//! Puts back what a cleanup took away: last first, byte for byte, and never over something that has come in its
//! place since. What cannot be put back stays kept, and says why.

use std::fs;
use std::io;
use std::path::Path;

use chrono::{DateTime, Utc};

use super::apply::{resume, stamped, trusting};
use super::plan::{Item, Of, Thing};
use super::record::{Aside, Open, Record, Stage, Standing, history};
use super::work;
use super::{CleanError, PATIENCE, alone};
use crate::agent::HostAgent;
use crate::host::{Host, files};
use crate::keepsake::Keepsake;
use crate::project::Project;
use crate::registry::change::Change;
use crate::registry::{Registry, RegistryError};
use crate::spawn::{deliver, trust};

/// Undoes the cleanup of that id, or the last one that was not undone.
pub async fn undo(host: &Host, registry: &Registry, id: Option<&str>) -> Result<Record, CleanError> {
    let _alone = alone(host, PATIENCE).await?;
    resume(host, registry).await?;
    let mut records = history(host)?.into_iter();
    let mut record = match id {
        Some(id) => records.find(|r| r.id == id).ok_or_else(|| CleanError::NoSuch(id.to_string()))?,
        None => records.find(|r| r.undone_at.is_none()).ok_or(CleanError::None)?,
    };
    if let Some(at) = record.undone_at {
        return Err(CleanError::Undone { id: record.id, at });
    }
    record.standing = Standing::Undoing;
    record.told = true;
    let open = Open::reopen(host, record)?;
    open.save()?;
    carry_out(host, registry, open).await
}

pub(super) async fn carry_out(
    host: &Host,
    registry: &Registry,
    mut open: Open,
) -> Result<Record, CleanError> {
    // Cut short between its new name and its list, it had not begun.
    open.record.standing = Standing::Undoing;
    for index in (0..open.record.parts.len()).rev() {
        one(host, registry, &mut open, index).await?;
        open.save()?;
    }
    // Only now: cut short before, what was kept is needed once more.
    for (_, piece) in open.record.pieces() {
        if let (Stage::Restored, Aside::File { name, .. }) = (piece.stage, &piece.aside) {
            let kept = open.dir.join(name);
            files::remove_if_there(&kept).map_err(|e| CleanError::file(&kept, e))?;
        }
    }
    open.record.undone_at = Some(host.now());
    open.settle(host, Standing::Undone)
}

async fn one(host: &Host, registry: &Registry, open: &mut Open, index: usize) -> Result<(), CleanError> {
    let at = open.record.at;
    let part = open.record.parts[index].clone();
    // The row first where the agent was paused: what belongs to it is otherwise taken back by the next sweep. Else
    // last, so that nobody brings it back before its files are.
    if part.was_paused {
        row(host, registry, open, index, at).await?;
    }
    for number in (0..part.pieces.len()).rev() {
        let (item, piece) = (&part.group.items[number], &part.pieces[number]);
        if item.thing == Thing::Row || piece.stage != Stage::Removed {
            continue;
        }
        if let Some(why) = for_good(&item.thing) {
            open.record.parts[index].pieces[number].note = why.into();
            continue;
        }
        let (stage, note) = match restore(host, registry, &open.dir, item, &piece.aside).await {
            Ok(None) => (Stage::Restored, String::new()),
            Ok(Some(why)) => (Stage::Refused, why),
            Err(error) => (Stage::Refused, error.to_string()),
        };
        let piece = &mut open.record.parts[index].pieces[number];
        (piece.stage, piece.note) = (stage, note);
    }
    if !part.was_paused {
        row(host, registry, open, index, at).await?;
    }
    Ok(())
}

/// Takes the agent's row back from the archive.
async fn row(
    host: &Host,
    registry: &Registry,
    open: &mut Open,
    index: usize,
    at: DateTime<Utc>,
) -> Result<(), CleanError> {
    let part = open.record.parts[index].clone();
    if let Of::Agent { id } = &part.group.of
        && let Some(number) = part.group.items.iter().position(|i| i.thing == Thing::Row)
        && part.pieces[number].stage == Stage::Removed
    {
        let (stage, note) = match registry.unarchive(id, stamped(at), part.was_paused, host.now()).await {
            Ok(true) => (Stage::Restored, ""),
            Ok(false) if registry.agent(id).await?.is_some_and(|a| a.archived_at.is_none()) => {
                (Stage::Restored, "")
            }
            Ok(false) => (Stage::Refused, "its row is gone, or was put aside again"),
            Err(RegistryError::NameTaken(_)) => {
                registry.unarchive(id, stamped(at), false, host.now()).await?;
                (Stage::Restored, "another agent has its name now, so it is ended instead of paused")
            }
            Err(e) => return Err(e.into()),
        };
        let piece = &mut open.record.parts[index].pieces[number];
        (piece.stage, piece.note) = (stage, note.into());
    }
    Ok(())
}

/// What is never put back, and what there is to say about it.
fn for_good(thing: &Thing) -> Option<&'static str> {
    match thing {
        Thing::Process { .. } => Some("a process that was ended does not come back"),
        Thing::Cleanup { .. } => Some("it is gone for good"),
        Thing::Journalled { change: Change::Terminal { .. }, .. }
        | Thing::Found { change: Change::Terminal { .. }, .. } => Some("a closed window is not opened again"),
        _ => None,
    }
}

/// Puts one item back; why not, where it is not.
async fn restore(
    host: &Host,
    registry: &Registry,
    dir: &Path,
    item: &Item,
    aside: &Aside,
) -> Result<Option<String>, CleanError> {
    let (agent, change, journalled) = match &item.thing {
        Thing::Journalled { agent, change } => (agent, change, true),
        Thing::Found { agent, change } => (agent, change, false),
        Thing::File { path } => {
            return lone_file(path, dir, aside);
        }
        Thing::Worktree { path, repository, branch, head } => {
            if work::is_at(path, head).await {
                return Ok(None);
            }
            if fs::symlink_metadata(path).is_ok() {
                return Ok(Some(format!("{} exists again, and is left as it is", path.display())));
            }
            return Ok(work::restore(repository, path, branch.as_deref(), head).await.err());
        }
        Thing::Row | Thing::Process { .. } | Thing::Cleanup { .. } => return Ok(None),
    };
    match (change, aside) {
        (Change::Private { path }, Aside::Tree { name }) => {
            return private(host, registry, agent, change, path, &dir.join(name), journalled).await;
        }
        (Change::Trust { config, folder, .. }, _) => {
            let trusting = trusting(host, config);
            if is_another(registry, trusting, Path::new(folder)).await? {
                let why = "what is there now is not what you agreed to trust; the next spawn there asks";
                return Ok(Some(why.into()));
            }
            let keepsake = keepsake(dir, aside)?;
            let back = trust::restore(host, registry, change, &keepsake, agent, trusting.trust).await?;
            return Ok((!back).then(|| format!("{} is gone", config.display())));
        }
        _ => {}
    }
    let whom = deliver::For { agent, journalled, now: host.now() };
    let restored = deliver::restore(host, registry, change, &keepsake(dir, aside)?, whom).await?;
    Ok(match restored {
        Some(deliver::Restored::Back | deliver::Restored::There) => None,
        Some(deliver::Restored::Refused(why)) => Some(why),
        None => Some("no room knows it".into()),
    })
}

/// Whether a path leads elsewhere than when its folder was trusted, or trusting it enables something else.
async fn is_another(registry: &Registry, agent: &HostAgent, folder: &Path) -> Result<bool, CleanError> {
    if folder.canonicalize().is_ok_and(|real| real != folder) {
        return Ok(true);
    }
    let enables = trust::enables(agent, folder, &Project::of(folder)).mark;
    Ok(enables.is_some() && !registry.consents(folder, agent.kind).await?.trusts(enables.as_deref()))
}

fn keepsake(dir: &Path, aside: &Aside) -> Result<Keepsake, CleanError> {
    Ok(match aside {
        Aside::Nothing | Aside::Tree { .. } => Keepsake::Nothing,
        Aside::Folder { mode } => Keepsake::Folder { mode: *mode },
        Aside::Part(splice) => Keepsake::Part(splice.clone()),
        Aside::File { name, mode } => {
            let path = dir.join(name);
            let bytes = fs::read(&path).map_err(|e| CleanError::file(&path, e))?;
            Keepsake::Whole { bytes, mode: *mode }
        }
    })
}

fn lone_file(path: &Path, dir: &Path, aside: &Aside) -> Result<Option<String>, CleanError> {
    let Keepsake::Whole { bytes, mode } = keepsake(dir, aside)? else {
        return Ok(Some("nothing of it was kept".into()));
    };
    match files::create_with(path, &bytes, mode) {
        Ok(()) => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            Ok(Some(format!("{} exists again, and is left as it is", path.display())))
        }
        Err(e) => Err(CleanError::file(path, e)),
    }
}

async fn private(
    host: &Host,
    registry: &Registry,
    agent: &str,
    change: &Change,
    path: &Path,
    kept: &Path,
    journalled: bool,
) -> Result<Option<String>, CleanError> {
    let io = |e| CleanError::file(path, e);
    let is_kept = fs::symlink_metadata(kept).is_ok();
    if fs::symlink_metadata(path).is_ok() {
        // Moved by us before we were cut short, or made anew by somebody.
        return Ok(is_kept.then(|| format!("{} exists again, and is left as it is", path.display())));
    }
    if !is_kept {
        return Ok(Some("nothing of it was kept".into()));
    }
    let id = if journalled { Some(registry.plan_change(agent, change, host.now()).await?) } else { None };
    if let Some(parent) = path.parent() {
        files::private_dir(parent).map_err(io)?;
    }
    fs::rename(kept, path).map_err(io)?;
    if let Some(id) = id {
        registry.change_applied(id).await?;
    }
    Ok(None)
}

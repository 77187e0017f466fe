//! What a cleanup took away: a folder of its own with the list of it, `cleanups/<id>`, 0700.
//!
//! While somebody works on it the folder's name ends in `.open`. Found so with nobody at it, the work was cut
//! short. The list is a stored format.

use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::plan::{Group, Item, Thing};
use super::{CleanError, folder};
use crate::host::{Host, files};
use crate::keepsake::Splice;

const LIST: &str = "list.json";
const OPEN: &str = ".open";

/// One cleanup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its id: the day and a number.
    pub id: String,
    /// When it was made.
    pub at: DateTime<Utc>,
    /// Nobody asked for it but the configuration.
    pub automatic: bool,
    /// The user has been told of it.
    pub told: bool,
    /// How far it is.
    pub standing: Standing,
    /// When it was undone.
    pub undone_at: Option<DateTime<Utc>>,
    /// What it took away.
    pub parts: Vec<Part>,
}

impl Record {
    /// All items with what became of them.
    pub fn pieces(&self) -> impl Iterator<Item = (&Item, &Piece)> {
        self.parts.iter().flat_map(|part| part.group.items.iter().zip(&part.pieces))
    }
}

/// How far a cleanup is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Being made.
    Applying,
    /// Made.
    Done,
    /// Being undone.
    Undoing,
    /// Undone.
    Undone,
}

/// One group of a cleanup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What was planned.
    pub group: Group,
    /// Everything of it that can be kept is kept.
    pub saved: bool,
    /// Nothing is left to do for it.
    pub over: bool,
    /// Why all of it was left alone after all.
    pub left: Option<String>,
    /// The agent was paused before.
    pub was_paused: bool,
    /// By item.
    pub pieces: Vec<Piece>,
}

/// What became of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// How far it is.
    pub stage: Stage,
    /// What is kept of it.
    pub aside: Aside,
    /// What there is to say about it; empty where it all went as planned.
    pub note: String,
}

/// How far one item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Nothing was done yet.
    Planned,
    /// It is gone.
    Removed,
    /// It was gone before.
    Gone,
    /// It was left where it is.
    Kept,
    /// It is back.
    Restored,
    /// It could not be put back; what was kept of it is still kept.
    Refused,
}

impl Stage {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Planned => "planned",
            Stage::Removed => "removed",
            Stage::Gone => "gone",
            Stage::Kept => "kept",
            Stage::Restored => "restored",
            Stage::Refused => "refused",
        }
    }
}

/// What is kept of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aside {
    /// Nothing.
    Nothing,
    /// A whole file, by its name in the cleanup's folder.
    File {
        /// Its name there.
        name: String,
        /// Its permissions.
        mode: u32,
    },
    /// That there was a folder.
    Folder {
        /// Its permissions.
        mode: u32,
    },
    /// Our part of a file.
    Part(Splice),
    /// A whole folder, by its name in the cleanup's folder.
    Tree {
        /// Its name there.
        name: String,
    },
}

/// Where a settled cleanup is kept.
pub(super) fn place(host: &Host, id: &str) -> PathBuf {
    folder(host).join(id)
}

/// All settled cleanups, newest first.
pub fn history(host: &Host) -> Result<Vec<Record>, CleanError> {
    let mut records: Vec<Record> = names(host)?
        .iter()
        .filter(|name| !name.ends_with(OPEN))
        .filter_map(|name| match read(&folder(host).join(name)) {
            Ok(record) => Some(record),
            Err(error) => {
                tracing::warn!(%error, "a cleanup does not read");
                None
            }
        })
        .collect();
    records.sort_by(|a, b| (b.at, &b.id).cmp(&(a.at, &a.id)));
    Ok(records)
}

fn names(host: &Host) -> Result<Vec<String>, CleanError> {
    let path = folder(host);
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(CleanError::file(&path, e)),
    };
    let folders = entries.flatten().filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> = folders.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

fn read(path: &Path) -> Result<Record, CleanError> {
    let list = path.join(LIST);
    let bytes = fs::read(&list).map_err(|e| CleanError::file(&list, e))?;
    serde_json::from_slice(&bytes).map_err(|e| CleanError::Unreadable { path: list, why: e.to_string() })
}

/// Notes that the user has been told of a cleanup.
pub(super) fn told(host: &Host, mut record: Record) -> Result<(), CleanError> {
    record.told = true;
    let path = place(host, &record.id).join(LIST);
    let bytes = serde_json::to_vec_pretty(&record)
        .map_err(|e| CleanError::Unreadable { path: path.clone(), why: e.to_string() })?;
    files::write_private(&path, &bytes, false).map_err(|e| CleanError::file(&path, e))
}

/// A cleanup that is being worked on. Only under the lock.
pub(super) struct Open {
    pub dir: PathBuf,
    pub record: Record,
}

impl Open {
    /// Begins one.
    pub fn begin(host: &Host, parts: Vec<Part>, automatic: bool) -> Result<Self, CleanError> {
        let (all, at) = (folder(host), host.now());
        files::private_dir(&all).map_err(|e| CleanError::file(&all, e))?;
        let taken = names(host)?;
        let day = at.format("%Y-%m-%d");
        let is_free = |id: &String| taken.iter().all(|name| name.trim_end_matches(OPEN) != id);
        let id = (1..=u32::MAX).map(|n| format!("{day}-{n}")).find(is_free).unwrap_or_default();
        let dir = all.join(format!("{id}{OPEN}"));
        files::private_dir(&dir).map_err(|e| CleanError::file(&dir, e))?;
        let standing = Standing::Applying;
        let record = Record { id, at, automatic, told: !automatic, standing, undone_at: None, parts };
        let open = Self { dir, record };
        open.save()?;
        Ok(open)
    }

    /// Takes up a settled one.
    pub fn reopen(host: &Host, record: Record) -> Result<Self, CleanError> {
        let dir = folder(host).join(format!("{}{OPEN}", record.id));
        let from = place(host, &record.id);
        fs::rename(&from, &dir).map_err(|e| CleanError::file(&from, e))?;
        Ok(Self { dir, record })
    }

    /// Those that were cut short.
    pub fn left_behind(host: &Host) -> Result<Vec<Self>, CleanError> {
        let mut left = Vec::new();
        for name in names(host)?.into_iter().filter(|name| name.ends_with(OPEN)) {
            let dir = folder(host).join(name);
            for half in files::half_written(&dir) {
                files::remove_if_there(&half).map_err(|e| CleanError::file(&half, e))?;
            }
            match read(&dir) {
                Ok(record) => left.push(Self { dir, record }),
                // Cut short before its list was written, it had done nothing.
                Err(CleanError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                    fs::remove_dir(&dir).map_err(|e| CleanError::file(&dir, e))?;
                }
                Err(error) => tracing::warn!(%error, "a cleanup that was cut short does not read"),
            }
        }
        Ok(left)
    }

    /// Whether one was cut short, or is being worked on.
    pub fn any(host: &Host) -> bool {
        names(host).is_ok_and(|names| names.iter().any(|name| name.ends_with(OPEN)))
    }

    /// Writes the list down; durable when it returns.
    pub fn save(&self) -> Result<(), CleanError> {
        let path = self.dir.join(LIST);
        let bytes = serde_json::to_vec_pretty(&self.record)
            .map_err(|e| CleanError::Unreadable { path: path.clone(), why: e.to_string() })?;
        files::write_private(&path, &bytes, false).map_err(|e| CleanError::file(&path, e))
    }

    /// Settles it under its own name; one that took nothing away leaves nothing behind.
    pub fn settle(mut self, host: &Host, standing: Standing) -> Result<Record, CleanError> {
        self.record.standing = standing;
        let io = |e| CleanError::file(&self.dir, e);
        let returns = |(item, piece): (&Item, &Piece)| {
            let kept = piece.aside != Aside::Nothing;
            let other = matches!(item.thing, Thing::Row | Thing::Worktree { .. });
            piece.stage == Stage::Removed && (kept || other)
        };
        if standing == Standing::Done && !self.record.pieces().any(returns) {
            fs::remove_dir_all(&self.dir).map_err(io)?;
            return Ok(self.record);
        }
        self.save()?;
        fs::rename(&self.dir, place(host, &self.record.id)).map_err(io)?;
        files::sync_dir(&folder(host)).map_err(io)?;
        Ok(self.record)
    }
}

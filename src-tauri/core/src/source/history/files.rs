//! Which transcripts there are. Names and places are hints only: what a file belongs to stands in its records.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::agent::CLAUDE_CODE;
use crate::config::HistoryConfig;
use crate::host::Host;

/// Folders inside a folder of transcripts that are looked into: project, session, `subagents`, and some air.
const DEEPEST: usize = 6;

/// One transcript on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    /// Nanoseconds since 1970 of its last change.
    pub(super) changed: i64,
}

/// The folders of transcripts: of the host agent's usual place, of the place it was moved to, and of those configured,
/// whether they are there or not.
pub fn folders(host: &Host, config: &HistoryConfig) -> Vec<PathBuf> {
    let places = CLAUDE_CODE.places;
    let mut folders = vec![host.home.join(places.config_folder), CLAUDE_CODE.config_dir(host)];
    for folder in &config.folders {
        folders.push(match folder.strip_prefix("~/") {
            Some(rest) => host.home.join(rest),
            None => host.home.join(folder),
        });
    }
    let mut seen = HashSet::new();
    folders.retain(|folder| seen.insert(folder.canonicalize().unwrap_or_else(|_| folder.clone())));
    folders.into_iter().map(|folder| folder.join(places.transcripts)).collect()
}

/// All transcripts in these folders, newest first.
pub(super) fn transcripts(folders: &[PathBuf]) -> Vec<Found> {
    let mut found = Vec::new();
    for folder in folders {
        look_into(folder, 0, &mut found);
    }
    found.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.path.cmp(&b.path)));
    found
}

fn look_into(folder: &Path, depth: usize, found: &mut Vec<Found>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() {
            if depth < DEEPEST {
                look_into(&path, depth + 1, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            // Follows a link to a file, never one to a folder: those may lead in circles.
            let Ok(meta) = fs::metadata(&path) else { continue };
            if meta.is_file() {
                let changed = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
                let changed = changed.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
                found.push(Found { path, size: meta.len(), changed });
            }
        }
    }
}

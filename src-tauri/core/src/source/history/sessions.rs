//! Where and when agents were last at work, as their transcripts tell.
//!
//! The index is asked. Where there is none yet, the beginnings of the newest transcripts are read instead, so that a first
//! look at a machine already knows its projects.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use pao_recall::Index;

use super::{AHEAD, files};
use crate::capture::transcript::{Entry, Reader};
use crate::config::HistoryConfig;
use crate::host::Host;
use crate::project::Project;

/// Transcripts whose beginning is read where there is no index.
const NEWEST: usize = 500;
/// Bytes of each.
const BEGINNING: u64 = 256 << 10;

/// When an agent was last at work in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The folder, as the transcript names it. It may be gone.
    pub folder: PathBuf,
    /// Identity of its project.
    pub project: String,
    /// When something was last said there.
    pub at: DateTime<Utc>,
}

/// What was found out so far; asking again reads only what is new.
#[derive(Debug, Clone, Default)]
pub struct Sessions {
    /// Folder of each session's newest message, by session and project.
    known: BTreeMap<(String, String), (i64, PathBuf)>,
}

impl Sessions {
    /// Every folder that was worked in, the most recent first. Reads the disk: not for a thread that others wait for.
    pub fn last(&mut self, host: &Host, config: &HistoryConfig) -> Vec<Session> {
        let by_place = match Index::open(&host.history_dir()) {
            Ok(index) => self.indexed(&index, (host.now() + AHEAD).timestamp_millis()),
            Err(_) => beginnings(host, config),
        };
        let session = |((folder, project), at)| {
            Some(Session { folder, project, at: DateTime::from_timestamp_millis(at)? })
        };
        let mut sessions: Vec<Session> = by_place.into_iter().filter_map(session).collect();
        sessions.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.folder.cmp(&b.folder)));
        sessions
    }

    fn indexed(&mut self, index: &Index, until: i64) -> BTreeMap<(PathBuf, String), i64> {
        let mut by_place = BTreeMap::new();
        for spoken in index.spoken() {
            let key = (spoken.session.clone(), spoken.project.clone());
            if self.known.get(&key).is_none_or(|(at, _)| *at != spoken.at) {
                let Ok(message) = index.message_of(&spoken) else { continue };
                self.known.insert(key.clone(), (spoken.at, message.cwd.into()));
            }
            let Some((_, folder)) = self.known.get(&key) else { continue };
            // What a clock that was wrong has dated was said at some time, but not later than anything else.
            let at = if spoken.at > until { 1 } else { spoken.at };
            note(&mut by_place, folder.clone(), spoken.project, at);
        }
        by_place
    }
}

fn note(by_place: &mut BTreeMap<(PathBuf, String), i64>, folder: PathBuf, project: String, at: i64) {
    if !folder.as_os_str().is_empty() {
        let known = by_place.entry((folder, project)).or_insert(at);
        *known = at.max(*known);
    }
}

fn beginnings(host: &Host, config: &HistoryConfig) -> BTreeMap<(PathBuf, String), i64> {
    let mut by_place = BTreeMap::new();
    let mut projects: BTreeMap<String, String> = BTreeMap::new();
    for found in files::transcripts(&files::folders(host, config)).into_iter().take(NEWEST) {
        let Ok(file) = File::open(&found.path) else { continue };
        let mut reader = Reader::new(file.take(BEGINNING), 0);
        let cwd = loop {
            match reader.next_entry() {
                Ok(Some(Entry::Message(said))) if !said.cwd.is_empty() => break Some(said.cwd),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break None,
            }
        };
        let Some(cwd) = cwd else { continue };
        let project = projects.entry(cwd.clone()).or_insert_with(|| {
            let folder = PathBuf::from(&cwd);
            Project::of(&folder.canonicalize().unwrap_or(folder)).id
        });
        note(&mut by_place, cwd.into(), project.clone(), found.changed / 1_000_000);
    }
    by_place
}

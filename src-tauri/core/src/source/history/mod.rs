//! Host agents' transcripts on this disk, as a source: an index is asked, and says how far it reaches.
//!
//! An answer never waits for the index to be brought up to date; that is [`refresh`], called by a process of its
//! own. Only where there is no index at all, the newest transcripts are read inside the deadline, this project's
//! first, so that the first agent on a machine already knows something.

mod book;
mod excerpt;
mod files;
mod ingest;
mod period;
mod sessions;

use std::path::Path;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta};
use pao_recall::{Hit, Index, Kind, Query};
use tokio_util::sync::CancellationToken;

use super::{Answer, Limits, Question, Snippet, Source, SourceError, Speaker};
use crate::config::HistoryConfig;
use crate::host::{Host, writing};
use crate::words::counted;
use book::Book;
pub use files::folders;
use files::{Found, transcripts};
pub use ingest::{IngestError, IngestReport, Progress, refresh};
pub use sessions::{Session, Sessions};

/// Share of the deadline that a first index may take for reading; committing and searching need the rest.
const FIRST_READING: f64 = 0.45;
/// Text underway while a first index is built, so that its commit is short.
const FIRST_UNDERWAY: u64 = 1 << 20;
/// How far another machine's clock may be ahead of ours before what it wrote counts as misdated.
const AHEAD: TimeDelta = TimeDelta::days(1);
/// How long whoever has no question may wait for the disk.
const MOMENT: Duration = Duration::from_millis(500);
/// Share of a question's information below which a hit is a coincidence.
const FLOOR: f32 = 0.12;
/// How much messages of the folder's own project are preferred.
const PREFERENCE: f32 = 1.4;

/// Transcripts on this disk.
pub struct HistorySource {
    name: String,
    host: Host,
    config: HistoryConfig,
}

/// The source called `name` in the configuration. Opens nothing yet.
pub fn open(name: &str, config: &HistoryConfig, host: &Host) -> HistorySource {
    HistorySource { name: name.to_owned(), host: host.clone(), config: config.clone() }
}

/// What the history holds, without asking it anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Messages indexed.
    pub messages: u64,
    /// When the newest of them was said.
    pub newest: Option<DateTime<chrono::Utc>>,
    /// Size of the index in bytes.
    pub bytes: u64,
    /// Transcripts on disk.
    pub files: usize,
    /// Those that are not indexed, or not to their end.
    pub pending: usize,
}

/// What the history holds. An index that does not exist holds nothing.
pub fn state(host: &Host, config: &HistoryConfig) -> Result<State, IngestError> {
    let found = transcripts(&folders(host, config));
    match Index::open(&host.history_dir()) {
        Ok(index) => Ok(state_of(host, &index, &found)?),
        Err(pao_recall::Error::Absent | pao_recall::Error::Outdated(_)) => {
            Ok(State { files: found.len(), pending: found.len(), ..State::default() })
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether [`refresh`] would find something to do. Looks at names, sizes and times only. A disk that does not answer
/// in a moment has nothing to read either.
pub async fn is_stale(host: &Host, config: &HistoryConfig) -> bool {
    let (host, config) = (host.clone(), config.clone());
    let stale = move || state(&host, &config).map_or(true, |state| state.pending > 0);
    within(MOMENT, stale).await.unwrap_or(false)
}

/// What the user last said in a project, as far as it is indexed; shortened to one line. Nothing is not an error,
/// and neither is a disk that does not answer in a moment.
pub async fn last_session(host: &Host, project: &str) -> Option<String> {
    let (dir, project) = (host.history_dir(), project.to_owned());
    let said = move || Index::open(&dir).ok()?.last_said(&project).ok().flatten();
    let said = within(MOMENT, said).await??.text;
    let line: Vec<&str> = said.split_whitespace().take(40).collect();
    Some(line.join(" "))
}

/// What may wait for the disk, on a thread of its own and no longer than that.
async fn within<T: Send + 'static>(limit: Duration, look: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::time::timeout(limit, tokio::task::spawn_blocking(look)).await.ok()?.ok()
}

fn state_of(host: &Host, index: &Index, found: &[Found]) -> Result<State, pao_recall::Error> {
    let book = Book::of(index)?;
    let reach = index.reach((host.now() + AHEAD).timestamp_millis())?;
    Ok(State {
        messages: reach.messages,
        newest: DateTime::from_timestamp_millis(reach.newest).filter(|_| reach.newest > 0),
        bytes: reach.bytes,
        files: found.len(),
        pending: found.iter().filter(|file| !book.is_current(file)).count(),
    })
}

#[async_trait::async_trait]
impl Source for HistorySource {
    fn name(&self) -> &str {
        &self.name
    }

    fn describe(&self) -> String {
        let folders: Vec<String> =
            folders(&self.host, &self.config).iter().map(|folder| self.host.display(folder)).collect();
        format!("history: transcripts under {}", folders.join(", "))
    }

    async fn recall(&self, question: &Question, limits: Limits) -> Result<Answer, SourceError> {
        let asking = Asking {
            name: self.name.clone(),
            host: self.host.clone(),
            config: self.config.clone(),
            question: question.clone(),
            limits,
            started: Instant::now(),
        };
        let cancel = CancellationToken::new();
        // Whoever stops waiting also stops the reading.
        let stop = cancel.clone().drop_guard();
        let work = tokio::task::spawn_blocking(move || asking.answer(&cancel));
        let answer = tokio::time::timeout(limits.deadline, work).await;
        drop(stop);
        match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(damaged()),
            Err(_) => Err(SourceError::TimedOut(limits.deadline)),
        }
    }

    async fn check(&self, limits: Limits) -> Result<String, SourceError> {
        let (host, config) = (self.host.clone(), self.config.clone());
        let state = tokio::task::spawn_blocking(move || state(&host, &config));
        let state = tokio::time::timeout(limits.deadline, state).await;
        let state = state.map_err(|_| SourceError::TimedOut(limits.deadline))?.map_err(|_| damaged())?;
        let state = state.map_err(|error| SourceError::Unreachable(error.to_string()))?;
        Ok(match state {
            State { files: 0, messages: 0, .. } => "no transcripts yet".to_owned(),
            State { messages: 0, files, .. } => {
                format!("{}, none indexed yet", counted(files, "transcript", "transcripts"))
            }
            State { messages, .. } => {
                format!("{}, {}", counted(messages, "message", "messages"), reach(&state))
            }
        })
    }
}

struct Asking {
    name: String,
    host: Host,
    config: HistoryConfig,
    question: Question,
    limits: Limits,
    started: Instant,
}

impl Asking {
    fn answer(&self, cancel: &CancellationToken) -> Result<Answer, SourceError> {
        let found = transcripts(&folders(&self.host, &self.config));
        // Whoever only asks makes no folder of ours where there is none, and cannot write into one that is closed: a first
        // index is then gone with the answer.
        let passing = self.leaves_nothing().then(tempfile::tempdir).transpose().map_err(no_room)?;
        let mut host = self.host.clone();
        if let Some(passing) = &passing {
            host.pao_home = passing.path().into();
        }
        let dir = host.history_dir();
        let begun = match Index::open(&dir) {
            Ok(index) => {
                let state = self.begun(&index, &found).map_err(refused)?;
                state.map(|state| (index, Some(state)))
            }
            Err(pao_recall::Error::Absent) => None,
            Err(error) => return Err(refused(error)),
        };
        let (index, state) = match begun {
            Some(begun) => begun,
            None if found.is_empty() => {
                return Ok(Answer {
                    snippets: Vec::new(),
                    note: Some("no transcripts on this machine yet".into()),
                });
            }
            None => {
                self.first_index(&host, found.clone(), cancel)?;
                let index = Index::open(&dir).map_err(refused)?;
                let state = state_of(&self.host, &index, &found).ok();
                (index, state)
            }
        };
        let query = Query {
            text: &self.question.text,
            project: Some(&self.question.project),
            preference: PREFERENCE,
            during: period::period(&self.question.text, self.question.now),
            limit: self.limits.snippets,
        };
        let hits = index.search(&query).map_err(refused)?;
        let snippets =
            hits.into_iter().filter(|hit| hit.coverage >= FLOOR).map(|hit| self.snippet(hit)).collect();
        Ok(Answer { snippets, note: state.map(|state| reach(&state)) })
    }

    /// Whether there is no folder of ours yet, or none in which a first index could be made.
    fn leaves_nothing(&self) -> bool {
        let home = &self.host.pao_home;
        let first = || matches!(Index::open(&self.host.history_dir()), Err(pao_recall::Error::Absent));
        !home.exists() || (writing::refused(home, &[]).is_some() && first())
    }

    /// What an index holds. A first reading that was stopped before it had read anything is still to be done: `None`.
    fn begun(&self, index: &Index, found: &[Found]) -> Result<Option<State>, pao_recall::Error> {
        if index.payload()?.is_none() {
            return Ok(None);
        }
        let state = state_of(&self.host, index, found)?;
        Ok(Some(state).filter(|state| state.messages > 0 || state.pending == 0))
    }

    fn first_index(
        &self,
        host: &Host,
        mut found: Vec<Found>,
        cancel: &CancellationToken,
    ) -> Result<(), SourceError> {
        let own = crate::agent::CLAUDE_CODE.transcript_folder(&self.question.folder);
        let is_own = |file: &Found| {
            let folder =
                file.path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
            own.is_some() && folder == own
        };
        found.sort_by_key(|file| !is_own(file));
        let until = self.started + self.limits.deadline.mul_f64(FIRST_READING);
        let pace =
            ingest::Pace { until: Some(until), underway: Some(FIRST_UNDERWAY), wait_for_merges: false };
        match ingest::ingest(host, found, &pace, &mut |_| {}, cancel) {
            Ok(_) => Ok(()),
            Err(IngestError::Busy) => {
                Err(SourceError::Unreachable("the history is being indexed for the first time".into()))
            }
            Err(error) => Err(SourceError::Unreachable(error.to_string())),
        }
    }

    fn snippet(&self, hit: Hit) -> Snippet {
        let Hit { message, title, score, .. } = hit;
        let id = if message.uuid.is_empty() {
            format!("{}:{}", message.session, message.turn)
        } else {
            message.uuid
        };
        Snippet {
            source: self.name.clone(),
            id,
            title,
            text: excerpt::excerpt(&message.text, &self.question.text),
            at: DateTime::from_timestamp_millis(message.at).filter(|_| message.at > 0),
            speaker: if message.kind == Kind::User { Speaker::User } else { Speaker::Agent },
            project: (!message.project.is_empty()).then_some(message.project),
            session: Some(message.session),
            score,
            importance: None,
        }
    }
}

/// "indexed up to 2026-11-30 14:02 UTC, 3 files not yet indexed".
fn reach(state: &State) -> String {
    let words = match state.newest {
        Some(newest) => format!("indexed up to {}", newest.format("%Y-%m-%d %H:%M UTC")),
        None => "nothing indexed yet".to_owned(),
    };
    match state.pending {
        0 => words,
        n => format!("{words}, {} not yet indexed", counted(n, "file", "files")),
    }
}

fn refused(error: pao_recall::Error) -> SourceError {
    match error {
        pao_recall::Error::Damaged(_) => damaged(),
        pao_recall::Error::Outdated(_) => {
            SourceError::Refused("the index has an older form; `pao index` brings it up to date".into())
        }
        other => SourceError::Unreachable(other.to_string()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands where an error is turned into another")]
fn no_room(error: std::io::Error) -> SourceError {
    SourceError::Unreachable(format!("no temporary folder can be made: {error}"))
}

fn damaged() -> SourceError {
    SourceError::BadReply("the index is damaged; `pao index` rebuilds it from the transcripts".into())
}

#[cfg(test)]
mod tests;

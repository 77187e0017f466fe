//! Reads transcripts into the index: newest first, from where reading stopped last time, cut off at any moment.
//!
//! What was read and how far are committed together every few seconds, so a cancelled or killed run loses no more
//! than that and repeats nothing. A file that was cut or replaced is forgotten and read again; one that is gone
//! keeps its place. Parsing runs on this thread while the index's own threads work through what was parsed.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pao_recall::{Index, Kind, Message, Writer};
use tokio_util::sync::CancellationToken;

use super::book::{Book, Mark};
use super::files::{Found, folders, transcripts};
use crate::Error;
use crate::capture::redact::redact;
use crate::capture::transcript::{self, Entry, Reader, Skipped, session_of};
use crate::config::HistoryConfig;
use crate::host::Host;
use crate::host::files::keep_private;
use crate::project::Project;
use crate::source::Speaker;

/// A commit at the latest after this much was read, or this much time passed.
const COMMIT_BYTES: u64 = 192 << 20;
const COMMIT_AFTER: Duration = Duration::from_secs(10);
/// Bytes between two looks at the clock and the progress.
const LOOK: u64 = 1 << 20;

/// Where a run stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files read to their end.
    pub files_done: usize,
    /// Files that have something new.
    pub files_total: usize,
    /// Bytes read.
    pub bytes_done: u64,
    /// Bytes that are new.
    pub bytes_total: u64,
    /// Messages indexed.
    pub messages: u64,
    /// Messages brought over from an older form of the index, before anything is read.
    pub brought_over: u64,
    /// Time since the start.
    pub elapsed: Duration,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestReport {
    /// Transcripts on disk.
    pub files: usize,
    /// Those that had something new and were read to their end.
    pub read: usize,
    /// Those that were cut or replaced since they were read, and were read again from their beginning.
    pub replaced: usize,
    /// Bytes read.
    pub bytes: u64,
    /// Messages added.
    pub messages: u64,
    /// Lines that yielded nothing.
    pub skipped: Skipped,
    /// Files that could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Where a damaged index was put; what only it knew, of transcripts since deleted, is there.
    pub set_aside: Option<PathBuf>,
    /// Stopped before the end; what was read is kept.
    pub stopped: bool,
    /// Wall-clock time.
    pub took: Duration,
}

/// Why the history cannot be brought up to date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IngestError {
    /// Another process is at it.
    #[error("another process is indexing the history right now")]
    Busy,
    /// The index cannot be read or written.
    #[error("the history index cannot be used: {0}")]
    Index(String),
}

impl From<pao_recall::Error> for IngestError {
    fn from(error: pao_recall::Error) -> Self {
        match error {
            pao_recall::Error::Busy => Self::Busy,
            other => Self::Index(other.to_string()),
        }
    }
}

impl From<IngestError> for Error {
    fn from(error: IngestError) -> Self {
        let next = match error {
            IngestError::Busy => "wait for it to end, or look at `pao index --state`",
            IngestError::Index(_) => {
                "check free space and permissions of the folder `history` in PAO's own folder"
            }
        };
        Error::environment(error.to_string(), next)
    }
}

/// How a run is bounded.
#[derive(Default)]
pub(super) struct Pace {
    pub(super) until: Option<Instant>,
    /// Bytes of text parsed ahead of the index, at most.
    pub(super) underway: Option<u64>,
    pub(super) wait_for_merges: bool,
}

/// Brings the history up to date. `progress` is called about once per MiB and file. A damaged index is set aside and
/// built anew; the report says so. PAO's own folder must be there: whoever still reads when it was removed fails.
pub fn refresh(
    host: &Host,
    config: &HistoryConfig,
    progress: &mut dyn FnMut(&Progress),
    cancel: &CancellationToken,
) -> Result<IngestReport, IngestError> {
    let found = transcripts(&folders(host, config));
    ingest(host, found, &Pace { wait_for_merges: true, ..Pace::default() }, progress, cancel)
}

/// Reads these files in this order, as far as the pace allows.
pub(super) fn ingest(
    host: &Host,
    found: Vec<Found>,
    pace: &Pace,
    progress: &mut dyn FnMut(&Progress),
    cancel: &CancellationToken,
) -> Result<IngestReport, IngestError> {
    let started = Instant::now();
    let mut report = IngestReport { files: found.len(), ..IngestReport::default() };
    let (index, book) = opened(host, &mut report, progress)?;
    let todo: Vec<(Found, u64)> = found
        .into_iter()
        .filter(|file| !book.is_current(file))
        .map(|file| {
            let read = book.files.get(file.path.to_string_lossy().as_ref()).map_or(0, |mark| mark.offset);
            let new = file.size.saturating_sub(read);
            (file, new)
        })
        .collect();
    let first = index.payload()?.is_none();
    if todo.is_empty() && !first {
        report.took = started.elapsed();
        return Ok(report);
    }
    let mut writer = index.writer()?;
    if let Some(bytes) = pace.underway {
        writer.hold_back(bytes);
    }
    let mut run = Run {
        writer,
        book,
        projects: Projects::default(),
        report,
        progress,
        state: Progress {
            files_total: todo.len(),
            bytes_total: todo.iter().map(|(_, new)| new).sum(),
            ..Progress::default()
        },
        cancel,
        until: pace.until,
        started,
        committed: (0, started),
        last_look: 0,
    };
    for (file, _) in todo {
        if run.is_over() {
            run.report.stopped = true;
            break;
        }
        match run.file(&file) {
            Ok(()) => {}
            Err(Stop::File(error)) => run.report.unreadable.push((file.path, error.to_string())),
            Err(Stop::Index(error)) => return Err(error.into()),
        }
    }
    let Run { mut writer, book, mut report, .. } = run;
    writer.commit(&book.text())?;
    if pace.wait_for_merges {
        writer.finish()?;
    }
    if let Err(error) = keep_private(&host.history_dir()) {
        tracing::warn!(%error, "the index may be readable by others");
    }
    report.took = started.elapsed();
    Ok(report)
}

/// The index and its book, with a damaged one out of the way.
fn opened(
    host: &Host,
    report: &mut IngestReport,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Index, Book), IngestError> {
    let dir = host.history_dir();
    let mut tell = |n| progress(&Progress { brought_over: n, ..Progress::default() });
    let both = |index: Index| Book::of(&index).map(|book| (index, book));
    match Index::create(&dir, &mut tell).and_then(both) {
        Err(pao_recall::Error::Damaged(why)) => {
            tracing::warn!(why, "the history index is damaged and is set aside");
            report.set_aside = Some(Index::set_aside(&dir)?);
            Ok(Index::create(&dir, &mut tell).and_then(both)?)
        }
        other => Ok(other?),
    }
}

enum Stop {
    File(io::Error),
    Index(pao_recall::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl From<pao_recall::Error> for Stop {
    fn from(error: pao_recall::Error) -> Self {
        Self::Index(error)
    }
}

struct Run<'a> {
    writer: Writer,
    book: Book,
    projects: Projects,
    report: IngestReport,
    progress: &'a mut dyn FnMut(&Progress),
    state: Progress,
    cancel: &'a CancellationToken,
    until: Option<Instant>,
    started: Instant,
    committed: (u64, Instant),
    last_look: u64,
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Reads one file from where reading stopped, as far as it is whole.
    fn file(&mut self, found: &Found) -> Result<(), Stop> {
        let name = found.path.to_string_lossy().into_owned();
        let mut file = File::open(&found.path)?;
        let mut mark = self.book.files.get(&name).cloned().unwrap_or_default();
        if mark.offset > 0 && !mark.knows(&mut file, found.size)? {
            self.writer.remove_file(&name)?;
            self.report.replaced += 1;
            mark = Mark::default();
        }
        let from = mark.offset;
        file.seek(SeekFrom::Start(from))?;
        let mut reader = Reader::new(file, from);
        let mut place = Place::new(&found.path, &name);
        let before = self.state.bytes_done;
        let finished = loop {
            match reader.next_entry() {
                Ok(Some(Entry::Message(said))) => {
                    let message = place.message(said, &mut self.projects, mark.turn);
                    if let Some(title) = place.untold_title(&message) {
                        self.add(&title)?;
                        mark.turn += 1;
                    }
                    self.add(&Message { turn: mark.turn, ..message })?;
                    mark.turn += 1;
                }
                Ok(Some(Entry::Title { session, text })) => {
                    let text = redact(&text).into_owned();
                    if mark.title != text {
                        mark.title.clone_from(&text);
                        if let Some(title) = place.title(session, text, mark.turn) {
                            self.add(&title)?;
                            mark.turn += 1;
                        }
                    }
                }
                Ok(None) => break true,
                Err(error) => {
                    self.report.unreadable.push((found.path.clone(), error.to_string()));
                    break false;
                }
            }
            self.state.bytes_done = before + (reader.offset() - from);
            if self.state.bytes_done >= self.last_look + LOOK {
                self.look();
                if self.is_over() {
                    self.report.stopped = true;
                    break false;
                }
            }
        };
        self.writer.flush()?;
        let skipped = reader.skipped();
        self.report.skipped.bad += skipped.bad;
        self.report.skipped.oversize += skipped.oversize;
        self.report.skipped.silent += skipped.silent;
        self.report.bytes += reader.offset() - from;
        self.state.bytes_done = before + (reader.offset() - from);
        mark.offset = reader.offset();
        mark.know(&mut File::open(&found.path)?)?;
        if finished {
            (mark.size, mark.changed) = (found.size, found.changed);
            self.report.read += 1;
            self.state.files_done += 1;
        } else {
            // Not current until it was read to its end.
            (mark.size, mark.changed) = (mark.offset, 0);
        }
        self.book.files.insert(name, mark);
        self.look();
        let (bytes, at) = self.committed;
        if self.state.bytes_done - bytes >= COMMIT_BYTES || at.elapsed() >= COMMIT_AFTER {
            self.writer.commit(&self.book.text())?;
            self.committed = (self.state.bytes_done, Instant::now());
        }
        Ok(())
    }

    fn add(&mut self, message: &Message) -> Result<(), Stop> {
        self.writer.add(message)?;
        self.state.messages += 1;
        self.report.messages += 1;
        Ok(())
    }

    fn look(&mut self) {
        self.last_look = self.state.bytes_done;
        self.state.elapsed = self.started.elapsed();
        (self.progress)(&self.state);
    }
}

/// What is known while one file is read.
struct Place {
    file: String,
    session: String,
    cwd: String,
    project: Option<String>,
    waiting: Option<String>,
}

impl Place {
    fn new(path: &Path, name: &str) -> Self {
        let session = session_of(path)
            .unwrap_or_else(|| path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        Self { file: name.to_owned(), session, cwd: String::new(), project: None, waiting: None }
    }

    fn message(&mut self, said: transcript::Message, projects: &mut Projects, turn: u32) -> Message {
        if !said.cwd.is_empty() && said.cwd != self.cwd {
            self.project = Some(projects.of(&said.cwd));
            self.cwd = said.cwd;
        }
        if !said.session.is_empty() {
            self.session = said.session;
        }
        Message {
            session: self.session.clone(),
            project: self.project.clone().unwrap_or_default(),
            cwd: self.cwd.clone(),
            branch: said.branch,
            at: said.at.map_or(0, |at| at.timestamp_millis()),
            kind: if said.speaker == Speaker::User { Kind::User } else { Kind::Agent },
            // Before it reaches the disk: an index outlives the key that was pasted by mistake.
            text: redact(&said.text).into_owned(),
            file: self.file.clone(),
            uuid: said.uuid,
            turn,
        }
    }

    /// A title that came before anything told which project it is about, once the first message told.
    fn untold_title(&mut self, first: &Message) -> Option<Message> {
        let text = self.waiting.take()?;
        Some(Message { kind: Kind::Title, text, uuid: String::new(), ..first.clone() })
    }

    fn title(&mut self, session: String, text: String, turn: u32) -> Option<Message> {
        if !session.is_empty() {
            self.session = session;
        }
        let Some(project) = self.project.clone() else {
            self.waiting = Some(text);
            return None;
        };
        Some(Message {
            session: self.session.clone(),
            project,
            cwd: self.cwd.clone(),
            branch: String::new(),
            at: 0,
            kind: Kind::Title,
            text,
            file: self.file.clone(),
            uuid: String::new(),
            turn,
        })
    }
}

/// Project of each folder that records name, looked up once a run.
#[derive(Default)]
struct Projects {
    known: HashMap<String, String>,
}

impl Projects {
    fn of(&mut self, cwd: &str) -> String {
        if let Some(known) = self.known.get(cwd) {
            return known.clone();
        }
        let project = project_of(Path::new(cwd));
        self.known.insert(cwd.to_owned(), project.clone());
        project
    }
}

/// A folder that is gone belongs to the repository it was in, where that is still there, else to itself.
fn project_of(cwd: &Path) -> String {
    if let Ok(folder) = cwd.canonicalize() {
        return Project::of(&folder).id;
    }
    let standing = cwd.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok());
    match standing.map(|folder| Project::of(&folder)) {
        Some(project) if project.worktree.is_some() => project.id,
        _ => cwd.to_string_lossy().into_owned(),
    }
}

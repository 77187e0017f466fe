//! The index on disk: opened, written by one process at a time, committed together with the caller's bookkeeping,
//! rebuilt in a newer form from what the older one stored.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tantivy::directory::error::LockError;
use tantivy::indexer::UserOperation;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, TantivyError};

use crate::document::{Fields, Message, TOKENIZER, schema};
use crate::layout::Layout;
use crate::shelf::Shelf;
use crate::terms::IndexTokenizer;

/// Form of the index. It names the folder, so that two versions of the program can live side by side.
pub const VERSION: u32 = 1;

/// Text handed over and not yet worked through, at most; beyond it `add` waits.
const WAITING: u64 = 48 << 20;
/// Messages of one file that go into the same segment one after the other.
const BATCH: usize = 256;
/// Memory of one indexing thread.
const ARENA: usize = 96 << 20;

/// Why the index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none yet.
    #[error("there is no index yet")]
    Absent,
    /// There is only one in an older form; [`Index::create`] brings it over.
    #[error("the index has an older form (version {0})")]
    Outdated(u32),
    /// Another process is writing.
    #[error("another process is writing the index")]
    Busy,
    /// It cannot be read; [`Index::set_aside`] moves it away.
    #[error("the index is damaged: {0}")]
    Damaged(String),
    /// The disk said no.
    #[error("the index cannot be read or written: {0}")]
    Io(String),
}

impl From<TantivyError> for Error {
    fn from(error: TantivyError) -> Self {
        match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => Self::Busy,
            TantivyError::LockFailure(LockError::IoError(e), _) => Self::Io(e.to_string()),
            TantivyError::IoError(e)
                if e.kind() != io::ErrorKind::UnexpectedEof && e.kind() != io::ErrorKind::InvalidData =>
            {
                Self::Io(e.to_string())
            }
            TantivyError::OpenWriteError(e) => Self::Io(e.to_string()),
            // A writing thread ends so on a full disk; what was committed before is whole.
            TantivyError::ErrorInThread(why) => Self::Io(why),
            other => Self::Damaged(other.to_string()),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Self::Damaged(error.to_string()),
            _ => Self::Io(error.to_string()),
        }
    }
}

/// How far the index reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reach {
    /// Messages in it, titles included.
    pub messages: u64,
    /// Milliseconds since 1970 of the newest message; 0 when there is none.
    pub newest: i64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// An index of messages.
pub struct Index {
    inner: tantivy::Index,
    pub(crate) fields: Fields,
    pub(crate) reader: IndexReader,
    pub(crate) layout: Arc<Layout>,
    worked: Arc<AtomicU64>,
    folder: PathBuf,
}

impl Index {
    /// Opens the index in `dir` as it was last committed. Never writes, nor needs to be allowed to.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let folder = dir.join(name_of(VERSION));
        if !folder.join("meta.json").exists() {
            return Err(older(dir).map_or(Error::Absent, |(version, _)| Error::Outdated(version)));
        }
        Self::opened(tantivy::Index::open(Shelf::open(&folder)?)?, folder)
    }

    /// Opens the index in `dir`, made first where there is none (only the folder that `dir` stands in must be there); an
    /// older form is brought over with all it stored, and then removed. `progress` hears how many messages were brought
    /// over.
    pub fn create(dir: &Path, mut progress: impl FnMut(u64)) -> Result<Self, Error> {
        match Self::open(dir) {
            Err(Error::Absent | Error::Outdated(_)) => {}
            other => return other,
        }
        if let Some((version, old)) = older(dir) {
            // Built beside its place and moved there when whole: a cut in the middle starts over.
            let making = dir.join(format!("{}.making", name_of(VERSION)));
            let lock = lock_of(dir)?;
            if making.exists() {
                fs::remove_dir_all(&making)?;
            }
            private_folder(&making)?;
            let new = Self::opened(new_in(&making)?, making.clone())?;
            new.bring_over(&old, &mut progress).map_err(|e| match e {
                Error::Damaged(why) => Error::Damaged(format!("version {version}: {why}")),
                other => other,
            })?;
            drop(new);
            fs::rename(&making, dir.join(name_of(VERSION)))?;
            fs::remove_dir_all(&old)?;
            drop(lock);
            return Self::open(dir);
        }
        let folder = dir.join(name_of(VERSION));
        private_folder(dir)?;
        private_folder(&folder)?;
        let index = match new_in(&folder) {
            Err(Error::Busy) => tantivy::Index::open_in_dir(&folder)?,
            other => other?,
        };
        Self::opened(index, folder)
    }

    /// Moves a damaged index (of the present form, or whatever older one there is) out of the way and says where to.
    pub fn set_aside(dir: &Path) -> Result<PathBuf, Error> {
        let present = dir.join(name_of(VERSION));
        let from = if present.exists() { present } else { older(dir).ok_or(Error::Absent)?.1 };
        let mut number = 1;
        loop {
            let to = from.with_extension(format!("damaged-{number}"));
            if !to.exists() {
                fs::rename(&from, &to)?;
                return Ok(to);
            }
            number += 1;
        }
    }

    fn opened(index: tantivy::Index, folder: PathBuf) -> Result<Self, Error> {
        let fields = Fields::of(&index.schema())?;
        let tokenizer = IndexTokenizer::default();
        let worked = Arc::clone(&tokenizer.worked);
        index.tokenizers().register(TOKENIZER, TextAnalyzer::builder(tokenizer).build());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let layout = Arc::new(Layout::of(&reader.searcher(), fields)?);
        Ok(Self { inner: index, fields, reader, layout, worked, folder })
    }

    /// Sees what was committed since it was opened.
    pub fn reload(&mut self) -> Result<(), Error> {
        self.reader.reload()?;
        self.layout = Arc::new(Layout::of(&self.reader.searcher(), self.fields)?);
        Ok(())
    }

    /// What the last commit was given to keep.
    pub fn payload(&self) -> Result<Option<String>, Error> {
        Ok(self.inner.load_metas()?.payload)
    }

    /// How far the index reaches, as it was opened. Messages from after `until` (milliseconds since 1970) are counted, yet
    /// never the newest: a clock that was wrong once must not say so for ever.
    pub fn reach(&self, until: i64) -> Result<Reach, Error> {
        let searcher = self.reader.searcher();
        let mut reach = Reach { messages: searcher.num_docs(), ..Reach::default() };
        for segment in searcher.segment_readers() {
            if segment.num_docs() > 0 {
                let at = segment.fast_fields().i64("at")?;
                let newest = match at.max_value() {
                    newest if newest <= until => newest,
                    _ => at.values.iter().filter(|at| *at <= until).max().unwrap_or(0),
                };
                reach.newest = reach.newest.max(newest);
            }
        }
        for entry in fs::read_dir(&self.folder)?.flatten() {
            reach.bytes += entry.metadata().map_or(0, |meta| meta.len());
        }
        Ok(reach)
    }

    /// The single writer; [`Error::Busy`] while another process has it. The lock ends with its process.
    pub fn writer(&self) -> Result<Writer, Error> {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().clamp(1, 4));
        let inner = self.inner.writer_with_num_threads(threads, threads * ARENA)?;
        Ok(Writer {
            inner,
            fields: self.fields,
            batch: Vec::with_capacity(BATCH),
            waiting: WAITING,
            given: self.worked.load(Ordering::Relaxed),
            worked: Arc::clone(&self.worked),
        })
    }

    fn bring_over(&self, old: &Path, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
        let old = tantivy::Index::open_in_dir(old)?;
        let fields = Fields::of(&old.schema())?;
        let reader: IndexReader = old.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let mut writer = self.writer()?;
        let mut done = 0;
        for segment in reader.searcher().segment_readers() {
            let store = segment.get_store_reader(1)?;
            for document in store.iter::<TantivyDocument>(segment.alive_bitset()) {
                writer.add(&fields.message(&document?))?;
                done += 1;
                if done % 1000 == 0 {
                    progress(done);
                }
            }
        }
        writer.commit(&old.load_metas()?.payload.unwrap_or_default())?;
        writer.finish()
    }
}

/// Adds and removes messages. Nothing is seen by anybody before [`Writer::commit`].
pub struct Writer {
    inner: IndexWriter,
    fields: Fields,
    batch: Vec<UserOperation>,
    waiting: u64,
    given: u64,
    worked: Arc<AtomicU64>,
}

impl Writer {
    /// Lets at most this many bytes of text be underway. The less there is, the sooner a commit ends.
    pub fn hold_back(&mut self, bytes: u64) {
        self.waiting = bytes.max(1);
    }

    /// Adds a message. Waits while too much is underway, so memory stays bounded.
    pub fn add(&mut self, message: &Message) -> Result<(), Error> {
        self.given += message.text.len() as u64;
        self.batch.push(UserOperation::Add(self.fields.document(message)));
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    /// Ends a row of neighbouring messages: the next ones come from elsewhere.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.batch.is_empty() {
            return Ok(());
        }
        // A worker that died stops counting; `run` then says so, so waiting has an end.
        for _ in 0..20_000 {
            if self.given.saturating_sub(self.worked.load(Ordering::Relaxed)) < self.waiting {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.inner.run(std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH)))?;
        Ok(())
    }

    /// Removes every message that was read from a file.
    pub fn remove_file(&mut self, file: &str) -> Result<(), Error> {
        self.flush()?;
        self.inner.delete_term(self.fields.of_file(file));
        Ok(())
    }

    /// Makes everything since the last commit visible, together with `payload`: either both are there or neither.
    pub fn commit(&mut self, payload: &str) -> Result<(), Error> {
        self.flush()?;
        let mut prepared = self.inner.prepare_commit()?;
        prepared.set_payload(payload);
        prepared.commit()?;
        self.given = self.worked.load(Ordering::Relaxed);
        Ok(())
    }

    /// Lets running merges end, and gives the lock back.
    pub fn finish(self) -> Result<(), Error> {
        self.inner.wait_merging_threads()?;
        Ok(())
    }
}

fn name_of(version: u32) -> String {
    format!("v{version}")
}

/// The newest form older than ours.
fn older(dir: &Path) -> Option<(u32, PathBuf)> {
    (0..VERSION).rev().map(|v| (v, dir.join(name_of(v)))).find(|(_, path)| path.join("meta.json").exists())
}

fn new_in(folder: &Path) -> Result<tantivy::Index, Error> {
    match tantivy::Index::create_in_dir(folder, schema()) {
        Err(TantivyError::IndexAlreadyExists) => Err(Error::Busy),
        other => Ok(other?),
    }
}

/// Held while an older form is brought over.
fn lock_of(dir: &Path) -> Result<fs::File, Error> {
    let file = fs::File::options().create(true).truncate(false).write(true).open(dir.join("making.lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(Error::Busy),
        Err(fs::TryLockError::Error(e)) => Err(e.into()),
    }
}

fn private_folder(folder: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests;

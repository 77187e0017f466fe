//! Transcripts that grow are indexed as they grow: by a process of its own, one at a time, with rests in between, and
//! never in the way of a spawn.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use tokio_util::task::AbortOnDropHandle;

use crate::config::HistoryConfig;
use crate::host::process::Run;
use crate::host::{Host, os};
use crate::source::history;

/// Folders of one place that are watched: those that were written to last.
const MOST: usize = 1_000;
/// How long it must be quiet before a transcript is read.
const QUIET: Duration = Duration::from_secs(1);
/// How long one that never rests may wait.
const PATIENCE: Duration = Duration::from_secs(5);
/// Share of the time that indexing may take.
const SHARE: u32 = 4;
/// Least time between two runs.
const REST: Duration = Duration::from_secs(2);
/// How long a run may take; a first one of everything takes minutes.
const LIMIT: Duration = Duration::from_mins(30);

/// Folders in which transcripts grow, as far as they are to be watched one by one.
pub fn folders(host: &Host, config: &HistoryConfig) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for root in history::folders(host, config).into_iter().filter(|root| root.is_dir()) {
        if !os::WATCHES_ALL_BELOW {
            all.extend(newest(&root));
        }
        all.push(root);
    }
    all
}

fn newest(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let changed = |path: &Path| path.metadata().and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut folders: Vec<(SystemTime, PathBuf)> =
        folders.map(|entry| (changed(&entry.path()), entry.path())).collect();
    folders.sort_by(|a, b| b.cmp(a));
    folders.into_iter().take(MOST).map(|(_, path)| path).collect()
}

/// Brings the history up to date, again and again.
#[derive(Debug, Default)]
pub struct Indexing {
    /// The first and the last sign of something new since the last run began.
    news: Option<(Instant, Instant)>,
    running: Option<(Instant, AbortOnDropHandle<bool>)>,
    rest: Option<Instant>,
    times: u64,
}

impl Indexing {
    /// There is something new.
    pub fn note(&mut self) {
        let now = Instant::now();
        self.news = Some((self.news.map_or(now, |(first, _)| first), now));
    }

    /// When a run may begin; `None` where one is under way or none is wanted.
    pub fn due(&self) -> Option<Instant> {
        let (first, last) = self.news.filter(|_| self.running.is_none())?;
        let due = (last + QUIET).min(first + PATIENCE);
        Some(self.rest.map_or(due, |rest| rest.max(due)))
    }

    /// How many runs came to a good end.
    pub fn times(&self) -> u64 {
        self.times
    }

    /// Begins a run where one is due.
    pub fn begin(&mut self, host: &Host) {
        if self.due().is_none_or(|due| due > Instant::now()) {
            return;
        }
        self.news = None;
        // Where everything of ours was removed nothing is made anew.
        if !host.pao_home.is_dir() {
            return;
        }
        let run = Run::new(&host.exe).args(["index", "--quiet"]).env("PAO_HOME", &host.pao_home);
        let run = run.cwd(&host.home).limit(LIMIT);
        let work = async move {
            match run.output().await {
                Ok(outcome) if outcome.success() => true,
                Ok(outcome) => {
                    tracing::debug!(why = outcome.error_text(), "the history was not brought up to date");
                    false
                }
                Err(error) => {
                    tracing::warn!(%error, "the history is not brought up to date");
                    false
                }
            }
        };
        self.running = Some((Instant::now(), AbortOnDropHandle::new(tokio::spawn(work))));
    }

    /// Waits until the run under way has ended; whether it came to a good end. Without one, for ever.
    pub async fn ended(&mut self) -> bool {
        let Some((began, work)) = &mut self.running else { return std::future::pending().await };
        let well = work.await.unwrap_or(false);
        self.rest = Some(Instant::now() + (began.elapsed() * SHARE).max(REST));
        self.running = None;
        self.times += u64::from(well);
        well
    }
}

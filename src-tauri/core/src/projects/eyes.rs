//! What the system is asked to watch: so many folders and no more, each only after every rule has let it through.
//!
//! On Linux each folder is registered by itself; where a registration covers everything below a folder, one per root is
//! enough. What is told is collected, not queued: a thousand changes of one folder are one.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use notify::event::{CreateKind, ModifyKind, RemoveKind};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use super::find::MARKS;
use super::head;
use crate::host::os;

/// Folders and names that are kept apart until they are looked at; beyond that everything is looked at anew.
const APART: usize = 10_000;

/// What was told since it was looked at last.
#[derive(Debug, Default)]
pub struct Told {
    /// Folders in which something changed.
    pub touched: HashSet<PathBuf>,
    /// What came, went or was renamed and may be a folder, or changes what a folder is.
    pub structure: HashSet<PathBuf>,
    /// More happened than could be told.
    pub lost: bool,
}

impl Told {
    fn is_empty(&self) -> bool {
        self.touched.is_empty() && self.structure.is_empty() && !self.lost
    }

    fn hear(&mut self, event: notify::Result<Event>, own: &Path) {
        let Ok(event) = event else {
            self.lost = true;
            return;
        };
        self.lost |= event.need_rescan();
        let shape = match event.kind {
            // Reading, our own included, changes nothing.
            EventKind::Access(_) => return,
            EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => false,
            _ => true,
        };
        for path in event.paths {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            // Of our own folder only the configuration counts, though much is written there.
            if parent == own && name != "config.toml" {
                continue;
            }
            // Of what git does inside its own folder only this much is somebody's business.
            if path.components().any(|part| part.as_os_str() == ".git")
                && name != ".git"
                && !head::tells(name)
            {
                continue;
            }
            if self.touched.len() + self.structure.len() >= APART {
                self.lost = true;
                return;
            }
            self.touched.insert(parent.to_path_buf());
            let known = name == ".gitignore" || MARKS.iter().any(|mark| name == *mark);
            let file = matches!(
                event.kind,
                EventKind::Create(CreateKind::File) | EventKind::Remove(RemoveKind::File)
            );
            if (shape && !file)
                || (known && !matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_))))
            {
                self.structure.insert(path);
            }
        }
    }
}

/// Where what is told is collected.
#[derive(Debug, Clone, Default)]
pub struct Ear {
    own: PathBuf,
    told: Arc<Mutex<Told>>,
    heard: Arc<Notify>,
}

impl Ear {
    /// For somebody whose own folder is that.
    pub fn new(own: &Path) -> Self {
        Self { own: own.to_path_buf(), ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, event: notify::Result<Event>) {
        let mut told = self.lock();
        told.hear(event, &self.own);
        if !told.is_empty() {
            self.heard.notify_one();
        }
    }

    /// Waits until something was told.
    pub async fn heard(&self) {
        self.heard.notified().await;
    }

    /// What was told so far; nothing of it is told again.
    pub fn take(&self) -> Told {
        std::mem::take(&mut *self.lock())
    }
}

/// Why a folder is not watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub why: String,
    /// What helps.
    pub next: String,
}

/// What is watched.
pub struct Eyes {
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    limit: usize,
    /// Why nothing can be watched.
    broken: Option<Refused>,
}

impl Eyes {
    /// Watches nothing yet, and never more than so many folders.
    pub fn new(limit: usize, ear: &Ear) -> Self {
        let ear = ear.clone();
        let watcher = notify::recommended_watcher(move |event| ear.hear(event));
        let broken = watcher.as_ref().err().map(|error| Refused {
            why: format!("no more programs can watch files here ({error})"),
            next: os::MORE_WATCHERS.into(),
        });
        Self { watcher: watcher.ok(), watched: BTreeSet::new(), limit, broken }
    }

    /// Sets how many may be watched at most.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// How many folders are watched.
    pub fn count(&self) -> usize {
        self.watched.len()
    }

    /// How many of them lie in that folder.
    pub fn count_in(&self, folder: &Path) -> usize {
        self.watched.range(folder.to_path_buf()..).take_while(|path| path.starts_with(folder)).count()
    }

    /// Whether that folder is watched.
    pub fn sees(&self, folder: &Path) -> bool {
        self.watched.contains(folder)
    }

    /// That folder and everything in it came, went or was renamed: what was registered of it is void.
    pub fn forget(&mut self, folder: &Path) {
        let void: Vec<PathBuf> = self
            .watched
            .range(folder.to_path_buf()..)
            .take_while(|path| path.starts_with(folder))
            .cloned()
            .collect();
        for path in void {
            self.drop_one(&path);
        }
    }

    /// Watches a folder no more.
    pub fn drop_one(&mut self, path: &Path) {
        self.watched.remove(path);
        if let Some(watcher) = &mut self.watcher {
            // The system may have let go of it before.
            let _ = watcher.unwatch(path);
        }
    }

    /// Lets go of all that is not wanted any more.
    pub fn keep_only(&mut self, wanted: &HashSet<PathBuf>) {
        let gone: Vec<PathBuf> =
            self.watched.iter().filter(|path| !wanted.contains(*path)).cloned().collect();
        for path in gone {
            self.drop_one(&path);
        }
    }

    /// Watches a folder. One that has just gone is no refusal.
    pub fn watch(&mut self, folder: &Path, all_below: bool) -> Result<(), Refused> {
        if self.watched.contains(folder) {
            return Ok(());
        }
        if self.watched.len() >= self.limit {
            return Err(Refused {
                why: format!("more than {} folders would have to be watched", self.limit),
                next: format!("raise it: pao config set projects.watches {}", (self.limit * 4).max(8192)),
            });
        }
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let Some(watcher) = &mut self.watcher else { return Ok(()) };
        let mode = if all_below { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        match watcher.watch(folder, mode) {
            Ok(()) => {
                self.watched.insert(folder.to_path_buf());
                Ok(())
            }
            Err(error) => refusal(&error).map_or(Ok(()), Err),
        }
    }
}

fn refusal(error: &notify::Error) -> Option<Refused> {
    match &error.kind {
        ErrorKind::PathNotFound | ErrorKind::WatchNotFound => None,
        ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        // The system calls it a full disk (ENOSPC), which it is not.
        ErrorKind::MaxFilesWatch => {
            let (next, limit) = os::watch_limit();
            let limit = limit.map(|limit| format!(" (its limit is {limit})")).unwrap_or_default();
            Some(Refused { why: format!("the system watches no more folders{limit}"), next })
        }
        ErrorKind::Io(error) => Some(Refused {
            why: format!("it cannot be watched: {error}"),
            next: "check its permissions and its disk".into(),
        }),
        other => {
            Some(Refused { why: format!("it cannot be watched: {other:?}"), next: "see `pao doctor`".into() })
        }
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, DataChange, RenameMode};

    use super::*;

    fn told(kind: EventKind, path: &str) -> Told {
        let mut told = Told::default();
        told.hear(Ok(Event::new(kind).add_path(path.into())), Path::new("/own"));
        told
    }

    #[test]
    fn reading_and_the_inside_of_a_repository_are_nobodys_business() {
        assert!(told(EventKind::Access(AccessKind::Read), "/c/a").is_empty());
        let data = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        assert!(told(data, "/own/registry.db-wal").is_empty() && !told(data, "/own/config.toml").is_empty());
        for quiet in ["/c/.git/objects/aa/bb", "/c/.git/index.lock", "/c/.git/FETCH_HEAD"] {
            assert!(told(data, quiet).is_empty(), "{quiet}");
        }
        let head = told(EventKind::Modify(ModifyKind::Name(RenameMode::To)), "/c/.git/HEAD");
        assert!(head.touched.contains(Path::new("/c/.git")));
    }

    #[test]
    fn only_what_may_change_what_a_folder_is_leads_to_another_walk() {
        let data = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        assert!(told(data, "/c/src/main.rs").structure.is_empty());
        assert!(told(EventKind::Create(CreateKind::File), "/c/src/main.rs").structure.is_empty());
        for kind in
            [EventKind::Create(CreateKind::Folder), EventKind::Modify(ModifyKind::Name(RenameMode::From))]
        {
            assert_eq!(told(kind, "/c/src").structure.len(), 1);
        }
        for name in ["CLAUDE.md", ".gitignore", "package.json"] {
            assert_eq!(told(EventKind::Create(CreateKind::File), &format!("/c/{name}")).structure.len(), 1);
        }
    }

    #[test]
    fn more_than_can_be_kept_apart_is_told_as_lost() {
        let mut told = Told::default();
        for n in 0..=APART {
            let event = Event::new(EventKind::Create(CreateKind::File)).add_path(format!("/c/{n}/x").into());
            told.hear(Ok(event), Path::new("/own"));
        }
        assert!(told.lost && told.touched.len() <= APART);
    }

    #[test]
    fn no_more_is_watched_than_allowed_and_what_went_can_be_watched_again() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("a/b"));
        std::fs::create_dir_all(&b).unwrap();
        let mut eyes = Eyes::new(2, &Ear::default());
        assert!(
            eyes.watch(&a, false).is_ok() && eyes.watch(&b, false).is_ok() && eyes.watch(&b, false).is_ok()
        );
        let refused = eyes.watch(dir.path(), false).unwrap_err();
        assert!(
            refused.why.contains("more than 2") && refused.next.contains("projects.watches"),
            "{refused:?}"
        );
        assert_eq!((eyes.count(), eyes.count_in(&a)), (2, 2));
        eyes.forget(&b);
        assert_eq!((eyes.count(), eyes.sees(&a), eyes.sees(&b)), (1, true, false));
        assert!(eyes.watch(&dir.path().join("gone"), false).is_ok());
        assert_eq!(eyes.count(), 1, "what is not there is not counted");
        eyes.keep_only(&HashSet::new());
        assert_eq!(eyes.count(), 0);
    }
}

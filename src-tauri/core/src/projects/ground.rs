//! The roots as they lie on the disk: walked, and registered for watching as far as that goes.
//!
//! First comes what tells of projects: folders above them, their tops, their git folders. What lies deeper only tells of
//! changes, and is watched as far as the limit goes, projects that are looked at first. A root whose first part does not
//! fit is looked through every now and then instead.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::eyes::{Eyes, Refused};
use super::find::{Folder, Scan};
use super::look::scanned;
use super::{Project, Root, RootState};
use crate::host::{Host, os};

/// What a watched folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Above or between projects.
    Air,
    /// In the project in that folder.
    Inside(PathBuf),
    /// The git folder of the projects in these folders.
    Git(Vec<PathBuf>),
    /// Holds transcripts.
    Transcripts,
    /// The nearest folder there is above a root that is away.
    Above,
    /// Our own, with the configuration.
    Own,
}

/// One root.
pub struct Tree {
    /// As it was named.
    pub folder: PathBuf,
    /// How it fares.
    pub state: RootState,
    /// It has more folders than are gone through.
    pub cut: bool,
    /// Its projects, as they were found.
    pub projects: Vec<Project>,
    /// Those among them that are not watched to their last folder.
    pub partly: HashSet<PathBuf>,
    /// Folders of it that are watched.
    pub watched: usize,
    /// Projects that have more folders than are looked into.
    cut_ones: HashSet<PathBuf>,
    /// Which folder on which disk it is.
    identity: Option<(u64, u64)>,
    folders: Vec<Folder>,
    /// It is to be walked anew.
    pub due: bool,
    /// When it may be walked again.
    rest: Option<Instant>,
}

/// Share of the time that walking one root may take when it changes all the time.
const SHARE: u32 = 20;

/// All roots.
pub struct Ground {
    host: Host,
    /// What is watched.
    pub eyes: Eyes,
    /// The roots.
    pub trees: Vec<Tree>,
    /// What each folder is of which changes are told.
    pub places: HashMap<PathBuf, Place>,
    /// Why folders of transcripts are not watched.
    pub transcripts_unwatched: Option<Refused>,
    every_s: u64,
}

impl Ground {
    /// Nothing yet.
    pub fn new(host: &Host, eyes: Eyes) -> Self {
        Self {
            host: host.clone(),
            eyes,
            trees: Vec::new(),
            places: HashMap::new(),
            transcripts_unwatched: None,
            every_s: 0,
        }
    }

    /// Sets the roots; what is known of those that stay is kept.
    pub fn set(&mut self, roots: Vec<PathBuf>, limit: usize, every_s: u64) {
        self.eyes.set_limit(limit);
        self.every_s = every_s;
        let mut known: Vec<Tree> = std::mem::take(&mut self.trees);
        for folder in roots {
            match known.iter().position(|tree| tree.folder == folder) {
                Some(place) => self.trees.push(known.swap_remove(place)),
                None => self.trees.push(Tree::new(folder)),
            }
        }
        // Of another limit every root may have a part.
        for tree in &mut self.trees {
            tree.due = true;
            tree.rest = None;
        }
    }

    /// Marks the roots that are another folder than when they were walked: gone, come back, on another disk. True where
    /// a folder beside them is there now that could be watched.
    pub fn check(&mut self, beside: &[PathBuf]) -> bool {
        for tree in &mut self.trees {
            if identity(&tree.folder) != tree.identity {
                tree.due = true;
                if let Some(real) = tree.folders.first() {
                    self.eyes.forget(&real.path);
                }
            }
        }
        let unseen = |folder: &PathBuf| !self.eyes.sees(folder) && folder.is_dir();
        self.transcripts_unwatched.is_none() && (beside.iter().any(unseen) || unseen(&self.host.pao_home))
    }

    /// Something came, went or was renamed. Marks what is to be walked anew.
    pub fn changed(&mut self, path: &Path) {
        let was = self.places.contains_key(path);
        let known = path
            .file_name()
            .is_some_and(|name| name == ".gitignore" || super::find::MARKS.iter().any(|mark| name == *mark));
        if !was && !known && !path.is_dir() {
            return;
        }
        if was {
            self.eyes.forget(path);
        }
        for tree in &mut self.trees {
            let real = tree.folders.first().map_or(tree.folder.as_path(), |root| root.path.as_path());
            tree.due |= path.starts_with(real) || real.starts_with(path) || tree.folder.starts_with(path);
        }
    }

    /// When the next walk may begin; `None` where none is due.
    pub fn next_walk(&self) -> Option<Instant> {
        let due = self.trees.iter().filter(|tree| tree.due);
        due.map(|tree| tree.rest.unwrap_or_else(Instant::now)).min()
    }

    /// Walks the roots that are due and registers what they have. `order` puts the projects to be watched first.
    pub fn walk(&mut self, order: &[PathBuf], transcripts: &[PathBuf], stop: &dyn Fn() -> bool) {
        for tree in &mut self.trees {
            if tree.due && tree.rest.is_none_or(|rest| rest <= Instant::now()) {
                tree.walk(&self.host, stop);
            }
        }
        if !stop() {
            self.register(order, transcripts);
        }
    }

    fn register(&mut self, order: &[PathBuf], transcripts: &[PathBuf]) {
        let mut places: Vec<(PathBuf, Place)> = vec![(self.host.pao_home.clone(), Place::Own)];
        let mut folders: HashSet<PathBuf> = HashSet::new();
        for folder in transcripts {
            places.push((folder.clone(), Place::Transcripts));
        }
        let firsts: Vec<Vec<(PathBuf, Place)>> = self.trees.iter().map(Tree::first).collect();
        let mut deeper: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for tree in self.trees.iter().filter(|tree| tree.is_watchable()) {
            tree.deeper(&mut deeper);
        }
        folders.extend(places.iter().map(|(folder, _)| folder.clone()));
        folders.extend(firsts.iter().flatten().map(|(folder, _)| folder.clone()));
        folders.extend(deeper.values().flatten().cloned());
        self.eyes.keep_only(&folders);
        self.places.clear();
        self.transcripts_unwatched = None;
        for (folder, place) in places {
            let below = place == Place::Transcripts && os::WATCHES_ALL_BELOW;
            if let Err(refused) = self.eyes.watch(&folder, below)
                && place == Place::Transcripts
            {
                self.transcripts_unwatched = Some(refused);
            }
            self.places.insert(folder, place);
        }
        let mut trees = std::mem::take(&mut self.trees);
        for (tree, first) in trees.iter_mut().zip(firsts) {
            let refused = self.register_first(tree, first);
            if let Some(Refused { why, next }) = refused {
                tree.state = RootState::Polled { why, next, every_s: self.every_s };
            } else if tree.state == RootState::Seen {
                tree.state = RootState::Watched;
            }
            tree.partly = tree.cut_ones.clone();
        }
        self.trees = trees;
        let mut deeper = BTreeMap::new();
        for tree in self.trees.iter().filter(|tree| tree.is_watchable()) {
            tree.deeper(&mut deeper);
        }
        self.register_deeper(order, deeper);
        for tree in &mut self.trees {
            tree.watched = tree.folders.first().map_or(0, |root| self.eyes.count_in(&root.path));
        }
    }

    fn register_first(&mut self, tree: &Tree, first: Vec<(PathBuf, Place)>) -> Option<Refused> {
        if let RootState::Polled { why, next, .. } = &tree.state {
            return Some(Refused { why: why.clone(), next: next.clone() });
        }
        let root = tree.folders.first().map(|root| root.path.clone());
        for (folder, place) in first {
            // Where one registration covers all below, only what lies elsewhere needs its own.
            let covered = os::WATCHES_ALL_BELOW
                && root.as_ref().is_some_and(|root| folder != *root && folder.starts_with(root));
            if !covered
                && let Err(refused) = self.eyes.watch(&folder, os::WATCHES_ALL_BELOW && place != Place::Above)
            {
                // Half of it would tell half of what happens.
                if let Some(root) = &root {
                    self.eyes.forget(root);
                    self.places.retain(|folder, _| !folder.starts_with(root));
                }
                return Some(refused);
            }
            match (self.places.get_mut(&folder), place) {
                (Some(Place::Git(known)), Place::Git(more)) => known.extend(more),
                (Some(Place::Own | Place::Transcripts), _) => {}
                (_, place) => drop(self.places.insert(folder, place)),
            }
        }
        None
    }

    /// As far as the limit goes. A project is watched whole or not at all: half of it would tell half.
    fn register_deeper(&mut self, order: &[PathBuf], mut deeper: BTreeMap<PathBuf, Vec<PathBuf>>) {
        let first: Vec<_> = order.iter().filter_map(|project| deeper.remove_entry(project)).collect();
        let mut full = false;
        for (project, folders) in first.into_iter().chain(deeper) {
            let mut done = 0;
            if !full || os::WATCHES_ALL_BELOW {
                for folder in &folders {
                    if !os::WATCHES_ALL_BELOW && self.eyes.watch(folder, false).is_err() {
                        break;
                    }
                    done += 1;
                }
            }
            if done == folders.len() {
                let inside = folders.into_iter().map(|folder| (folder, Place::Inside(project.clone())));
                self.places.extend(inside);
                continue;
            }
            full = true;
            for folder in folders.iter().take(done) {
                self.eyes.drop_one(folder);
            }
            for tree in &mut self.trees {
                if tree.projects.iter().any(|known| known.folder == project) {
                    tree.partly.insert(project.clone());
                }
            }
        }
    }
}

impl Tree {
    fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            state: RootState::Seen,
            cut: false,
            projects: Vec::new(),
            partly: HashSet::new(),
            cut_ones: HashSet::new(),
            watched: 0,
            identity: None,
            folders: Vec::new(),
            due: true,
            rest: None,
        }
    }

    fn is_watchable(&self) -> bool {
        matches!(self.state, RootState::Seen | RootState::Watched)
    }

    fn walk(&mut self, host: &Host, stop: &dyn Fn() -> bool) {
        let began = Instant::now();
        self.due = false;
        self.identity = identity(&self.folder);
        let (state, Scan { projects, folders, cut }) = scanned(host, &self.folder, stop);
        self.state = match os::untold(&self.folder).filter(|_| state == RootState::Seen) {
            Some(kind) => RootState::Polled {
                why: format!("its disk ({kind}) does not tell what others change on it"),
                next: "nothing has to be done".into(),
                every_s: 0,
            },
            None => state,
        };
        let known: HashMap<&Path, &Project> =
            self.projects.iter().map(|project| (project.folder.as_path(), project)).collect();
        let now = host.now();
        let at = |found| {
            let mut project = Project::at(found, &self.folder, now);
            if let Some(known) = known.get(project.folder.as_path()) {
                project.changed = known.changed;
                project.active(known.active_at, now);
            }
            project
        };
        self.cut_ones = projects.iter().filter(|found| found.cut).map(|found| found.folder.clone()).collect();
        self.projects = projects.iter().map(at).collect();
        self.folders = folders;
        self.cut = cut;
        self.rest = Some(Instant::now() + (began.elapsed() * SHARE).min(Duration::from_mins(1)));
    }

    /// How it fares, without what only its projects tell.
    pub fn told(&self) -> Root {
        Root {
            folder: self.folder.clone(),
            state: self.state.clone(),
            projects: self.projects.len(),
            examples: Vec::new(),
            active_at: None,
            watched: self.watched,
            partly: self.partly.len(),
            cut: self.cut,
        }
    }

    /// What tells of projects.
    fn first(&self) -> Vec<(PathBuf, Place)> {
        if self.state == RootState::Away {
            // Where one registration covers all below, watching the home directory for this would be dear.
            let above =
                self.folder.ancestors().skip(1).find(|up| up.is_dir()).filter(|_| !os::WATCHES_ALL_BELOW);
            return above.map(|above| (above.to_path_buf(), Place::Above)).into_iter().collect();
        }
        let mut first = Vec::new();
        for folder in &self.folders {
            match folder.project.and_then(|project| self.projects.get(project)) {
                None => first.push((folder.path.clone(), Place::Air)),
                Some(project) if project.folder == folder.path => {
                    first.push((folder.path.clone(), Place::Inside(project.folder.clone())));
                }
                Some(_) => {}
            }
        }
        for project in &self.projects {
            if let Some(git_dir) = &project.git_dir {
                first.push((git_dir.clone(), Place::Git(vec![project.folder.clone()])));
            }
        }
        first
    }

    /// What lies deeper, by project.
    fn deeper(&self, deeper: &mut BTreeMap<PathBuf, Vec<PathBuf>>) {
        for folder in &self.folders {
            let Some(project) = folder.project.and_then(|project| self.projects.get(project)) else {
                continue;
            };
            if project.folder != folder.path {
                deeper.entry(project.folder.clone()).or_default().push(folder.path.clone());
            }
        }
    }
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    folder.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

//! The user's projects: found below the folders the user named, each with its branch, what is not committed, its last
//! session and its agents, the most recently active first.
//!
//! Everything here only reads. Nothing is looked at that a rule excludes, no program of a repository's own is started,
//! and a folder nobody named is at most proposed.

mod eyes;
pub mod find;
mod ground;
pub mod head;
pub mod look;
pub mod roots;
pub mod rules;
mod transcripts;
pub mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::project::Project as Repository;
use crate::registry::agents::{Agent, State};
use crate::source::history::Session;

pub use look::{Asked, Look, configured, look, proposed, trial};
pub use roots::{Proposal, add, proposals, remove, set};
pub use watch::{Event, Seen, Watch, events};

/// One project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its folder (realpath).
    pub folder: PathBuf,
    /// Base name of the folder.
    pub name: String,
    /// Identity, as agents and sessions name it: worktrees of one repository share it.
    pub id: String,
    /// The root it was found in.
    pub root: PathBuf,
    /// By what it was recognised, in the order of [`find::MARKS`].
    pub marks: Vec<&'static str>,
    /// The git folder of its worktree.
    pub git_dir: Option<PathBuf>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Paths that are not committed; `None` where that is not known (yet).
    pub changed: Option<u32>,
    /// When an agent was last at work there, as transcripts tell.
    pub session_at: Option<DateTime<Utc>>,
    /// Last activity: a session, an agent's sign of life, a commit, a change that was seen.
    pub active_at: Option<DateTime<Utc>>,
    /// Its agents that have not ended.
    pub agents: Agents,
}

/// Agents of one project by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of `registry::agents::State`")]
pub struct Agents {
    pub needs_you: u32,
    pub working: u32,
    pub starting: u32,
    pub idle: u32,
    pub paused: u32,
    pub lost: u32,
}

impl Agents {
    /// Those that run.
    pub fn live(&self) -> u32 {
        self.needs_you + self.working + self.starting + self.idle
    }

    fn count(&mut self, state: State) {
        match state {
            State::NeedsYou => self.needs_you += 1,
            State::Working => self.working += 1,
            State::Starting => self.starting += 1,
            State::Idle => self.idle += 1,
            State::Paused => self.paused += 1,
            State::Lost => self.lost += 1,
            State::Ended => {}
        }
    }
}

/// A root and how it fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The folder, as it was named.
    pub folder: PathBuf,
    /// How it fares.
    pub state: RootState,
    /// Projects found in it.
    pub projects: usize,
    /// Names of those that were active last.
    pub examples: Vec<String>,
    /// Last activity in it.
    pub active_at: Option<DateTime<Utc>>,
    /// Folders of it that are watched.
    pub watched: usize,
    /// Projects of it of which only the top is watched, because all of them together have too many folders.
    pub partly: usize,
    /// It has more folders than are gone through.
    pub cut: bool,
}

/// How a root fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootState {
    /// It was looked through; nobody watches it.
    Seen,
    /// Every change is seen as it happens.
    Watched,
    /// It is looked through every so many seconds.
    Polled {
        /// Why it cannot be watched.
        why: String,
        /// How it could be.
        next: String,
        /// Seconds between two looks.
        every_s: u64,
    },
    /// It is not there: its disk is away, or it was removed. It is found again when it comes back.
    Away,
    /// It cannot be read.
    Unreadable(String),
}

impl RootState {
    /// Name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Watched => "watched",
            Self::Polled { .. } => "polled",
            Self::Away => "away",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// What keeps a root from being watched, for people; `None` where nothing does.
    pub fn note(&self) -> Option<String> {
        match self {
            Self::Seen | Self::Watched => None,
            Self::Polled { why, every_s, .. } => Some(format!("looked at every {every_s} s: {why}")),
            Self::Away => Some("not there".into()),
            Self::Unreadable(why) => Some(format!("cannot be read: {why}")),
        }
    }
}

impl Project {
    /// A project as it was found, with what its own files tell.
    pub fn at(found: &find::Found, root: &Path, now: DateTime<Utc>) -> Self {
        let repository = Repository::of(&found.folder);
        let mut project = Self {
            folder: found.folder.clone(),
            name: name_of(&found.folder),
            id: repository.id,
            root: root.to_path_buf(),
            marks: found.marks.clone(),
            git_dir: repository.git_dir,
            branch: None,
            changed: None,
            session_at: None,
            active_at: None,
            agents: Agents::default(),
        };
        project.look_at_head(now);
        if project.git_dir.is_none() {
            let changed = |mark: &&str| found.folder.join(mark).metadata().ok()?.modified().ok();
            project.active(found.marks.iter().filter_map(changed).max().map(DateTime::from), now);
        }
        project
    }

    /// Reads the branch, and when it last moved.
    pub fn look_at_head(&mut self, now: DateTime<Utc>) {
        let Some(git_dir) = &self.git_dir else { return };
        self.branch = head::branch(git_dir);
        let moved = head::moved(git_dir).map(DateTime::from);
        self.active(moved, now);
    }

    /// Something happened then. What is dated later than now is not believed.
    pub fn active(&mut self, at: Option<DateTime<Utc>>, now: DateTime<Utc>) {
        self.active_at = self.active_at.max(at.map(|at| at.min(now)));
    }
}

/// Base name of a folder, for people.
fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
}

/// Tells each project its last session. One in a folder inside a project is that project's; one in a worktree or folder
/// that is no project of its own is its repository's.
pub fn with_sessions(projects: &mut [Project], sessions: &[Session], now: DateTime<Utc>) {
    let places = places(projects);
    let homes: BTreeMap<PathBuf, usize> = projects
        .iter()
        .enumerate()
        .map(|(place, project)| (project.id.clone().into(), place))
        .rev()
        .collect();
    for session in sessions {
        let inside = nearest(&places, &session.folder);
        let Some(place) = inside.or_else(|| homes.get(Path::new(&session.project)).copied()) else {
            continue;
        };
        let project = &mut projects[place];
        project.session_at = project.session_at.max(Some(session.at.min(now)));
        project.active(Some(session.at), now);
    }
}

/// Counts each project's agents anew.
pub fn with_agents(projects: &mut [Project], agents: &[Agent], now: DateTime<Utc>) {
    let places = places(projects);
    for project in projects.iter_mut() {
        project.agents = Agents::default();
    }
    for agent in agents.iter().filter(|agent| agent.archived_at.is_none()) {
        let Some(place) = nearest(&places, &agent.folder) else { continue };
        projects[place].agents.count(agent.state);
        projects[place].active(Some(agent.sign_at), now);
    }
}

fn places(projects: &[Project]) -> BTreeMap<PathBuf, usize> {
    projects.iter().enumerate().map(|(place, project)| (project.folder.clone(), place)).collect()
}

/// The project a folder lies in.
fn nearest(places: &BTreeMap<PathBuf, usize>, folder: &Path) -> Option<usize> {
    folder.ancestors().find_map(|up| places.get(up).copied())
}

/// The most recently active first; those of which nothing is known last, by folder.
pub fn sort(projects: &mut [Project]) {
    projects.sort_by(|a, b| b.active_at.cmp(&a.active_at).then_with(|| a.folder.cmp(&b.folder)));
}

#[cfg(test)]
mod tests;

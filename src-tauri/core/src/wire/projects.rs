//! What is said of projects as JSON.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::path;
use crate::projects;

/// Everything a list shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Projects {
    /// The projects, the most recently active first.
    pub projects: Vec<Project>,
    /// The folders in which they were found.
    pub roots: Vec<Root>,
    /// Folders that could be watched, too.
    pub proposals: Vec<Proposal>,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Project {
    /// Base name of its folder.
    pub name: String,
    /// Its folder.
    pub folder: String,
    /// The folder in which it was found.
    pub root: String,
    /// By what it was recognised: `.git`, `CLAUDE.md`, `Cargo.toml` and so on.
    pub marks: Vec<&'static str>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Paths that are not committed; null where that is not known.
    pub changed: Option<u32>,
    /// Last session of a host agent there.
    pub session_at: Option<DateTime<Utc>>,
    /// Last activity.
    pub active_at: Option<DateTime<Utc>>,
    /// Its agents that have not ended.
    pub agents: Agents,
}

/// Agents by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of `registry::agents::State`")]
pub struct Agents {
    pub needs_you: u32,
    pub working: u32,
    pub starting: u32,
    pub idle: u32,
    pub paused: u32,
    pub lost: u32,
}

/// A folder in which projects are found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Root {
    /// The folder.
    pub folder: String,
    /// `seen`, `watched`, `polled`, `away` or `unreadable`.
    pub state: &'static str,
    /// Why it is not watched.
    pub why: Option<String>,
    /// How it could be.
    pub next: Option<String>,
    /// Projects found in it.
    pub projects: usize,
    /// Names of those that were active last.
    pub examples: Vec<String>,
    /// Last activity in it.
    pub active_at: Option<DateTime<Utc>>,
    /// Folders of it that are watched.
    pub watched: usize,
    /// Projects of it of which only the top is watched.
    pub partly: usize,
    /// It has more folders than are gone through.
    pub cut: bool,
}

/// A folder that could be watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// The folder.
    pub folder: String,
    /// In how many of its projects agents were at work.
    pub projects: usize,
    /// Names of those that were worked in last.
    pub examples: Vec<String>,
    /// When that was.
    pub active_at: DateTime<Utc>,
}

/// A folder that is watched from now on, or no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The folder.
    pub folder: String,
    /// Something was changed: it was not there before, or is not there any more.
    pub changed: bool,
}

impl From<&projects::Look> for Projects {
    fn from(look: &projects::Look) -> Self {
        Self {
            projects: look.projects.iter().map(Into::into).collect(),
            roots: look.roots.iter().map(Into::into).collect(),
            proposals: look.proposals.iter().map(Into::into).collect(),
        }
    }
}

impl From<&projects::Project> for Project {
    fn from(project: &projects::Project) -> Self {
        Self {
            name: project.name.clone(),
            folder: path(&project.folder),
            root: path(&project.root),
            marks: project.marks.clone(),
            branch: project.branch.clone(),
            changed: project.changed,
            session_at: project.session_at,
            active_at: project.active_at,
            agents: project.agents.into(),
        }
    }
}

impl From<projects::Agents> for Agents {
    fn from(agents: projects::Agents) -> Self {
        let projects::Agents { needs_you, working, starting, idle, paused, lost } = agents;
        Self { needs_you, working, starting, idle, paused, lost }
    }
}

impl From<&projects::Root> for Root {
    fn from(root: &projects::Root) -> Self {
        let (why, next) = match &root.state {
            projects::RootState::Polled { why, next, .. } => (Some(why.clone()), Some(next.clone())),
            projects::RootState::Unreadable(why) => (Some(why.clone()), None),
            _ => (None, None),
        };
        Self {
            folder: path(&root.folder),
            state: root.state.name(),
            why,
            next,
            projects: root.projects,
            examples: root.examples.clone(),
            active_at: root.active_at,
            watched: root.watched,
            partly: root.partly,
            cut: root.cut,
        }
    }
}

impl From<&projects::Proposal> for Proposal {
    fn from(proposal: &projects::Proposal) -> Self {
        Self {
            folder: path(&proposal.folder),
            projects: proposal.projects,
            examples: proposal.examples.clone(),
            active_at: proposal.active_at,
        }
    }
}

/// A change, with `--watch`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changed {
    /// When it was seen.
    pub at: DateTime<Utc>,
    /// `project`, `gone`, `root` or `indexed`.
    pub what: &'static str,
    /// The project as it is now; of one that is gone, as it was last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// The root as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<Root>,
}

impl Changed {
    /// A change seen at that moment.
    pub fn new(event: &projects::Event, at: DateTime<Utc>) -> Self {
        use projects::Event;
        let (what, project, root) = match event {
            Event::Project(project) => ("project", Some(project.into()), None),
            Event::Gone(project) => ("gone", Some(project.into()), None),
            Event::Root(root) => ("root", None, Some(root.into())),
            Event::Indexed => ("indexed", None, None),
        };
        Self { at, what, project, root }
    }
}

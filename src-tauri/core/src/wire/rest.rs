//! Checkpoints, pauses and returns as JSON.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Failure, SourceReport, Step, ms, path};
use crate::life::changed::Changed;
use crate::life::{checkpoint, pause, resume};
use crate::spawn::agreed;

/// One checkpoint.
#[derive(Debug, Clone, Serialize)]
pub struct Checkpoint {
    /// Its id.
    pub id: String,
    /// Registry id of the agent.
    pub agent_id: String,
    /// When it was made.
    pub at: DateTime<Utc>,
    /// The user's words about it.
    pub message: Option<String>,
    /// One line about it.
    pub summary: String,
    /// Everything it holds, in its stored form.
    #[serde(flatten)]
    pub data: checkpoint::Data,
}

impl From<&checkpoint::Checkpoint> for Checkpoint {
    fn from(kept: &checkpoint::Checkpoint) -> Self {
        Self {
            id: kept.id.clone(),
            agent_id: kept.agent.clone(),
            at: kept.at,
            message: kept.message.clone(),
            summary: kept.data.summary(),
            data: kept.data.clone(),
        }
    }
}

/// One commit.
#[derive(Debug, Clone, Serialize)]
pub struct Commit {
    /// Short id.
    pub id: String,
    /// Who made it.
    pub author: String,
    /// Its first line.
    pub subject: String,
}

/// One file that differs.
#[derive(Debug, Clone, Serialize)]
pub struct Differs {
    /// Path from the top of the worktree.
    pub path: String,
    /// Lines added, where git counts them.
    pub added: Option<u64>,
    /// Lines removed.
    pub removed: Option<u64>,
}

/// What came between two commits.
#[derive(Debug, Clone, Serialize)]
pub struct Between {
    /// Commits, newest first.
    pub commits: Vec<Commit>,
    /// How many further commits there are.
    pub more_commits: u64,
    /// Commits of the first that the second lacks.
    pub left_behind: u64,
    /// Files that differ.
    pub files: Vec<Differs>,
    /// How many further files differ.
    pub more_files: usize,
}

impl From<&crate::life::repository::Between> for Between {
    fn from(between: &crate::life::repository::Between) -> Self {
        let commit = |c: &crate::life::repository::Commit| Commit {
            id: c.id.clone(),
            author: c.author.clone(),
            subject: c.subject.clone(),
        };
        let differs = |f: &crate::life::repository::Differs| Differs {
            path: f.path.clone(),
            added: f.lines.map(|l| l.0),
            removed: f.lines.map(|l| l.1),
        };
        Self {
            commits: between.commits.iter().map(commit).collect(),
            more_commits: between.more_commits,
            left_behind: between.left_behind,
            files: between.files.iter().map(differs).collect(),
            more_files: between.more_files,
        }
    }
}

/// Two checkpoints compared.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// Branches then and now, where they differ.
    pub branches: Option<(Option<String>, Option<String>)>,
    /// Commits and files, where they can be told.
    pub between: Option<Between>,
    /// Paths not committed at the second and new or changed since the first.
    pub uncommitted: Vec<String>,
    /// Prompts since the first.
    pub prompts: Vec<String>,
    /// To-dos that are gone from the list.
    pub todos_done: Vec<String>,
    /// To-dos that are new on it.
    pub todos_new: Vec<String>,
    /// Files the agent changed since.
    pub files_touched: Vec<String>,
    /// What cannot be told, and why.
    pub notes: Vec<String>,
}

impl From<&checkpoint::Compared> for Compared {
    fn from(found: &checkpoint::Compared) -> Self {
        Self {
            branches: found.branches.clone(),
            between: found.between.as_ref().map(Between::from),
            uncommitted: found.dirty.clone(),
            prompts: found.prompts.clone(),
            todos_done: found.todos_done.clone(),
            todos_new: found.todos_new.clone(),
            files_touched: found.files_touched.clone(),
            notes: found.notes.clone(),
        }
    }
}

/// One agent that was to be paused.
#[derive(Debug, Clone, Serialize)]
pub struct Paused {
    /// Its name.
    pub agent: String,
    /// Its registry id.
    pub id: String,
    /// Id of the checkpoint that was made.
    pub checkpoint: Option<String>,
    /// Bytes of memory that were freed.
    pub freed_bytes: u64,
    /// Its turn was cut short.
    pub interrupted: bool,
    /// What stood in its prompt line and was never sent.
    pub unsent: Option<String>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// How long it took.
    pub ms: u64,
    /// Why it is not paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl From<&pause::Paused> for Paused {
    fn from(paused: &pause::Paused) -> Self {
        Self {
            agent: paused.name.clone(),
            id: paused.agent.clone(),
            checkpoint: Some(paused.checkpoint.id.clone()),
            freed_bytes: paused.freed,
            interrupted: paused.interrupted,
            unsent: paused.unsent.clone(),
            notes: paused.notes.clone(),
            ms: ms(paused.took),
            error: None,
        }
    }
}

/// What changed while an agent rested.
#[derive(Debug, Clone, Serialize)]
pub struct WhatChanged {
    /// Since when.
    pub since: DateTime<Utc>,
    /// In a few phrases; empty where nothing has.
    pub phrases: Vec<String>,
    /// Commits and files.
    pub between: Option<Between>,
    /// What is not committed, and not as it was then.
    pub uncommitted: Vec<String>,
    /// New memories, with their citations.
    pub memories: Vec<super::Line>,
    /// How each store fared.
    pub sources: Vec<SourceReport>,
    /// What the agent is told; empty where nothing changed.
    pub text: String,
}

impl From<&Changed> for WhatChanged {
    fn from(changed: &Changed) -> Self {
        Self {
            since: changed.since,
            phrases: changed.phrases(),
            between: changed.between.as_ref().map(Between::from),
            uncommitted: changed.dirty.clone(),
            memories: changed.news.lines.iter().map(super::Line::from).collect(),
            sources: changed.news.reports.iter().map(SourceReport::from).collect(),
            text: changed.text.clone(),
        }
    }
}

/// An agent that is back.
#[derive(Debug, Clone, Serialize)]
pub struct Resumed {
    /// Its name.
    pub agent: String,
    /// Its registry id, the same as before.
    pub id: String,
    /// The host agent's conversation id.
    pub session_id: String,
    /// Where it works.
    pub folder: String,
    /// Terminal that runs it.
    pub terminal: String,
    /// Command that shows it, where no window is open.
    pub attach: Option<String>,
    /// `session` or `files`.
    pub delivery: &'static str,
    /// Nothing had been said in its conversation, so it begins anew.
    pub begins_anew: bool,
    /// It was seen at its prompt line, or to have begun.
    pub confirmed: bool,
    /// What waits for the user.
    pub needs: Option<String>,
    /// What changed while it rested.
    pub changed: WhatChanged,
    /// What the user should know.
    pub notes: Vec<String>,
    /// How long it took.
    pub ms: u64,
    /// The steps taken.
    pub steps: Vec<Step>,
}

impl From<&resume::Resumed> for Resumed {
    fn from(resumed: &resume::Resumed) -> Self {
        let back = &resumed.back;
        Self {
            agent: resumed.name.clone(),
            id: resumed.agent.clone(),
            session_id: back.session.clone(),
            folder: path(&resumed.folder),
            terminal: back.terminal.clone(),
            attach: back.attach.clone(),
            delivery: back.way.name(),
            begins_anew: resumed.begins_anew,
            confirmed: back.ready.receipt == crate::spawn::passed::Receipt::Confirmed,
            needs: back.ready.needs.clone(),
            changed: WhatChanged::from(&resumed.changed),
            notes: back.notes.clone(),
            ms: ms(resumed.took),
            steps: back.steps.iter().map(Step::from).collect(),
        }
    }
}

/// What the user agreed to for a folder.
#[derive(Debug, Clone, Serialize)]
pub struct Consented {
    /// The folder.
    pub folder: String,
    /// It may be trusted.
    pub trust: bool,
    /// Agents there may skip all permissions.
    pub skip_permissions: bool,
}

impl From<&agreed::Agreed> for Consented {
    fn from(row: &agreed::Agreed) -> Self {
        Self { folder: path(&row.folder), trust: row.trust, skip_permissions: row.skip_permissions }
    }
}

/// One of several agents that were to come back, and did not.
#[derive(Debug, Clone, Serialize)]
pub struct NotResumed {
    /// Its name.
    pub agent: String,
    /// Its registry id.
    pub id: String,
    /// Why.
    pub error: Failure,
}

/// One of several agents that were to come back.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum OneResumed {
    /// It did.
    Back(Box<Resumed>),
    /// It did not.
    Not(Box<NotResumed>),
}

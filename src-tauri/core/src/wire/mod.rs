//! What leaves the process as JSON: plain mirrors of the core's types with stable names.
//!
//! Field names here are promises to scripts; the core's own types may change behind them. Times are RFC 3339 in
//! UTC, durations whole milliseconds, paths as they are on disk.

mod clean;
pub mod door;
pub mod life;
pub mod look;
pub mod marks;
pub mod projects;
pub mod rest;

use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use ts_rs::TS;

pub use clean::{CleanGroup, CleanItem, CleanPlan, CleanedGroup, CleanedItem, Cleanup};

use crate::registry::agents;
use crate::source::history;
use crate::spawn::passed::{self, LeftOut, Receipt, SourceState};
use crate::spawn::request;

/// An error.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Failure {
    /// `internal`, `user`, `config`, `environment` or `unconfirmed`.
    pub kind: &'static str,
    /// What happened.
    pub message: String,
    /// What had been done before; empty when nothing had.
    pub done: String,
    /// One thing to do next.
    pub next: String,
    /// The same for a window, as something it can do at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub action: Option<door::Action>,
}

impl From<&crate::Error> for Failure {
    fn from(error: &crate::Error) -> Self {
        Self {
            action: error.remedy.as_ref().and_then(door::Action::of),
            kind: error.kind.name(),
            message: error.message.clone(),
            done: error.done.clone(),
            next: error.next.clone(),
        }
    }
}

/// One step of a spawn.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Step {
    /// `topic`, `gather`, `briefing`, `deliver`, `trust`, `launch` or `ready`.
    pub name: &'static str,
    /// How long it took.
    pub ms: u64,
    /// `done`, `skipped` or `failed`.
    pub state: &'static str,
    /// What there is to say about it.
    pub note: String,
}

impl From<&request::Progress> for Step {
    fn from(progress: &request::Progress) -> Self {
        Self {
            name: progress.step.name(),
            ms: ms(progress.took),
            state: progress.state.name(),
            note: progress.note.clone(),
        }
    }
}

/// Statements for a database's owner.
#[derive(Debug, Clone, Serialize)]
pub struct Statements {
    /// SQL, one statement after the other.
    pub statements: String,
}

/// How one source fared.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct SourceReport {
    /// Its name in the configuration.
    pub name: String,
    /// `ok`, `empty`, `unavailable` or `timed-out`.
    pub state: &'static str,
    /// How many memories it returned.
    pub snippets: usize,
    /// Why it could not answer.
    pub reason: Option<String>,
    /// What limits its answer.
    pub note: Option<String>,
    /// How long it took.
    pub ms: u64,
}

impl From<&passed::SourceReport> for SourceReport {
    fn from(report: &passed::SourceReport) -> Self {
        let (state, snippets, reason) = match &report.state {
            SourceState::Ok(count) => ("ok", *count, None),
            SourceState::Empty => ("empty", 0, None),
            SourceState::Unavailable(why) => ("unavailable", 0, Some(why.to_string())),
            SourceState::TimedOut(limit) => {
                ("timed-out", 0, Some(format!("no answer within {} ms", limit.as_millis())))
            }
        };
        Self {
            name: report.name.clone(),
            state,
            snippets,
            reason,
            note: report.note.clone(),
            ms: ms(report.took),
        }
    }
}

/// One memory considered for a briefing.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Line {
    /// Source it came from.
    pub source: String,
    /// Identity within the source.
    pub id: String,
    /// When it was said or recorded.
    pub at: Option<DateTime<Utc>>,
    /// Its text as delivered.
    pub text: String,
    /// Fused relevance in 0..=1.
    pub score: f32,
    /// Estimated tokens.
    pub tokens: usize,
    /// Why it is not in the briefing: `irrelevant`, `duplicate`, `superseded`, `over-budget`, `quarantined`, `dropped`,
    /// `never`.
    pub left_out: Option<&'static str>,
    /// The memory that says the same, or that superseded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub because: Option<Cited>,
    /// What the user decided about it: `pin`, `drop` or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub marked: Option<&'static str>,
}

/// A memory by where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct Cited {
    /// Its source.
    pub source: String,
    /// Identity within the source.
    pub id: String,
}

impl From<&passed::Line> for Line {
    fn from(line: &passed::Line) -> Self {
        Self {
            source: line.source.clone(),
            id: line.id.clone(),
            at: line.at,
            text: line.text.clone(),
            score: line.score,
            tokens: line.tokens,
            left_out: line.left_out.map(left_out),
            because: line.because.clone().map(|cited| Cited { source: cited.source, id: cited.id }),
            marked: line.mark.map(crate::marks::Mark::name),
        }
    }
}

/// Name of a reason for leaving a line out.
pub fn left_out(reason: LeftOut) -> &'static str {
    match reason {
        LeftOut::Irrelevant => "irrelevant",
        LeftOut::Duplicate => "duplicate",
        LeftOut::Superseded => "superseded",
        LeftOut::OverBudget => "over-budget",
        LeftOut::Quarantined => "quarantined",
        LeftOut::Dropped => "dropped",
        LeftOut::Never => "never",
    }
}

/// A briefing and how it came about.
#[derive(Debug, Clone, Serialize)]
pub struct Brief {
    /// Name the agent would have.
    pub agent: String,
    /// Where it would work.
    pub folder: String,
    /// The project this folder belongs to.
    pub project: String,
    /// What it would be asked to do.
    pub prompt: Option<String>,
    /// What the sources were asked.
    pub query: String,
    /// How each source fared.
    pub sources: Vec<SourceReport>,
    /// The document.
    pub markdown: String,
    /// SHA-256 of the document.
    pub hash: String,
    /// Its estimated tokens.
    pub tokens: usize,
    /// No source had anything.
    pub self_warming: bool,
    /// What they cost as input of one request in US dollars; null where no price is known.
    pub price: Option<f64>,
    /// The document is as the user wrote it.
    pub edited: bool,
    /// All memories considered.
    pub lines: Vec<Line>,
    /// What is another since this folder's last spawn; null where there was none.
    pub changes: Option<marks::Changes>,
    /// The steps taken.
    pub steps: Vec<Step>,
    /// With `--dry-run`: what a spawn would write, ask and start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would: Option<Vec<String>>,
}

impl From<&request::Brief> for Brief {
    fn from(brief: &request::Brief) -> Self {
        Self {
            agent: brief.topic.name.clone(),
            folder: path(&brief.topic.folder),
            project: brief.topic.project.id.clone(),
            prompt: brief.topic.prompt.clone(),
            query: brief.topic.query.clone(),
            sources: brief.gathered.reports.iter().map(Into::into).collect(),
            markdown: brief.briefing.markdown.clone(),
            hash: brief.briefing.hash.clone(),
            tokens: brief.briefing.tokens,
            self_warming: brief.briefing.self_warming,
            price: brief.price(),
            edited: brief.briefing.edited,
            lines: brief.briefing.lines.iter().map(Into::into).collect(),
            changes: brief
                .changes
                .as_ref()
                .map(|changes| marks::Changes::new(changes, &brief.briefing.lines)),
            steps: brief.steps.iter().map(Into::into).collect(),
            would: None,
        }
    }
}

impl From<&request::DryRun> for Brief {
    fn from(run: &request::DryRun) -> Self {
        Self { would: Some(run.would.clone()), ..Self::from(&run.brief) }
    }
}

/// A finished spawn.
#[derive(Debug, Clone, Serialize)]
pub struct Spawned {
    /// Name of the agent.
    pub agent: String,
    /// Its registry id.
    pub id: String,
    /// The host agent's conversation id.
    pub session_id: Option<String>,
    /// Where it works.
    pub folder: String,
    /// Terminal that runs it.
    pub terminal: String,
    /// Command that shows it, where no window is open.
    pub attach: Option<String>,
    /// `session` or `files`.
    pub delivery: &'static str,
    /// `ask`, `accept-edits`, `plan` or `skip`.
    pub permission: &'static str,
    /// The prompt was seen to have its effect.
    pub confirmed: bool,
    /// `sent`, `confirmed` or `unknown`.
    pub receipt: &'static str,
    /// The briefing was handed to the agent.
    pub briefed: bool,
    /// What waits for the user.
    pub needs: Option<String>,
    /// What proved the start.
    pub evidence: String,
    /// SHA-256 of the briefing.
    pub briefing_hash: String,
    /// Its estimated tokens.
    pub briefing_tokens: usize,
    /// The user had edited it.
    pub briefing_edited: bool,
    /// How each source fared.
    pub sources: Vec<SourceReport>,
    /// What the user should know although all went well.
    pub notes: Vec<String>,
    /// The steps taken.
    pub steps: Vec<Step>,
    /// Where nothing confirmed the start: what that means and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl From<&request::Spawned> for Spawned {
    fn from(spawned: &request::Spawned) -> Self {
        Self {
            agent: spawned.name.clone(),
            id: spawned.agent.clone(),
            session_id: spawned.session.clone(),
            folder: path(&spawned.folder),
            terminal: spawned.terminal.clone(),
            attach: spawned.attach.clone(),
            delivery: spawned.way.name(),
            permission: spawned.permission.name(),
            confirmed: spawned.ready.receipt == Receipt::Confirmed,
            receipt: spawned.ready.receipt.name(),
            briefed: spawned.ready.briefed,
            needs: spawned.ready.needs.clone(),
            evidence: spawned.ready.evidence.clone(),
            briefing_hash: spawned.briefing.hash.clone(),
            briefing_tokens: spawned.briefing.tokens,
            briefing_edited: spawned.briefing.edited,
            sources: spawned.gathered.reports.iter().map(Into::into).collect(),
            notes: spawned.notes.clone(),
            steps: spawned.steps.iter().map(Into::into).collect(),
            error: None,
        }
    }
}

/// One agent.
#[derive(Debug, Clone, Serialize)]
pub struct Agent {
    /// Name.
    pub name: String,
    /// Registry id.
    pub id: String,
    /// `starting`, `working`, `needs-you`, `idle`, `paused`, `ended` or `lost`.
    pub state: &'static str,
    /// What it waits for.
    pub needs: Option<String>,
    /// Since when it does that.
    pub state_at: DateTime<Utc>,
    /// What proves it, a short phrase.
    pub evidence: Option<String>,
    /// Where it works.
    pub folder: String,
    /// The project this folder belongs to.
    pub project: String,
    /// Kind of host agent.
    pub host_agent: String,
    /// What it was asked to do.
    pub prompt: Option<String>,
    /// The host agent's conversation id.
    pub session_id: Option<String>,
    /// `ask`, `accept-edits`, `plan` or `skip`.
    pub permission: &'static str,
    /// `session` or `files`.
    pub delivery: &'static str,
    /// `sent`, `confirmed` or `unknown`.
    pub receipt: Option<&'static str>,
    /// SHA-256 of its briefing.
    pub briefing_hash: Option<String>,
    /// Terminal that runs it.
    pub terminal: Option<String>,
    /// Its process, while it runs.
    pub pid: Option<u32>,
    /// When it was asked for.
    pub created_at: DateTime<Utc>,
    /// Last sign of life.
    pub sign_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// When it was put aside.
    pub archived_at: Option<DateTime<Utc>>,
    /// From whom it came, where it did not start from nothing.
    pub origin: Option<life::Origin>,
}

impl From<&agents::Agent> for Agent {
    fn from(agent: &agents::Agent) -> Self {
        Self {
            name: agent.name.clone(),
            id: agent.id.clone(),
            state: agent.state.name(),
            needs: agent.needs.clone(),
            state_at: agent.state_at,
            evidence: agent.state_by.clone(),
            folder: path(&agent.folder),
            project: agent.project.clone(),
            host_agent: agent.host_agent.clone(),
            prompt: agent.prompt.clone(),
            session_id: agent.session.clone(),
            permission: agent.permission.name(),
            delivery: agent.way.name(),
            receipt: agent.receipt.map(Receipt::name),
            briefing_hash: agent.briefing_hash.clone(),
            terminal: agent.terminal.clone(),
            pid: agent.process.filter(|_| agent.state.live()).map(|p| p.pid),
            created_at: agent.created_at,
            sign_at: agent.sign_at,
            ended_at: agent.ended_at,
            archived_at: agent.archived_at,
            origin: agent.origin.as_ref().map(Into::into),
        }
    }
}

/// Answer to `pao recall`.
#[derive(Debug, Clone, Serialize)]
pub struct Recalled {
    /// What was asked.
    pub query: String,
    /// How each source fared.
    pub sources: Vec<SourceReport>,
    /// What they found, best first.
    pub memories: Vec<Line>,
    /// How many were held back because they address the agent.
    pub held_back: usize,
    /// Those, for people to see; no agent should follow them.
    pub held_back_memories: Vec<Line>,
    /// How many were held back because the user marked them `never`.
    pub never: usize,
    /// Those, for people to see.
    pub never_memories: Vec<Line>,
}

/// How far the history index reaches.
#[derive(Debug, Clone, Serialize)]
pub struct IndexState {
    /// Messages indexed.
    pub messages: u64,
    /// When the newest of them was said.
    pub newest: Option<DateTime<Utc>>,
    /// Size of the index.
    pub bytes: u64,
    /// Transcripts on disk.
    pub files: usize,
    /// Those that are not indexed to their end.
    pub pending: usize,
}

impl From<&history::State> for IndexState {
    fn from(state: &history::State) -> Self {
        Self {
            messages: state.messages,
            newest: state.newest,
            bytes: state.bytes,
            files: state.files,
            pending: state.pending,
        }
    }
}

/// What a run of `pao index` did.
#[derive(Debug, Clone, Serialize)]
pub struct IndexReport {
    /// Transcripts on disk.
    pub files: usize,
    /// Those that had something new.
    pub read: usize,
    /// Bytes read.
    pub bytes: u64,
    /// Messages added.
    pub messages: u64,
    /// How long it took.
    pub ms: u64,
    /// Files that could not be read: path and reason.
    pub unreadable: Vec<(String, String)>,
    /// Where a damaged index was put.
    pub set_aside: Option<String>,
}

impl From<&history::IngestReport> for IndexReport {
    fn from(report: &history::IngestReport) -> Self {
        Self {
            files: report.files,
            read: report.read,
            bytes: report.bytes,
            messages: report.messages,
            ms: ms(report.took),
            unreadable: report.unreadable.iter().map(|(file, why)| (path(file), why.clone())).collect(),
            set_aside: report.set_aside.as_deref().map(path),
        }
    }
}

/// One configured source.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// `history`, `postgres` or `worker`.
    pub kind: &'static str,
    /// Whether it is asked.
    pub enabled: bool,
    /// It stands in no file: it is there by default.
    pub by_default: bool,
    /// Where it is, without secrets.
    pub at: String,
    /// With `check`: whether it answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable: Option<bool>,
    /// With `check`: what it said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// One setting in effect.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Setting {
    /// Its key.
    pub key: String,
    /// Its value as TOML; null where nothing is set and there is no default.
    pub value: Option<String>,
    /// It is not in the file.
    pub default: bool,
    /// What it means.
    pub says: &'static str,
}

/// One thing that was done, or would be.
#[derive(Debug, Clone, Serialize)]
pub struct Item {
    /// What it is about.
    pub what: String,
    /// What became of it.
    pub state: String,
    /// It is no longer there.
    pub gone: bool,
}

/// One part of an entrance from outside: how it stands, or what became of it.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// What it is.
    pub what: String,
    /// Where.
    pub path: String,
    /// `installed`, `needs repair`, `not installed` or `not ours`; of what was done, a phrase.
    pub state: String,
}

impl From<&crate::entrance::Found> for Part {
    fn from(found: &crate::entrance::Found) -> Self {
        let state = found.standing.name().into();
        Self { what: found.what.into(), path: path(&found.path), state }
    }
}

impl From<&crate::entrance::Done> for Part {
    fn from(done: &crate::entrance::Done) -> Self {
        Self { what: done.what.into(), path: path(&done.path), state: done.outcome.into() }
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl From<&crate::config::edit::Setting> for Setting {
    fn from(setting: &crate::config::edit::Setting) -> Self {
        Self {
            key: setting.key.clone(),
            value: setting.value.clone(),
            default: setting.default,
            says: setting.says,
        }
    }
}

/// One thing that `pao doctor` looked at.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Check {
    /// What it is.
    pub name: String,
    /// `ok`, `warning` or `failed`.
    pub state: &'static str,
    /// What was found.
    pub found: String,
    /// What to do about it; empty where nothing is to be done.
    pub cure: String,
}

impl From<&crate::doctor::Check> for Check {
    fn from(check: &crate::doctor::Check) -> Self {
        Self {
            name: check.name.clone(),
            state: check.health.name(),
            found: check.found.clone(),
            cure: check.cure.clone(),
        }
    }
}

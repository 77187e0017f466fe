//! What the app's windows ask their host and what they get: the one door between the user interface and the core.
//!
//! The TypeScript twin of this file is generated from it and checked in (`ui/src/host/door.ts`). Folders are absolute
//! paths; where a person reads one, a `shown` form with `~` stands beside it.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ts_rs::TS;

use crate::marks;

use super::{Failure, Line, SourceReport, Step};
use crate::host::Host;
use crate::{Error, Remedy};

/// Everything that is shown at a glance. Pushed whole whenever anything in it changes.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Glance {
    /// Agents that are not put aside, those that need the user first.
    pub agents: Vec<AgentRow>,
    /// Watched projects, most recently active first.
    pub projects: Vec<ProjectRow>,
    /// Folders in which projects are looked for, as they fare.
    pub roots: Vec<Root>,
    /// How often the history was brought up to date: what was read of it may be another now.
    pub indexed: u32,
    /// How the sources fared when they were last asked.
    pub sources: Vec<SourceDot>,
    /// What the tray icon says.
    pub tray: Tray,
    /// What keeps the app from doing its work, each with one next step.
    pub troubles: Vec<Trouble>,
    /// Nothing was ever set up here: show the first run.
    pub first_run: bool,
    /// Cleanups that can still be undone, newest first.
    pub undoable: Vec<Undoable>,
}

/// State of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the words of `registry::agents::State`")]
pub enum AgentState {
    NeedsYou,
    Working,
    Idle,
    Starting,
    Paused,
    Ended,
    Lost,
}

/// One agent in a list.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct AgentRow {
    /// Registry id.
    pub id: String,
    /// Name.
    pub name: String,
    /// Where it works.
    pub folder: String,
    /// That folder for people.
    pub shown: String,
    /// What it is doing.
    pub state: AgentState,
    /// Since when.
    pub since: DateTime<Utc>,
    /// What it waits for: "permission for Bash".
    pub needs: Option<String>,
    /// What exactly it asks, e.g. the command.
    pub asks: Option<String>,
    /// What it is doing or was last asked, one line.
    pub doing: String,
    /// Last sign of life.
    pub sign_at: DateTime<Utc>,
    /// 2^(−age/half-life) in 0..=1.
    pub freshness: f64,
    /// Kind of host agent, for people.
    pub host_agent: String,
    /// Terminal that runs it.
    pub terminal: Option<String>,
    /// What can be done with it now.
    pub verbs: Vec<Verb>,
    /// Texts waiting to be told.
    pub queued: u32,
}

/// What can be done with an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "verbs of the command line")]
pub enum Verb {
    Focus,
    Tell,
    Checkpoint,
    Pause,
    Resume,
    Handover,
    Rebrief,
    Forget,
}

/// One watched project.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct ProjectRow {
    /// Its folder.
    pub folder: String,
    /// That folder for people.
    pub shown: String,
    /// Base name.
    pub name: String,
    /// Branch, where it is a repository.
    pub branch: Option<String>,
    /// Changed files; `null` where that is not known (yet).
    pub changed: Option<u32>,
    /// Last activity: a session or a change.
    pub active_at: Option<DateTime<Utc>>,
    /// Last session of a host agent there.
    pub session_at: Option<DateTime<Utc>>,
    /// Live agents there.
    pub agents: u32,
}

/// How a source fared when it was last asked.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct SourceDot {
    /// Its name.
    pub name: String,
    /// `ok`, `empty`, `unavailable`, `timed-out` or `unasked`.
    #[ts(type = "'ok' | 'empty' | 'unavailable' | 'timed-out' | 'unasked'")]
    pub state: String,
    /// Why it could not answer.
    pub reason: Option<String>,
}

/// What the tray icon says, by shape and number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct Tray {
    /// Shape.
    pub shape: Shape,
    /// Number in it; 0 shows none.
    pub number: u32,
    /// For tooltip and `VoiceOver`: "Prime Agent Orchestrator — 2 working, 1 needs you".
    pub label: String,
}

/// Shape of the tray icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Outline.
    Idle,
    /// Filled, with the number of working agents.
    Working,
    /// The number of agents that need the user, knocked out of a disc.
    NeedsYou,
    /// Broken cursor and an exclamation mark.
    Error,
}

/// Something that keeps the app from doing its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct Trouble {
    /// Names its kind, e.g. `no-agent`, `no-keyring`, `config`, `registry`.
    pub kind: String,
    /// What happened.
    pub message: String,
    /// One next step.
    pub next: String,
    /// The same as something a window can do at once.
    pub action: Option<Action>,
}

impl Trouble {
    /// What an error keeps the app from.
    pub fn of(kind: &str, error: &Error) -> Self {
        Self {
            kind: kind.into(),
            message: error.message.clone(),
            next: error.clone().for_window().next,
            action: error.remedy.as_ref().and_then(Action::of),
        }
    }
}

/// Something a window can offer as a button: a verb of this door, with what it takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct Action {
    /// Text of the button.
    pub label: String,
    /// The verb.
    pub verb: String,
    /// What it takes.
    #[ts(type = "unknown")]
    pub with: Value,
}

impl Action {
    /// A button.
    pub fn new(label: &str, verb: &str, with: Value) -> Self {
        Self { label: label.into(), verb: verb.into(), with }
    }

    /// The button for a remedy. Which start is to be made in tmux, or who is to be resumed, only its caller can say.
    pub fn of(remedy: &Remedy) -> Option<Self> {
        match remedy {
            Remedy::InTmux | Remedy::Alone => None,
            Remedy::NewConfig => Some(Self::new("Begin a new file", "config_anew", Value::Null)),
            Remedy::Settings(pane) => {
                Some(Self::new("Open Settings", "open", json!({ "page": "settings", "pane": pane })))
            }
        }
    }
}

/// A cleanup that can be undone.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Undoable {
    /// Its id.
    pub id: String,
    /// When it was done.
    pub at: DateTime<Utc>,
    /// How many agents.
    pub agents: u32,
}

/// What a spawn is to be, as chosen so far. What is `null` follows the folder's last choices.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, TS)]
#[serde(default)]
pub struct Wish {
    /// What the agent is to do.
    pub text: String,
    /// The folder the user chose; it goes before one that is named in the text.
    pub folder: Option<String>,
    /// The folder that is shown as long as neither is there: a folder named in the text goes before it.
    pub otherwise: Option<String>,
    /// Name for the agent.
    pub name: Option<String>,
    /// `ask`, `accept-edits`, `plan` or `skip`.
    pub permission: Option<String>,
    /// `auto`, `session` or `files`.
    pub delivery: Option<String>,
    /// `auto` or a terminal's name.
    pub terminal: Option<String>,
    /// Kind of host agent.
    pub agent: Option<String>,
    /// Token budget.
    pub budget: Option<u32>,
    /// Sources not to ask.
    pub without_sources: Vec<String>,
    /// Start it in a git worktree of its own.
    pub worktree: bool,
    /// The briefing as the user edited it.
    pub markdown: Option<String>,
}

/// A preview of a spawn. Nothing was written.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Preview {
    /// Name the agent would have.
    pub name: String,
    /// Where it would work.
    pub folder: String,
    /// That folder for people.
    pub shown: String,
    /// The stretch of the text in which the folder was found, in UTF-16 units: from, to.
    pub found: Option<(u32, u32)>,
    /// What would be used: the wish, the folder's last choices, the configuration.
    pub settled: Settled,
    /// How each source fared.
    pub sources: Vec<SourceReport>,
    /// The lines by section, in document order.
    pub sections: Vec<Section>,
    /// Lines that are left out, best first.
    pub left_out: Vec<BriefingLine>,
    /// Lines of this folder's last spawn that are gone now.
    pub gone: Vec<BriefingLine>,
    /// When this folder was last spawned in.
    pub compared_with: Option<DateTime<Utc>>,
    /// The document.
    pub markdown: String,
    /// Its HTML, made by us: raw HTML in it is shown as text.
    pub html: String,
    /// Estimated tokens of the document.
    pub tokens: u32,
    /// Their price as input of one request in US dollars, where a price is configured.
    pub price: Option<f64>,
    /// No source had anything.
    pub self_warming: bool,
    /// Live agents already in that folder.
    pub neighbours: Vec<String>,
    /// The folder is not trusted yet: what trusting it enables.
    pub trust: Option<Vec<String>>,
    /// Time it took altogether, in milliseconds.
    pub ms: u32,
}

/// Choices in effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct Settled {
    /// `ask`, `accept-edits`, `plan` or `skip`.
    pub permission: String,
    /// `auto`, `session` or `files`.
    pub delivery: String,
    /// `auto` or a terminal's name.
    pub terminal: String,
    /// Kind of host agent.
    pub agent: String,
    /// Token budget.
    pub budget: u32,
}

/// Lines under one heading.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Its lines.
    pub lines: Vec<BriefingLine>,
}

/// One line of a preview.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct BriefingLine {
    /// The line itself.
    #[serde(flatten)]
    pub line: Line,
    /// Against this folder's last spawn: `new`, `changed` or nothing.
    #[ts(type = "'new' | 'changed' | null")]
    pub change: Option<String>,
    /// What a changed one said then.
    pub before: Option<String>,
    /// What the user decided about it.
    pub mark: Option<Mark>,
    /// When something that stands in it first came up in what the agent said or ran; only of a delivered one.
    pub used_at: Option<DateTime<Utc>>,
}

/// What the user decided about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// In every briefing it is relevant to, before others.
    Pinned,
    /// Not in this folder's briefings.
    Dropped,
    /// In no briefing.
    Never,
}

impl From<marks::Mark> for Mark {
    fn from(mark: marks::Mark) -> Self {
        match mark {
            marks::Mark::Pin => Self::Pinned,
            marks::Mark::Drop => Self::Dropped,
            marks::Mark::Never => Self::Never,
        }
    }
}

impl From<Mark> for marks::Mark {
    fn from(mark: Mark) -> Self {
        match mark {
            Mark::Pinned => Self::Pin,
            Mark::Dropped => Self::Drop,
            Mark::Never => Self::Never,
        }
    }
}

/// One decision about a memory, for the list in the settings.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Marked {
    /// Where it comes from.
    pub source: String,
    /// Identity within the source.
    pub id: String,
    /// What was decided.
    pub mark: Mark,
    /// The project it holds for; `null` for all.
    pub project: Option<String>,
    /// That project for people.
    pub shown: Option<String>,
    /// What it says.
    pub text: String,
    /// When it was decided.
    pub at: DateTime<Utc>,
}

impl Marked {
    /// One row of the registry.
    pub fn of(marked: &marks::Marked, host: &Host) -> Self {
        let project = marked.scope.project();
        Self {
            source: marked.memory.source.clone(),
            id: marked.memory.id.clone(),
            mark: marked.mark.into(),
            project: project.map(Into::into),
            shown: project.map(|project| host.display(Path::new(project))),
            text: marked.memory.text.clone(),
            at: marked.at,
        }
    }
}

/// A start under way, of a new agent or of one that comes back. Pushed whenever it changes.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// `spawn` or `resume`.
    #[ts(type = "'spawn' | 'resume'")]
    pub verb: String,
    /// Name of the agent.
    pub name: String,
    /// Where, for people.
    pub shown: String,
    /// When it began.
    pub began_at: DateTime<Utc>,
    /// All steps in order, seven of a spawn and the last four of a return; one not begun has the state `pending`, one
    /// under way `running`.
    pub steps: Vec<JobStep>,
    /// A question that waits for the user.
    pub question: Option<Question>,
    /// How it ended.
    pub end: Option<JobEnd>,
}

/// One step of a job.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct JobStep {
    /// The step.
    #[serde(flatten)]
    pub step: Step,
    /// When it began, for the one under way.
    pub began_at: Option<DateTime<Utc>>,
    /// What it usually takes here, in milliseconds, where that is known.
    pub usual_ms: Option<u32>,
}

/// A question the user is asked before anything is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct Question {
    /// `trust` or `skip-permissions`.
    #[ts(type = "'trust' | 'skip-permissions'")]
    pub kind: String,
    /// The folder, for people.
    pub shown: String,
    /// What a yes enables, or what is needed for it.
    pub details: Vec<String>,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum JobEnd {
    /// All went well.
    Done {
        /// Registry id of the agent.
        agent: String,
        /// The prompt was seen to arrive.
        confirmed: bool,
        /// What waits for the user.
        needs: Option<String>,
        /// A command that shows it, where no window is open.
        attach: Option<String>,
        /// What the user should know.
        notes: Vec<String>,
    },
    /// It failed; what was done is in the failure.
    Failed {
        /// What happened, what was already done, one next step.
        failure: Failure,
        /// The very same may go well another time.
        retry: bool,
    },
    /// The user cancelled it; everything was taken back.
    Cancelled,
}

/// An agent in full.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct AgentPage {
    /// As in the list.
    pub row: AgentRow,
    /// Branch and changed files of its folder.
    pub branch: Option<String>,
    /// Changed files.
    pub changed: Option<u32>,
    /// `ask`, `accept-edits`, `plan` or `skip`.
    pub permission: String,
    /// `session` or `files`.
    pub delivery: String,
    /// From whom it came, for people; none where it started from nothing.
    pub origin: Option<String>,
    /// What it was asked.
    pub prompt: Option<String>,
    /// Conversation ids, newest first.
    pub sessions: Vec<String>,
    /// A command that shows its window.
    pub attach: Option<String>,
    /// What it did over time, oldest first.
    pub turns: Vec<Turn>,
    /// The lines of the briefing as delivered.
    pub briefing: Vec<BriefingLine>,
    /// Estimated tokens of the document as delivered.
    pub briefing_tokens: u32,
    /// It had a briefing, which is not kept any more.
    pub briefing_gone: bool,
    /// The document as delivered, as HTML made by us.
    pub briefing_html: String,
    /// Checkpoints, newest first.
    pub checkpoints: Vec<Checkpoint>,
    /// Texts for it, newest first.
    pub messages: Vec<Message>,
    /// What was written for it, for people.
    pub written: Vec<String>,
}

/// One state and since when.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Turn {
    /// Since when.
    pub at: DateTime<Utc>,
    /// The state.
    pub state: AgentState,
    /// What it waited for.
    pub needs: Option<String>,
    /// The evidence.
    pub by: Option<String>,
}

/// A checkpoint in a list.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Checkpoint {
    /// Its id.
    pub id: String,
    /// When it was made.
    pub at: DateTime<Utc>,
    /// The user's words, else a summary.
    pub title: String,
}

/// A text for an agent.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Message {
    /// Its id.
    pub id: i64,
    /// When it was accepted.
    pub at: DateTime<Utc>,
    /// What it says.
    pub text: String,
    /// `queued`, `sent`, `confirmed`, `unknown` or `withdrawn`.
    pub fate: String,
    /// Why.
    pub note: Option<String>,
}

/// What a cleanup would do.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct CleanPlan {
    /// One entry per agent or leftover.
    pub entries: Vec<CleanEntry>,
    /// For how many days it can be undone.
    pub undo_days: u32,
}

/// One agent or leftover to be cleaned up.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct CleanEntry {
    /// Its id in this plan.
    pub id: String,
    /// Name of the agent, or what it is.
    pub title: String,
    /// "Lost 2 d ago".
    pub when: String,
    /// The evidence that it is gone.
    pub evidence: String,
    /// Each thing that would be removed, for people.
    pub items: Vec<String>,
    /// Their size in bytes.
    pub bytes: u32,
    /// Why it is not selected by itself.
    pub left_out: Option<String>,
    /// What selecting it means, where that takes a yes of its own.
    pub means: Option<String>,
    /// It cannot be selected.
    pub held: bool,
}

/// What a cleanup did.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct CleanDone {
    /// With which it can be undone.
    pub id: String,
    /// What was removed, or kept and why.
    pub items: Vec<Outcome>,
}

/// One thing and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct Outcome {
    /// What it is about.
    pub what: String,
    /// What became of it.
    pub outcome: String,
    /// It went as wanted.
    pub well: bool,
    /// What can be done about it at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub action: Option<Action>,
}

impl Outcome {
    /// An outcome that asks for nothing more.
    pub fn new(what: impl Into<String>, outcome: impl Into<String>, well: bool) -> Self {
        Self { what: what.into(), outcome: outcome.into(), well, action: None }
    }
}

/// All that the settings window shows.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Settings {
    /// Every key of the configuration with its value.
    pub values: Vec<super::Setting>,
    /// The sources.
    pub sources: Vec<SourceSettings>,
    /// Watched folders.
    pub roots: Vec<Root>,
    /// Terminals of this system.
    pub terminals: Vec<TerminalChoice>,
    /// Host agents that are known.
    pub agents: Vec<AgentChoice>,
    /// Folders whose agents may skip all permissions, or that are trusted by the user's word.
    pub folders: Vec<FolderConsent>,
    /// The hotkey.
    pub hotkey: Hotkey,
    /// The login item.
    pub login_item: Switch,
    /// Notifications.
    pub notifications: Switch,
    /// The Finder entry, or what the Linux file managers have for it.
    pub file_manager: Switch,
    /// The command-line tool on the PATH.
    pub command_line: Switch,
    /// Decisions about memories.
    pub marks: Vec<Marked>,
    /// What PAO has written where.
    pub written: Vec<Outcome>,
    /// Where the configuration is.
    pub config_path: String,
    /// What keeps secrets here: "Keychain", "Secret Service", "a file only you can read".
    pub secret_store: String,
    /// How that stands: locked, denied, none there, asks after each update, plain files.
    pub secret_note: Option<String>,
}

/// One source in the settings.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct SourceSettings {
    /// As in the list of sources.
    #[serde(flatten)]
    pub source: super::Source,
    /// Whether a secret is kept for it; `null` where that is only known by asking the store, which may prompt.
    pub has_secret: Option<bool>,
    /// Milliseconds it may take.
    pub deadline_ms: u32,
}

/// A watched folder.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Root {
    /// The folder.
    pub folder: String,
    /// That folder for people.
    pub shown: String,
    /// Projects found in it.
    pub projects: u32,
    /// Names of a few of them.
    pub examples: Vec<String>,
    /// Last activity in it.
    pub active_at: Option<DateTime<Utc>>,
    /// It is watched.
    pub watched: bool,
    /// What keeps it from being watched live: "unmounted", "too large: looked at every minute".
    pub note: Option<String>,
}

/// A terminal that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct TerminalChoice {
    /// Name in the configuration.
    pub name: String,
    /// Name for people.
    pub display: String,
    /// It is on this machine.
    pub installed: bool,
    /// What it needs or cannot do.
    pub note: Option<String>,
}

/// A host agent that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct AgentChoice {
    /// Kind in the configuration.
    pub kind: String,
    /// Name for people.
    pub display: String,
    /// Where it is and which version; `null` where it was not found.
    pub found: Option<String>,
}

/// What the user agreed to for a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct FolderConsent {
    /// The folder.
    pub folder: String,
    /// That folder for people.
    pub shown: String,
    /// It may be trusted.
    pub trust: bool,
    /// Agents there may skip all permissions.
    pub skip: bool,
    /// Permission profile of the last spawn.
    pub permission: Option<String>,
}

/// The hotkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct Hotkey {
    /// As configured, e.g. `Ctrl+Alt+Cmd+P`; `null` when off.
    pub keys: Option<String>,
    /// It is registered with the system.
    pub active: bool,
    /// Why it is not.
    pub note: Option<String>,
}

/// Something that is on or off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct Switch {
    /// It is on.
    pub on: bool,
    /// It can be switched here.
    pub possible: bool,
    /// What there is to say about it.
    pub note: Option<String>,
}

/// What the first run found.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct FirstRun {
    /// The checks: agent, terminal, transcripts, hotkey.
    pub checks: Vec<super::Check>,
    /// Folders that could be watched.
    pub roots: Vec<Root>,
    /// Two lines that an agent would know, and of which project.
    pub sample: Vec<BriefingLine>,
    /// Name of that project.
    pub sample_project: Option<String>,
    /// How many lines it would get.
    pub sample_lines: u32,
    /// The hotkey that is proposed, as it would be configured.
    pub hotkey: String,
}

//! What one room hands to the next. Plain data: rooms never import one another, they meet here.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::marks::Mark;
use crate::project::Project;
use crate::source::{Snippet, SourceError};

/// What the user asked for, resolved and validated. Made by *topic*.
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
    /// What the agent is asked to do, in the user's words; `None` when nothing was asked.
    pub prompt: Option<String>,
    /// What the sources are asked: the prompt, or what the folder itself suggests.
    pub query: String,
    /// Where the agent works: an existing folder's realpath.
    pub folder: PathBuf,
    /// The project this folder belongs to.
    pub project: Project,
    /// Name of the agent, unique among live agents.
    pub name: String,
}

/// How one source fared.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceState {
    /// It answered with this many snippets.
    Ok(usize),
    /// It answered that it has nothing.
    Empty,
    /// It could not be asked.
    Unavailable(SourceError),
    /// It did not answer within its deadline.
    TimedOut(Duration),
}

/// How one source fared, and how long it took.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceReport {
    /// Name from the configuration.
    pub name: String,
    /// Outcome.
    pub state: SourceState,
    /// Wall-clock time.
    pub took: Duration,
    /// What limits the answer, where something does.
    pub note: Option<String>,
}

/// Everything the sources said. Made by *gather*.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gathered {
    /// One report per enabled source, in configuration order.
    pub reports: Vec<SourceReport>,
    /// All snippets, grouped by source in configuration order, best first within a source.
    pub snippets: Vec<Snippet>,
}

/// How many sources could not be asked, so that their silence means nothing.
pub fn silent(reports: &[SourceReport]) -> usize {
    let silent =
        |r: &&SourceReport| matches!(r.state, SourceState::Unavailable(_) | SourceState::TimedOut(_));
    reports.iter().filter(silent).count()
}

/// Why a snippet is not in the briefing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// Below the relevance floor.
    Irrelevant,
    /// Says what another line already says.
    Duplicate,
    /// A newer statement replaced it.
    Superseded,
    /// The token budget was spent.
    OverBudget,
    /// It addresses the agent: orders, role tags, tool calls. Shown to the user, never delivered.
    Quarantined,
    /// The user dropped it, and no spawn has been made without it since.
    Dropped,
    /// The user wants it never said.
    Never,
}

/// A memory by where it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cited {
    /// Name of its source.
    pub source: String,
    /// Identity within the source.
    pub id: String,
}

/// One memory considered for the briefing.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Where it came from.
    pub source: String,
    /// Identity within the source.
    pub id: String,
    /// When it was said or recorded.
    pub at: Option<DateTime<Utc>>,
    /// The text as delivered: one line, redacted and neutralised, without the citation.
    pub text: String,
    /// Fused relevance in 0..=1.
    pub score: f32,
    /// Estimated tokens of the rendered line.
    pub tokens: usize,
    /// `None` when the line is in the briefing.
    pub left_out: Option<LeftOut>,
    /// Date of the newer statement that superseded it, or of the older one it supersedes.
    pub supersedes: Option<DateTime<Utc>>,
    /// The memory that says the same, or that superseded it.
    pub because: Option<Cited>,
    /// What the user decided about it.
    pub mark: Option<Mark>,
    /// Fingerprint of all that the memory says, of which `text` may be a part; empty when it says nothing.
    pub content: String,
}

/// The ranked, budgeted, cited document. Made by *briefing*.
#[derive(Debug, Clone, PartialEq)]
pub struct Briefing {
    /// The document, Markdown, LF, ending in one newline.
    pub markdown: String,
    /// SHA-256 of `markdown`, lower-case hex.
    pub hash: String,
    /// Estimated tokens of `markdown`.
    pub tokens: usize,
    /// All lines considered: delivered ones first in document order, then those left out, best first.
    pub lines: Vec<Line>,
    /// No source had anything: the document only tells the agent how to ask for itself.
    pub self_warming: bool,
    /// The document is as the user wrote it, no longer as it was composed.
    pub edited: bool,
}

/// How the briefing reaches the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// By our hook of this session; nothing is written into the project.
    Session,
    /// By files in the project that the agent reads by itself.
    Files,
}

/// What the agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// The agent asks before each risky step.
    Ask,
    /// Edits are accepted, commands are asked.
    AcceptEdits,
    /// The agent only plans.
    Plan,
    /// Nothing is asked. Only by explicit consent per folder.
    Skip,
}

/// Which conversation an agent is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversation {
    /// A new one, of that id where one is given.
    New(Option<String>),
    /// That one, taken up again.
    Resume(String),
    /// A new one that begins as a copy of that one.
    Fork(String),
}

/// A dialog the user has agreed to in advance, so that *ready* may confirm it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agreed {
    /// Trust of this very folder.
    Trust,
    /// The warning that comes with [`Permission::Skip`].
    SkipPermissions,
}

/// Where and how the agent was started. Made by *launch*.
#[derive(Debug, Clone, PartialEq)]
pub struct Launched {
    /// Registry id of the agent.
    pub agent: String,
    /// The host agent's conversation id, where we chose it; else it is only learnt when the conversation begins.
    pub session: Option<String>,
    /// Name of the terminal that runs it.
    pub terminal: String,
    /// What that terminal needs to find it again, as the terminal wrote it.
    pub handle: String,
    /// A command with which a person reaches it, where there is one.
    pub attach: Option<String>,
    /// Its window is on the screen.
    pub shown: bool,
    /// When it was started.
    pub at: DateTime<Utc>,
    /// The prompt was given as an argument, so nothing has to be typed.
    pub prompt_in_arguments: bool,
    /// Dialogs the user agreed to.
    pub agreed: BTreeSet<Agreed>,
}

/// What is known about the prompt's arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Receipt {
    /// Handed over; nothing has proved arrival yet.
    Sent,
    /// Its effect was seen.
    Confirmed,
    /// Handed over, and it cannot be known whether it arrived. Never sent again by itself.
    Unknown,
}

/// How the start ended. Made by *ready*.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// The agent's conversation id as seen, where seen.
    pub session: Option<String>,
    /// Whether the prompt (or, without one, the prompt line) was seen to have its effect.
    pub receipt: Receipt,
    /// The briefing was handed to the agent.
    pub briefed: bool,
    /// What waits for the user: the text of a dialog we may not answer, or an error on the screen.
    pub needs: Option<String>,
    /// What proved it: "`UserPromptSubmit` hook", "session file says busy", "screen".
    pub evidence: String,
}

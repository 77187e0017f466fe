//! What a face asks the corridor for, what it is asked back, and what it gets.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::price;
use crate::registry::agents::Origin;

use super::briefing::changes::Changes;
use super::passed::{Briefing, Gathered, Permission, Ready, Topic, Way};

/// What the user asked for. Everything optional falls back to the folder's last choices, then the configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The folder named explicitly (`-C`).
    pub folder: Option<PathBuf>,
    /// The topic in the user's words; empty when nothing was asked.
    pub text: String,
    /// Name for the agent.
    pub name: Option<String>,
    /// Kind of host agent.
    pub agent: Option<String>,
    /// `auto`, or a terminal's name.
    pub terminal: Option<String>,
    /// What the agent may do without asking.
    pub permission: Option<Permission>,
    /// How the briefing is delivered.
    pub delivery: Option<Delivery>,
    /// Token budget of the briefing.
    pub budget: Option<usize>,
    /// Ask only these sources; empty for all enabled ones.
    pub only_sources: Vec<String>,
    /// Do not ask these sources.
    pub without_sources: Vec<String>,
    /// The briefing as the user has edited it already: delivered in place of the one that is composed.
    pub briefing: Option<String>,
    /// Open the briefing for editing before anything is delivered.
    pub edit: bool,
    /// Leave the folder's last choices aside, and forget them.
    pub afresh: bool,
    /// What it starts from, where it does not start from nothing.
    pub fork: Option<Fork>,
    /// Give it a git worktree of its own, on that branch, or on a new one where that is empty.
    pub worktree: Option<String>,
}

/// What a new agent starts from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fork {
    /// Whose work that was.
    pub origin: Origin,
    /// The conversation that its own begins as a copy of.
    pub conversation: Option<String>,
    /// What stands before its briefing.
    pub opening: String,
}

/// What is to be done where others work in the folder too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crowded {
    /// The new agent works there as well.
    Stay,
    /// It gets a worktree of its own.
    Worktree,
    /// It is not started.
    Cancel,
}

/// A choice of how the briefing is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// By the session way where the host agent has session hooks, else by files.
    Auto,
    /// By this way.
    By(Way),
}

impl Delivery {
    /// Name in options, configuration and rows.
    pub fn name(self) -> &'static str {
        match self {
            Delivery::Auto => "auto",
            Delivery::By(way) => way.name(),
        }
    }

    /// The choice of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "auto" { Some(Delivery::Auto) } else { Way::from_name(name).map(Delivery::By) }
    }

    /// The way, where one is chosen.
    pub fn way(self) -> Option<Way> {
        match self {
            Delivery::Auto => None,
            Delivery::By(way) => Some(way),
        }
    }
}

/// The seven rooms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Folder, name and question are found and validated.
    Topic,
    /// The sources are asked.
    Gather,
    /// The document is composed.
    Briefing,
    /// The document is put where the agent will get it.
    Deliver,
    /// The folder is marked as trusted.
    Trust,
    /// The terminal is opened.
    Launch,
    /// The agent is seen to have its prompt.
    Ready,
}

impl Step {
    /// All, in order.
    pub const ALL: [Step; 7] =
        [Step::Topic, Step::Gather, Step::Briefing, Step::Deliver, Step::Trust, Step::Launch, Step::Ready];

    /// Those of an agent that comes back, which has its topic and its briefing.
    pub const OF_RETURN: [Step; 4] = [Step::Deliver, Step::Trust, Step::Launch, Step::Ready];

    /// Name shown and used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Step::Topic => "topic",
            Step::Gather => "gather",
            Step::Briefing => "briefing",
            Step::Deliver => "deliver",
            Step::Trust => "trust",
            Step::Launch => "launch",
            Step::Ready => "ready",
        }
    }
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepState {
    /// It began.
    Started,
    /// It ended well.
    Done,
    /// It had nothing to do.
    Skipped,
    /// It ended badly.
    Failed,
}

impl StepState {
    /// Name shown and used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            StepState::Started => "started",
            StepState::Done => "done",
            StepState::Skipped => "skipped",
            StepState::Failed => "failed",
        }
    }
}

/// One report of progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Which room.
    pub step: Step,
    /// How far it is.
    pub state: StepState,
    /// Time since it began, without the time the user took to answer a question.
    pub took: Duration,
    /// What there is to say about it, a short phrase: "3 sources, 14 memories".
    pub note: String,
}

/// What the user is asked to agree to, once per folder and host agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Consent {
    /// Mark this folder as trusted for the host agent; `enables` says what starts to work there by that, one
    /// phrase each.
    Trust {
        /// The host agent, as people call it.
        agent: &'static str,
        /// The folder.
        folder: PathBuf,
        /// Hooks, servers and settings found in it.
        enables: Vec<String>,
    },
    /// Run there without asking for anything; `needs` names the user-wide setting the host agent wants for it.
    SkipPermissions {
        /// The host agent, as people call it.
        agent: &'static str,
        /// The folder.
        folder: PathBuf,
        /// What the host agent wants besides.
        needs: String,
    },
}

/// What the corridor needs of whoever called it.
pub trait Face: Send + Sync {
    /// Shows progress.
    fn progress(&self, progress: &Progress);

    /// Learns for whom and where this is.
    fn resolved(&self, topic: &Topic) {
        let _ = topic;
    }

    /// Shows the briefing that is about to be delivered; nothing has been written yet.
    fn composed(&self, briefing: &Briefing, gathered: &Gathered);

    /// Asks for a consent. `Ok(false)` is a no; an error says that nobody can be asked here.
    fn agree(&self, consent: &Consent) -> Result<bool, crate::Error>;

    /// Others work in that folder too: what is to be done? `repository` says whether a worktree can be offered.
    fn crowded(&self, folder: &Path, others: &[String], repository: bool) -> Result<Crowded, crate::Error> {
        let _ = (folder, others, repository);
        Ok(Crowded::Stay)
    }

    /// Lets the user edit the briefing before it is delivered. `None` gives the spawn up.
    fn edit(&self, markdown: &str) -> Result<Option<String>, crate::Error>;
}

/// Everything up to the briefing; nothing has been written.
#[derive(Debug, Clone, PartialEq)]
pub struct Brief {
    /// What was asked.
    pub topic: Topic,
    /// What the sources said.
    pub gathered: Gathered,
    /// The document.
    pub briefing: Briefing,
    /// What is another since this folder's last spawn; `None` where there was none.
    pub changes: Option<Changes>,
    /// US dollars per million input tokens, where that is known.
    pub input_price: Option<f64>,
    /// Time per step.
    pub steps: Vec<Progress>,
}

impl Brief {
    /// What the document costs as input of one request, in US dollars; `None` where no price is known.
    pub fn price(&self) -> Option<f64> {
        Some(price::of(self.briefing.tokens, self.input_price?))
    }
}

/// What `--dry-run` shows beside the briefing: every write that a spawn would make, in words.
#[derive(Debug, Clone, PartialEq)]
pub struct DryRun {
    /// Everything up to the briefing.
    pub brief: Brief,
    /// What would be written, asked and started, one phrase each, in order.
    pub would: Vec<String>,
}

/// A finished spawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Spawned {
    /// Registry id.
    pub agent: String,
    /// Name.
    pub name: String,
    /// Where it works.
    pub folder: PathBuf,
    /// The host agent's conversation id, where it is known already.
    pub session: Option<String>,
    /// Terminal that runs it.
    pub terminal: String,
    /// A command with which a person reaches it, where there is one.
    pub attach: Option<String>,
    /// Its window is on the screen.
    pub shown: bool,
    /// How the briefing was delivered.
    pub way: Way,
    /// What it may do without asking.
    pub permission: Permission,
    /// The document.
    pub briefing: Briefing,
    /// What the sources said.
    pub gathered: Gathered,
    /// It was given a prompt.
    pub prompted: bool,
    /// How the start ended.
    pub ready: Ready,
    /// What the user should know although all went well.
    pub notes: Vec<String>,
    /// Time per step.
    pub steps: Vec<Progress>,
}

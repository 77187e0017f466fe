//! Mirrors of what is known and done while agents run.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::life::{rebrief, tell};
use crate::registry::agents;

/// One text for one agent.
#[derive(Debug, Clone, Serialize)]
pub struct Told {
    /// Registry id of the agent.
    pub id: String,
    /// Its name.
    pub agent: String,
    /// Number of the text.
    pub message: i64,
    /// When it was accepted.
    pub at: DateTime<Utc>,
    /// The text.
    pub text: String,
    /// `queued`, `sent`, `confirmed`, `unknown` or `withdrawn`.
    pub state: &'static str,
    /// Why, or what to expect.
    pub note: Option<String>,
}

impl From<&tell::Told> for Told {
    fn from(told: &tell::Told) -> Self {
        Self {
            id: told.agent.clone(),
            agent: told.name.clone(),
            message: told.id,
            at: told.at,
            text: told.text.clone(),
            state: told.fate.name(),
            note: told.note.clone(),
        }
    }
}

/// How waiting for an agent ended.
#[derive(Debug, Clone, Serialize)]
pub struct Waited {
    /// `reached`, `needs-you`, `timed-out` or `gone`.
    pub result: &'static str,
    /// The state it was last seen in.
    pub state: &'static str,
    /// The agent as it was last seen.
    pub agent: super::Agent,
}

/// What a rebriefing came to.
#[derive(Debug, Clone, Serialize)]
pub struct Rebriefed {
    /// Registry id of the agent.
    pub id: String,
    /// Its name.
    pub agent: String,
    /// `nothing-new`, `next-prompt` or `file`.
    pub delivery: &'static str,
    /// The news.
    pub lines: Vec<super::Line>,
    /// How each store fared.
    pub sources: Vec<super::SourceReport>,
}

impl rebrief::Delivery {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            rebrief::Delivery::Nothing => "nothing-new",
            rebrief::Delivery::NextPrompt => "next-prompt",
            rebrief::Delivery::File => "file",
        }
    }
}

impl From<&rebrief::Rebriefed> for Rebriefed {
    fn from(done: &rebrief::Rebriefed) -> Self {
        Self {
            id: done.agent.clone(),
            agent: done.name.clone(),
            delivery: done.delivery.name(),
            lines: done.lines.iter().map(Into::into).collect(),
            sources: done.reports.iter().map(Into::into).collect(),
        }
    }
}

/// A hand-over to an agent that runs.
#[derive(Debug, Clone, Serialize)]
pub struct HandedOver {
    /// Who handed over.
    pub from: String,
    /// To whom.
    pub to: String,
    /// `next-prompt` or `file`.
    pub delivery: &'static str,
    /// The prompt it was given besides, where there was one.
    pub told: Option<Told>,
}

/// The agent another one started from.
#[derive(Debug, Clone, Serialize)]
pub struct Origin {
    /// `fork` or `handover`.
    pub by: &'static str,
    /// Its registry id.
    pub agent: String,
    /// Its name at that time.
    pub name: String,
    /// The checkpoint that was started from.
    pub checkpoint: Option<String>,
}

impl From<&agents::Origin> for Origin {
    fn from(origin: &agents::Origin) -> Self {
        Self {
            by: origin.way(),
            agent: origin.agent.clone(),
            name: origin.name.clone(),
            checkpoint: origin.checkpoint.clone(),
        }
    }
}

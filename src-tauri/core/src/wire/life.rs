//! Mirrors of what is known and done while agents run.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::life::tell;

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
    /// `reached`, `timed-out` or `gone`.
    pub result: &'static str,
    /// The agent as it was last seen.
    pub agent: super::Agent,
}

//! Mirrors of what the user decided about single memories.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::marks;

/// One mark.
#[derive(Debug, Clone, Serialize)]
pub struct Marked {
    /// Source of the memory.
    pub source: String,
    /// Its identity within the source.
    pub id: String,
    /// `pin`, `drop` or `never`.
    pub mark: &'static str,
    /// How often it was dropped; 1 for other marks.
    pub times: u32,
    /// Dropped, and no spawn has been made without it since.
    pub pending: bool,
    /// The project it holds for; null for all.
    pub project: Option<String>,
    /// What the memory says, as it was then.
    pub text: String,
    /// When it was decided.
    pub at: DateTime<Utc>,
}

impl From<&marks::Marked> for Marked {
    fn from(marked: &marks::Marked) -> Self {
        Self {
            source: marked.memory.source.clone(),
            id: marked.memory.id.clone(),
            mark: marked.mark.name(),
            times: marked.times,
            pending: marked.pending,
            project: marked.scope.project().map(Into::into),
            text: marked.memory.text.clone(),
            at: marked.at,
        }
    }
}

//! Mirrors of what the user decided about single memories, and of what is another in a briefing since the last one.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Cited;
use crate::marks;
use crate::spawn::briefing::changes::{self, Change, Why};
use crate::spawn::passed;

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

/// What is another since a folder's last spawn.
#[derive(Debug, Clone, Serialize)]
pub struct Changes {
    /// When that briefing was composed.
    pub since: DateTime<Utc>,
    /// Registry id of the agent that got it.
    pub agent: String,
    /// The user had edited it.
    pub edited: bool,
    /// Lines that were not in it.
    pub new: Vec<ChangedLine>,
    /// Lines that say something else.
    pub changed: Vec<ChangedLine>,
    /// Lines of it that are gone.
    pub gone: Vec<ChangedLine>,
}

/// A line that is new, changed or gone.
#[derive(Debug, Clone, Serialize)]
pub struct ChangedLine {
    /// Its source.
    pub source: String,
    /// Identity within the source.
    pub id: String,
    /// When it was said or recorded.
    pub at: Option<DateTime<Utc>>,
    /// What it says; of one that is gone, what it said.
    pub text: String,
    /// What a changed one said before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Why one is gone: a reason of a line that is left out, or `not-found`, `no-answer`, `not-asked`, `edited`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
    /// The memory that says the same, or that superseded it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<Cited>,
}

/// Name of the reason why a line is gone.
pub fn why(why: &Why) -> &'static str {
    match why {
        Why::LeftOut(reason, _) => super::left_out(*reason),
        Why::NotFound => "not-found",
        Why::NoAnswer => "no-answer",
        Why::NotAsked => "not-asked",
        Why::Edited => "edited",
    }
}

impl Changes {
    /// Of a briefing with these lines.
    pub fn new(changes: &changes::Changes, lines: &[passed::Line]) -> Self {
        let of = |wanted: &dyn Fn(&Change) -> Option<Option<String>>| -> Vec<ChangedLine> {
            let one = |line: &passed::Line| {
                let before = wanted(changes.of(&line.source, &line.id)?)?;
                Some(ChangedLine {
                    source: line.source.clone(),
                    id: line.id.clone(),
                    at: line.at,
                    text: line.text.clone(),
                    before,
                    why: None,
                    because: None,
                })
            };
            lines.iter().filter(|line| line.left_out.is_none()).filter_map(one).collect()
        };
        let gone = changes.gone.iter().map(|gone| ChangedLine {
            source: gone.line.source.clone(),
            id: gone.line.id.clone(),
            at: gone.line.at,
            text: gone.line.text.clone(),
            before: None,
            why: Some(why(&gone.why)),
            because: match &gone.why {
                Why::LeftOut(_, Some(by)) => Some(Cited { source: by.source.clone(), id: by.id.clone() }),
                _ => None,
            },
        });
        Self {
            since: changes.since,
            agent: changes.agent.clone(),
            edited: changes.edited,
            new: of(&|change| (*change == Change::New).then_some(None)),
            changed: of(&|change| match change {
                Change::Changed { before } => Some(Some(before.clone())),
                Change::New => None,
            }),
            gone: gone.collect(),
        }
    }
}

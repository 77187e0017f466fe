//! Cleanups as JSON: what could go, what went, what came back.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::life::clean;

/// What could be cleaned up.
#[derive(Debug, Clone, Serialize)]
pub struct CleanPlan {
    /// When it was looked at.
    pub at: DateTime<Utc>,
    /// What belongs together.
    pub groups: Vec<CleanGroup>,
}

/// What belongs together: cleaned up and put back as one.
#[derive(Debug, Clone, Serialize)]
pub struct CleanGroup {
    /// Names it, from one plan to the next.
    pub key: String,
    /// Name for people.
    pub title: String,
    /// A state of an agent, or a phrase.
    pub state: String,
    /// Since when.
    pub since: Option<DateTime<Utc>>,
    /// The evidence, a phrase each.
    pub why: Vec<String>,
    /// What would go.
    pub items: Vec<CleanItem>,
    /// Bytes of all of it.
    pub bytes: u64,
    /// What it takes beside the general yes: `nothing`, `paused`, `running` or `final`.
    pub asks: &'static str,
    /// Why it is left out; `null` where it is not.
    pub left_out: Option<String>,
}

/// One thing that would go.
#[derive(Debug, Clone, Serialize)]
pub struct CleanItem {
    /// What it is.
    pub what: String,
    /// Where it is.
    pub path: Option<PathBuf>,
    /// The files in it, where it is a folder of ours.
    pub holds: Vec<PathBuf>,
    /// Its size.
    pub bytes: u64,
}

/// One cleanup, as made or as undone.
#[derive(Debug, Clone, Serialize)]
pub struct Cleanup {
    /// Its id; `null` where nothing was taken away that could be put back.
    pub id: Option<String>,
    /// When it was made.
    pub at: DateTime<Utc>,
    /// Nobody asked for it but the configuration.
    pub automatic: bool,
    /// When it was undone.
    pub undone_at: Option<DateTime<Utc>>,
    /// Until when it is kept at least.
    pub kept_until: DateTime<Utc>,
    /// What belongs together.
    pub groups: Vec<CleanedGroup>,
}

/// One group of a cleanup.
#[derive(Debug, Clone, Serialize)]
pub struct CleanedGroup {
    /// Names it as in the plan.
    pub key: String,
    /// Name for people.
    pub title: String,
    /// Why it was left alone after all; `null` where it was not.
    pub left_alone: Option<String>,
    /// What was planned to go.
    pub items: Vec<CleanedItem>,
}

/// One item of a cleanup.
#[derive(Debug, Clone, Serialize)]
pub struct CleanedItem {
    /// What it is.
    pub what: String,
    /// Where it was.
    pub path: Option<PathBuf>,
    /// Its size.
    pub bytes: u64,
    /// `planned`, `removed`, `gone` (before), `kept`, `restored` or `refused`.
    pub state: &'static str,
    /// What there is to say about it.
    pub note: String,
}

impl From<&clean::Plan> for CleanPlan {
    fn from(plan: &clean::Plan) -> Self {
        Self { at: plan.at, groups: plan.groups.iter().map(Into::into).collect() }
    }
}

impl From<&clean::Group> for CleanGroup {
    fn from(group: &clean::Group) -> Self {
        let item = |item: &clean::Item| CleanItem {
            what: item.what.clone(),
            path: item.path.clone(),
            holds: item.holds.clone(),
            bytes: item.bytes,
        };
        Self {
            key: group.key.clone(),
            title: group.title.clone(),
            state: group.state.clone(),
            since: group.since,
            why: group.why.clone(),
            items: group.items.iter().map(item).collect(),
            bytes: group.bytes(),
            asks: group.asks.name(),
            left_out: group.held.clone(),
        }
    }
}

impl From<&clean::Record> for Cleanup {
    fn from(record: &clean::Record) -> Self {
        let group = |part: &clean::Part| CleanedGroup {
            key: part.group.key.clone(),
            title: part.group.title.clone(),
            left_alone: part.left.clone(),
            items: part
                .group
                .items
                .iter()
                .zip(&part.pieces)
                .map(|(item, piece)| CleanedItem {
                    what: item.what.clone(),
                    path: item.path.clone(),
                    bytes: item.bytes,
                    state: piece.stage.name(),
                    note: piece.note.clone(),
                })
                .collect(),
        };
        Self {
            id: Some(record.id.clone()),
            at: record.at,
            automatic: record.automatic,
            undone_at: record.undone_at,
            kept_until: record.at + clean::KEPT,
            groups: record.parts.iter().map(group).collect(),
        }
    }
}

impl From<&clean::Done> for Cleanup {
    fn from(done: &clean::Done) -> Self {
        let cleanup = Self::from(&done.record);
        Self { id: cleanup.id.filter(|_| done.undoable), ..cleanup }
    }
}

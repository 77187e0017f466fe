//! What is said of agents' lives as JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use super::{Agent, path};
use crate::host::Host;
use crate::life::{account, freshness, logs};
use crate::registry::agents;

/// An agent in a list.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// Its row.
    #[serde(flatten)]
    pub agent: Agent,
    /// Its freshness in 0..=1.
    pub freshness: f64,
    /// Why, in words.
    pub reason: String,
}

impl Listed {
    /// The agent as it is at that moment.
    pub fn new(agent: &agents::Agent, now: DateTime<Utc>, half_life: TimeDelta) -> Self {
        Self {
            agent: agent.into(),
            freshness: (freshness::of(agent, now, half_life) * 1000.0).round() / 1000.0,
            reason: freshness::words(agent, now),
        }
    }
}

/// A change of one agent, with `--watch`.
#[derive(Debug, Clone, Serialize)]
pub struct Changed {
    /// When it was seen.
    pub at: DateTime<Utc>,
    /// The agent as it is now; of one that was removed, as it was last.
    pub agent: Listed,
    /// It is not in the list any more.
    pub gone: bool,
}

/// The briefing an agent was given.
#[derive(Debug, Clone, Serialize)]
pub struct Delivered {
    /// Where it lies.
    pub path: String,
    /// SHA-256 of what was delivered.
    pub hash: Option<String>,
    /// The file's text; null where it is gone.
    pub text: Option<String>,
    /// The text is what was delivered, byte for byte.
    pub as_delivered: bool,
    /// How many of its lines each source gave.
    pub sources: BTreeMap<String, usize>,
}

/// One state and since when.
#[derive(Debug, Clone, Serialize)]
pub struct State {
    /// Since when.
    pub at: DateTime<Utc>,
    /// The state.
    pub state: &'static str,
    /// What was waited for.
    pub needs: Option<String>,
    /// The evidence.
    pub evidence: Option<String>,
}

/// One conversation.
#[derive(Debug, Clone, Serialize)]
pub struct Conversation {
    /// The host agent's id of it.
    pub session_id: String,
    /// How it began.
    pub source: String,
    /// When.
    pub at: DateTime<Utc>,
    /// The one before it.
    pub parent: Option<String>,
}

/// A text for an agent.
#[derive(Debug, Clone, Serialize)]
pub struct Message {
    /// When it was accepted.
    pub at: DateTime<Utc>,
    /// `queued`, `sent`, `confirmed`, `unknown` or `withdrawn`.
    pub state: &'static str,
    /// The text.
    pub text: String,
}

/// A checkpoint's name and place.
#[derive(Debug, Clone, Serialize)]
pub struct Checkpoint {
    /// Its id.
    pub id: String,
    /// When it was made.
    pub at: DateTime<Utc>,
    /// The user's note.
    pub message: Option<String>,
}

/// All that is known of one agent.
#[derive(Debug, Clone, Serialize)]
pub struct Account {
    /// Its row and freshness.
    #[serde(flatten)]
    pub agent: Listed,
    /// What the sources were asked.
    pub query: String,
    /// Its briefing.
    pub briefing: Delivered,
    /// What it did over time.
    pub states: Vec<State>,
    /// Its conversations.
    pub conversations: Vec<Conversation>,
    /// What it was told.
    pub messages: Vec<Message>,
    /// Its checkpoints.
    pub checkpoints: Vec<Checkpoint>,
    /// What was written for it.
    pub written: Vec<String>,
    /// Command that shows its terminal.
    pub attach: Option<String>,
}

impl Account {
    /// The account as JSON has it.
    pub fn new(account: &account::Account) -> Self {
        let row = &account.agent;
        Self {
            agent: Listed {
                agent: row.into(),
                freshness: (account.freshness * 1000.0).round() / 1000.0,
                reason: account.reason.clone(),
            },
            query: row.query.clone(),
            briefing: Delivered {
                path: path(&account.briefing.path),
                hash: row.briefing_hash.clone(),
                text: account.briefing.text.clone(),
                as_delivered: account.briefing.as_delivered,
                sources: account.briefing.sources.clone(),
            },
            states: account
                .states
                .iter()
                .map(|turn| State {
                    at: turn.at,
                    state: turn.state.name(),
                    needs: turn.needs.clone(),
                    evidence: turn.by.clone(),
                })
                .collect(),
            conversations: account
                .conversations
                .iter()
                .map(|c| Conversation {
                    session_id: c.session.clone(),
                    source: c.source.clone(),
                    at: c.at,
                    parent: c.parent.clone(),
                })
                .collect(),
            messages: account
                .messages
                .iter()
                .map(|m| Message { at: m.at, state: m.fate.name(), text: m.text.clone() })
                .collect(),
            checkpoints: account
                .checkpoints
                .iter()
                .map(|c| Checkpoint { id: c.id.clone(), at: c.at, message: c.message.clone() })
                .collect(),
            written: account.written.clone(),
            attach: account.attach.clone(),
        }
    }
}

/// One thing said in a conversation.
#[derive(Debug, Clone, Serialize)]
pub struct LogLine {
    /// When.
    pub at: Option<DateTime<Utc>>,
    /// `you`, `agent` or `subagent`.
    pub who: &'static str,
    /// What.
    pub text: String,
}

impl From<&logs::Line> for LogLine {
    fn from(line: &logs::Line) -> Self {
        Self { at: line.at, who: line.who, text: line.text.clone() }
    }
}

/// Where an agent is to be seen.
#[derive(Debug, Clone, Serialize)]
pub struct Focused {
    /// Its name.
    pub agent: String,
    /// Its window is in front now.
    pub in_front: bool,
    /// Command that shows it, where no window can be or the one that is open does not come to the front.
    pub attach: Option<String>,
}

/// What `pao app` opened.
#[derive(Debug, Clone, Serialize)]
pub struct OpenedApp {
    /// The app.
    pub opened: String,
    /// Folders its spawn panel is filled in with.
    pub folders: Vec<String>,
}

impl OpenedApp {
    /// The app at that place, for these folders.
    pub fn new(host: &Host, opened: &Path, folders: &[PathBuf]) -> Self {
        let folders = folders.iter().map(|folder| path(&host.cwd.join(folder))).collect();
        Self { opened: path(opened), folders }
    }
}

//! Memory stores that can be asked. One file per kind behind one small trait.
//!
//! A source answers a [`Question`] with [`Snippet`]s or says why it cannot. It never decides what is relevant
//! across stores (that is the briefing's work) and never writes.

pub mod history;
mod open;
pub mod postgres;
mod stamps;
mod terms;
pub mod worker;

pub use self::open::open;

use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::host::secrets::SecretError;

/// What a source is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The topic in the user's words, or what the folder itself suggests.
    pub text: String,
    /// Where the agent will work (realpath).
    pub folder: PathBuf,
    /// Identity of the project the folder belongs to; see [`crate::project::Project::id`].
    pub project: String,
    /// Base name of the project, as stores without paths know it.
    pub project_name: String,
    /// When the question is asked.
    pub now: DateTime<Utc>,
}

/// How much a source may return and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// At most this many snippets.
    pub snippets: usize,
    /// Wall-clock time for the whole answer, connection included.
    pub deadline: Duration,
}

/// Who said what a snippet reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The user, in a session.
    User,
    /// An agent, in a session.
    Agent,
    /// A store that keeps facts without a speaker.
    Store,
}

/// One retrieved memory with its provenance.
#[derive(Debug, Clone, PartialEq)]
pub struct Snippet {
    /// Name of the configured source.
    pub source: String,
    /// Identity within the source; stable, so that it can be cited and asked for again.
    pub id: String,
    /// What it is about: entity name, session title; empty when unknown.
    pub title: String,
    /// The memory itself, as stored. Hostile until the briefing has neutralised it.
    pub text: String,
    /// When it was said or recorded.
    pub at: Option<DateTime<Utc>>,
    /// Who said it.
    pub speaker: Speaker,
    /// Identity or name of the project it belongs to, where the store knows.
    pub project: Option<String>,
    /// Conversation it belongs to, where there is one; lines of one conversation are kept together.
    pub session: Option<String>,
    /// Native relevance, higher is better; comparable only within one answer of one source.
    pub score: f32,
    /// Importance in 0..=1 where the store keeps one.
    pub importance: Option<f32>,
}

/// What a source found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Best first.
    pub snippets: Vec<Snippet>,
    /// What limits the answer, as a phrase: "searched the newest 20,000 rows: no text index".
    pub note: Option<String>,
}

/// Why a source could not answer. The text never contains secrets or a reply's body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Nobody listens there, or the connection broke.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// The store understood and said no: wrong password, missing table, HTTP 401.
    #[error("refused: {0}")]
    Refused(String),
    /// The deadline passed.
    #[error("timed out after {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The reply was not what the protocol promises.
    #[error("bad reply: {0}")]
    BadReply(String),
    /// The store asked to be left alone until then.
    #[error("asked to wait until {}", .0.format("%H:%M:%S UTC"))]
    Paused(DateTime<Utc>),
    /// Its password or token cannot be read.
    #[error("its secret cannot be read: {why}")]
    Secret {
        /// Why not.
        why: String,
        /// One thing to do next.
        next: String,
    },
    /// The configuration or a secret is missing or unusable.
    #[error("not configured: {0}")]
    Misconfigured(String),
}

impl From<&SecretError> for SourceError {
    fn from(error: &SecretError) -> Self {
        Self::Secret { why: error.to_string(), next: error.next() }
    }
}

/// A source with what it may return and how long it may take.
pub type Limited = (std::sync::Arc<dyn Source>, Limits);

/// A memory store that can be asked.
#[async_trait::async_trait]
pub trait Source: Send + Sync {
    /// Name from the configuration.
    fn name(&self) -> &str;

    /// One line for people: kind and where it is, without secrets.
    fn describe(&self) -> String;

    /// Finds what is relevant to the question, best first.
    async fn recall(&self, question: &Question, limits: Limits) -> Result<Answer, SourceError>;

    /// Tries the store as `recall` would and says in one line what it found.
    async fn check(&self, limits: Limits) -> Result<String, SourceError>;
}

/// Work that has to end by a deadline, and says so by that very deadline when it does not.
async fn within<T>(
    deadline: Duration,
    work: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    match tokio::time::timeout(deadline, work).await {
        // The server's own limit may strike a moment before ours.
        Ok(Err(SourceError::TimedOut(_))) | Err(_) => Err(SourceError::TimedOut(deadline)),
        Ok(outcome) => outcome,
    }
}

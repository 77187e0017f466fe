//! An agent's conversations: their ids change when one is cleared, compacted, forked or resumed, and the agent stays
//! one row. Each knows which one it followed.

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

use super::agents::{Agent, State};
use super::{Registry, RegistryError, claims, stamp, time};

/// One conversation of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The host agent's id of it.
    pub session: String,
    /// How it began: `startup`, `clear`, `compact`, `fork`, `resume`, or `session file` where no hook said so.
    pub source: String,
    /// When it began, or was first seen.
    pub at: DateTime<Utc>,
    /// The conversation the agent had before, where it had one.
    pub parent: Option<String>,
}

/// What to write of an agent that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged<'a> {
    /// The state.
    pub state: State,
    /// What it waits for.
    pub needs: Option<&'a str>,
    /// The evidence, a short phrase.
    pub by: &'a str,
    /// Since when.
    pub at: DateTime<Utc>,
}

/// Makes a conversation the agent's current one. The agent's own file may tell of it a moment before its hook does,
/// which knows how it began.
pub(super) async fn begin(
    connection: &mut SqliteConnection,
    agent: &str,
    session: &str,
    source: &str,
    at: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO sessions (session, agent, source, at, parent)
         SELECT ?1, id, ?2, ?3, CASE WHEN session <> ?1 THEN session END FROM agents WHERE id = ?4
         ON CONFLICT (agent, session) DO UPDATE SET source = excluded.source WHERE source = 'session file'",
    )
    .bind(session)
    .bind(source)
    .bind(at)
    .bind(agent)
    .execute(&mut *connection)
    .await?;
    sqlx::query("UPDATE agents SET session = ? WHERE id = ?")
        .bind(session)
        .bind(agent)
        .execute(connection)
        .await?;
    Ok(())
}

impl Registry {
    /// An agent's conversations, oldest first.
    pub async fn conversations(&self, agent: &str) -> Result<Vec<Conversation>, RegistryError> {
        let rows = sqlx::query(
            "SELECT session, agent, source, at, parent FROM sessions
             WHERE agent = ? ORDER BY at, rowid",
        )
        .bind(agent)
        .fetch_all(&mut *self.lock().await)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(Conversation {
                    session: row.try_get("session")?,
                    source: row.try_get("source")?,
                    at: time("sessions.at", row.try_get("at")?)?,
                    parent: row.try_get("parent")?,
                })
            })
            .collect()
    }

    /// Notes a conversation that no hook told of.
    pub async fn set_session(
        &self,
        agent: &str,
        session: &str,
        source: &str,
        at: DateTime<Utc>,
    ) -> Result<(), RegistryError> {
        begin(&mut *self.lock().await, agent, session, source, &stamp(at)).await?;
        Ok(())
    }

    /// Writes what looking at an agent came to, unless something was written since the row was read: whoever wrote
    /// then knew better. False where it was not written; also where the agent would come back to life under a name
    /// that another has by now.
    pub async fn set_judged(&self, seen: &Agent, judged: &Judged<'_>) -> Result<bool, RegistryError> {
        let mut connection = self.lock().await;
        let mut transaction = sqlx::Connection::begin_with(&mut *connection, "BEGIN IMMEDIATE").await?;
        let unchanged = sqlx::query(
            "SELECT 1 FROM agents WHERE id = ? AND state = ? AND needs IS ? AND pid IS ?
             AND coalesce(state_at, sign_at) = ?",
        )
        .bind(&seen.id)
        .bind(seen.state.name())
        .bind(&seen.needs)
        .bind(seen.process.map(|process| process.pid))
        .bind(stamp(seen.state_at))
        .fetch_optional(&mut *transaction)
        .await?;
        if unchanged.is_none() {
            return Ok(false);
        }
        let Judged { state, needs, by, at } = *judged;
        let sign = state.live() && at > seen.sign_at;
        match claims::turn(&mut transaction, &seen.id, state, needs, by, at, sign).await {
            Err(RegistryError::Database(sqlx::Error::Database(e))) if e.is_unique_violation() => Ok(false),
            Err(error) => Err(error),
            Ok(()) => {
                transaction.commit().await?;
                Ok(true)
            }
        }
    }

    /// Notes that an agent did something, and that what it was to be permitted was: no event is written, because
    /// there are hundreds of these. False where there was nothing to note.
    pub async fn note_tool(&self, agent: &str, at: DateTime<Utc>) -> Result<bool, RegistryError> {
        let mut connection = self.lock().await;
        let at = stamp(at);
        // One statement, one write: where it was waiting for a permission it works again.
        let done = sqlx::query(
            "UPDATE agents SET sign_at = ?1,
                state_at = CASE WHEN state = 'needs-you' THEN ?1 ELSE state_at END,
                state_by = CASE WHEN state = 'needs-you' THEN 'hook PostToolUse' ELSE state_by END,
                needs = CASE WHEN state = 'needs-you' THEN NULL ELSE needs END,
                state = CASE WHEN state = 'needs-you' THEN 'working' ELSE state END
             WHERE id = ?2 AND state IN ('working', 'needs-you') AND state_at <= ?1",
        )
        .bind(&at)
        .bind(agent)
        .execute(&mut *connection)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

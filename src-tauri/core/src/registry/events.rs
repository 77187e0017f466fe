//! What the hooks saw: one row per event, and the agent's state that follows from it, in one small write.

use chrono::{DateTime, Utc};
use sqlx::{Connection, Row};

use super::agents::State;
use super::{Registry, RegistryError, claims, conversations, stamp, time};

/// One event of an agent's session.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Registry id of the agent.
    pub agent: String,
    /// When it was seen.
    pub at: DateTime<Utc>,
    /// The host agent's name of the event, e.g. `UserPromptSubmit`.
    pub event: String,
    /// Conversation id it belongs to.
    pub session: Option<String>,
    /// What matters of it, a short phrase or JSON; never a whole payload.
    pub detail: String,
}

impl Registry {
    /// Writes an event, the session it names and the state that follows from it, in one transaction. Events of
    /// agents that are not in the registry are kept; they belong to rows that were lost. Of two whose detail is JSON
    /// with the same `id` the second changes nothing: who writes may not hear that it was written.
    pub async fn record_event(
        &self,
        event: &Event,
        state: Option<(State, Option<&str>)>,
        session_source: Option<&str>,
    ) -> Result<(), RegistryError> {
        let mut connection = self.lock().await;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let at = stamp(event.at);
        let written = sqlx::query(
            "INSERT INTO events (agent, at, event, session, detail, nonce)
             VALUES (?1, ?2, ?3, ?4, ?5, CASE WHEN json_valid(?5) THEN json_extract(?5, '$.id') END)
             ON CONFLICT (agent, nonce) DO NOTHING",
        )
        .bind(&event.agent)
        .bind(&at)
        .bind(&event.event)
        .bind(&event.session)
        .bind(&event.detail)
        .execute(&mut *transaction)
        .await?;
        if written.rows_affected() == 0 {
            return Ok(());
        }
        if let (Some(session), Some(source)) = (&event.session, session_source) {
            conversations::begin(&mut transaction, &event.agent, session, source, &at).await?;
        }
        if let Some((state, needs)) = state
            && !claims::is_over(&mut transaction, &event.agent, event.at).await?
        {
            let by = format!("hook {}", event.event);
            claims::turn(&mut transaction, &event.agent, state, needs, &by, event.at, true).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Ids of all conversations an agent has had, oldest first.
    pub async fn sessions(&self, agent: &str) -> Result<Vec<String>, RegistryError> {
        let rows = sqlx::query("SELECT session FROM sessions WHERE agent = ? ORDER BY at, rowid")
            .bind(agent)
            .fetch_all(&mut *self.lock().await)
            .await?;
        rows.iter().map(|row| Ok(row.try_get("session")?)).collect()
    }

    /// Row id of an agent's last event; 0 where it has none.
    pub async fn last_event(&self, agent: &str) -> Result<i64, RegistryError> {
        let row = sqlx::query("SELECT coalesce(max(id), 0) FROM events WHERE agent = ?")
            .bind(agent)
            .fetch_one(&mut *self.lock().await)
            .await?;
        Ok(row.try_get(0)?)
    }

    /// An agent's events after the given row id (0 for all), oldest first, each with its row id.
    pub async fn events_after(&self, agent: &str, after: i64) -> Result<Vec<(i64, Event)>, RegistryError> {
        let rows = sqlx::query(
            "SELECT id, agent, at, event, session, detail, nonce FROM events
             WHERE agent = ? AND id > ? ORDER BY id",
        )
        .bind(agent)
        .bind(after)
        .fetch_all(&mut *self.lock().await)
        .await?;
        Ok(self.readable(&rows, "events", |row| {
            let event = Event {
                agent: row.try_get("agent")?,
                at: time("events.at", row.try_get("at")?)?,
                event: row.try_get("event")?,
                session: row.try_get("session")?,
                detail: row.try_get("detail")?,
            };
            Ok((row.try_get("id")?, event))
        }))
    }
}

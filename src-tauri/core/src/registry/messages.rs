//! What is to be told to agents: one row per text, from the moment it is accepted until its fate is known.
//!
//! A text is sent at most once. What is known about it afterwards is written down; what cannot be known stays
//! unknown and is never sent again by itself.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{Registry, RegistryError, stamp, time};

/// How far a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// Waits until the agent can take it. Nothing was typed.
    Queued,
    /// Being typed, or typed without proof of arrival so far.
    Sent,
    /// Its effect was seen.
    Confirmed,
    /// Typed, and it cannot be known whether it arrived.
    Unknown,
    /// Given up before anything was typed.
    Withdrawn,
}

impl Fate {
    /// Name in rows and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Queued => "queued",
            Fate::Sent => "sent",
            Fate::Confirmed => "confirmed",
            Fate::Unknown => "unknown",
            Fate::Withdrawn => "withdrawn",
        }
    }

    /// The fate of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        use Fate::{Confirmed, Queued, Sent, Unknown, Withdrawn};
        [Queued, Sent, Confirmed, Unknown, Withdrawn].into_iter().find(|f| f.name() == name)
    }
}

/// One text for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Row id; later texts have larger ones.
    pub id: i64,
    /// Registry id of the agent.
    pub agent: String,
    /// When it was accepted.
    pub at: DateTime<Utc>,
    /// The text as the user wrote it.
    pub text: String,
    /// How far it is.
    pub fate: Fate,
    /// When its fate was last decided.
    pub settled_at: Option<DateTime<Utc>>,
    /// Why, a short phrase.
    pub note: Option<String>,
    /// Fingerprint of what was typed, once it was.
    pub sent: Option<String>,
}

fn message(row: &SqliteRow) -> Result<Message, RegistryError> {
    let fate: String = row.try_get("state")?;
    let settled: Option<String> = row.try_get("settled_at")?;
    Ok(Message {
        id: row.try_get("id")?,
        agent: row.try_get("agent")?,
        at: time("messages.at", row.try_get("at")?)?,
        text: row.try_get("text")?,
        fate: Fate::from_name(&fate)
            .ok_or(RegistryError::Unreadable { what: "messages.state", value: fate })?,
        settled_at: settled.map(|t| time("messages.settled_at", &t)).transpose()?,
        note: row.try_get("note")?,
        sent: row.try_get("sent")?,
    })
}

impl Registry {
    /// Accepts a text for an agent; it is queued. Its row id.
    pub async fn queue(&self, agent: &str, text: &str, now: DateTime<Utc>) -> Result<i64, RegistryError> {
        let done = sqlx::query("INSERT INTO messages (agent, at, text, state) VALUES (?, ?, ?, 'queued')")
            .bind(agent)
            .bind(stamp(now))
            .bind(text)
            .execute(&mut *self.lock().await)
            .await?;
        Ok(done.last_insert_rowid())
    }

    /// Moves a text from one fate to another; false where it was no longer at the first, because another process
    /// was faster.
    pub async fn move_message(
        &self,
        id: i64,
        from: Fate,
        to: Fate,
        note: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<bool, RegistryError> {
        let done =
            sqlx::query("UPDATE messages SET state = ?, settled_at = ?, note = ? WHERE id = ? AND state = ?")
                .bind(to.name())
                .bind(stamp(now))
                .bind(note)
                .bind(id)
                .bind(from.name())
                .execute(&mut *self.lock().await)
                .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Takes a queued text for sending, and notes the fingerprint of what is about to be typed. False where another
    /// process was faster, it was withdrawn, or an older one for the same agent still waits.
    pub async fn take_message(
        &self,
        id: i64,
        fingerprint: &str,
        now: DateTime<Utc>,
    ) -> Result<bool, RegistryError> {
        let done = sqlx::query(
            "UPDATE messages SET state = 'sent', settled_at = ?1, note = NULL, sent = ?2
             WHERE id = ?3 AND state = 'queued' AND NOT EXISTS (SELECT 1 FROM messages AS older
                WHERE older.agent = messages.agent AND older.id < messages.id AND older.state = 'queued')",
        )
        .bind(stamp(now))
        .bind(fingerprint)
        .bind(id)
        .execute(&mut *self.lock().await)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Whether a text waits for that agent.
    pub async fn has_queued(&self, agent: &str) -> Result<bool, RegistryError> {
        let found = sqlx::query("SELECT 1 FROM messages WHERE agent = ? AND state = 'queued' LIMIT 1")
            .bind(agent)
            .fetch_optional(&mut *self.lock().await)
            .await?;
        Ok(found.is_some())
    }

    /// Texts whose fate is not settled: queued, sent, or unknown and younger than `since`; oldest first.
    pub async fn unsettled_messages(&self, since: DateTime<Utc>) -> Result<Vec<Message>, RegistryError> {
        let rows = sqlx::query(
            "SELECT id, agent, at, text, state, settled_at, note, sent FROM messages WHERE state IN ('queued', 'sent') OR (state = 'unknown' AND at > ?)
             ORDER BY id",
        )
        .bind(stamp(since))
        .fetch_all(&mut *self.lock().await)
        .await?;
        Ok(self.readable(&rows, "messages", message))
    }

    /// What each agent was told last.
    pub async fn last_told(&self) -> Result<BTreeMap<String, String>, RegistryError> {
        let rows = sqlx::query(
            "SELECT agent, text FROM messages WHERE id IN (SELECT max(id) FROM messages
             WHERE state IN ('sent', 'confirmed', 'unknown') GROUP BY agent)",
        )
        .fetch_all(&mut *self.lock().await)
        .await?;
        rows.iter().map(|row| Ok((row.try_get("agent")?, row.try_get("text")?))).collect()
    }

    /// The text of that row id.
    pub async fn message(&self, id: i64) -> Result<Option<Message>, RegistryError> {
        let row = sqlx::query(
            "SELECT id, agent, at, text, state, settled_at, note, sent FROM messages
             WHERE id = ?",
        )
        .bind(id)
        .fetch_optional(&mut *self.lock().await)
        .await?;
        row.as_ref().map(message).transpose()
    }

    /// Texts for one agent, or for all, oldest first.
    pub async fn messages(&self, agent: Option<&str>) -> Result<Vec<Message>, RegistryError> {
        let rows = sqlx::query(
            "SELECT id, agent, at, text, state, settled_at, note, sent FROM messages
             WHERE ?1 IS NULL OR agent = ?1 ORDER BY id",
        )
        .bind(agent)
        .fetch_all(&mut *self.lock().await)
        .await?;
        Ok(self.readable(&rows, "messages", message))
    }
}

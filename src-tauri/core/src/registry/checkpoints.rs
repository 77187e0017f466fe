//! Checkpoints as rows. What one holds is decided where checkpoints are made.

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{Registry, RegistryError, stamp, time};

/// One stored checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its id: short, unique.
    pub id: String,
    /// Registry id of the agent.
    pub agent: String,
    /// When it was made.
    pub at: DateTime<Utc>,
    /// The user's own words about it.
    pub message: Option<String>,
    /// The rest, as JSON.
    pub data: String,
}

fn stored(row: &SqliteRow) -> Result<Stored, RegistryError> {
    Ok(Stored {
        id: row.try_get("id")?,
        agent: row.try_get("agent")?,
        at: time("checkpoints.at", row.try_get("at")?)?,
        message: row.try_get("message")?,
        data: row.try_get("data")?,
    })
}

impl Registry {
    /// Keeps a checkpoint.
    pub async fn keep_checkpoint(&self, checkpoint: &Stored) -> Result<(), RegistryError> {
        sqlx::query("INSERT INTO checkpoints (id, agent, at, message, data) VALUES (?, ?, ?, ?, ?)")
            .bind(&checkpoint.id)
            .bind(&checkpoint.agent)
            .bind(stamp(checkpoint.at))
            .bind(&checkpoint.message)
            .bind(&checkpoint.data)
            .execute(&mut *self.lock().await)
            .await?;
        Ok(())
    }

    /// Checkpoints of one agent, or of all, oldest first.
    pub async fn checkpoints(&self, agent: Option<&str>) -> Result<Vec<Stored>, RegistryError> {
        let rows = sqlx::query(
            "SELECT id, agent, at, message, data FROM checkpoints
             WHERE ?1 IS NULL OR agent = ?1 ORDER BY at, id",
        )
        .bind(agent)
        .fetch_all(&mut *self.lock().await)
        .await?;
        Ok(self.readable(&rows, "checkpoints", stored))
    }

    /// Removes a checkpoint; false where there was none of that id.
    pub async fn drop_checkpoint(&self, id: &str) -> Result<bool, RegistryError> {
        let done = sqlx::query("DELETE FROM checkpoints WHERE id = ?")
            .bind(id)
            .execute(&mut *self.lock().await)
            .await?;
        Ok(done.rows_affected() == 1)
    }
}

//! Writing the journal of changes: first planned, then applied, at last undone.

use chrono::{DateTime, Utc};
use sqlx::Row;

use super::change::Change;
use super::{Registry, RegistryError, stamp};

/// One journalled change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Row id; later changes have larger ones.
    pub id: i64,
    /// Registry id of the agent it was made for.
    pub agent: String,
    /// What was changed.
    pub change: Change,
    /// False while it is only planned: it may or may not have happened.
    pub applied: bool,
}

impl Registry {
    /// Writes down a change before it is made. Durable when this returns, so that a power cut cannot leave a
    /// change that nobody knows of.
    pub async fn plan_change(
        &self,
        agent: &str,
        change: &Change,
        now: DateTime<Utc>,
    ) -> Result<i64, RegistryError> {
        let text = serde_json::to_string(change)
            .map_err(|e| RegistryError::Unreadable { what: "changes.change", value: e.to_string() })?;
        let mut connection = self.lock().await;
        sqlx::query("PRAGMA synchronous = FULL").execute(&mut *connection).await?;
        let done = sqlx::query("INSERT INTO changes (agent, at, change, state) VALUES (?, ?, ?, 'planned')")
            .bind(agent)
            .bind(stamp(now))
            .bind(text)
            .execute(&mut *connection)
            .await;
        sqlx::query("PRAGMA synchronous = NORMAL").execute(&mut *connection).await?;
        Ok(done?.last_insert_rowid())
    }

    /// Notes that a planned change was made.
    pub async fn change_applied(&self, id: i64) -> Result<(), RegistryError> {
        self.settle(id, "applied").await
    }

    /// Notes that a change was reversed, or had never happened.
    pub async fn change_undone(&self, id: i64) -> Result<(), RegistryError> {
        self.settle(id, "undone").await
    }

    async fn settle(&self, id: i64, state: &str) -> Result<(), RegistryError> {
        sqlx::query("UPDATE changes SET state = ? WHERE id = ?")
            .bind(state)
            .bind(id)
            .execute(&mut *self.lock().await)
            .await?;
        Ok(())
    }

    /// Every change that was ever made, oldest first. One that a later version wrote and this one cannot read is
    /// left out.
    pub async fn all_changes(&self) -> Result<Vec<Change>, RegistryError> {
        let rows =
            sqlx::query("SELECT change FROM changes ORDER BY id").fetch_all(&mut *self.lock().await).await?;
        let text = |row| sqlx::Row::try_get::<String, _>(row, 0);
        let texts = rows.iter().map(text).collect::<Result<Vec<_>, _>>()?;
        Ok(texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect())
    }

    /// Changes that are not undone, newest first: of one agent, or of all.
    pub async fn open_changes(&self, agent: Option<&str>) -> Result<Vec<Entry>, RegistryError> {
        let rows = sqlx::query(
            "SELECT id, agent, change, state FROM changes
             WHERE state <> 'undone' AND (?1 IS NULL OR agent = ?1) ORDER BY id DESC",
        )
        .bind(agent)
        .fetch_all(&mut *self.lock().await)
        .await?;
        Ok(self.readable(&rows, super::CHANGES, |row| {
            let text: String = row.try_get("change")?;
            let change = serde_json::from_str(&text)
                .map_err(|_| RegistryError::Unreadable { what: "changes.change", value: text })?;
            let state: String = row.try_get("state")?;
            Ok(Entry {
                id: row.try_get("id")?,
                agent: row.try_get("agent")?,
                change,
                applied: state == "applied",
            })
        }))
    }
}

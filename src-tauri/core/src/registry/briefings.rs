//! What each agent was briefed with, line by line: for what changed since a folder's last spawn, and to show an agent's
//! lines with what they were worth.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{Registry, RegistryError, stamp, time};

/// How many briefings are kept of one folder.
const KEPT: i64 = 20;

/// One line as it was delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Where it came from.
    pub source: String,
    /// Identity within the source.
    pub id: String,
    /// When it was said or recorded.
    pub at: Option<DateTime<Utc>>,
    /// The text as delivered.
    pub text: String,
    /// Fused relevance in 0..=1.
    pub score: f32,
    /// Estimated tokens.
    pub tokens: usize,
    /// Fingerprint of all that the memory says.
    pub content: String,
    /// Date of the newer statement that superseded it, or of the older one it supersedes.
    pub supersedes: Option<DateTime<Utc>>,
    /// It was pinned.
    #[serde(default)]
    pub pinned: bool,
}

/// What an agent was briefed with.
#[derive(Debug, Clone, PartialEq)]
pub struct Briefed {
    /// Registry id of the agent.
    pub agent: String,
    /// The folder that was asked for.
    pub folder: PathBuf,
    /// When the briefing was composed.
    pub at: DateTime<Utc>,
    /// The user had edited it.
    pub edited: bool,
    /// Its lines, in document order.
    pub lines: Vec<Kept>,
}

fn briefed(row: &SqliteRow) -> Result<Briefed, RegistryError> {
    let lines: String = row.try_get("lines")?;
    Ok(Briefed {
        agent: row.try_get("agent")?,
        folder: PathBuf::from(row.try_get::<String, _>("folder")?),
        at: time("briefings.at", row.try_get("at")?)?,
        edited: row.try_get("edited")?,
        // Lines that a later version wrote and this one cannot read count as none.
        lines: serde_json::from_str(&lines).unwrap_or_default(),
    })
}

impl Registry {
    /// Keeps what an agent was briefed with.
    pub async fn keep_briefing(&self, briefed: &Briefed) -> Result<(), RegistryError> {
        let lines = serde_json::to_string(&briefed.lines)
            .map_err(|e| RegistryError::Unreadable { what: "briefings.lines", value: e.to_string() })?;
        let mut connection = self.lock().await;
        sqlx::query(
            "INSERT OR REPLACE INTO briefings (agent, folder, at, edited, lines) VALUES (?, ?, ?, ?, ?)",
        )
        .bind(&briefed.agent)
        .bind(briefed.folder.to_string_lossy())
        .bind(stamp(briefed.at))
        .bind(briefed.edited)
        .bind(lines)
        .execute(&mut *connection)
        .await?;
        sqlx::query(
            "DELETE FROM briefings WHERE folder = ?1 AND agent NOT IN
                 (SELECT agent FROM briefings WHERE folder = ?1 ORDER BY at DESC LIMIT ?2)",
        )
        .bind(briefed.folder.to_string_lossy())
        .bind(KEPT)
        .execute(&mut *connection)
        .await?;
        Ok(())
    }

    /// What the last agent of a folder was briefed with.
    pub async fn last_briefing(&self, folder: &Path) -> Result<Option<Briefed>, RegistryError> {
        let row = sqlx::query("SELECT * FROM briefings WHERE folder = ? ORDER BY at DESC LIMIT 1")
            .bind(folder.to_string_lossy())
            .fetch_optional(&mut *self.lock().await)
            .await?;
        row.as_ref().map(briefed).transpose()
    }

    /// What an agent was briefed with.
    pub async fn briefing_of(&self, agent: &str) -> Result<Option<Briefed>, RegistryError> {
        let row = sqlx::query("SELECT * FROM briefings WHERE agent = ?")
            .bind(agent)
            .fetch_optional(&mut *self.lock().await)
            .await?;
        row.as_ref().map(briefed).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_briefing_of_a_folder_is_kept_and_not_all_there_ever_were() {
        let registry = Registry::in_memory().await.unwrap();
        let at = |n: i64| DateTime::from_timestamp(n, 0).unwrap();
        for n in 0..KEPT + 5 {
            let briefed = Briefed {
                agent: format!("a{n}"),
                folder: "/w/api".into(),
                at: at(n),
                edited: n % 2 == 0,
                lines: Vec::new(),
            };
            registry.keep_briefing(&briefed).await.unwrap();
        }
        let last = registry.last_briefing(Path::new("/w/api")).await.unwrap().unwrap();
        assert_eq!((last.agent.as_str(), last.edited), ("a24", true));
        assert_eq!(registry.briefing_of("a4").await.unwrap(), None);
        assert!(registry.briefing_of("a5").await.unwrap().is_some());
        assert_eq!(registry.last_briefing(Path::new("/w/api-web")).await.unwrap(), None);
    }
}

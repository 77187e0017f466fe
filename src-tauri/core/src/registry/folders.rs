//! What is remembered per folder: consents, the last choices, and per source how long it wants to be left alone.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::Row;

use super::{Registry, RegistryError, stamp, time};

/// What the user agreed to for one folder and one host agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consents {
    /// The folder may be marked as trusted for the host agent.
    pub trust: bool,
    /// A mark of what trusting enabled there when that was agreed to; `None` where that was nothing, or not kept yet.
    pub enables: Option<String>,
    /// Agents may run there without asking for anything.
    pub skip_permissions: bool,
}

impl Consents {
    /// Whether trust was agreed to as it would be now: the path may lead to another folder, or to more than was shown.
    pub fn trusts(&self, mark: Option<&str>) -> bool {
        self.trust && self.enables.as_deref() == mark
    }

    /// Trust is agreed to, where it enables what has that mark.
    pub fn trust(&mut self, mark: Option<String>) {
        self.trust = true;
        self.enables = mark;
    }
}

/// The choices of a folder's last spawn. Names as in options and JSON; what was not chosen is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// Kind of host agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<String>,
    /// Permission profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
    /// Way of delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
    /// Token budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<usize>,
    /// Only these sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_sources: Vec<String>,
    /// Not these sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_sources: Vec<String>,
}

impl Registry {
    /// What the user agreed to for a folder and the host agent of that kind. A yes to one program is none to another.
    pub async fn consents(&self, folder: &Path, kind: &str) -> Result<Consents, RegistryError> {
        let row = sqlx::query(
            "SELECT trust_agreed_at, skip_agreed_at, trust_enables FROM consents WHERE folder = ? AND host_agent = ?",
        )
        .bind(folder.to_string_lossy())
        .bind(kind)
        .fetch_optional(&mut *self.lock().await)
        .await?;
        let Some(row) = row else { return Ok(Consents::default()) };
        let trust: Option<String> = row.try_get(0)?;
        let skip: Option<String> = row.try_get(1)?;
        let enables = row.try_get(2)?;
        Ok(Consents { trust: trust.is_some(), enables, skip_permissions: skip.is_some() })
    }

    /// All folders that are remembered.
    pub async fn folders(&self) -> Result<Vec<PathBuf>, RegistryError> {
        let rows =
            sqlx::query("SELECT folder FROM folders UNION SELECT folder FROM consents ORDER BY folder")
                .fetch_all(&mut *self.lock().await)
                .await?;
        rows.iter().map(|row| Ok(PathBuf::from(row.try_get::<String, _>(0)?))).collect()
    }

    /// Remembers what the user agreed to for a folder and a host agent; what is false here is forgotten.
    pub async fn set_consents(
        &self,
        folder: &Path,
        kind: &str,
        consents: &Consents,
        now: DateTime<Utc>,
    ) -> Result<(), RegistryError> {
        let now = stamp(now);
        sqlx::query(
            "INSERT INTO consents (folder, host_agent, trust_agreed_at, skip_agreed_at, trust_enables)
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (folder, host_agent)
             DO UPDATE SET trust_agreed_at = ?3, skip_agreed_at = ?4, trust_enables = ?5",
        )
        .bind(folder.to_string_lossy())
        .bind(kind)
        .bind(consents.trust.then_some(&now))
        .bind(consents.skip_permissions.then_some(&now))
        .bind(consents.enables.as_ref().filter(|_| consents.trust))
        .execute(&mut *self.lock().await)
        .await?;
        Ok(())
    }

    /// The last choices made for a folder. Choices that a later version wrote and this one cannot read count as
    /// none.
    pub async fn choices(&self, folder: &Path) -> Result<Choices, RegistryError> {
        let row = sqlx::query("SELECT choices FROM folders WHERE folder = ?")
            .bind(folder.to_string_lossy())
            .fetch_optional(&mut *self.lock().await)
            .await?;
        let text: Option<String> = row.map(|r| r.try_get(0)).transpose()?.flatten();
        Ok(text.and_then(|t| serde_json::from_str(&t).ok()).unwrap_or_default())
    }

    /// Remembers the choices made for a folder.
    pub async fn set_choices(&self, folder: &Path, choices: &Choices) -> Result<(), RegistryError> {
        let text = serde_json::to_string(choices)
            .map_err(|e| RegistryError::Unreadable { what: "folders.choices", value: e.to_string() })?;
        sqlx::query(
            "INSERT INTO folders (folder, choices) VALUES (?1, ?2)
             ON CONFLICT (folder) DO UPDATE SET choices = ?2",
        )
        .bind(folder.to_string_lossy())
        .bind(text)
        .execute(&mut *self.lock().await)
        .await?;
        Ok(())
    }

    /// Until when a source wants to be left alone; `None` when it may be asked.
    pub async fn paused_until(
        &self,
        source: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, RegistryError> {
        let row = sqlx::query("SELECT until FROM pauses WHERE source = ?")
            .bind(source)
            .fetch_optional(&mut *self.lock().await)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let until = time("pauses.until", row.try_get(0)?)?;
        Ok((until > now).then_some(until))
    }

    /// Remembers, for all processes, until when a source wants to be left alone.
    pub async fn pause_source(&self, source: &str, until: DateTime<Utc>) -> Result<(), RegistryError> {
        sqlx::query("INSERT INTO pauses VALUES (?1, ?2) ON CONFLICT (source) DO UPDATE SET until = ?2")
            .bind(source)
            .bind(stamp(until))
            .execute(&mut *self.lock().await)
            .await?;
        Ok(())
    }
}

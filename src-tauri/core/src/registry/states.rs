//! What an agent did over time. The rows are written by the database itself whenever an agent's state or need
//! changes, so that no writer can forget one.

use chrono::{DateTime, Utc};
use sqlx::Row;

use super::agents::State;
use super::{Registry, RegistryError, time};

/// One state and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Since when.
    pub at: DateTime<Utc>,
    /// The state.
    pub state: State,
    /// What was waited for.
    pub needs: Option<String>,
    /// The evidence, a short phrase.
    pub by: Option<String>,
}

impl Registry {
    /// An agent's states, oldest first.
    pub async fn states(&self, agent: &str) -> Result<Vec<Turn>, RegistryError> {
        let rows = sqlx::query("SELECT at, state, needs, by FROM states WHERE agent = ? ORDER BY id")
            .bind(agent)
            .fetch_all(&mut *self.lock().await)
            .await?;
        rows.iter()
            .map(|row| {
                let state: String = row.try_get("state")?;
                Ok(Turn {
                    at: time("states.at", row.try_get("at")?)?,
                    state: State::from_name(&state)
                        .ok_or(RegistryError::Unreadable { what: "states.state", value: state })?,
                    needs: row.try_get("needs")?,
                    by: row.try_get("by")?,
                })
            })
            .collect()
    }
}

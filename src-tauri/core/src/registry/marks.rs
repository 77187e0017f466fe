//! What the user decided about single memories: one row per scope and memory, changed by one statement each.

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{Registry, RegistryError, stamp, time};
use crate::marks::{Mark, Marked, Marks, Scope};
use crate::source::{Snippet, Speaker};

fn speaker_name(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::User => "user",
        Speaker::Agent => "agent",
        Speaker::Store => "store",
    }
}

fn speaker(name: &str) -> Result<Speaker, RegistryError> {
    [Speaker::User, Speaker::Agent, Speaker::Store]
        .into_iter()
        .find(|speaker| speaker_name(*speaker) == name)
        .ok_or(RegistryError::Unreadable { what: "marks.speaker", value: name.into() })
}

fn marked(row: &SqliteRow) -> Result<Marked, RegistryError> {
    let scope: String = row.try_get("scope")?;
    let mark: String = row.try_get("mark")?;
    let said: Option<String> = row.try_get("said_at")?;
    Ok(Marked {
        scope: if scope.is_empty() { Scope::Everywhere } else { Scope::Project(scope) },
        mark: Mark::from_name(&mark).ok_or(RegistryError::Unreadable { what: "marks.mark", value: mark })?,
        times: row.try_get("times")?,
        pending: row.try_get("pending")?,
        memory: Snippet {
            source: row.try_get("source")?,
            id: row.try_get("id")?,
            title: row.try_get("title")?,
            text: row.try_get("text")?,
            at: said.map(|at| time("marks.said_at", &at)).transpose()?,
            speaker: speaker(row.try_get("speaker")?)?,
            project: row.try_get("project")?,
            session: row.try_get("session")?,
            score: 0.0,
            importance: None,
        },
        content: row.try_get("content")?,
        at: time("marks.at", row.try_get("at")?)?,
    })
}

impl Registry {
    /// All marks, newest first.
    pub async fn marks(&self) -> Result<Vec<Marked>, RegistryError> {
        let rows = sqlx::query("SELECT * FROM marks ORDER BY at DESC, scope, source, id")
            .fetch_all(&mut *self.lock().await)
            .await?;
        Ok(self.readable(&rows, "marks", marked))
    }

    /// Those that hold in a project.
    pub async fn marks_in(&self, project: &str) -> Result<Marks, RegistryError> {
        Ok(Marks::in_force(self.marks().await?, project))
    }

    /// Marks a memory. A mark takes the place of another in the same scope; dropping what is dropped counts.
    pub async fn set_mark(
        &self,
        scope: &Scope,
        mark: Mark,
        memory: &Snippet,
        content: &str,
        now: DateTime<Utc>,
    ) -> Result<(), RegistryError> {
        sqlx::query(
            "INSERT INTO marks (scope, source, id, mark, times, pending, content, title, text, said_at, speaker,
                                project, session, at)
             VALUES (?1, ?2, ?3, ?4, 1, ?4 = 'drop', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT (scope, source, id) DO UPDATE SET
                 times = CASE WHEN mark = 'drop' AND ?4 = 'drop' THEN times + 1 ELSE 1 END,
                 mark = ?4, pending = ?4 = 'drop', content = ?5, title = ?6, text = ?7, said_at = ?8, speaker = ?9,
                 project = ?10, session = ?11, at = ?12",
        )
        .bind(scope.project().unwrap_or_default())
        .bind(&memory.source)
        .bind(&memory.id)
        .bind(mark.name())
        .bind(content)
        .bind(&memory.title)
        .bind(&memory.text)
        .bind(memory.at.map(stamp))
        .bind(speaker_name(memory.speaker))
        .bind(&memory.project)
        .bind(&memory.session)
        .bind(stamp(now))
        .execute(&mut *self.lock().await)
        .await?;
        Ok(())
    }

    /// Takes a mark back; false where there was none.
    pub async fn remove_mark(&self, scope: &Scope, source: &str, id: &str) -> Result<bool, RegistryError> {
        let done = sqlx::query("DELETE FROM marks WHERE scope = ? AND source = ? AND id = ?")
            .bind(scope.project().unwrap_or_default())
            .bind(source)
            .bind(id)
            .execute(&mut *self.lock().await)
            .await?;
        Ok(done.rows_affected() > 0)
    }

    /// A spawn was made in that project without these dropped memories, by source, id and fingerprint: from now on they
    /// only weigh less. `until` is when its briefing was made; what was dropped later still waits.
    pub async fn drops_done(
        &self,
        project: &str,
        left_out: &[(String, String, String)],
        until: DateTime<Utc>,
    ) -> Result<(), RegistryError> {
        let mut connection = self.lock().await;
        for (source, id, content) in left_out {
            sqlx::query(
                "UPDATE marks SET pending = 0
                 WHERE mark = 'drop' AND pending AND scope IN ('', ?1) AND at <= ?5
                   AND ((source = ?2 AND id = ?3) OR (content <> '' AND content = ?4))",
            )
            .bind(project)
            .bind(source)
            .bind(id)
            .bind(content)
            .bind(stamp(until))
            .execute(&mut *connection)
            .await?;
        }
        Ok(())
    }
}

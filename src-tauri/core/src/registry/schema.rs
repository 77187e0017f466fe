//! The database's shape, grown only forward. `PRAGMA user_version` is the number of steps taken.

use std::path::Path;

use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Row};

use super::RegistryError;

/// Each step takes a database from its index to the next version. Landed steps are never edited.
const STEPS: &[&str] = &[
    "
    CREATE TABLE agents (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        folder TEXT NOT NULL,
        project TEXT NOT NULL,
        host_agent TEXT NOT NULL,
        prompt TEXT,
        query TEXT NOT NULL,
        permission TEXT NOT NULL,
        way TEXT NOT NULL,
        briefing_hash TEXT,
        session TEXT,
        terminal TEXT,
        handle TEXT,
        pid INTEGER,
        pid_started INTEGER,
        tty TEXT,
        state TEXT NOT NULL,
        needs TEXT,
        receipt TEXT,
        created_at TEXT NOT NULL,
        sign_at TEXT NOT NULL,
        ended_at TEXT
    ) STRICT;
    CREATE UNIQUE INDEX agents_live_name ON agents (name) WHERE ended_at IS NULL;
    CREATE TABLE sessions (
        session TEXT NOT NULL,
        agent TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
        source TEXT NOT NULL,
        at TEXT NOT NULL,
        PRIMARY KEY (agent, session)
    ) STRICT;
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL,
        at TEXT NOT NULL,
        event TEXT NOT NULL,
        session TEXT,
        detail TEXT NOT NULL
    ) STRICT;
    CREATE INDEX events_agent ON events (agent, id);
    CREATE TABLE changes (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL,
        at TEXT NOT NULL,
        change TEXT NOT NULL,
        state TEXT NOT NULL
    ) STRICT;
    CREATE INDEX changes_agent ON changes (agent, id);
    CREATE TABLE folders (
        folder TEXT PRIMARY KEY,
        trust_agreed_at TEXT,
        skip_agreed_at TEXT,
        choices TEXT
    ) STRICT;
    CREATE TABLE pauses (source TEXT PRIMARY KEY, until TEXT NOT NULL) STRICT;
",
    "
    ALTER TABLE agents ADD COLUMN state_at TEXT;
    ALTER TABLE agents ADD COLUMN state_by TEXT;
    ALTER TABLE agents ADD COLUMN version TEXT;
    ALTER TABLE agents ADD COLUMN args TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE agents ADD COLUMN worktree TEXT;
    ALTER TABLE agents ADD COLUMN archived_at TEXT;
    CREATE TABLE states (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
        at TEXT NOT NULL,
        state TEXT NOT NULL,
        needs TEXT,
        by TEXT
    ) STRICT;
    CREATE INDEX states_agent ON states (agent, id);
    CREATE TRIGGER agents_begin AFTER INSERT ON agents BEGIN
        INSERT INTO states (agent, at, state, needs, by)
        VALUES (NEW.id, coalesce(NEW.state_at, NEW.created_at), NEW.state, NEW.needs, NEW.state_by);
    END;
    CREATE TRIGGER agents_turn AFTER UPDATE OF state, needs ON agents
    WHEN NEW.state IS NOT OLD.state OR NEW.needs IS NOT OLD.needs BEGIN
        INSERT INTO states (agent, at, state, needs, by)
        VALUES (NEW.id, coalesce(NEW.state_at, NEW.created_at), NEW.state, NEW.needs, NEW.state_by);
    END;
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
        at TEXT NOT NULL,
        text TEXT NOT NULL,
        state TEXT NOT NULL,
        settled_at TEXT,
        note TEXT
    ) STRICT;
    CREATE INDEX messages_agent ON messages (agent, id);
    CREATE TABLE checkpoints (
        id TEXT PRIMARY KEY,
        agent TEXT NOT NULL,
        at TEXT NOT NULL,
        message TEXT,
        data TEXT NOT NULL
    ) STRICT;
    CREATE INDEX checkpoints_agent ON checkpoints (agent, at);
",
    "
    ALTER TABLE agents ADD COLUMN claim TEXT;
    ALTER TABLE agents ADD COLUMN claim_at TEXT;
    ALTER TABLE agents ADD COLUMN ends_as TEXT;
",
    "
    ALTER TABLE agents ADD COLUMN pid_mark TEXT;
    ALTER TABLE agents ADD COLUMN starting_since TEXT;
    ALTER TABLE sessions ADD COLUMN parent TEXT;
",
    "
    ALTER TABLE messages ADD COLUMN sent TEXT;
",
    "
    ALTER TABLE events ADD COLUMN nonce TEXT;
    CREATE UNIQUE INDEX events_nonce ON events (agent, nonce);
",
    "
    CREATE TABLE consents (
        folder TEXT NOT NULL,
        host_agent TEXT NOT NULL,
        trust_agreed_at TEXT,
        skip_agreed_at TEXT,
        PRIMARY KEY (folder, host_agent)
    ) STRICT;
    INSERT INTO consents (folder, host_agent, trust_agreed_at, skip_agreed_at)
        SELECT folder, 'claude-code', trust_agreed_at, skip_agreed_at FROM folders
        WHERE trust_agreed_at IS NOT NULL OR skip_agreed_at IS NOT NULL;
    ALTER TABLE folders DROP COLUMN trust_agreed_at;
    ALTER TABLE folders DROP COLUMN skip_agreed_at;
",
    "
    CREATE TABLE marks (
        scope TEXT NOT NULL,
        source TEXT NOT NULL,
        id TEXT NOT NULL,
        mark TEXT NOT NULL,
        times INTEGER NOT NULL,
        pending INTEGER NOT NULL,
        content TEXT NOT NULL,
        title TEXT NOT NULL,
        text TEXT NOT NULL,
        said_at TEXT,
        speaker TEXT NOT NULL,
        project TEXT,
        session TEXT,
        at TEXT NOT NULL,
        PRIMARY KEY (scope, source, id)
    ) STRICT;
    CREATE TABLE briefings (
        agent TEXT PRIMARY KEY,
        folder TEXT NOT NULL,
        at TEXT NOT NULL,
        edited INTEGER NOT NULL,
        lines TEXT NOT NULL
    ) STRICT;
    CREATE INDEX briefings_folder ON briefings (folder, at);
",
    "
    ALTER TABLE agents ADD COLUMN origin TEXT;
    ALTER TABLE agents ADD COLUMN origin_name TEXT;
    ALTER TABLE agents ADD COLUMN origin_checkpoint TEXT;
",
    "
    ALTER TABLE consents ADD COLUMN trust_enables TEXT;
",
];

/// Newest version we know.
pub(super) fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

/// The first step alone.
#[cfg(test)]
pub(super) fn first() -> &'static str {
    STEPS[0]
}

async fn version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let found = sqlx::query("PRAGMA user_version").fetch_one(&mut *connection).await?.get(0);
    // A connection remembers the tables as it first saw them, and a pragma does not make it look again. Had another
    // process changed them since, the first rows read would be wider than this one thinks.
    sqlx::query("SELECT count(*) FROM sqlite_schema").fetch_one(connection).await?;
    Ok(found)
}

/// Brings the database to our version.
pub(super) async fn migrate(connection: &mut SqliteConnection, path: &Path) -> Result<(), RegistryError> {
    if version(connection).await? == known() {
        return Ok(());
    }
    // Immediate: of several processes that find an old database one migrates and the others then find it done.
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let found = version(&mut transaction).await?;
    refuse_newer(found, path)?;
    let from = usize::try_from(found).unwrap_or(0);
    for (index, step) in STEPS.iter().enumerate().skip(from) {
        sqlx::raw_sql(*step).execute(&mut *transaction).await?;
        // A pragma takes no bound values; this one is a number of ours.
        let pragma = format!("PRAGMA user_version = {}", index + 1);
        sqlx::raw_sql(sqlx::AssertSqlSafe(pragma)).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Refuses a database of any other version than ours.
pub(super) async fn require_current(
    connection: &mut SqliteConnection,
    path: &Path,
) -> Result<(), RegistryError> {
    let found = version(connection).await?;
    if found == known() {
        return Ok(());
    }
    Err(RegistryError::Newer { path: path.to_path_buf(), found, known: known() })
}

fn refuse_newer(found: i64, path: &Path) -> Result<(), RegistryError> {
    if found > known() {
        return Err(RegistryError::Newer { path: path.to_path_buf(), found, known: known() });
    }
    Ok(())
}

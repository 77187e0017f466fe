//! What is known about every agent: SQLite rows that app, command line and hooks write at once and lose nothing.
//!
//! One short transaction per fact; the database is in WAL mode, so that readers never wait for writers. It knows
//! rows, not meaning: which state follows from which evidence is decided elsewhere.

pub mod agents;
pub mod briefings;
pub mod change;
pub mod checkpoints;
pub mod claims;
pub mod conversations;
mod copy;
pub mod events;
pub mod folders;
pub mod journal;
pub mod marks;
pub mod messages;
mod schema;
pub mod states;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex as Cell, PoisonError};
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Row};
use tokio::sync::{Mutex, MutexGuard};

use crate::host::files;
use crate::host::writing::{self, Refusal};

/// SQLite's codes for a database that is malformed, and for a file that is none.
const DAMAGED: [&str; 2] = ["11", "26"];

/// Whether the database itself does not read, rather than the machine standing in the way.
pub(crate) fn is_damaged(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(e) if e.code().is_some_and(|code| DAMAGED.contains(&&*code)))
}

/// Why the registry could not answer.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The database is of a later version of PAO. It is left untouched.
    #[error("the registry {} was written by a newer pao (schema {found}, this one knows {known})", .path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest one we know.
        known: i64,
    },
    /// The folder or file cannot be made or opened.
    #[error("the registry {} cannot be opened: {source}", .path.display())]
    Open {
        /// The database.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Nothing can be written to it.
    #[error("nothing can be written to {}: {refusal}", .folder.display())]
    Unwritable {
        /// Our folder.
        folder: PathBuf,
        /// Why not.
        refusal: Refusal,
    },
    /// Another process keeps it, and was waited for.
    #[error("the registry {} has been kept by another process for {} s", .path.display(), .waited.as_secs())]
    Kept {
        /// The database.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// The database refused.
    #[error("the registry could not be read or written: {0}")]
    Database(#[from] sqlx::Error),
    /// A row of ours does not read as we write it.
    #[error("the registry holds something unreadable in {what}: {value:?}")]
    Unreadable {
        /// Table and column.
        what: &'static str,
        /// What stands there.
        value: String,
    },
    /// Another live agent has this name.
    #[error("another live agent is named {0}")]
    NameTaken(String),
}

impl From<RegistryError> for crate::Error {
    fn from(error: RegistryError) -> Self {
        let next = match &error {
            RegistryError::Newer { .. } => "update pao, or set PAO_HOME to another folder".to_string(),
            RegistryError::Open { path, .. } => {
                format!("make {} readable and writable for you", path.display())
            }
            RegistryError::Unwritable { folder, refusal } => refusal.next(folder),
            RegistryError::Kept { path, .. } => {
                format!("see which one with: lsof {}; wait for it or end it, then try again", path.display())
            }
            RegistryError::Database(_) if is_busy(&error) => {
                "another process keeps it; wait for that one to end, then try again".to_string()
            }
            RegistryError::Database(error) if is_damaged(error) => {
                "it is damaged or no registry: move registry.db in PAO's folder elsewhere, with its -wal and -shm, or \
                 put a backup in its place"
                    .to_string()
            }
            RegistryError::Database(_) => {
                "check that the disk is not read-only, its free space and who may write to PAO's folder, then run `pao doctor`"
                    .to_string()
            }
            RegistryError::Unreadable { .. } => return Self::internal(error.to_string()),
            RegistryError::NameTaken(_) => "choose another with --name, or see `pao agents`".to_string(),
        };
        match error {
            RegistryError::NameTaken(_) => {
                Self::user(error.to_string(), next).in_window("choose another name")
            }
            RegistryError::Unwritable { .. } => {
                Self::environment(error.to_string(), next).after("nothing was begun")
            }
            _ => Self::environment(error.to_string(), next),
        }
    }
}

/// An open registry. One connection; methods queue up on it.
#[derive(Debug)]
pub struct Registry {
    connection: Mutex<SqliteConnection>,
    path: PathBuf,
    refusal: Option<Refusal>,
    unreadable: Cell<BTreeSet<Unreadable>>,
}

/// A row that does not read as we write it. Others are not kept from answering by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreadable {
    /// Its table.
    pub table: &'static str,
    /// Registry id of the agent it belongs to.
    pub agent: String,
    /// Which row and what is wrong with it, for people.
    pub what: String,
}

impl Unreadable {
    fn new(table: &'static str, row: &SqliteRow, error: &RegistryError) -> Self {
        let agent = if table == AGENTS { "id" } else { "agent" };
        let agent = row.try_get_unchecked::<String, _>(agent).unwrap_or_default();
        let why = match error {
            RegistryError::Unreadable { what, value } => format!("{what} is {value:?}"),
            RegistryError::Database(sqlx::Error::ColumnDecode { index, .. }) => {
                format!("{table}.{} is out of range", index.trim_matches('"'))
            }
            other => other.to_string(),
        };
        Self { table, what: format!("a row of agent {agent} does not read: {why}"), agent }
    }

    /// One thing to do next.
    pub fn next(&self) -> String {
        match self.table {
            AGENTS => format!("take back what was done for it: pao undo {} --end", self.agent),
            CHANGES => format!("look yourself at what agent {} left in its folder", self.agent),
            _ => "nothing else is lost by it".into(),
        }
    }
}

const AGENTS: &str = "agents";
const CHANGES: &str = "changes";

impl Registry {
    /// Opens the database, creating or migrating it forward; refuses one written by a newer version, and one to which
    /// nothing can be written.
    pub async fn open(path: &Path) -> Result<Self, RegistryError> {
        if let Some(refusal) = refused(path) {
            return Err(RegistryError::Unwritable { folder: folder_of(path).to_path_buf(), refusal });
        }
        let registry = Self::open_within(path, PATIENCE).await?;
        registry.writable(PATIENCE).await?;
        Ok(registry)
    }

    /// The same for whoever only asks: waits a moment, does not need to write, and where there is no database an
    /// empty one in memory stands in for it, so that nothing is created. One to which nothing can be written is read
    /// all the same (see [`Registry::refusal`]).
    pub async fn open_to_ask(path: &Path) -> Result<Self, RegistryError> {
        if let Ok(false) = path.try_exists() {
            return Self::in_memory().await;
        }
        if let Some(refusal) = refused(path) {
            return Self::copied(path, refusal).await;
        }
        match Self::open_within(path, MOMENT).await {
            // A quota, or who was faster with the last bytes.
            Err(error) => match refused_by(&error) {
                Some(refusal) => Self::copied(path, refusal).await.map_err(|_| error),
                None => Err(error),
            },
            opened => opened,
        }
    }

    /// What is known, read from a copy that is gone with this process.
    async fn copied(path: &Path, refusal: Refusal) -> Result<Self, RegistryError> {
        let connection = copy::open(path).await?;
        Ok(Self { refusal: Some(refusal), ..Self::over(connection, path.to_path_buf()) })
    }

    /// Why nothing can be written to it, so that all that is noted here is gone with this process. Nothing may be done
    /// then that has to be noted for good.
    pub fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    async fn open_within(path: &Path, patience: Duration) -> Result<Self, RegistryError> {
        let io = |source| RegistryError::Open { path: path.to_path_buf(), source };
        files::private_dir(folder_of(path)).map_err(io)?;
        // SQLite gives its other files the mode of this one.
        files::private_file(path).map_err(io)?;
        let begun = Instant::now();
        loop {
            let left = patience.saturating_sub(begun.elapsed());
            match Self::connected(path, left).await {
                // SQLite does not wait while a new database is turned to its write-ahead log by another process.
                Err(error) if is_busy(&error) && begun.elapsed() < patience => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) if is_busy(&error) => {
                    return Err(RegistryError::Kept { path: path.to_path_buf(), waited: patience });
                }
                other => return other,
            }
        }
    }

    async fn connected(path: &Path, patience: Duration) -> Result<Self, RegistryError> {
        let mut connection = connect(path, patience).await?;
        schema::migrate(&mut connection, path).await?;
        Ok(Self::over(connection, path.to_path_buf()))
    }

    fn over(connection: SqliteConnection, path: PathBuf) -> Self {
        Self { connection: Mutex::new(connection), path, refusal: None, unreadable: Cell::default() }
    }

    /// Waits for whoever is writing right now: better once here, with one clear error, than at every later write.
    async fn writable(&self, waited: Duration) -> Result<(), RegistryError> {
        let mut connection = self.lock().await;
        let tried = sqlx::raw_sql("BEGIN IMMEDIATE; ROLLBACK").execute(&mut *connection).await;
        match tried.map_err(RegistryError::from) {
            Err(error) if is_busy(&error) => Err(RegistryError::Kept { path: self.path.clone(), waited }),
            other => other.map(drop),
        }
    }

    /// Whether another process writes right now and goes on with it for longer than a moment.
    pub async fn is_kept(&self) -> bool {
        matches!(self.writable(MOMENT).await, Err(RegistryError::Kept { .. }))
    }

    /// Rows that were left out of an answer because they do not read.
    pub fn unreadable(&self) -> Vec<Unreadable> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// The rows that read; the others are noted.
    fn readable<T>(
        &self,
        rows: &[SqliteRow],
        table: &'static str,
        read: impl Fn(&SqliteRow) -> Result<T, RegistryError>,
    ) -> Vec<T> {
        let mut all = Vec::with_capacity(rows.len());
        for row in rows {
            match read(row) {
                Ok(value) => all.push(value),
                Err(error) => {
                    let noted = Unreadable::new(table, row, &error);
                    self.unreadable.lock().unwrap_or_else(PoisonError::into_inner).insert(noted);
                }
            }
        }
        all
    }

    /// An empty registry that is gone with this process.
    pub async fn in_memory() -> Result<Self, RegistryError> {
        let path = PathBuf::from(":memory:");
        let mut connection = SqliteConnectOptions::new().in_memory(true).foreign_keys(true).connect().await?;
        schema::migrate(&mut connection, &path).await?;
        Ok(Self::over(connection, path))
    }

    /// Opens an existing database of exactly our version without touching its schema, waiting at most `patience`
    /// for another writer. For hooks, which must neither create nor migrate anything.
    pub async fn open_as_is(path: &Path, patience: Duration) -> Result<Self, RegistryError> {
        if !path.exists() {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(RegistryError::Open { path: path.to_path_buf(), source });
        }
        let mut connection = connect(path, patience).await?;
        schema::require_current(&mut connection, path).await?;
        Ok(Self::over(connection, path.to_path_buf()))
    }

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the database in order, so that its write-ahead log is folded in.
    pub async fn close(self) {
        let _ = self.connection.into_inner().close().await;
    }

    async fn lock(&self) -> MutexGuard<'_, SqliteConnection> {
        self.connection.lock().await
    }
}

/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long by whoever only asks.
const MOMENT: Duration = Duration::from_secs(1);

fn is_busy(error: &RegistryError) -> bool {
    code(error) == Some(5)
}

/// SQLite's code, where it is one of its errors.
fn code(error: &RegistryError) -> Option<i32> {
    let RegistryError::Database(sqlx::Error::Database(error)) = error else { return None };
    // Extended codes carry the primary one in their lowest byte.
    error.code().and_then(|code| code.parse::<i32>().ok()).map(|code| code & 0xff)
}

/// What SQLite says of a database that cannot be written.
fn refused_by(error: &RegistryError) -> Option<Refusal> {
    match code(error)? {
        3 | 8 => Some(Refusal::NotAllowed),
        13 => Some(Refusal::Full),
        _ => None,
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// What stands against writing to a database and to what SQLite keeps beside it.
fn refused(path: &Path) -> Option<Refusal> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let names = ["", "-wal", "-shm"].map(|end| format!("{name}{end}"));
    writing::refused(folder_of(path), &names.each_ref().map(String::as_str))
}

async fn connect(path: &Path, patience: Duration) -> Result<SqliteConnection, sqlx::Error> {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // In WAL mode a power cut can lose the last commits but never corrupts; the journal of changes asks for
        // more where it matters (see `journal`).
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(patience)
        .foreign_keys(true)
        .disable_statement_logging()
        .connect()
        .await
}

pub(crate) fn time(what: &'static str, value: &str) -> Result<chrono::DateTime<chrono::Utc>, RegistryError> {
    chrono::DateTime::parse_from_rfc3339(value)
        .map(|t| t.to_utc())
        .map_err(|_| RegistryError::Unreadable { what, value: value.into() })
}

pub(crate) fn stamp(at: chrono::DateTime<chrono::Utc>) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}

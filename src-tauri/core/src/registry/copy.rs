//! Reading a registry to which nothing can be written, from a copy of it.
//!
//! SQLite wants to write before it reads: it makes a file for its write-ahead log, brings an older schema forward, and
//! told to leave all as it is (`immutable`) it would leave the last commits unread. A copy may be written, so what is
//! seen of agents meanwhile can be noted there, for as long as this process lives. Its file is gone from the disk
//! before anybody reads from it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use tempfile::TempDir;

use super::{RegistryError, schema};
use crate::host::files;

/// How often a copy is begun anew because another process wrote meanwhile.
const TRIES: usize = 5;
/// In memory, for when the folder for temporary files is on the same full disk.
const MEMORY: &str = "/dev/shm";

/// Opens a copy.
pub(super) async fn open(path: &Path) -> Result<SqliteConnection, RegistryError> {
    let copied = copied(path).map_err(|source| RegistryError::Open { path: path.to_path_buf(), source })?;
    let mut connection = SqliteConnectOptions::new()
        .filename(copied.path().join(NAME))
        // Folds the write-ahead log in, and needs no file from then on.
        .journal_mode(SqliteJournalMode::Memory)
        .pragma("temp_store", "MEMORY")
        .foreign_keys(true)
        .disable_statement_logging()
        .connect()
        .await?;
    schema::migrate(&mut connection, path).await?;
    Ok(connection)
}

const NAME: &str = "registry.db";

/// The copy, in a folder that is removed when dropped.
fn copied(path: &Path) -> io::Result<TempDir> {
    let mut private = tempfile::Builder::new();
    private.prefix("pao-").permissions(Permissions::from_mode(0o700));
    private.tempdir().and_then(|folder| filled(folder, path)).or_else(|first| {
        let in_memory = private.tempdir_in(MEMORY).and_then(|folder| filled(folder, path));
        in_memory.map_err(|_| first)
    })
}

fn filled(folder: TempDir, path: &Path) -> io::Result<TempDir> {
    let log = beside(path);
    let (copy, copied_log) = (folder.path().join(NAME), beside(&folder.path().join(NAME)));
    for _ in 0..TRIES {
        let before = (stamp(path), stamp(&log));
        // The log first: what it holds may be in the database already, never the other way round.
        match fs::copy(&log, &copied_log) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                files::remove_if_there(&copied_log)?;
            }
            other => private(&copied_log, other)?,
        }
        private(&copy, fs::copy(path, &copy))?;
        if (stamp(path), stamp(&log)) == before {
            break;
        }
    }
    Ok(folder)
}

/// A copy has its original's permissions, which may not let us write.
fn private(copy: &Path, copied: io::Result<u64>) -> io::Result<()> {
    copied.and_then(|_| fs::set_permissions(copy, Permissions::from_mode(0o600)))
}

/// SQLite's write-ahead log of a database.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// What is another as soon as somebody has written to a file.
fn stamp(path: &Path) -> Option<(u64, i64, i64)> {
    let meta = path.metadata().ok()?;
    Some((meta.len(), meta.mtime(), meta.mtime_nsec()))
}

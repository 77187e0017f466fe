//! Cleanup: puts away what PAO itself wrote for agents that are gone, and can put all of it back.
//!
//! Look ([`plan`]), show, do ([`apply`]), undo ([`undo`]). Whatever is taken away is first kept in a folder of its
//! own below the data home, with a list of what it was. Only agents whose process and terminal are both gone count
//! as dead; age never makes one so. The user's work, what others wrote, and a paused agent that was not named are
//! never touched. One cleanup at a time; one that was cut short is finished by whoever comes by next.

mod apply;
pub mod automatic;
mod orphans;
mod plan;
mod record;
#[cfg(test)]
mod tests;
mod undo;
pub mod work;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

pub use apply::{Done, apply, finish};
pub use plan::{Asks, FRESH, Group, Item, Of, Plan, Thing, Wanted, plan};
pub use record::{Aside, Part, Piece, Record, Stage, Standing, history};
pub use undo::undo;

use crate::host::process::RunError;
use crate::host::terminal::TerminalError;
use crate::host::{Host, files};
use crate::registry::RegistryError;
use crate::spawn::deliver::DeliverError;
use crate::spawn::launch::LaunchError;
use crate::spawn::trust::TrustError;

/// How long what was cleaned up is kept at least. Afterwards a cleanup offers to remove it for good.
pub const KEPT: TimeDelta = TimeDelta::days(30);

/// How long another process that cleans up is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a cleanup could not be made or undone.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// Another process is at it.
    #[error("another pao is cleaning up")]
    Busy,
    /// No agent or leftover is called that.
    #[error("there is no agent {0} to clean up")]
    Nobody(String),
    /// There is no such cleanup.
    #[error("there is no cleanup {0}")]
    NoSuch(String),
    /// There is none at all that could be undone.
    #[error("no cleanup is left to undo")]
    None,
    /// It was undone before.
    #[error("the cleanup {id} was undone {at}")]
    Undone {
        /// Which.
        id: String,
        /// When.
        at: DateTime<Utc>,
    },
    /// A file of a cleanup.
    #[error("{}: {source}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What a cleanup wrote down does not read.
    #[error("{} does not read: {why}", .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The registry.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A file of a delivery.
    #[error(transparent)]
    Deliver(#[from] DeliverError),
    /// The trust record.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// A window or process.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A terminal.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// git.
    #[error(transparent)]
    Program(#[from] RunError),
}

impl CleanError {
    fn file(path: &Path, source: io::Error) -> Self {
        CleanError::File { path: path.to_path_buf(), source }
    }
}

impl From<CleanError> for crate::Error {
    fn from(error: CleanError) -> Self {
        let message = error.to_string();
        match error {
            CleanError::Busy => Self::environment(message, "wait for that one to end, then try again"),
            CleanError::Nobody(_) => {
                Self::user(message, "see `pao agents --all`").in_window("look at the list of agents")
            }
            CleanError::NoSuch(_) | CleanError::None | CleanError::Undone { .. } => {
                Self::user(message, "see `pao agents clean --history`")
                    .in_window("look at what was cleaned up, under Clean up…")
            }
            CleanError::File { .. } => {
                Self::environment(message, "check the disk's free space and permissions, then try again")
            }
            CleanError::Unreadable { path, .. } => {
                Self::environment(message, format!("look at {}", path.display()))
            }
            CleanError::Registry(e) => e.into(),
            CleanError::Deliver(e) => e.into(),
            CleanError::Trust(e) => e.into(),
            CleanError::Launch(e) => e.into(),
            CleanError::Terminal(e) => e.into(),
            CleanError::Program(_) => Self::environment(message, "run `pao doctor`"),
        }
    }
}

/// One at a time: held while a cleanup is made, finished or undone.
async fn alone(host: &Host, patience: Duration) -> Result<files::Lock, CleanError> {
    let path = lock_file(host);
    files::lock(&path, patience).await.map_err(|e| match e.kind() {
        io::ErrorKind::TimedOut => CleanError::Busy,
        _ => CleanError::file(&path, e),
    })
}

fn lock_file(host: &Host) -> PathBuf {
    host.pao_home.join("locks").join("clean.lock")
}

/// Where cleanups are kept.
fn folder(host: &Host) -> PathBuf {
    host.pao_home.join("cleanups")
}

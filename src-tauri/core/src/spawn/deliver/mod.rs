//! Fourth room: brings the briefing to the agent, and takes every trace of it away again.
//!
//! *session* writes only into the agent's private folder; *files* writes files of ours into the project, named in
//! the repository's `info/exclude`, and a reference that the host agent reads by itself. A file that is not ours
//! is never overwritten and never removed; in an instructions file of the user only our own lines are touched.
//! Look ([`plan`]), show ([`Plan::describe`]), do ([`apply`]), undo ([`undo`], [`sweep`]).

mod apply;
pub mod block;
pub mod exclude;
mod plan;
mod restore;
#[cfg(test)]
mod tests;
mod undo;

use std::path::{Path, PathBuf};

pub use apply::apply;
pub use plan::{Plan, Wanted, plan, rule};
pub use restore::{For, Restored, keepsake, restore};
pub use undo::{Undone, sweep, undo};

use crate::registry::RegistryError;

/// Name of the whole document, in the private folder and in a project.
pub const BRIEFING_FILE: &str = "CONTEXT_BRIEFING.md";
/// Name of what our hook hands over, in the private folder.
pub use crate::hook::CONTEXT_FILE as HOOK_FILE;
/// Name of the reference in a folder of instruction files.
pub const RULES_FILE: &str = "pao-briefing.md";

/// Why a briefing could not be delivered this way.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// Something that is not ours stands where our file would go.
    #[error("{} exists and was not written by pao", .0.display())]
    NotOurs(PathBuf),
    /// The repository has a file of our name, even if it is not there right now.
    #[error("{} is a file of the repository", .0.display())]
    Tracked(PathBuf),
    /// Another agent in the same folder has its briefing there.
    #[error("{} holds the briefing of another agent ({agent})", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
        /// Registry id of that agent.
        agent: String,
    },
    /// A folder or file that we would write through is a symbolic link.
    #[error("{} is a symbolic link", .0.display())]
    Link(PathBuf),
    /// The instructions file is a link to somewhere else.
    #[error("{} leads out of the project, to {}", .path.display(), .target.display())]
    Outside {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// Inside a repository's own folder nothing is ever written.
    #[error("{} is inside a repository's own .git folder", .0.display())]
    InsideGit(PathBuf),
    /// The path cannot be named in an exclude file.
    #[error("{} cannot be named in .git/info/exclude", .0.display())]
    Unnameable(PathBuf),
    /// The file or folder is read-only for us, or of the wrong kind.
    #[error("{} cannot be written: {why}", .path.display())]
    NotWritable {
        /// What.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The instructions file cannot take our block.
    #[error("{}, {source}", .path.display())]
    Block {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: block::BlockError,
    },
    /// The file changed under our hands again and again.
    #[error("{} is being changed by another program", .0.display())]
    Contended(PathBuf),
    /// The disk refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The journal could not be written, so nothing was changed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

impl DeliverError {
    /// Whether the other way, which leaves the project alone, would still work.
    pub fn session_way_helps(&self) -> bool {
        !matches!(self, DeliverError::Io { .. } | DeliverError::Registry(_))
    }

    fn io(path: &Path, source: std::io::Error) -> Self {
        DeliverError::Io { path: path.to_path_buf(), source }
    }
}

impl From<DeliverError> for crate::Error {
    fn from(error: DeliverError) -> Self {
        let message = error.to_string();
        match error {
            DeliverError::Registry(e) => e.into(),
            DeliverError::NotOurs(path) => {
                Self::user(message, format!("use --delivery session, or move {} away", path.display()))
                    .in_window(format!("deliver it by the session hook, or move {} away", path.display()))
            }
            DeliverError::Block { path, .. } => Self::user(
                message,
                format!("mend the markers in {}, or use --delivery session", path.display()),
            )
            .in_window(format!("mend the markers in {}, or deliver it by the session hook", path.display())),
            DeliverError::Io { .. } => {
                Self::environment(message, "check the disk's free space and permissions")
            }
            _ => Self::user(message, "use --delivery session, which writes nothing into the project")
                .in_window("deliver it by the session hook, which writes nothing into the project"),
        }
    }
}

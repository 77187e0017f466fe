//! The ways into the app from outside: the file manager's entry, `pao://` links, folders handed over at a launch, the
//! command-line tool on the PATH, opening at login.
//!
//! Here stands what is written where, whether it is still there, and what a launch brings. Nothing here spawns: an
//! entrance only ever opens the app, which shows what it was given and waits for the user's word.

pub mod arrival;
pub mod autostart;
mod desktop_entry;
pub mod file_manager;
pub mod link;
mod mimeapps;
mod piece;
pub mod reveal;
pub mod tool;
mod workflow;

use std::io;
use std::path::PathBuf;

use crate::Error;

pub use piece::{Done, Found, Standing};

/// The app's identifier with the system, as its bundle has it; also the mark by which what we wrote is known as ours.
pub const APP_ID: &str = "dev.prime-agent-orchestrator.app";
/// The entry's name in a file manager.
pub const TITLE: &str = "Spawn agent here";

/// Why an entrance was not made or not taken away.
#[derive(Debug, thiserror::Error)]
pub enum EntranceError {
    /// Something of somebody else's stands there.
    #[error("{path} is there already and is not ours")]
    Foreign {
        /// Where, for people.
        path: String,
    },
    /// A file could not be written, read or removed.
    #[error("{path} cannot be changed: {source}")]
    File {
        /// Where, for people.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// There is no app to open.
    #[error("the app is not on this machine")]
    NoApp,
    /// The app runs from where it will not stay.
    #[error("the app runs from {}, where it will not stay", .0.display())]
    Passing(PathBuf),
    /// The system refused.
    #[error("{0}")]
    Refused(String),
}

impl From<EntranceError> for Error {
    fn from(error: EntranceError) -> Self {
        let message = error.to_string();
        match error {
            EntranceError::Foreign { path } => {
                Error::user(message, format!("look at {path}, move it away, then try again"))
            }
            EntranceError::File { .. } => Error::environment(message, "check who may write there"),
            EntranceError::NoApp => {
                Error::environment(message, "build and open it: `cargo xtask app` in PAO's source")
            }
            EntranceError::Passing(_) => {
                Error::environment(message, "move the app into the Applications folder and open it there")
            }
            EntranceError::Refused(_) => Error::environment(message, "look at the system's own settings"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::host::Host;

    /// A machine with that home directory and nothing else.
    pub fn host(home: &Path) -> Host {
        Host { exe: home.join("bin/pao"), ..Host::at(home) }
    }
}

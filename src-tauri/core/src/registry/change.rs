//! The journal: every change PAO makes outside its own folder, written down before it is made.
//!
//! After a crash at any moment `undo` walks an agent's changes backwards and each kind's own room reverses it,
//! looking at what is really there first.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One change, with what is needed to reverse it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// A file of ours in the user's project; removed while its bytes are still ours.
    File {
        /// Where.
        path: PathBuf,
        /// SHA-256 of what we wrote, lower-case hex.
        sha256: String,
    },
    /// A folder we had to create; removed when empty.
    Folder {
        /// Where.
        path: PathBuf,
    },
    /// A managed block in a file that belongs to the user.
    Block {
        /// The file, after following links.
        path: PathBuf,
        /// The file did not exist before.
        created: bool,
    },
    /// A line of ours in a repository's `info/exclude`.
    Exclude {
        /// The exclude file.
        path: PathBuf,
        /// The line without its ending.
        line: String,
        /// The file did not exist before.
        created: bool,
    },
    /// The host agent's trust record for a folder.
    Trust {
        /// The host agent's configuration file.
        config: PathBuf,
        /// The folder's key in it.
        folder: String,
        /// What stood there before.
        before: TrustBefore,
    },
    /// A terminal we opened.
    Terminal {
        /// Which terminal.
        terminal: String,
        /// Its handle, as that terminal wrote it.
        handle: String,
    },
    /// The agent's private folder.
    Private {
        /// Where.
        path: PathBuf,
    },
}

/// How far a trust record existed before it said yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustBefore {
    /// There was no such file.
    NoFile,
    /// No folder had an entry.
    NoRecord,
    /// The folder had none.
    NoEntry,
    /// The folder's entry did not say.
    NoKey,
    /// It said something else: the JSON value as it was written.
    Value(String),
}

//! What can go wrong with a secret, in plain sentences. Nothing here holds a value.

use std::path::PathBuf;
use std::time::Duration;

use super::super::os;
use super::{SELF_TEST, variable};
use crate::Remedy;

/// Why the system's store gave or took nothing: what can be said of it without naming a secret, and what the app tells
/// `pao` of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// There is no such store on this machine.
    NoStore,
    /// It is locked.
    Locked,
    /// The user, or a rule of the system's, said no.
    Denied,
    /// It did not answer in time.
    Silent,
    /// What it keeps is not text.
    NotText,
    /// It does not take a value of this length.
    TooLong,
    /// It keeps several values of this name.
    Several,
    /// No thread could be started to ask it.
    NoThread,
    /// Asking it broke down.
    BrokeDown,
    /// It failed for a reason that is only in the log.
    Other,
}

impl Fault {
    /// All of them: their place here is what stands for them between the app and `pao`.
    pub const ALL: [Self; 10] = [
        Self::NoStore,
        Self::Locked,
        Self::Denied,
        Self::Silent,
        Self::NotText,
        Self::TooLong,
        Self::Several,
        Self::NoThread,
        Self::BrokeDown,
        Self::Other,
    ];

    /// The same with the name of the secret and the time that was waited.
    pub fn of(self, name: &str, after: Duration) -> SecretError {
        let name = name.to_string();
        match self {
            Self::NoStore => SecretError::NoStore { name },
            Self::Locked => SecretError::Locked { name },
            Self::Denied => SecretError::Denied { name },
            Self::Silent => SecretError::Silent { name, after },
            fault => SecretError::Failed { name, fault },
        }
    }

    fn why(self) -> &'static str {
        match self {
            Self::NoStore => "there is none",
            Self::Locked => "it is locked",
            Self::Denied => "access was denied",
            Self::Silent => "it did not answer",
            Self::NotText => "the value it keeps is not text",
            Self::TooLong => "it does not take a value of this length",
            Self::Several => "it keeps several values of this name",
            Self::NoThread => "no thread could be started for it",
            Self::BrokeDown => "asking it broke down",
            Self::Other => "its own words are shown with PAO_LOG=debug",
        }
    }
}

/// Why a secret cannot be had or kept. None of these holds a value.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// There is no such store on this machine.
    #[error("there is no credential store ({}) on this machine", os::SECRET_STORE)]
    NoStore {
        /// The secret's name.
        name: String,
    },
    /// It is locked, or access was refused.
    #[error("the credential store ({}) is locked or refused access", os::SECRET_STORE)]
    Locked {
        /// The secret's name.
        name: String,
    },
    /// The user was asked and said no, or nobody could be asked.
    #[error("access to the credential store ({}) was denied", os::SECRET_STORE)]
    Denied {
        /// The secret's name.
        name: String,
    },
    /// It did not answer.
    #[error("the credential store ({}) did not answer within {} s", os::SECRET_STORE, .after.as_secs())]
    Silent {
        /// The secret's name.
        name: String,
        /// How long was waited.
        after: Duration,
    },
    /// It failed.
    #[error("the credential store ({}) failed: {}", os::SECRET_STORE, .fault.why())]
    Failed {
        /// The secret's name.
        name: String,
        /// Why.
        fault: Fault,
    },
    /// It said that all went well, yet another process does not find the value.
    #[error("the credential store ({}) does not keep values across processes: {why}", os::SECRET_STORE)]
    Forgets {
        /// What the other process saw.
        why: String,
    },
    /// Only the app reads the store, and it does not run.
    #[error("the app, which alone reads the credential store ({}), is not running", os::SECRET_STORE)]
    NotRunning {
        /// The secret's name.
        name: String,
    },
    /// The app runs and does not answer as it should.
    #[error("the app, which alone reads the credential store ({}), {why}", os::SECRET_STORE)]
    App {
        /// The secret's name.
        name: String,
        /// What it did.
        why: &'static str,
    },
    /// What stands where the app listens may be somebody else's.
    #[error("{} is not to be trusted: {why}", .path.display())]
    Untrusted {
        /// The socket, or a folder on the way to it.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// A name that could not be filed, or stand in a variable.
    #[error("{0:?} cannot be the name of a secret")]
    Name(String),
    /// No store of that name is known.
    #[error("there is no kind of secret store called {0:?}")]
    Unheard(String),
    /// The private file.
    #[error("{}: {source}", .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
}

impl SecretError {
    /// What the system's store did, where this is about that.
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Self::NoStore { .. } => Some(Fault::NoStore),
            Self::Locked { .. } => Some(Fault::Locked),
            Self::Denied { .. } => Some(Fault::Denied),
            Self::Silent { .. } => Some(Fault::Silent),
            Self::Failed { fault, .. } => Some(*fault),
            _ => None,
        }
    }

    /// One thing to do next.
    pub fn next(&self) -> String {
        self.step(other_ways)
    }

    /// The same, with what else there is to do where the store cannot be used for a secret.
    fn step(&self, other_ways: impl Fn(&str) -> String) -> String {
        match self {
            Self::Name(_) => "use letters, digits, dots, dashes and underscores, at most 64".into(),
            Self::Unheard(_) => "set secrets.store to \"auto\", \"keyring\", \"app\" or \"file\"".into(),
            Self::Locked { name } | Self::Silent { name, .. } => {
                format!("unlock it and try again, or {}", other_ways(name))
            }
            Self::Denied { name } => format!("allow it when asked again, or {}", other_ways(name)),
            Self::NotRunning { name } => format!("open it (`pao app`), or {}", other_ways(name)),
            Self::App { name, .. } => {
                format!("quit it and open it again (`pao app`), or {}", other_ways(name))
            }
            Self::Untrusted { path, .. } => {
                format!("remove {} if you do not know whose it is, then open the app again", path.display())
            }
            Self::File { path, .. } => {
                format!("make {} readable and writable for you alone", path.display())
            }
            Self::NoStore { name } | Self::Failed { name, .. } => other_ways(name),
            Self::Forgets { .. } => other_ways(SELF_TEST),
        }
    }
}

impl From<SecretError> for crate::Error {
    fn from(error: SecretError) -> Self {
        let (message, next) = (error.to_string(), error.next());
        let in_window = error.step(|_| IN_WINDOW.into());
        let said = match error {
            SecretError::Name(_) => Self::user(message, next),
            SecretError::Unheard(_) => Self::config(message, next),
            _ => Self::environment(message, next),
        };
        if in_window == said.next {
            return said;
        }
        said.in_window(in_window).with(Remedy::Settings("general"))
    }
}

/// What else there is to do at a window.
const IN_WINDOW: &str =
    "choose private files: `secrets.store = \"file\"` in the configuration file, which the settings open";

/// What to do where the store cannot be used for that secret.
fn other_ways(name: &str) -> String {
    // A self-test's secret is nobody's.
    let variable = if name.starts_with(SELF_TEST) {
        "for a source NAME the variable PAO_SECRET_NAME".into()
    } else {
        format!("the variable {}", variable(name))
    };
    format!("set {variable}, or choose a private file: `pao config set secrets.store file`")
}

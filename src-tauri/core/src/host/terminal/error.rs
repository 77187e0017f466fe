//! Why a terminal did not do what was asked, and the one thing to do next.

use std::path::PathBuf;
use std::time::Duration;

use super::{NAMES, ghostty, tmux};
use crate::Remedy;
use crate::host::os;

/// Why a terminal did not do it.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// It is not on this machine.
    #[error("{terminal} is not installed here")]
    NotInstalled {
        /// Which terminal.
        terminal: &'static str,
    },
    /// It does not exist on this system.
    #[error("{terminal} exists on {system} only")]
    OtherSystem {
        /// Which terminal.
        terminal: &'static str,
        /// Where it exists.
        system: &'static str,
    },
    /// Its version has no scripts, or not these (-2741, -1708).
    #[error("this version of {terminal} cannot be scripted")]
    Unscriptable {
        /// Which terminal.
        terminal: &'static str,
    },
    /// No terminal of that name is known.
    #[error("there is no terminal called {0}")]
    Unheard(String),
    /// macOS does not let us control it (-1743).
    #[error("macOS does not allow pao to control {terminal}")]
    Denied {
        /// Which terminal.
        terminal: &'static str,
    },
    /// Nobody answered the system's question within our own limit.
    #[error(
        "macOS is waiting for your answer whether pao may control {terminal} (gave up after {} s)",
        .after.as_secs()
    )]
    Unanswered {
        /// Which terminal.
        terminal: &'static str,
        /// How long was waited.
        after: Duration,
    },
    /// It is not running, or ended while it was asked (-600, -609).
    #[error("{terminal} is not running or quit while it was asked")]
    NotRunning {
        /// Which terminal.
        terminal: &'static str,
    },
    /// It did not answer in time (-1712, or our own limit).
    #[error("{terminal} did not answer in time")]
    TimedOut {
        /// Which terminal.
        terminal: &'static str,
    },
    /// The window is no longer there (-1728).
    #[error("the window in {terminal} is gone")]
    Gone {
        /// Which terminal.
        terminal: &'static str,
    },
    /// Something still runs in the window, or it holds other tabs, so it was left open.
    #[error("the window in {terminal} was left open: {because}")]
    LeftOpen {
        /// Which terminal.
        terminal: &'static str,
        /// Why.
        because: &'static str,
    },
    /// It is shown in a window that could not be brought to the front.
    #[error("the window in {terminal} is open, but could not be brought to the front")]
    Behind {
        /// Which terminal.
        terminal: &'static str,
    },
    /// This terminal has no way to do it.
    #[error("{terminal} cannot {what}")]
    NotCapable {
        /// Which terminal.
        terminal: &'static str,
        /// What was wanted.
        what: &'static str,
    },
    /// The text would not arrive as it is; nothing was typed.
    #[error("the text was not typed: {0}")]
    Text(&'static str),
    /// The handle was not written by this terminal.
    #[error("the handle of the window cannot be read: {0}")]
    Handle(String),
    /// It said no.
    #[error("{terminal} refused: {text}")]
    Refused {
        /// Which terminal.
        terminal: &'static str,
        /// Its own words.
        text: String,
    },
    /// Its program could not be run.
    #[error(transparent)]
    Run(#[from] crate::host::process::RunError),
    /// A file of ours could not be written.
    #[error("{} cannot be written: {source}", .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl TerminalError {
    /// One thing to do next.
    pub fn next(&self) -> String {
        match self {
            Self::NotInstalled { terminal } if *terminal == tmux::NAME => os::INSTALL_TMUX.into(),
            Self::NotInstalled { .. } => "install it, or choose --terminal auto".into(),
            Self::OtherSystem { .. } => "choose --terminal tmux".into(),
            Self::Unheard(_) => format!("choose one of {}", NAMES.join(", ")),
            Self::Unscriptable { terminal } if *terminal == ghostty::CALLED => {
                "update it to 1.3.0 or later, or choose --terminal tmux".into()
            }
            Self::Unscriptable { .. } => "update it, or choose --terminal tmux".into(),
            // Ghostty refuses with the same number where its own setting forbids it.
            Self::Denied { terminal } if *terminal == ghostty::CALLED => {
                "allow it under System Settings > Privacy & Security > Automation, take \
                 `macos-applescript = false` out of Ghostty's configuration where it stands there, or choose \
                 --terminal tmux"
                    .into()
            }
            Self::Denied { .. } => {
                "allow it under System Settings > Privacy & Security > Automation, or choose \
                 --terminal tmux"
                    .into()
            }
            Self::Unanswered { .. } => "answer the question on the screen, then try again".into(),
            Self::NotRunning { terminal } | Self::TimedOut { terminal } => {
                format!("see whether {terminal} is responding, then try again")
            }
            Self::Gone { .. } => "see `pao agents`; the agent may have ended".into(),
            Self::LeftOpen { .. } => "close it yourself when you no longer need it".into(),
            Self::Behind { .. } => "find it among your windows".into(),
            Self::NotCapable { .. } => {
                "do it in the window yourself, or start agents with --terminal tmux".into()
            }
            Self::Text(_) => "take the control characters out, or put long text into a file".into(),
            Self::Handle(_) => "find the window yourself; `pao undo` takes back what was changed".into(),
            Self::Refused { .. } | Self::Run(_) => "run `pao doctor`".into(),
            Self::File { path, .. } => {
                format!("make {} writable for you", path.parent().unwrap_or(path).display())
            }
        }
    }
}

impl TerminalError {
    /// The next step for somebody at a window, where that is another.
    fn in_window(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotInstalled { terminal } if *terminal != tmux::NAME => {
                "install it, or choose another terminal"
            }
            Self::OtherSystem { .. } => "choose tmux",
            Self::Unscriptable { .. } => "update it, or choose tmux",
            Self::Denied { terminal } if *terminal == ghostty::CALLED => {
                "allow it under System Settings > Privacy & Security > Automation, take \
                 `macos-applescript = false` out of Ghostty's configuration where it stands there, or choose tmux"
            }
            Self::Denied { .. } => {
                "allow it under System Settings > Privacy & Security > Automation, or choose tmux"
            }
            Self::Gone { .. } => "look at the list; the agent may have ended",
            Self::NotCapable { .. } => "do it in the window yourself, or start agents in tmux",
            Self::Refused { .. } | Self::Run(_) => "try again, or choose another terminal",
            _ => return None,
        })
    }
}

impl From<TerminalError> for crate::Error {
    fn from(error: TerminalError) -> Self {
        let (message, next) = (error.to_string(), error.next());
        let said = match &error {
            TerminalError::Unheard(_) | TerminalError::Text(_) => Self::user(message, next),
            TerminalError::Denied { .. }
            | TerminalError::Unscriptable { .. }
            | TerminalError::NotRunning { .. }
            | TerminalError::TimedOut { .. }
            | TerminalError::Unanswered { .. }
            | TerminalError::OtherSystem { .. } => Self::environment(message, next).with(Remedy::InTmux),
            TerminalError::Handle(_) => Self::internal(message),
            _ => Self::environment(message, next),
        };
        match error.in_window() {
            Some(next) => said.in_window(next),
            None => said,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_a_sentence_and_a_next_step() {
        let errors = [
            TerminalError::NotInstalled { terminal: tmux::NAME },
            TerminalError::Denied { terminal: "Terminal.app" },
            TerminalError::Unanswered { terminal: "Terminal.app", after: Duration::from_secs(25) },
            TerminalError::TimedOut { terminal: "Terminal.app" },
            TerminalError::LeftOpen { terminal: "Terminal.app", because: "something still runs in it" },
        ];
        let said: Vec<String> = errors
            .into_iter()
            .map(|e| {
                let e = crate::Error::from(e);
                format!("{}: {}", e.message, e.next)
            })
            .collect();
        assert_eq!(
            said[1],
            "macOS does not allow pao to control Terminal.app: allow it under System Settings > \
            Privacy & Security > Automation, or choose --terminal tmux"
        );
        assert!(said.iter().all(|s| s.len() > 20 && !s.contains('{')));
    }

    #[test]
    fn at_a_window_nobody_is_told_of_the_command_line() {
        let terminal = "Terminal.app";
        let errors = [
            TerminalError::NotInstalled { terminal },
            TerminalError::OtherSystem { terminal, system: "macOS" },
            TerminalError::Unscriptable { terminal },
            TerminalError::Denied { terminal },
            TerminalError::Denied { terminal: ghostty::CALLED },
            TerminalError::Gone { terminal },
            TerminalError::NotCapable { terminal, what: "show it" },
            TerminalError::Refused { terminal, text: "no".into() },
        ];
        for error in errors.map(crate::Error::from) {
            let there = error.clone().for_window();
            assert_ne!(there.next, error.next);
            assert!(!there.next.contains("--") && !there.next.contains("`pao"), "{}", there.next);
        }
    }
}

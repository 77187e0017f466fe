//! Terminals behind one trait: open a window that runs a script of ours, look at it, type into it, close it.
//!
//! Terminals differ in what they can do, so each names its capabilities and the rooms use what is there. Nothing
//! here simulates keystrokes into whatever window has the focus, and no text is ever given to a shell, made part of
//! an `AppleScript` or read as a key name.

pub mod terminal_app;
pub mod tmux;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{Host, os};

/// A script of ours to run in a new window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Absolute path of an executable file whose name ends in `.command`, in a private folder of ours. Terminals
    /// may leave small files of their own beside it.
    pub path: PathBuf,
    /// Title of the window; what a terminal cannot show of it is left out.
    pub title: String,
}

/// A window that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// What the terminal needs to find it again. Opaque to everyone else.
    pub handle: String,
    /// A command with which a person reaches it, where there is one.
    pub attach: Option<String>,
    /// What the user should know: a permission that is missing, and how it was done instead.
    pub note: Option<String>,
}

/// What a terminal can do with a window.
#[expect(clippy::struct_excessive_bools, reason = "a set of independent named capabilities")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The visible text can be read.
    pub read: bool,
    /// Single keys can be pressed: arrows, Escape.
    pub keys: bool,
    /// Text can be put in.
    pub paste: bool,
    /// Putting text in also presses Return once, so that it may already be submitted afterwards.
    pub paste_returns: bool,
    /// Text of several lines can be put in.
    pub paste_lines: bool,
    /// Opening shows a window where there is a display.
    pub visible: bool,
    /// The window can be brought to the front.
    pub focus: bool,
    /// The window can be closed.
    pub close: bool,
}

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Return.
    Enter,
    /// Control-M: what some programs take for Return where they ignore the named key.
    ControlM,
    /// Escape.
    Escape,
    /// Tab.
    Tab,
    /// Control-C.
    Interrupt,
}

/// Whether what was opened still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alive {
    /// It runs.
    Yes,
    /// It has ended, or its window is gone.
    No,
    /// This terminal cannot tell; the process itself has to be looked at.
    Unknown,
}

/// Why a terminal did not do it.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// It is not on this machine.
    #[error("{terminal} is not installed here")]
    NotInstalled {
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
    Run(#[from] super::process::RunError),
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
            Self::NotInstalled { .. } | Self::Unheard(_) => "choose --terminal tmux".into(),
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

impl From<TerminalError> for crate::Error {
    fn from(error: TerminalError) -> Self {
        let (message, next) = (error.to_string(), error.next());
        match error {
            TerminalError::Unheard(_) | TerminalError::Text(_) => Self::user(message, next),
            TerminalError::Handle(_) => Self::internal(message),
            _ => Self::environment(message, next),
        }
    }
}

/// A terminal.
#[async_trait]
pub trait Terminal: Send + Sync {
    /// Name in configuration, rows and messages.
    fn name(&self) -> &'static str;

    /// What it can do at best.
    fn capabilities(&self) -> Capabilities;

    /// What it can do with this very window, which may have been opened by a lesser way.
    fn capabilities_of(&self, handle: &str) -> Capabilities {
        let _ = handle;
        self.capabilities()
    }

    /// Opens a window that runs the script.
    async fn open(&self, script: &Script) -> Result<Opened, TerminalError>;

    /// The window that runs the script, for when its handle was lost; `None` where this terminal cannot tell.
    async fn find(&self, script: &Script) -> Result<Option<String>, TerminalError> {
        let _ = script;
        Ok(None)
    }

    /// The visible text, lines separated by LF.
    async fn screen(&self, handle: &str) -> Result<String, TerminalError>;

    /// Presses one key.
    async fn key(&self, handle: &str, key: Key) -> Result<(), TerminalError>;

    /// Puts text in as a paste, without submitting it (see [`Capabilities::paste_returns`]).
    async fn paste(&self, handle: &str, text: &str) -> Result<(), TerminalError>;

    /// Presses Return.
    async fn submit(&self, handle: &str) -> Result<(), TerminalError>;

    /// Whether what was opened still runs.
    async fn alive(&self, handle: &str) -> Result<Alive, TerminalError>;

    /// The agent is up: from now on its window need no longer outlive it for the sake of its last words.
    async fn settled(&self, handle: &str) -> Result<(), TerminalError> {
        let _ = handle;
        Ok(())
    }

    /// Brings the window to the front, opening one where the terminal runs without.
    async fn focus(&self, handle: &str) -> Result<(), TerminalError>;

    /// Closes the window. That it is already gone is fine.
    async fn close(&self, handle: &str) -> Result<(), TerminalError>;

    /// A command with which a person reaches the window, where there is one.
    fn attach(&self, handle: &str) -> Option<String> {
        let _ = handle;
        None
    }
}

/// A terminal that can be asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name in the configuration and on the command line.
    pub name: &'static str,
    /// There is none of it but on macOS.
    pub only_macos: bool,
    open: fn(&Host) -> Result<Arc<dyn Terminal>, TerminalError>,
}

/// Every terminal there is a file for.
pub const KNOWN: [Known; 2] = [
    Known {
        name: terminal_app::NAME,
        only_macos: true,
        open: |host| Ok(Arc::new(terminal_app::TerminalApp::new(host)?)),
    },
    Known { name: tmux::NAME, only_macos: false, open: |host| Ok(Arc::new(tmux::Tmux::new(host)?)) },
];

/// Stands for the terminal that is usual on this system.
pub const AUTO: &str = "auto";

/// Every word that names a terminal.
pub const NAMES: [&str; KNOWN.len() + 1] = {
    let mut names = [AUTO; KNOWN.len() + 1];
    let mut at = 0;
    while at < KNOWN.len() {
        names[at + 1] = KNOWN[at].name;
        at += 1;
    }
    names
};

/// The words among them that can mean something on this system.
pub fn names_here() -> impl Iterator<Item = &'static str> {
    let here = KNOWN.iter().filter(|known| os::IS_MACOS || !known.only_macos);
    std::iter::once(AUTO).chain(here.map(|known| known.name))
}

/// The terminal of that name; `auto` is the one usual on this system. Does not start anything.
pub fn choose(host: &Host, wanted: &str) -> Result<Arc<dyn Terminal>, TerminalError> {
    let wanted = if wanted == AUTO { os::TERMINAL } else { wanted };
    match KNOWN.iter().find(|known| known.name == wanted) {
        Some(known) => (known.open)(host),
        None => Err(TerminalError::Unheard(wanted.to_string())),
    }
}

/// Refuses text that a terminal could take for something else than text: an escape sequence inside a paste would
/// end it and turn the rest into keys. Line feeds and tabs are text.
fn plain(text: &str) -> Result<(), TerminalError> {
    if text.is_empty() {
        return Err(TerminalError::Text("there is none"));
    }
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(TerminalError::Text("it contains control characters"));
    }
    Ok(())
}

/// What is left of a title when everything is taken out that any terminal could take for a command or a format.
fn plain_title(title: &str) -> String {
    let plain: String = title
        .chars()
        .map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { ' ' })
        .take(64)
        .collect();
    plain.trim().to_string()
}

/// `path` as one word of a POSIX shell.
pub fn shell_word(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let mut word = vec![b'\''];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'\'' => word.extend_from_slice(br"'\''"),
            other => word.push(*other),
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_with_control_characters_is_refused_and_lines_are_not() {
        for text in ["", "\0", "\u{1b}[201~rm", "a\rb", "a\u{9b}b", "\u{7f}"] {
            assert!(matches!(plain(text), Err(TerminalError::Text(_))), "{text:?}");
        }
        for text in ["Enter", "C-c", "-t x", "a;", "a\nb\tc", "支付 🦀"] {
            assert!(plain(text).is_ok(), "{text:?}");
        }
    }

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

    proptest! {
        #[test]
        fn a_shell_reads_a_quoted_path_back_as_it_was(path in "[^\0]{1,40}") {
            let mut script = b"printf %s ".to_vec();
            script.extend(shell_word(Path::new(&path)));
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let script: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(script);
            let run = crate::host::process::Run::new("/bin/sh").arg("-c").arg(script);
            let out = runtime.block_on(run.output()).unwrap();
            prop_assert_eq!(out.stdout, path.into_bytes());
        }
    }
}

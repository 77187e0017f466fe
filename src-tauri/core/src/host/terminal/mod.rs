//! Terminals behind one trait: open a window that runs a script of ours, look at it, type into it, close it.
//!
//! Terminals differ in what they can do, so each names its capabilities and the rooms use what is there. Nothing
//! here simulates keystrokes into whatever window has the focus, and no text is ever given to a shell, made part of
//! an `AppleScript` or read as a key name.

mod choice;
mod error;
pub mod ghostty;
pub mod iterm2;
mod osascript;
pub mod scripted;
pub mod terminal_app;
pub mod tmux;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;

pub use self::choice::{AUTO, KNOWN, Known, NAMES, choose, installed, names_here};
pub use self::error::TerminalError;
pub use self::osascript::Application;

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
    /// It is on the screen; some terminals run what they open without.
    pub shown: bool,
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

impl Capabilities {
    /// What it can do and what not, a phrase each.
    pub fn told(&self) -> String {
        let mut can = Vec::new();
        let mut cannot = Vec::new();
        let mut tell = |able: bool, what| if able { can.push(what) } else { cannot.push(what) };
        tell(self.read, "read the screen");
        tell(self.keys, "press keys");
        tell(self.paste && self.paste_lines, "put in several lines");
        if !self.paste_lines {
            tell(self.paste, "put in one line");
        }
        tell(self.focus, "bring a window to the front");
        tell(self.close, "close it");
        match (can.is_empty(), cannot.is_empty()) {
            (_, true) => format!("can {}", can.join(", ")),
            (true, _) => format!("cannot {}", cannot.join(", ")),
            _ => format!("can {}; cannot {}", can.join(", "), cannot.join(", ")),
        }
    }
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

/// A terminal.
#[async_trait]
pub trait Terminal: Send + Sync {
    /// Name in configuration, rows and messages.
    fn name(&self) -> &'static str;

    /// Name in sentences.
    fn called(&self) -> &'static str {
        self.name()
    }

    /// What it needs from the system, and how that stands as far as is known without asking; a phrase.
    fn permission(&self) -> Option<&'static str> {
        None
    }

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

    /// Whether each of these still runs, in order. Asked together where that is cheaper.
    async fn alive_each(&self, handles: &[&str]) -> Vec<Alive> {
        let mut all = Vec::with_capacity(handles.len());
        for handle in handles {
            all.push(self.alive(handle).await.unwrap_or(Alive::Unknown));
        }
        all
    }

    /// The agent is up: from now on its window need no longer outlive it for the sake of its last words.
    async fn settled(&self, handle: &str) -> Result<(), TerminalError> {
        let _ = handle;
        Ok(())
    }

    /// Brings the window to the front, opening one where the terminal runs without. `Behind` where it is open and does
    /// not come.
    async fn focus(&self, handle: &str) -> Result<(), TerminalError>;

    /// Closes the window. That it is already gone is fine.
    async fn close(&self, handle: &str) -> Result<(), TerminalError>;

    /// Who has the window's content open elsewhere, where this terminal lets others attach: the process, and since when
    /// its keyboard was not used.
    async fn clients(&self, handle: &str) -> Result<Vec<(u32, Duration)>, TerminalError> {
        let _ = handle;
        Ok(Vec::new())
    }

    /// A command with which a person reaches the window, where there is one.
    fn attach(&self, handle: &str) -> Option<String> {
        let _ = handle;
        None
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

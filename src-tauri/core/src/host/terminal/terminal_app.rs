//! Terminal.app, driven by fixed `AppleScript`s that get everything as arguments.
//!
//! Where macOS does not let us control it, the same launch script is opened as a document instead, which needs no
//! permission but leaves a window that can be neither read nor typed into. Nothing longer than `exec` and a short
//! path is ever typed, and a window is only touched again by its id and tty together.

use std::path::Path;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::osascript::{self, Application, Osascript, quotable};
use super::{Alive, Capabilities, Key, Opened, Script, Terminal, TerminalError, plain, plain_title};
use crate::host::process::{Outcome, RunError};
use crate::host::{Host, os};

/// Name in configuration, rows and messages.
pub const NAME: &str = "terminal";

/// Name in sentences.
const CALLED: &str = "Terminal.app";

/// The application.
pub static APPLICATION: Application = Application {
    name: NAME,
    called: CALLED,
    id: "com.apple.Terminal",
    bundle: None,
    term_program: "Apple_Terminal",
};

/// Longest path that is typed. A terminal line that no program reads raw yet is cut at 1,024 bytes on macOS; this
/// stays far below it.
const MAX_TYPED: usize = 240;

/// Longest text that is put into a window, for the same reason.
const MAX_LINE: usize = 1000;

const OPEN: &str = include_str!("applescript/terminal/open.applescript");
const EXISTS: &str = include_str!("applescript/terminal/exists.applescript");
const READ: &str = include_str!("applescript/terminal/read.applescript");
const SEND: &str = include_str!("applescript/terminal/send.applescript");
const FOCUS: &str = include_str!("applescript/terminal/focus.applescript");
const CLOSE: &str = include_str!("applescript/terminal/close.applescript");

/// All scripts with their names, for those who want to show or check them.
pub const SCRIPTS: &[(&str, &str)] =
    &[("open", OPEN), ("exists", EXISTS), ("read", READ), ("send", SEND), ("focus", FOCUS), ("close", CLOSE)];

/// Terminal.app as a terminal.
#[derive(Debug, Clone)]
pub struct TerminalApp(Osascript);

/// Where a window is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
enum Handle {
    /// Opened by `AppleScript`.
    Script {
        /// Terminal's id of the window.
        window: u32,
        /// Device of the tab.
        tty: String,
    },
    /// Opened as a document; Terminal did not say where.
    Document,
}

impl TerminalApp {
    /// Finds `osascript`, which is what makes Terminal.app usable.
    pub fn new(host: &Host) -> Result<Self, TerminalError> {
        Osascript::new(host, &APPLICATION).map(Self)
    }

    async fn at(&self, script: &str, handle: &str, more: &[&str]) -> Result<String, TerminalError> {
        let Handle::Script { window, tty } = read(handle)? else {
            return Err(TerminalError::NotCapable {
                terminal: CALLED,
                what: "reach a window it opened as a document",
            });
        };
        let window = window.to_string();
        let mut args = vec![window.as_str(), tty.as_str()];
        args.extend(more);
        self.0.run(script, &args).await
    }

    async fn open_by_script(&self, script: &Script) -> Result<Handle, TerminalError> {
        let path = typeable(&script.path)?;
        let answer = self.0.persistent(OPEN, &[path, &plain_title(&script.title)]).await?;
        let parsed = answer
            .split_once('|')
            .and_then(|(window, tty)| Some((window.parse().ok()?, tty.to_string())))
            .filter(|(_, tty)| tty.starts_with("/dev/"));
        let (window, tty) = parsed.ok_or(TerminalError::Refused { terminal: CALLED, text: answer })?;
        Ok(Handle::Script { window, tty })
    }

    /// Asks Terminal for consent now, forgetting what was answered before. For a user who has just changed the
    /// setting.
    pub async fn ask_again(&self) -> Result<(), TerminalError> {
        // An id that no window has: harmless where Terminal runs, and answered without an event where it does not.
        self.0.ask_again(EXISTS, &["0", "/dev/null"]).await
    }
}

/// Opens a file with Terminal as a document. It runs in a login shell; no permission is asked for.
pub(in crate::host) async fn open_document(host: &Host, script: &Path) -> Result<Outcome, RunError> {
    os::remove_quarantine(script).await;
    osascript::open(host).args(["-a", "Terminal"]).arg(script).output().await
}

fn read(handle: &str) -> Result<Handle, TerminalError> {
    serde_json::from_str(handle).map_err(|e| TerminalError::Handle(e.to_string()))
}

/// A path that every login shell reads in single quotes as it stands, short enough to be typed.
fn typeable(path: &Path) -> Result<&str, TerminalError> {
    let text = quotable(path)?;
    if text.len() > MAX_TYPED {
        return Err(TerminalError::Text("the path of the launch script is too long to be typed"));
    }
    Ok(text)
}

#[async_trait]
impl Terminal for TerminalApp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn called(&self) -> &'static str {
        CALLED
    }

    fn permission(&self) -> Option<&'static str> {
        Some(self.0.permission())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            read: true,
            keys: false,
            paste: true,
            paste_returns: true,
            paste_lines: false,
            visible: true,
            focus: true,
            close: true,
        }
    }

    fn capabilities_of(&self, handle: &str) -> Capabilities {
        match read(handle) {
            Ok(Handle::Script { .. }) => self.capabilities(),
            _ => Capabilities { visible: true, ..Capabilities::default() },
        }
    }

    async fn open(&self, script: &Script) -> Result<Opened, TerminalError> {
        let as_document = open_document(&self.0.host, &script.path);
        let (handle, note) = self.0.open(self.open_by_script(script), as_document).await?;
        let handle = serde_json::to_string(&handle.unwrap_or(Handle::Document))
            .map_err(|e| TerminalError::Handle(e.to_string()))?;
        Ok(Opened { handle, attach: None, shown: true, note })
    }

    async fn screen(&self, handle: &str) -> Result<String, TerminalError> {
        self.at(READ, handle, &[]).await
    }

    async fn key(&self, handle: &str, key: Key) -> Result<(), TerminalError> {
        if matches!(key, Key::Enter | Key::ControlM) {
            return self.submit(handle).await;
        }
        Err(TerminalError::NotCapable { terminal: CALLED, what: "press single keys" })
    }

    async fn paste(&self, handle: &str, text: &str) -> Result<(), TerminalError> {
        plain(text)?;
        if text.contains('\n') {
            return Err(TerminalError::Text("Terminal.app takes one line at a time"));
        }
        if text.len() > MAX_LINE {
            return Err(TerminalError::Text("it is too long for one line of Terminal.app"));
        }
        self.at(SEND, handle, &[text]).await.map(drop)
    }

    async fn submit(&self, handle: &str) -> Result<(), TerminalError> {
        self.at(SEND, handle, &[""]).await.map(drop)
    }

    async fn alive(&self, handle: &str) -> Result<Alive, TerminalError> {
        if read(handle)? == Handle::Document {
            return Ok(Alive::Unknown);
        }
        match self.at(EXISTS, handle, &[]).await {
            Ok(answer) if answer == "running" => Ok(Alive::Yes),
            Ok(_) | Err(TerminalError::Gone { .. }) => Ok(Alive::No),
            // Whether it runs cannot be learnt from a Terminal that does not talk to us.
            Err(_) => Ok(Alive::Unknown),
        }
    }

    async fn focus(&self, handle: &str) -> Result<(), TerminalError> {
        let Handle::Script { tty, .. } = read(handle)? else {
            return self.at(FOCUS, handle, &[]).await.map(drop);
        };
        if self.at(FOCUS, handle, &[]).await? != tty {
            return Err(TerminalError::Gone { terminal: CALLED });
        }
        // Newer systems may ignore an application's wish to come to the front; opening it is not ignored.
        let _ = osascript::open(&self.0.host).args(["-b", APPLICATION.id]).output().await;
        Ok(())
    }

    async fn close(&self, handle: &str) -> Result<(), TerminalError> {
        let left_open = |because| Err(TerminalError::LeftOpen { terminal: CALLED, because });
        if read(handle)? == Handle::Document {
            return left_open("it was opened as a document, and Terminal did not say which window that is");
        }
        match self.at(CLOSE, handle, &[]).await {
            Ok(answer) if answer == "busy" => left_open("something still runs in it"),
            Ok(answer) if answer == "shared" => left_open("it holds other tabs"),
            Ok(_) | Err(TerminalError::Gone { .. }) => Ok(()),
            Err(e) => Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_is_typed_that_a_line_might_cut() {
        assert!(typeable(Path::new("/Users/me/.pao/agents/a/launch.command")).is_ok());
        assert!(typeable(Path::new(&format!("/{}", "a".repeat(MAX_TYPED)))).is_err());
    }

    #[test]
    fn each_script_is_told_apart_by_its_first_line() {
        for (name, text) in SCRIPTS {
            assert!(text.starts_with(&format!("-- pao terminal {name}: ")), "{name}");
            assert!(text.contains("on run argv\n"), "{name}");
            insta::assert_snapshot!(*name, text);
        }
    }
}

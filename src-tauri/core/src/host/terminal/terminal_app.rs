//! Terminal.app, driven by fixed `AppleScript`s that get everything as arguments.
//!
//! The first event to Terminal makes macOS ask the user for consent; where that is denied or not answered, the same
//! launch script is opened as a document instead, which needs no permission but leaves a window that can be
//! neither read nor typed into. Nothing longer than `exec` and a short path is ever typed, and a window is only
//! touched again by its id and tty together.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Alive, Capabilities, Key, Opened, Script, Terminal, TerminalError, plain, plain_title};
use crate::host::process::{Outcome, Run, RunError};
use crate::host::{Host, files, os};

/// Name in configuration, rows and messages.
pub const NAME: &str = "terminal";

/// Name in sentences.
const CALLED: &str = "Terminal.app";

/// Longest path that is typed. A terminal line that no program reads raw yet is cut at 1,024 bytes on macOS; this
/// stays far below it.
const MAX_TYPED: usize = 240;

/// Longest text that is put into a window, for the same reason.
const MAX_LINE: usize = 1000;

/// How long an answered event may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How long the first event may take, which waits for the user's consent. Opening as a document then needs none,
/// so a longer wait would gain nothing.
const CONSENT_LIMIT: Duration = Duration::from_secs(25);

/// How long an unanswered question is remembered, so that not every start waits for it.
const UNANSWERED_FOR: chrono::TimeDelta = chrono::TimeDelta::minutes(10);

const OPEN: &str = include_str!("applescript/open.applescript");
const EXISTS: &str = include_str!("applescript/exists.applescript");
const READ: &str = include_str!("applescript/read.applescript");
const SEND: &str = include_str!("applescript/send.applescript");
const FOCUS: &str = include_str!("applescript/focus.applescript");
const CLOSE: &str = include_str!("applescript/close.applescript");

/// All scripts with their names, for those who want to show or check them.
pub const SCRIPTS: &[(&str, &str)] =
    &[("open", OPEN), ("exists", EXISTS), ("read", READ), ("send", SEND), ("focus", FOCUS), ("close", CLOSE)];

/// Terminal.app as a terminal.
#[derive(Debug, Clone)]
pub struct TerminalApp {
    host: Host,
    osascript: PathBuf,
    consent_limit: Duration,
}

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

/// What is remembered about the permission to control Terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Automation {
    /// It answered.
    Works,
    /// The user said no.
    Denied,
    /// The user said nothing, at that time.
    Unanswered(chrono::DateTime<chrono::Utc>),
}

impl TerminalApp {
    /// Finds `osascript`, which is what makes Terminal.app usable.
    pub fn new(host: &Host) -> Result<Self, TerminalError> {
        let osascript = host
            .find_on_path("osascript")
            .or_else(|| Some(PathBuf::from("/usr/bin/osascript")).filter(|p| p.is_file()))
            .ok_or(TerminalError::NotInstalled { terminal: CALLED })?;
        // A shorter wait, for tests and for those who know that nobody is there to answer.
        let consent_limit = host
            .var("PAO_CONSENT_LIMIT_MS")
            .and_then(|v| v.parse().ok())
            .map_or(CONSENT_LIMIT, Duration::from_millis);
        Ok(Self { host: host.clone(), osascript, consent_limit })
    }

    async fn script(&self, script: &str, args: &[&str]) -> Result<String, TerminalError> {
        // Only where Terminal has answered before is a silence not an unanswered question.
        let consented = self.remembered() == Some(Automation::Works);
        let limit = if consented { LIMIT } else { self.consent_limit };
        let out = Run::new(&self.osascript).arg("-").args(args).stdin(script).limit(limit).output().await;
        match out {
            Ok(out) if out.success() => {
                self.remember(Automation::Works);
                Ok(out.text())
            }
            Ok(out) => {
                let error = refusal(&out);
                if matches!(error, TerminalError::Denied { .. }) {
                    self.remember(Automation::Denied);
                }
                Err(error)
            }
            Err(RunError::TooSlow { limit, .. }) if !consented => {
                self.remember(Automation::Unanswered(self.host.now()));
                Err(TerminalError::Unanswered { terminal: CALLED, after: limit })
            }
            Err(RunError::TooSlow { .. }) => Err(TerminalError::TimedOut { terminal: CALLED }),
            Err(e) => Err(e.into()),
        }
    }

    /// As [`Self::script`], once more when Terminal quit meanwhile.
    async fn persistent(&self, script: &str, args: &[&str]) -> Result<String, TerminalError> {
        match self.script(script, args).await {
            Err(TerminalError::NotRunning { .. }) => {
                tokio::time::sleep(Duration::from_millis(500)).await;
                self.script(script, args).await
            }
            other => other,
        }
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
        self.script(script, &args).await
    }

    async fn open_by_script(&self, script: &Script) -> Result<Handle, TerminalError> {
        let path = typeable(&script.path)?;
        let answer = self.persistent(OPEN, &[path, &plain_title(&script.title)]).await?;
        let parsed = answer
            .split_once('|')
            .and_then(|(window, tty)| Some((window.parse().ok()?, tty.to_string())))
            .filter(|(_, tty)| tty.starts_with("/dev/"));
        let (window, tty) = parsed.ok_or(TerminalError::Refused { terminal: CALLED, text: answer })?;
        Ok(Handle::Script { window, tty })
    }

    fn memory(&self) -> PathBuf {
        self.host.pao_home.join("automation.json")
    }

    fn remembered(&self) -> Option<Automation> {
        serde_json::from_slice(&files::read_if_there(&self.memory()).ok()??).ok()
    }

    /// Remembering is a courtesy; where it fails, the next call asks again.
    fn remember(&self, automation: Automation) {
        if self.remembered() != Some(automation)
            && let Ok(bytes) = serde_json::to_vec(&automation)
        {
            let written = files::private_dir(&self.host.pao_home)
                .and_then(|()| files::write_private(&self.memory(), &bytes, false));
            if let Err(e) = written {
                tracing::debug!("{} could not be written: {e}", self.memory().display());
            }
        }
    }

    /// Asks Terminal for consent now, forgetting what was answered before. For `doctor` and for a user who has just
    /// changed the setting.
    pub async fn ask_again(&self) -> Result<(), TerminalError> {
        files::remove_if_there(&self.memory())
            .map_err(|source| TerminalError::File { path: self.memory(), source })?;
        // An id that no window has: harmless where Terminal runs, and answered without an event where it does not.
        self.script(EXISTS, &["0", "/dev/null"]).await.map(drop)
    }
}

/// Opens a file with Terminal as a document. It runs in a login shell; no permission is asked for.
pub(in crate::host) async fn open_document(host: &Host, script: &Path) -> Result<Outcome, RunError> {
    os::remove_quarantine(script).await;
    let open = host.find_on_path("open").unwrap_or_else(|| PathBuf::from("/usr/bin/open"));
    Run::new(open).args(["-a", "Terminal"]).arg(script).limit(LIMIT).output().await
}

/// What a failed script means. Only the number is looked at: the words are in the user's language.
fn refusal(out: &Outcome) -> TerminalError {
    let text = out.error_text();
    let number = text
        .rfind("(-")
        .and_then(|at| text[at + 1..].split(')').next())
        .and_then(|number| number.parse::<i32>().ok());
    match number {
        Some(-1743) => TerminalError::Denied { terminal: CALLED },
        Some(-600 | -609) => TerminalError::NotRunning { terminal: CALLED },
        Some(-1712) => TerminalError::TimedOut { terminal: CALLED },
        Some(-1728) => TerminalError::Gone { terminal: CALLED },
        _ => TerminalError::Refused { terminal: CALLED, text },
    }
}

fn read(handle: &str) -> Result<Handle, TerminalError> {
    serde_json::from_str(handle).map_err(|e| TerminalError::Handle(e.to_string()))
}

/// A path that every login shell reads in single quotes as it stands.
fn typeable(path: &Path) -> Result<&str, TerminalError> {
    let text =
        path.to_str().ok_or(TerminalError::Text("the path of the launch script is not valid UTF-8"))?;
    // The login shell may be fish, csh or nu, which know escapes and history marks within single quotes.
    if text.chars().any(|c| c.is_control() || "'\\!`".contains(c)) {
        return Err(TerminalError::Text(
            "the path of the launch script has characters some shells would change",
        ));
    }
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
        let told = self.remembered();
        let recent = |at: chrono::DateTime<chrono::Utc>| self.host.now() - at < UNANSWERED_FOR;
        let scripted = match told {
            Some(Automation::Unanswered(at)) if recent(at) => None,
            _ => Some(self.open_by_script(script).await),
        };
        let error = match scripted {
            Some(Ok(handle)) => return opened(&handle, None),
            Some(Err(error)) => Some(error),
            None => None,
        };
        // The window may exist in spite of an error, but the script starts an agent only once.
        let document = open_document(&self.host, &script.path).await?;
        if !document.success() {
            return Err(
                error.unwrap_or(TerminalError::Refused { terminal: CALLED, text: document.error_text() })
            );
        }
        // What is wrong is said once, not at each start.
        let news = error
            .filter(|e| !(matches!(e, TerminalError::Denied { .. }) && told == Some(Automation::Denied)));
        let note = news.map(|e| {
            format!("{e}, so the window was opened as a document, which pao can neither read nor bring to the front; {}", e.next())
        });
        opened(&Handle::Document, note)
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
        let open = self.host.find_on_path("open").unwrap_or_else(|| PathBuf::from("/usr/bin/open"));
        let _ = Run::new(open).args(["-b", "com.apple.Terminal"]).limit(LIMIT).output().await;
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

fn opened(handle: &Handle, note: Option<String>) -> Result<Opened, TerminalError> {
    let handle = serde_json::to_string(handle).map_err(|e| TerminalError::Handle(e.to_string()))?;
    Ok(Opened { handle, attach: None, note })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(stderr: &str) -> TerminalError {
        refusal(&Outcome { status: Some(1), stdout: Vec::new(), stderr: stderr.into() })
    }

    #[test]
    fn the_number_and_not_the_language_of_an_error_decides() {
        assert!(matches!(
            failed("0:5: execution error: Not authorized to send Apple events to Terminal. (-1743)"),
            TerminalError::Denied { .. }
        ));
        assert!(matches!(
            failed("Ausführungsfehler: Keine Berechtigung (beliebig) (-1743)"),
            TerminalError::Denied { .. }
        ));
        assert!(matches!(failed("x (-600)"), TerminalError::NotRunning { .. }));
        assert!(matches!(failed("x (-609)"), TerminalError::NotRunning { .. }));
        assert!(matches!(failed("x (-1712)"), TerminalError::TimedOut { .. }));
        assert!(matches!(failed("x (-1728)"), TerminalError::Gone { .. }));
        assert!(matches!(failed("x (-10000)"), TerminalError::Refused { .. }));
        assert!(matches!(failed(""), TerminalError::Refused { .. }));
        assert!(matches!(failed("(-"), TerminalError::Refused { .. }));
    }

    #[test]
    fn only_paths_that_every_shell_reads_alike_are_typed() {
        for path in ["/Users/me/.pao/agents/a/launch.command", "/Users/me/My App/launch.command", "/支付/x"]
        {
            assert!(typeable(Path::new(path)).is_ok(), "{path}");
        }
        for path in ["/it's/x", "/a\\b/x", "/a!b/x", "/`id`/x", "/a\nb/x"] {
            assert!(typeable(Path::new(path)).is_err(), "{path}");
        }
        assert!(typeable(Path::new(&format!("/{}", "a".repeat(MAX_TYPED)))).is_err());
    }

    #[test]
    fn each_script_is_told_apart_by_its_first_line() {
        for (name, text) in SCRIPTS {
            assert!(text.starts_with(&format!("-- pao {name}: ")), "{name}");
            assert!(text.contains("on run argv\n"), "{name}");
            insta::assert_snapshot!(*name, text);
        }
    }
}

//! Applications that are driven by `AppleScript`: what their adapters share.
//!
//! A script is fixed text on `osascript`'s standard input and gets everything as arguments; nothing of the user's
//! ever becomes part of a source. Each run has a limit, and each failure is told apart by its number, whose words
//! are in the user's language. The first event to an application makes macOS ask the user for consent: what was
//! answered is remembered for each application, so that a denial is told once and an unanswered question is not
//! waited for at each start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::TerminalError;
use crate::host::process::{Outcome, Run, RunError};
use crate::host::{Host, files};

/// How long an answered event may take.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// How long the first event may take, which waits for the user's consent. Opening without a script then needs
/// none, so a longer wait would gain nothing.
const CONSENT_LIMIT: Duration = Duration::from_secs(25);

/// How long an unanswered question is remembered, so that not every start waits for it.
const UNANSWERED_FOR: chrono::TimeDelta = chrono::TimeDelta::minutes(10);

/// Where applications are installed for everybody.
const APPLICATIONS: &str = "/Applications";

/// An application that can be scripted.
#[derive(Debug)]
pub struct Application {
    /// Name in configuration, rows and messages.
    pub name: &'static str,
    /// Name in sentences.
    pub called: &'static str,
    /// Its identifier, by which scripts and `open` find it whatever its bundle is called.
    pub id: &'static str,
    /// Name of its bundle; `None` for what belongs to macOS and is always there.
    pub bundle: Option<&'static str>,
    /// What it says of itself in `TERM_PROGRAM` to what runs in it.
    pub term_program: &'static str,
}

impl Application {
    /// Whether it is on this machine: for everybody, or in the user's own applications.
    pub fn is_installed(&self, host: &Host) -> bool {
        let Some(bundle) = self.bundle else { return program(host).is_some() };
        [Path::new(APPLICATIONS), &host.home.join("Applications")].iter().any(|f| f.join(bundle).is_dir())
    }
}

/// What is remembered about the permission to control an application.
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

/// Runs scripts for one application.
#[derive(Debug, Clone)]
pub(super) struct Osascript {
    pub(super) host: Host,
    pub(super) application: &'static Application,
    program: PathBuf,
    consent_limit: Duration,
}

fn program(host: &Host) -> Option<PathBuf> {
    host.find_on_path("osascript")
        .or_else(|| Some(PathBuf::from("/usr/bin/osascript")).filter(|p| p.is_file()))
}

impl Osascript {
    /// Finds the application and what makes it usable.
    pub(super) fn new(host: &Host, application: &'static Application) -> Result<Self, TerminalError> {
        let program = program(host)
            .ok_or(TerminalError::OtherSystem { terminal: application.called, system: "macOS" })?;
        if !application.is_installed(host) {
            return Err(TerminalError::NotInstalled { terminal: application.called });
        }
        // A shorter wait, for tests and for those who know that nobody is there to answer.
        let consent_limit = host
            .var("PAO_CONSENT_LIMIT_MS")
            .and_then(|v| v.parse().ok())
            .map_or(CONSENT_LIMIT, Duration::from_millis);
        Ok(Self { host: host.clone(), application, program, consent_limit })
    }

    /// Runs a script; returns what it answered.
    pub(super) async fn run(&self, script: &str, args: &[&str]) -> Result<String, TerminalError> {
        let called = self.application.called;
        // Only where it has answered before is a silence not an unanswered question.
        let consented = self.remembered() == Some(Automation::Works);
        let limit = if consented { LIMIT } else { self.consent_limit };
        match Run::new(&self.program).arg("-").args(args).stdin(script).limit(limit).output().await {
            Ok(out) if out.success() => {
                self.remember(Automation::Works);
                Ok(out.text())
            }
            Ok(out) => {
                let error = refusal(called, &out);
                if matches!(error, TerminalError::Denied { .. }) {
                    self.remember(Automation::Denied);
                }
                Err(error)
            }
            Err(RunError::TooSlow { limit, .. }) if !consented => {
                self.remember(Automation::Unanswered(self.host.now()));
                Err(TerminalError::Unanswered { terminal: called, after: limit })
            }
            Err(RunError::TooSlow { .. }) => Err(TerminalError::TimedOut { terminal: called }),
            Err(e) => Err(e.into()),
        }
    }

    /// As [`Self::run`], once more when the application quit meanwhile.
    pub(super) async fn persistent(&self, script: &str, args: &[&str]) -> Result<String, TerminalError> {
        match self.run(script, args).await {
            Err(TerminalError::NotRunning { .. }) => {
                tokio::time::sleep(Duration::from_millis(500)).await;
                self.run(script, args).await
            }
            other => other,
        }
    }

    /// Opens a window by script, and where that fails, otherwise. Returns what the script answered (`None` when it
    /// was done otherwise) and what the user should know about it.
    pub(super) async fn open<T>(
        &self,
        by_script: impl Future<Output = Result<T, TerminalError>>,
        otherwise: impl Future<Output = Result<Outcome, RunError>>,
    ) -> Result<(Option<T>, Option<String>), TerminalError> {
        let told = self.remembered();
        let recent = |at: chrono::DateTime<chrono::Utc>| self.host.now() - at < UNANSWERED_FOR;
        let error = match told {
            Some(Automation::Unanswered(at)) if recent(at) => None,
            _ => match by_script.await {
                Ok(answer) => return Ok((Some(answer), None)),
                Err(error) => Some(error),
            },
        };
        // The window may exist in spite of an error, but the script starts an agent only once.
        let opened = otherwise.await?;
        if !opened.success() {
            let refused =
                TerminalError::Refused { terminal: self.application.called, text: opened.error_text() };
            return Err(error.unwrap_or(refused));
        }
        // What is wrong is said once, not at each start.
        let news = error
            .filter(|e| !(matches!(e, TerminalError::Denied { .. }) && told == Some(Automation::Denied)));
        let note = news.map(|e| {
            format!(
                "{e}, so the window was opened without a script, and pao can neither read it nor bring it to the \
                 front; {}",
                e.next()
            )
        });
        Ok((None, note))
    }

    /// What macOS lets us do, as far as is known without asking.
    pub(super) fn permission(&self) -> &'static str {
        match self.remembered() {
            Some(Automation::Works) => "Automation, which is allowed",
            Some(Automation::Denied) => "Automation, which is denied",
            Some(Automation::Unanswered(_)) => "Automation, which macOS asked for without an answer",
            None => "Automation, which macOS asks for at the first start",
        }
    }

    /// Asks for consent now, forgetting what was answered before, with a script that does nothing.
    pub(super) async fn ask_again(&self, script: &str, args: &[&str]) -> Result<(), TerminalError> {
        let mut all = self.memories();
        all.remove(self.application.name);
        self.keep(&all).map_err(|source| TerminalError::File { path: self.memory(), source })?;
        self.run(script, args).await.map(drop)
    }

    fn memory(&self) -> PathBuf {
        self.host.pao_home.join("automation.json")
    }

    fn memories(&self) -> BTreeMap<String, Automation> {
        let bytes = files::read_if_there(&self.memory()).ok().flatten();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn remembered(&self) -> Option<Automation> {
        self.memories().get(self.application.name).copied()
    }

    /// Remembering is a courtesy; where it fails, the next call asks again.
    fn remember(&self, automation: Automation) {
        let mut all = self.memories();
        if all.insert(self.application.name.into(), automation) != Some(automation)
            && let Err(e) = self.keep(&all)
        {
            tracing::debug!("{} could not be written: {e}", self.memory().display());
        }
    }

    fn keep(&self, all: &BTreeMap<String, Automation>) -> std::io::Result<()> {
        files::private_dir(&self.host.pao_home)?;
        files::write_private(&self.memory(), &serde_json::to_vec(all)?, false)
    }
}

/// Runs `open`, which hands things to applications without an event of ours.
pub(super) fn open(host: &Host) -> Run {
    Run::new(host.find_on_path("open").unwrap_or_else(|| PathBuf::from("/usr/bin/open"))).limit(LIMIT)
}

/// What a failed script means. Only the number is looked at: the words are in the user's language.
fn refusal(terminal: &'static str, out: &Outcome) -> TerminalError {
    let text = out.error_text();
    let number = text
        .rfind("(-")
        .and_then(|at| text[at + 1..].split(')').next())
        .and_then(|number| number.parse::<i32>().ok());
    match number {
        Some(-1743) => TerminalError::Denied { terminal },
        Some(-600 | -609) => TerminalError::NotRunning { terminal },
        Some(-1712) => TerminalError::TimedOut { terminal },
        Some(-1728) => TerminalError::Gone { terminal },
        // The words of the script mean nothing to it: a syntax error, or an event it does not know.
        Some(-2741 | -2740 | -1708) => TerminalError::Unscriptable { terminal },
        _ => TerminalError::Refused { terminal, text },
    }
}

/// A path that every shell, and what takes words apart like one, reads in single quotes as it stands.
pub(super) fn quotable(path: &Path) -> Result<&str, TerminalError> {
    let text =
        path.to_str().ok_or(TerminalError::Text("the path of the launch script is not valid UTF-8"))?;
    // The shell may be fish, csh or nu, which know escapes and history marks within single quotes.
    if text.chars().any(|c| c.is_control() || "'\\!`".contains(c)) {
        return Err(TerminalError::Text(
            "the path of the launch script has characters some shells would change",
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(stderr: &str) -> TerminalError {
        refusal("Terminal.app", &Outcome { status: Some(1), stdout: Vec::new(), stderr: stderr.into() })
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
        assert!(matches!(failed("x (-2741)"), TerminalError::Unscriptable { .. }));
        assert!(matches!(failed("x (-10000)"), TerminalError::Refused { .. }));
        assert!(matches!(failed(""), TerminalError::Refused { .. }));
        assert!(matches!(failed("(-"), TerminalError::Refused { .. }));
    }

    #[test]
    fn only_paths_that_every_shell_reads_alike_are_quoted() {
        for path in ["/Users/me/.pao/agents/a/launch.command", "/Users/me/My App/launch.command", "/支付/x"]
        {
            assert!(quotable(Path::new(path)).is_ok(), "{path}");
        }
        for path in ["/it's/x", "/a\\b/x", "/a!b/x", "/`id`/x", "/a\nb/x"] {
            assert!(quotable(Path::new(path)).is_err(), "{path}");
        }
    }
}

//! Room 7: watches the agent until its prompt has arrived, or until it is plain that the user is needed.
//!
//! It confirms a dialog only where the user agreed to it beforehand, answers no other in the user's name, types
//! nothing unless the prompt line stands there and no dialog does, and never sends a prompt a second time on a
//! mere guess. Failing here is not critical: the agent has its briefing either way, and the user is told.

mod evidence;
mod machine;

use std::path::Path;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::agent::HostAgent;
use crate::host::Host;
use crate::host::terminal::{Key, Terminal};
use crate::registry::agents::State;
use crate::registry::{Registry, RegistryError};
use crate::spawn::passed::{Launched, Ready, Receipt};

use evidence::Watch;
use machine::{Action, Machine, Setting};

/// How often the evidence is looked at, at least.
const TICK: Duration = Duration::from_millis(50);
/// How often in between it is looked whether anything was written into the registry: hooks report there.
const GLANCE: Duration = Duration::from_millis(5);

/// What a good start looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expect<'a> {
    /// The prompt in the user's words; `None` where none was given.
    pub prompt: Option<&'a str>,
    /// Our hook is to hand the briefing over.
    pub briefing: bool,
    /// Only events behind this row of the registry count.
    pub after: i64,
}

/// Why a start came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReadyError {
    /// The program or its window ended.
    #[error("{agent} ended before it was ready{}", quoted(.last))]
    Ended {
        /// Name of the host agent.
        agent: &'static str,
        /// Last lines of its screen.
        last: String,
    },
    /// The user stopped it.
    #[error("cancelled")]
    Cancelled,
    /// The registry could not be asked.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// The last lines that say something; what is drawn of blocks and boxes says nothing.
fn quoted(last: &str) -> String {
    let says = |line: &&str| line.chars().filter(|c| c.is_alphanumeric()).count() >= 3;
    let lines: Vec<&str> = last.lines().filter(says).collect();
    let lines = lines[lines.len().saturating_sub(8)..].join("\n");
    if lines.is_empty() { String::new() } else { format!("; its last words:\n{lines}") }
}

impl From<ReadyError> for crate::Error {
    fn from(error: ReadyError) -> Self {
        let message = error.to_string();
        match error {
            ReadyError::Ended { .. } => {
                Self::environment(message, "run the same command of the agent by hand, or `pao doctor`")
            }
            ReadyError::Cancelled => Self::user(message, "run it again when you like"),
            ReadyError::Registry(error) => error.into(),
        }
    }
}

/// Watches the start of `launched` for at most `limit`. What it learns goes to the registry as well.
///
/// An agent that shows no sign within the limit is not an error: the receipt then says that nothing is known.
#[expect(clippy::too_many_arguments, reason = "each is a different thing that a start depends on")]
pub async fn wait(
    host: &Host,
    registry: &Registry,
    terminal: &dyn Terminal,
    agent: &HostAgent,
    launched: &Launched,
    expect: &Expect<'_>,
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<Ready, ReadyError> {
    let prompt = expect.prompt.map(|prompt| agent.defused(prompt));
    let row = registry.agent(&launched.agent).await?;
    let folder = row.map(|row| row.folder).unwrap_or_default();
    let mut watch =
        Watch::new(host, registry, terminal, agent, launched, &folder, prompt.as_deref(), expect.after);
    let mut machine = Machine::new(Setting {
        prompt: prompt.clone(),
        in_arguments: launched.prompt_in_arguments,
        agreed: launched.agreed.clone(),
        folder: folder.to_string_lossy().into_owned(),
        can: terminal.capabilities_of(&launched.handle),
        limit,
    });
    if prompt.is_some() && launched.prompt_in_arguments {
        registry.set_receipt(&launched.agent, Receipt::Sent).await?;
    }
    let started = Instant::now();
    loop {
        let seen = tokio::select! {
            seen = watch.look(started.elapsed()) => seen?,
            () = cancel.cancelled() => return Err(ReadyError::Cancelled),
        };
        match machine.step(started.elapsed(), &seen) {
            Action::Wait => {}
            Action::Press(key) => watch.did(terminal.key(&launched.handle, key).await.is_ok()),
            Action::Paste => {
                let text = prompt.as_deref().unwrap_or_default();
                registry.set_receipt(&launched.agent, Receipt::Sent).await?;
                watch.did(terminal.paste(&launched.handle, text).await.is_ok());
            }
            Action::Submit => watch.did(terminal.submit(&launched.handle).await.is_ok()),
            Action::SubmitOtherwise => {
                watch.did(terminal.key(&launched.handle, Key::ControlM).await.is_ok());
            }
            Action::Settle(settled) => {
                let ready = Ready {
                    session: watch.session(),
                    receipt: settled.receipt,
                    briefed: watch.briefed(),
                    needs: settled.needs,
                    evidence: settled.evidence,
                };
                write_down(host, registry, launched, &ready, watch.hooked()).await?;
                if ready.receipt == Receipt::Confirmed || ready.needs.is_some() {
                    // Only costs the window's last words if it does not work.
                    let _ = terminal.settled(&launched.handle).await;
                }
                return Ok(ready);
            }
            Action::Ended => {
                let last = watch.last_lines().await;
                registry
                    .set_state(&launched.agent, State::Ended, Some("ended at start"), "process", host.now())
                    .await?;
                if prompt.is_some() {
                    registry.set_receipt(&launched.agent, Receipt::Unknown).await?;
                }
                return Err(ReadyError::Ended { agent: agent.display, last });
            }
        }
        tokio::select! {
            () = written(registry.path(), TICK) => {}
            () = cancel.cancelled() => return Err(ReadyError::Cancelled),
        }
    }
}

/// Until the registry's write-ahead log changes, but no longer than `most`.
async fn written(registry: &Path, most: Duration) {
    let mut log = registry.as_os_str().to_owned();
    log.push("-wal");
    let state = || std::fs::metadata(&log).ok().map(|meta| (meta.len(), meta.modified().ok()));
    let (before, begun) = (state(), Instant::now());
    while begun.elapsed() < most {
        tokio::time::sleep(GLANCE).await;
        if state() != before {
            return;
        }
    }
}

async fn write_down(
    host: &Host,
    registry: &Registry,
    launched: &Launched,
    ready: &Ready,
    hooked: bool,
) -> Result<(), RegistryError> {
    let id = launched.agent.as_str();
    registry.set_receipt(id, ready.receipt).await?;
    match &ready.needs {
        Some(needs) => {
            registry.set_state(id, State::NeedsYou, Some(needs), &ready.evidence, host.now()).await
        }
        // Where hooks report, they have said better already what the agent does.
        None if hooked || ready.receipt != Receipt::Confirmed => Ok(()),
        None => registry.set_state(id, State::Working, None, &ready.evidence, host.now()).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_into_the_registry_ends_the_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.db");
        let (ours, theirs) = (Registry::open(&path).await.unwrap(), Registry::open(&path).await.unwrap());
        let long = Duration::from_secs(20);
        let begun = Instant::now();
        let write = async {
            tokio::time::sleep(Duration::from_millis(30)).await;
            theirs.pause_source("chats", chrono::DateTime::UNIX_EPOCH).await.unwrap();
        };
        tokio::join!(written(ours.path(), long), write);
        assert!(begun.elapsed() < long / 2, "{:?}", begun.elapsed());
        let begun = Instant::now();
        written(ours.path(), TICK).await;
        assert!(begun.elapsed() >= TICK);
    }
}

//! What can be seen of an agent that starts: its hooks' events, its own files, its process, its window.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::machine::Seen;
use crate::agent::screen::Screen;
use crate::agent::{Doing, HostAgent};
use crate::hook;
use crate::host::Host;
use crate::host::process::Identity;
use crate::host::terminal::{Alive, Terminal};
use crate::registry::{Registry, RegistryError};
use crate::spawn::passed::Launched;

/// Longest piece of a state file or transcript that is read, in bytes.
const PIECE: u64 = 1 << 20;
/// Shortest time between two looks at the screen; each starts a process.
const SCREEN_EVERY: Duration = Duration::from_millis(100);
/// Time between two looks at whether it still runs.
const ALIVE_EVERY: Duration = Duration::from_millis(200);
/// Lines quoted of a screen that was the last.
const LAST_LINES: usize = 12;

/// Looks at one starting agent again and again.
pub(super) struct Watch<'a> {
    host: &'a Host,
    registry: &'a Registry,
    terminal: &'a dyn Terminal,
    agent: &'a HostAgent,
    launched: &'a Launched,
    folder: PathBuf,
    transcript: Option<PathBuf>,
    prompt: Option<String>,
    readable: bool,
    events_after: i64,
    process: Option<Identity>,
    screen_due: Duration,
    alive_due: Duration,
    gone_before: bool,
    last_screen: String,
    session: Option<String>,
    briefed: bool,
    seen: Seen,
}

impl<'a> Watch<'a> {
    #[expect(clippy::too_many_arguments, reason = "each is a different thing to look at")]
    pub(super) fn new(
        host: &'a Host,
        registry: &'a Registry,
        terminal: &'a dyn Terminal,
        agent: &'a HostAgent,
        launched: &'a Launched,
        folder: &Path,
        prompt: Option<&str>,
        after: i64,
    ) -> Self {
        Self {
            host,
            registry,
            terminal,
            agent,
            launched,
            folder: folder.to_path_buf(),
            transcript: None,
            prompt: prompt.map(|prompt| hook::fingerprint(&agent.bare(prompt))),
            readable: terminal.capabilities_of(&launched.handle).read,
            events_after: after,
            process: None,
            screen_due: Duration::ZERO,
            alive_due: Duration::ZERO,
            gone_before: false,
            last_screen: String::new(),
            session: None,
            briefed: false,
            seen: Seen::default(),
        }
    }

    /// Conversation id as the hooks tell it.
    pub(super) fn session(&self) -> Option<String> {
        self.session.clone()
    }

    /// Whether our hook handed the briefing over.
    pub(super) fn briefed(&self) -> bool {
        self.briefed
    }

    /// Whether hooks report.
    pub(super) fn hooked(&self) -> bool {
        self.seen.session_started
    }

    /// Notes whether the last action could be done.
    pub(super) fn did(&mut self, well: bool) {
        self.seen.failed_to_act = !well;
    }

    /// What is to be seen at `now`, which is the time since the start.
    pub(super) async fn look(&mut self, now: Duration) -> Result<Seen, RegistryError> {
        self.hooks().await?;
        if self.process.is_none() {
            let row = self.registry.agent(&self.launched.agent).await?;
            self.process = row.and_then(|row| row.process);
        }
        self.own_files();
        self.seen.screen = None;
        if self.readable && now >= self.screen_due {
            self.screen(now).await;
        }
        if now >= self.alive_due {
            self.alive_due = now + ALIVE_EVERY;
            self.alive().await;
        }
        Ok(self.seen.clone())
    }

    async fn hooks(&mut self) -> Result<(), RegistryError> {
        for (id, event) in self.registry.events_after(&self.launched.agent, self.events_after).await? {
            self.events_after = id;
            self.briefed |= hook::briefed(&event);
            if event.event == "SessionStart" {
                self.seen.session_started = true;
                self.session.clone_from(&event.session);
            }
            if let Some(error) = hook::failure(&event) {
                self.seen.failure = Some(error);
            }
            let submitted = hook::prompt_fingerprint(&event);
            self.seen.submitted |= submitted.is_some() && submitted == self.prompt;
        }
        Ok(())
    }

    /// The agent's own state file and transcript. The state file may be one that a killed process of the same
    /// number left behind, so it must name our conversation.
    fn own_files(&mut self) {
        let Some(process) = self.process else { return };
        let said = self.agent.said(self.host, process);
        let said = said.filter(|said| self.launched.session.as_ref() == Some(&said.session));
        let doing = said.and_then(|said| said.doing);
        self.seen.file_busy = doing == Some(Doing::Busy);
        self.seen.file_waits = match doing {
            Some(Doing::Waiting(what)) => Some(what),
            _ => None,
        };
        if self.seen.session_started {
            // The hook will tell of the prompt as well, and earlier.
            return;
        }
        if self.transcript.is_none() {
            let session = self.launched.session.as_deref();
            self.transcript = session.and_then(|id| self.agent.transcript(self.host, &self.folder, id));
        }
        let (Some(path), Some(prompt)) = (&self.transcript, &self.prompt) else { return };
        if let Some(bytes) = piece(path) {
            self.seen.in_transcript |= hook::holds_prompt(&bytes, prompt);
            let mark = self.agent.read_mark(&self.host.agent_dir(&self.launched.agent));
            self.briefed |= mark.is_some_and(|mark| memchr::memmem::find(&bytes, mark.as_bytes()).is_some());
        }
    }

    async fn screen(&mut self, now: Duration) {
        let asked = Instant::now();
        match self.terminal.screen(&self.launched.handle).await {
            Ok(text) => {
                self.seen.screen = Some(self.agent.screens.classify(&text));
                if !text.trim().is_empty() {
                    self.last_screen = text;
                }
            }
            // Whether it is gone is asked separately; one failed look proves nothing.
            Err(_) => self.seen.screen = None,
        }
        // A terminal that is slow to answer is asked less often.
        self.screen_due = now + SCREEN_EVERY.max(asked.elapsed() * 3);
    }

    /// Gone only when seen so twice: between the launch script and the agent there is a moment without either.
    async fn alive(&mut self) {
        let process = self.process.is_none_or(Identity::alive);
        let gone = match self.terminal.alive(&self.launched.handle).await {
            Ok(Alive::No) => true,
            Ok(Alive::Yes) => !process,
            Ok(Alive::Unknown) | Err(_) => self.process.is_some() && !process,
        };
        let over = matches!(self.seen.screen, Some(Screen::Ended(_))) && !process;
        self.seen.gone = (gone && self.gone_before) || over;
        self.gone_before = gone;
    }

    /// The last lines of the screen that say something.
    pub(super) async fn last_lines(&mut self) -> String {
        if self.readable
            && let Ok(text) = self.terminal.screen(&self.launched.handle).await
            && !text.trim().is_empty()
        {
            self.last_screen = text;
        }
        let lines: Vec<String> = self
            .last_screen
            .lines()
            .map(|line| line.trim_end().chars().filter(|c| !c.is_control()).collect())
            .filter(|line: &String| !line.is_empty())
            .collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }
}

/// The beginning of a file, where there is one.
fn piece(path: &Path) -> Option<Vec<u8>> {
    let file = std::fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(PIECE).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

//! Sends one agent what is queued for it, one text after the other. Only one process does so at a time.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::TimeDelta;

use super::settle::{as_by_hook, by_hook, kind, lock, settle_agent};
use crate::Error;
use crate::agent::screen::Screen;
use crate::agent::{Doing, HostAgent, Version};
use crate::capture::marks::{BEGIN, END};
use crate::hook;
use crate::host::terminal::{self, Key, Terminal, TerminalError};
use crate::host::{Host, files};
use crate::life::extract;
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};
use crate::registry::messages::{Fate, Message};
use crate::spawn::passed::Receipt;
use crate::typing::{self, STEADY, Stroke, Typist};

/// How often the screen is looked at.
const TICK: Duration = Duration::from_millis(100);
/// How often an agent is looked at that its row says is busy.
const BUSY_TICK: Duration = Duration::from_millis(250);
/// How long after it was submitted a text's arrival may be proved.
const PROOF: Duration = Duration::from_secs(8);
/// How long sending one text may take once it was begun.
pub(super) const LONGEST: Duration = Duration::from_secs(20);
/// What a hook says is believed against the screen for so long: a turn takes a moment to show.
const TURN_SHOWS: TimeDelta = TimeDelta::seconds(1);
/// How long the first prompt of a start has the window for itself.
const START: TimeDelta = TimeDelta::minutes(2);
/// Said of a text that stood typed in the prompt line.
const TAKEN_UP: &str = "whoever typed it was gone before it was sent; sent by the next";
/// Longest text that is pasted, in bytes; a longer one is put into a file that is named.
const LONGEST_PASTE: usize = 100_000;
/// How much of a transcript's end is read for a prompt.
const TAIL: u64 = 1 << 18;

/// Tells an agent what is queued for it as soon as it can be told, for as long as `patience` lasts; what was begun is
/// brought to its end. Returns at once where another process is at it.
pub async fn deliver(host: &Host, registry: &Registry, agent: &str, patience: Duration) -> Result<(), Error> {
    let Some(_held) = lock(host, agent) else { return Ok(()) };
    let began = Instant::now();
    loop {
        let Some(row) = registry.agent(agent).await? else { return Ok(()) };
        settle_agent(host, registry, &row).await?;
        if !row.state.live() {
            return Ok(());
        }
        let messages = registry.messages(Some(agent)).await?;
        let left = last_typed(&messages).map(|left| Sending::new(host, registry, &row, left)).transpose()?;
        let Some(message) = messages.iter().find(|message| message.fate == Fate::Queued) else {
            return match left {
                Some(left) if left.may_be_told(&row) => left.finish().await,
                _ => Ok(()),
            };
        };
        let sending = Sending { left: left.as_ref(), ..Sending::new(host, registry, &row, message)? };
        if !sending.run(patience.saturating_sub(began.elapsed())).await? {
            return Ok(());
        }
    }
}

/// The text that was typed last, where nothing has proved its arrival: it may still stand in the prompt line, because
/// whoever typed it was gone before it was sent.
fn last_typed(messages: &[Message]) -> Option<&Message> {
    let typed = |message: &&Message| {
        matches!(message.fate, Fate::Sent | Fate::Confirmed | Fate::Unknown) && by_hook(message).is_none()
    };
    messages.iter().rev().find(typed).filter(|message| message.fate != Fate::Confirmed)
}

/// The text of ours that stands in an agent's prompt line and was never sent, where that is what is on its screen.
pub async fn left_standing(
    host: &Host,
    registry: &Registry,
    row: &Agent,
    screen: &Screen,
) -> Result<Option<String>, Error> {
    let messages = registry.messages(Some(&row.id)).await?;
    let Some(last) = last_typed(&messages) else { return Ok(None) };
    let left = Sending::new(host, registry, row, last)?;
    Ok(left.stands(screen).map(|_| last.text.clone()))
}

/// One text on its way.
struct Sending<'a> {
    host: &'a Host,
    registry: &'a Registry,
    kind: &'static HostAgent,
    version: Option<Version>,
    row: &'a Agent,
    message: &'a Message,
    terminal: std::sync::Arc<dyn Terminal>,
    handle: &'a str,
    /// An earlier text that may still stand in the prompt line.
    left: Option<&'a Sending<'a>>,
}

/// How an attempt to type ended.
enum Typed {
    /// The text's fate was settled, by us or by somebody else.
    Settled,
    /// The agent could not be told in time. Nothing was typed.
    NotNow,
    /// The window does not take this text. Nothing was typed.
    Refused,
}

impl<'a> Sending<'a> {
    fn new(
        host: &'a Host,
        registry: &'a Registry,
        row: &'a Agent,
        message: &'a Message,
    ) -> Result<Self, Error> {
        let kind = kind(row)
            .ok_or_else(|| Error::internal(format!("{} is an agent of an unknown kind", row.name)))?;
        let (Some(terminal), Some(handle)) = (row.terminal.as_deref(), row.handle.as_deref()) else {
            return Err(Error::environment(
                format!("the window of {} was never recorded", row.name),
                "tell it in its window",
            ));
        };
        let terminal = terminal::choose(host, terminal)?;
        let version = row.version.as_deref().and_then(Version::parse);
        Ok(Self { host, registry, kind, version, row, message, terminal, handle, left: None })
    }

    /// False where the agent could not be told in time.
    async fn run(&self, patience: Duration) -> Result<bool, Error> {
        let can = self.terminal.capabilities_of(self.handle);
        if !can.read || !can.paste {
            // Whether a dialog stands there cannot be seen, so nothing is typed.
            return self.by_hook().await.map(|()| true);
        }
        let pasted = self.kind.pasted(&self.message.text, self.version);
        let mut typed = Typed::Refused;
        if Typist::new(&pasted.text, can).can_type() && pasted.text.len() <= LONGEST_PASTE {
            let exact = pasted.altered.then_some(self.message.text.as_str());
            let note = pasted.worded.then(|| format!("“{}” stands before it", self.kind.flags.defuse.trim()));
            typed = self.type_it(&pasted.text, exact, note.as_deref(), patience, false).await?;
        }
        if matches!(typed, Typed::Refused) {
            let pointer = self.pointer()?;
            let note = Some("as a file that the prompt names");
            typed = self.type_it(&pointer, None, note, patience, false).await?;
        }
        match typed {
            Typed::Settled => Ok(true),
            Typed::NotNow => Ok(false),
            Typed::Refused => self.by_hook().await.map(|()| true),
        }
    }

    /// The text waits in the agent's folder and is handed over with its next prompt, whoever gives that.
    async fn by_hook(&self) -> Result<(), Error> {
        let name = format!("tell-{:020}", self.message.id);
        if !self.kind.session_hooks(self.version) {
            let why = "its window cannot be typed into, and it has no hooks; tell it in its window";
            let (id, now) = (self.message.id, self.host.now());
            self.registry.move_message(id, Fate::Queued, Fate::Withdrawn, Some(why), now).await?;
            return Ok(());
        }
        if !self.registry.take_message(self.message.id, &as_by_hook(&name), self.host.now()).await? {
            return Ok(());
        }
        let text = format!(
            "{BEGIN}\nBesides this prompt the user says, through pao, word for word:\n{}\n{END}\n",
            self.message.text
        );
        hook::next::put(self.host, &self.row.id, &name, &text).map_err(|e| self.unwritten(&e))?;
        let note = "its window cannot be typed into; handed over with its next prompt";
        self.registry
            .move_message(self.message.id, Fate::Sent, Fate::Sent, Some(note), self.host.now())
            .await?;
        Ok(())
    }

    /// Writes the text into a file that the agent may read, and gives the line that names it.
    fn pointer(&self) -> Result<String, Error> {
        let path = self.file();
        files::write_private(&path, self.message.text.as_bytes(), false).map_err(|e| self.unwritten(&e))?;
        Ok(naming(&path))
    }

    /// Where the text is kept for an agent that is to read it by itself.
    fn file(&self) -> PathBuf {
        self.host.agent_dir(&self.row.id).join(format!("tell-{}.md", self.message.id))
    }

    /// What was typed for this text, where the prompt line still holds it word for word. Of one that is folded it
    /// cannot be seen whose it is.
    fn stands(&self, screen: &Screen) -> Option<String> {
        let Screen::Typed { text: shown, folded: false } = screen else { return None };
        let typed = |text: &String| Some(hook::fingerprint(&self.kind.bare(text))) == self.message.sent;
        let ways = [self.kind.pasted(&self.message.text, self.version).text, naming(&self.file())];
        ways.into_iter().find(|text| typed(text) && typing::same(shown, text))
    }

    /// Sends a text that an earlier process typed and could not send any more. Nothing is typed.
    async fn finish(&self) -> Result<(), Error> {
        let Ok(screen) = self.terminal.screen(self.handle).await else { return Ok(()) };
        let Some(text) = self.stands(&self.kind.screens.classify(&screen)) else { return Ok(()) };
        let (id, now) = (self.message.id, self.host.now());
        // What its sender had seen is settled; from here on it is ours.
        if self.registry.move_message(id, Fate::Unknown, Fate::Sent, None, now).await? {
            self.type_it(&text, None, Some(TAKEN_UP), Duration::ZERO, true).await?;
        }
        Ok(())
    }

    fn unwritten(&self, error: &std::io::Error) -> Error {
        let folder = self.host.agent_dir(&self.row.id);
        Error::environment(
            format!("{} cannot be written: {error}", self.host.display(&folder)),
            "make room on the disk and the folder writable for you",
        )
    }

    async fn type_it(
        &self,
        text: &str,
        exact: Option<&str>,
        note: Option<&str>,
        patience: Duration,
        stands: bool,
    ) -> Result<Typed, Error> {
        let (id, agent) = (self.message.id, self.row.id.as_str());
        let can = self.terminal.capabilities_of(self.handle);
        let fingerprint = hook::fingerprint(&self.kind.bare(text));
        let mut typist = if stands { Typist::standing(text, can) } else { Typist::new(text, can) };
        let mut shown: Option<(Screen, Duration)> = None;
        let mut submitted: Option<Duration> = None;
        let mut taken = stands;
        let mut after = if stands { self.last_event().await? } else { 0 };
        let mut left = self.left;
        let began = Instant::now();
        loop {
            let now = began.elapsed();
            if !typist.begun() {
                let Some(row) = self.registry.agent(agent).await?.filter(|row| row.state.live()) else {
                    return Ok(Typed::NotNow);
                };
                if !self.may_be_told(&row) {
                    shown = None;
                    if now >= patience {
                        return Ok(Typed::NotNow);
                    }
                    tokio::time::sleep(BUSY_TICK).await;
                    continue;
                }
            } else if self.arrived(&fingerprint, after).await? {
                self.settle(Fate::Confirmed, note.or(Some("UserPromptSubmit hook"))).await?;
                return Ok(Typed::Settled);
            } else if submitted.is_some_and(|at| now >= at + PROOF) || now >= patience + LONGEST {
                let why = "typed, and nothing has proved its arrival; look at its window";
                self.settle(Fate::Unknown, Some(why)).await?;
                return Ok(Typed::Settled);
            }
            let looked = self.terminal.screen(self.handle).await;
            let screen = looked.map_or(Screen::Unknown, |text| self.kind.screens.classify(&text));
            let now = began.elapsed();
            if shown.as_ref().is_none_or(|(last, _)| *last != screen) {
                shown = Some((screen.clone(), now));
            }
            let since = shown.as_ref().map_or(now, |(_, since)| *since);
            if !typist.begun()
                && now >= since + STEADY
                && let Some(left) = left.take_if(|left| left.stands(&screen).is_some())
            {
                Box::pin(left.finish()).await?;
                continue;
            }
            let at_prompt = matches!(screen, Screen::Ready | Screen::Interrupted | Screen::Typed { .. });
            match at_prompt.then(|| typist.at_prompt(now, &screen, since)).flatten() {
                Some(Stroke::Paste) => {
                    // Only the first paste takes the text; a further one follows proof that nothing arrived.
                    if !taken {
                        let last = self.last_event().await?;
                        if !self.registry.take_message(id, &fingerprint, self.host.now()).await? {
                            return Ok(Typed::Settled);
                        }
                        taken = true;
                        after = last;
                        self.put_exact(&fingerprint, exact)?;
                    }
                    match self.terminal.paste(self.handle, text).await {
                        Ok(()) => {}
                        Err(TerminalError::Text(_)) => {
                            self.registry
                                .move_message(id, Fate::Sent, Fate::Queued, None, self.host.now())
                                .await?;
                            return Ok(Typed::Refused);
                        }
                        Err(error) => {
                            self.settle(Fate::Unknown, Some(&error.to_string())).await?;
                            return Ok(Typed::Settled);
                        }
                    }
                }
                Some(stroke @ (Stroke::Submit | Stroke::SubmitOtherwise)) => {
                    let pressed = match stroke {
                        Stroke::Submit => self.terminal.submit(self.handle).await,
                        _ => self.terminal.key(self.handle, Key::ControlM).await,
                    };
                    if let Err(error) = pressed {
                        self.settle(Fate::Unknown, Some(&error.to_string())).await?;
                        return Ok(Typed::Settled);
                    }
                }
                Some(Stroke::Stuck(why)) => {
                    self.settle(Fate::Unknown, Some(why)).await?;
                    return Ok(Typed::Settled);
                }
                None if !typist.begun() && now >= patience => return Ok(Typed::NotNow),
                None => {}
            }
            if typist.submitted() {
                submitted.get_or_insert(began.elapsed());
            }
            tokio::time::sleep(TICK).await;
        }
    }

    /// Number of the newest event of its hooks.
    async fn last_event(&self) -> Result<i64, Error> {
        let events = self.registry.events_after(&self.row.id, 0).await?;
        Ok(events.last().map_or(0, |(id, _)| *id))
    }

    /// The very text for the hook to hand over, where the window changes it.
    fn put_exact(&self, fingerprint: &str, exact: Option<&str>) -> Result<(), Error> {
        let Some(exact) = exact.filter(|_| self.kind.session_hooks(self.version)) else { return Ok(()) };
        let mut text = format!(
            "{BEGIN}\nThe window has changed tabs or invisible characters of this prompt. Word for word it reads:\n\
             {exact}\n{END}\n"
        );
        if self.kind.context_length(&text) > self.kind.hook_context_limit {
            let path = self.file();
            files::write_private(&path, exact.as_bytes(), false).map_err(|e| self.unwritten(&e))?;
            text = format!(
                "{BEGIN}\nThe window has changed tabs or invisible characters of this prompt. Word for word it stands \
                 in {}.\n{END}\n",
                path.display()
            );
        }
        hook::next::put_for(self.host, &self.row.id, fingerprint, &text).map_err(|e| self.unwritten(&e))
    }

    async fn settle(&self, fate: Fate, note: Option<&str>) -> Result<(), Error> {
        self.registry.move_message(self.message.id, Fate::Sent, fate, note, self.host.now()).await?;
        Ok(())
    }

    /// Whether nothing we know speaks against looking at its screen: the screen itself decides.
    fn may_be_told(&self, row: &Agent) -> bool {
        let now = self.host.now();
        let starting = row.state == State::Starting
            || (row.receipt == Some(Receipt::Sent) && now - row.created_at < START && row.prompt.is_some());
        let turning = row.state == State::Working && now - row.state_at < TURN_SHOWS;
        !starting && !turning && !self.file_says_no(row)
    }

    /// Whether the agent's own state file says that it is in a turn or waits for an answer.
    fn file_says_no(&self, row: &Agent) -> bool {
        let said = row.process.and_then(|process| self.kind.said(self.host, process));
        let said = said.and_then(|said| said.of(row.session.as_deref()));
        said.is_some_and(|said| matches!(said.doing, Some(Doing::Busy | Doing::Waiting(_))))
    }

    /// Whether a hook, or the transcript, shows that the text arrived after that event.
    async fn arrived(&self, fingerprint: &str, after: i64) -> Result<bool, Error> {
        let events = self.registry.events_after(&self.row.id, after).await?;
        if events.iter().any(|(_, e)| hook::prompt_fingerprint(e).as_deref() == Some(fingerprint)) {
            return Ok(true);
        }
        // Where hooks report they do so earlier, and only a hook tells a repeated text from the one before.
        if self.kind.session_hooks(self.version) {
            return Ok(false);
        }
        Ok(extract::transcript(self.host, self.kind, self.row)
            .and_then(|path| tail(&path))
            .is_some_and(|bytes| hook::holds_prompt(&bytes, fingerprint)))
    }
}

/// The line that has an agent read a file.
fn naming(file: &Path) -> String {
    format!("Read the file {}: it is a message from the user, word for word.", file.display())
}

fn tail(path: &Path) -> Option<Vec<u8>> {
    let mut file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

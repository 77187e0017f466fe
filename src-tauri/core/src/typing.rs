//! Typing a text into an agent's prompt line: paste, look whether it stands there, submit, look whether it went.
//!
//! Pure: it is given the time and what is on the screen, and says one thing to do. It types only where the prompt
//! line stands empty and no dialog does, never behind what the user has typed, and pastes again only on proof that
//! nothing had arrived.

use std::time::Duration;

use crate::agent::screen::Screen;
use crate::host::terminal::Capabilities;
use crate::text::essence;

/// How long a screen must stay the same before it is believed: half-drawn ones look like others.
pub const STEADY: Duration = Duration::from_millis(120);
/// How long after the prompt line appears input may still be thrown away.
const DEAF: Duration = Duration::from_millis(400);
/// How long a pasted text may take to show.
const PASTE_SHOWS: Duration = Duration::from_millis(1500);
/// Pastes before it is left to the user. Each but the first follows proof that nothing had arrived.
const PASTES: u32 = 3;
/// How long a submit may take to show its effect before the other key is tried.
const SUBMIT_SHOWS: Duration = Duration::from_millis(1500);

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// Put the text in.
    Paste,
    /// Press Return.
    Submit,
    /// Press the other key that some programs take for Return.
    SubmitOtherwise,
    /// Leave it to the user; why, as a phrase that tells them what to do.
    Stuck(&'static str),
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    Pasted { at: Duration },
    Submitted { at: Duration, otherwise: bool },
}

/// One text on its way into a prompt line.
#[derive(Debug, Clone)]
pub struct Typist {
    text: String,
    can: Capabilities,
    progress: Progress,
    pastes: u32,
}

impl Typist {
    /// For a text as it is to be pasted, and a window that can do so much.
    pub fn new(text: &str, can: Capabilities) -> Self {
        Self { text: text.to_string(), can, progress: Progress::Nothing, pastes: 0 }
    }

    /// For a text of ours that stands in the prompt line already. It is never pasted again.
    pub fn standing(text: &str, can: Capabilities) -> Self {
        Self { progress: Progress::Pasted { at: Duration::ZERO }, pastes: PASTES, ..Self::new(text, can) }
    }

    /// Whether the window takes this text at all.
    pub fn can_type(&self) -> bool {
        self.can.paste && (self.can.paste_lines || !self.text.contains('\n'))
    }

    /// Whether anything was pasted.
    pub fn begun(&self) -> bool {
        self.progress != Progress::Nothing
    }

    /// Whether it was submitted, or may have been.
    pub fn submitted(&self) -> bool {
        matches!(self.progress, Progress::Submitted { .. })
    }

    /// What to do at `now` at a prompt line that looks like `screen` since `since`; `None` is to wait.
    pub fn at_prompt(&mut self, now: Duration, screen: &Screen, since: Duration) -> Option<Stroke> {
        if !self.can_type() {
            return Some(Stroke::Stuck("this window cannot be typed into; give the agent its task there"));
        }
        match self.progress {
            // What the user typed meanwhile is theirs; ours does not go behind it.
            Progress::Nothing if matches!(screen, Screen::Typed { .. }) => None,
            Progress::Nothing => (now >= since + DEAF).then(|| self.paste(now)),
            Progress::Pasted { at } => {
                let settled = now >= at + settle(&self.text);
                match screen {
                    Screen::Typed { text, folded } if settled && now >= since + STEADY => {
                        if *folded || same(text, &self.text) {
                            self.progress = Progress::Submitted { at: now, otherwise: false };
                            return Some(Stroke::Submit);
                        }
                        let shown = now >= at + PASTE_SHOWS + settle(&self.text);
                        shown.then_some(Stroke::Stuck("what was typed does not stand there as it should"))
                    }
                    // Nothing arrived: the sign was drawn before the input was read.
                    Screen::Ready | Screen::Interrupted if now >= at + PASTE_SHOWS + settle(&self.text) => {
                        if self.pastes >= PASTES {
                            return Some(Stroke::Stuck("the prompt could not be typed; give it there"));
                        }
                        Some(self.paste(now))
                    }
                    _ => None,
                }
            }
            Progress::Submitted { at, otherwise } => {
                let still_there = matches!(screen, Screen::Typed { .. }) && now >= at + SUBMIT_SHOWS;
                if !still_there {
                    return None;
                }
                if otherwise || !self.can.keys {
                    return Some(Stroke::Stuck("the prompt stands there and was not sent; press Return"));
                }
                self.progress = Progress::Submitted { at: now, otherwise: true };
                Some(Stroke::SubmitOtherwise)
            }
        }
    }

    fn paste(&mut self, now: Duration) -> Stroke {
        self.pastes += 1;
        self.progress = if self.can.paste_returns {
            Progress::Submitted { at: now, otherwise: false }
        } else {
            Progress::Pasted { at: now }
        };
        Stroke::Paste
    }
}

/// How long a pasted text needs before it can be submitted: the longer it is, the longer it is taken in.
fn settle(text: &str) -> Duration {
    let characters = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    Duration::from_millis((80 + characters / 20).min(2000))
}

/// Whether the prompt line holds the text. Windows break lines where they like.
pub fn same(shown: &str, text: &str) -> bool {
    let solid = |text: &str| essence(text).chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let (shown, text) = (solid(shown), solid(text));
    // A long one scrolls within its box, which shows only its end.
    shown == text || (shown.chars().count() > 200 && text.ends_with(&shown))
}

//! What to do on which evidence. Pure: it is given the time and what was seen, and says one thing to do.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::agent::screen::{Dialog, DialogKind, Screen};
use crate::host::terminal::{Capabilities, Key};
use crate::spawn::passed::{Agreed, Receipt};
use crate::typing::{STEADY, Stroke, Typist};

/// How long after a key the dialog may take to show it.
const KEY_SHOWS: Duration = Duration::from_millis(600);
/// How long a dialog may take to go once it was confirmed. Long: a second Return could answer the next dialog.
const RETURN_SHOWS: Duration = Duration::from_secs(3);
/// Keys pressed in one dialog before it is left to the user.
const KEYS: u32 = 6;
/// How long a question must stand there before the user is called.
const ASKED: Duration = Duration::from_millis(400);
/// How long the better evidence (a hook) is waited for once a weaker one is there.
const BETTER: Duration = Duration::from_secs(2);
/// The same where hooks have reported before, so that this one will too.
const BETTER_HOOKED: Duration = Duration::from_secs(6);
/// What does not change during a start.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    /// The prompt as it is handed over.
    pub prompt: Option<String>,
    /// It was given as an argument.
    pub in_arguments: bool,
    /// Dialogs the user agreed to.
    pub agreed: BTreeSet<Agreed>,
    /// Where the agent works.
    pub folder: String,
    /// What the window can do.
    pub can: Capabilities,
    /// How long a start may take.
    pub limit: Duration,
}

/// What is seen at one moment. Once true stays true for hooks and transcript.
#[expect(clippy::struct_excessive_bools, reason = "independent observations")]
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Seen {
    /// A conversation began (hook).
    pub session_started: bool,
    /// Our prompt was submitted (hook).
    pub submitted: bool,
    /// Our prompt stands in the transcript.
    pub in_transcript: bool,
    /// A turn ended in this error (hook).
    pub failure: Option<String>,
    /// The agent's own state file says it is in a turn.
    pub file_busy: bool,
    /// The agent's own state file says it waits, and for what.
    pub file_waits: Option<String>,
    /// The screen, where it was read just now.
    pub screen: Option<Screen>,
    /// Its process or window is known to be gone.
    pub gone: bool,
    /// The last thing we were told to do could not be done.
    pub failed_to_act: bool,
}

/// How a start ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settled {
    pub receipt: Receipt,
    pub needs: Option<String>,
    pub evidence: String,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Wait,
    Press(Key),
    Paste,
    Submit,
    SubmitOtherwise,
    Settle(Settled),
    Ended,
}

/// The state between two moments.
#[derive(Debug)]
pub(super) struct Machine {
    setting: Setting,
    /// The last screen that was read, and since when it looks like that.
    screen: Option<(Screen, Duration)>,
    /// When weaker evidence for the prompt's arrival was first there.
    weak_since: Option<Duration>,
    /// When a conversation was first seen to have begun.
    started_at: Option<Duration>,
    /// The dialog in which keys were pressed, how many, and when the last one.
    keys: Option<(DialogKind, u32, Duration)>,
    typist: Typist,
}

impl Machine {
    pub(super) fn new(setting: Setting) -> Self {
        let typist = Typist::new(setting.prompt.as_deref().unwrap_or_default(), setting.can);
        Self { setting, screen: None, weak_since: None, started_at: None, keys: None, typist }
    }

    pub(super) fn step(&mut self, now: Duration, seen: &Seen) -> Action {
        self.notice(now, seen);
        if let Some(settled) = self.confirmed(now, seen) {
            return Action::Settle(settled);
        }
        if seen.gone {
            return Action::Ended;
        }
        if seen.failed_to_act {
            return self.needs("the window did not take what was typed; see to it there".into());
        }
        // Acting needs a screen of this very moment; an older one may have gone.
        if seen.screen.is_some()
            && let Some(action) = self.on_screen(now)
        {
            return action;
        }
        if let Some(waits) = &seen.file_waits
            && self.weak_since.is_some_and(|since| now >= since + BETTER)
        {
            return self.needs(waits.clone());
        }
        if now >= self.setting.limit {
            return self.give_up();
        }
        Action::Wait
    }

    fn notice(&mut self, now: Duration, seen: &Seen) {
        if let Some(screen) = &seen.screen
            && self.screen.as_ref().is_none_or(|(last, _)| last != screen)
        {
            self.screen = Some((screen.clone(), now));
        }
        if seen.session_started {
            self.started_at.get_or_insert(now);
        }
        let in_turn =
            seen.file_busy || seen.file_waits.is_some() || matches!(self.screen(), Some(Screen::Busy));
        let handed_over = self.setting.in_arguments || self.typist.submitted();
        if in_turn && handed_over {
            self.weak_since.get_or_insert(now);
        }
    }

    fn screen(&self) -> Option<&Screen> {
        self.screen.as_ref().map(|(screen, _)| screen)
    }

    fn steady(&self, now: Duration) -> bool {
        self.steady_for(now, STEADY)
    }

    fn steady_for(&self, now: Duration, time: Duration) -> bool {
        self.screen.as_ref().is_some_and(|(_, since)| now >= *since + time)
    }

    /// Whether a good start is proved.
    fn confirmed(&self, now: Duration, seen: &Seen) -> Option<Settled> {
        let needs = match self.screen() {
            Some(Screen::Retrying(text) | Screen::Failed(text)) => Some(text.clone()),
            Some(Screen::Dialog(dialog)) if dialog.kind == DialogKind::Permission => {
                Some(dialog.text.clone())
            }
            _ => None,
        };
        let needs = seen.failure.clone().or(needs);
        let yes = |evidence: &str| {
            Some(Settled { receipt: Receipt::Confirmed, needs: needs.clone(), evidence: evidence.into() })
        };
        if self.setting.prompt.is_none() {
            return match self.screen() {
                Some(Screen::Ready) if self.steady(now) => yes("prompt line on the screen"),
                Some(Screen::Dialog(_) | Screen::Failed(_)) => None,
                _ if self.started_at.is_some_and(|at| !self.setting.can.read || now >= at + BETTER) => {
                    yes("SessionStart hook")
                }
                _ => None,
            };
        }
        if seen.submitted {
            return yes("UserPromptSubmit hook");
        }
        if seen.in_transcript {
            return yes("transcript");
        }
        let patience = if seen.session_started { BETTER_HOOKED } else { BETTER };
        let weak = self.weak_since.is_some_and(|since| now >= since + patience);
        if weak && seen.file_busy {
            return yes("session file says busy");
        }
        if weak && matches!(self.screen(), Some(Screen::Busy)) {
            return yes("screen says busy");
        }
        None
    }

    fn on_screen(&mut self, now: Duration) -> Option<Action> {
        let steady = self.steady(now);
        match self.screen()?.clone() {
            Screen::Dialog(dialog) => Some(self.on_dialog(now, &dialog)),
            Screen::Failed(text) | Screen::Retrying(text) if steady => Some(self.needs(text)),
            screen @ (Screen::Ready | Screen::Typed { .. } | Screen::Interrupted)
                if self.setting.prompt.is_some() && !self.setting.in_arguments =>
            {
                self.on_prompt_line(now, &screen)
            }
            _ => None,
        }
    }

    fn on_dialog(&mut self, now: Duration, dialog: &Dialog) -> Action {
        if !self.steady(now) {
            return Action::Wait;
        }
        let agreed = match dialog.kind {
            DialogKind::Trust => {
                self.setting.agreed.contains(&Agreed::Trust) && dialog.names(&self.setting.folder)
            }
            DialogKind::SkipPermissions => self.setting.agreed.contains(&Agreed::SkipPermissions),
            _ => false,
        };
        let (Some(selected), Some(agree), true) = (dialog.selected, dialog.agree, agreed) else {
            return if self.steady_for(now, ASKED) { self.needs(dialog.text.clone()) } else { Action::Wait };
        };
        let pressed = match self.keys {
            Some((kind, count, at)) if kind == dialog.kind => {
                // The last key is still on its way while the screen is the one it was pressed at.
                let unanswered = self.screen.as_ref().is_some_and(|(_, since)| *since < at);
                let patience = if selected == agree { RETURN_SHOWS } else { KEY_SHOWS };
                if unanswered && now < at + patience {
                    return Action::Wait;
                }
                count
            }
            _ => 0,
        };
        if pressed >= KEYS {
            return self.needs(dialog.text.clone());
        }
        let key = match agree.cmp(&selected) {
            std::cmp::Ordering::Equal => Key::Enter,
            std::cmp::Ordering::Greater => Key::Down,
            std::cmp::Ordering::Less => Key::Up,
        };
        if !self.setting.can.keys {
            // Return is the one key every window takes.
            if key != Key::Enter || !self.setting.can.paste {
                return self.needs(dialog.text.clone());
            }
            self.keys = Some((dialog.kind, pressed + 1, now));
            return Action::Submit;
        }
        self.keys = Some((dialog.kind, pressed + 1, now));
        Action::Press(key)
    }

    fn on_prompt_line(&mut self, now: Duration, screen: &Screen) -> Option<Action> {
        let since = self.screen.as_ref().map_or(now, |(_, since)| *since);
        Some(match self.typist.at_prompt(now, screen, since)? {
            Stroke::Paste => Action::Paste,
            Stroke::Submit => Action::Submit,
            Stroke::SubmitOtherwise => Action::SubmitOtherwise,
            Stroke::Stuck(why) => self.needs(why.into()),
        })
    }

    fn needs(&self, text: String) -> Action {
        let receipt = if self.typist.submitted() { Receipt::Unknown } else { Receipt::Sent };
        let evidence = self.screen().map_or("session file", Screen::name);
        Action::Settle(Settled { receipt, needs: Some(text), evidence: format!("{evidence} on the screen") })
    }

    fn give_up(&self) -> Action {
        let seconds = self.setting.limit.as_secs_f32();
        let screen = self.screen().map_or("cannot be read", Screen::name);
        let evidence = format!("nothing proved it within {seconds} s; the screen: {screen}");
        Action::Settle(Settled { receipt: Receipt::Unknown, needs: None, evidence })
    }
}

#[cfg(test)]
mod tests;

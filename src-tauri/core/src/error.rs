//! The one error that leaves this crate: a kind, a sentence, what was already done, one next step.
//!
//! Inside, each room has its own `thiserror` enum; this is what they become at the edge. Nobody matches on the
//! text. The kind decides the exit code.

use std::fmt;

/// Who has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A defect of ours.
    Internal,
    /// What was asked cannot be done as asked.
    User,
    /// A configuration file does not say something usable.
    Config,
    /// The machine lacks something, or a program on it refused.
    Environment,
    /// The agent was started, but nothing proved that it received its prompt.
    Unconfirmed,
}

impl Kind {
    /// Exit code of a command that ends with this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Internal => 1,
            Kind::User => 2,
            Kind::Config => 3,
            Kind::Environment => 4,
            Kind::Unconfirmed => 5,
        }
    }

    /// Name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Internal => "internal",
            Kind::User => "user",
            Kind::Config => "config",
            Kind::Environment => "environment",
            Kind::Unconfirmed => "unconfirmed",
        }
    }
}

/// A next step that a face can offer as a button. The words for it are in [`Error::next`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Do the same in tmux.
    InTmux,
    /// Do the same with this agent alone, which asks.
    Alone,
    /// Look at this pane of the settings.
    Settings(&'static str),
    /// Begin a new configuration, and keep the broken one beside it.
    NewConfig,
}

/// What happened, what was already done, and one next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Who has to act.
    pub kind: Kind,
    /// What happened, as one sentence.
    pub message: String,
    /// What had been done before it happened; empty when nothing had.
    pub done: String,
    /// One thing to do next.
    pub next: String,
    /// The same for somebody at a window, who has no command line; `None` where the words above hold there, too.
    pub in_window: Option<Box<str>>,
    /// The same as something that can be done at once.
    pub remedy: Option<Remedy>,
}

impl Error {
    /// An error before anything was done.
    pub fn new(kind: Kind, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            done: String::new(),
            next: next.into(),
            in_window: None,
            remedy: None,
        }
    }

    /// What was asked cannot be done as asked.
    pub fn user(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Kind::User, message, next)
    }

    /// A configuration file does not say something usable.
    pub fn config(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Kind::Config, message, next)
    }

    /// The machine lacks something, or a program on it refused.
    pub fn environment(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Kind::Environment, message, next)
    }

    /// A defect of ours.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message, "run it again with PAO_LOG=debug and report what it prints")
    }

    /// The same error, with a next step that can be offered as a button.
    #[must_use]
    pub fn with(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// The same error, with the next step for somebody at a window.
    #[must_use]
    pub fn in_window(mut self, next: impl Into<String>) -> Self {
        self.in_window = Some(next.into().into_boxed_str());
        self
    }

    /// The same error for a window: its next step there is the next step. What only a command does, or has no words for
    /// a window yet, is said to be for a terminal.
    #[must_use]
    pub fn for_window(mut self) -> Self {
        if let Some(next) = self.in_window.take() {
            self.next = next.into();
        } else if is_command(&self.next) {
            self.next = format!("in a terminal: {}", self.next);
        }
        self
    }

    /// Whether the very same may go well the next time. What the user asked for, or a file says, is as wrong then.
    pub fn may_pass(&self) -> bool {
        matches!(self.kind, Kind::Environment | Kind::Internal)
    }

    /// The same error, saying what had been done before.
    #[must_use]
    pub fn after(mut self, done: impl Into<String>) -> Self {
        self.done = done.into();
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Whether words are for somebody with a command line.
fn is_command(words: &str) -> bool {
    words.contains("`pao ")
        || words.contains(": pao ")
        || words
            .split_whitespace()
            .any(|word| word.strip_prefix("--").is_some_and(|option| !option.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_a_window_a_step_is_for_the_window_or_said_to_be_for_a_terminal() {
        let next = |error: Error| error.for_window().next;
        let error = Error::user("the text is gone", "see `pao tell --list`");
        assert_eq!(next(error.clone()), "in a terminal: see `pao tell --list`");
        assert_eq!(next(error.in_window("look at its page")), "look at its page");
        for words in ["to end it: pao undo api --end", "choose another --permission"] {
            assert!(next(Error::user("no", words)).starts_with("in a terminal: "), "{words}");
        }
        for words in ["choose another folder", "look at pao's folder -- it is full"] {
            assert_eq!(next(Error::user("no", words)), words);
        }
    }
}

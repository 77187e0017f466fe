//! Why a command ends early: an exit code, what happened, one next step. The codes are those of `pao`.

use std::fmt;
use std::io;

use serde_json::{Value, json};

/// Why a command ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Exit code.
    pub code: u8,
    /// What happened, as one sentence.
    pub message: String,
    /// One thing to do next; may be empty.
    pub next: String,
}

impl Fault {
    /// The machine lacks something, or a program on it refused.
    pub fn environment(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self { code: 4, message: message.into(), next: next.into() }
    }

    /// Something that was checked is not as it should be.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into(), next: String::new() }
    }

    /// What was asked cannot be done as asked.
    pub fn user(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self { code: 2, message: message.into(), next: next.into() }
    }

    /// The same as `pao` prints its own errors with `--json`.
    pub fn to_json(&self) -> Value {
        let kind = match self.code {
            2 => "user",
            3 => "config",
            4 => "environment",
            5 => "unconfirmed",
            _ => "internal",
        };
        json!({"kind": kind, "message": self.message, "done": "", "next": self.next})
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.next.is_empty() {
            write!(f, "\n  next: {}", self.next)?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// Reads as: doing this to that failed.
pub trait Context<T> {
    /// Turns an error into a fault of the environment that names what was tried.
    fn doing(self, what: impl fmt::Display) -> Result<T, Fault>;
}

impl<T> Context<T> for io::Result<T> {
    fn doing(self, what: impl fmt::Display) -> Result<T, Fault> {
        self.map_err(|e| Fault::environment(format!("{what}: {e}"), ""))
    }
}

//! What arrived: requests as they were, minus credentials, and the log that keeps them.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;

use crate::dialect::Dialect;
use crate::script::Reply;

/// Headers whose value is never kept.
const CREDENTIALS: [&str; 5] =
    ["authorization", "cookie", "proxy-authorization", "x-api-key", "x-goog-api-key"];

/// One request and what was answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// Position in the log, from 1.
    pub n: usize,
    /// When it arrived, in seconds since 1970.
    pub at: f64,
    /// HTTP method.
    pub method: String,
    /// Path with its query.
    pub path: String,
    /// Headers in lower case, credentials masked.
    pub headers: BTreeMap<String, String>,
    /// The body: JSON, or a string where it was none, or null where there was none.
    pub body: Value,
    /// Status of the answer; 0 where the connection was closed instead.
    pub status: u16,
    /// The scripted reply, for messages.
    pub reply: Option<Reply>,
}

impl Request {
    /// Whether it asks the model for an answer: neither a token count nor a check.
    pub fn is_message(&self) -> bool {
        self.dialect().is_some()
    }

    /// The API it speaks, where it asks the model for an answer.
    pub fn dialect(&self) -> Option<Dialect> {
        Dialect::of(&self.method, self.route())
    }

    /// Whether it belongs to an agent's own loop: a message with tools.
    pub fn has_tools(&self) -> bool {
        self.dialect().is_some_and(|dialect| dialect.has_tools(&self.body))
    }

    /// The path without its query.
    pub fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// All text that the model would read: the system prompt and every message, tool results included, in order.
    pub fn text(&self) -> String {
        self.dialect().map(|dialect| dialect.text(&self.body)).unwrap_or_default()
    }

    /// Text of the last message of role `user`.
    pub fn last_user_text(&self) -> String {
        self.dialect().map(|dialect| dialect.last_user_text(&self.body)).unwrap_or_default()
    }
}

/// A header as it may be kept.
pub(crate) fn masked(name: &str, value: &[u8]) -> (String, String) {
    let name = name.to_ascii_lowercase();
    let value = if CREDENTIALS.contains(&name.as_str()) {
        "***".to_owned()
    } else {
        String::from_utf8_lossy(value).into_owned()
    };
    (name, value)
}

/// All requests, in memory and, where asked, in a file of JSON lines.
#[derive(Debug)]
pub(crate) struct Log {
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    requests: Vec<Request>,
    seen: usize,
    file: Option<File>,
}

impl Log {
    pub(crate) fn open(file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(Self { kept: Mutex::new(Kept { requests: Vec::new(), seen: 0, file }) })
    }

    /// Keeps a request and returns its number. Fails where the file cannot be written; it is kept in memory all the
    /// same.
    pub(crate) fn keep(&self, mut request: Request) -> io::Result<usize> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.seen += 1;
        request.n = kept.seen;
        let n = request.n;
        let mut line = serde_json::to_vec(&request)?;
        line.push(b'\n');
        kept.requests.push(request);
        kept.file.as_mut().map_or(Ok(()), |file| file.write_all(&line))?;
        Ok(n)
    }

    pub(crate) fn all(&self) -> Vec<Request> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    pub(crate) fn forget(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).requests.clear();
    }
}

//! How a host agent's own record of a conversation says that a turn is over, and whether it ended in an error. For
//! those that keep such a record and whose hooks do not tell of every end.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::HostAgent;
use crate::host::Host;

/// How much of a record's end is read, in bytes. The line that ends a turn is the last one or close to it.
const END: u64 = 1 << 16;
/// Longest error that is kept, in characters.
const SHORT: usize = 200;

/// The lines that begin and end a turn: `{"timestamp": …, "payload": {"type": …, "error": {"message": …}}}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// What begins one.
    pub begins: &'static [&'static str],
    /// What ends one, in whatever way.
    pub ends: &'static [&'static str],
}

/// A turn that is over, with nothing after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnOver {
    /// Since when.
    pub at: DateTime<Utc>,
    /// The error it ended in, where it did.
    pub error: Option<String>,
}

impl HostAgent {
    /// The end of a conversation's last turn; `None` while one is running and where nothing is known of it.
    pub fn turn_over(&self, host: &Host, folder: &Path, session: &str) -> Option<TurnOver> {
        let turns = self.turns?;
        let mut file = File::open(self.transcript(host, folder, session)?).ok()?;
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(END))).ok()?;
        let mut bytes = Vec::new();
        file.take(END).read_to_end(&mut bytes).ok()?;
        turns.over(&bytes)
    }
}

impl Turns {
    fn over(&self, end: &[u8]) -> Option<TurnOver> {
        // A line that is still being written, or of which only the rest was read, is none.
        let records =
            end.rsplit(|byte| *byte == b'\n').filter_map(|l| serde_json::from_slice::<Value>(l).ok());
        for record in records {
            let payload = &record["payload"];
            let Some(kind) = payload["type"].as_str() else { continue };
            if self.begins.contains(&kind) {
                return None;
            }
            if self.ends.contains(&kind) {
                let at = DateTime::parse_from_rfc3339(record["timestamp"].as_str()?).ok()?.to_utc();
                let error = payload.get("error").filter(|error| !error.is_null());
                return Some(TurnOver { at, error: error.map(told) });
            }
        }
        None
    }
}

fn told(error: &Value) -> String {
    let text = error["message"].as_str().or(error.as_str()).unwrap_or("an error");
    text.chars().filter(|c| !c.is_control()).take(SHORT).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::CODEX;

    fn over(kinds: &[Value]) -> Option<TurnOver> {
        let line = |payload: &Value| {
            json!({"timestamp": "2026-11-30T20:36:42.792Z", "type": "event_msg", "payload": payload})
                .to_string()
        };
        let text: String = kinds.iter().map(|payload| line(payload) + "\n").collect();
        CODEX.turns.unwrap().over(text.as_bytes())
    }

    #[test]
    fn a_turn_is_over_with_the_line_that_ends_it_and_runs_again_with_the_next() {
        let (begun, ended) = (json!({"type": "task_started"}), json!({"type": "task_complete"}));
        assert_eq!(over(std::slice::from_ref(&begun)), None);
        assert_eq!(over(&[begun.clone(), ended.clone(), begun.clone()]), None);
        let done = over(&[begun.clone(), ended, json!({"type": "token_count"})]).unwrap();
        assert_eq!((done.error, done.at.timestamp()), (None, 1_796_071_002));
        let failed = json!({"type": "task_complete", "error": {"message": "status 401\u{1b}[2J"}});
        assert_eq!(over(&[begun, failed]).unwrap().error.as_deref(), Some("status 401[2J"));
    }

    #[test]
    fn anything_else_says_nothing() {
        for text in ["", "\n", "{", "[1]", "null", r#"{"payload":{"type":"task_complete"}}"#, "\u{0}\n{}"] {
            assert_eq!(CODEX.turns.unwrap().over(text.as_bytes()), None, "{text:?}");
        }
    }
}

//! What is said in an agent's current conversation, read from the end of its transcript, redacted and without control
//! characters. Works for ended agents as long as their transcript exists; nothing is written.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use super::extract;
use crate::agent;
use crate::capture::redact::redact;
use crate::capture::transcript::{Entry, Reader};
use crate::host::Host;
use crate::registry::agents::Agent;
use crate::source::Speaker;

/// First piece read from the end, in bytes; four times as much as long as it holds too little.
const PIECE: u64 = 1 << 19;

/// One thing said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// When.
    pub at: Option<DateTime<Utc>>,
    /// `you`, `agent`, or `subagent` for what is said to and by one.
    pub who: &'static str,
    /// What, clean and redacted; may have several lines.
    pub text: String,
}

/// A transcript that is read from some point on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// The file.
    pub path: PathBuf,
    offset: u64,
}

/// The transcript of an agent's current conversation, where there is one.
pub fn transcript(host: &Host, row: &Agent) -> Option<PathBuf> {
    extract::transcript(host, agent::by_kind(&row.host_agent)?, row)
}

impl Log {
    /// The last `count` things said, and a log to go on with.
    pub fn tail(path: &Path, count: usize) -> io::Result<(Self, Vec<Line>)> {
        let length = std::fs::metadata(path)?.len();
        let mut piece = PIECE;
        loop {
            let from = length.saturating_sub(piece);
            let mut log = Self { path: path.to_path_buf(), offset: from };
            let lines = log.read(from > 0, count)?;
            if lines.len() >= count || from == 0 {
                return Ok((log, lines));
            }
            piece = piece.saturating_mul(4);
        }
    }

    /// What was said since.
    pub fn news(&mut self) -> io::Result<Vec<Line>> {
        // One that was replaced by a shorter one is read anew.
        if std::fs::metadata(&self.path)?.len() < self.offset {
            self.offset = 0;
        }
        self.read(false, usize::MAX)
    }

    fn read(&mut self, amid: bool, count: usize) -> io::Result<Vec<Line>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        if amid {
            self.offset += rest_of_line(&mut file)?;
            file.seek(SeekFrom::Start(self.offset))?;
        }
        let mut reader = Reader::new(file, self.offset).in_full();
        let mut last = VecDeque::new();
        while let Some(entry) = reader.next_entry()? {
            let Entry::Message(message) = entry else { continue };
            let who = match message.speaker {
                _ if message.sidechain => "subagent",
                Speaker::User => "you",
                Speaker::Agent | Speaker::Store => "agent",
            };
            if last.len() == count {
                last.pop_front();
            }
            last.push_back(Line { at: message.at, who, text: message.text });
        }
        self.offset = reader.offset();
        Ok(last.into_iter().map(|line| Line { text: clean(&line.text), ..line }).collect())
    }
}

/// Bytes up to and with the next line end.
fn rest_of_line(file: &mut File) -> io::Result<u64> {
    let mut buffer = [0_u8; 1 << 14];
    let mut skipped = 0_u64;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(skipped);
        }
        if let Some(at) = memchr::memchr(b'\n', &buffer[..read]) {
            return Ok(skipped + at as u64 + 1);
        }
        skipped += read as u64;
    }
}

fn clean(text: &str) -> String {
    redact(text).chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::io::Write as _;

    use super::*;

    fn said(number: usize, text: &str) -> String {
        let record = serde_json::json!({
            "type": if number.is_multiple_of(2) { "user" } else { "assistant" },
            "uuid": format!("u{number}"), "sessionId": "s", "timestamp": "2026-11-30T12:00:00Z",
            "message": { "content": [{ "type": "text", "text": text }] },
        });
        record.to_string() + "\n"
    }

    #[test]
    fn the_end_of_a_long_transcript_is_read_and_then_what_follows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let mut text = String::new();
        for number in 0..4000 {
            let _ = write!(text, "{}", said(number, &format!("line {number} {}", "x".repeat(400))));
        }
        std::fs::write(&path, &text).unwrap();
        assert!(text.len() as u64 > 2 * PIECE);
        for count in [1, 3, 2000, 9000] {
            let (_, lines) = Log::tail(&path, count).unwrap();
            assert_eq!(lines.len(), count.min(4000));
            assert!(lines.last().unwrap().text.starts_with("line 3999 "));
        }
        let (mut log, _) = Log::tail(&path, 1).unwrap();
        assert_eq!(log.news().unwrap(), []);
        let mut file = File::options().append(true).open(&path).unwrap();
        let next =
            said(4000, "key sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz0123456789 \u{1b}[31mred");
        // A line that is still being written is left for the next time.
        let (head, rest) = next.split_at(40);
        file.write_all(head.as_bytes()).unwrap();
        assert_eq!(log.news().unwrap(), []);
        file.write_all(rest.as_bytes()).unwrap();
        let news = log.news().unwrap();
        assert_eq!(news.len(), 1);
        assert_eq!(news[0].who, "you");
        assert!(!news[0].text.contains("0123456789abcdef") && !news[0].text.contains('\u{1b}'), "{news:?}");
    }
}

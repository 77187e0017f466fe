//! What a running agent says of itself in its own session-state file, one file per process, read here and nowhere else.
//!
//! A killed process leaves its file behind, and a later process may have its number: what a file says counts only
//! where it names the very start of the process or, where it names none, a conversation that is known.

use std::io::Read;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{HostAgent, Version};
use crate::host::Host;
use crate::host::process::Identity;

/// Longest file that is read, in bytes.
const LONGEST: u64 = 1 << 20;
/// Longest text that is kept of it, in characters.
const SHORT: usize = 200;

/// The shape of a host agent's session-state files: names of keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionFile {
    /// Oldest version that was seen to write one.
    pub since: Version,
    /// Oldest version that was seen to say in it that it waits.
    pub waits_since: Version,
    /// Its conversation.
    pub session: &'static str,
    /// What it does.
    pub status: &'static str,
    /// Since when, in milliseconds since the epoch.
    pub status_at: &'static str,
    /// The process's start: on Linux clock ticks since the boot.
    pub start: &'static str,
    /// It is in a turn.
    pub busy: &'static str,
    /// It is not.
    pub idle: &'static str,
    /// It waits for the user.
    pub waiting: &'static str,
    /// For what.
    pub waiting_for: &'static str,
    /// Its words for that, each with ours.
    pub waits: &'static [(&'static str, &'static str)],
}

/// What an agent says it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// In a turn.
    Busy,
    /// Between two.
    Idle,
    /// Waits for the user, for this.
    Waiting(String),
}

/// What a session-state file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its current conversation.
    pub session: String,
    /// What it does; `None` where it does not say, as right after its start.
    pub doing: Option<Doing>,
    /// Since when it does that.
    pub at: DateTime<Utc>,
    /// The file names the very start of the process.
    pub proven: bool,
}

impl Said {
    /// Whether it speaks of that conversation's process: it names its start, or the conversation.
    pub fn of(self, session: Option<&str>) -> Option<Self> {
        (self.proven || session == Some(self.session.as_str())).then_some(self)
    }
}

impl HostAgent {
    /// What that process's session-state file says; `None` where there is none, or it is another process's.
    pub fn said(&self, host: &Host, process: Identity) -> Option<Said> {
        let shape = self.session_file.as_ref()?;
        let path = self.sessions_dir(host)?.join(format!("{}.json", process.pid));
        let (value, modified) = read(&path)?;
        shape.read(&value, modified, process)
    }

    /// A process that runs and has that conversation open, whoever started it.
    pub fn who_has_open(&self, host: &Host, session: &str) -> Option<Identity> {
        let files = std::fs::read_dir(self.sessions_dir(host)?).ok()?;
        files.flatten().find_map(|file| {
            let name = file.file_name();
            let pid = name.to_str()?.strip_suffix(".json")?.parse().ok()?;
            let process = Identity::of(pid)?;
            (self.said(host, process)?.session == session).then_some(process)
        })
    }

    /// Whether that version says in its session-state file when it waits and when it goes on.
    pub fn says_that_it_waits(&self, version: Option<Version>) -> bool {
        let version = version.unwrap_or(self.oldest);
        self.session_file.is_some_and(|shape| version >= shape.waits_since)
    }
}

impl SessionFile {
    fn read(&self, value: &Value, modified: DateTime<Utc>, process: Identity) -> Option<Said> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let start = match value.get(self.start) {
            Some(Value::String(text)) => text.parse().ok(),
            Some(number) => number.as_u64(),
            None => None,
        };
        // On other systems than Linux it is written in a form of the program's own.
        let mark = process.mark().filter(|mark| mark.boot != 0);
        let proven = match (start, mark) {
            (Some(start), Some(mark)) if start == mark.start => true,
            (Some(_), Some(_)) => return None,
            _ => false,
        };
        let doing = text(self.status).and_then(|status| match status {
            status if status == self.busy => Some(Doing::Busy),
            status if status == self.idle => Some(Doing::Idle),
            status if status == self.waiting => Some(Doing::Waiting(self.waits_for(text(self.waiting_for)))),
            _ => None,
        });
        let stamped = value.get(self.status_at).and_then(Value::as_i64);
        let at = stamped.and_then(DateTime::from_timestamp_millis).unwrap_or(modified);
        Some(Said { session: text(self.session)?.to_string(), doing, at, proven })
    }

    fn waits_for(&self, what: Option<&str>) -> String {
        let what = what.unwrap_or("an answer");
        let known = self.waits.iter().find(|(theirs, _)| *theirs == what);
        known.map_or_else(
            || what.chars().filter(|c| !c.is_control()).take(SHORT).collect(),
            |(_, ours)| (*ours).to_string(),
        )
    }
}

/// A file as JSON and when it was written. One that is just being written reads as none.
fn read(path: &Path) -> Option<(Value, DateTime<Utc>)> {
    let file = std::fs::File::open(path).ok()?;
    let modified = file.metadata().and_then(|meta| meta.modified()).ok()?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some((serde_json::from_slice(&bytes).ok()?, modified.into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::agent::CLAUDE_CODE;
    use crate::host::process::{Mark, Started};

    fn shape() -> SessionFile {
        CLAUDE_CODE.session_file.unwrap()
    }

    fn process(start: u64) -> Identity {
        Identity { pid: 21884, started: Started::Marked(Mark { boot: 7, start }) }
    }

    fn written() -> Value {
        json!({
            "pid": 21884, "sessionId": "d4901b1f", "cwd": "/code/app", "startedAt": 1_796_064_959_663_i64,
            "procStart": "1208729", "version": "2.1.332", "kind": "interactive", "status": "waiting",
            "updatedAt": 1_796_064_965_685_i64, "statusUpdatedAt": 1_796_064_965_685_i64,
            "waitingFor": "permission prompt",
        })
    }

    #[test]
    fn what_it_waits_for_is_said_in_our_words_and_since_when() {
        let said = shape().read(&written(), DateTime::UNIX_EPOCH, process(1_208_729)).unwrap();
        assert_eq!(said.doing, Some(Doing::Waiting("permission for a tool".into())));
        assert_eq!((said.at.timestamp_millis(), said.proven), (1_796_064_965_685, true));
        let mut other = written();
        other["waitingFor"] = "something\u{1b}[31m new".into();
        let said = shape().read(&other, DateTime::UNIX_EPOCH, process(1_208_729)).unwrap();
        assert_eq!(said.doing, Some(Doing::Waiting("something[31m new".into())));
    }

    #[test]
    fn a_file_that_a_killed_process_of_the_same_number_left_behind_says_nothing() {
        assert_eq!(shape().read(&written(), DateTime::UNIX_EPOCH, process(99)), None);
        // One that names no start is believed only where it names the conversation.
        let mut silent = written();
        silent.as_object_mut().unwrap().remove("procStart");
        let said = shape().read(&silent, DateTime::UNIX_EPOCH, process(99)).unwrap();
        assert!(said.clone().of(Some("d4901b1f")).is_some());
        assert!(said.clone().of(Some("another")).is_none() && said.of(None).is_none());
    }

    #[test]
    fn who_has_a_conversation_open_is_found_while_it_runs_and_no_killed_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let host =
            Host { pao_home: dir.path().join("pao"), exe: "/usr/bin/true".into(), ..Host::at(dir.path()) };
        let sessions = CLAUDE_CODE.sessions_dir(&host).unwrap();
        std::fs::create_dir_all(&sessions).unwrap();
        let own = Identity::own();
        let put = |pid: u32, start: u64| {
            let value = json!({ "sessionId": "d4901b1f", "procStart": start.to_string() });
            std::fs::write(sessions.join(format!("{pid}.json")), value.to_string()).unwrap();
        };
        put(u32::MAX / 2, 5);
        std::fs::write(sessions.join("notes.json"), "{}").unwrap();
        assert_eq!(CLAUDE_CODE.who_has_open(&host, "d4901b1f"), None);
        put(own.pid, own.mark().unwrap().start);
        let found = CLAUDE_CODE.who_has_open(&host, "d4901b1f");
        assert_eq!(found.map(|process| process.pid), Some(own.pid));
        assert_eq!(CLAUDE_CODE.who_has_open(&host, "another"), None);
    }

    #[test]
    fn right_after_its_start_it_does_not_say_what_it_does() {
        let mut young = written();
        let fields = young.as_object_mut().unwrap();
        for key in ["status", "statusUpdatedAt", "waitingFor"] {
            fields.remove(key);
        }
        let said = shape().read(&young, DateTime::UNIX_EPOCH, process(1_208_729)).unwrap();
        assert_eq!((said.doing, said.at), (None, DateTime::UNIX_EPOCH));
    }

    proptest! {
        #[test]
        fn any_file_is_read_or_says_nothing(
            status in ".{0,20}", at in any::<i64>(), start in any::<u64>(), text in any::<bool>()
        ) {
            let start = if text { json!(start.to_string()) } else { json!(start) };
            let value = json!({ "sessionId": "x", "status": status, "statusUpdatedAt": at, "procStart": start });
            let _ = shape().read(&value, DateTime::UNIX_EPOCH, process(5));
        }
    }
}

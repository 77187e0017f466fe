//! What a session came to, read from its transcript without a language model: what was asked, what is still to be
//! done, which files were changed, what was decided, what failed, what was said last.
//!
//! Pure over the transcript's entries. It recognises plain wording and invents none; whoever shows its texts to an
//! agent treats them as data. Every text is redacted here, so that no caller can forget it.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::PathBuf;

use crate::agent::HostAgent;
use crate::capture::redact::redact;
use crate::capture::transcript::{Entry, Message, Reader, TodoChange};
use crate::host::Host;
use crate::registry::agents::Agent;
use crate::source::Speaker;

/// Prompts kept besides the first one.
const PROMPTS: usize = 5;
/// Files, decisions, open ends and errors kept; of too many the newest stay.
const ITEMS: usize = 40;
/// Longest kept prompt or reply, in characters.
const LONG: usize = 4_000;
/// Longest kept sentence, in characters.
const SENTENCE: usize = 400;
/// Tools that change the file they are given.
const WRITERS: &[&str] = &["Edit", "MultiEdit", "Write", "NotebookEdit"];

/// Wording of a decision, lower case.
const DECISIONS: &[&str] = &[
    "decided to",
    "we decided",
    "i decided",
    "decision:",
    "we'll use",
    "we will use",
    "let's use",
    "let's go with",
    "i'll go with",
    "we'll go with",
    "we chose",
    "i chose",
    "opted for",
    "from now on",
    "agreed to",
    "agreed on",
    "决定",
    "改用",
    "採用",
    "決定",
    "することにし",
];
/// Wording of something left open, lower case.
const OPEN: &[&str] = &[
    "todo",
    "fixme",
    "still need",
    "still to do",
    "not yet",
    "remains to",
    "remaining:",
    "left to do",
    "next step",
    "open question",
    "follow-up",
    "unresolved",
    "待办",
    "尚未",
    "还需要",
    "未対応",
    "残りの",
];

/// What a session came to. Texts are redacted; lists are oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extract {
    /// Its title, where it has one.
    pub title: Option<String>,
    /// What the user asked first.
    pub first_prompt: Option<String>,
    /// What the user asked last; the first prompt only where it is one of these.
    pub last_prompts: Vec<String>,
    /// Items of the agent's own list that are not done.
    pub todos: Vec<String>,
    /// Files the agent changed, as it named them, in order of their last change.
    pub files_touched: Vec<String>,
    /// Sentences that say what was decided.
    pub decisions: Vec<String>,
    /// Sentences that say what is left open.
    pub open_ends: Vec<String>,
    /// What tools complained about.
    pub errors: Vec<String>,
    /// What the agent said last.
    pub last_reply: Option<String>,
    /// Byte position in the transcript behind the last whole record.
    pub position: u64,
}

/// One item of the agent's list.
struct Item {
    id: String,
    text: String,
    status: String,
}

impl Item {
    fn open(&self) -> bool {
        !matches!(self.status.as_str(), "completed" | "deleted" | "cancelled")
    }
}

/// Reads what a session came to from its entries, as [`Reader::apart`] yields them, and the position behind them.
pub fn extract(entries: impl IntoIterator<Item = Entry>, position: u64) -> Extract {
    let mut gathering = Gathering::default();
    for entry in entries {
        gathering.take(entry);
    }
    gathering.finish(position)
}

/// The same, streamed from a transcript.
pub fn read(transcript: impl Read) -> io::Result<Extract> {
    let mut reader = Reader::new(transcript, 0).apart();
    let mut gathering = Gathering::default();
    while let Some(entry) = reader.next_entry()? {
        gathering.take(entry);
    }
    Ok(gathering.finish(reader.offset()))
}

/// What an agent's session came to so far; `None` where it has no transcript yet. Blocks while it reads.
pub fn of(host: &Host, kind: &HostAgent, agent: &Agent) -> io::Result<Option<Extract>> {
    let Some(path) = transcript(host, kind, agent) else { return Ok(None) };
    read(std::fs::File::open(path)?).map(Some)
}

/// The transcript of an agent's current conversation, where there is one.
pub fn transcript(host: &Host, kind: &HostAgent, agent: &Agent) -> Option<PathBuf> {
    kind.transcript(host, &agent.folder, agent.session.as_deref()?)
}

#[derive(Default)]
struct Gathering {
    found: Extract,
    prompts: VecDeque<String>,
    items: Vec<Item>,
    counted: usize,
}

impl Gathering {
    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Title { text, .. } => self.found.title = Some(short(&text, SENTENCE)),
            Entry::Message(message) => self.message(&message),
        }
    }

    fn message(&mut self, message: &Message) {
        for used in &message.did {
            if let Some(file) = used.file.as_ref().filter(|_| WRITERS.contains(&used.tool.as_str())) {
                newest(&mut self.found.files_touched, short(file, SENTENCE));
            }
            // A subagent has a list of its own.
            if let Some(change) = used.todo.as_ref().filter(|_| !message.sidechain) {
                self.todo(change);
            }
        }
        if message.sidechain {
            return;
        }
        for error in &message.errors {
            newest(&mut self.found.errors, short(error.trim_start_matches("error:").trim(), SENTENCE));
        }
        let text = message.text.trim();
        if text.is_empty() {
            return;
        }
        if message.speaker == Speaker::User {
            let prompt = short(text, LONG);
            self.found.first_prompt.get_or_insert_with(|| prompt.clone());
            self.prompts.push_back(prompt);
            if self.prompts.len() > PROMPTS {
                self.prompts.pop_front();
            }
        } else {
            self.found.last_reply = Some(short(text, LONG));
        }
        for sentence in sentences(text) {
            let lower = sentence.to_lowercase();
            let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
            if says(DECISIONS) {
                newest(&mut self.found.decisions, short(sentence, SENTENCE));
            } else if says(OPEN) {
                newest(&mut self.found.open_ends, short(sentence, SENTENCE));
            }
        }
    }

    fn todo(&mut self, change: &TodoChange) {
        match change {
            TodoChange::All(list) => {
                let item = |(text, status): &(String, String)| Item {
                    id: String::new(),
                    text: text.clone(),
                    status: status.clone(),
                };
                self.items = list.iter().map(item).collect();
            }
            TodoChange::Add(text) => {
                self.counted += 1;
                let id = self.counted.to_string();
                self.items.push(Item { id, text: text.clone(), status: "pending".into() });
            }
            TodoChange::Set { id, status, subject } => {
                let Some(item) = self.items.iter_mut().find(|item| item.id == *id) else { return };
                if let Some(status) = status {
                    item.status.clone_from(status);
                }
                if let Some(subject) = subject {
                    item.text.clone_from(subject);
                }
            }
        }
    }

    fn finish(mut self, position: u64) -> Extract {
        self.found.last_prompts = self.prompts.into();
        let open = self.items.iter().filter(|item| item.open());
        self.found.todos = open.map(|item| short(&item.text, SENTENCE)).collect();
        self.found.position = position;
        self.found
    }
}

/// Puts an item last, once, and keeps the newest.
fn newest(list: &mut Vec<String>, item: String) {
    list.retain(|known| *known != item);
    list.push(item);
    if list.len() > ITEMS {
        list.remove(0);
    }
}

/// Redacted, and at most so many characters. Redacted first: half a secret is not recognised as one.
fn short(text: &str, longest: usize) -> String {
    let text = redact(text);
    if text.chars().count() <= longest {
        return text.into_owned();
    }
    let cut: String = text.chars().take(longest - 1).collect();
    cut + "…"
}

/// Lines, and sentences within a line.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    let prose = text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fence && !fenced
    });
    prose
        .flat_map(|line| line.split_inclusive(['。', '！', '？']).flat_map(|part| part.split_inclusive(". ")))
        .map(|sentence| sentence.trim().trim_start_matches(['-', '*', '#', '>', ' ']))
        .filter(|sentence| !sentence.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_ONE: &str =
        include_str!("../../../../tests/fixtures/transcripts/5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl");
    const CURRENT: &str = include_str!("../../../../tests/fixtures/transcripts/current-version.jsonl");

    fn record(kind: &str, content: &serde_json::Value) -> String {
        serde_json::json!({"type": kind, "sessionId": "s", "message": {"content": content}}).to_string()
    }

    fn used(tool: &str, input: &serde_json::Value) -> String {
        record("assistant", &serde_json::json!([{"type": "tool_use", "name": tool, "input": input}]))
    }

    fn of_lines(lines: &[String]) -> Extract {
        read(lines.join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn a_recorded_session_tells_what_was_asked_changed_left_and_said_last() {
        let found = read(LONG_ONE.as_bytes()).unwrap();
        let asked = "@CLAUDE.md を最新の状態にアップデートしてください";
        assert_eq!(found.first_prompt.as_deref(), Some(asked));
        assert_eq!(found.last_prompts.first().map(String::as_str), Some(asked));
        assert_eq!(found.files_touched, ["/path/to/Demo/CLAUDE.md"]);
        assert_eq!(found.todos, Vec::<String>::new(), "all items of the last list are done");
        assert!(found.errors.iter().any(|e| e.contains("prompt` is missing")), "{:?}", found.errors);
        assert!(found.last_reply.is_some_and(|reply| !reply.is_empty()));
        assert_eq!(found.position, LONG_ONE.len() as u64);
    }

    #[test]
    fn a_current_session_is_read_as_well() {
        let found = read(CURRENT.as_bytes()).unwrap();
        assert_eq!(found.title.as_deref(), Some("sample"));
        assert_eq!(found.first_prompt.as_deref(), Some("transcript demo"));
    }

    #[test]
    fn of_both_kinds_of_lists_only_what_is_open_is_kept() {
        let todo = |content, status| serde_json::json!({"content": content, "status": status});
        let lists = |todos: Vec<serde_json::Value>| used("TodoWrite", &serde_json::json!({ "todos": todos }));
        let found = of_lines(&[
            lists(vec![todo("one", "in_progress"), todo("two", "pending")]),
            lists(vec![todo("one", "completed"), todo("two", "in_progress"), todo("three", "pending")]),
        ]);
        assert_eq!(found.todos, ["two", "three"]);
        let found = of_lines(&[
            used("TaskCreate", &serde_json::json!({"subject": "mend the login", "description": "d"})),
            used("TaskCreate", &serde_json::json!({"subject": "write tests"})),
            used("TaskUpdate", &serde_json::json!({"taskId": "1", "status": "completed"})),
            used("TaskUpdate", &serde_json::json!({"taskId": "9", "status": "completed"})),
        ]);
        assert_eq!(found.todos, ["write tests"]);
    }

    #[test]
    fn only_changed_files_count_each_once_in_order_of_the_last_change() {
        let found = of_lines(&[
            used("Edit", &serde_json::json!({"file_path": "/a"})),
            used("Read", &serde_json::json!({"file_path": "/read"})),
            used("Write", &serde_json::json!({"file_path": "/b"})),
            used("NotebookEdit", &serde_json::json!({"notebook_path": "/c"})),
            used("Edit", &serde_json::json!({"file_path": "/a"})),
        ]);
        assert_eq!(found.files_touched, ["/b", "/c", "/a"]);
    }

    #[test]
    fn decisions_and_open_ends_are_taken_word_for_word_from_prose_alone() {
        let text = "Looked around. We decided to keep SQLite. It is fast.\n- TODO: index the rows\n```\n// TODO in code\n```\n\
                    我们决定使用 SQLite。";
        let found = of_lines(&[record("assistant", &text.into())]);
        assert_eq!(found.decisions, ["We decided to keep SQLite.", "我们决定使用 SQLite。"]);
        assert_eq!(found.open_ends, ["TODO: index the rows"]);
    }

    #[test]
    fn no_secret_leaves_and_nothing_grows_without_bound() {
        let key = "sk-proj-FAKE0000000000000000abcdefghij";
        let mut lines = vec![record("user", &format!("use {key} please. {}", "x".repeat(9_000)).into())];
        lines.extend((0..200).map(|n| used("Edit", &serde_json::json!({"file_path": format!("/f{n}")}))));
        lines.push(record("assistant", &format!("We decided to use {key}.").into()));
        let found = of_lines(&lines);
        assert!(!format!("{found:?}").contains("FAKE0000"));
        assert_eq!(found.files_touched.len(), ITEMS);
        assert_eq!(found.files_touched.last().map(String::as_str), Some("/f199"));
        assert!(found.first_prompt.is_some_and(|p| p.chars().count() <= LONG));
    }

    #[test]
    fn entries_given_one_by_one_say_the_same() {
        let mut reader = Reader::new(CURRENT.as_bytes(), 0).apart();
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry().unwrap() {
            entries.push(entry);
        }
        assert_eq!(extract(entries, reader.offset()), read(CURRENT.as_bytes()).unwrap());
    }
}

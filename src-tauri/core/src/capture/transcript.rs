//! Reads Claude Code's transcripts: JSON Lines, one record a line, as a stream of who said what.
//!
//! Transcripts grow while they are read, are cut by crashes and hold single lines of many megabytes. So a line is
//! never held beyond a bound, a bad one is counted and skipped, and a torn last one is left for the next time.
//! Only the fields needed are decoded, borrowed from the line. Nothing is written and no meaning is judged.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use chrono::{DateTime, Utc};
use memchr::{memchr, memmem};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::spoken::spoken;
use super::{asked, others};
use crate::source::Speaker;

/// Longest line that is decoded. Longer ones carry images or whole files, not words.
pub const LONGEST_LINE: usize = 8 << 20;
/// Longest text that is kept of one message, in bytes.
pub const LONGEST_TEXT: usize = 16 << 10;
const LONGEST_TOOL: usize = 240;
const LONGEST_ERROR: usize = 400;

/// One thing said in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Identity of the record; empty where the record has none.
    pub uuid: String,
    /// Conversation it belongs to; empty where the record does not say.
    pub session: String,
    /// Folder the agent was in at that moment; empty where the record does not say.
    pub cwd: String,
    /// Git branch at that moment; empty where there was none.
    pub branch: String,
    /// When it was said.
    pub at: Option<DateTime<Utc>>,
    /// Who said it. What a parent agent asks its subagent is said by an agent.
    pub speaker: Speaker,
    /// What was said, without what programs put around it. Tools used and their errors stand in it as lines of their
    /// own, unless the reader keeps them apart ([`Reader::apart`]); never empty otherwise.
    pub text: String,
    /// Said by or to a subagent.
    pub sidechain: bool,
    /// Tools used, where they are kept apart.
    pub did: Vec<ToolUse>,
    /// What tools complained about, where it is kept apart.
    pub errors: Vec<String>,
}

/// One use of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// Name of the tool.
    pub tool: String,
    /// The file it was given, where it was given one.
    pub file: Option<String>,
    /// What it did to the list of things to do, where it did anything.
    pub todo: Option<TodoChange>,
}

/// A change of an agent's list of things to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TodoChange {
    /// The whole list, each with its state as the agent names it.
    All(Vec<(String, String)>),
    /// One more item.
    Add(String),
    /// Another state, or another wording, of the item with that number.
    Set {
        /// Number, as the agent counts them.
        id: String,
        /// New state, where there is one.
        status: Option<String>,
        /// New wording, where there is one.
        subject: Option<String>,
    },
}

/// What a line holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Something said.
    Message(Message),
    /// The session's title, as chosen or summarised; a later one replaces an earlier one.
    Title {
        /// Conversation it names; empty where the record does not say.
        session: String,
        /// The title.
        text: String,
    },
}

/// Lines that yielded nothing, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Longer than [`LONGEST_LINE`].
    pub oversize: u64,
    /// Not JSON, not UTF-8, or not of the expected shape.
    pub bad: u64,
    /// Of a kind that holds no words, or with no words in it.
    pub silent: u64,
}

/// Streams the entries of one transcript.
pub struct Reader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    offset: u64,
    skipped: Skipped,
    apart: bool,
    in_full: bool,
}

impl<R: Read> Reader<R> {
    /// Reads from `input`, which stands at byte `offset` of the transcript.
    pub fn new(input: R, offset: u64) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 18, input),
            line: Vec::new(),
            offset,
            skipped: Skipped::default(),
            apart: false,
            in_full: false,
        }
    }

    /// Yields as well what is no memory: questions to the user, what was chosen, and errors of the model's service.
    #[must_use]
    pub fn in_full(mut self) -> Self {
        self.in_full = true;
        self
    }

    /// Keeps what was done apart from what was said, and yields messages in which something was only done.
    #[must_use]
    pub fn apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// Byte position from which reading has to go on: behind the last whole line.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What was skipped so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The next entry, or `None` at the end or before a torn last line.
    pub fn next_entry(&mut self) -> io::Result<Option<Entry>> {
        loop {
            match self.next_line()? {
                Line::End => return Ok(None),
                Line::Oversize(length) => {
                    self.skipped.oversize += 1;
                    self.offset += length;
                }
                Line::Whole(length) => {
                    let first = self.offset == 0;
                    self.offset += length;
                    match self.decoded(first) {
                        Decoded::Entry(entry) => return Ok(Some(entry)),
                        Decoded::Nothing => {}
                        Decoded::Silent => self.skipped.silent += 1,
                        Decoded::Bad => self.skipped.bad += 1,
                    }
                }
                Line::Torn(length) => {
                    // A whole object without its line end is complete; anything else is still being written.
                    match self.decoded(self.offset == 0) {
                        Decoded::Entry(entry) => {
                            self.offset += length;
                            return Ok(Some(entry));
                        }
                        Decoded::Silent => {
                            self.offset += length;
                            self.skipped.silent += 1;
                        }
                        Decoded::Nothing | Decoded::Bad => {}
                    }
                    return Ok(None);
                }
            }
        }
    }

    fn decoded(&self, first: bool) -> Decoded {
        let line = trimmed(&self.line, first);
        match decode(line, self.apart) {
            Decoded::Silent if self.in_full => {
                asked::said(line).map_or(Decoded::Silent, |message| Decoded::Entry(Entry::Message(message)))
            }
            decoded => decoded,
        }
    }

    /// Fills `self.line` with the next line, without its end. Never holds more than [`LONGEST_LINE`].
    fn next_line(&mut self) -> io::Result<Line> {
        self.line.clear();
        let mut length = 0_u64;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok(match length {
                    0 => Line::End,
                    _ if length > LONGEST_LINE as u64 => Line::End,
                    _ => Line::Torn(length),
                });
            }
            let newline = memchr(b'\n', chunk);
            let used = newline.map_or(chunk.len(), |at| at + 1);
            length += used as u64;
            if length <= LONGEST_LINE as u64 {
                self.line.extend_from_slice(&chunk[..newline.unwrap_or(used)]);
            }
            self.input.consume(used);
            if newline.is_some() {
                return Ok(if length > LONGEST_LINE as u64 {
                    self.line = Vec::new();
                    Line::Oversize(length)
                } else {
                    Line::Whole(length)
                });
            }
        }
    }
}

/// Conversation a transcript file belongs to by its place: `<session>.jsonl`, or the session's folder for what lies
/// in `<session>/subagents/`. `None` for a subagent's file that does not say, whose records name their parent.
pub fn session_of(path: &Path) -> Option<String> {
    let inside =
        path.ancestors().skip(1).find(|folder| folder.file_name().is_some_and(|name| name == "subagents"));
    if let Some(parent) = inside.and_then(Path::parent).and_then(Path::file_name) {
        return Some(parent.to_string_lossy().into_owned());
    }
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    (!stem.starts_with("agent-")).then_some(stem)
}

enum Line {
    End,
    Whole(u64),
    Oversize(u64),
    Torn(u64),
}

enum Decoded {
    Entry(Entry),
    Nothing,
    Silent,
    Bad,
}

/// Without a byte order mark, carriage returns, and the zero bytes a crash leaves where a write never arrived.
fn trimmed(line: &[u8], first: bool) -> &[u8] {
    let line = if first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
    let blank = |b: &u8| *b == 0 || b.is_ascii_whitespace();
    let start = line.iter().position(|b| !blank(b)).unwrap_or(line.len());
    let end = line.iter().rposition(|b| !blank(b)).map_or(start, |at| at + 1);
    &line[start..end]
}

fn decode(line: &[u8], apart: bool) -> Decoded {
    if line.is_empty() {
        return Decoded::Nothing;
    }
    if line[0] != b'{' || line[line.len() - 1] != b'}' {
        return Decoded::Bad;
    }
    if ![&b"\"user\""[..], b"\"assistant\"", b"title\"", b"\"summary\"", b"\"gemini\""]
        .iter()
        .any(|word| memmem::find(line, word).is_some())
    {
        return Decoded::Silent;
    }
    let record: Record<'_> = match serde_json::from_slice(line) {
        Ok(record) => record,
        Err(_) => return kind_only(line),
    };
    match record.kind.as_str() {
        "response_item" | "gemini" => {
            others::said(line).map_or(Decoded::Silent, |m| Decoded::Entry(Entry::Message(m)))
        }
        "user" if record.message.is_none() => {
            others::said(line).map_or(Decoded::Silent, |m| Decoded::Entry(Entry::Message(m)))
        }
        "user" | "assistant" => {
            record.said(apart).map_or(Decoded::Silent, |m| Decoded::Entry(Entry::Message(m)))
        }
        "custom-title" | "ai-title" | "summary" => record.title().map_or(Decoded::Silent, Decoded::Entry),
        _ => Decoded::Silent,
    }
}

/// A record of a kind we do not read may have any shape.
fn kind_only(line: &[u8]) -> Decoded {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow, default, rename = "type")]
        kind: Loose<'a>,
    }
    match serde_json::from_slice::<Kind<'_>>(line) {
        Ok(record) if !matches!(record.kind.as_str(), "user" | "assistant") => Decoded::Silent,
        _ => Decoded::Bad,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Loose<'a>,
    #[serde(borrow, default)]
    uuid: Loose<'a>,
    #[serde(borrow, default)]
    session_id: Loose<'a>,
    #[serde(borrow, default)]
    cwd: Loose<'a>,
    #[serde(borrow, default)]
    git_branch: Loose<'a>,
    #[serde(borrow, default)]
    timestamp: Loose<'a>,
    #[serde(default)]
    is_sidechain: Flag,
    #[serde(default)]
    is_meta: Flag,
    #[serde(default)]
    is_compact_summary: Flag,
    #[serde(default)]
    is_api_error_message: Flag,
    #[serde(borrow, default)]
    message: Option<Said<'a>>,
    #[serde(borrow, default)]
    summary: Loose<'a>,
    #[serde(borrow, default)]
    custom_title: Loose<'a>,
    #[serde(borrow, default)]
    ai_title: Loose<'a>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default)]
    content: Content<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Loose<'a>,
    #[serde(borrow, default)]
    text: Loose<'a>,
    #[serde(borrow, default)]
    name: Loose<'a>,
    #[serde(borrow, default)]
    input: Option<Input<'a>>,
    #[serde(borrow, default)]
    content: Content<'a>,
    #[serde(default)]
    is_error: Flag,
}

#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow, default)]
    file_path: Loose<'a>,
    #[serde(borrow, default)]
    notebook_path: Loose<'a>,
    #[serde(borrow, default)]
    command: Loose<'a>,
    #[serde(borrow, default)]
    description: Loose<'a>,
    #[serde(borrow, default)]
    pattern: Loose<'a>,
    #[serde(borrow, default)]
    path: Loose<'a>,
    #[serde(borrow, default)]
    query: Loose<'a>,
    #[serde(borrow, default)]
    url: Loose<'a>,
    #[serde(borrow, default)]
    skill: Loose<'a>,
    #[serde(borrow, default)]
    todos: Todos<'a>,
    #[serde(borrow, default)]
    subject: Loose<'a>,
    #[serde(borrow, default, rename = "taskId")]
    task_id: Loose<'a>,
    #[serde(borrow, default)]
    status: Loose<'a>,
}

#[derive(Deserialize)]
struct Todo<'a> {
    #[serde(borrow, default)]
    content: Loose<'a>,
    #[serde(borrow, default)]
    status: Loose<'a>,
}

impl Record<'_> {
    fn said(self, apart: bool) -> Option<Message> {
        if self.is_meta.0 || self.is_compact_summary.0 || self.is_api_error_message.0 {
            return None;
        }
        let by_user = self.kind.as_str() == "user";
        let (mut text, mut human) = (String::new(), false);
        let (mut did, mut errors) = (Vec::new(), Vec::new());
        match &self.message.as_ref()?.content {
            Content::Nothing => {}
            Content::Text(said) => human |= append(&mut text, &spoken(said)),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block.kind.as_str() {
                        "text" => human |= append(&mut text, &spoken(block.text.as_str())),
                        "tool_use" if apart => did.push(block.tool_use()),
                        "tool_use" => {
                            append(&mut text, &block.tool());
                        }
                        "tool_result" if block.is_error.0 && apart => errors.push(block.error()),
                        "tool_result" if block.is_error.0 => {
                            append(&mut text, &block.error());
                        }
                        _ => {}
                    }
                }
            }
        }
        errors.retain(|error| !error.is_empty());
        if text.is_empty() && did.is_empty() && errors.is_empty() {
            return None;
        }
        let sidechain = self.is_sidechain.0;
        Some(Message {
            uuid: self.uuid.into_string(),
            session: self.session_id.into_string(),
            cwd: self.cwd.into_string(),
            branch: self.git_branch.into_string(),
            at: DateTime::parse_from_rfc3339(self.timestamp.as_str()).ok().map(|at| at.to_utc()),
            speaker: if by_user && human && !sidechain { Speaker::User } else { Speaker::Agent },
            text,
            sidechain,
            did,
            errors,
        })
    }

    fn title(self) -> Option<Entry> {
        let text = [&self.custom_title, &self.ai_title, &self.summary]
            .map(Loose::as_str)
            .into_iter()
            .find(|t| !t.is_empty())?;
        let text = cut(text.trim(), LONGEST_TOOL);
        (!text.is_empty())
            .then(|| Entry::Title { text: text.to_owned(), session: self.session_id.as_str().to_owned() })
    }
}

impl Block<'_> {
    /// A tool use in one line: which tool, on what.
    fn tool(&self) -> String {
        let Some(input) = &self.input else { return String::new() };
        let on = [
            &input.file_path,
            &input.notebook_path,
            &input.command,
            &input.pattern,
            &input.query,
            &input.url,
            &input.skill,
            &input.path,
        ]
        .map(Loose::as_str)
        .into_iter()
        .find(|value| !value.is_empty());
        let (on, what) = (on.unwrap_or(""), input.description.as_str());
        if on.is_empty() && what.is_empty() {
            return String::new();
        }
        let mut line = format!("{} {}", self.name.as_str(), cut(on, LONGEST_TOOL)).replace(['\n', '\r'], " ");
        if !what.is_empty() {
            line.push_str(" — ");
            line.push_str(cut(what, LONGEST_TOOL));
        }
        line
    }

    fn tool_use(&self) -> ToolUse {
        let tool = self.name.as_str().to_owned();
        let Some(input) = &self.input else { return ToolUse { tool, ..ToolUse::default() } };
        let own = |value: &Loose<'_>| {
            let value = value.as_str();
            (!value.is_empty()).then(|| cut(value, LONGEST_TEXT).to_owned())
        };
        let todo = match tool.as_str() {
            "TodoWrite" => {
                let item = |todo: &Todo<'_>| Some((own(&todo.content)?, todo.status.as_str().to_owned()));
                Some(TodoChange::All(input.todos.0.iter().filter_map(item).collect()))
            }
            "TaskCreate" => own(&input.subject).map(TodoChange::Add),
            "TaskUpdate" => own(&input.task_id).map(|id| TodoChange::Set {
                id,
                status: own(&input.status),
                subject: own(&input.subject),
            }),
            _ => None,
        };
        ToolUse { tool, file: own(&input.file_path).or_else(|| own(&input.notebook_path)), todo }
    }

    /// The first lines of what a tool complained about: they name the fault that the next turns mend.
    fn error(&self) -> String {
        let said = match &self.content {
            Content::Nothing => "",
            Content::Text(text) => text,
            Content::Blocks(blocks) => {
                blocks.iter().map(|block| block.text.as_str()).find(|t| !t.is_empty()).unwrap_or("")
            }
        };
        let said = spoken(said);
        let mut line = String::from("error:");
        for part in said.lines().map(str::trim).filter(|part| !part.is_empty()).take(4) {
            line.push(' ');
            line.push_str(part);
            if line.len() > LONGEST_ERROR {
                break;
            }
        }
        if line == "error:" {
            return String::new();
        }
        cut(&line, LONGEST_ERROR).to_owned()
    }
}

/// Adds a paragraph within [`LONGEST_TEXT`]; false when there was nothing to add.
fn append(text: &mut String, part: &str) -> bool {
    if part.is_empty() {
        return false;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(cut(part, LONGEST_TEXT.saturating_sub(text.len())));
    true
}

/// At most `bytes` bytes, cut between characters.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// A string where there is one; any other value counts as none.
#[derive(Default)]
struct Loose<'a>(Option<Cow<'a, str>>);

impl Loose<'_> {
    fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or("")
    }

    fn into_string(self) -> String {
        self.0.map(Cow::into_owned).unwrap_or_default()
    }
}

/// True where the value is `true`; any other value counts as false.
#[derive(Default)]
struct Flag(bool);

/// A list of things to do; any other value counts as an empty one.
#[derive(Default)]
struct Todos<'a>(Vec<Todo<'a>>);

/// What a message holds: a string, blocks, or something we do not read.
#[derive(Default)]
enum Content<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

macro_rules! others_are {
    ($value:expr) => {
        fn visit_bool<E: de::Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }
        others_are!(but bool, $value);
    };
    (but bool, $value:expr) => {
        fn visit_i64<E: de::Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_u64<E: de::Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_f64<E: de::Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($value)
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Loose<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Loose(Some(Cow::Borrowed(text))))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Loose(Some(Cow::Owned(text.to_owned()))))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Loose(None))
            }
            others_are!(Loose(None));
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Flag;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Flag(value))
            }
            fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Flag(false))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Flag(false))
            }
            others_are!(but bool, Flag(false));
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
            others_are!(Content::Nothing);
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Todos<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Todos<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Todos::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut todos = Vec::new();
                while let Some(todo) = seq.next_element()? {
                    todos.push(todo);
                }
                Ok(Todos(todos))
            }
            others_are!(Todos::default());
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests;

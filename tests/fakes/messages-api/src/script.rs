//! What the stand-in says: rules first, then a queue, then a default. It decides by text alone and knows nothing of
//! connections.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::dialect::Dialect;

/// What to say. The first rule whose pattern is found in the text of the last user message wins; then the queue, one
/// entry per request that carries tools, so that titles and summaries never use one up; then the default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Tried in order.
    pub rules: Vec<Rule>,
    /// Taken from the front.
    pub queue: VecDeque<Reply>,
    /// Said when nothing else applies; the text `ok` where absent.
    pub default: Option<Reply>,
}

/// A reply for requests whose last user message matches.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Looked for in the text of the last user message; `.` matches line ends too.
    #[serde(rename = "match", deserialize_with = "pattern")]
    pub pattern: Regex,
    /// What to say.
    pub reply: Reply,
    /// Whether the rule is used up by its first match.
    #[serde(default)]
    pub once: bool,
}

/// One answer, or the way in which there is none. A bare string stands for its text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Reply {
    /// Text of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Tools to call after the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// HTTP status; anything but 200 answers with an error object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Keys of the error object that differ from what the status suggests: `type`, `message`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub error: Map<String, Value>,
    /// Further response headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Milliseconds before the first byte.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay_ms: u64,
    /// Milliseconds after each chunk of a streamed answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub chunk_delay_ms: u64,
    /// Keys of the usage object that differ from the estimate, such as `input_tokens`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub usage: Map<String, Value>,
    /// Whether to close the connection without a reply.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop: bool,
}

/// One tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Name of the tool.
    pub name: String,
    /// Its arguments, an object.
    #[serde(default)]
    pub input: Map<String, Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn pattern<'de, D: Deserializer<'de>>(from: D) -> Result<Regex, D::Error> {
    Regex::new(&format!("(?s){}", String::deserialize(from)?)).map_err(D::Error::custom)
}

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Reply::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Reply {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // Not an untagged enum: its errors would not name the key that is wrong.
        match Value::deserialize(from)? {
            Value::String(text) => Ok(Reply::text(text)),
            long => Reply::deserialize(long).map_err(D::Error::custom),
        }
    }
}

impl Reply {
    /// An answer in text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A call of one tool. Input that is not an object counts as none.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        let input = if let Value::Object(input) = input { input } else { Map::new() };
        Self { tools: vec![Tool { name: name.into(), input }], ..Self::default() }
    }

    /// An error object under this HTTP status.
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// No reply: the connection closes.
    pub fn hang_up() -> Self {
        Self { drop: true, ..Self::default() }
    }

    /// The same, this many milliseconds later.
    #[must_use]
    pub fn after_ms(mut self, delay_ms: u64) -> Self {
        self.delay_ms = delay_ms;
        self
    }

    /// The same with a pause after each chunk.
    #[must_use]
    pub fn with_chunk_delay_ms(mut self, chunk_delay_ms: u64) -> Self {
        self.chunk_delay_ms = chunk_delay_ms;
        self
    }

    /// The same with a response header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }
}

/// Why a script cannot be used.
#[derive(Debug)]
pub enum ScriptError {
    /// It is not JSON of the expected shape; the text names the key.
    Shape(serde_json::Error),
    /// A pattern is not a regular expression.
    Pattern(regex::Error),
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(e) => write!(f, "the script does not parse: {e}"),
            Self::Pattern(e) => write!(f, "a pattern of the script does not parse: {e}"),
        }
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Says always the same.
    pub fn saying(text: impl Into<String>) -> Self {
        Self { default: Some(Reply::text(text)), ..Self::default() }
    }

    /// Reads a script: an object with `rules`, `queue` and `default`, or a bare list, which is a queue.
    pub fn parse(json: &str) -> Result<Self, ScriptError> {
        let document: Value = serde_json::from_str(json).map_err(ScriptError::Shape)?;
        match document {
            Value::Array(_) => {
                let queue = serde_json::from_value(document).map_err(ScriptError::Shape)?;
                Ok(Self { queue, ..Self::default() })
            }
            _ => serde_json::from_value(document).map_err(ScriptError::Shape),
        }
    }

    /// The same with a rule at the end.
    pub fn when(mut self, pattern: &str, reply: Reply) -> Result<Self, ScriptError> {
        let pattern = Regex::new(&format!("(?s){pattern}")).map_err(ScriptError::Pattern)?;
        self.rules.push(Rule { pattern, reply, once: false });
        Ok(self)
    }

    /// The same with a reply at the end of the queue.
    #[must_use]
    pub fn then(mut self, reply: Reply) -> Self {
        self.queue.push_back(reply);
        self
    }

    fn pick(&mut self, dialect: Dialect, body: &Value) -> Reply {
        if dialect.wants_document(body) {
            return Reply::default();
        }
        let prompt = dialect.last_user_text(body);
        if let Some(i) = self.rules.iter().position(|rule| rule.pattern.is_match(&prompt)) {
            return if self.rules[i].once { self.rules.remove(i).reply } else { self.rules[i].reply.clone() };
        }
        let queued = if dialect.has_tools(body) { self.queue.pop_front() } else { None };
        queued.or_else(|| self.default.clone()).unwrap_or_else(|| Reply::text("ok"))
    }
}

/// Holds the script while it is played, and reads its file again when that changes.
#[derive(Debug)]
pub(crate) struct Prompter {
    file: Option<PathBuf>,
    played: Mutex<Played>,
}

#[derive(Debug)]
struct Played {
    script: Script,
    read: Option<(SystemTime, u64)>,
}

impl Prompter {
    pub(crate) fn new(script: Script, file: Option<PathBuf>) -> Self {
        Self { file, played: Mutex::new(Played { script, read: None }) }
    }

    pub(crate) fn set(&self, script: Script) {
        self.played.lock().unwrap_or_else(PoisonError::into_inner).script = script;
    }

    /// The reply to this body. A script file that cannot be used is itself the reply, as an error of status 500 that
    /// says so: a test that plays the wrong script must not look as if it passed.
    pub(crate) fn pick(&self, dialect: Dialect, body: &Value) -> Reply {
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(reason) = self.refresh(&mut played) {
            let mut reply = Reply::status(500);
            reply.error.insert("message".into(), reason.into());
            return reply;
        }
        played.script.pick(dialect, body)
    }

    fn refresh(&self, played: &mut Played) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        let named = |e: &dyn fmt::Display| format!("{}: {e}", file.display());
        let meta = std::fs::metadata(file).map_err(|e| named(&e))?;
        let stamp = (meta.modified().map_err(|e| named(&e))?, meta.len());
        if played.read != Some(stamp) {
            let text = std::fs::read_to_string(file).map_err(|e| named(&e))?;
            played.script = Script::parse(&text).map_err(|e| named(&e))?;
            played.read = Some(stamp);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn agent(prompt: &str) -> Value {
        json!({"tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": prompt}]})
    }

    fn title(prompt: &str) -> Value {
        json!({"messages": [{"role": "user", "content": [{"type": "text", "text": prompt}]}]})
    }

    #[test]
    fn a_rule_wins_over_the_queue_and_the_queue_over_the_default() {
        let mut script = Script::saying("default")
            .then(Reply::text("queued"))
            .when("deploy", Reply::text("rule"))
            .expect("pattern");
        assert_eq!(script.pick(Dialect::Messages, &agent("now deploy")), Reply::text("rule"));
        assert_eq!(script.pick(Dialect::Messages, &agent("hello")), Reply::text("queued"));
        assert_eq!(script.pick(Dialect::Messages, &agent("hello")), Reply::text("default"));
    }

    #[test]
    fn side_requests_never_use_up_the_queue() {
        let mut script = Script::default().then(Reply::text("queued"));
        assert_eq!(script.pick(Dialect::Messages, &title("name this")), Reply::text("ok"));
        assert_eq!(script.pick(Dialect::Messages, &agent("hello")), Reply::text("queued"));
    }

    #[test]
    fn a_rule_for_once_is_gone_after_its_match() {
        let mut script = Script::parse(r#"{"rules": [{"match": "a.b", "reply": "first", "once": true}]}"#)
            .expect("script");
        assert_eq!(script.pick(Dialect::Messages, &agent("a\nb")), Reply::text("first"));
        assert_eq!(script.pick(Dialect::Messages, &agent("a\nb")), Reply::text("ok"));
    }

    #[test]
    fn only_the_last_user_message_is_matched() {
        let mut script = Script::default().when("secret word", Reply::text("rule")).expect("pattern");
        let body = json!({"messages": [
            {"role": "user", "content": "secret word"},
            {"role": "assistant", "content": "ok"},
            {"role": "user", "content": "go on"},
        ]});
        assert_eq!(script.pick(Dialect::Messages, &body), Reply::text("ok"));
    }

    #[test]
    fn a_list_is_a_queue_and_a_wrong_key_is_named() {
        let script =
            Script::parse(r#"["one", {"status": 429, "headers": {"retry-after": "1"}}]"#).expect("list");
        assert_eq!(script.queue[1].status, Some(429));
        let wrong = Script::parse(r#"{"default": {"texxt": "x"}}"#).expect_err("unknown key");
        assert!(wrong.to_string().contains("texxt"), "{wrong}");
        assert!(Script::parse(r#"{"rules": [{"match": "(", "reply": "x"}]}"#).is_err());
    }

    #[test]
    fn a_file_that_changes_is_read_again_and_a_broken_one_says_so() {
        let dir = tempfile::tempdir().expect("folder");
        let file = dir.path().join("script.json");
        std::fs::write(&file, r#"{"default": "one"}"#).expect("write");
        let prompter = Prompter::new(Script::default(), Some(file.clone()));
        assert_eq!(prompter.pick(Dialect::Messages, &agent("x")), Reply::text("one"));
        std::fs::write(&file, r#"{"default": "another"}"#).expect("write");
        assert_eq!(prompter.pick(Dialect::Messages, &agent("x")), Reply::text("another"));
        std::fs::write(&file, "{").expect("write");
        assert_eq!(prompter.pick(Dialect::Messages, &agent("x")).status, Some(500));
    }
}

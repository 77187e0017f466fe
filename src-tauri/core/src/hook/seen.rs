//! What a payload says, and what follows from it for the agent's state. Pure.
//!
//! Of a payload only a few short things are kept: no prompt, no command, no file's text ever reaches the registry.

use serde_json::{Map, Value, json};

use crate::agent::HostAgent;
use crate::capture::redact;
use crate::host::files;
use crate::registry::agents::{Agent, State};
use crate::registry::events::Event;
use crate::text::essence;

/// Longest text kept of a payload, in characters.
const SHORT: usize = 200;

/// One event, reduced to what is kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    /// The host agent's name of it; `unknown` where there is none.
    pub event: String,
    /// Conversation it belongs to.
    pub session: Option<String>,
    /// What matters of it.
    pub detail: Map<String, Value>,
    /// The state that follows, if any does.
    pub state: Option<State>,
    /// What the agent waits for.
    pub needs: Option<String>,
    /// How the conversation began, where this event begins one.
    pub session_source: Option<String>,
    /// It only says that a tool was used: a sign of life, and that nothing is asked about it any more.
    pub tool_was_used: bool,
    /// The answer may carry text for the agent.
    pub takes_context: bool,
}

impl Seen {
    /// As the registry takes it.
    pub(super) fn state(&self) -> Option<(State, Option<&str>)> {
        self.state.map(|state| (state, self.needs.as_deref()))
    }

    /// Whether it only tells again that the agent is idle, as a host agent does when nobody has typed for a minute.
    pub(super) fn repeats(&self, row: &Agent) -> bool {
        repeats(&self.event, self.state, row)
    }
}

/// [`Seen::repeats`] for an event that was kept.
pub(super) fn repeats(event: &str, state: Option<State>, row: &Agent) -> bool {
    event == "Notification" && state == Some(State::Idle) && row.state == State::Idle
}

/// Reads a payload of any shape.
pub(super) fn understand(payload: &Value, kind: &HostAgent) -> Seen {
    let text = |key: &str| payload.get(key).and_then(Value::as_str);
    let name = text("hook_event_name").filter(|name| is_word(name)).unwrap_or("unknown");
    let mut seen = Seen {
        event: name.to_string(),
        session: text("session_id").filter(|id| is_word(id)).map(str::to_string),
        detail: Map::new(),
        state: None,
        needs: None,
        session_source: None,
        tool_was_used: false,
        takes_context: false,
    };
    let mut note = |key: &str, value: Value| seen.detail.insert(key.to_string(), value);
    match name {
        "SessionStart" => {
            let source = text("source").filter(|source| is_word(source)).unwrap_or("unknown");
            note("source", source.into());
            // Compaction happens in the middle of a turn as well as between two.
            seen.state = (source != "compact").then_some(State::Idle);
            seen.session_source = Some(source.to_string());
            seen.takes_context = true;
        }
        "UserPromptSubmit" => {
            let prompt = text("prompt").unwrap_or_default();
            let prompt = kind.bare(prompt);
            note("prompt_sha256", fingerprint(&prompt).into());
            note("characters", prompt.chars().count().into());
            seen.state = Some(State::Working);
        }
        "PermissionRequest" => {
            let tool = short(text("tool_name").unwrap_or("a tool"));
            note("tool", tool.clone().into());
            seen.state = Some(State::NeedsYou);
            seen.needs = Some(asks(&tool, payload.get("tool_input")));
        }
        _ if Some(name) == kind.tool_event => seen.tool_was_used = true,
        "Notification" => {
            let message = short(text("message").unwrap_or_default());
            // 2.0.76 already names the type; a message without one is believed only where it asks for permission.
            let kind = text("notification_type").filter(|kind| is_word(kind));
            note("type", kind.into());
            let asks = match kind {
                Some(kind) => kind == "permission_prompt" || kind.starts_with("elicitation_dialog"),
                None => message.contains("permission"),
            };
            if asks {
                seen.state = Some(State::NeedsYou);
                seen.needs = Some(message);
            } else if kind == Some("idle_prompt") {
                seen.state = Some(State::Idle);
            }
        }
        // A part of the turn that runs beside it has ended, not the turn.
        "Stop" | "StopFailure" if payload.get("agent_id").is_some_and(|id| !id.is_null()) => {}
        // Codex tells of a turn that the user stopped by an event of its own.
        "Stop" | "Interrupt" => seen.state = Some(State::Idle),
        "StopFailure" => {
            let message =
                short(text("last_assistant_message").or_else(|| text("error")).unwrap_or("an error"));
            note("error", message.clone().into());
            seen.state = Some(State::NeedsYou);
            seen.needs = Some(message);
        }
        "SessionEnd" => {
            let reason = text("reason").filter(|reason| is_word(reason)).unwrap_or("unknown");
            note("reason", reason.into());
            // The program goes on with another conversation.
            let goes_on = matches!(reason, "clear" | "resume" | "fork");
            seen.state = (!goes_on).then_some(State::Ended);
        }
        _ => {}
    }
    seen
}

/// What of a tool's input says best what it would do.
const TELLING: [&str; 7] = ["command", "file_path", "notebook_path", "path", "url", "pattern", "query"];
/// Longest piece of it that is kept, in characters.
const PIECE: usize = 80;

/// What the user is asked, in a few words: which tool, and what it would do.
fn asks(tool: &str, input: Option<&Value>) -> String {
    let field = |key: &str| input.and_then(|input| input.get(key)).and_then(Value::as_str);
    let question = input.and_then(|input| input.pointer("/questions/0/question")).and_then(Value::as_str);
    if let Some(question) = question.and_then(piece) {
        return format!("question: {question}");
    }
    if input.is_some_and(|input| input.get("plan").is_some()) {
        return "agreement to its plan".into();
    }
    match TELLING.iter().find_map(|key| field(key)).and_then(piece) {
        Some(what) => format!("permission for {tool}: {what}"),
        None => format!("permission for {tool}"),
    }
}

/// A piece of a text that goes into the registry: short, and none at all where it could hold a secret.
fn piece(text: &str) -> Option<String> {
    // A secret must not be cut in two, so that neither half is recognised.
    let text: String = text.chars().take(4 * SHORT).collect();
    if text.trim().is_empty() || redact::may_hold_secret(&text) {
        return None;
    }
    let whole = short(&text);
    let mut piece: String = whole.chars().take(PIECE).collect();
    if piece.len() < whole.len() {
        piece.push('…');
    }
    Some(piece)
}

/// Identity of a prompt: SHA-256 of its [`essence`], lower-case hex.
pub fn fingerprint(prompt: &str) -> String {
    files::sha256(essence(prompt).as_bytes())
}

/// Whether a transcript has a line of the user's with that prompt.
pub fn holds_prompt(transcript: &[u8], sought: &str) -> bool {
    transcript.split(|byte| *byte == b'\n').any(|line| {
        let Ok(record) = serde_json::from_slice::<Value>(line) else { return false };
        let texts = crate::agent::user_texts(&record);
        texts.into_iter().any(|text| fingerprint(text) == sought)
    })
}

/// The fingerprint of the prompt an event says was submitted.
pub fn prompt_fingerprint(event: &Event) -> Option<String> {
    (event.event == "UserPromptSubmit")
        .then(|| detail(event, "prompt_sha256")?.as_str().map(str::to_string))?
}

/// The error an event says a turn ended in.
pub fn failure(event: &Event) -> Option<String> {
    (event.event == "StopFailure").then(|| detail(event, "error")?.as_str().map(str::to_string))?
}

/// Names of the texts that an event says were handed over with a prompt (see [`super::next`]).
pub fn handed(event: &Event) -> Vec<String> {
    let Some(Value::Array(names)) = detail(event, "handed") else { return Vec::new() };
    names.iter().filter_map(|name| name.as_str().map(str::to_string)).collect()
}

/// Whether an event says that the briefing was handed over.
pub fn briefed(event: &Event) -> bool {
    event.event == "SessionStart" && detail(event, "briefing") == Some(json!(true))
}

fn detail(event: &Event, key: &str) -> Option<Value> {
    serde_json::from_str::<Value>(&event.detail).ok()?.get(key).cloned()
}

/// A name or an id: short, and nothing in it that means something to anyone.
fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.len() <= 64 && text.chars().all(plain)
}

fn short(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .filter(|c| !c.is_control())
        .take(SHORT)
        .collect()
}

//! What a reply must be before its results are looked at.

use serde_json::Value;

use super::items::{self, Item};
use super::request::Received;
use crate::source::SourceError;

/// Characters of a server's own error message that are passed on.
const MESSAGE_CHARS: usize = 160;

/// Why an MCP call came to nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server wants the handshake first.
    WantsSession,
    /// Anything else.
    Error(SourceError),
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::Error(error)
    }
}

impl Failure {
    pub(super) fn into_error(self) -> SourceError {
        match self {
            Self::WantsSession => SourceError::Refused("the server wants a session and gives none".into()),
            Self::Error(error) => error,
        }
    }
}

/// The JSON of a plain reply.
pub(super) fn plain(received: &Received) -> Result<Value, SourceError> {
    let value = parse(received)?;
    if let Value::Object(object) = &value {
        let failed = object.get("error").is_some_and(|e| !e.is_null() && *e != Value::Bool(false))
            || object.get("success") == Some(&Value::Bool(false))
            || object.get("ok") == Some(&Value::Bool(false));
        if failed {
            return Err(SourceError::Refused(format!("HTTP {} with an error object", received.status)));
        }
    }
    Ok(value)
}

/// The result of a JSON-RPC reply to call `id`.
pub(super) fn result(received: &Received, id: u64, secret: Option<&str>) -> Result<Value, SourceError> {
    let reply = if received.events {
        event_with(&received.body, id)
            .ok_or_else(|| SourceError::BadReply("an event stream without the reply".into()))?
    } else {
        parse(received)?
    };
    rpc(reply, id).map_err(|fault| fault.into_error(secret))
}

/// The result of an MCP call; with `may_ask` a complaint about a missing session is told apart.
pub(super) fn tool_reply(
    received: &Received,
    id: u64,
    secret: Option<&str>,
    may_ask: bool,
) -> Result<Value, Failure> {
    let reply = if received.events {
        event_with(&received.body, id)
            .ok_or_else(|| SourceError::BadReply("an event stream without the reply".into()))?
    } else {
        parse(received)?
    };
    match rpc(reply, id) {
        // Invalid request, and "server not initialized" as the common servers say it.
        Err(Fault::Error { code: -32_600 | -32_002, .. }) if may_ask => Err(Failure::WantsSession),
        other => other.map_err(|fault| Failure::Error(fault.into_error(secret))),
    }
}

/// What is wrong with a JSON-RPC reply.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    Form(&'static str),
    Error { code: i64, message: String },
}

impl Fault {
    fn into_error(self, secret: Option<&str>) -> SourceError {
        match self {
            Self::Form(what) => SourceError::BadReply(what.into()),
            Self::Error { code, message } => {
                let message = presentable(&message, secret);
                SourceError::Refused(if message.is_empty() {
                    format!("JSON-RPC error {code}")
                } else {
                    format!("JSON-RPC error {code}: {message}")
                })
            }
        }
    }
}

/// Takes a JSON-RPC 2.0 reply apart (<https://www.jsonrpc.org/specification>, section 5).
pub(super) fn rpc(reply: Value, id: u64) -> Result<Value, Fault> {
    let Value::Object(mut reply) = reply else {
        return Err(Fault::Form("the reply is not a JSON-RPC object"));
    };
    if reply.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Fault::Form("the reply does not say JSON-RPC 2.0"));
    }
    let error = reply.remove("error").filter(|e| !e.is_null());
    let matches = reply.get("id").is_some_and(|given| given.as_u64() == Some(id));
    // A server that could not read the call answers with the id null.
    let unread = error.is_some() && reply.get("id").is_some_and(Value::is_null);
    if !matches && !unread {
        return Err(Fault::Form("the reply is for another call"));
    }
    if let Some(error) = error {
        if reply.get("result").is_some_and(|r| !r.is_null()) {
            return Err(Fault::Form("the reply has both a result and an error"));
        }
        let Some(code) = error.get("code").and_then(Value::as_i64) else {
            return Err(Fault::Form("the reply has an error without a code"));
        };
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        return Err(Fault::Error { code, message });
    }
    reply.remove("result").ok_or(Fault::Form("the reply has neither a result nor an error"))
}

/// The results of an MCP tool: structured ones, else text that is JSON, else text as it stands.
pub(super) fn tool_result(result: &Value) -> Result<Vec<Item>, SourceError> {
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Err(SourceError::Refused("the MCP tool reports an error".into()));
    }
    if let Some(structured) = result.get("structuredContent").filter(|s| s.is_object() || s.is_array())
        && let Ok(found) = items::read(structured.clone())
    {
        return Ok(found);
    }
    let Some(Value::Array(content)) = result.get("content") else {
        return Err(SourceError::BadReply("the MCP result has no content".into()));
    };
    let mut found = Vec::new();
    for part in content {
        // Images, links and resources are nothing to brief with.
        let text =
            part.get("text").and_then(Value::as_str).filter(|_| part.get("type") == Some(&"text".into()));
        let Some(text) = text else { continue };
        match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Array(_) | Value::Object(_))) => found.extend(items::read(value)?),
            _ => found.extend(Item::of_text(text)),
        }
    }
    Ok(found)
}

/// The reply to call `id` among the complete events received so far.
pub(super) fn event_with(body: &[u8], id: u64) -> Option<Value> {
    let text = String::from_utf8_lossy(body);
    let mut data = String::new();
    let mut lines: Vec<&str> = text.split('\n').map(|l| l.trim_end_matches('\r')).collect();
    // The last piece is a line only once its end has arrived.
    lines.pop();
    for line in lines {
        if let Some(rest) = line.strip_prefix("data:") {
            if !data.is_empty() {
                data.push('\n');
            }
            data.push_str(rest.strip_prefix(' ').unwrap_or(rest));
        } else if line.is_empty() && !data.is_empty() {
            let event: Option<Value> = serde_json::from_str(&data).ok();
            data.clear();
            let ours = |e: &Value| {
                (e.get("result").is_some() || e.get("error").is_some())
                    && e.get("id").is_some_and(|given| given.as_u64() == Some(id) || given.is_null())
            };
            if let Some(event) = event.filter(ours) {
                return Some(event);
            }
        }
    }
    None
}

fn parse(received: &Received) -> Result<Value, SourceError> {
    let status = received.status;
    let body = received.body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&received.body);
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(SourceError::BadReply(format!("HTTP {status} with an empty body")));
    }
    serde_json::from_slice(body).map_err(|e| {
        SourceError::BadReply(if e.is_eof() {
            format!("HTTP {status} with JSON that breaks off")
        } else {
            format!("HTTP {status} with text that is not JSON")
        })
    })
}

/// A message as it may be shown: one short line without control characters and without our token.
fn presentable(message: &str, secret: Option<&str>) -> String {
    let message = match secret {
        Some(secret) if !secret.is_empty() => message.replace(secret, "…"),
        _ => message.to_owned(),
    };
    let clean: String = message.chars().map(|c| if hidden(c) { ' ' } else { c }).collect();
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Control characters, and those that turn or hide text.
fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn received(body: &[u8]) -> Received {
        Received { status: 200, events: false, body: body.to_vec(), session: None }
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        let key = prop_oneof![
            Just("jsonrpc"),
            Just("id"),
            Just("result"),
            Just("error"),
            Just("code"),
            Just("message"),
            Just("results"),
            Just("matches"),
            Just("items"),
            Just("data"),
            Just("text"),
            Just("content"),
            Just("type"),
            Just("isError"),
            Just("structuredContent"),
            Just("score"),
            Just("created_at"),
            Just("metadata"),
        ];
        leaf.prop_recursive(4, 48, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((key.clone(), inner), 0..6)
                    .prop_map(|pairs| pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
            ]
        })
    }

    #[test]
    fn an_error_message_is_one_short_line_without_our_token() {
        let reply = json!({ "jsonrpc": "2.0", "id": 1,
            "error": { "code": -32000, "message": format!("bad key FAKE-token\n\u{1b}[31m\u{202e}{}", "x".repeat(900)) } });
        let error =
            result(&received(reply.to_string().as_bytes()), 1, Some("FAKE-token")).unwrap_err().to_string();
        assert!(error.starts_with("refused: JSON-RPC error -32000: bad key … [31m xxx"), "{error}");
        assert!(
            error.chars().count() < 220 && !error.contains("FAKE") && !error.chars().any(hidden),
            "{error}"
        );
    }

    #[test]
    fn an_event_is_read_only_when_it_is_complete() {
        let reply = json!({ "jsonrpc": "2.0", "id": 1, "result": [] });
        let whole =
            format!(": hello\r\nevent: message\r\ndata: {{\"x\":1}}\r\n\r\nid: 7\r\ndata: {reply}\r\n\r\n");
        assert_eq!(event_with(whole.as_bytes(), 1), Some(reply));
        assert_eq!(event_with(whole.as_bytes(), 2), None);
        for end in 0..whole.len() - 1 {
            let _ = event_with(&whole.as_bytes()[..end], 1);
        }
        assert_eq!(event_with(&whole.as_bytes()[..whole.len() - 2], 1), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_result_or_an_error(body in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = result(&received(&body), 1, Some("token"));
            let _ = plain(&received(&body)).map(items::read);
            let _ = event_with(&body, 1);
        }

        #[test]
        fn any_json_is_a_result_or_an_error(value in json_value()) {
            let body = value.to_string();
            let _ = result(&received(body.as_bytes()), 1, None).map(items::read);
            let _ = tool_result(&value);
            let _ = items::read(value).map(|found| items::snippets(found, "s", 5));
        }

        #[test]
        fn a_reply_with_another_id_is_always_an_error(given in json_value(), value in json_value(), id in 0_u64..1000) {
            prop_assume!(given.as_u64() != Some(id));
            let reply = json!({ "jsonrpc": "2.0", "id": given, "result": value });
            prop_assert_eq!(rpc(reply, id), Err(Fault::Form("the reply is for another call")));
        }

        #[test]
        fn a_result_of_our_call_is_handed_on_unchanged(value in json_value(), id in 0_u64..1000) {
            let reply = json!({ "jsonrpc": "2.0", "id": id, "result": value });
            prop_assert_eq!(rpc(reply, id), Ok(value));
        }

        #[test]
        fn a_shown_message_has_no_control_characters_and_never_the_token(
            message in ".{0,400}", secret in "[a-zA-Z0-9]{8,20}", at in 0_usize..50,
        ) {
            let at = message.char_indices().nth(at).map_or(message.len(), |(i, _)| i);
            let message = format!("{}{secret}{}", &message[..at], &message[at..]);
            let shown = presentable(&message, Some(&secret));
            prop_assert!(!shown.contains(&secret) && !shown.chars().any(hidden));
            prop_assert!(shown.chars().count() <= MESSAGE_CHARS + 1);
        }
    }
}

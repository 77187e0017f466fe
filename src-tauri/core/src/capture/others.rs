//! What other host agents' records of a conversation say, read as far as words go: who said what and when. Tools and
//! what programs put around a prompt are left out.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::transcript::Message;
use crate::source::Speaker;

/// What programs themselves say in the user's name.
const PUT_THERE: &[&str] =
    &["<environment_context", "<session_context", "<user_instructions", "# AGENTS.md instructions"];

/// What one record says; `None` where nothing, or where it is of no shape that is known.
pub(super) fn said(line: &[u8]) -> Option<Message> {
    let record: Value = serde_json::from_slice(line).ok()?;
    // Codex: {type: response_item, payload: {type: message, role, content}}; Gemini: {type: user|gemini, content}.
    let (who, content, id) = match record["type"].as_str()? {
        "response_item" if record["payload"]["type"] == "message" => {
            let payload = &record["payload"];
            (payload["role"].as_str()?, &payload["content"], &payload["id"])
        }
        kind @ ("user" | "gemini") => (kind, &record["content"], &record["id"]),
        _ => return None,
    };
    let speaker = match who {
        "user" => Speaker::User,
        "assistant" | "gemini" => Speaker::Agent,
        _ => return None,
    };
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    let text: Vec<&str> = content.as_str().into_iter().chain(parts).collect();
    let text = text.join("\n");
    if text.trim().is_empty() || PUT_THERE.iter().any(|put| text.trim_start().starts_with(put)) {
        return None;
    }
    let at = record["timestamp"].as_str().and_then(|at| DateTime::parse_from_rfc3339(at).ok());
    Some(Message {
        uuid: id.as_str().unwrap_or_default().to_string(),
        session: String::new(),
        cwd: String::new(),
        branch: String::new(),
        at: at.map(|at| at.with_timezone(&Utc)),
        speaker,
        text,
        sidechain: false,
        did: Vec::new(),
        errors: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_of_codex_and_gemini_are_read_and_what_programs_put_there_is_not() {
        let text = |record: Value| said(record.to_string().as_bytes()).map(|said| (said.speaker, said.text));
        let codex = |role: &str, text: &str| {
            json!({"type": "response_item", "timestamp": "2026-11-30T20:36:42.792Z",
                "payload": {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}})
        };
        assert_eq!(text(codex("user", "fix it")), Some((Speaker::User, "fix it".into())));
        assert_eq!(text(codex("assistant", "done")), Some((Speaker::Agent, "done".into())));
        assert_eq!(text(codex("developer", "be good")), None);
        assert_eq!(text(codex("user", "<environment_context>\n…")), None);
        assert_eq!(
            text(json!({"type": "user", "content": [{"text": "hi"}]})),
            Some((Speaker::User, "hi".into()))
        );
        assert_eq!(text(json!({"type": "gemini", "content": "ho"})), Some((Speaker::Agent, "ho".into())));
        for nothing in
            [json!(null), json!({"$set": {}}), json!({"type": "gemini", "content": ""}), json!({"type": 1})]
        {
            assert_eq!(text(nothing), None);
        }
    }
}

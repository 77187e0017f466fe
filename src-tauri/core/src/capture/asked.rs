//! Records of Claude Code's transcripts that hold no words to remember, and yet belong to what was said: what the
//! agent asked the user, what the user chose, and what the model's service answered instead of a turn.
//!
//! Read only for whoever wants to see a conversation in full.

use chrono::DateTime;
use memchr::memmem;
use serde_json::Value;

use super::transcript::Message;
use crate::source::Speaker;

/// The tool that asks.
const TOOL: &str = "AskUserQuestion";

/// What such a record says; `None` for all others.
pub(super) fn said(line: &[u8]) -> Option<Message> {
    let holds = |part: &str| memmem::find(line, part.as_bytes()).is_some();
    if !holds(TOOL) && !holds("isApiErrorMessage") && !holds("\"answers\"") {
        return None;
    }
    let record: Value = serde_json::from_slice(line).ok()?;
    let content = &record["message"]["content"];
    let failed = record["isApiErrorMessage"] == true;
    let (speaker, text) = if failed {
        (Speaker::Agent, words(content))
    } else if let Some(answers) = record["toolUseResult"]["answers"].as_object() {
        let chosen = answers.iter().map(|(question, answer)| format!("{question} → {}", plain(answer)));
        (Speaker::User, chosen.collect::<Vec<_>>().join("\n"))
    } else {
        (Speaker::Agent, questions(content))
    };
    let text_of = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
    let (at, sidechain) = (text_of("timestamp"), record["isSidechain"] == true);
    (!text.is_empty()).then(|| Message {
        uuid: text_of("uuid"),
        session: text_of("sessionId"),
        cwd: text_of("cwd"),
        branch: text_of("gitBranch"),
        at: DateTime::parse_from_rfc3339(&at).ok().map(|at| at.to_utc()),
        speaker,
        text,
        sidechain,
        did: Vec::new(),
        errors: Vec::new(),
    })
}

/// Each question with its choices.
fn questions(content: &Value) -> String {
    let uses = content.as_array().into_iter().flatten().filter(|block| block["name"] == TOOL);
    let asked = uses.flat_map(|block| block["input"]["questions"].as_array().into_iter().flatten());
    let line = |question: &Value| {
        let text = question["question"].as_str()?;
        let options = question["options"].as_array().into_iter().flatten();
        let labels: Vec<&str> = options.filter_map(|option| option["label"].as_str()).collect();
        Some(if labels.is_empty() { text.to_string() } else { format!("{text} ({})", labels.join(", ")) })
    };
    asked.filter_map(line).collect::<Vec<_>>().join("\n")
}

/// The text of a message, whichever way it is written.
fn words(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_string();
    }
    let texts = content.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// An answer: a text, or several.
fn plain(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_its_answer_and_an_error_are_said_and_nothing_else_is() {
        let asked = json!({ "type": "assistant", "uuid": "u1", "timestamp": "2026-11-30T12:00:00Z", "message": {
            "content": [{ "type": "tool_use", "name": TOOL, "input": { "questions": [
                { "question": "Which colour?", "options": [{ "label": "Red" }, { "label": "Blue" }] },
                { "question": "Why?" },
            ] } }],
        } });
        let said = |record: Value| said(record.to_string().as_bytes()).map(|m| (m.speaker, m.text));
        assert_eq!(said(asked), Some((Speaker::Agent, "Which colour? (Red, Blue)\nWhy?".into())));
        let answered = json!({ "type": "user", "message": { "content": [{ "type": "tool_result" }] },
            "toolUseResult": { "answers": { "Which colour?": "Red", "Why?": ["a", "b"] } } });
        assert_eq!(said(answered), Some((Speaker::User, "Which colour? → Red\nWhy? → a, b".into())));
        let failed = json!({ "type": "assistant", "isApiErrorMessage": true,
            "message": { "content": [{ "type": "text", "text": "Credit balance is too low" }] } });
        assert_eq!(said(failed), Some((Speaker::Agent, "Credit balance is too low".into())));
        for other in [
            json!({ "type": "user", "message": { "content": "the AskUserQuestion tool" } }),
            json!({ "type": "assistant", "isApiErrorMessage": false, "message": { "content": "x" } }),
            json!({ "toolUseResult": { "answers": 7 } }),
            json!({ "isApiErrorMessage": true }),
        ] {
            assert_eq!(said(other.clone()), None, "{other}");
        }
        assert!(super::said(b"{\"answers\"").is_none());
    }
}

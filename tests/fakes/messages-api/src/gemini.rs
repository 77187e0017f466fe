//! The answers of Google's Gemini API, whole or in pieces. Shapes follow
//! <https://ai.google.dev/api/generate-content>; only what a terminal agent reads is there.

use serde_json::{Value, json};

use crate::message::{Event, chunks, tokens};
use crate::script::Reply;

/// The finished answer for a reply.
pub(crate) fn answer(n: usize, body: &Value, reply: &Reply) -> Value {
    let mut parts = Vec::new();
    let config = &body["generationConfig"];
    let schema = [&config["responseJsonSchema"], &config["responseSchema"]]
        .into_iter()
        .find(|schema| schema.is_object());
    if let Some(schema) = schema {
        // Side questions want a document of this shape; a reply in prose would only be asked for again and again.
        parts.push(json!({"text": instance(schema).to_string()}));
    } else if reply.text.is_some() || reply.tools.is_empty() {
        parts.push(json!({"text": reply.text.as_deref().unwrap_or_default()}));
    }
    for tool in &reply.tools {
        parts.push(json!({"functionCall": {"name": tool.name, "args": tool.input}}));
    }
    let parts = Value::Array(parts);
    let (read, written) = (tokens(body), tokens(&parts));
    let mut usage = json!({
        "promptTokenCount": read,
        "candidatesTokenCount": written,
        "totalTokenCount": read + written,
    });
    for (key, value) in &reply.usage {
        usage[key] = value.clone();
    }
    json!({
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": usage,
        "modelVersion": "gemini-standin",
        "responseId": format!("standin{n:08}"),
    })
}

/// The plainest document that a JSON schema allows: what is required, and the first of every choice.
fn instance(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str().unwrap_or_default().to_lowercase().as_str() {
        "object" => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            required.map(|key| (key.to_owned(), instance(&schema["properties"][key]))).collect()
        }
        "array" => json!([]),
        "boolean" => json!(false),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        _ => json!("standin"),
    }
}

/// A finished answer as the stream that would have built it: a piece of it in each event.
pub(crate) fn events(answer: &Value) -> Vec<Event> {
    let mut pieces = Vec::new();
    for part in answer["candidates"][0]["content"]["parts"].as_array().into_iter().flatten() {
        match part["text"].as_str() {
            Some(text) => pieces.extend(chunks(text).map(|text| json!({"text": text}))),
            None => pieces.push(part.clone()),
        }
    }
    let last = pieces.len().saturating_sub(1);
    let mut events = Vec::new();
    for (index, part) in pieces.into_iter().enumerate() {
        let mut event = answer.clone();
        event["candidates"][0]["content"]["parts"] = json!([part]);
        if index != last
            && let Some(candidate) = event["candidates"][0].as_object_mut()
        {
            candidate.remove("finishReason");
        }
        events.push(Event(event));
    }
    events
}

/// The error object under a status.
pub(crate) fn error(status: u16, reply: &Reply) -> Value {
    let kind = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    let mut error = json!({"code": status, "message": format!("scripted error {status}"), "status": kind});
    for (key, value) in &reply.error {
        error[key] = value.clone();
    }
    json!({"error": error})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_a_document_gets_one_of_that_shape() {
        let schema = json!({"type": "OBJECT", "required": ["model", "sure", "tags"], "properties": {
            "model": {"type": "STRING", "enum": ["small", "large"]},
            "sure": {"type": "BOOLEAN"},
            "tags": {"type": "ARRAY"},
            "other": {"type": "STRING"},
        }});
        let body = json!({"generationConfig": {"responseJsonSchema": schema}});
        let answer = answer(1, &body, &Reply::text("prose"));
        let text = answer["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(text, r#"{"model":"small","sure":false,"tags":[]}"#);
    }

    #[test]
    fn a_stream_adds_up_to_the_answer_it_came_from() {
        let text = "日本語のテキスト and more than forty characters of it, so that it is cut";
        let mut reply = Reply::tool("read_file", json!({"path": "x"}));
        reply.text = Some(text.into());
        let events = events(&answer(1, &json!({}), &reply));
        let parts: Vec<&Value> =
            events.iter().map(|e| &e.0["candidates"][0]["content"]["parts"][0]).collect();
        let streamed: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        assert_eq!(streamed, text);
        assert_eq!(parts.last().map(|p| &p["functionCall"]["name"]), Some(&json!("read_file")));
        let finished = events.iter().filter(|e| e.0["candidates"][0]["finishReason"] == "STOP").count();
        assert_eq!(finished, 1);
    }
}

//! The answers of the Messages API: a finished message, its split into stream events, and errors. Shapes follow
//! <https://docs.anthropic.com/en/api/messages> and <https://docs.anthropic.com/en/api/messages-streaming>.

use serde_json::{Value, json};

use crate::script::Reply;

/// Characters per chunk of streamed text.
const CHUNK: usize = 40;

/// Tokens of a JSON document, estimated at four bytes each. Never zero, as the real count never is.
pub(crate) fn tokens(document: &Value) -> usize {
    (document.to_string().len() / 4).max(1)
}

/// The finished message for a reply; `n` makes its ids unique.
pub(crate) fn message(n: usize, body: &Value, reply: &Reply) -> Value {
    let mut content = Vec::new();
    if reply.text.is_some() || reply.tools.is_empty() {
        content.push(json!({"type": "text", "text": reply.text.as_deref().unwrap_or_default()}));
    }
    for (i, tool) in reply.tools.iter().enumerate() {
        let id = format!("toolu_standin{n:06}{i:02}");
        content.push(json!({"type": "tool_use", "id": id, "name": tool.name, "input": tool.input}));
    }
    let content = Value::Array(content);
    let mut usage = json!({
        "input_tokens": tokens(body),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": tokens(&content),
    });
    for (key, value) in &reply.usage {
        usage[key] = value.clone();
    }
    json!({
        "id": format!("msg_standin{n:08}"),
        "type": "message",
        "role": "assistant",
        "model": body["model"].as_str().unwrap_or("standin"),
        "content": content,
        "stop_reason": if reply.tools.is_empty() { "end_turn" } else { "tool_use" },
        "stop_sequence": null,
        "usage": usage,
    })
}

/// One event of a stream: its data, whose `type`, where it has one, is also the event's name.
#[derive(Debug, PartialEq)]
pub(crate) struct Event(pub(crate) Value);

impl Event {
    pub(crate) fn name(&self) -> &str {
        self.0["type"].as_str().unwrap_or_default()
    }

    /// Whether it carries a piece of the answer.
    pub(crate) fn is_chunk(&self) -> bool {
        matches!(self.name(), "content_block_delta" | "response.output_text.delta" | "")
    }
}

/// A finished message as the stream that would have built it.
pub(crate) fn events(message: &Value) -> Vec<Event> {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let mut empty = block.clone();
        let deltas: Vec<Value> = if let Some(text) = block["text"].as_str() {
            empty["text"] = json!("");
            chunks(text).map(|text| json!({"type": "text_delta", "text": text})).collect()
        } else {
            empty["input"] = json!({});
            vec![json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})]
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
        "usage": {"output_tokens": message["usage"]["output_tokens"]},
    }));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(Event).collect()
}

pub(crate) fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(CHUNK).map_or(rest.len(), |(at, _)| at);
        let (chunk, after) = rest.split_at(end);
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// The error object under a status.
pub(crate) fn error(status: u16, reply: &Reply) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let mut error = json!({"type": kind, "message": format!("scripted error {status}")});
    for (key, value) in &reply.error {
        error[key] = value.clone();
    }
    json!({"type": "error", "error": error, "request_id": "req_standin"})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_adds_up_to_the_message_it_came_from() {
        let text = "日本語のテキスト、🎉 and more than forty characters of it, so that it is cut";
        let mut reply = Reply::tool("Bash", json!({"command": "ls"}));
        reply.text = Some(text.into());
        let whole = message(7, &json!({"model": "m"}), &reply);
        let events = events(&whole);

        let names: Vec<&str> = events.iter().map(Event::name).collect();
        assert_eq!(
            names,
            [
                "message_start",
                "content_block_start",
                "content_block_delta",
                "content_block_delta",
                "content_block_stop",
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop"
            ]
        );
        let streamed: String = events.iter().filter_map(|e| e.0["delta"]["text"].as_str()).collect();
        assert_eq!(streamed, text);
        assert_eq!(events[6].0["delta"]["partial_json"], r#"{"command":"ls"}"#);
        assert_eq!(events[0].0["message"]["content"], json!([]));
        assert_eq!(events[8].0["delta"]["stop_reason"], "tool_use");
    }

    #[test]
    fn an_empty_answer_is_still_a_text_block() {
        let whole = message(1, &json!({}), &Reply::default());
        assert_eq!(whole["content"], json!([{"type": "text", "text": ""}]));
        assert_eq!(whole["stop_reason"], "end_turn");
    }

    #[test]
    fn usage_and_error_keys_can_be_overridden() {
        let mut reply = Reply::status(429);
        reply.usage.insert("input_tokens".into(), json!(190_000));
        reply.error.insert("message".into(), json!("slow down"));
        assert_eq!(message(1, &json!({}), &reply)["usage"]["input_tokens"], 190_000);
        let error = error(429, &reply);
        assert_eq!(error["error"], json!({"type": "rate_limit_error", "message": "slow down"}));
    }
}

//! The answers of `OpenAI`'s Responses API as a stream of events. Shapes follow
//! <https://platform.openai.com/docs/api-reference/responses-streaming>; only what a terminal agent reads is there.

use serde_json::{Value, json};

use crate::message::{Event, chunks, tokens};
use crate::script::Reply;

/// The finished response for a reply; `n` makes its ids unique.
pub(crate) fn response(n: usize, body: &Value, reply: &Reply) -> Value {
    let mut output = Vec::new();
    if reply.text.is_some() || reply.tools.is_empty() {
        let text = reply.text.as_deref().unwrap_or_default();
        output.push(json!({
            "type": "message",
            "id": format!("msg_standin{n:08}"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }));
    }
    for (i, tool) in reply.tools.iter().enumerate() {
        output.push(json!({
            "type": "function_call",
            "id": format!("fc_standin{n:06}{i:02}"),
            "call_id": format!("call_standin{n:06}{i:02}"),
            "name": tool.name,
            "arguments": Value::Object(tool.input.clone()).to_string(),
            "status": "completed",
        }));
    }
    let output = Value::Array(output);
    let (read, written) = (tokens(body), tokens(&output));
    let mut usage = json!({
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    });
    for (key, value) in &reply.usage {
        usage[key] = value.clone();
    }
    json!({
        "id": format!("resp_standin{n:08}"),
        "object": "response",
        "status": "completed",
        "model": body["model"].as_str().unwrap_or("standin"),
        "output": output,
        "usage": usage,
    })
}

/// A finished response as the stream that would have built it.
pub(crate) fn events(response: &Value) -> Vec<Event> {
    let mut begun = response.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        let mut empty = item.clone();
        empty["status"] = json!("in_progress");
        if item["type"] == "message" {
            empty["content"] = json!([]);
        } else {
            empty["arguments"] = json!("");
        }
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": empty}));
        for delta in item["content"][0]["text"].as_str().into_iter().flat_map(chunks) {
            events.push(json!({
                "type": "response.output_text.delta",
                "item_id": item["id"],
                "output_index": index,
                "content_index": 0,
                "delta": delta,
            }));
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": response}));
    events.into_iter().map(Event).collect()
}

/// The error object under a status.
pub(crate) fn error(status: u16, reply: &Reply) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_exceeded",
        _ => "server_error",
    };
    let mut error =
        json!({"type": kind, "code": kind, "param": null, "message": format!("scripted error {status}")});
    for (key, value) in &reply.error {
        error[key] = value.clone();
    }
    json!({"error": error})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_adds_up_to_the_response_it_came_from() {
        let text = "日本語のテキスト and more than forty characters of it, so that it is cut";
        let mut reply = Reply::tool("shell", json!({"command": ["ls"]}));
        reply.text = Some(text.into());
        let whole = response(7, &json!({"model": "m"}), &reply);
        let events = events(&whole);
        let streamed: String = events.iter().filter_map(|e| e.0["delta"].as_str()).collect();
        assert_eq!(streamed, text);
        let done: Vec<&Value> =
            events.iter().filter(|e| e.name() == "response.output_item.done").map(|e| &e.0["item"]).collect();
        assert_eq!(json!(done), whole["output"]);
        assert_eq!(done[1]["arguments"], r#"{"command":["ls"]}"#);
        assert_eq!(events.first().map(Event::name), Some("response.created"));
        assert_eq!(events.last().map(Event::name), Some("response.completed"));
    }
}

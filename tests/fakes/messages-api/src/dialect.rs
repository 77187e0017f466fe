//! Which model API a request speaks. The three say the same things in different shapes: this is the only place that
//! knows where in a body they stand.

use serde_json::Value;

/// One of the imitated APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages.
    Messages,
    /// `OpenAI`'s Responses.
    Responses,
    /// Google's Gemini, `generateContent` and its stream.
    Gemini,
}

impl Dialect {
    /// The dialect of a request for an answer of the model; `None` for every other one (counts, lists, checks).
    pub fn of(method: &str, route: &str) -> Option<Self> {
        match route {
            _ if method != "POST" => None,
            "/v1/messages" => Some(Self::Messages),
            "/v1/responses" => Some(Self::Responses),
            other if other.ends_with(":streamGenerateContent") || other.ends_with(":generateContent") => {
                Some(Self::Gemini)
            }
            _ => None,
        }
    }

    /// Whether it is a side question that wants a document of a given shape. No script is played for those.
    pub(crate) fn wants_document(self, body: &Value) -> bool {
        let config = &body["generationConfig"];
        self == Self::Gemini
            && (config["responseJsonSchema"].is_object() || config["responseSchema"].is_object())
    }

    /// Whether the model is offered tools.
    pub(crate) fn has_tools(self, body: &Value) -> bool {
        !self.wants_document(body) && body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    }

    /// All text that the model would read, in order.
    pub(crate) fn text(self, body: &Value) -> String {
        let mut blocks = Vec::new();
        collect(self.system(body), &mut blocks);
        for turn in self.turns(body) {
            collect(turn, &mut blocks);
        }
        blocks.join("\n")
    }

    /// Text of the last turn of the user's.
    pub(crate) fn last_user_text(self, body: &Value) -> String {
        let Some(last) = self.turns(body).iter().rev().find(|turn| turn["role"] == "user") else {
            return String::new();
        };
        let mut blocks = Vec::new();
        collect(last, &mut blocks);
        blocks.join("\n")
    }

    fn system(self, body: &Value) -> &Value {
        match self {
            Self::Messages => &body["system"],
            Self::Responses => &body["instructions"],
            Self::Gemini => &body["systemInstruction"],
        }
    }

    fn turns(self, body: &Value) -> &[Value] {
        let turns = match self {
            Self::Messages => &body["messages"],
            Self::Responses => &body["input"],
            Self::Gemini => &body["contents"],
        };
        turns.as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

/// Text of a value: a string, or whatever stands under `text`, `content`, `parts` or `output` in it, at any depth.
fn collect<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(blocks) => blocks.iter().for_each(|block| collect(block, into)),
        Value::Object(block) => match block.get("text").and_then(Value::as_str) {
            Some(text) => into.push(text),
            None => {
                for key in ["content", "parts", "output"] {
                    if let Some(inner) = block.get(key) {
                        collect(inner, into);
                    }
                }
            }
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_route_names_its_dialect_and_all_others_none() {
        for (method, route, dialect) in [
            ("POST", "/v1/messages", Some(Dialect::Messages)),
            ("POST", "/v1/responses", Some(Dialect::Responses)),
            ("POST", "/v1beta/models/gemini-x:streamGenerateContent", Some(Dialect::Gemini)),
            ("POST", "/v1beta/models/gemini-x:generateContent", Some(Dialect::Gemini)),
            ("POST", "/v1beta/models/gemini-x:countTokens", None),
            ("POST", "/v1/messages/count_tokens", None),
            ("GET", "/v1/responses", None),
        ] {
            assert_eq!(Dialect::of(method, route), dialect, "{method} {route}");
        }
    }

    #[test]
    fn text_is_found_where_each_dialect_has_it() {
        let bodies = [
            (
                Dialect::Messages,
                json!({"system": [{"type": "text", "text": "s"}], "messages": [
                    {"role": "user", "content": "a"},
                    {"role": "assistant", "content": [{"type": "tool_use", "input": {}}]},
                    {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "b"}]}]},
                ]}),
            ),
            (
                Dialect::Responses,
                json!({"instructions": "s", "input": [
                    {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
                    {"role": "user", "content": [{"type": "input_text", "text": "b"}]},
                ]}),
            ),
            (
                Dialect::Gemini,
                json!({"systemInstruction": {"parts": [{"text": "s"}]}, "contents": [
                    {"role": "user", "parts": [{"text": "a"}]},
                    {"role": "user", "parts": [{"text": "b"}]},
                ]}),
            ),
        ];
        for (dialect, body) in bodies {
            assert_eq!(dialect.text(&body), "s\na\nb", "{dialect:?}");
            assert_eq!(dialect.last_user_text(&body), "b", "{dialect:?}");
        }
    }
}

//! Results in the forms that are in use: lists and lists in objects, under many names.

use serde_json::{Map, Value};

use crate::host::files;
use crate::source::{Snippet, SourceError, Speaker, stamps};

/// Keys under which a list of results is found, in this order.
const LISTS: [&str; 9] =
    ["results", "matches", "items", "data", "hits", "memories", "documents", "observations", "result"];

/// Objects inside a result that carry its fields as well as it does itself.
const NESTED: [&str; 4] = ["metadata", "payload", "document", "fields"];

/// Characters of a text that are kept.
const TEXT_CHARS: usize = 8_000;

/// Results that are looked at.
const ITEMS: usize = 500;

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    fields: Map<String, Value>,
    text: String,
}

impl Item {
    /// A result that is nothing but text; `None` when it is empty.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        let text: String = text.trim().chars().take(TEXT_CHARS).collect();
        (!text.is_empty()).then(|| Self { fields: Map::new(), text })
    }

    fn of(value: Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::of_text(&text),
            Value::Object(fields) => {
                let mut item = Self { fields, text: String::new() };
                let keys = [
                    "text",
                    "content",
                    "snippet",
                    "chunk",
                    "observation_text",
                    "memory",
                    "body",
                    "document",
                    "summary",
                ];
                item.text = Self::of_text(item.string(&keys)?)?.text;
                Some(item)
            }
            _ => None,
        }
    }

    /// The first of the keys with a value of the wanted kind, in the result or in what it nests.
    fn first<'a, T>(&'a self, keys: &[&str], read: impl Fn(&'a Value) -> Option<T>) -> Option<T> {
        let nested = NESTED.iter().filter_map(|key| self.fields.get(*key).and_then(Value::as_object));
        let places: Vec<_> = std::iter::once(&self.fields).chain(nested).collect();
        keys.iter().find_map(|key| places.iter().find_map(|place| place.get(*key).and_then(&read)))
    }

    fn string(&self, keys: &[&str]) -> Option<&str> {
        self.first(keys, |value| value.as_str().map(str::trim).filter(|s| !s.is_empty()))
    }

    fn number(&self, keys: &[&str]) -> Option<f64> {
        self.first(keys, Value::as_f64).filter(|n| n.is_finite())
    }

    fn id(&self) -> String {
        let keys = ["id", "_id", "uuid", "memory_id", "chunk_id", "key"];
        let given = self.first(&keys, |value| match value {
            Value::String(s) if !s.trim().is_empty() => Some(s.trim().to_owned()),
            Value::Number(n) => Some(n.to_string()),
            _ => None,
        });
        // Without an id the text itself is one: it stays the same from question to question.
        given.map_or_else(
            || files::sha256(self.text.as_bytes()).chars().take(12).collect(),
            |id| id.chars().take(200).collect(),
        )
    }

    fn speaker(&self) -> Speaker {
        match self.string(&["role", "speaker", "author"]).map(str::to_lowercase).as_deref() {
            Some("user" | "human") => Speaker::User,
            Some("assistant" | "agent" | "claude" | "ai" | "model") => Speaker::Agent,
            _ => Speaker::Store,
        }
    }
}

/// Finds the results in a reply.
pub(super) fn read(value: Value) -> Result<Vec<Item>, SourceError> {
    let list =
        list(value, 2).ok_or_else(|| SourceError::BadReply("the reply has no list of results".into()))?;
    let any = !list.is_empty();
    let found: Vec<Item> = list.into_iter().take(ITEMS).filter_map(Item::of).collect();
    if any && found.is_empty() {
        return Err(SourceError::BadReply("the results have no text".into()));
    }
    Ok(found)
}

fn list(value: Value, depth: usize) -> Option<Vec<Value>> {
    match value {
        Value::Array(list) => Some(list),
        Value::Object(mut object) if depth > 0 => {
            LISTS.iter().find_map(|key| list(object.remove(*key)?, depth - 1))
        }
        _ => None,
    }
}

/// Turns results into snippets, best first.
pub(super) fn snippets(found: Vec<Item>, source: &str, limit: usize) -> Vec<Snippet> {
    let similarity =
        |item: &Item| item.number(&["score", "similarity", "relevance", "relevance_score", "_score"]);
    let distance = |item: &Item| item.number(&["distance", "_distance"]).map(|d| 1.0 / (1.0 + d.max(0.0)));
    let score = |item: &Item| similarity(item).or_else(|| distance(item));
    // A list in which some results have no score is taken in the order given.
    let scored = found.iter().all(|item| score(item).is_some());
    let count = found.len();
    let mut snippets: Vec<Snippet> = found
        .into_iter()
        .enumerate()
        .map(|(place, item)| {
            // Even steps: a place must not look like a first hit that stands out.
            #[expect(clippy::cast_precision_loss, reason = "a place in a list of at most 500")]
            let by_place = 1.0 - place as f64 / count as f64;
            let score = score(&item).filter(|_| scored).unwrap_or(by_place);
            let short = |keys: &[&str]| item.string(keys).map(|s| s.chars().take(300).collect::<String>());
            let times = ["created_at", "timestamp", "date", "createdAt", "time", "ts", "updated_at"];
            Snippet {
                source: source.to_owned(),
                id: item.id(),
                title: short(&["title", "session_title", "entity_name", "name", "source", "session"])
                    .unwrap_or_default(),
                at: item.first(&times, |value| match value {
                    Value::String(s) => stamps::from_text(s),
                    Value::Number(n) => n.as_f64().and_then(stamps::from_number),
                    _ => None,
                }),
                speaker: item.speaker(),
                project: short(&["project", "cwd", "project_path", "workspace"]),
                session: short(&["session_id", "sessionId", "conversation_id", "session"]),
                #[expect(clippy::cast_possible_truncation, reason = "a score's order is what counts")]
                score: score.clamp(-1e9, 1e9) as f32,
                #[expect(clippy::cast_possible_truncation, reason = "an importance in 0..=1")]
                importance: item.number(&["importance"]).map(|i| i.clamp(0.0, 1.0) as f32),
                text: item.text,
            }
        })
        .collect();
    snippets.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen = std::collections::HashSet::new();
    snippets.retain(|s| seen.insert((s.id.clone(), s.text.clone())));
    snippets.truncate(limit);
    snippets
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn from(value: Value) -> Vec<Snippet> {
        snippets(read(value).unwrap(), "worker", 10)
    }

    #[test]
    fn lists_are_found_under_every_usual_name() {
        let row = json!({ "id": 7, "text": "gizmo" });
        for value in [
            json!([row]),
            json!({ "results": [row] }),
            json!({ "matches": [row], "count": 1 }),
            json!({ "items": [row] }),
            json!({ "data": [row] }),
            json!({ "data": { "results": [row] } }),
            json!({ "success": true, "result": { "matches": [row] } }),
        ] {
            let found = from(value.clone());
            assert_eq!((found[0].id.as_str(), found[0].text.as_str()), ("7", "gizmo"), "{value}");
        }
        assert_eq!(from(json!(["gizmo"]))[0].text, "gizmo");
        assert_eq!(from(json!({ "results": [] })), []);
    }

    #[test]
    fn fields_are_found_under_every_usual_name_also_one_level_down() {
        let found = from(json!({ "matches": [
            { "id": "a", "score": 0.2, "metadata": {
                "content": "one", "timestamp": 1_796_034_030, "role": "human", "cwd": "/code/api", "session_id": "s" } },
            { "uuid": "b", "similarity": 0.9, "chunk": "two", "date": "2026-11-30", "title": "T", "importance": 3 },
        ] }));
        assert_eq!(found.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(), ["two", "one"]);
        assert_eq!((found[0].title.as_str(), found[0].importance), ("T", Some(1.0)));
        assert_eq!(found[0].at.map(|t| t.to_rfc3339()).as_deref(), Some("2026-11-30T00:00:00+00:00"));
        assert_eq!((found[1].speaker, found[1].project.as_deref()), (Speaker::User, Some("/code/api")));
        assert_eq!(found[1].session.as_deref(), Some("s"));
    }

    #[test]
    fn without_scores_the_order_given_is_kept_and_without_ids_the_text_is_one() {
        let found = from(json!([{ "text": "one" }, { "text": "two", "score": 9 }]));
        assert_eq!(found.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(found[0].id, from(json!([{ "text": "one" }]))[0].id);
        assert_ne!(found[0].id, found[1].id);
    }

    #[test]
    fn a_reply_without_results_is_no_empty_answer() {
        for value in
            [json!({}), json!({ "message": "hi" }), json!(null), json!("text"), json!({ "results": null })]
        {
            assert!(read(value.clone()).is_err(), "{value}");
        }
        let error = read(json!([{ "id": 1 }])).unwrap_err();
        assert_eq!(error.to_string(), "bad reply: the results have no text");
    }
}

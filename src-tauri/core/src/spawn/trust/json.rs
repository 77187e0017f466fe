//! A trust record in a JSON document: text in, text out. No files here.
//!
//! Everything but the one value comes back byte for byte: order, spacing, the spelling of numbers, even half a
//! surrogate pair in a string, which such files do contain and which JSON libraries refuse or repair. So the text
//! is checked strictly as a whole, and then edited by position instead of being written anew. Of a key that
//! occurs twice the last one counts, as for the JavaScript program that reads it.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::record::{Edited, RecordError};
use crate::registry::change::TrustBefore;

/// A document that was checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Json<'a> {
    text: &'a str,
}

struct Member {
    key: Range<usize>,
    value: Range<usize>,
}

/// How far the way to a folder's value exists.
enum Found {
    /// The object at that depth has no such key.
    Missing {
        object: Range<usize>,
        depth: usize,
    },
    Value(Range<usize>),
}

impl<'a> Json<'a> {
    /// Checks the text as a whole.
    pub(super) fn parse(text: &'a str) -> Result<Self, RecordError> {
        serde_json::from_str::<IgnoredAny>(text).map_err(|e| RecordError::NotJson(e.to_string()))?;
        if !text.trim_start().starts_with('{') {
            return Err(RecordError::NotObject("the document".into()));
        }
        Ok(Self { text })
    }

    /// The value under those keys, as it is written.
    pub(super) fn says(&self, keys: &[&str]) -> Option<&'a str> {
        match self.find(keys) {
            Ok(Found::Value(value)) => self.text.get(value),
            _ => None,
        }
    }

    /// The text in which that value stands under those keys, and what stood there before; `None` when it stands there
    /// already.
    pub(super) fn set(&self, keys: &[&str], new: &str) -> Result<Option<Edited>, RecordError> {
        Ok(Some(match self.find(keys)? {
            Found::Value(value) => {
                let old = &self.text[value.clone()];
                if old == new {
                    return Ok(None);
                }
                (self.replaced(value, new), TrustBefore::Value(old.to_string()))
            }
            Found::Missing { object, depth } => {
                let before = match keys.len() - depth {
                    1 => TrustBefore::NoKey,
                    2 => TrustBefore::NoEntry,
                    _ => TrustBefore::NoRecord,
                };
                let inner = Node { keys: &keys[depth + 1..], value: new };
                (self.with(&object, depth, keys[depth], &inner), before)
            }
        }))
    }

    /// The text as it was before [`Json::set`], all that others wrote kept; `None` when that value no longer stands
    /// there.
    pub(super) fn unset(
        &self,
        keys: &[&str],
        new: &str,
        before: &TrustBefore,
    ) -> Result<Option<String>, RecordError> {
        let Found::Value(value) = self.find(keys)? else { return Ok(None) };
        if &self.text[value.clone()] != new {
            return Ok(None);
        }
        let mut levels = match before {
            TrustBefore::Value(old) => return Ok(Some(self.replaced(value, old))),
            TrustBefore::NoKey => 1,
            TrustBefore::NoEntry => 2,
            TrustBefore::NoRecord | TrustBefore::NoFile => keys.len(),
        };
        let mut way = vec![self.document()];
        for key in &keys[..keys.len() - 1] {
            let inner = way.last().and_then(|object| self.member(object, key));
            way.extend(inner.map(|(_, object)| object));
        }
        let mut depth = keys.len() - 1;
        // What was made around the value goes with it, where nothing else has come into it since.
        while levels > 1 && depth > 0 && way.get(depth).is_some_and(|object| self.members(object).len() == 1)
        {
            depth -= 1;
            levels -= 1;
        }
        let found = way.get(depth).and_then(|object| Some((object, self.member(object, keys[depth])?.0)));
        Ok(found.map(|(object, at)| self.without(object, at)))
    }

    fn document(&self) -> Range<usize> {
        let start = skip_space(self.text.as_bytes(), 0);
        start..skip_value(self.text.as_bytes(), start)
    }

    fn find(&self, keys: &[&str]) -> Result<Found, RecordError> {
        let mut at = self.document();
        for (depth, key) in keys.iter().enumerate() {
            if !self.text[at.clone()].starts_with('{') {
                return Err(RecordError::NotObject(format!("\"{}\"", keys[depth.saturating_sub(1)])));
            }
            match self.member(&at, key) {
                Some((_, value)) => at = value,
                None => return Ok(Found::Missing { object: at, depth }),
            }
        }
        Ok(Found::Value(at))
    }

    fn member(&self, object: &Range<usize>, key: &str) -> Option<(usize, Range<usize>)> {
        let is =
            |m: &Member| serde_json::from_str::<String>(&self.text[m.key.clone()]).is_ok_and(|k| k == key);
        let members = self.members(object);
        let at = members.iter().rposition(is)?;
        Some((at, members[at].value.clone()))
    }

    fn members(&self, object: &Range<usize>) -> Vec<Member> {
        let bytes = self.text.as_bytes();
        let mut members = Vec::new();
        let mut at = skip_space(bytes, object.start + 1);
        while at < object.end && bytes.get(at) == Some(&b'"') {
            let key = at..skip_value(bytes, at);
            let colon = skip_space(bytes, key.end);
            let start = skip_space(bytes, colon + 1);
            let value = start..skip_value(bytes, start);
            let comma = skip_space(bytes, value.end);
            members.push(Member { key, value });
            at = skip_space(bytes, comma + 1);
        }
        members
    }

    fn replaced(&self, range: Range<usize>, new: &str) -> String {
        format!("{}{new}{}", &self.text[..range.start], &self.text[range.end..])
    }

    /// Adds a last member, laid out like the one before it, or like the document where it is the first.
    fn with(&self, object: &Range<usize>, depth: usize, key: &str, value: &Node<'_>) -> String {
        let layout = Layout::of(self);
        let members = self.members(object);
        let key = quoted(key);
        let Some(last) = members.last() else {
            let (inner, outer) = (layout.line(depth + 1), layout.line(depth));
            let value = value.render(&layout, depth + 1);
            let inside = object.start + 1..object.end - 1;
            return self.replaced(inside, &format!("{inner}{key}{}{value}{outer}", layout.colon));
        };
        let before = match members.len() {
            1 => object.start + 1,
            n => skip_space(self.text.as_bytes(), members[n - 2].value.end) + 1,
        };
        let space = &self.text[before..last.key.start];
        let colon = &self.text[last.key.end..last.value.start];
        let value = value.render(&layout, depth + 1);
        let at = last.value.end;
        self.replaced(at..at, &format!(",{space}{key}{colon}{value}"))
    }

    /// Takes a member out together with what `with` put around it.
    fn without(&self, object: &Range<usize>, index: usize) -> String {
        let members = self.members(object);
        let cut = match (index.checked_sub(1).and_then(|i| members.get(i)), members.get(index + 1)) {
            (_, Some(next)) => members[index].key.start..next.key.start,
            (Some(previous), None) => previous.value.end..members[index].value.end,
            (None, None) => object.start + 1..object.end - 1,
        };
        self.replaced(cut, "")
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What is added: a value, inside of objects with one key each.
struct Node<'a> {
    keys: &'a [&'a str],
    value: &'a str,
}

impl Node<'_> {
    fn render(&self, layout: &Layout, depth: usize) -> String {
        let Some((key, keys)) = self.keys.split_first() else { return self.value.into() };
        let value = Node { keys, value: self.value }.render(layout, depth + 1);
        let (inner, outer) = (layout.line(depth + 1), layout.line(depth));
        format!("{{{inner}{}{}{value}{outer}}}", quoted(key), layout.colon)
    }
}

/// How the document is laid out, as its first member shows.
struct Layout {
    newline: &'static str,
    unit: String,
    colon: String,
}

impl Layout {
    fn of(document: &Json<'_>) -> Self {
        let range = document.document();
        let members = document.members(&range);
        let Some(first) = members.first() else {
            return Self { newline: "\n", unit: "  ".into(), colon: ": ".into() };
        };
        let space = &document.text[range.start + 1..first.key.start];
        let newline = match (space.contains("\r\n"), space.contains('\n')) {
            (true, _) => "\r\n",
            (false, true) => "\n",
            (false, false) => "",
        };
        let unit = space.rsplit('\n').next().filter(|_| !newline.is_empty()).unwrap_or("").to_string();
        let colon = document.text[first.key.end..first.value.start].to_string();
        Self { newline, unit, colon }
    }

    fn line(&self, depth: usize) -> String {
        if self.newline.is_empty() {
            String::new()
        } else {
            format!("{}{}", self.newline, self.unit.repeat(depth))
        }
    }
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    at + bytes.iter().skip(at).take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')).count()
}

/// End of the value that begins at `at`, in a text that was checked. Not recursive: depth costs nothing.
fn skip_value(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while let Some(byte) = bytes.get(at).filter(|b| **b != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => {
                let scalar = |b: &&u8| !matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
                return at + bytes[at..].iter().take_while(scalar).count();
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::super::record::Document;
    use super::*;
    use crate::agent::{CLAUDE_CODE, GEMINI, TrustRecord};

    const RECORD: TrustRecord = CLAUDE_CODE.trust;
    const ROOT: &str = "projects";
    const KEY: &str = "hasTrustDialogAccepted";
    const FOLDER: &str = "/code/my \"app\"";

    fn accept(text: &str) -> (String, TrustBefore) {
        Document::parse(text.as_bytes(), RECORD).unwrap().accept(FOLDER).unwrap().unwrap()
    }

    fn revoke(text: &str, before: &TrustBefore) -> Option<String> {
        Document::parse(text.as_bytes(), RECORD).unwrap().revoke(FOLDER, before).unwrap()
    }

    #[test]
    fn a_plain_map_of_folders_comes_back_byte_for_byte() {
        for text in [
            "{}",
            "{\n  \"/a\": \"TRUST_FOLDER\"\n}",
            "{\"/a\":\"TRUST_PARENT\",\"/code/my \\\"app\\\"\":\"DO_NOT_TRUST\"}",
        ] {
            let document = Document::parse(text.as_bytes(), GEMINI.trust).unwrap();
            assert!(!document.accepts(FOLDER));
            let (new, before) = document.accept(FOLDER).unwrap().unwrap();
            assert!(new.contains("\"/code/my \\\"app\\\"\":"), "{new}");
            let changed = Document::parse(new.as_bytes(), GEMINI.trust).unwrap();
            assert!(changed.accepts(FOLDER), "{new}");
            assert_eq!(changed.revoke(FOLDER, &before).unwrap().unwrap(), text);
        }
    }

    #[test]
    fn a_new_entry_is_laid_out_like_its_neighbours() {
        let text = "{\n  \"n\": 1.0e+2,\n  \"projects\": {\n    \"/a\": {\n      \"x\": []\n    }\n  },\n  \"z\": 1\n}";
        let (new, before) = accept(text);
        assert_eq!(before, TrustBefore::NoEntry);
        assert_eq!(
            new,
            "{\n  \"n\": 1.0e+2,\n  \"projects\": {\n    \"/a\": {\n      \"x\": []\n    },\n    \"/code/my \\\"app\\\"\": {\n      \
             \"hasTrustDialogAccepted\": true\n    }\n  },\n  \"z\": 1\n}"
        );
        assert_eq!(revoke(&new, &before).unwrap(), text);
    }

    #[test]
    fn an_entry_without_the_key_gets_it_and_keeps_the_rest() {
        let text = r#"{"projects":{"/code/my \"app\"":{"allowedTools":[]}},"big":12345678901234567890.10}"#;
        let (new, before) = accept(text);
        assert_eq!(
            new,
            r#"{"projects":{"/code/my \"app\"":{"allowedTools":[],"hasTrustDialogAccepted":true}},"big":12345678901234567890.10}"#
        );
        assert_eq!(revoke(&new, &before).unwrap(), text);
    }

    #[test]
    fn every_starting_point_comes_back_byte_for_byte() {
        for text in [
            "{}",
            "{\"a\":1}",
            "{ \"a\" : 1 }",
            "{\r\n\t\"a\": 1\r\n}\r\n",
            "{\n  \"projects\": {}\n}\n",
            "{\"projects\":{\"/code/my \\\"app\\\"\":{}}}",
            "{\"projects\":{\"/code/my \\\"app\\\"\":{\"hasTrustDialogAccepted\": false,\"x\":1}}}",
            "{\"projects\":{\"/code/my \\u0022app\\u0022\":{\"hasTrustDialogAccepted\":null}}}",
            "{\"lone\":\"\\ud83d\",\"lone\\udc00\":{\"}\":\"\\\\\\\"]\"},\"projects\":{\"\\ud83d\":{}}}",
        ] {
            let (new, before) = accept(text);
            let document = Document::parse(new.as_bytes(), RECORD).unwrap();
            assert!(document.accepts(FOLDER), "{new}");
            assert_eq!(document.accept(FOLDER).unwrap(), None);
            assert_eq!(revoke(&new, &before).unwrap(), text);
        }
    }

    #[test]
    fn what_the_host_agent_added_to_our_entry_stays() {
        let (new, before) = accept("{\"projects\":{}}");
        let added = new.replace("true", "true,\"lastCost\":0.10");
        assert_eq!(
            revoke(&added, &before).unwrap(),
            "{\"projects\":{\"/code/my \\\"app\\\"\":{\"lastCost\":0.10}}}"
        );
        assert_eq!(revoke(&new.replace("true", "false"), &before), None);
        assert_eq!(revoke("{}", &before), None);
    }

    #[test]
    fn of_a_key_given_twice_the_last_one_counts() {
        let text = "{\"projects\":{\"/a\":{\"hasTrustDialogAccepted\":true}},\"projects\":{\"/b\":{}}}";
        let document = Document::parse(text.as_bytes(), RECORD).unwrap();
        assert!(!document.accepts("/a"));
        let (new, _) = document.accept("/b").unwrap().unwrap();
        assert!(new.ends_with("\"projects\":{\"/b\":{\"hasTrustDialogAccepted\":true}}}"));
    }

    #[test]
    fn what_is_not_strictly_json_is_refused() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Document::parse(deep.as_bytes(), RECORD).is_ok_and(|d| d.accept("/a").is_ok()));
        for text in [
            "",
            " ",
            "{\"a\":1,}",
            "\u{feff}{}",
            "{\"a\":1",
            "// c\n{}",
            "{} {}",
            "[]",
            "null",
            "{'a':1}",
            "{\"a\":01}",
        ] {
            assert!(Document::parse(text.as_bytes(), RECORD).is_err(), "{text}");
        }
        assert_eq!(Document::parse(b"{\"a\":\"\xff\"}", RECORD).unwrap_err(), RecordError::NotText);
        for text in ["{\"projects\":[]}", "{\"projects\":{\"/a\":true}}"] {
            let document = Document::parse(text.as_bytes(), RECORD).unwrap();
            assert!(matches!(document.accept("/a"), Err(RecordError::NotObject(_))));
            assert!(!document.accepts("/a"));
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let key = prop_oneof!["[a-z\"\\\\{},]{0,4}", Just("projects".to_string()), Just(FOLDER.to_string())];
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ -~\u{4e00}-\u{4e10}\n]{0,6}".prop_map(Value::from),
            Just(Value::Null),
        ];
        let value = leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((key.clone(), inner), 0..4)
                    .prop_map(|m| Value::Object(m.into_iter().collect::<Map<_, _>>())),
            ]
        });
        let entries =
            proptest::collection::vec(("(/[a-z]{1,3}){1,2}", proptest::option::of(any::<bool>())), 0..3);
        (proptest::collection::vec(("[a-z]{1,5}", value), 0..4), proptest::option::of(entries), any::<bool>())
            .prop_map(|(members, projects, ours)| {
                let mut map: Map<String, Value> = members.into_iter().collect();
                if let Some(entries) = projects {
                    let mut root = Map::new();
                    for (path, accepted) in entries {
                        let path = if ours { FOLDER.to_string() } else { path };
                        root.insert(path, accepted.map_or(json!({}), |a| json!({KEY: a, "k": [1]})));
                    }
                    map.insert(ROOT.into(), root.into());
                }
                Value::Object(map)
            })
    }

    proptest! {
        #[test]
        fn one_value_changes_and_comes_back(value in values(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            // An empty document shows no layout, and gets the host agent's own.
            let pretty = pretty || value == json!({});
            let document = Document::parse(text.as_bytes(), RECORD).unwrap();
            let mut wanted = value.clone();
            wanted[ROOT][FOLDER][KEY] = json!(true);
            match document.accept(FOLDER).unwrap() {
                None => prop_assert_eq!(wanted, value),
                Some((new, before)) => {
                    prop_assert_eq!(&serde_json::from_str::<Value>(&new).unwrap(), &wanted);
                    let expected =
                        if pretty { serde_json::to_string_pretty(&wanted) } else { serde_json::to_string(&wanted) };
                    prop_assert_eq!(&new, &expected.unwrap());
                    prop_assert_eq!(revoke(&new, &before).unwrap(), text);
                }
            }
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), text in "[\\[\\]{}\",:\\\\a1 ]{0,40}") {
            for bytes in [bytes, text.into_bytes()] {
                if let Ok(document) = Document::parse(&bytes, RECORD) {
                    let _ = document.accept("a");
                }
            }
        }
    }
}

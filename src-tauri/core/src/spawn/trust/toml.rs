//! A trust record in a TOML document: text in, text out. No files here.
//!
//! A folder's table is added as whole lines at the end and taken out as the same lines, so that nothing around it is
//! touched; a value is replaced by position. Only what is written otherwise (inline, dotted) is edited through the
//! parsed document, and only where that gives back every other byte.

use std::ops::Range;

use toml_edit::{Document, DocumentMut, Item, TableLike};

use super::record::{Edited, RecordError};
use crate::registry::change::TrustBefore;

/// A document that was checked.
#[derive(Debug)]
pub(super) struct Toml<'a> {
    text: &'a str,
    parsed: Document<String>,
}

impl<'a> Toml<'a> {
    /// Checks the text as a whole.
    pub(super) fn parse(text: &'a str) -> Result<Self, RecordError> {
        let parsed = Document::parse(text.to_string())
            .map_err(|e| RecordError::NotToml(e.message().lines().next().unwrap_or_default().to_string()))?;
        Ok(Self { text, parsed })
    }

    /// The value under those keys, as it is written.
    pub(super) fn says(&self, keys: &[&str]) -> Option<String> {
        let value = self.find(keys)?.as_value()?;
        // However it is quoted, a text says the same.
        Some(
            value.as_str().map_or_else(|| value.to_string().trim().to_string(), |text| format!("\"{text}\"")),
        )
    }

    /// The text in which that value stands under those keys, and what stood there before; `None` when it stands there
    /// already.
    pub(super) fn set(&self, keys: &[&str], new: &str) -> Result<Option<Edited>, RecordError> {
        let [root, folder, key] = keys else { return Err(RecordError::NotKept) };
        if self.says(keys).as_deref() == Some(new) {
            return Ok(None);
        }
        let Some(projects) = self.parsed.get(root) else {
            return checked(self.appended(keys, new), keys, new, TrustBefore::NoRecord);
        };
        let projects = table(projects, root)?;
        let Some(entry) = projects.get(folder) else {
            let headed = self.parsed.get(root).and_then(Item::as_table).is_some_and(|t| !t.is_dotted());
            let text =
                if headed { self.appended(keys, new) } else { self.rebuilt(|d| insert(d, keys, new))? };
            return checked(text, keys, new, TrustBefore::NoEntry);
        };
        let entry = table(entry, folder)?;
        match entry.get(key) {
            None => {
                let text = self.rebuilt(|d| insert(d, keys, new))?;
                checked(text, keys, new, TrustBefore::NoKey)
            }
            Some(value) => {
                let span = value.span().ok_or(RecordError::NotKept)?;
                let before = TrustBefore::Value(self.text[span.clone()].to_string());
                checked(self.replaced(span, new), keys, new, before)
            }
        }
    }

    /// The text as it was before [`Toml::set`], all that others wrote kept; `None` when that value no longer stands
    /// there.
    pub(super) fn unset(
        &self,
        keys: &[&str],
        new: &str,
        before: &TrustBefore,
    ) -> Result<Option<String>, RecordError> {
        let [root, folder, _] = keys else { return Err(RecordError::NotKept) };
        if self.says(keys).as_deref() != Some(new) {
            return Ok(None);
        }
        let Some(span) = self.find(keys).and_then(Item::span) else { return Err(RecordError::NotKept) };
        if let TrustBefore::Value(old) = before {
            return Ok(Some(self.replaced(span, old)));
        }
        let entry = self.parsed.get(root).and_then(|projects| projects.get(folder));
        let alone = entry.and_then(Item::as_table_like).is_some_and(|entry| entry.len() == 1);
        if *before == TrustBefore::NoKey || !alone {
            return self.rebuilt(|document| remove(document, keys, 0)).map(Some);
        }
        if let Some(lines) = entry.and_then(Item::as_table).and_then(toml_edit::Table::span)
            && let Some(lines) = self.block(lines.start, span.end)
        {
            return Ok(Some(self.replaced(lines, "")));
        }
        let levels = if *before == TrustBefore::NoEntry { 1 } else { 2 };
        self.rebuilt(|document| remove(document, keys, levels)).map(Some)
    }

    fn find(&self, keys: &[&str]) -> Option<&Item> {
        let (first, rest) = keys.split_first()?;
        let first = self.parsed.get(first)?;
        rest.iter().try_fold(first, |item, key| item.as_table_like()?.get(key))
    }

    fn replaced(&self, range: Range<usize>, new: &str) -> String {
        format!("{}{new}{}", &self.text[..range.start], &self.text[range.end..])
    }

    fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// The text with the folder's table behind it. A text that does not end its last line gets no empty line in
    /// between, by which [`Toml::block`] knows that the line's end was ours.
    fn appended(&self, keys: &[&str], new: &str) -> String {
        let eol = self.line_end();
        let between = if self.text.is_empty() { "" } else { eol };
        let quoted = serde_json::Value::from(keys[1]);
        format!("{}{between}[{}.{quoted}]{eol}{} = {new}{eol}", self.text, keys[0], keys[2])
    }

    /// The lines that [`Toml::appended`] added, where they are as it left them.
    fn block(&self, header: usize, value: usize) -> Option<Range<usize>> {
        let start = self.text[..header].rfind('\n').map_or(0, |end| end + 1);
        let end = self.text[value..].find('\n').map_or(self.text.len(), |end| value + end + 1);
        let lines: Vec<&str> = self.text.get(start..end)?.lines().collect();
        if lines.len() != 2 || !lines[0].trim_end().ends_with(']') || lines.iter().any(|l| l.contains('#')) {
            return None;
        }
        let before = &self.text[..start];
        // Either the empty line, or the end of the line before.
        let ours = if before.ends_with("\r\n") { 2 } else { usize::from(before.ends_with('\n')) };
        Some(start - ours..end)
    }

    /// The text after an edit of the parsed document, where that leaves every other byte as it is.
    fn rebuilt(&self, edit: impl FnOnce(&mut DocumentMut) -> Option<()>) -> Result<String, RecordError> {
        let mut document: DocumentMut = self
            .text
            .parse()
            .map_err(|e: toml_edit::TomlError| RecordError::NotToml(e.message().to_string()))?;
        if document.to_string() != self.text {
            return Err(RecordError::NotKept);
        }
        edit(&mut document).ok_or(RecordError::NotKept)?;
        Ok(document.to_string())
    }
}

/// What was written must read back as it was meant.
fn checked(
    text: String,
    keys: &[&str],
    new: &str,
    before: TrustBefore,
) -> Result<Option<Edited>, RecordError> {
    match Toml::parse(&text) {
        Ok(after) if after.says(keys).as_deref() == Some(new) => Ok(Some((text, before))),
        _ => Err(RecordError::NotKept),
    }
}

fn table<'i>(item: &'i Item, name: &str) -> Result<&'i dyn TableLike, RecordError> {
    item.as_table_like().ok_or_else(|| RecordError::NotObject(format!("\"{name}\"")))
}

fn insert(document: &mut DocumentMut, keys: &[&str], new: &str) -> Option<()> {
    let value: toml_edit::Value = new.parse().ok()?;
    let projects = document.get_mut(keys[0])?.as_table_like_mut()?;
    if projects.get(keys[1]).is_none() {
        projects.insert(keys[1], toml_edit::value(toml_edit::InlineTable::new()));
    }
    projects.get_mut(keys[1])?.as_table_like_mut()?.insert(keys[2], toml_edit::value(value));
    Some(())
}

/// Takes out the value and as many tables around it as are empty then.
fn remove(document: &mut DocumentMut, keys: &[&str], levels: usize) -> Option<()> {
    let projects = document.get_mut(keys[0])?.as_table_like_mut()?;
    let entry = projects.get_mut(keys[1])?.as_table_like_mut()?;
    entry.remove(keys[2])?;
    if levels > 0 && entry.is_empty() {
        projects.remove(keys[1]);
        if levels > 1 && projects.is_empty() {
            document.remove(keys[0]);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::record::{Document, RecordError};
    use crate::agent::CODEX;
    use crate::registry::change::TrustBefore;

    const FOLDER: &str = "/code/my \"app\".v2";

    fn there_and_back(text: &str) -> (String, TrustBefore) {
        let document = Document::parse(text.as_bytes(), CODEX.trust).unwrap();
        assert!(!document.accepts(FOLDER), "{text}");
        let (new, before) = document.accept(FOLDER).unwrap().unwrap();
        let changed = Document::parse(new.as_bytes(), CODEX.trust).unwrap();
        assert!(changed.accepts(FOLDER), "{new}");
        assert_eq!(changed.accept(FOLDER).unwrap(), None);
        assert_eq!(changed.revoke(FOLDER, &before).unwrap().as_deref(), Some(text), "{new}");
        (new, before)
    }

    #[test]
    fn a_folder_s_table_goes_to_the_end_and_comes_out_again() {
        let text = "# mine\nmodel = \"gpt-5\"   # kept\n\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n\n[tui]\nx = 1_000\n";
        let (new, before) = there_and_back(text);
        assert_eq!(before, TrustBefore::NoEntry);
        assert_eq!(
            new,
            format!("{text}\n[projects.\"/code/my \\\"app\\\".v2\"]\ntrust_level = \"trusted\"\n")
        );
    }

    #[test]
    fn every_starting_point_comes_back_byte_for_byte() {
        let ours = r#""/code/my \"app\".v2""#;
        for text in [
            String::new(),
            "\n".into(),
            "a = 1".into(),
            "a = 1\n\n\n".into(),
            "a = 1\r\nb = '''\r\nx'''\r\n".into(),
            "# only a comment".into(),
            "[projects]\n".into(),
            "[projects.\"/a\"]\ntrust_level = \"untrusted\"".into(),
            format!("[projects.{ours}]\ntrust_level = 'untrusted' # why\n[x]\n"),
            format!("[projects.{ours}]\nother = [ 1,\n 2 ]\n[x]\ny = 2\n"),
            format!("[projects.{ours}]\n"),
            format!("projects = {{ {ours} = {{ trust_level = \"untrusted\" }} }}\nz = 1\n"),
            "projects = { \"/a\" = { trust_level = \"trusted\" } }\nz = 1\n".into(),
            format!("[projects]\n{ours}.trust_level = \"untrusted\"\n"),
        ] {
            there_and_back(&text);
        }
    }

    #[test]
    fn what_the_program_added_stays_and_a_later_no_is_respected() {
        let (new, before) = there_and_back("a = 1\n");
        let revoke = |text: &str| {
            Document::parse(text.as_bytes(), CODEX.trust).unwrap().revoke(FOLDER, &before).unwrap()
        };
        let added = format!("{new}\n[tui]\nseen = true\n");
        assert_eq!(revoke(&added).unwrap(), "a = 1\n\n[tui]\nseen = true\n");
        let inside = format!("{new}more = 1\n");
        assert!(revoke(&inside).unwrap().ends_with(".v2\"]\nmore = 1\n"));
        assert_eq!(revoke(&new.replace("\"trusted\"", "\"untrusted\"")), None);
        assert_eq!(revoke("a = 1\n"), None);
    }

    #[test]
    fn what_is_not_toml_or_no_table_is_refused() {
        for text in ["a = ", "[projects", "a = 1\na = 2\n"] {
            assert!(
                matches!(Document::parse(text.as_bytes(), CODEX.trust), Err(RecordError::NotToml(_))),
                "{text}"
            );
        }
        for text in ["projects = 1\n", "[projects]\n\"/code/my \\\"app\\\".v2\" = true\n"] {
            let document = Document::parse(text.as_bytes(), CODEX.trust).unwrap();
            assert!(matches!(document.accept(FOLDER), Err(RecordError::NotObject(_))), "{text}");
        }
    }

    proptest! {
        #[test]
        fn lines_of_any_kind_come_back(lines in proptest::collection::vec(
            prop_oneof![
                "[a-z]{1,3} = [0-9]{1,3}( # [a-z ]{0,5})?",
                "\\[[a-z]{1,3}\\]",
                "# [a-z]{0,6}",
                Just(String::new()),
                "\\[projects\\.\"/[a-z]{1,3}\"\\]",
                Just("trust_level = \"trusted\"".to_string()),
            ], 0..10), ended in any::<bool>())
        {
            let mut text = lines.join("\n");
            if ended {
                text.push('\n');
            }
            if let Ok(document) = Document::parse(text.as_bytes(), CODEX.trust)
                && let Ok(Some(_)) = document.accept(FOLDER)
            {
                there_and_back(&text);
            }
        }
    }
}

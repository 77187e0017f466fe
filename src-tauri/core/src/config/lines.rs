//! The configuration as lines: what an edit of one key leaves alone is left alone to the byte.

use toml_edit::{Document, Item, TableLike};

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endings {
    /// With a line feed.
    Unix,
    /// With a carriage return and a line feed.
    Dos,
}

impl Endings {
    /// Those of the text's first line.
    pub(super) fn in_use(text: &str) -> Self {
        match text.split_once('\n') {
            Some((first, _)) if first.ends_with('\r') => Self::Dos,
            _ => Self::Unix,
        }
    }

    /// The text with these endings. Writing TOML turns every ending into a line feed.
    pub(super) fn of(self, text: &str) -> String {
        match self {
            Self::Unix => text.to_owned(),
            Self::Dos => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        }
    }
}

/// The text without the line of that key, comments above it kept; `None` where the key shares its line with others or
/// is not there.
pub(super) fn without(text: &str, path: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut table: &dyn TableLike = document.as_table();
    for part in parents.split('.').filter(|part| !part.is_empty()) {
        table = table.get(part).and_then(Item::as_table_like)?;
    }
    let (key, value) = (table.key(name)?.span()?, table.get(name)?.span()?);
    let from = text[..key.start].rfind('\n').map_or(0, |at| at + 1);
    // In a table on one line something else stands before or after.
    let before = &text[from..key.start];
    if before.contains(['{', '[', ',', '=']) {
        return None;
    }
    let until = text[value.end..].find('\n').map_or(text.len(), |at| value.end + at + 1);
    let after = text[value.end..until].trim();
    (after.is_empty() || after.starts_with('#')).then(|| [&text[..from], &text[until..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_with_its_line_and_nothing_else() {
        let text =
            "# mine\n[spawn]\n# how much\nbudget = 3 # tokens\n\n# where\nterminal = \"tmux\"\n# end\n";
        let left = without(text, "spawn.budget").unwrap();
        assert_eq!(left, "# mine\n[spawn]\n# how much\n\n# where\nterminal = \"tmux\"\n# end\n");
        let left = without(text, "spawn.terminal").unwrap();
        assert_eq!(left, "# mine\n[spawn]\n# how much\nbudget = 3 # tokens\n\n# where\n# end\n");
        assert_eq!(without("spawn.budget = 3", "spawn.budget").as_deref(), Some(""));
        let list = "[agent]\nargs = [\n  \"a\", # one\n]\nkind = \"x\"\n";
        assert_eq!(without(list, "agent.args").as_deref(), Some("[agent]\nkind = \"x\"\n"));
        for (text, path) in [
            ("spawn = { budget = 3, terminal = \"tmux\" }\n", "spawn.budget"),
            ("[spawn]\n", "spawn.budget"),
            ("", "spawn.budget"),
        ] {
            assert_eq!(without(text, path), None, "{text}");
        }
    }

    #[test]
    fn endings_are_those_of_the_first_line() {
        assert_eq!(Endings::in_use("a\r\nb\n"), Endings::Dos);
        assert_eq!(Endings::in_use("a\nb\r\n"), Endings::Unix);
        assert_eq!(Endings::in_use(""), Endings::Unix);
        assert_eq!(Endings::Dos.of("a\nb\r\n"), "a\r\nb\r\n");
    }
}

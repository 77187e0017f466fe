//! Lines in a repository's `info/exclude`: how a path is written there, and how a line goes in and out again.
//!
//! Ours go to the top. The last matching line wins in such a file, so whatever the user wrote still decides; and a
//! whole line at the top comes out again without a question about the file's final newline.

use std::path::Path;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The line that excludes exactly this path of a worktree (gitignore(5)); `None` where it cannot be written.
pub fn pattern(worktree: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(worktree).ok()?.to_str()?;
    if inside.is_empty() || inside.contains(|c: char| c.is_control()) || inside.ends_with(' ') {
        return None;
    }
    let mut line = String::from("/");
    for c in inside.chars() {
        if matches!(c, '\\' | '*' | '?' | '[') {
            line.push('\\');
        }
        line.push(c);
    }
    Some(line)
}

/// Whether the line is there.
pub fn has(text: &[u8], line: &str) -> bool {
    lines(text).any(|(_, content)| content == line.as_bytes())
}

/// The text with the line on top.
pub fn add(text: &[u8], line: &str) -> Vec<u8> {
    // Git skips a byte order mark only at the very beginning.
    let at = if text.starts_with(BOM) { BOM.len() } else { 0 };
    [&text[..at], line.as_bytes(), b"\n", &text[at..]].concat()
}

/// The text without the first such line; `None` when there is none.
pub fn remove(text: &[u8], line: &str) -> Option<Vec<u8>> {
    let (range, _) = lines(text).find(|(_, content)| *content == line.as_bytes())?;
    Some([&text[..range.start], &text[range.end..]].concat())
}

fn lines(text: &[u8]) -> impl Iterator<Item = (std::ops::Range<usize>, &[u8])> {
    let mut at = if text.starts_with(BOM) { BOM.len() } else { 0 };
    text[at..].split_inclusive(|b| *b == b'\n').map(move |raw| {
        let range = at..at + raw.len();
        at = range.end;
        let content = raw.strip_suffix(b"\n").unwrap_or(raw);
        (range, content.strip_suffix(b"\r").unwrap_or(content))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn characters_that_mean_something_to_git_are_escaped() {
        let line = |path: &str| pattern(Path::new("/w"), &Path::new("/w").join(path));
        assert_eq!(line("pkg/a b/F.md").unwrap(), "/pkg/a b/F.md");
        assert_eq!(line("#a/!b/F.md").unwrap(), "/#a/!b/F.md");
        assert_eq!(line(r"a[1]*?\/F.md").unwrap(), r"/a\[1]\*\?\\/F.md");
        assert_eq!(line("a\nb/F.md"), None);
        assert_eq!(pattern(Path::new("/w"), Path::new("/x/F.md")), None);
    }

    proptest! {
        #[test]
        fn a_line_put_in_and_taken_out_leaves_the_same_bytes(
            text in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..60),
                "(\u{feff})?([/a-z#! ]{0,6}\r?\n){0,5}[a-z]{0,3}".prop_map(String::into_bytes),
            ],
        ) {
            let line = "/CONTEXT_BRIEFING.md";
            let with = add(&text, line);
            prop_assert!(has(&with, line));
            prop_assert_eq!(remove(&with, line).unwrap(), text);
        }
    }
}

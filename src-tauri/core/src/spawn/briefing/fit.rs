//! Cuts a document for a channel that takes only so much, keeping what matters most and saying where the rest is.

use crate::capture::marks::END;

/// A document, or its head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fitted {
    /// At most as long as asked for, ending in one newline.
    pub text: String,
    /// Something was left out; the last line before the closing mark names the file where the whole stands.
    pub cut: bool,
}

/// The document when it fits into `most` UTF-16 units, else as many of its lines as fit, in order, then one naming
/// `whole`. Sections are written in the order of their weight, so the head is what matters most. A single line is
/// never cut. Where not even the closing lines fit, nothing is left but an empty text.
pub fn fit(markdown: &str, most: usize, whole: &str) -> Fitted {
    if units(markdown) <= most {
        return Fitted { text: markdown.to_owned(), cut: false };
    }
    let whole: String = whole.chars().filter(|c| !c.is_control()).collect();
    let closing = format!("\n(cut here: the whole briefing stands in {whole})\n{END}\n");
    let Some(room) = most.checked_sub(units(&closing)) else {
        return Fitted { text: String::new(), cut: true };
    };
    let mut text = String::new();
    let mut used = 0;
    for line in markdown.split_inclusive('\n') {
        used += units(line);
        if used > room {
            break;
        }
        text.push_str(line);
    }
    // A heading with nothing under it says nothing.
    while let Some(at) = text.trim_end().rfind('\n').filter(|&at| text[at..].trim_start().starts_with('#')) {
        text.truncate(at);
    }
    let text = format!("{}\n{closing}", text.trim_end());
    Fitted { text: text.trim_start().to_owned(), cut: true }
}

/// Length in UTF-16 units.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::marks::BEGIN;

    fn document(lines: usize, text: &str) -> String {
        let lines = (0..lines).map(|n| format!("- {n} {text}\n")).collect::<Vec<_>>().concat();
        format!("{BEGIN}\n# Context briefing\n\n## What the user said before\n{lines}{END}\n")
    }

    #[test]
    fn what_fits_exactly_stays_whole_and_one_more_is_cut_at_a_line() {
        let whole = document(100, "日本語 𝄞 text");
        let length = units(&whole);
        assert_eq!(fit(&whole, length, "/x"), Fitted { text: whole.clone(), cut: false });
        let cut = fit(&whole, length - 1, "/private/CONTEXT_BRIEFING.md");
        assert!(cut.cut && units(&cut.text) < length);
        assert!(cut.text.ends_with(&format!(
            "text\n\n(cut here: the whole briefing stands in /private/CONTEXT_BRIEFING.md)\n{END}\n"
        )));
        let kept: Vec<&str> = cut.text.lines().filter(|l| l.starts_with("- ")).collect();
        assert!(kept.iter().all(|line| whole.lines().any(|l| l == *line)), "no line is cut in two");
        assert_eq!(kept.first(), Some(&"- 0 日本語 𝄞 text"), "the head is kept");
    }

    #[test]
    fn the_limit_holds_for_every_length() {
        let whole = document(30, "ünïcödé 𝄞𝄞𝄞");
        for most in 0..units(&whole) {
            let cut = fit(&whole, most, "/private/CONTEXT_BRIEFING.md");
            assert!(units(&cut.text) <= most, "{most}");
            assert!(cut.cut);
            assert!(!cut.text.contains("before\n\n(cut"), "no bare heading at {most}");
        }
    }
}

//! The document as the user wants it, in place of the one that was composed.
//!
//! The user's own words are delivered as they stand: they are no memory text, so nothing is quoted, quarantined or cut.
//! Only what would break the frame goes: escape sequences and characters nobody sees, and marks like ours inside,
//! without which capture could not tell again what was put before the agent.

use super::{clean, estimate_tokens};
use crate::capture::marks::{BEGIN, END};
use crate::host::files;
use crate::spawn::passed::Briefing;

/// The briefing with its document as the user has edited it; `None` where nothing is left of it. The lines stay: they
/// say what was considered.
pub fn edited(briefing: &Briefing, text: &str) -> Option<Briefing> {
    let visible = clean::visible(text);
    let lines: Vec<&str> = visible.lines().filter(|line| ![BEGIN, END].contains(&line.trim())).collect();
    let inner = unmarked(lines.join("\n").trim_matches('\n'));
    if inner.trim().is_empty() {
        return None;
    }
    let markdown = format!("{BEGIN}\n{inner}\n{END}\n");
    let edited = markdown != briefing.markdown;
    Some(Briefing { edited: briefing.edited || edited, ..with(briefing, markdown) })
}

/// The briefing with a document of ours before it.
pub fn opened(briefing: &Briefing, opening: &str) -> Briefing {
    with(briefing, format!("{opening}{}", briefing.markdown))
}

fn with(briefing: &Briefing, markdown: String) -> Briefing {
    Briefing {
        hash: files::sha256(markdown.as_bytes()),
        tokens: estimate_tokens(&markdown),
        markdown,
        ..briefing.clone()
    }
}

/// Comments that look like marks of ours, of any kind, can no longer be taken for one.
fn unmarked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        let word = after.trim_start().trim_start_matches('/').trim_start();
        let ours = word.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("pao:"));
        out.push_str(if ours { "‹!--" } else { "<!--" });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::capture::marks::without;

    fn composed() -> Briefing {
        let markdown = format!("{BEGIN}\n# Context briefing\n\n- one\n{END}\n");
        Briefing {
            hash: files::sha256(markdown.as_bytes()),
            tokens: estimate_tokens(&markdown),
            lines: Vec::new(),
            self_warming: false,
            edited: false,
            markdown,
        }
    }

    #[test]
    fn what_the_user_wrote_is_delivered_as_it_stands_and_known_as_edited() {
        let text = "# Mine\r\n\n- `code`, <b>tags</b>, @file and “quotes” · stay\n\ttoo  \n";
        let edited = edited(&composed(), text).unwrap();
        assert_eq!(
            edited.markdown,
            format!("{BEGIN}\n# Mine\n\n- `code`, <b>tags</b>, @file and “quotes” · stay\n\ttoo  \n{END}\n")
        );
        assert!(edited.edited);
        assert_eq!(edited.hash, files::sha256(edited.markdown.as_bytes()));
    }

    #[test]
    fn a_text_that_was_only_looked_at_is_not_edited_and_an_empty_one_is_none() {
        let before = composed();
        assert_eq!(edited(&before, &before.markdown), Some(before.clone()));
        for nothing in ["", " \n\t\n", &format!("{BEGIN}\n{END}\n"), "\u{200b}\u{1b}[31m"] {
            assert_eq!(edited(&before, nothing), None, "{nothing:?}");
        }
    }

    #[test]
    fn no_mark_inside_can_end_what_is_ours() {
        let text = format!(
            "{BEGIN}\na {END} b\n{END}\n<!--/PAO:briefing --> <!-- pao:briefing:begin agent=a1 -->\n<!-- mine -->\u{1b}[2J"
        );
        let markdown = edited(&composed(), &text).unwrap().markdown;
        assert_eq!((markdown.matches(BEGIN).count(), markdown.matches(END).count()), (1, 1), "{markdown}");
        assert!(markdown.contains("<!-- mine -->") && !markdown.contains("<!-- pao:briefing:begin"));
        assert_eq!(without(&format!("x{markdown}y")), "x\ny");
    }

    proptest! {
        #[test]
        fn any_text_stays_within_its_marks(
            parts in proptest::collection::vec(proptest::sample::select(vec![
                "<!-- pao:briefing -->", "<!-- /pao:briefing -->", "<!--", "<", "!-- pao:", "\n", "\r", "a", "\u{200b}",
                "\u{1b}[31m", " ", "/", "briefing -->", "<!-\u{200b}- pao:briefing -->", "字",
            ]), 0..24),
        ) {
            let text = parts.concat();
            if let Some(edited) = edited(&composed(), &text) {
                prop_assert_eq!(without(&edited.markdown), "\n");
                prop_assert_eq!(super::edited(&edited, &edited.markdown).unwrap().markdown, edited.markdown);
            }
        }
    }
}

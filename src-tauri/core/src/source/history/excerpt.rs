//! The part of a long message that answers the question.

use pao_recall::{query_terms, terms_of};

/// Longest excerpt, in bytes.
const LONGEST: usize = 900;

/// The whole text where it is short, else the row of lines that repeats most of the question, marked `…` where it
/// was cut.
pub(super) fn excerpt(text: &str, question: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let asked = query_terms(question);
    let lines: Vec<&str> = text.lines().flat_map(|line| pieces(line, LONGEST / 3)).collect();
    let holds: Vec<Vec<usize>> = lines
        .iter()
        .map(|line| {
            let terms = terms_of(line);
            (0..asked.len()).filter(|at| terms.contains(&asked[*at])).collect()
        })
        .collect();
    let (mut best, mut best_score) = (0..1, 0);
    for start in 0..lines.len() {
        let (mut end, mut length) = (start, 0);
        let mut seen: Vec<usize> = Vec::new();
        while end < lines.len() && length + lines[end].len() < LONGEST {
            length += lines[end].len() + 1;
            seen.extend(&holds[end]);
            end += 1;
        }
        let occurrences = seen.len();
        seen.sort_unstable();
        seen.dedup();
        let score = seen.len() * 16 + occurrences.min(15);
        if score > best_score {
            (best, best_score) = (start..end, score);
        }
    }
    if best_score == 0 {
        best = 0..lines
            .iter()
            .scan(0, |sum, line| {
                *sum += line.len() + 1;
                Some(*sum)
            })
            .take_while(|sum| *sum < LONGEST)
            .count()
            .max(1);
    }
    let mut out = String::new();
    if best.start > 0 {
        out.push_str("… ");
    }
    let last = best.end == lines.len();
    out.push_str(lines[best].join("\n").trim());
    if !last {
        out.push_str(" …");
    }
    out
}

/// A line in pieces of at most `bytes` bytes, cut at a space where there is one.
fn pieces(line: &str, bytes: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while rest.len() > bytes {
        let cut = rest.floor_char_boundary(bytes);
        let cut = rest[..cut].rfind(' ').filter(|at| *at > bytes / 2).unwrap_or(cut);
        let (head, tail) = rest.split_at(cut);
        pieces.push(head);
        rest = tail;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_cut_down_to_what_was_asked() {
        let filler = "nothing of interest here at all\n".repeat(100);
        let text = format!("{filler}the cache lives under /var/tmp/pao\nand is emptied on start\n{filler}");
        let part = excerpt(&text, "where does the cache live");
        assert!(part.contains("/var/tmp/pao"), "{part}");
        assert!(part.starts_with('…') && part.ends_with('…') && part.len() <= LONGEST + 8);
        assert_eq!(excerpt("short", "x"), "short");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]
        #[test]
        fn any_text_is_cut_between_characters(text in "(\\PC|\n|字){0,1500}", question in "\\PC{0,20}") {
            proptest::prop_assert!(excerpt(&text, &question).len() <= LONGEST.max(text.len().min(LONGEST)) + 8);
        }
    }
}

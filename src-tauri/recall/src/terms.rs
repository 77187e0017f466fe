//! Cuts text into the terms that are indexed and asked for: the same way on both sides.
//!
//! Words are lower-cased, normalised and stemmed; identifiers, paths and hyphenated words count as a whole and by
//! their parts; runs of Chinese, Japanese and Korean become single characters and overlapping pairs, because
//! their words cannot be told apart by spaces. A question never reaches a query parser, so no character in it
//! means anything but itself.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Longest term, in bytes. Longer runs are data (hashes, base64), not words.
const LONGEST: usize = 64;
/// Stems remembered per thread.
const REMEMBERED: usize = 1 << 15;

/// Words that carry no meaning of their own in a question.
const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "doing",
    "during", "each", "few", "for", "from", "further", "had", "has", "have", "having", "he", "her", "here",
    "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "me", "more", "most",
    "my", "no", "nor", "not", "now", "of", "on", "only", "or", "other", "our", "own", "same", "she",
    "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "too", "until", "up", "us", "very", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// One term of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// A plain word, or part of a compound.
    Word,
    /// A compound as a whole.
    Whole,
    /// One character of a run without spaces.
    Single,
    /// Two neighbouring characters of such a run.
    Pair,
}

/// Cuts texts into terms, reusing its buffers.
#[derive(Clone)]
pub(crate) struct Cutter {
    stemmer: frostem::Stemmer,
    stems: FxHashMap<String, String>,
    arena: String,
    spans: Vec<(usize, usize, Sort)>,
}

impl Default for Cutter {
    fn default() -> Self {
        Self {
            stemmer: frostem::Stemmer::new(frostem::Algorithm::English),
            stems: FxHashMap::default(),
            arena: String::new(),
            spans: Vec::new(),
        }
    }
}

impl Cutter {
    /// Terms of a text in its order, repetitions included.
    fn cut(&mut self, text: &str) {
        self.arena.clear();
        self.spans.clear();
        let text = normal(text);
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            // The common case first: a run of ASCII letters and digits.
            if bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' || !bytes[at].is_ascii() {
                let end = run_end(&text, at);
                self.run(&text[at..end]);
                at = end.max(at + 1);
                while !text.is_char_boundary(at) {
                    at += 1;
                }
            } else {
                at += 1;
            }
        }
    }

    /// A run of word characters with single joints (`-`, `.`, `/`, `:`, `'`) between them.
    fn run(&mut self, run: &str) {
        if run.is_ascii() && !run.bytes().any(is_joint) && !has_seam(run) {
            self.word(run);
            return;
        }
        let before = self.spans.len();
        for path_part in run.split('/') {
            let first = self.spans.len();
            let bare = without_ending(path_part);
            for part in bare.split(['-', '_', '.', ':', '\'', '’']) {
                self.part(part);
            }
            let only_words = self.spans[first..].iter().all(|(.., sort)| *sort == Sort::Word);
            if self.spans.len() > first + 1 && only_words {
                self.push(&bare.to_lowercase(), Sort::Whole);
            }
        }
        if run.contains('/')
            && self.spans.len() > before + 1
            && self.spans[before..].iter().all(|(.., s)| *s != Sort::Pair)
        {
            self.push(&run.to_lowercase(), Sort::Whole);
        }
    }

    /// A run without joints: scripts without spaces apart from the rest, `fooBar` also by its halves.
    fn part(&mut self, part: &str) {
        if part.is_ascii() {
            self.camel(part);
            return;
        }
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let dense = is_dense(first);
            let end =
                rest.char_indices().find(|(_, c)| is_dense(*c) != dense).map_or(rest.len(), |(at, _)| at);
            if dense {
                self.dense(&rest[..end]);
            } else {
                self.camel(&rest[..end]);
            }
            rest = &rest[end..];
        }
    }

    fn camel(&mut self, part: &str) {
        self.word(part);
        if !has_seam(part) || part.len() > LONGEST {
            return;
        }
        let bytes = part.as_bytes();
        let mut start = 0;
        for at in 1..bytes.len() {
            let lower_upper = !bytes[at - 1].is_ascii_uppercase() && bytes[at].is_ascii_uppercase();
            let last_of_acronym = bytes[at - 1].is_ascii_uppercase()
                && bytes[at].is_ascii_uppercase()
                && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            if (lower_upper || last_of_acronym) && at > start {
                if let Some(half) = part.get(start..at) {
                    self.word(half);
                }
                start = at;
            }
        }
        if start > 0
            && let Some(half) = part.get(start..)
        {
            self.word(half);
        }
    }

    fn dense(&mut self, run: &str) {
        let mut previous: Option<(usize, char)> = None;
        for (at, c) in run.char_indices() {
            let end = at + c.len_utf8();
            self.push(&run[at..end], Sort::Single);
            if let Some((from, _)) = previous {
                self.push(&run[from..end], Sort::Pair);
            }
            previous = Some((at, c));
        }
    }

    fn word(&mut self, word: &str) {
        if word.is_empty() || word.len() > LONGEST {
            return;
        }
        let start = self.arena.len();
        if !word.is_ascii() {
            self.arena.extend(word.chars().flat_map(char::to_lowercase));
            self.spans.push((start, self.arena.len(), Sort::Word));
            return;
        }
        self.arena.push_str(word);
        self.arena[start..].make_ascii_lowercase();
        let lower = &self.arena[start..];
        if lower.len() > 2 && lower.bytes().all(|b| b.is_ascii_lowercase()) {
            if let Some(stem) = self.stems.get(lower) {
                if stem.len() != lower.len() || stem != lower {
                    self.arena.truncate(start);
                    self.arena.push_str(stem);
                }
            } else {
                let stem = self.stemmer.stem(lower).into_owned();
                if self.stems.len() >= REMEMBERED {
                    self.stems.clear();
                }
                self.stems.insert(lower.to_owned(), stem.clone());
                self.arena.truncate(start);
                self.arena.push_str(&stem);
            }
        }
        self.spans.push((start, self.arena.len(), Sort::Word));
    }

    fn push(&mut self, term: &str, sort: Sort) {
        if term.len() > LONGEST {
            return;
        }
        let start = self.arena.len();
        self.arena.push_str(term);
        self.spans.push((start, self.arena.len(), sort));
    }

    fn sorted_terms(&self) -> impl Iterator<Item = (&str, Sort)> {
        self.spans.iter().map(|(from, to, sort)| (&self.arena[*from..*to], *sort))
    }

    /// Words of a text in its order as they are indexed, without stop words and without wholes and singles: what
    /// stands next to what.
    pub(crate) fn sequence<'a>(&'a mut self, text: &str) -> impl Iterator<Item = &'a str> {
        self.cut(text);
        self.sorted_terms()
            .filter(|(term, sort)| matches!(sort, Sort::Word | Sort::Pair) && !is_stop(term))
            .map(|(term, _)| term)
    }
}

/// Every term of a text in its order, as it is indexed.
pub fn terms_of(text: &str) -> Vec<String> {
    let mut cutter = Cutter::default();
    cutter.cut(text);
    cutter.sorted_terms().map(|(term, _)| term.to_owned()).collect()
}

/// The terms a question asks for, each once, in the question's order: without stop words unless it has nothing
/// else, and without single characters that stand in a pair.
pub fn query_terms(text: &str) -> Vec<String> {
    let mut cutter = Cutter::default();
    cutter.cut(text);
    let all: Vec<(&str, Sort)> = cutter.sorted_terms().collect();
    let mut kept = Vec::new();
    for (at, (term, sort)) in all.iter().enumerate() {
        let in_pair = *sort == Sort::Single
            && (all.get(at + 1).is_some_and(|(_, s)| *s == Sort::Pair)
                || (at > 0
                    && all[at - 1].1 == Sort::Single
                    && all.get(at + 1).is_some_and(|(_, s)| *s == Sort::Pair))
                || all.get(at + 2).is_some_and(|(p, s)| *s == Sort::Pair && p.starts_with(term)));
        if !in_pair && !is_stop(term) && !kept.iter().any(|k| k == term) {
            kept.push((*term).to_owned());
        }
    }
    if kept.is_empty() {
        for (term, _) in all {
            if !kept.iter().any(|k| k == term) {
                kept.push(term.to_owned());
            }
        }
    }
    kept
}

pub(crate) fn is_stop(term: &str) -> bool {
    term.len() < 8 && STOP.binary_search(&term).is_ok()
}

/// Full-width forms, decomposed accents and decomposed Hangul become what people type.
fn normal(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

fn is_joint(b: u8) -> bool {
    matches!(b, b'-' | b'_' | b'.' | b'/' | b':' | b'\'')
}

/// A lower-case letter or digit followed by a capital, or a capital that starts a word after others.
fn has_seam(part: &str) -> bool {
    let bytes = part.as_bytes();
    bytes.windows(2).any(|two| !two[0].is_ascii_uppercase() && two[1].is_ascii_uppercase())
        || bytes.windows(3).any(|three| {
            three[0].is_ascii_uppercase() && three[1].is_ascii_uppercase() && three[2].is_ascii_lowercase()
        })
}

/// `can't`, `Anna's`, `they'll`: what stands before the apostrophe.
fn without_ending(word: &str) -> &str {
    for apostrophe in ["'", "’"] {
        if let Some((head, tail)) = word.rsplit_once(apostrophe)
            && matches!(tail.to_ascii_lowercase().as_str(), "s" | "t" | "re" | "ll" | "d" | "ve" | "m" | "")
        {
            return head;
        }
    }
    word
}

/// Where the run that starts at `start` ends: word characters, single joints only between two of them.
fn run_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
            at += 1;
        }
        if at >= bytes.len() {
            return at;
        }
        if !bytes[at].is_ascii() {
            let Some(c) = text[at..].chars().next() else { return at };
            let within = c.is_alphanumeric() || is_mark(c) || (c == '’' && at > start);
            if !within {
                return at;
            }
            at += c.len_utf8();
            continue;
        }
        let joined = is_joint(bytes[at])
            && at > start
            && bytes.get(at + 1).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || !b.is_ascii());
        if !joined {
            return at;
        }
        at += 1;
    }
}

/// Combining marks and vowel signs belong to the letter before them.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Scripts that are written without spaces between words, and Hangul, whose particles stick to the noun.
fn is_dense(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11FF | 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3041..=0x30FF | 0x3130..=0x318F | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7FB | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Feeds an index with terms, and counts the bytes it has worked through so that the writer can hold back.
#[derive(Clone, Default)]
pub(crate) struct IndexTokenizer {
    cutter: Cutter,
    token: Token,
    pub(crate) worked: Arc<AtomicU64>,
}

pub(crate) struct Terms<'a> {
    cutter: &'a Cutter,
    token: &'a mut Token,
    next: usize,
}

impl Tokenizer for IndexTokenizer {
    type TokenStream<'a> = Terms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms<'a> {
        self.cutter.cut(text);
        self.worked.fetch_add(text.len() as u64, Ordering::Relaxed);
        self.token.reset();
        Terms { cutter: &self.cutter, token: &mut self.token, next: 0 }
    }
}

impl TokenStream for Terms<'_> {
    fn advance(&mut self) -> bool {
        let Some((from, to, _)) = self.cutter.spans.get(self.next) else { return false };
        self.token.text.clear();
        self.token.text.push_str(&self.cutter.arena[*from..*to]);
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(question: &str, text: &str) -> bool {
        let terms = terms_of(text);
        query_terms(question).iter().any(|q| terms.contains(q))
    }

    fn asks_all(question: &str, text: &str) -> bool {
        let terms = terms_of(text);
        let question = query_terms(question);
        !question.is_empty() && question.iter().all(|q| terms.contains(q))
    }

    #[test]
    fn the_stop_list_can_be_searched_by_halving() {
        assert!(STOP.is_sorted());
    }

    #[test]
    fn words_meet_across_case_and_inflection() {
        assert!(asks_all("Fixing MIGRATIONS", "we fixed the migration"));
        assert!(asks_all("Caroline", "Caroline's painting"));
        assert!(!asks("login", "logout"));
    }

    #[test]
    fn identifiers_paths_and_hyphens_match_whole_and_by_parts() {
        for question in ["fooBar", "foobar", "foo", "bar"] {
            assert!(asks_all(question, "call fooBar()"), "{question}");
        }
        for question in ["foo_bar", "bar", "foo"] {
            assert!(asks_all(question, "see foo_bar here"), "{question}");
        }
        for question in ["src/auth/login.rs", "login.rs", "auth", "login"] {
            assert!(asks_all(question, "edited src/auth/login.rs today"), "{question}");
        }
        assert!(terms_of("re-run").contains(&"re-run".to_owned()));
        assert!(terms_of("HTTPServer parseJSONText").iter().any(|t| t == "server"));
    }

    #[test]
    fn nothing_in_a_question_is_syntax() {
        for question in [
            "AND", "OR", "NOT", "re-run", "FIXME: y", "can't", "(", "-", "\"", "*", "a:b", "x^2", "NEAR/3",
            "",
        ] {
            let _ = query_terms(question);
        }
        assert!(asks("FIXME: y", "left a FIXME there"));
        assert!(asks_all("re-run", "please re-run it"));
        assert_eq!(query_terms("AND"), ["and"]);
        assert!(query_terms("(").is_empty());
    }

    #[test]
    fn chinese_japanese_and_korean_are_found_by_any_part() {
        let text = "启动器缓存目录权限错误已修复";
        for question in ["缓存目录权限", "缓存", "tauri 缓存", "修", "缓"] {
            assert!(asks(question, text), "{question}");
        }
        assert!(asks("表示崩れ", "設定画面の表示崩れ"));
        assert!(asks_all("서버", "서버가 멈췄다"));
        assert_eq!(query_terms("缓存目录"), ["缓存", "存目", "目录"]);
        assert_eq!(query_terms("修"), ["修"]);
        assert!(asks_all("ＡＰＩ", "the api"));
    }

    #[test]
    fn decomposed_text_meets_composed_text() {
        assert!(asks_all("cafe\u{301}", "café"));
        assert!(asks_all("\u{1109}\u{1165}\u{1107}\u{1165}", "서버"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_cut_and_found_again(text in "\\PC{0,60}") {
            let terms = terms_of(&text);
            for term in query_terms(&text) {
                proptest::prop_assert!(terms.contains(&term));
                proptest::prop_assert!(term.len() <= LONGEST);
            }
        }
    }
}

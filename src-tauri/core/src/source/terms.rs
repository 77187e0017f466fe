//! What of a question is worth looking for, and how well a stored text answers it.
//!
//! Stores without a ranking of their own (or with one that knows no rarity) are asked for each of these terms and
//! their rows are ordered here. Nothing in this file knows SQL or HTTP; a term never carries raw question text
//! further than a bound value.

use std::collections::HashSet;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

/// Characters of a question that are looked at; a pasted log does not become a thousand terms.
const QUESTION_CHARS: usize = 2_000;

/// Terms a question is reduced to, at most.
const TERMS: usize = 24;

/// English words that say nothing about a topic. Capitalised inside a sentence they are taken for names.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "between", "both", "but", "by", "can", "could", "did", "do",
    "does", "doing", "don", "down", "each", "few", "for", "from", "get", "had", "has", "have", "he", "her",
    "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like", "may",
    "me", "more", "most", "my", "no", "nor", "not", "now", "of", "off", "on", "once", "one", "only", "or",
    "other", "our", "out", "over", "own", "please", "s", "same", "she", "should", "so", "some", "such", "t",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through",
    "to", "too", "under", "until", "up", "us", "very", "want", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "whom", "why", "will", "with", "would", "you", "your",
];

/// Chinese function characters; a pair that contains one says little.
const STOP_HAN: &[char] = &['的', '了', '吗', '呢', '吧', '啊', '么', '是', '在', '和', '与', '请'];

/// How a term is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A content word: its stem at the start of a word; three letters or fewer, the whole word.
    Word,
    /// A name that is also a common word ("IT", "Will", "The Who"): whole words, in exactly this case.
    Name,
    /// An identifier, path or anything with punctuation inside: anywhere, as it stands.
    Literal,
    /// A pair of Chinese, Japanese or Korean characters: anywhere.
    Cjk,
}

/// One thing to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The word as asked, lower-case except for a [`Kind::Name`].
    pub text: String,
    /// What a substring search looks for: the stem of a word, else `text`.
    pub root: String,
    /// How it is looked for.
    pub kind: Kind,
}

impl Term {
    fn new(kind: Kind, text: String) -> Self {
        Self { root: text.clone(), text, kind }
    }

    /// A word too short to be looked for inside others.
    pub fn whole_word(&self) -> bool {
        self.kind == Kind::Name || (self.kind == Kind::Word && self.text.chars().count() <= 3)
    }
}

/// The terms of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// What to look for, most telling kinds first; at most 24.
    pub terms: Vec<Term>,
    /// Longer runs that make a text stand out when it contains them whole, lower-case.
    pub phrases: Vec<String>,
}

impl Terms {
    /// Reads a question.
    pub fn of(question: &str) -> Self {
        let text: String = question.nfc().filter(|c| *c != '\0').take(QUESTION_CHARS).collect();
        let mut found = Found::default();
        for line in text.lines() {
            found.line(line);
        }
        found.finish()
    }

    /// True when the question has nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How well a text answers the question, in 0..=1.2: the share of the question's weight that the text
    /// contains, a little more where it holds a whole phrase and a little less the longer it is. `weights` has one
    /// entry per term.
    pub fn score(&self, weights: &[f64], title: &str, text: &str) -> f32 {
        let raw = format!("{title}\n{text}");
        let hay = raw.to_lowercase();
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        let covered: f64 =
            self.terms.iter().zip(weights).map(|(term, weight)| weight * occurrence(term, &hay, &raw)).sum();
        let phrase = if self.phrases.iter().any(|p| hay.contains(p.as_str())) { 1.2 } else { 1.0 };
        // Length normalisation after BM25 (b = 0.25) against a typical observation of 200 characters.
        let length = f64::from(u32::try_from(hay.chars().count().min(4_000)).unwrap_or(4_000));
        let long = 0.75 + 0.25 * (length / 200.0);
        #[expect(clippy::cast_possible_truncation, reason = "a score in 0..=1.2")]
        let score = ((covered / total) * phrase / long.max(1.0).sqrt()) as f32;
        score
    }
}

/// Weight of a term by how many of the rows searched contain it: the rarer, the more it says.
pub fn rarity(rows: f64, with_term: f64) -> f64 {
    (1.0 + (rows.max(with_term) + 1.0) / (with_term + 0.5)).ln()
}

/// 1 where the term stands in the text as it should, less where it is only a part of a longer word.
fn occurrence(term: &Term, hay: &str, raw: &str) -> f64 {
    let within = if term.kind == Kind::Name { raw } else { hay };
    let whole = term.whole_word();
    let mut inside = false;
    for (at, found) in within.match_indices(term.root.as_str()) {
        if matches!(term.kind, Kind::Literal | Kind::Cjk) {
            return 1.0;
        }
        let before = within[..at].chars().next_back();
        let after = within[at + found.len()..].chars().next();
        let starts = !before.is_some_and(char::is_alphanumeric);
        if whole {
            if starts && !after.is_some_and(|c| c.is_alphanumeric() || c == '\'' || c == '’') {
                return 1.0;
            }
        } else if starts {
            return 1.0;
        } else {
            inside = true;
        }
    }
    if inside { 0.4 } else { 0.0 }
}

#[derive(Default)]
struct Found {
    seen: HashSet<String>,
    names: Vec<Term>,
    literals: Vec<Term>,
    words: Vec<Term>,
    cjk: Vec<Term>,
    phrases: Vec<String>,
}

impl Found {
    fn line(&mut self, line: &str) {
        let mut sentence_starts = true;
        let mut capitals: Vec<String> = Vec::new();
        for chunk in line.split_whitespace() {
            let core = chunk.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '%' | '_' | '\\'));
            if core.is_empty() || core.chars().any(char::is_control) {
                self.capitals(&mut capitals);
                continue;
            }
            if core.chars().any(is_cjk) {
                self.capitals(&mut capitals);
                self.mixed(core);
            } else {
                let capital = core.chars().next().is_some_and(char::is_uppercase);
                if capital && !sentence_starts {
                    capitals.push(core.to_owned());
                } else {
                    // "The" of "The Who" may open a sentence; it belongs to a name only if one follows.
                    self.capitals(&mut capitals);
                    if capital {
                        capitals.push(core.to_owned());
                    }
                }
                self.latin(core, capital && !sentence_starts);
            }
            let ends = chunk.ends_with(['.', '!', '?', ':', ';', ',']);
            sentence_starts = chunk.ends_with(['.', '!', '?', ':']);
            if ends {
                self.capitals(&mut capitals);
            }
        }
        self.capitals(&mut capitals);
    }

    /// A run of capitalised words is a phrase; one made of common words only is also a name of its own.
    fn capitals(&mut self, run: &mut Vec<String>) {
        if run.len() > 1 {
            let name = run.join(" ");
            self.phrases.push(name.to_lowercase());
            if run.iter().all(|w| is_stop_word(&w.to_lowercase())) {
                self.add(Term::new(Kind::Name, name));
            }
        }
        run.clear();
    }

    fn latin(&mut self, core: &str, name: bool) {
        let is_plain = |c: char| c.is_alphanumeric() || c == '\'' || c == '’';
        if core.chars().all(is_plain) {
            self.word(core, name);
            return;
        }
        let lower = core.to_lowercase();
        if lower.chars().filter(|c| c.is_alphanumeric()).count() > 1 {
            self.phrases.push(lower.clone());
            self.add(Term::new(Kind::Literal, lower));
        }
        for part in core.split(|c: char| !is_plain(c)).filter(|p| p.chars().count() > 2) {
            self.word(part, name);
        }
    }

    fn word(&mut self, word: &str, name: bool) {
        let word = word.split(['\'', '’']).next().unwrap_or(word);
        let acronym = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
        let lower = word.to_lowercase();
        if is_stop_word(&lower) {
            if acronym || (name && word.chars().count() > 1) {
                self.add(Term::new(Kind::Name, word.to_owned()));
            }
            return;
        }
        let letters = lower.chars().count();
        if letters < 2 {
            return;
        }
        let mut term = Term::new(Kind::Word, lower);
        if letters > 3 && !name && !acronym && term.text.is_ascii() {
            term.root = root(&term.text);
        }
        self.add(term);
    }

    /// Text in which scripts meet, as in `tauri缓存`: each run by its own rule.
    fn mixed(&mut self, chunk: &str) {
        let mut run = String::new();
        let mut run_is_cjk = false;
        for c in chunk.chars().chain(std::iter::once(' ')) {
            let cjk = is_cjk(c);
            let part = cjk || c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
            if !run.is_empty() && (!part || cjk != run_is_cjk) {
                let done = std::mem::take(&mut run);
                if run_is_cjk {
                    self.run(&done);
                } else {
                    self.latin(done.trim_matches(|c: char| !c.is_alphanumeric()), false);
                }
            }
            if part {
                run_is_cjk = cjk;
                run.push(c);
            }
        }
    }

    fn run(&mut self, run: &str) {
        let chars: Vec<char> = run.chars().collect();
        if chars.len() > 2 {
            self.phrases.push(run.to_owned());
        }
        if let [one] = chars[..] {
            if !is_kana(one) && !STOP_HAN.contains(&one) {
                self.add(Term::new(Kind::Cjk, one.to_string()));
            }
            return;
        }
        for pair in chars.windows(2) {
            let particle = pair.iter().all(|c| is_hiragana(*c)) && chars.len() > 2;
            if !particle && !pair.iter().any(|c| STOP_HAN.contains(c)) {
                self.add(Term::new(Kind::Cjk, pair.iter().collect()));
            }
        }
    }

    fn add(&mut self, term: Term) {
        if term.root.is_empty() || !self.seen.insert(format!("{:?} {}", term.kind, term.root)) {
            return;
        }
        match term.kind {
            Kind::Name => self.names.push(term),
            Kind::Literal => self.literals.push(term),
            Kind::Word => self.words.push(term),
            Kind::Cjk => self.cjk.push(term),
        }
    }

    fn finish(mut self) -> Terms {
        if self.words.len() > TERMS {
            // Of too many words the longer ones say more; their order stays.
            let mut by_length: Vec<usize> = self.words.iter().map(|t| t.text.len()).collect();
            by_length.sort_unstable_by(|a, b| b.cmp(a));
            let shortest = by_length[TERMS - 1];
            self.words.retain(|t| t.text.len() >= shortest);
        }
        let mut terms = self.names;
        terms.truncate(4);
        terms.extend(self.literals.into_iter().take(6));
        let (words, cjk) = (self.words, self.cjk);
        let room = TERMS - terms.len();
        let for_cjk = cjk.len().min(room.saturating_sub(words.len().min(room / 2)));
        terms.extend(words.into_iter().take(room - for_cjk));
        terms.extend(cjk.into_iter().take(for_cjk));
        self.phrases.retain(|p| p.chars().count() > 2);
        self.phrases.truncate(TERMS);
        Terms { terms, phrases: self.phrases }
    }
}

/// What a word shares with its stem, so that it can be found as a substring: `memories` and `memory` meet in `memor`.
fn root(word: &str) -> String {
    let stem = Stemmer::new(Algorithm::English).stem(word).to_string();
    let mut shared: String =
        word.chars().zip(stem.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    // The stem of `memories` is `memori`; the singular is written with another letter there.
    if shared.len() > 4 && shared.ends_with('i') {
        shared.pop();
    }
    if shared.chars().count() < 3 { word.to_owned() } else { shared }
}

fn is_stop_word(lower: &str) -> bool {
    STOP_WORDS.binary_search(&lower).is_ok()
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{309F}')
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{FF66}'..='\u{FF9F}')
}

/// Scripts written without spaces between words, and Hangul, whose words carry their particles.
pub fn is_cjk(c: char) -> bool {
    is_kana(c)
        || matches!(c,
            '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
            | '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7AF}'
            | '\u{20000}'..='\u{323AF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(question: &str, kind: Kind) -> Vec<String> {
        Terms::of(question).terms.into_iter().filter(|t| t.kind == kind).map(|t| t.text).collect()
    }

    #[test]
    fn stop_words_are_in_order_for_the_binary_search() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn a_task_sentence_is_reduced_to_its_content_words() {
        let terms =
            texts("Please fix the flaky login test that we have in the api before the release", Kind::Word);
        assert_eq!(terms, ["fix", "flaky", "login", "test", "api", "release"]);
    }

    #[test]
    fn a_common_word_is_a_name_when_it_is_written_as_one() {
        assert_eq!(
            texts("ask IT and then Will about tickets of The Who", Kind::Name)[..3],
            ["IT", "Will", "The"]
        );
        assert!(texts("tickets of The Who", Kind::Name).contains(&"The Who".to_owned()));
        assert_eq!(texts("Will it work", Kind::Name), Vec::<String>::new());
        assert_eq!(texts("don't do it", Kind::Name), Vec::<String>::new());
        assert_eq!(texts("what did Don say", Kind::Name), ["Don"]);
    }

    #[test]
    fn identifiers_and_odd_characters_stay_whole_and_give_their_parts() {
        let terms = Terms::of("re-run src/main.rs after 100%_done\\now");
        let literals: Vec<_> =
            terms.terms.iter().filter(|t| t.kind == Kind::Literal).map(|t| &*t.text).collect();
        assert_eq!(literals, ["re-run", "src/main.rs", "100%_done\\now"]);
        assert!(terms.terms.iter().any(|t| t.kind == Kind::Word && t.text == "main"));
    }

    #[test]
    fn east_asian_runs_become_pairs_without_particles() {
        assert_eq!(texts("缓存目录权限", Kind::Cjk), ["缓存", "存目", "目录", "录权", "权限"]);
        assert_eq!(texts("tauri 缓存", Kind::Cjk), ["缓存"]);
        assert_eq!(texts("tauri缓存", Kind::Word), ["tauri"]);
        assert_eq!(texts("캐시를", Kind::Cjk), ["캐시", "시를"]);
        assert_eq!(texts("表示崩れ", Kind::Cjk), ["表示", "示崩", "崩れ"]);
        assert!(!texts("表示されていません", Kind::Cjk).contains(&"てい".to_owned()));
    }

    #[test]
    fn a_word_is_found_in_its_other_forms_but_a_short_one_only_whole() {
        let score = |question: &str, text: &str| Terms::of(question).score(&[1.0], "", text);
        assert!(score("migrations", "the migration failed") > 0.9);
        assert!(score("memories", "memory of the user") > 0.9);
        assert!(score("api", "rapid change") == 0.0);
        assert!(score("api", "the API is down") > 0.9);
        assert!(score("ask Don", "don't ask") < score("ask Don", "ask Don"));
    }

    #[test]
    fn what_covers_more_of_the_question_scores_higher() {
        let terms = Terms::of("postgres connection timeout");
        let w = [1.0, 1.0, 1.0];
        let all = terms.score(&w, "postgres", "the connection had a timeout");
        let one = terms.score(&w, "", "a timeout");
        assert!(all > one && one > 0.0);
    }

    #[test]
    fn a_pasted_log_does_not_become_a_thousand_terms() {
        let log = (0..5_000).fold(String::new(), |s, i| s + &format!("word{i} 缓存{i} a/b{i} "));
        assert!(Terms::of(&log).terms.len() <= 24);
    }

    proptest! {
        #[test]
        fn any_question_is_read_without_panic(question in ".{0,300}", text in ".{0,300}") {
            let terms = Terms::of(&question);
            prop_assert!(terms.terms.len() <= TERMS);
            let weights = vec![1.0; terms.terms.len()];
            let score = terms.score(&weights, "", &text);
            prop_assert!((0.0..=1.3).contains(&score));
        }
    }
}

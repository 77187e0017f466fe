//! Cuts text into comparable words: lower case, stemmed, without function words; two characters at a time in
//! scripts that are written without blanks.

use std::collections::HashSet;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));
static STOPPED: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.iter().copied().collect());

/// Content words in order, repetitions included.
pub fn content(text: &str) -> Vec<String> {
    // ASCII is its own compatibility form, and most memories are ASCII.
    if text.is_ascii() { cut(text.chars()) } else { cut(text.nfkc()) }
}

fn cut(text: impl Iterator<Item = char>) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut run: Vec<char> = Vec::new();
    let mut was_lower = false;
    for c in text {
        let dense = is_dense(c);
        // A change to upper case begins a new word, so that `refreshToken` meets "refresh token".
        let joins = c.is_alphanumeric() && !dense && !(was_lower && c.is_uppercase());
        if !joins {
            flush(&mut word, &mut words);
        }
        if dense {
            run.push(c);
        } else {
            pairs(&mut run, &mut words);
        }
        if c.is_alphanumeric() && !dense {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    flush(&mut word, &mut words);
    pairs(&mut run, &mut words);
    words
}

/// Words that only say that something is to be done: they tell little about what it is about.
pub fn is_request(word: &str) -> bool {
    const REQUESTS: &[&str] = &[
        "fix",
        "add",
        "make",
        "implement",
        "updat",
        "chang",
        "creat",
        "writ",
        "help",
        "check",
        "look",
        "tri",
        "start",
        "continu",
        "finish",
        "improv",
        "remov",
        "tell",
        "show",
        "explain",
        "investig",
        "find",
        "bug",
        "issu",
        "problem",
        "修复",
        "实现",
        "添加",
        "修改",
        "检查",
        "继续",
    ];
    REQUESTS.contains(&word)
}

/// Scripts written without blanks between words.
pub fn is_dense(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0E7F | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF
        | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn flush(word: &mut String, words: &mut Vec<String>) {
    let taken = std::mem::take(word);
    if taken.is_empty() || STOPPED.contains(taken.as_str()) {
        return;
    }
    let single = taken.chars().count() == 1 && !taken.chars().all(|c| c.is_ascii_digit());
    if !single {
        let stem = if taken.is_ascii() { STEMMER.stem(&taken).into_owned() } else { taken };
        words.push(stem);
    }
}

fn pairs(run: &mut Vec<char>, words: &mut Vec<String>) {
    match run.as_slice() {
        [] => {}
        [one] => words.push(one.to_string()),
        many => words.extend(many.windows(2).map(|pair| pair.iter().collect::<String>())),
    }
    run.clear();
}

const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "doing",
    "done", "don", "each", "for", "from", "get", "had", "has", "have", "having", "he", "her", "here", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "ll", "may", "me", "might",
    "more", "most", "my", "need", "no", "not", "now", "of", "off", "ok", "okay", "on", "one", "only", "or",
    "our", "out", "over", "own", "please", "re", "same", "she", "should", "so", "some", "such", "than",
    "thank", "thanks", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "through", "to", "too", "under", "until", "up", "us", "use", "used", "using", "ve", "very", "want",
    "was", "we", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "would",
    "yes", "you", "your", "der", "die", "das", "und", "ist", "ein", "eine", "nicht", "mit", "für", "auf",
    "le", "la", "les", "des", "un", "une", "et", "est", "dans", "pour", "que", "el", "los", "las", "una",
    "en", "con", "por", "para", "del", "across", "during", "within", "vs",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_meet_their_other_forms() {
        assert_eq!(
            content("Fixed the refreshTokens in refresh_token.rs"),
            ["fix", "refresh", "token", "refresh", "token", "rs"]
        );
        assert_eq!(content("ok, thanks, do it"), Vec::<String>::new());
        assert_eq!(content("ＨＴＴＰ２ cookies"), content("http2 cookie"));
    }

    #[test]
    fn scripts_without_blanks_are_cut_into_pairs() {
        assert_eq!(content("修复登录 bug"), ["修复", "复登", "登录", "bug"]);
        assert_eq!(content("表示崩れ"), ["表示", "示崩", "崩れ"]);
        assert_eq!(content("字"), ["字"]);
    }
}

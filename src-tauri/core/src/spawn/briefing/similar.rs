//! Tells when two memories say the same, and when a newer one replaces an older.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What of a text is compared.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Letters and digits only, lower case.
    letters: String,
    /// Content words without values.
    words: Words,
    /// Words with digits in them: numbers, versions, limits, identifiers.
    values: Words,
    /// Says that something is not so.
    negated: bool,
    /// Says that something has become different.
    changes: bool,
}

impl Shape {
    /// Reads a text; `content` are its content words.
    pub fn of(text: &str, content: &BTreeSet<String>) -> Self {
        let lower = text.to_lowercase();
        let has_digit = |w: &&String| w.chars().any(|c| c.is_ascii_digit());
        let values = content.iter().filter(has_digit).collect();
        let words = content.iter().filter(|w| !has_digit(w)).collect();
        let spoken: BTreeSet<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
        let says = |list: &[&str]| {
            list.iter().any(|w| {
                if w.is_ascii() && !w.contains(' ') { spoken.contains(w) } else { lower.contains(w) }
            })
        };
        Self { letters: letters(text), words, values, negated: says(NEGATIONS), changes: says(CHANGES) }
    }

    /// Shared words over all words, 0..=1 (Jaccard).
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    pub fn likeness(&self, other: &Self) -> f64 {
        let shared = self.words.shared(&other.words);
        let all = self.words.len() + other.words.len() - shared;
        if all == 0 { 0.0 } else { shared as f64 / all as f64 }
    }

    /// Shared words over the words of the shorter, 0..=1.
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    fn overlap(&self, other: &Self) -> f64 {
        let shared = self.words.shared(&other.words);
        let least = self.words.len().min(other.words.len());
        if least == 0 { 0.0 } else { shared as f64 / least as f64 }
    }

    /// Says what the other says: letter for letter, or in nearly the same words with the same values.
    pub fn repeats(&self, other: &Self) -> bool {
        if self.letters == other.letters {
            return true;
        }
        let same_claim = self.negated == other.negated
            && self.values.shared(&other.values) == self.values.len().min(other.values.len());
        let least = self.words.len().min(other.words.len());
        same_claim && (self.likeness(other) >= REPEATS || (least >= 5 && self.overlap(other) >= CONTAINS))
    }

    /// Replaces what the other, older one says about the same thing: much the same words, and another value, a
    /// negation or a word of change. About one `entity` of a fact store a change of a few words is enough.
    pub fn replaces(&self, older: &Self, same_entity: bool) -> bool {
        let shared = self.words.shared(&older.words);
        let overlap = self.overlap(older);
        let values =
            self.values.len() > 0 && older.values.len() > 0 && self.values.shared(&older.values) == 0;
        let differs = values || self.negated != older.negated || (self.changes && !older.changes);
        let (mine, theirs) = (self.words.len() - shared, older.words.len() - shared);
        let slot = (1..=2).contains(&mine) && (1..=2).contains(&theirs);
        if same_entity {
            (differs && shared >= 2 && overlap >= 0.5) || (slot && shared >= 2 && overlap >= 0.6)
        } else {
            differs && shared >= 3 && overlap >= 0.6
        }
    }
}

/// Letters and digits only, lower case.
pub fn letters(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A set of words as sorted hashes: each memory is compared with every other, and comparing numbers is so much faster
/// than comparing words that it decides what a briefing costs. Two words of one briefing that share a hash of 64 bits
/// are not to be expected.
#[derive(Debug, Clone, Default)]
struct Words(Vec<u64>);

impl Words {
    fn len(&self) -> usize {
        self.0.len()
    }

    /// How many words both have.
    fn shared(&self, other: &Self) -> usize {
        let (mut mine, mut theirs) = (self.0.as_slice(), other.0.as_slice());
        let mut shared = 0;
        while let ([a, rest_a @ ..], [b, rest_b @ ..]) = (mine, theirs) {
            match a.cmp(b) {
                Ordering::Less => mine = rest_a,
                Ordering::Greater => theirs = rest_b,
                Ordering::Equal => {
                    shared += 1;
                    (mine, theirs) = (rest_a, rest_b);
                }
            }
        }
        shared
    }
}

impl<'a> FromIterator<&'a String> for Words {
    fn from_iter<T: IntoIterator<Item = &'a String>>(words: T) -> Self {
        let hash = |word: &String| {
            let mut hasher = DefaultHasher::new();
            word.hash(&mut hasher);
            hasher.finish()
        };
        let mut hashes: Vec<u64> = words.into_iter().map(hash).collect();
        hashes.sort_unstable();
        Self(hashes)
    }
}

/// Likeness from which two texts say the same: one differing word in ten.
const REPEATS: f64 = 0.8;

/// Overlap from which the shorter is contained in the longer.
const CONTAINS: f64 = 0.95;

const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "without",
    "don't",
    "doesn't",
    "isn't",
    "aren't",
    "won't",
    "can't",
    "cannot",
    "nicht",
    "kein",
    "keine",
    "nie",
    "pas",
    "jamais",
    "nunca",
    "не",
    "никогда",
    "不",
    "没",
    "沒",
    "無し",
    "ない",
    "ません",
    "않",
];

const CHANGES: &[&str] = &[
    "now",
    "instead",
    "no longer",
    "switched",
    "moved",
    "migrated",
    "replaced",
    "changed",
    "renamed",
    "deprecated",
    "upgraded",
    "downgraded",
    "dropped",
    "jetzt",
    "statt",
    "nicht mehr",
    "umgestellt",
    "désormais",
    "remplacé",
    "ahora",
    "ya no",
    "改为",
    "改成",
    "改用",
    "不再",
    "换成",
    "迁移到",
    "変更",
    "廃止",
    "移行",
    "теперь",
    "больше не",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::briefing::words;

    fn shape(text: &str) -> Shape {
        Shape::of(text, &words::content(text).into_iter().collect())
    }

    fn repeats(a: &str, b: &str) -> bool {
        shape(a).repeats(&shape(b))
    }

    fn replaces(newer: &str, older: &str, same_entity: bool) -> bool {
        shape(newer).replaces(&shape(older), same_entity)
    }

    #[test]
    fn the_same_statement_is_recognised_in_other_dress() {
        assert!(repeats("Tokens live 15 minutes.", "tokens live 15 minutes"));
        assert!(repeats(
            "The login cookie is set with SameSite=Lax on the callback route",
            "On the callback route the login cookie is set with SameSite=Lax."
        ));
        assert!(repeats(
            "Login cookie uses SameSite Lax on callback",
            "We found that the login cookie uses SameSite Lax on callback since the provider redirects"
        ));
        assert!(repeats("启动器缓存目录权限错误已修复", "启动器缓存目录权限错误已修复。"));
    }

    #[test]
    fn another_value_or_a_negation_is_another_statement() {
        assert!(!repeats("Access tokens live 15 minutes", "Access tokens live 30 minutes"));
        assert!(!repeats("Logins are retried after a timeout", "Logins are not retried after a timeout"));
        assert!(!repeats("fix the login bug", "fix the logout bug"));
    }

    #[test]
    fn a_newer_statement_about_the_same_thing_replaces_the_older() {
        assert!(replaces("Access tokens live 30 minutes", "Access tokens live 15 minutes", true));
        assert!(replaces(
            "Access tokens now live 30 minutes in all services",
            "Access tokens live 15 minutes",
            false
        ));
        assert!(replaces("Sessions are stored in Redis", "Sessions are stored in PostgreSQL", true));
        assert!(replaces("The API no longer accepts XML bodies", "The API accepts XML bodies", false));
        assert!(replaces("会话不再存储在数据库", "会话存储在数据库", false));
    }

    #[test]
    fn different_things_do_not_replace_one_another() {
        assert!(!replaces("run the tests in web", "run the tests in api", false));
        assert!(!replaces("Access tokens live 30 minutes", "Images are cached 15 minutes", true));
        assert!(!replaces("Build takes 40 s", "The upload limit is 10 MB", true));
    }
}

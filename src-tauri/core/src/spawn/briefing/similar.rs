//! Tells when two memories say the same, and when a newer one replaces an older.

use std::collections::BTreeSet;

use super::words;

/// What of a text is compared.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Letters and digits only, lower case.
    letters: String,
    /// Stemmed content words without values.
    pub words: BTreeSet<String>,
    /// Words with digits in them: numbers, versions, limits, identifiers.
    values: BTreeSet<String>,
    /// Says that something is not so.
    negated: bool,
    /// Says that something has become different.
    changes: bool,
}

impl Shape {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let (values, words) =
            words::content(text).into_iter().partition(|w| w.chars().any(|c| c.is_ascii_digit()));
        let says = |list: &[&str]| {
            let spoken = |w: &str| lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|x| x == w);
            list.iter().any(|w| if w.is_ascii() && !w.contains(' ') { spoken(w) } else { lower.contains(w) })
        };
        Self {
            letters: lower.chars().filter(|c| c.is_alphanumeric()).collect(),
            words,
            values,
            negated: says(NEGATIONS),
            changes: says(CHANGES),
        }
    }

    /// Shared words over all words, 0..=1 (Jaccard).
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    pub fn likeness(&self, other: &Self) -> f64 {
        let shared = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - shared;
        if all == 0 { 0.0 } else { shared as f64 / all as f64 }
    }

    /// Shared words over the words of the shorter, 0..=1.
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    fn overlap(&self, other: &Self) -> f64 {
        let shared = self.words.intersection(&other.words).count();
        let least = self.words.len().min(other.words.len());
        if least == 0 { 0.0 } else { shared as f64 / least as f64 }
    }

    /// Says what the other says: letter for letter, or in nearly the same words with the same values.
    pub fn repeats(&self, other: &Self) -> bool {
        if self.letters == other.letters {
            return true;
        }
        let same_claim = self.negated == other.negated
            && (self.values.is_subset(&other.values) || other.values.is_subset(&self.values));
        let least = self.words.len().min(other.words.len());
        same_claim && (self.likeness(other) >= REPEATS || (least >= 5 && self.overlap(other) >= CONTAINS))
    }

    /// Replaces what the other, older one says about the same thing: much the same words, and another value, a
    /// negation or a word of change. About one `entity` of a fact store a change of a few words is enough.
    pub fn replaces(&self, older: &Self, same_entity: bool) -> bool {
        let shared = self.words.intersection(&older.words).count();
        let overlap = self.overlap(older);
        let values =
            !self.values.is_empty() && !older.values.is_empty() && self.values.is_disjoint(&older.values);
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

    fn repeats(a: &str, b: &str) -> bool {
        Shape::of(a).repeats(&Shape::of(b))
    }

    fn replaces(newer: &str, older: &str, same_entity: bool) -> bool {
        Shape::of(newer).replaces(&Shape::of(older), same_entity)
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

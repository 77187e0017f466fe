//! Gives every memory one relevance in 0..=1, whatever store it comes from.
//!
//! Scores of different stores are not comparable, and ranks are no better: fusing ranks with equal weights lets a
//! weak store's noise stand beside a good store's best (LoCoMo, recall@5: BM25 alone .531, with a weaker semantic
//! ranking by reciprocal rank .485, by scores .565). So a store's score counts only as far as the store has shown,
//! on this very question, that it found the words asked for:
//!
//! ```text
//! coverage(m)  = Σ w(t) over question words t in m / Σ w(t) over the question's twelve heaviest words, 1 at most
//! native(m)    = score(m) / highest score of its store          (shifted where scores are negative)
//! trust(store) = mean coverage of the store's three best memories, by native score
//! relevance(m) = (0.6 · coverage + 0.4 · native · trust) · 0.4^drops(m)
//! score(m)     = relevance · (0.60 + 0.22 · project + 0.10 · recency + 0.05 · importance + 0.03 · speaker)
//! ```
//!
//! `w(t)` is the word's inverse document frequency among all candidates, damped by a background of
//! [`BACKGROUND`] imagined memories without it, so that a pool of three does not make every word common; words that
//! only ask for something ("fix", "bug") count a quarter. Recency, project, importance and speaker multiply, so none
//! of them can make something irrelevant relevant. What is relevant enough to be said is decided in [`admit`].

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::admit::{Asking, admit};
use super::words;
use crate::project::Project;
use crate::source::{Snippet, Speaker};

/// Imagined memories that contain none of the question's words.
const BACKGROUND: f64 = 30.0;

/// Weight of words that only ask for something, relative to others.
const REQUEST: f64 = 0.25;

/// How many words of a question can be asked for at once: a memory that carries as much as the question's heaviest so
/// many covers it. A pasted log has hundreds of words; no memory carries most of them.
/// With 9 KB of log before each question of DevMemBench, evidence in 2000 tokens is .780 instead of .083.
const ASKED: usize = 12;

/// What each time the user dropped a memory leaves of its relevance. Dropped once it needs two and a half times the
/// relevance of others to be said; dropped three times, even one that answers the whole question is below the floor.
const DROPPED: f64 = 0.4;

/// Days after which recency is halved: what was said in a session ages faster than a fact somebody recorded.
const HALF_LIFE_SAID: f64 = 30.0;
const HALF_LIFE_FACT: f64 = 180.0;

/// The words of a question and what each tells.
#[derive(Debug, Clone, Default)]
pub struct Query {
    weights: BTreeMap<String, f64>,
    total: f64,
    /// Words that some memory has.
    known: usize,
    /// Words that at least half of the memories have, those that only ask for something excepted.
    shared: Vec<String>,
}

impl Query {
    /// Weighs the words of `text` by how rare they are among the candidates' words.
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    pub fn new(text: &str, candidates: &[BTreeSet<String>]) -> Self {
        let pool = candidates.len() as f64 + BACKGROUND;
        let mut query = Self::default();
        let words: BTreeSet<String> = words::content(&without_paths(text)).into_iter().collect();
        for word in words {
            let having = candidates.iter().filter(|c| c.contains(&word)).count();
            let df = having as f64;
            let idf = (1.0 + (pool - df + 0.5) / (df + 0.5)).ln();
            let request = words::is_request(&word);
            let told = if request { REQUEST } else { 1.0 };
            // A word no store knows says little about which of its memories matter.
            let known = if having == 0 { 0.5 } else { 1.0 };
            query.known += usize::from(having > 0);
            if having > 0 && having * 2 >= candidates.len() && !request {
                query.shared.push(word.clone());
            }
            query.weights.insert(word, idf * told * known);
        }
        let mut heaviest: Vec<f64> = query.weights.values().copied().collect();
        heaviest.sort_by(|a, b| b.total_cmp(a));
        query.total = heaviest.iter().take(ASKED).sum();
        query
    }

    /// Share of the question's weight that these words carry, 0..=1, and how many of its words they are.
    pub fn coverage(&self, words: &BTreeSet<String>) -> (f64, usize) {
        let met: Vec<f64> =
            self.weights.iter().filter(|(w, _)| words.contains(*w)).map(|(_, n)| *n).collect();
        let share = if self.total > 0.0 { met.iter().sum::<f64>() / self.total } else { 0.0 };
        (share.min(1.0), met.len())
    }

    /// Share of the question's words that some memory has, 0..=1.
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    pub fn known_share(&self) -> f64 {
        self.known as f64 / self.weights.len().max(1) as f64
    }

    /// Words that at least half of the memories have: those for which the stores have selected them.
    pub fn shared(&self) -> Vec<&str> {
        self.shared.iter().map(String::as_str).collect()
    }

    /// Asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Is written in a script without blanks.
    pub fn is_dense(&self) -> bool {
        self.weights.keys().any(|w| w.chars().any(words::is_dense))
    }

    /// Weight of the question's words in a text.
    pub fn weigh(&self, text: &str) -> f64 {
        let words: BTreeSet<String> = words::content(text).into_iter().collect();
        self.coverage(&words).0
    }
}

/// A path in the question says where, not what: only its last step is a word.
fn without_paths(text: &str) -> String {
    let word = |w: &str| {
        let is_path = w.starts_with(['/', '~', '.']) && w.contains('/');
        if is_path {
            w.trim_end_matches('/').rsplit('/').next().unwrap_or("").to_owned()
        } else {
            w.to_owned()
        }
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// How relevant a memory is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fused {
    /// Relevance to the question alone.
    pub relevance: f64,
    /// Relevance with project, recency, importance and speaker: the order in which memories are chosen.
    pub score: f64,
    /// Relevant enough to be said at all.
    pub passes: bool,
}

/// How closely a memory belongs to where the agent will work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Affinity {
    /// Same project.
    Same,
    /// The store does not say.
    Unknown,
    /// Another project.
    Other,
}

/// Compares by identity where the store knows paths, else by name.
pub fn affinity(of: Option<&str>, project: &Project) -> Affinity {
    let Some(of) = of.map(str::trim).filter(|p| !p.is_empty()) else { return Affinity::Unknown };
    let same = if of.contains('/') {
        let of = std::path::Path::new(of);
        of.starts_with(&project.id) || project.worktree.as_ref().is_some_and(|top| of.starts_with(top))
    } else {
        of.to_lowercase() == project.name.to_lowercase()
    };
    if same { Affinity::Same } else { Affinity::Other }
}

/// What a memory is worth by its words alone, 0..=1: where no store's answer vouches for it.
pub fn alone(
    query: &Query,
    snippet: &Snippet,
    words: &BTreeSet<String>,
    project: &Project,
    now: DateTime<Utc>,
) -> f64 {
    let affinity = affinity(snippet.project.as_deref(), project);
    0.6 * query.coverage(words).0 * features(snippet, affinity, now)
}

/// Fuses all candidates. `words[i]` are the content words of `snippets[i]`, its title included; `drops[i]` is how often
/// the user dropped it.
pub fn fuse(
    query: &Query,
    snippets: &[&Snippet],
    words: &[BTreeSet<String>],
    drops: &[u32],
    project: &Project,
    now: DateTime<Utc>,
) -> Vec<Fused> {
    let native = native(snippets);
    let covered: Vec<(f64, usize)> = words.iter().map(|w| query.coverage(w)).collect();
    let trust = trust(snippets, &native, &covered);
    let mut asking = Vec::with_capacity(snippets.len());
    let mut fused = Vec::with_capacity(snippets.len());
    let drops = drops.iter().copied().chain(std::iter::repeat(0));
    let all = snippets.iter().zip(words).zip(native).zip(covered).zip(drops);
    for ((((snippet, words), native), (coverage, met)), drops) in all {
        let trusted = native * trust.get(snippet.source.as_str()).copied().unwrap_or(0.0);
        let left = DROPPED.powi(i32::try_from(drops).unwrap_or(i32::MAX));
        let relevance = (0.6 * coverage + 0.4 * trusted) * left;
        let affinity = affinity(snippet.project.as_deref(), project);
        let score = relevance * features(snippet, affinity, now);
        fused.push(Fused { relevance, score, passes: false });
        asking.push(Asking { snippet, words, coverage, met, native, trusted, affinity, dropped: drops > 0 });
    }
    admit(query, &asking, &mut fused);
    fused
}

/// What a memory is worth beside its relevance, 0.60..=1.
fn features(snippet: &Snippet, affinity: Affinity, now: DateTime<Utc>) -> f64 {
    let project = match affinity {
        Affinity::Same => 1.0,
        Affinity::Unknown => 0.6,
        Affinity::Other => 0.0,
    };
    let speaker = match snippet.speaker {
        Speaker::User => 1.0,
        Speaker::Store => 0.7,
        Speaker::Agent => 0.3,
    };
    let importance = snippet.importance.filter(|i| i.is_finite()).map_or(0.5, f64::from).clamp(0.0, 1.0);
    0.60 + 0.22 * project + 0.10 * recency(snippet, now) + 0.05 * importance + 0.03 * speaker
}

/// 2^(−age / half-life); half for what bears no date.
#[expect(clippy::cast_precision_loss, reason = "days")]
fn recency(snippet: &Snippet, now: DateTime<Utc>) -> f64 {
    let half_life = if snippet.speaker == Speaker::Store { HALF_LIFE_FACT } else { HALF_LIFE_SAID };
    snippet.at.map_or(0.5, |at| {
        let days = (now - at).num_hours().max(0) as f64 / 24.0;
        (-days / half_life).exp2()
    })
}

/// Scores as shares of their store's highest.
fn native(snippets: &[&Snippet]) -> Vec<f64> {
    let mut range: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let finite = |s: &Snippet| if s.score.is_finite() { f64::from(s.score) } else { 0.0 };
    for snippet in snippets {
        let (low, high) = range.entry(snippet.source.as_str()).or_insert((0.0, f64::MIN));
        *low = low.min(finite(snippet));
        *high = high.max(finite(snippet));
    }
    snippets
        .iter()
        .map(|s| {
            let (low, high) = range.get(s.source.as_str()).copied().unwrap_or((0.0, 1.0));
            // A store that gives no scores says by their absence that all are alike.
            if high > low { (finite(s) - low) / (high - low) } else { 1.0 }
        })
        .collect()
}

/// Mean coverage of each store's three best.
fn trust<'a>(snippets: &[&'a Snippet], native: &[f64], covered: &[(f64, usize)]) -> BTreeMap<&'a str, f64> {
    let mut best: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for ((snippet, native), (coverage, _)) in snippets.iter().zip(native).zip(covered) {
        best.entry(snippet.source.as_str()).or_default().push((*native, *coverage));
    }
    best.into_iter()
        .map(|(source, mut all)| {
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
            all.truncate(3);
            let coverages = all.iter().map(|(_, c)| c);
            let count = u32::try_from(all.len()).unwrap_or(1).max(1);
            (source, coverages.sum::<f64>() / f64::from(count))
        })
        .collect()
}

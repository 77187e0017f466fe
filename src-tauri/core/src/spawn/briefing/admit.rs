//! Decides which memories have enough to do with the question to be said at all.
//!
//! Four doors, the first for what answers, the others narrow; in all others silence is the better answer:
//!
//! 1. **Plain**: relevance at least [`FLOOR`] and [`BESIDE`] of the best memory's, and more than one faint word.
//! 2. **Broad questions** ("which bugs were fixed?") are answered by many memories that each carry one of their
//!    words. Where the stores know [`KNOWN`] of the question's words, [`SPREAD`] conversations that are not heard yet
//!    may say one line each. A question that names what no store knows asks for something else, and gets none.
//! 3. **A word everybody shares** ("compare the login everywhere"): a pool that was selected because of a word makes
//!    it look common. Where nothing passes otherwise, [`SHARED`] memories with a word of half the pool do.
//! 4. **Meaning**: a store that searches by meaning finds what shares no word with the question. Only such a store
//!    returns mostly memories without any, and of those only what stands out from its own answer by [`GAP`] of the
//!    range of its scores is said, [`BY_MEANING`] lines at most. Cosines have no scale that would hold between models,
//!    so no absolute score counts. In a script that the store's memories do not use words cannot meet: then its best
//!    are said without that gap, but only where nothing else passes.
//!
//! Measured with `examples/fusion` on DevMemBench; the figures stand at the constants.

use std::collections::{BTreeMap, BTreeSet};

use super::fuse::{Affinity, Fused, Query};
use super::words;
use crate::source::Snippet;

/// Relevance below which a memory stays out; and for memories of another project, which must have more to do with
/// the question than the same words. Against 0.16, evidence in 500 tokens rises from .857 to .890 and unanswerable
/// questions get 2.3 lines instead of 2.2; 0.10 gives .893 and 3.1 lines.
const FLOOR: f64 = 0.12;
const FLOOR_ELSEWHERE: f64 = 0.30;

/// Share of the best memory's relevance that another must have: precision .31 → .34 without loss of evidence.
const BESIDE: f64 = 0.3;

/// A single shared word is enough only when it carries this much of the question.
const ONE_WORD: f64 = 0.22;

/// Without the question's words a memory needs this much of its own store's word for it.
const ON_TRUST: f64 = 0.35;

/// Share of the question's words that the stores must know before one of them is enough. This door raises evidence in
/// 1000 tokens from .896 to .935 and in 2000 from .896 to .941, for 0.4 lines more on unanswerable questions; open to
/// every question it would cost them two lines.
const KNOWN: f64 = 0.66;

/// Lines for broad questions, and the relevance they still need.
const SPREAD: usize = 6;
const FLOOR_SPREAD: f64 = 0.06;

/// Lines for a word that at least half of the pool shares. Weighing words that no store knows no more than those known
/// lets the same memories in, and 1.3 lines more on unanswerable questions.
const SHARED: usize = 3;

/// Lines on a store's word alone; how many hits an answer must have to have a tail; the gap to that tail, as a share of
/// the range of scores. With cosine-like noise 0.5 / 0.4 / 0.33 say 0.15 / 0.30 / 0.43 lines where nothing is meant, and
/// find .54 / .70 / .75 of what lies four standard deviations above the noise.
const BY_MEANING: usize = 2;
const TAIL: usize = 6;
const GAP: f64 = 0.4;

/// What is known of a memory when it asks to be let in.
pub struct Asking<'a> {
    /// The memory itself.
    pub snippet: &'a Snippet,
    /// Its content words.
    pub words: &'a BTreeSet<String>,
    /// Share of the question it covers, 0..=1.
    pub coverage: f64,
    /// How many of the question's words it has.
    pub met: usize,
    /// Its score as a share of its store's highest, 0..=1.
    pub native: f64,
    /// The same, times what the store has shown on this question.
    pub trusted: f64,
    /// Where it belongs.
    pub affinity: Affinity,
    /// The user dropped it before: only the plain door is open to it.
    pub dropped: bool,
}

/// Sets `passes` of every memory.
pub fn admit(query: &Query, asking: &[Asking<'_>], fused: &mut [Fused]) {
    let best = fused.iter().map(|f| f.relevance).fold(0.0, f64::max);
    for (this, fused) in asking.iter().zip(fused.iter_mut()) {
        let floor = if this.affinity == Affinity::Other { FLOOR_ELSEWHERE } else { FLOOR };
        let told = this.met >= 2 || this.coverage >= ONE_WORD || this.trusted >= ON_TRUST;
        fused.passes = told && fused.relevance >= floor.max(BESIDE * best);
    }
    let silent = |fused: &[Fused]| !fused.iter().any(|f| f.passes);
    if query.known_share() >= KNOWN {
        spread(asking, fused, SPREAD, &|this| this.met > 0);
    } else if silent(fused) {
        let shared = query.shared();
        spread(asking, fused, SHARED, &|this| shared.iter().any(|w| this.words.contains(*w)));
    }
    let nothing_else = silent(fused);
    by_meaning(query, asking, fused, nothing_else);
}

/// One line from each conversation that is not heard yet, the best first.
fn spread(asking: &[Asking<'_>], fused: &mut [Fused], lines: usize, fits: &dyn Fn(&Asking<'_>) -> bool) {
    let conversation = |s: &Snippet| s.session.clone().unwrap_or_else(|| format!("{}\n{}", s.source, s.id));
    let mut heard: BTreeSet<String> = asking
        .iter()
        .zip(fused.iter())
        .filter(|(_, f)| f.passes)
        .map(|(a, _)| conversation(a.snippet))
        .collect();
    let mut left = lines;
    for place in in_order(fused, asking) {
        let (Some(this), Some(fused)) = (asking.get(place), fused.get_mut(place)) else { continue };
        if left == 0 {
            break;
        }
        let fit = !this.dropped
            && this.affinity != Affinity::Other
            && fused.relevance >= FLOOR_SPREAD
            && fits(this);
        if fit && !fused.passes && heard.insert(conversation(this.snippet)) {
            fused.passes = true;
            left -= 1;
        }
    }
}

/// What stands out in the answer of a store that searches by meaning.
fn by_meaning(query: &Query, asking: &[Asking<'_>], fused: &mut [Fused], nothing_else: bool) {
    let mut stores: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, this) in asking.iter().enumerate() {
        stores.entry(this.snippet.source.as_str()).or_default().push(place);
    }
    let mut chosen: Vec<usize> = Vec::new();
    for mut answer in stores.into_values() {
        let of = |place: &usize| asking.get(*place);
        let wordless = answer.iter().filter_map(of).filter(|a| a.met == 0).count();
        if query.is_empty() || wordless * 2 < answer.len() {
            continue;
        }
        answer.sort_by(|a, b| {
            let native = |p: &usize| of(p).map_or(0.0, |a| a.native);
            native(b).total_cmp(&native(a)).then_with(|| id(asking, *a).cmp(&id(asking, *b)))
        });
        let foreign = query.is_dense() && !answer.iter().filter_map(of).any(|a| dense(a.words));
        let standing = standing_out(asking, &answer);
        let standing = if standing == 0 && foreign && nothing_else { BY_MEANING } else { standing };
        let here = |p: &usize| of(p).is_some_and(|a| a.affinity != Affinity::Other && !a.dropped);
        chosen.extend(answer.into_iter().take(standing).filter(here));
    }
    chosen.sort_by(|&a, &b| {
        let native = |p: usize| asking.get(p).map_or(0.0, |a| a.native);
        native(b).total_cmp(&native(a)).then_with(|| id(asking, a).cmp(&id(asking, b)))
    });
    for place in chosen.into_iter().take(BY_MEANING) {
        if let Some(fused) = fused.get_mut(place) {
            fused.passes = true;
        }
    }
}

/// How many of an answer's first stand apart from the rest of it: nought where there is no gap.
fn standing_out(asking: &[Asking<'_>], answer: &[usize]) -> usize {
    if answer.len() < TAIL {
        return 0;
    }
    let native: Vec<f64> = answer.iter().filter_map(|&p| asking.get(p)).map(|a| a.native).collect();
    let range = native.first().unwrap_or(&0.0) - native.last().unwrap_or(&0.0);
    let gap = |n: &usize| native.get(n - 1).zip(native.get(*n)).map_or(0.0, |(upper, lower)| upper - lower);
    (1..=BY_MEANING).find(|n| range > 0.0 && gap(n) >= GAP * range).unwrap_or(0)
}

fn in_order(fused: &[Fused], asking: &[Asking<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..fused.len()).collect();
    let relevance = |p: usize| fused.get(p).map_or(0.0, |f| f.relevance);
    order.sort_by(|&a, &b| {
        relevance(b).total_cmp(&relevance(a)).then_with(|| id(asking, a).cmp(&id(asking, b)))
    });
    order
}

fn id<'a>(asking: &[Asking<'a>], place: usize) -> Option<(&'a str, &'a str)> {
    asking.get(place).map(|a| (a.snippet.source.as_str(), a.snippet.id.as_str()))
}

fn dense(words: &BTreeSet<String>) -> bool {
    words.iter().any(|w| w.chars().any(words::is_dense))
}

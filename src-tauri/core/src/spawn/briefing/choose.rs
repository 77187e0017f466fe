//! Chooses which memories are delivered: no repetition, the newest of conflicting statements, a mix of sessions,
//! within the budget.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::render::Section;
use super::{Candidate, Verdict, Written};
use crate::source::Speaker;
use crate::spawn::passed::LeftOut;

/// How much likeness to what is already chosen lowers a memory (maximal marginal relevance, Carbonell & Goldstein
/// 1998, as a factor instead of a difference, so that the order does not depend on the scale of scores).
const LIKENESS: f64 = 0.6;

/// What each line already chosen from the same session leaves to the next one.
const SAME_SESSION: f64 = 0.85;

/// Superseded statements that are named, so that the agent knows them when it meets them elsewhere.
const SUPERSEDED: usize = 3;

/// Orders places by score; ties by where a memory comes from, so that the order never depends on chance.
pub fn better(candidates: &[Candidate<'_>], a: usize, b: usize) -> Ordering {
    let (Some(x), Some(y)) = (candidates.get(a), candidates.get(b)) else { return a.cmp(&b) };
    y.score
        .total_cmp(&x.score)
        .then_with(|| (&x.snippet.source, &x.snippet.id).cmp(&(&y.snippet.source, &y.snippet.id)))
        .then(a.cmp(&b))
}

/// Of memories that say the same keeps one: the pinned, then one that was not dropped, then the newer, then the one a store keeps as fact, then the better scored.
/// It takes over the best score among them.
pub fn drop_repetitions(candidates: &mut [Candidate<'_>]) {
    let mut order: Vec<usize> = open(candidates);
    order.sort_by(|&a, &b| {
        let (Some(x), Some(y)) = (candidates.get(a), candidates.get(b)) else { return a.cmp(&b) };
        let fact = |c: &Candidate<'_>| c.snippet.speaker == Speaker::Store;
        let dropped = |c: &Candidate<'_>| matches!(c.verdict, Some(Verdict::Dropped { .. }));
        let wanted = y.pinned().cmp(&x.pinned()).then(dropped(x).cmp(&dropped(y)));
        wanted
            .then(y.snippet.at.cmp(&x.snippet.at))
            .then(fact(y).cmp(&fact(x)))
            .then_with(|| better(candidates, a, b))
    });
    let mut kept: Vec<usize> = Vec::new();
    for place in order {
        let Some(this) = candidates.get(place) else { continue };
        let same =
            kept.iter().copied().find(|&k| candidates.get(k).is_some_and(|k| this.shape.repeats(&k.shape)));
        let score = this.score;
        match same.and_then(|k| Some((k, candidates.get_mut(k)?))) {
            Some((kept, keeper)) => {
                keeper.score = keeper.score.max(score);
                if let Some(this) = candidates.get_mut(place) {
                    this.left_out = Some(LeftOut::Duplicate);
                    this.same_as = Some(kept);
                }
            }
            None => kept.push(place),
        }
    }
}

/// Marks older statements that a newer one about the same thing replaces. The newer one takes over the older one's
/// score where that is higher: who asks about the old value must get the new one. A newer statement counts even
/// where it would not have been relevant enough by itself. One that the user does not want said replaces older ones
/// all the same, so that nothing outdated comes back in its place; only what is pinned stays.
pub fn mark_superseded(candidates: &mut [Candidate<'_>]) {
    let mut order: Vec<usize> = (0..candidates.len())
        .filter(|&p| {
            candidates
                .get(p)
                .is_some_and(|c| matches!(c.left_out, None | Some(LeftOut::Irrelevant)) || c.marked_out())
        })
        .collect();
    order.retain(|&p| candidates.get(p).is_some_and(|c| c.snippet.at.is_some() && !c.text.is_empty()));
    order.sort_by(|&a, &b| {
        let at = |p: usize| candidates.get(p).and_then(|c| c.snippet.at);
        at(b).cmp(&at(a)).then_with(|| better(candidates, a, b))
    });
    for (n, &older) in order.iter().enumerate() {
        let newest = order.iter().take(n).copied().find(|&newer| {
            matches!((candidates.get(newer), candidates.get(older)), (Some(new), Some(old)) if replaces(new, old))
        });
        let Some(newer) = newest else { continue };
        let relevant = candidates.get(older).is_some_and(|c| c.left_out.is_none());
        let first = candidates.get(older).is_some_and(|c| c.first);
        let (date, score) = candidates.get(older).map_or((None, 0.0), |c| (c.snippet.at, c.score));
        let mut newer_date = None;
        if let Some(new) = candidates.get_mut(newer) {
            newer_date = new.snippet.at;
            if relevant && !new.marked_out() {
                new.left_out = None;
                new.first |= first;
                new.score = new.score.max(score);
                new.supersedes = new.supersedes.or(date);
            }
        }
        if let Some(old) = candidates.get_mut(older).filter(|_| relevant) {
            old.left_out = Some(LeftOut::Superseded);
            old.supersedes = newer_date;
            old.superseded_by = Some(newer);
        }
    }
}

fn replaces(newer: &Candidate<'_>, older: &Candidate<'_>) -> bool {
    if newer.superseded_by.is_some() || newer.snippet.at <= older.snippet.at {
        return false;
    }
    if newer.marked_out() && older.pinned() {
        return false;
    }
    if newer.snippet.project != older.snippet.project
        && newer.snippet.project.is_some()
        && older.snippet.project.is_some()
    {
        return false;
    }
    let facts = newer.snippet.speaker == Speaker::Store && older.snippet.speaker == Speaker::Store;
    let titled = !newer.title.is_empty() && !older.title.is_empty();
    let same_title = titled && newer.title.to_lowercase() == older.title.to_lowercase();
    if facts && titled && !same_title {
        return false;
    }
    newer.shape.replaces(&older.shape, facts && same_title)
}

/// Chooses lines until `room` tokens are spent, what is pinned first, and returns their places in the order of the document: sections in
/// their order, within one the lines of a conversation together and in the order of time, the best conversation first.
pub fn within(candidates: &mut [Candidate<'_>], written: &[Written], room: usize) -> Vec<usize> {
    let mut spend = Spending { room, headings: Vec::new() };
    let mut chosen: Vec<usize> = Vec::new();
    let mut rest = open(candidates);
    let mut sessions: BTreeMap<&str, i32> = BTreeMap::new();
    // Of each, to the one of those chosen that it is most like.
    let mut likeness = vec![0.0_f64; candidates.len()];
    while !rest.is_empty() {
        let worth = |place: usize| {
            let Some(this) = candidates.get(place) else { return 0.0 };
            let likeness = likeness.get(place).copied().unwrap_or(0.0);
            let heard = this.snippet.session.as_deref().and_then(|s| sessions.get(s)).copied().unwrap_or(0);
            this.score * (1.0 - LIKENESS * likeness) * SAME_SESSION.powi(heard)
        };
        let Some(best) = rest.iter().copied().min_by(|&a, &b| {
            let first = |p: usize| candidates.get(p).is_some_and(|c| c.first);
            first(b)
                .cmp(&first(a))
                .then_with(|| worth(b).total_cmp(&worth(a)))
                .then_with(|| better(candidates, a, b))
        }) else {
            break;
        };
        rest.retain(|&place| place != best);
        if !written.get(best).is_some_and(|line| spend.take(line)) {
            continue;
        }
        chosen.push(best);
        let Some(taken) = candidates.get(best) else { continue };
        for (this, most) in candidates.iter().zip(&mut likeness) {
            *most = most.max(this.shape.likeness(&taken.shape));
        }
        if let Some(session) = taken.snippet.session.as_deref() {
            *sessions.entry(session).or_default() += 1;
        }
    }
    drop(sessions);
    let mut replaced: Vec<usize> = (0..candidates.len())
        .filter(|&p| {
            candidates.get(p).and_then(|c| c.superseded_by).is_some_and(|newer| chosen.contains(&newer))
        })
        .collect();
    replaced.sort_by(|&a, &b| {
        let pinned = |p: usize| candidates.get(p).is_some_and(Candidate::pinned);
        pinned(b).cmp(&pinned(a)).then_with(|| better(candidates, a, b))
    });
    let named: Vec<usize> = replaced
        .into_iter()
        .filter(|&p| written.get(p).is_some_and(|line| spend.take(line)))
        .take(SUPERSEDED)
        .collect();
    for place in open(candidates) {
        if let Some(left) = candidates.get_mut(place).filter(|_| !chosen.contains(&place)) {
            left.left_out = Some(LeftOut::OverBudget);
        }
    }
    for &place in &named {
        if let Some(shown) = candidates.get_mut(place) {
            shown.left_out = None;
        }
    }
    chosen.extend(named);
    in_document_order(candidates, written, chosen)
}

/// Tokens still to be spent, and the headings already paid for.
struct Spending {
    room: usize,
    headings: Vec<Section>,
}

impl Spending {
    /// Pays for a line, with its heading where it is the first of its section.
    fn take(&mut self, line: &Written) -> bool {
        let first = !self.headings.contains(&line.section);
        let heading = if first { super::estimate_tokens(line.section.heading()) } else { 0 };
        let Some(left) = self.room.checked_sub(line.tokens + heading) else { return false };
        self.room = left;
        if first {
            self.headings.push(line.section);
        }
        true
    }
}

fn in_document_order(candidates: &[Candidate<'_>], written: &[Written], chosen: Vec<usize>) -> Vec<usize> {
    // A conversation stands where its best line would stand.
    let mut conversations: BTreeMap<(Section, &str), usize> = BTreeMap::new();
    let mut keyed: Vec<(Section, usize, usize)> = Vec::new();
    for (rank, place) in chosen.into_iter().enumerate() {
        let (Some(candidate), Some(line)) = (candidates.get(place), written.get(place)) else { continue };
        let group = match candidate.snippet.session.as_deref() {
            Some(session) => *conversations.entry((line.section, session)).or_insert(rank),
            None => rank,
        };
        keyed.push((line.section, group, place));
    }
    keyed.sort_by(|a, b| {
        let at = |place: usize| candidates.get(place).and_then(|c| c.snippet.at);
        (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| at(a.2).cmp(&at(b.2))).then(a.2.cmp(&b.2))
    });
    keyed.into_iter().map(|(_, _, place)| place).collect()
}

fn open(candidates: &[Candidate<'_>]) -> Vec<usize> {
    candidates.iter().enumerate().filter(|(_, c)| c.left_out.is_none()).map(|(place, _)| place).collect()
}

//! Finds the messages that answer a question.
//!
//! Evidence is gathered on two scales, because an answer is rarely in the one line that repeats the question: the
//! whole unit (what a session said in one project) scored by BM25 (Robertson and Zaragoza 2009), and its best window
//! of three neighbouring messages. On top of that: words the question puts side by side and the text does too;
//! words with the same beginning where the very word is missing; and, weakly, words that the best windows bring in
//! (after Lavrenko and Croft 2001). Weights were set on LoCoMo and checked on DevMemBench; `examples/eval.rs` measures both.

mod texts;

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, TantivyDocument, Term};

use crate::document::{Kind, Message};
use crate::layout::{GONE, Layout};
use crate::store::{Error, Index};
use crate::terms::{Cutter, query_terms};
use texts::Texts;

const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Weight of the best window beside the unit.
const WINDOW: f32 = 0.4;
/// Weight of words that stand side by side in the question and in the text.
const SIDE_BY_SIDE: f32 = 0.6;
/// Weight of a word with the same beginning, where the word itself is missing.
const SAME_BEGINNING: f32 = 0.3;
/// Weight of words that the best windows bring in, of which there are at most [`BROUGHT_IN`].
const EXPANSION: f32 = 0.1;
const BROUGHT_IN: usize = 20;
/// Windows that may bring words in.
const BRINGING: usize = 10;
/// Units looked at closely.
const CLOSELY: usize = 40;
/// Terms of a question, rarest first; the rest of a long one adds little.
const ASKED: usize = 32;
/// Occurrences walked through for one question. Frequent words beyond it carry little and are left out.
const WALKED: u64 = 400_000;
/// Factor by which messages of the time a question speaks of are preferred.
const IN_TIME: f32 = 1.5;
/// Messages of one unit among the hits.
const PER_UNIT: usize = 3;

/// A question.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// In any words; nothing in it is syntax.
    pub text: &'a str,
    /// A project whose messages are preferred.
    pub project: Option<&'a str>,
    /// Factor by which they are preferred; 1 is none.
    pub preference: f32,
    /// First and last millisecond since 1970 of a time whose messages are preferred.
    pub during: Option<(i64, i64)>,
    /// At most this many hits.
    pub limit: usize,
}

impl<'a> Query<'a> {
    /// A question without preference.
    pub fn new(text: &'a str, limit: usize) -> Self {
        Self { text, project: None, preference: 1.0, during: None, limit }
    }
}

/// A message that answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The message.
    pub message: Message,
    /// Title of its session; empty where it has none.
    pub title: String,
    /// Relevance, higher is better; comparable within one answer.
    pub score: f32,
    /// Share of the question's information that this message and its neighbours repeat, in 0..=1.
    pub coverage: f32,
}

/// A term of the question with where it occurs.
struct Asked {
    text: String,
    term: Term,
    found: u64,
    /// Information of one occurrence among messages.
    idf: f32,
}

/// A message that holds terms of the question.
struct Matched {
    segment: u32,
    doc: u32,
    unit: u32,
    /// Where its occurrences stand in [`Found::counts`].
    from: usize,
    to: usize,
}

/// All messages looked at closely that hold terms of the question, in their order on disk.
#[derive(Default)]
struct Found {
    messages: Vec<Matched>,
    /// Index of the term and how often it occurs, message after message.
    counts: Vec<(u16, u32)>,
}

impl Found {
    fn counts(&self, one: &Matched) -> &[(u16, u32)] {
        self.counts.get(one.from..one.to).unwrap_or(&[])
    }
}

/// The best window of a unit.
#[derive(Clone, Copy, Default)]
struct Window {
    score: f32,
    coverage: f32,
}

/// Sums per unit, reused from term to term.
struct Sums {
    counts: Vec<u32>,
    touched: Vec<u32>,
}

impl Index {
    /// The messages that answer a question, best first.
    pub fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, Error> {
        let searcher = self.reader.searcher();
        let layout = &*self.layout;
        let (asked, total) = self.asked(&searcher, query.text)?;
        if asked.is_empty() || layout.units.is_empty() || query.limit == 0 {
            return Ok(Vec::new());
        }
        let mut sums = Sums { counts: vec![0; layout.units.len()], touched: Vec::new() };
        let mut scores = vec![0.0_f32; layout.units.len()];
        for term in &asked {
            let mut holds = FxHashSet::default();
            let similar = self.same_beginning(&searcher, term)?;
            sums.walk(&searcher, layout, self, &term.term, |unit, score| {
                scores[unit as usize] += score;
                if !similar.is_empty() {
                    holds.insert(unit);
                }
            })?;
            let mut best: FxHashMap<u32, f32> = FxHashMap::default();
            for other in similar {
                sums.walk(&searcher, layout, self, &other, |unit, score| {
                    if !holds.contains(&unit) {
                        let known = best.entry(unit).or_default();
                        *known = known.max(score);
                    }
                })?;
            }
            for (unit, score) in best {
                scores[unit as usize] += SAME_BEGINNING * score;
            }
        }
        let preferred = |unit: u32| match query.project {
            Some(project) if layout.units[unit as usize].project == project => query.preference,
            _ => 1.0,
        };
        let mut units: Vec<u32> =
            (0..).zip(&scores).filter(|(_, score)| **score > 0.0).map(|(unit, _)| unit).collect();
        units.sort_unstable_by(|a, b| {
            descending(scores[*a as usize] * preferred(*a), scores[*b as usize] * preferred(*b))
                .then(a.cmp(b))
        });
        units.truncate(CLOSELY.max(query.limit));
        let close: FxHashSet<u32> = units.iter().copied().collect();

        let matched = self.matched(&searcher, &asked, &close)?;
        let mut windows: Vec<(Window, usize)> = Vec::with_capacity(matched.messages.len());
        let mut best: FxHashMap<u32, Window> = FxHashMap::default();
        let mut counts = vec![0; asked.len()];
        for (at, one) in matched.messages.iter().enumerate() {
            let window = layout.window(&matched, at, &asked, total, &mut counts);
            let known = best.entry(one.unit).or_default();
            if window.score > known.score {
                *known = window;
            }
            windows.push((window, at));
        }
        for (unit, window) in &best {
            scores[*unit as usize] += WINDOW * window.score;
        }
        let mut texts =
            Texts { index: self, searcher: &searcher, cutter: Cutter::default(), read: FxHashMap::default() };
        for (unit, score) in texts.side_by_side(query.text, &asked, &matched, &units)? {
            scores[unit as usize] += SIDE_BY_SIDE * score;
        }
        first_few(&mut windows, BRINGING, |a, b| descending(a.0.score, b.0.score).then(a.1.cmp(&b.1)));
        for (text, weight) in texts.brought_in(&windows, &matched, &asked, layout)? {
            let term = Term::from_field_text(self.fields.text, &text);
            sums.walk(&searcher, layout, self, &term, |unit, score| {
                if close.contains(&unit) {
                    scores[unit as usize] += EXPANSION * weight * score;
                }
            })?;
        }
        for unit in &units {
            scores[*unit as usize] *= preferred(*unit);
        }
        self.hits(&searcher, query, &scores, &windows, &matched, &asked)
    }

    /// The question's terms that occur, rarest first, as many as can be afforded, and the information of all its
    /// terms, of those that occur nowhere too.
    fn asked(&self, searcher: &Searcher, text: &str) -> Result<(Vec<Asked>, f32), Error> {
        let mut asked = Vec::new();
        let mut total = 0.0;
        for text in query_terms(text) {
            let term = Term::from_field_text(self.fields.text, &text);
            let found = searcher.doc_freq(&term)?;
            let idf = information(u64::from(self.layout.messages), found);
            total += idf;
            if found > 0 {
                asked.push(Asked { text, term, found, idf });
            }
        }
        asked.sort_by_key(|term| term.found);
        asked.truncate(ASKED);
        let mut walked = 0;
        let affordable = asked.iter().zip(0..).take_while(|(term, kept)| {
            walked += term.found;
            walked <= WALKED || *kept < 2
        });
        let affordable = affordable.count();
        asked.truncate(affordable);
        Ok((asked, total))
    }

    /// Other terms with the same first four letters and about the same length: `compete` and `competition`.
    fn same_beginning(&self, searcher: &Searcher, asked: &Asked) -> Result<Vec<Term>, Error> {
        const SHARED: usize = 4;
        const AT_MOST: usize = 12;
        let text = asked.text.as_bytes();
        if text.len() < SHARED || !text.iter().all(u8::is_ascii_lowercase) {
            return Ok(Vec::new());
        }
        let mut after = text[..SHARED].to_vec();
        after[SHARED - 1] += 1;
        let mut found: FxHashMap<Vec<u8>, u64> = FxHashMap::default();
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.text)?;
            let mut terms = inverted.terms().range().ge(&text[..SHARED]).lt(&after).into_stream()?;
            while terms.advance() {
                let key = terms.key();
                if key != text
                    && key.len().abs_diff(text.len()) <= 4
                    && key.iter().all(u8::is_ascii_lowercase)
                {
                    *found.entry(key.to_vec()).or_default() += u64::from(terms.value().doc_freq);
                }
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        // A frequent neighbour says little, and walking through it costs.
        let frequent = u64::from(self.layout.messages / 50).max(64);
        found.retain(|(_, count)| *count <= frequent);
        found.truncate(AT_MOST);
        Ok(found
            .into_iter()
            .filter_map(|(key, _)| {
                Some(Term::from_field_text(self.fields.text, std::str::from_utf8(&key).ok()?))
            })
            .collect())
    }

    /// Messages of the units looked at closely that hold terms of the question, in their order on disk.
    fn matched(&self, searcher: &Searcher, asked: &[Asked], close: &FxHashSet<u32>) -> Result<Found, Error> {
        let mut wanted = vec![false; self.layout.units.len()];
        for unit in close {
            wanted[*unit as usize] = true;
        }
        let mut all = Found::default();
        for (number, (reader, segment)) in
            (0_u32..).zip(searcher.segment_readers().iter().zip(&self.layout.segments))
        {
            let inverted = reader.inverted_index(self.fields.text)?;
            let mut found: Vec<(u32, u16, u32)> = Vec::new();
            for (term, index) in asked.iter().zip(0_u16..) {
                let Some(mut postings) = inverted.read_postings(&term.term, IndexRecordOption::WithFreqs)?
                else {
                    continue;
                };
                let mut doc = postings.doc();
                while doc != TERMINATED {
                    let unit = segment.units[doc as usize];
                    if unit != GONE && wanted[unit as usize] {
                        found.push((doc, index, postings.term_freq()));
                    }
                    doc = postings.advance();
                }
            }
            found.sort_unstable();
            for (doc, index, count) in found {
                let to = all.counts.len() + 1;
                all.counts.push((index, count));
                match all.messages.last_mut() {
                    Some(one) if one.segment == number && one.doc == doc => one.to = to,
                    _ => {
                        let unit = segment.units[doc as usize];
                        all.messages.push(Matched { segment: number, doc, unit, from: to - 1, to });
                    }
                }
            }
        }
        Ok(all)
    }

    /// The best messages of the best units, each text once.
    fn hits(
        &self,
        searcher: &Searcher,
        query: &Query<'_>,
        scores: &[f32],
        windows: &[(Window, usize)],
        matched: &Found,
        asked: &[Asked],
    ) -> Result<Vec<Hit>, Error> {
        let mut by_unit: FxHashMap<u32, Vec<(f32, f32, usize)>> = FxHashMap::default();
        let mut timely = FxHashSet::default();
        for (window, at) in windows {
            let one = &matched.messages[*at];
            if self.layout.segments[one.segment as usize].is_title(one.doc) {
                continue;
            }
            let in_time = query.during.is_some_and(|(first, last)| {
                let at = self.layout.segments[one.segment as usize].times.first(one.doc);
                at.is_some_and(|at| (first..=last).contains(&at))
            });
            let factor = if in_time { IN_TIME } else { 1.0 };
            let own = factor * self.layout.message(matched, one, asked);
            let window = Window { score: factor * window.score, ..*window };
            if in_time {
                timely.insert(one.unit);
            }
            by_unit.entry(one.unit).or_default().push((own + window.score / 2.0, window.coverage, *at));
        }
        let mut ranked: Vec<(f32, f32, usize)> = Vec::new();
        for (unit, mut own) in by_unit {
            first_few(&mut own, PER_UNIT * 2, |a, b| descending(a.0, b.0).then(a.2.cmp(&b.2)));
            let score_of_unit = scores[unit as usize] * if timely.contains(&unit) { IN_TIME } else { 1.0 };
            let top = own.first().map_or(1.0, |best| best.0.max(f32::MIN_POSITIVE));
            for (nth, (score, coverage, at)) in own.into_iter().take(PER_UNIT * 2).enumerate() {
                #[expect(clippy::cast_precision_loss, reason = "a handful")]
                let share = score / top / (1.0 + nth as f32 / 2.0);
                if nth == 0 || share > 0.3 {
                    ranked.push((score_of_unit * share, coverage, at));
                }
            }
        }
        ranked.sort_unstable_by(|a, b| descending(a.0, b.0).then(a.2.cmp(&b.2)));
        let mut hits: Vec<Hit> = Vec::new();
        let mut titles: FxHashMap<String, String> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        for (score, coverage, at) in ranked {
            if hits.len() >= query.limit {
                break;
            }
            let one = &matched.messages[at];
            let document: TantivyDocument = searcher.doc(DocAddress::new(one.segment, one.doc))?;
            let message = self.fields.message(&document);
            // Forked and resumed sessions repeat what was said before.
            let of_unit = hits.iter().filter(|hit| hit.message.session == message.session).count();
            if of_unit >= PER_UNIT || !seen.insert(message.text.clone()) {
                continue;
            }
            let title = if let Some(title) = titles.get(&message.session) {
                title.clone()
            } else {
                let title = self.title(searcher, &message.session)?;
                titles.insert(message.session.clone(), title.clone());
                title
            };
            hits.push(Hit { message, title, score, coverage });
        }
        Ok(hits)
    }

    /// The latest title of a session.
    fn title(&self, searcher: &Searcher, session: &str) -> Result<String, Error> {
        let term = Term::from_field_text(self.fields.title_of, session);
        let mut latest = (0, String::new());
        for (number, reader) in (0_u32..).zip(searcher.segment_readers()) {
            let inverted = reader.inverted_index(self.fields.title_of)?;
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            let mut doc = postings.doc();
            while doc != TERMINATED {
                if !reader.is_deleted(doc) {
                    let document: TantivyDocument = searcher.doc(DocAddress::new(number, doc))?;
                    let title = self.fields.message(&document);
                    if title.kind == Kind::Title && (title.turn >= latest.0 || latest.1.is_empty()) {
                        latest = (title.turn, title.text);
                    }
                }
                doc = postings.advance();
            }
        }
        Ok(latest.1)
    }
}

impl Sums {
    /// Walks through all occurrences of a term and hands out what it adds to each unit.
    #[expect(clippy::cast_precision_loss, reason = "counts far below the mantissa")]
    fn walk(
        &mut self,
        searcher: &Searcher,
        layout: &Layout,
        index: &Index,
        term: &Term,
        mut each: impl FnMut(u32, f32),
    ) -> Result<(), Error> {
        for (reader, segment) in searcher.segment_readers().iter().zip(&layout.segments) {
            let inverted = reader.inverted_index(index.fields.text)?;
            let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::WithFreqs)? else {
                continue;
            };
            let mut doc = postings.doc();
            while doc != TERMINATED {
                let unit = segment.units[doc as usize];
                if unit != GONE {
                    let count = &mut self.counts[unit as usize];
                    if *count == 0 {
                        self.touched.push(unit);
                    }
                    *count += postings.term_freq();
                }
                doc = postings.advance();
            }
        }
        let idf = information(layout.units.len() as u64, self.touched.len() as u64);
        for unit in self.touched.drain(..) {
            let count = std::mem::take(&mut self.counts[unit as usize]) as f32;
            each(unit, idf * saturated(count, layout.units[unit as usize].length, layout.average_unit));
        }
        Ok(())
    }
}

impl Layout {
    /// A matched message with the one before and the one after it.
    #[expect(clippy::cast_precision_loss, reason = "counts far below the mantissa")]
    fn window(&self, found: &Found, at: usize, asked: &[Asked], total: f32, counts: &mut [u32]) -> Window {
        let one = &found.messages[at];
        let segment = &self.segments[one.segment as usize];
        let turn = segment.turns.first(one.doc);
        counts.fill(0);
        let mut length = 0.0;
        let first = one.doc.saturating_sub(1);
        for doc in first..=one.doc.saturating_add(1) {
            let beside = segment.units.get(doc as usize) == Some(&one.unit)
                && (doc == one.doc
                    || matches!((segment.turns.first(doc), turn), (Some(a), Some(b)) if a.abs_diff(b) <= 1));
            if !beside {
                continue;
            }
            length += segment.lengths.fieldnorm(doc) as f32;
            let known = match doc.cmp(&one.doc) {
                Ordering::Less => at.checked_sub(1).and_then(|i| found.messages.get(i)),
                Ordering::Equal => Some(one),
                Ordering::Greater => found.messages.get(at + 1),
            };
            if let Some(known) = known.filter(|k| k.segment == one.segment && k.doc == doc) {
                for (index, count) in found.counts(known) {
                    counts[usize::from(*index)] += count;
                }
            }
        }
        let mut window = Window::default();
        for (term, count) in asked.iter().zip(counts).filter(|(_, count)| **count > 0) {
            window.score += term.idf * saturated(*count as f32, length, 3.0 * self.average_message);
            window.coverage += term.idf;
        }
        window.coverage /= total.max(f32::MIN_POSITIVE);
        window
    }

    /// A message on its own.
    #[expect(clippy::cast_precision_loss, reason = "counts far below the mantissa")]
    fn message(&self, found: &Found, one: &Matched, asked: &[Asked]) -> f32 {
        let length = self.segments[one.segment as usize].lengths.fieldnorm(one.doc) as f32;
        found
            .counts(one)
            .iter()
            .filter_map(|(index, count)| {
                let term = asked.get(usize::from(*index))?;
                Some(term.idf * saturated(*count as f32, length, self.average_message))
            })
            .sum()
    }
}

/// Inverse document frequency, never negative (Robertson and Sparck Jones, with one added inside the logarithm).
#[expect(clippy::cast_precision_loss, reason = "counts far below the mantissa")]
fn information(of: u64, found: u64) -> f32 {
    let (of, found) = (of.max(found) as f32, found as f32);
    ((of - found + 0.5) / (found + 0.5)).ln_1p()
}

/// How much `count` occurrences in a text of this length say.
fn saturated(count: f32, length: f32, average: f32) -> f32 {
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / average))
}

/// Puts the first `count` items in order at the front; the rest stays as it is.
fn first_few<T>(items: &mut [T], count: usize, order: impl Fn(&T, &T) -> Ordering + Copy) {
    if items.len() > count {
        items.select_nth_unstable_by(count, order);
    }
    let count = count.min(items.len());
    items[..count].sort_unstable_by(order);
}

fn descending(a: f32, b: f32) -> Ordering {
    b.total_cmp(&a)
}

#[cfg(test)]
mod tests;

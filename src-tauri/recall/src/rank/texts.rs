//! What only the texts themselves can tell: which words stand side by side, and which come along with the answer.

use rustc_hash::FxHashMap;
use tantivy::{DocAddress, Searcher, TantivyDocument, Term};

use super::{Asked, BRINGING, BROUGHT_IN, CLOSELY, Found, Matched, Window, descending, information};
use crate::layout::Layout;
use crate::store::{Error, Index};
use crate::terms::{Cutter, is_stop};

/// Texts read to see what stands side by side, and words of each text.
const READ: usize = 48;
const WORDS_READ: usize = 240;

/// Reads stored texts, each once.
pub(super) struct Texts<'a> {
    pub(super) index: &'a Index,
    pub(super) searcher: &'a Searcher,
    pub(super) cutter: Cutter,
    pub(super) read: FxHashMap<(u32, u32), Vec<String>>,
}

impl Texts<'_> {
    fn sequence(&mut self, segment: u32, doc: u32) -> Result<&[String], Error> {
        if !self.read.contains_key(&(segment, doc)) {
            let document: TantivyDocument = self.searcher.doc(DocAddress::new(segment, doc))?;
            let text = self.index.fields.message(&document).text;
            let words = self.cutter.sequence(head(&text)).map(str::to_owned).collect();
            self.read.insert((segment, doc), words);
        }
        Ok(self.read.get(&(segment, doc)).map_or(&[], Vec::as_slice))
    }

    /// What each unit gains because words that are neighbours in the question are neighbours in it.
    #[expect(clippy::cast_precision_loss, reason = "counts far below the mantissa")]
    pub(super) fn side_by_side(
        &mut self,
        question: &str,
        asked: &[Asked],
        matched: &Found,
        units: &[u32],
    ) -> Result<Vec<(u32, f32)>, Error> {
        let words: Vec<String> = self.cutter.sequence(question).map(str::to_owned).collect();
        let index_of =
            |word: &str| asked.iter().zip(0_u16..).find(|(term, _)| term.text == word).map(|(_, i)| i);
        let mut pairs: Vec<(u16, u16)> = Vec::new();
        for two in words.windows(2) {
            if let (Some(a), Some(b)) = (index_of(&two[0]), index_of(&two[1]))
                && a != b
                && !pairs.contains(&(a, b))
            {
                pairs.push((a, b));
            }
        }
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let mut of_unit: FxHashMap<u32, Vec<&Matched>> = FxHashMap::default();
        for one in &matched.messages {
            let holds = |index: u16| matched.counts(one).iter().any(|(i, _)| *i == index);
            if pairs.iter().any(|(a, b)| holds(*a) && holds(*b)) {
                of_unit.entry(one.unit).or_default().push(one);
            }
        }
        let mut gains = Vec::new();
        for unit in units.iter().take(CLOSELY / 2) {
            let Some(messages) = of_unit.get_mut(unit) else { continue };
            messages.sort_by_key(|one| std::cmp::Reverse(one.to - one.from));
            let mut seen = vec![0_u32; pairs.len()];
            for one in messages.iter().take(6) {
                if self.read.len() >= READ {
                    break;
                }
                let text = self.sequence(one.segment, one.doc)?;
                for two in text.windows(2) {
                    for (pair, count) in pairs.iter().zip(&mut seen) {
                        if asked[usize::from(pair.0)].text == two[0]
                            && asked[usize::from(pair.1)].text == two[1]
                        {
                            *count += 1;
                        }
                    }
                }
            }
            let gain: f32 = pairs
                .iter()
                .zip(seen)
                .map(|((a, b), count)| {
                    let idf = f32::midpoint(asked[usize::from(*a)].idf, asked[usize::from(*b)].idf);
                    idf * count as f32 / (count as f32 + 0.5)
                })
                .sum();
            gains.push((*unit, gain));
        }
        Ok(gains)
    }

    /// Words that are frequent in the best windows and rare elsewhere, with their weight in 0..=1.
    #[expect(clippy::cast_precision_loss, reason = "counts far below the mantissa")]
    pub(super) fn brought_in(
        &mut self,
        windows: &[(Window, usize)],
        matched: &Found,
        asked: &[Asked],
        layout: &Layout,
    ) -> Result<Vec<(String, f32)>, Error> {
        let mut weights: FxHashMap<String, f32> = FxHashMap::default();
        for (window, at) in windows.iter().take(BRINGING) {
            let one = &matched.messages[*at];
            let segment = &layout.segments[one.segment as usize];
            let mut words: FxHashMap<String, f32> = FxHashMap::default();
            let mut length = 0.0;
            for doc in one.doc.saturating_sub(1)..=one.doc.saturating_add(1) {
                if segment.units.get(doc as usize) != Some(&one.unit) {
                    continue;
                }
                length += segment.lengths.fieldnorm(doc) as f32;
                for word in self.sequence(one.segment, doc)? {
                    if word.len() > 2 && !is_stop(word) && !asked.iter().any(|term| &term.text == word) {
                        *words.entry(word.clone()).or_default() += 1.0;
                    }
                }
            }
            for (word, count) in words {
                *weights.entry(word).or_default() += window.score * count / length.max(1.0);
            }
        }
        // The dictionary is asked only about words that stand a chance.
        let mut likely: Vec<(String, f32)> = weights.into_iter().collect();
        likely.sort_unstable_by(|a, b| descending(a.1, b.1).then_with(|| a.0.cmp(&b.0)));
        likely.truncate(BROUGHT_IN * 3);
        let frequent = u64::from(layout.messages / 20).max(64);
        let mut found = Vec::new();
        for (word, weight) in likely {
            let count = self.searcher.doc_freq(&Term::from_field_text(self.index.fields.text, &word))?;
            if count <= frequent {
                found.push((word, weight * information(u64::from(layout.messages), count)));
            }
        }
        found.sort_unstable_by(|a, b| descending(a.1, b.1).then_with(|| a.0.cmp(&b.0)));
        found.truncate(BROUGHT_IN);
        let top = found.first().map_or(1.0, |(_, weight)| weight.max(f32::MIN_POSITIVE));
        Ok(found.into_iter().map(|(word, weight)| (word, weight / top)).collect())
    }
}

/// The first part of a text, enough for [`WORDS_READ`] words of most.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(WORDS_READ * 8)]
}

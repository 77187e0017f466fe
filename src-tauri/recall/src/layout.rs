//! What a reader knows of all messages before the first question: to which unit each belongs and how long units are.

use rustc_hash::FxHashMap;
use tantivy::Searcher;
use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;

use crate::document::{Fields, Kind, kind, split};
use crate::store::Error;

/// Marks a message that was removed.
pub(crate) const GONE: u32 = u32::MAX;

/// One segment of the index.
pub(crate) struct Segment {
    /// Unit of each message, or [`GONE`].
    pub(crate) units: Vec<u32>,
    pub(crate) lengths: FieldNormReader,
    pub(crate) turns: Column<u64>,
    pub(crate) kinds: Column<u64>,
    pub(crate) times: Column<i64>,
}

impl Segment {
    pub(crate) fn is_title(&self, doc: u32) -> bool {
        self.kinds.first(doc).is_some_and(|code| kind(code) == Kind::Title)
    }
}

/// A unit: what one session said in one project.
#[derive(Default)]
pub(crate) struct Unit {
    pub(crate) session: String,
    pub(crate) project: String,
    /// Terms in it.
    pub(crate) length: f32,
}

/// All segments and units.
#[derive(Default)]
pub(crate) struct Layout {
    pub(crate) segments: Vec<Segment>,
    pub(crate) units: Vec<Unit>,
    pub(crate) messages: u32,
    pub(crate) average_unit: f32,
    pub(crate) average_message: f32,
}

impl Layout {
    #[expect(clippy::cast_precision_loss, reason = "counts far below the mantissa")]
    pub(crate) fn of(searcher: &Searcher, fields: Fields) -> Result<Self, Error> {
        let mut layout = Self::default();
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        let mut total = 0_f64;
        for reader in searcher.segment_readers() {
            let fast = reader.fast_fields();
            let lengths = reader.get_fieldnorms_reader(fields.text)?;
            let mut units = vec![GONE; reader.max_doc() as usize];
            if let Some(column) = fast.str("unit")? {
                let mut here = Vec::with_capacity(column.num_terms());
                let mut keys = column.dictionary().stream()?;
                while keys.advance() {
                    let key = String::from_utf8_lossy(keys.key());
                    let number = known.get(key.as_ref()).copied().unwrap_or_else(|| {
                        let number = u32::try_from(layout.units.len()).unwrap_or(GONE);
                        let (session, project) = split(&key);
                        let (session, project) = (session.to_owned(), project.to_owned());
                        let unit = Unit { session, project, length: 0.0 };
                        layout.units.push(unit);
                        known.insert(key.into_owned(), number);
                        number
                    });
                    here.push(number);
                }
                for doc in reader.doc_ids_alive() {
                    let Some(number) =
                        column.ords().first(doc).and_then(|ord| here.get(usize::try_from(ord).ok()?))
                    else {
                        continue;
                    };
                    let length = lengths.fieldnorm(doc) as f32;
                    units[doc as usize] = *number;
                    layout.units[*number as usize].length += length;
                    total += f64::from(length);
                    layout.messages += 1;
                }
            }
            layout.segments.push(Segment {
                units,
                lengths,
                turns: fast.u64("turn")?,
                kinds: fast.u64("kind")?,
                times: fast.i64("at")?,
            });
        }
        #[expect(clippy::cast_possible_truncation, reason = "an average")]
        let average = |count: usize| (total / count.max(1) as f64).max(1.0) as f32;
        layout.average_unit = average(layout.units.len());
        layout.average_message = average(layout.messages as usize);
        Ok(layout)
    }
}

//! What was said last in a project, without a question.

use tantivy::{DocAddress, TantivyDocument};

use crate::document::{Kind, Message, kind};
use crate::store::{Error, Index};

impl Index {
    /// The newest message of the user's in a project; `None` where there is none.
    pub fn last_said(&self, project: &str) -> Result<Option<Message>, Error> {
        let searcher = self.reader.searcher();
        let mut newest: Option<(i64, DocAddress)> = None;
        for (ordinal, (segment, reader)) in
            (0..).zip(self.layout.segments.iter().zip(searcher.segment_readers()))
        {
            let times = reader.fast_fields().i64("at")?;
            for (doc, unit) in (0..).zip(&segment.units) {
                let here = self.layout.units.get(*unit as usize).is_some_and(|unit| unit.project == project);
                let user = segment.kinds.first(doc).is_some_and(|code| kind(code) == Kind::User);
                let at = times.first(doc).unwrap_or(0);
                if here && user && newest.is_none_or(|(known, _)| at >= known) {
                    newest = Some((at, DocAddress::new(ordinal, doc)));
                }
            }
        }
        let Some((_, address)) = newest else { return Ok(None) };
        let document: TantivyDocument = searcher.doc(address)?;
        Ok(Some(self.fields.message(&document)))
    }
}

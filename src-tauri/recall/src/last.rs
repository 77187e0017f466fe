//! What was said last in a project and in each session, without a question.

use tantivy::{DocAddress, TantivyDocument};

use crate::document::{Kind, Message, kind};
use crate::store::{Error, Index};

/// When something was last said in one session about one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Conversation.
    pub session: String,
    /// Identity of the project.
    pub project: String,
    /// Milliseconds since 1970.
    pub at: i64,
    place: DocAddress,
}

impl Index {
    /// The newest message of each session in each project, where anything tells its time. Nothing stored is read.
    pub fn spoken(&self) -> Vec<Spoken> {
        let mut newest: Vec<Option<(i64, DocAddress)>> = vec![None; self.layout.units.len()];
        for (ordinal, segment) in (0..).zip(&self.layout.segments) {
            for (doc, unit) in (0..).zip(&segment.units) {
                let Some(known) = newest.get_mut(*unit as usize) else { continue };
                let at = segment.times.first(doc).unwrap_or(0);
                if at > known.map_or(0, |(at, _)| at) {
                    *known = Some((at, DocAddress::new(ordinal, doc)));
                }
            }
        }
        let said = self.layout.units.iter().zip(newest);
        said.filter_map(|(unit, newest)| {
            let (at, place) = newest?;
            Some(Spoken { session: unit.session.clone(), project: unit.project.clone(), at, place })
        })
        .collect()
    }

    /// The message itself.
    pub fn message_of(&self, spoken: &Spoken) -> Result<Message, Error> {
        let document: TantivyDocument = self.reader.searcher().doc(spoken.place)?;
        Ok(self.fields.message(&document))
    }

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

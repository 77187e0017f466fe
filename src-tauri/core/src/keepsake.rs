//! What is kept of something that is about to be taken away, so that it can be put back byte for byte.
//!
//! Of a file that belongs to others only our own part is kept, never a copy of the whole: it may hold what is
//! nobody's business, and by the time it is wanted it has moved on.

use serde::{Deserialize, Serialize};

use crate::host::files;

/// What is kept of one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keepsake {
    /// There is nothing to keep: it is not there, or it is no longer as we left it.
    Nothing,
    /// A whole file, which will be gone.
    Whole {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its permissions.
        mode: u32,
    },
    /// A folder, which will be gone.
    Folder {
        /// Its permissions.
        mode: u32,
    },
    /// Our part of a file that stays.
    Part(Splice),
}

/// The one cut that leads from a text to what is left of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// Where.
    at: usize,
    /// What was there.
    taken: Vec<u8>,
    /// What took its place.
    put: Vec<u8>,
    /// SHA-256 of what is left.
    left: String,
}

impl Splice {
    /// The cut that leads from `before` to `after`.
    pub fn between(before: &[u8], after: &[u8]) -> Self {
        let same = |(a, b): &(&u8, &u8)| a == b;
        let head = before.iter().zip(after).take_while(same).count();
        let tails = before[head..].iter().rev().zip(after[head..].iter().rev());
        let tail = tails.take_while(same).count();
        Self {
            at: head,
            taken: before[head..before.len() - tail].to_vec(),
            put: after[head..after.len() - tail].to_vec(),
            left: files::sha256(after),
        }
    }

    /// How many bytes it takes out.
    pub fn len(&self) -> usize {
        self.taken.len()
    }

    /// Whether it takes nothing out.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// The text as it was before; `None` when it is no longer the one that was left.
    pub fn reversed(&self, text: &[u8]) -> Option<Vec<u8>> {
        let rest = text.get(self.at + self.put.len()..)?;
        (files::sha256(text) == self.left).then(|| [&text[..self.at], &self.taken, rest].concat())
    }
}

impl Keepsake {
    /// Size of what is kept.
    pub fn bytes(&self) -> u64 {
        let len = match self {
            Keepsake::Nothing | Keepsake::Folder { .. } => 0,
            Keepsake::Whole { bytes, .. } => bytes.len(),
            Keepsake::Part(splice) => splice.len(),
        };
        len as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cut_is_reversed_and_refuses_every_other_text(
            before in proptest::collection::vec(0_u8..4, 0..24),
            after in proptest::collection::vec(0_u8..4, 0..24),
            other in proptest::collection::vec(0_u8..4, 0..24),
        ) {
            let splice = Splice::between(&before, &after);
            prop_assert_eq!(splice.reversed(&after), Some(before));
            prop_assert_eq!(splice.reversed(&other).is_some(), other == after);
        }
    }
}

//! How far each transcript was read. It is kept in the index's own commits, so that the two never disagree.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use pao_recall::Index;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::files::Found;

/// Bytes at the beginning of a file by which it is known again.
const HEAD: u64 = 1024;
/// Bytes before the place reading stopped at.
const TAIL: u64 = 256;

/// All transcripts that were ever read, also those that are gone: what they said stays indexed.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Book {
    #[serde(default)]
    pub(super) files: BTreeMap<String, Mark>,
}

/// How far one transcript was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// Size and time of last change when it was looked at.
    pub(super) size: u64,
    pub(super) changed: i64,
    /// Where reading goes on.
    pub(super) offset: u64,
    /// Messages read from it.
    pub(super) turn: u32,
    /// Hash of its beginning and of what stood before `offset`.
    pub(super) head: u64,
    pub(super) tail: u64,
    /// Title last seen.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) title: String,
}

impl Book {
    /// As of the index's last commit. A book that cannot be read counts as empty only where there is none.
    pub(super) fn of(index: &Index) -> Result<Self, pao_recall::Error> {
        match index.payload()? {
            None => Ok(Self::default()),
            Some(text) => serde_json::from_str(&text)
                .map_err(|error| pao_recall::Error::Damaged(format!("its watermarks: {error}"))),
        }
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether a file has not changed since it was read to its end.
    pub(super) fn is_current(&self, file: &Found) -> bool {
        self.files
            .get(file.path.to_string_lossy().as_ref())
            .is_some_and(|mark| mark.size == file.size && mark.changed == file.changed)
    }
}

impl Mark {
    /// Remembers what the file looks like around the place reading stopped at.
    pub(super) fn know(&mut self, file: &mut File) -> std::io::Result<()> {
        (self.head, self.tail) = around(file, self.offset)?;
        Ok(())
    }

    /// Whether this is still the file that was read, only longer. Neither its inode nor its time can tell: copies and
    /// restored backups change both.
    pub(super) fn knows(&self, file: &mut File, size: u64) -> std::io::Result<bool> {
        Ok(size >= self.offset && around(file, self.offset)? == (self.head, self.tail))
    }
}

fn around(file: &mut File, offset: u64) -> std::io::Result<(u64, u64)> {
    Ok((hash(file, 0, HEAD.min(offset))?, hash(file, offset - TAIL.min(offset), TAIL.min(offset))?))
}

fn hash(file: &mut File, from: u64, length: u64) -> std::io::Result<u64> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    let digest = Sha256::digest(&bytes);
    Ok(digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

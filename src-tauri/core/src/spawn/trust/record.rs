//! The trust record inside the host agent's configuration, whatever its shape: text in, text out. No files here.

use super::json::Json;
use super::toml::Toml;
use crate::agent::{TrustFormat, TrustRecord};
use crate::registry::change::TrustBefore;

/// Why a configuration cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Not UTF-8.
    #[error("it is not UTF-8")]
    NotText,
    /// Not JSON, strictly: comments, a trailing comma, a byte order mark, cut off, empty.
    #[error("it is not valid JSON ({0})")]
    NotJson(String),
    /// Not TOML.
    #[error("it is not valid TOML ({0})")]
    NotToml(String),
    /// The document, or a value on the way to the record, is something else than an object or a table.
    #[error("{0} is not an object")]
    NotObject(String),
    /// It could not be written back byte for byte.
    #[error("it is laid out in a way that an edit would change")]
    NotKept,
}

/// A changed text, and what stood there before.
pub(super) type Edited = (String, TrustBefore);

/// A configuration that was checked.
#[derive(Debug)]
pub(super) struct Document<'a> {
    shape: Shape<'a>,
    record: TrustRecord,
}

#[derive(Debug)]
enum Shape<'a> {
    Json(Json<'a>),
    Toml(Box<Toml<'a>>),
}

impl<'a> Document<'a> {
    /// Checks the text as a whole.
    pub(super) fn parse(bytes: &'a [u8], record: TrustRecord) -> Result<Self, RecordError> {
        let text = std::str::from_utf8(bytes).map_err(|_| RecordError::NotText)?;
        let shape = match record.format {
            TrustFormat::JsonFlag { .. } | TrustFormat::JsonMap => Shape::Json(Json::parse(text)?),
            TrustFormat::TomlTable { .. } => Shape::Toml(Box::new(Toml::parse(text)?)),
        };
        Ok(Self { shape, record })
    }

    /// The text of a configuration that is not there yet.
    pub(super) fn empty(record: TrustRecord) -> &'static str {
        match record.format {
            TrustFormat::JsonFlag { .. } | TrustFormat::JsonMap => "{}",
            TrustFormat::TomlTable { .. } => "",
        }
    }

    /// Whether the record says yes for exactly this key.
    pub(super) fn accepts(&self, folder: &str) -> bool {
        self.says(folder) == Some(true)
    }

    /// What the record says for exactly this key, where it says anything.
    pub(super) fn says(&self, folder: &str) -> Option<bool> {
        let keys = self.keys(folder);
        let value = match &self.shape {
            Shape::Json(json) => json.says(&keys).map(str::to_string),
            Shape::Toml(toml) => toml.says(&keys),
        };
        value.map(|value| value == self.record.yes)
    }

    /// The text in which the record says yes for this folder, and what stood there before; `None` when it says so
    /// already.
    pub(super) fn accept(&self, folder: &str) -> Result<Option<Edited>, RecordError> {
        let (keys, yes) = (self.keys(folder), self.record.yes);
        match &self.shape {
            Shape::Json(json) => json.set(&keys, yes),
            Shape::Toml(toml) => toml.set(&keys, yes),
        }
    }

    /// The text with the record as it was before [`Document::accept`], all that others wrote kept; `None` when the
    /// record no longer says yes.
    pub(super) fn revoke(&self, folder: &str, before: &TrustBefore) -> Result<Option<String>, RecordError> {
        let (keys, yes) = (self.keys(folder), self.record.yes);
        match &self.shape {
            Shape::Json(json) => json.unset(&keys, yes, before),
            Shape::Toml(toml) => toml.unset(&keys, yes, before),
        }
    }

    fn keys<'k>(&self, folder: &'k str) -> Vec<&'k str> {
        match self.record.format {
            TrustFormat::JsonMap => vec![folder],
            TrustFormat::JsonFlag { root, key } | TrustFormat::TomlTable { root, key } => {
                vec![root, folder, key]
            }
        }
    }
}

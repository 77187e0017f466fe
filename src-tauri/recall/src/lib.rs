//! The embedded memory: an index of what was said, that answers in Chinese, Japanese and Korean as in English.
//!
//! It stores messages, ranks them for a question and keeps the caller's own bookkeeping in the same commit. It
//! knows nothing of host agents, reads no transcript and decides nothing about relevance across stores.

mod document;
mod last;
mod layout;
mod rank;
mod shelf;
mod store;
mod terms;

pub use document::{Kind, Message};
pub use last::Spoken;
pub use rank::{Hit, Query};
pub use store::{Error, Index, Reach, VERSION, Writer};
pub use terms::{query_terms, terms_of};

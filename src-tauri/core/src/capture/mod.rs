//! What a session leaves behind, read back: transcripts, one record at a time.
//!
//! Nothing here decides what is worth keeping; it only tells what people and agents said from what programs
//! put into their mouths.

mod asked;
pub mod marks;
mod others;
pub mod redact;
pub mod spoken;
pub mod transcript;

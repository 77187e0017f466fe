//! The temporary world the tests run in: real programs, started on loopback and gone with the test process.
#![expect(clippy::disallowed_methods, reason = "the tests are the edge of their own world")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a world that cannot be set up fails the test"
)]

pub mod claude;
pub mod postgres;
pub mod worker;
pub mod world;

//! One file per feature; `harness` holds the temporary world they run in.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on should panic"
)]

mod agents;
#[cfg(target_os = "linux")]
mod app;
mod cli;
mod config;
#[cfg(target_os = "linux")]
mod entrances;
mod faults;
mod harness;
mod hook;
mod import_rules;
mod life;
mod login;
mod projects;
mod ready;
// On macOS the store is the user's own Keychain, which no test may touch.
#[cfg(not(target_os = "macos"))]
mod secrets;
mod source_postgres;
mod source_worker;
mod spawn;
mod terminal;

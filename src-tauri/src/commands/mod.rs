//! One file per group of verbs: what a window asked becomes one call of the core, and its answer what the door gives.

#![allow(clippy::unused_async, reason = "the door waits for every verb alike")]

pub mod agents;
pub mod cleanup;
pub mod first_run;
pub mod glance;
pub mod remove;
pub mod resume;
pub mod settings;
pub mod spawn;
pub mod windows;

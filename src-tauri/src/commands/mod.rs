//! One file per group of verbs: what a window asked becomes one call of the core, and its answer what the door gives.

pub mod agents;
pub mod cleanup;
pub mod first_run;
pub mod glance;
pub mod remove;
pub mod settings;
pub mod spawn;
pub mod windows;

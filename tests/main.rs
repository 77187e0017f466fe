//! One file per feature; `harness` holds the temporary world they run in.

mod cli;
mod config;
mod harness;
mod import_rules;

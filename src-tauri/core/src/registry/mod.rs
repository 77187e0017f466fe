//! What is known about every agent: SQLite rows that app, command line and hooks write at once.

pub mod change;

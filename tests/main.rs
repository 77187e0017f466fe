//! One file per feature; `harness` holds the temporary world they run in.

mod import_rules;

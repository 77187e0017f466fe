//! What the commands work with.

/// The running app.
pub struct Shell {}

//! What this build of the app cannot do yet. It says so, and where it can be done meanwhile; nothing is pretended.

use pao_core::Error;
use pao_core::wire::door::Switch;

/// A verb that is not there yet.
pub fn verb(what: &str, meanwhile: &str) -> Error {
    Error::environment(format!("{what} is not available in this build of the app yet"), meanwhile)
}

/// A switch that is not there yet.
pub fn switch() -> Switch {
    Switch { on: false, possible: false, note: Some("not available in this build yet".into()) }
}

//! What Prime Agent Orchestrator does, without a face.
//!
//! Nothing here prints, parses a command line or draws a window; the shell and the `pao` command are thin
//! adapters over this crate. Home directory, environment, clock and processes enter only through [`host`].

pub mod agent;
pub mod capture;
pub mod config;
pub mod context;
pub mod credentials;
pub mod doctor;
pub mod entrance;
pub mod error;
pub mod hook;
pub mod host;
pub mod keepsake;
pub mod life;
pub mod marks;
pub mod price;
pub mod project;
pub mod projects;
pub mod recall;
pub mod registry;
pub mod source;
pub mod spawn;
pub mod text;
pub mod typing;
pub mod uninstall;
pub mod view;
pub mod wire;
pub mod words;
pub mod worktree;

pub use context::Context;
pub use error::{Error, Kind, Remedy};

//! The versions this project is built and tested with. This is the only place that names them.

/// npm package of Claude Code.
pub const CLAUDE_PACKAGE: &str = "@anthropic-ai/claude-code";

/// Claude Code that is installed where there is none, and that all tests run against.
pub const CLAUDE_NEW: &str = "2.1.332";

/// The oldest Claude Code that is still served: plain JavaScript, no session-state files.
pub const CLAUDE_OLD: &str = "2.0.76";

/// cargo-deny, built from crates.io into `target/tools`.
pub const CARGO_DENY: &str = "0.20.2";

/// The target that is type-checked on Linux.
pub const MACOS_TARGET: &str = "aarch64-apple-darwin";

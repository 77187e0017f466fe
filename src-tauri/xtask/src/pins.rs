//! The versions this project is built and tested with. This is the only place that names them.

/// npm package of Claude Code.
pub const CLAUDE_PACKAGE: &str = "@anthropic-ai/claude-code";

/// Claude Code that is installed where there is none, and that all tests run against.
pub const CLAUDE_NEW: &str = "2.1.332";

/// The oldest Claude Code that is still served: plain JavaScript, no session-state files.
pub const CLAUDE_OLD: &str = "2.0.76";

/// Another host agent that the tests start for real.
#[derive(Debug, Clone, Copy)]
pub struct Other {
    /// npm package.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Name of its program.
    pub program: &'static str,
    /// The variable by which the tests find it.
    pub variable: &'static str,
}

/// The other host agents.
pub const OTHERS: [Other; 2] = [
    Other { package: "@openai/codex", version: "0.171.0", program: "codex", variable: "PAO_TEST_CODEX" },
    Other {
        package: "@google/gemini-cli",
        version: "0.61.0",
        program: "gemini",
        variable: "PAO_TEST_GEMINI",
    },
];

/// cargo-deny, built from crates.io into `target/tools`.
pub const CARGO_DENY: &str = "0.20.2";

/// The target that is type-checked on Linux.
pub const MACOS_TARGET: &str = "aarch64-apple-darwin";

//! Every key the configuration may hold: what it takes, its default, what it means.
//!
//! One table serves reading (which key, which line is wrong), `config set` and `config show`. A test holds it to
//! the types in [`super`], so that neither can know a key the other does not.

use super::hotkey;
use crate::agent::KINDS as AGENTS;
use crate::host::terminal;

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Any text without control characters.
    Text,
    /// An address of this scheme, or one of several, without a password in it.
    Url(&'static [&'static str]),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A whole number in this range.
    Number(i64, i64),
    /// An amount of money, 0 to 1000, with or without a fraction.
    Amount,
    /// `true` or `false`.
    Flag,
    /// A list of texts.
    Texts,
    /// A combination of keys, or `off`.
    Keys,
}

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its path below the root, or below its source.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Its default as TOML; `None` where it has none.
    pub default: Option<&'static str>,
    /// It must be given.
    pub required: bool,
    /// What it means, one line.
    pub says: &'static str,
}

const fn key(name: &'static str, takes: Takes, default: Option<&'static str>, says: &'static str) -> Key {
    Key { name, takes, default, required: false, says }
}

const fn required(name: &'static str, takes: Takes, says: &'static str) -> Key {
    Key { name, takes, default: None, required: true, says }
}

const DEADLINE: Takes = Takes::Number(10, 60_000);

/// Keys outside of sources.
pub const GENERAL: &[Key] = &[
    key("spawn.terminal", Takes::OneOf(&terminal::NAMES), Some("\"auto\""), "where agents are opened"),
    key(
        "spawn.permission",
        Takes::OneOf(&["ask", "accept-edits", "plan", "skip"]),
        Some("\"ask\""),
        "what agents may do without asking",
    ),
    key(
        "spawn.delivery",
        Takes::OneOf(&["auto", "session", "files"]),
        Some("\"auto\""),
        "how the briefing reaches the agent",
    ),
    key("spawn.budget", Takes::Number(100, 50_000), Some("2000"), "tokens a briefing may take"),
    key("spawn.deadline_ms", DEADLINE, Some("1500"), "milliseconds each source may take"),
    key(
        "spawn.ready_timeout_s",
        Takes::Number(1, 600),
        Some("30"),
        "seconds until a start without a sign of life is given up",
    ),
    key("agent.kind", Takes::OneOf(&AGENTS), Some("\"claude-code\""), "the host agent"),
    key("agent.command", Takes::Text, None, "its program, by name or absolute path"),
    key("agent.args", Takes::Texts, Some("[]"), "further arguments, placed before ours"),
    key(
        "agent.input_price",
        Takes::Amount,
        None,
        "US dollars per million input tokens, to show what a briefing costs",
    ),
    key("agents.claude-code.command", Takes::Text, None, "Claude Code's program"),
    key("agents.claude-code.args", Takes::Texts, None, "further arguments for Claude Code"),
    key("agents.claude-code.input_price", Takes::Amount, None, "the same for Claude Code"),
    key("agents.codex.command", Takes::Text, None, "Codex's program"),
    key("agents.codex.args", Takes::Texts, None, "further arguments for Codex"),
    key("agents.codex.input_price", Takes::Amount, None, "the same for Codex"),
    key("agents.gemini.command", Takes::Text, None, "Gemini CLI's program"),
    key("agents.gemini.args", Takes::Texts, None, "further arguments for Gemini CLI"),
    key("agents.gemini.input_price", Takes::Amount, None, "the same for Gemini CLI"),
    key(
        "freshness.half_life_hours",
        Takes::Number(1, 8760),
        Some("24"),
        "hours after which an agent counts as half as fresh",
    ),
    key(
        "secrets.store",
        Takes::OneOf(&["auto", "keyring", "app", "file"]),
        Some("\"auto\""),
        "where secrets are kept; `file` is a 0600 file",
    ),
    key("clean.automatic", Takes::Flag, Some("false"), "clean up agents that are gone without being asked"),
    key("clean.after_days", Takes::Number(1, 3650), Some("14"), "days they have been gone by then"),
    key("projects.roots", Takes::Texts, Some("[]"), "folders in which projects are found and watched"),
    key("projects.watches", Takes::Number(0, 1_000_000), Some("8192"), "folders that are watched at most"),
    key(
        "projects.poll_s",
        Takes::Number(1, 3600),
        Some("30"),
        "seconds between two looks at a root that cannot be watched",
    ),
    key("app.notifications", Takes::Flag, Some("false"), "the app tells when an agent needs you or is lost"),
    key("app.hotkey", Takes::Keys, Some("\"off\""), "keys that open the app's spawn panel, or `off`"),
];

const KIND: Takes = Takes::OneOf(&KINDS);

/// Kinds of sources.
pub const KINDS: [&str; 3] = ["history", "postgres", "worker"];

const ENABLED: Key = key("enabled", Takes::Flag, Some("true"), "switched off when false");
const SOURCE_KIND: Key = required("kind", KIND, "which kind of store it is");
const SOURCE_DEADLINE: Key =
    key("deadline_ms", DEADLINE, None, "milliseconds it may take; spawn.deadline_ms where absent");

/// Keys of a source of kind `history`.
pub const HISTORY: &[Key] = &[
    SOURCE_KIND,
    ENABLED,
    SOURCE_DEADLINE,
    key("folders", Takes::Texts, Some("[]"), "further config folders of the host agent to index"),
];

/// Keys of a source of kind `postgres`.
pub const POSTGRES: &[Key] = &[
    SOURCE_KIND,
    ENABLED,
    SOURCE_DEADLINE,
    required("url", Takes::Url(&["postgres", "postgresql"]), "postgres://user@host:5432/database?sslmode=…"),
    key("language", Takes::Text, Some("\"simple\""), "text search configuration"),
    key("scan_rows", Takes::Number(1, 10_000_000), None, "newest rows searched where there is no text index"),
    key("archive", Takes::Flag, None, "also search the archive table"),
    key("mapping.table", Takes::Text, None, "table or view, for schemas other than the preset"),
    key("mapping.id", Takes::Text, None, "column that identifies a row"),
    key("mapping.text", Takes::Text, None, "column with the text"),
    key("mapping.title", Takes::Text, None, "column with what the text is about"),
    key("mapping.created_at", Takes::Text, None, "column with the time it was recorded"),
    key("mapping.importance", Takes::Text, None, "column with an importance in 0..=1"),
    key("mapping.project", Takes::Text, None, "column with a project name or path"),
];

/// Keys of a source of kind `worker`.
pub const WORKER: &[Key] = &[
    SOURCE_KIND,
    ENABLED,
    SOURCE_DEADLINE,
    required("url", Takes::Url(&["http", "https"]), "endpoint; for `search` the base of /api/search"),
    required("protocol", Takes::OneOf(&["json-rpc", "mcp", "search"]), "what it speaks"),
    key("method", Takes::Text, Some("\"search\""), "JSON-RPC method"),
    key("tool", Takes::Text, Some("\"search\""), "MCP tool"),
    key("query_param", Takes::Text, None, "parameter that carries the question"),
    key("limit_param", Takes::Text, Some("\"limit\""), "parameter that carries the number of results"),
    key(
        "auth",
        Takes::OneOf(&["bearer", "x-api-key", "none"]),
        None,
        "how the token is sent; x-api-key for `search`, else bearer",
    ),
];

/// The keys of a source of that kind.
pub fn of_source(kind: &str) -> Option<&'static [Key]> {
    match kind {
        "history" => Some(HISTORY),
        "postgres" => Some(POSTGRES),
        "worker" => Some(WORKER),
        _ => None,
    }
}

impl Takes {
    /// What is wanted, as the object of "wants".
    pub fn wanted(self) -> String {
        match self {
            Takes::Text => "text".into(),
            Takes::Url(schemes) => format!("an address beginning with {}://", schemes[0]),
            Takes::OneOf(words) => words.join(", "),
            Takes::Number(from, to) => format!("a whole number from {from} to {to}"),
            Takes::Amount => "an amount from 0 to 1000".into(),
            Takes::Flag => "true or false".into(),
            Takes::Texts => "a list of texts".into(),
            Takes::Keys => format!("keys like {}, or off", hotkey::EXAMPLE),
        }
    }
}

/// The known word closest to what was written, where one is close enough to be meant.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(written, word), word))
        // Two words that share no letter are not a slip of the finger.
        .filter(|(distance, word)| {
            (*distance <= 2 || *distance * 3 <= word.len()) && *distance < written.chars().count()
        })
        .min()
        .map(|(_, word)| word)
}

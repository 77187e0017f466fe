//! The configuration file: what it may say, its defaults, and edits that keep the user's comments.

pub mod edit;
pub mod hotkey;
pub mod keys;
mod lines;
mod lists;
mod load;
#[cfg(test)]
mod tests;
pub mod tolerant;

pub use load::{ConfigError, name_is_usable};

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::agent::HostAgent;

/// `config.toml`, every key optional.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Defaults of `pao spawn`.
    pub spawn: SpawnConfig,
    /// The host agent.
    pub agent: AgentConfig,
    /// What is particular to a host agent, by its kind.
    pub agents: BTreeMap<String, AgentsConfig>,
    /// How agents are looked at.
    pub freshness: FreshnessConfig,
    /// Memory stores by name. Without an entry of kind `history`, one named `history` is enabled.
    pub sources: BTreeMap<String, SourceConfig>,
    /// Where secrets are kept.
    pub secrets: SecretsConfig,
    /// Cleanup of agents that are gone.
    pub clean: CleanConfig,
    /// Folders in which projects are found and watched.
    pub projects: ProjectsConfig,
    /// The menu-bar app.
    pub app: AppConfig,
}

/// The menu-bar app.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct AppConfig {
    /// Keys that open the spawn panel from anywhere, e.g. `Ctrl+Alt+P`, or `off`.
    pub hotkey: String,
    /// Tells on the screen when an agent needs the user or is lost.
    pub notifications: bool,
}

impl Default for AppConfig {
    fn default() -> Self {
        Self { hotkey: "off".into(), notifications: false }
    }
}

/// Folders in which projects are found and watched.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectsConfig {
    /// The folders, absolute or beginning with `~/`.
    pub roots: Vec<String>,
    /// Folders that are watched at most, all roots together.
    pub watches: u32,
    /// Seconds between two looks at a root that cannot be watched.
    pub poll_s: u32,
}

impl Default for ProjectsConfig {
    fn default() -> Self {
        Self { roots: Vec::new(), watches: 8192, poll_s: 30 }
    }
}

/// Cleanup of agents that are gone.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct CleanConfig {
    /// It is made without being asked for, at most once a day.
    pub automatic: bool,
    /// Days an agent has been gone by then.
    pub after_days: u32,
}

impl Default for CleanConfig {
    fn default() -> Self {
        Self { automatic: false, after_days: 14 }
    }
}

/// Defaults of `pao spawn`.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct SpawnConfig {
    /// `auto`, `terminal` (Terminal.app), `iterm2`, `ghostty` or `tmux`.
    pub terminal: String,
    /// `ask`, `accept-edits`, `plan` or `skip`.
    pub permission: String,
    /// `auto`, `session` or `files`.
    pub delivery: String,
    /// Token budget of a briefing.
    pub budget: usize,
    /// Milliseconds each source may take, where it sets none itself.
    pub deadline_ms: u64,
    /// Seconds until a start that shows no sign of life is given up.
    pub ready_timeout_s: u64,
}

impl Default for SpawnConfig {
    fn default() -> Self {
        Self {
            terminal: "auto".into(),
            permission: "ask".into(),
            delivery: "auto".into(),
            budget: 2000,
            deadline_ms: 1500,
            ready_timeout_s: 30,
        }
    }
}

/// The host agent.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// `claude-code`, `codex` or `gemini`.
    pub kind: String,
    /// Program of that kind: a name looked up as a login shell would, or an absolute path. Its usual name where empty.
    pub command: String,
    /// Further arguments, placed before ours.
    pub args: Vec<String>,
    /// US dollars per million input tokens of the model it runs.
    pub input_price: Option<f64>,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self { kind: "claude-code".into(), command: String::new(), args: Vec::new(), input_price: None }
    }
}

/// What is particular to one kind of host agent. Goes before what `agent` says for the default kind.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct AgentsConfig {
    /// Program name looked up as a login shell would, or an absolute path.
    pub command: Option<String>,
    /// Further arguments, placed before ours.
    pub args: Option<Vec<String>>,
    /// US dollars per million input tokens of the model it runs.
    pub input_price: Option<f64>,
}

/// How agents are looked at.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct FreshnessConfig {
    /// Hours after which an agent counts as half as fresh.
    pub half_life_hours: u32,
}

impl Default for FreshnessConfig {
    fn default() -> Self {
        Self { half_life_hours: 24 }
    }
}

impl FreshnessConfig {
    /// The half-life.
    pub fn half_life(&self) -> chrono::TimeDelta {
        chrono::TimeDelta::hours(i64::from(self.half_life_hours))
    }
}

/// Where secrets are kept.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct SecretsConfig {
    /// `auto` (Keychain, Secret Service; on macOS through the app where it runs), `keyring` (the same, each program by
    /// itself), `app` (the same, only through the app) or, only by explicit choice, `file` (0600).
    pub store: String,
}

impl Default for SecretsConfig {
    fn default() -> Self {
        Self { store: "auto".into() }
    }
}

/// One memory store.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceConfig {
    /// Host agents' transcripts on this disk.
    History(HistoryConfig),
    /// An entity–observation database.
    Postgres(PostgresConfig),
    /// A semantic index behind HTTP.
    Worker(WorkerConfig),
}

impl Config {
    /// Names of the secrets that somebody asks for: those of sources behind a login.
    pub fn secret_names(&self) -> impl Iterator<Item = &str> {
        let behind = self.sources.iter().filter(|(_, source)| !matches!(source, SourceConfig::History(_)));
        behind.map(|(name, _)| name.as_str())
    }

    /// The program of a host agent, by name or absolute path.
    pub fn command<'a>(&'a self, agent: &HostAgent) -> &'a str
    where
        'static: 'a,
    {
        let own = self.agents.get(agent.kind).and_then(|own| own.command.as_deref());
        let default = Some(self.agent.command.as_str()).filter(|_| self.agent.kind == agent.kind);
        own.or(default).filter(|command| !command.is_empty()).unwrap_or(agent.program)
    }

    /// Further arguments for a host agent.
    pub fn args(&self, agent: &HostAgent) -> &[String] {
        let own = self.agents.get(agent.kind).and_then(|own| own.args.as_deref());
        own.unwrap_or(if self.agent.kind == agent.kind { &self.agent.args } else { &[] })
    }

    /// US dollars per million input tokens of what a host agent runs, where that is configured.
    pub fn input_price(&self, agent: &HostAgent) -> Option<f64> {
        let own = self.agents.get(agent.kind).and_then(|own| own.input_price);
        own.or(self.agent.input_price.filter(|_| self.agent.kind == agent.kind))
    }

    /// The source that reads transcripts: the enabled one that is configured or, where none is, one named `history`
    /// with all defaults. `None` where it was switched off.
    pub fn history(&self) -> Option<(&str, HistoryConfig)> {
        let configured = self.sources.iter().find_map(|(name, source)| match source {
            SourceConfig::History(history) => Some((name.as_str(), history)),
            _ => None,
        });
        match configured {
            Some((_, history)) if history.enabled == Some(false) => None,
            Some((name, history)) => Some((name, history.clone())),
            None => self.implied_history().map(|name| (name, HistoryConfig::default())),
        }
    }

    /// Name of the source that reads transcripts without standing in the file; `None` where one stands there.
    pub fn implied_history(&self) -> Option<&'static str> {
        if self.sources.values().any(|source| matches!(source, SourceConfig::History(_))) {
            return None;
        }
        // The name may be taken by a source of another kind, which stays.
        ["history", "transcripts"].into_iter().find(|name| !self.sources.contains_key(*name))
    }
}

impl SourceConfig {
    /// Name of its kind, as written in the file.
    pub fn kind(&self) -> &'static str {
        match self {
            SourceConfig::History(_) => "history",
            SourceConfig::Postgres(_) => "postgres",
            SourceConfig::Worker(_) => "worker",
        }
    }

    /// Whether it is asked.
    pub fn enabled(&self) -> bool {
        let enabled = match self {
            SourceConfig::History(c) => c.enabled,
            SourceConfig::Postgres(c) => c.enabled,
            SourceConfig::Worker(c) => c.enabled,
        };
        enabled.unwrap_or(true)
    }
}

/// `kind = "history"`.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct HistoryConfig {
    /// Switched off when false.
    pub enabled: Option<bool>,
    /// Milliseconds it may take.
    pub deadline_ms: Option<u64>,
    /// Further config folders of the host agent whose transcripts are indexed too.
    pub folders: Vec<String>,
}

/// `kind = "postgres"`.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct PostgresConfig {
    /// Switched off when false.
    pub enabled: Option<bool>,
    /// Milliseconds it may take.
    pub deadline_ms: Option<u64>,
    /// `postgres://user@host:5432/database?sslmode=…`. A password in it is refused: it belongs in the secret store.
    pub url: String,
    /// Text search configuration; `simple` where absent.
    pub language: Option<String>,
    /// Newest rows that are searched when there is no text index.
    pub scan_rows: Option<u32>,
    /// Also search the archive table.
    pub archive: Option<bool>,
    /// Table and column names, for schemas other than the preset.
    pub mapping: Option<PostgresMapping>,
}

/// Names in the user's own schema. Each is quoted as an identifier, never interpolated raw.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct PostgresMapping {
    /// Table or view, `schema.table` allowed.
    pub table: String,
    /// Column that identifies a row.
    pub id: String,
    /// Column with the text.
    pub text: String,
    /// Column with what the text is about.
    pub title: Option<String>,
    /// Column with the time it was recorded.
    pub created_at: Option<String>,
    /// Column with an importance in 0..=1.
    pub importance: Option<String>,
    /// Column with a project name or path.
    pub project: Option<String>,
}

/// `kind = "worker"`.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerConfig {
    /// Switched off when false.
    pub enabled: Option<bool>,
    /// Milliseconds it may take.
    pub deadline_ms: Option<u64>,
    /// Endpoint. For `search` the base to which `/api/search` is appended.
    pub url: String,
    /// `json-rpc`, `mcp` or `search`.
    pub protocol: String,
    /// JSON-RPC method; `search` where absent.
    pub method: Option<String>,
    /// MCP tool name; `search` where absent.
    pub tool: Option<String>,
    /// Parameter that carries the question; `query` where absent (`q` for `search`).
    pub query_param: Option<String>,
    /// Parameter that carries the number of results; `limit` where absent.
    pub limit_param: Option<String>,
    /// How the token is sent: `bearer` (default), `x-api-key`, or `none`.
    pub auth: Option<String>,
}

//! What a host agent gets from us for one session: hooks of ours, leave to read its own briefing, or a folder that
//! holds it. Nothing else, and nothing that outlives the session.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{HostAgent, SessionWay, Version};
use crate::host::files;

/// Seconds a hook of ours may take before the host agent gives up on it. Ours take milliseconds; the number is
/// given because hooks at a session's end share a much shorter budget unless they name one.
const HOOK_TIMEOUT_S: u32 = 10;

/// The same where hooks are given on the command line. Codex takes no more for a session's end.
const OVERRIDE_TIMEOUT_S: u32 = 3;

/// How a hook calls us back.
#[derive(Debug, Clone, Copy)]
pub struct HookCall<'a> {
    /// Our program.
    pub exe: &'a Path,
    /// Registry id of the agent.
    pub agent: &'a str,
    /// Our folder, where it is not the usual one.
    pub pao_home: Option<&'a Path>,
}

impl HookCall<'_> {
    /// The shell line a hook runs.
    fn line(&self, kind: &str) -> String {
        let home = self.pao_home.map(|home| format!("PAO_HOME={} ", quoted(home))).unwrap_or_default();
        // Whatever happens to our program, the host agent hears of no failure: some statuses would block a prompt.
        let (exe, agent) = (quoted(self.exe), quoted(Path::new(self.agent)));
        format!("{home}{exe} hook --agent {agent} --kind {kind} 2>/dev/null || :")
    }
}

/// What a start has to bring along for the session way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSetup {
    /// Files to be written into the agent's private folder before the start.
    pub files: Vec<(PathBuf, String)>,
    /// Arguments.
    pub arguments: Vec<OsString>,
}

/// A folder in an agent's private folder, for those that read their briefing from a folder.
const CONTEXT_FOLDER: &str = "context";

impl HostAgent {
    /// The folder that carries the briefing of the agent whose private folder that is, where one does.
    pub fn context_folder(&self, agent_dir: &Path) -> Option<PathBuf> {
        matches!(self.session, SessionWay::Folder { .. }).then(|| agent_dir.join(CONTEXT_FOLDER))
    }

    /// What stands in a transcript, as JSON has it, once the briefing in that folder was read.
    pub fn read_mark(&self, agent_dir: &Path) -> Option<String> {
        let SessionWay::Folder { shows, .. } = self.session else { return None };
        let folder = self.context_folder(agent_dir)?;
        let folder = folder.canonicalize().unwrap_or(folder);
        let text = format!("{shows}{}", folder.join(self.reads.instructions).display());
        let quoted = Value::from(text).to_string();
        Some(quoted.trim_matches('"').to_string())
    }

    /// What a start of `version` brings along. `delivers` says whether the briefing goes the session way; hooks are
    /// there in any case, for what they report.
    pub fn session_setup(
        &self,
        version: Option<Version>,
        call: &HookCall<'_>,
        agent_dir: &Path,
        delivers: bool,
    ) -> SessionSetup {
        match self.session {
            SessionWay::SettingsFile { flag } => {
                let file = agent_dir.join("settings.json");
                let settings = self.settings(version, call, agent_dir).to_string();
                SessionSetup {
                    arguments: vec![flag.into(), file.clone().into()],
                    files: vec![(file, settings)],
                }
            }
            SessionWay::Overrides { flag } => {
                let words = self.overrides(version, call).into_iter();
                let arguments = words.flat_map(|word| [flag.into(), word.into()]).collect();
                SessionSetup { arguments, files: Vec::new() }
            }
            SessionWay::Folder { flag, .. } => {
                let folder = self.context_folder(agent_dir).filter(|_| delivers);
                let arguments = folder.into_iter().flat_map(|folder| [flag.into(), folder.into()]).collect();
                SessionSetup { arguments, files: Vec::new() }
            }
        }
    }

    /// Settings as words for the command line: a hook per event, and for each the hash of what it runs. Without the
    /// hash the program would ask the user to look through the hooks first; it is what it would have written into the
    /// user's own settings after that. Seen in Codex 0.171.
    fn overrides(&self, version: Option<Version>, call: &HookCall<'_>) -> Vec<String> {
        let line = call.line(self.kind);
        let text = |text: &str| toml_edit::Value::from(text).to_string();
        let mut words = Vec::new();
        let mut states = Vec::new();
        for (event, _) in self.hook_events.iter().filter(|(event, _)| self.knows_event(event, version)) {
            let label = snake_case(event);
            words.push(format!(
                "hooks.{event}=[{{hooks=[{{type=\"command\",command={},timeout={OVERRIDE_TIMEOUT_S}}}]}}]",
                text(&line)
            ));
            // Keys in alphabetical order, no white space: the hash is of these bytes.
            let identity = format!(
                r#"{{"event_name":{},"hooks":[{{"async":false,"command":{},"timeout":{OVERRIDE_TIMEOUT_S},"type":"command"}}]}}"#,
                Value::from(label.as_str()),
                Value::from(line.as_str()),
            );
            let key = text(&format!("/<session-flags>/config.toml:{label}:0:0"));
            let hash = text(&format!("sha256:{}", files::sha256(identity.as_bytes())));
            states.push(format!("{key}={{trusted_hash={hash}}}"));
        }
        if !states.is_empty() {
            words.push(format!("hooks.state={{{}}}", states.join(",")));
        }
        words
    }

    /// Settings for one session of `version`: a hook per event it knows, and a rule that lets the agent read its
    /// private folder `agent_dir` (absolute) without asking.
    pub fn settings(&self, version: Option<Version>, call: &HookCall<'_>, agent_dir: &Path) -> Value {
        let hook = json!([{ "hooks": [{ "type": "command", "command": call.line(self.kind), "timeout": HOOK_TIMEOUT_S }] }]);
        let known = version.is_none_or(|version| version >= self.oldest);
        let hooks: Map<String, Value> = self
            .hook_events
            .iter()
            .filter(|(event, _)| self.knows_event(event, version))
            .map(|(event, _)| *event)
            .chain(self.tool_event.filter(|_| known && !self.says_that_it_waits(version)))
            .map(|event| (event.to_string(), hook.clone()))
            .collect();
        json!({ "hooks": hooks, "permissions": { "allow": [read_rule(agent_dir)] } })
    }
}

/// `SessionStart` as `session_start`.
fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    name
}

/// One word for a POSIX shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

/// A rule's path is a gitignore pattern after two slashes; what would be special in one is escaped.
fn read_rule(folder: &Path) -> String {
    let path = folder.to_string_lossy();
    let mut pattern = String::with_capacity(path.len());
    for c in path.trim_start_matches('/').chars() {
        match c {
            '*' | '[' | ']' | '!' | '#' => pattern.extend(['\\', c]),
            // These two cannot be escaped there; the question mark stands for any one character.
            '?' | '\\' => pattern.push('?'),
            _ => pattern.push(c),
        }
    }
    format!("Read(//{pattern}/**)")
}

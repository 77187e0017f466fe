//! The settings a host agent gets for one session: our hooks, and leave to read its own briefing. Nothing else.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{HostAgent, Version};

/// Seconds a hook of ours may take before the host agent gives up on it. Ours take milliseconds; the number is
/// given because hooks at a session's end share a much shorter budget unless they name one.
const HOOK_TIMEOUT_S: u32 = 10;

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
    fn line(&self) -> String {
        let home = self.pao_home.map(|home| format!("PAO_HOME={} ", quoted(home))).unwrap_or_default();
        // Whatever happens to our program, the host agent hears of no failure: some statuses would block a prompt.
        format!("{home}{} hook --agent {} 2>/dev/null || :", quoted(self.exe), quoted(Path::new(self.agent)))
    }
}

impl HostAgent {
    /// Settings for one session of `version`: a hook per event it knows, and a rule that lets the agent read its
    /// private folder `agent_dir` (absolute) without asking.
    pub fn settings(&self, version: Option<Version>, call: &HookCall<'_>, agent_dir: &Path) -> Value {
        let hook =
            json!([{ "hooks": [{ "type": "command", "command": call.line(), "timeout": HOOK_TIMEOUT_S }] }]);
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

//! What a host agent's hook receives and answers. Runs as a whole process many times a session, in front of the
//! user: one small write, a few milliseconds, never an error, never a wait.
//!
//! It draws no conclusions beyond an agent's state, creates no database and migrates none. What cannot be written at
//! once is kept beside the agent's other files ([`drain`] takes it from there). It starts nothing, except that the
//! last event of a session starts [`SWEEP`], and one after which the agent is idle starts [`DELIVER`] where a text
//! waits for it; it waits for neither.

pub mod next;
mod seen;
mod spool;

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::{self, CLAUDE_CODE, HostAgent};
use crate::host::Host;
use crate::host::process::{Identity, Run};
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};
use crate::registry::events::Event;

pub use seen::{briefed, failure, fingerprint, handed, holds_prompt, prompt_fingerprint};
pub use spool::drain;

use seen::Seen;

/// Set in the environment of every agent that works for us, so that it does not set off our own hooks.
pub const GUARD: &str = "PAO_CHILD";

/// File in an agent's private folder whose text its hooks hand over: there only where the briefing goes that way.
/// Not longer than [`HostAgent::hook_context_limit`].
pub const CONTEXT_FILE: &str = "hook.md";

/// File in an agent's private folder with what changed while it rested: handed over first when its conversation is
/// taken up again, and before the briefing whenever that is handed over. Empty where nothing changed.
pub const CHANGED_FILE: &str = "changed.md";
/// The verb, for nobody to type, that takes back what ended sessions were lent and indexes what was said in them.
pub const SWEEP: &str = "sweep";

/// The verb, for nobody to type, that tells an agent what is queued for it.
pub const DELIVER: &str = "deliver";

/// Key in an event's detail that tells it from every other.
const EVENT_ID: &str = "id";

/// Longest payload that is read, in bytes. A longer one is taken for a payload we do not understand.
const PAYLOAD: u64 = 1 << 20;
/// How much of a longer one is taken in and thrown away, so that who sends it sees no broken pipe.
const OVERLONG: u64 = 64 << 20;
/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long the database may take altogether.
const LIMIT: Duration = Duration::from_millis(500);

/// What the hook process prints before it exits with 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// One JSON document, or nothing.
    pub stdout: Option<String>,
    /// What of it has to be put aside once it is printed.
    pub handed: Vec<next::Taken>,
}

/// Takes in one hook event of the agent with that registry id, which is of that kind. Whatever comes in and whatever stands in the way,
/// it returns an answer.
///
/// Keep the process that calls it small: a runtime of one thread, no configuration read.
pub async fn answer(host: &Host, agent: &str, kind: Option<&str>, mut payload: impl Read) -> Answer {
    if host.var(GUARD).is_some() || !is_id(agent) {
        return Answer::default();
    }
    let mut bytes = Vec::new();
    let read = payload.by_ref().take(PAYLOAD + 1).read_to_end(&mut bytes);
    let whole = bytes.len() as u64 <= PAYLOAD;
    if !whole {
        let _ = std::io::copy(&mut payload.take(OVERLONG), &mut std::io::sink());
    }
    let value = match read {
        Ok(_) if whole => serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        _ => Value::Null,
    };
    // Hooks of sessions that were started before there was more than one kind name none.
    let kind = kind.map_or(Some(&CLAUDE_CODE), agent::by_kind).unwrap_or(&CLAUDE_CODE);
    let mut seen = seen::understand(&value, kind);
    let mut text = None;
    if seen.takes_context {
        text = context(host, agent, kind, seen.session_source.as_deref());
        seen.detail.insert("briefing".into(), text.is_some().into());
    }
    let mut handed = Vec::new();
    if let Some(prompt) = seen.detail.get("prompt_sha256").and_then(Value::as_str) {
        let (more, taken) = next::take(host, agent, kind, prompt);
        if !taken.is_empty() {
            let names: Vec<&str> = taken.iter().map(next::Taken::name).collect();
            seen.detail.insert("handed".into(), names.into());
        }
        text = (!more.trim().is_empty()).then_some(more);
        handed = taken;
    }
    let (event, ended) = (seen.event.clone(), seen.state == Some(State::Ended));
    let queued = record(host, agent, seen).await;
    if ended && host.agent_dir(agent).is_dir() {
        later(host, &[SWEEP]);
    }
    if queued {
        later(host, &[DELIVER, agent]);
    }
    let stdout = text.map(|text| {
        let output = json!({ "hookEventName": event, "additionalContext": text });
        json!({ "hookSpecificOutput": output }).to_string()
    });
    Answer { stdout, handed }
}

/// Starts a verb of ours that nobody waits for. Where it cannot be started, the next command does its work.
fn later(host: &Host, words: &[&str]) {
    let run = Run::new(&host.exe).args(words).env("PAO_HOME", &host.pao_home).cwd(&host.home);
    let _ = run.detach();
}

/// Writes the event down. True where the agent is idle now and a text is queued for it.
async fn record(host: &Host, agent: &str, mut seen: Seen) -> bool {
    // A write that took too long may still have been made: by this mark the event that is then kept beside it is known
    // to be the same.
    let id = uuid::Uuid::new_v4().simple().to_string();
    seen.detail.insert(EVENT_ID.into(), id[..12].into());
    let event = Event {
        agent: agent.to_string(),
        at: host.now(),
        event: seen.event.clone(),
        session: seen.session.clone(),
        detail: Value::Object(seen.detail.clone()).to_string(),
    };
    let mut idle = false;
    let write = async {
        let registry = Registry::open_as_is(&host.registry_file(), PATIENCE).await?;
        if seen.tool_was_used {
            registry.note_tool(agent, event.at).await?;
            return Ok(registry);
        }
        if seen.event == "Notification" {
            match registry.agent(agent).await? {
                // That it has been idle for a while is no sign of life; what is queued for it may be told all the same.
                Some(row) if seen.repeats(&row) => (seen.state, idle) = (None, true),
                Some(row) if known_better(&row, &seen) => (seen.state, seen.needs) = (None, None),
                _ => {}
            }
        }
        let done = registry.record_event(&event, seen.state(), seen.session_source.as_deref()).await;
        // The user may have brought the conversation back in another process than the one we started.
        if matches!(seen.session_source.as_deref(), Some("resume" | "fork"))
            && let Some(process) = Identity::behind_the_shell()
        {
            registry.set_process(agent, process, None, event.at).await?;
        }
        done.map(|()| registry)
    };
    let written = tokio::time::timeout(LIMIT, write).await;
    let Ok(Ok(registry)) = written else {
        // There will be another tool, or the turn's end.
        if !seen.tool_was_used {
            spool::keep(host, &event, &seen);
        }
        return false;
    };
    // Asked only now: an event that is written must not be kept a second time because this took too long.
    let queued = (idle || seen.state == Some(State::Idle))
        && matches!(tokio::time::timeout(LIMIT, registry.has_queued(agent)).await, Ok(Ok(true)));
    // Not closed in order: the last one to close a database folds its log in, which waits for the disk.
    std::mem::forget(registry);
    queued
}

/// Whether the row says already, and in better words, what a notification says. That nobody has typed for a while
/// does not make an error good.
fn known_better(row: &Agent, seen: &Seen) -> bool {
    let failed = row.state_by.as_deref() == Some("hook StopFailure");
    row.state == State::NeedsYou && (failed || seen.state == Some(State::NeedsYou))
}

/// The text to hand over, where there is one. A conversation that is taken up again holds the briefing already, so
/// that what changed is enough. A text that is too long would be replaced by a short preview, so it is cut at a
/// line's end instead, and says so.
fn context(host: &Host, agent: &str, kind: &HostAgent, source: Option<&str>) -> Option<String> {
    let changed = text_of(host, agent, CHANGED_FILE);
    let briefing =
        if source == Some("resume") && changed.is_some() { None } else { text_of(host, agent, CONTEXT_FILE) };
    let text = changed.unwrap_or_default() + &briefing.unwrap_or_default();
    if text.trim().is_empty() {
        return None;
    }
    Some(cut(&text, kind))
}

/// As much of a text as a hook may hand over, cut at a line's end and saying so.
fn cut(text: &str, kind: &HostAgent) -> String {
    const CUT: &str = "\n(cut here: too long for a hook)\n";
    if kind.context_length(text) <= kind.hook_context_limit {
        return text.to_string();
    }
    let room = kind.hook_context_limit - kind.context_length(CUT);
    let mut used = 0;
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        used += kind.context_length(line);
        if used > room {
            break;
        }
        kept.push_str(line);
    }
    kept.trim_end().to_string() + CUT
}

/// The beginning of a file in an agent's private folder, where there is one.
fn text_of(host: &Host, agent: &str, name: &str) -> Option<String> {
    let path: PathBuf = host.agent_dir(agent).join(name);
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(PAYLOAD).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Ids name folders, so nothing else than an id may come through.
fn is_id(agent: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !agent.is_empty() && agent.len() <= 64 && agent.chars().all(plain)
}

#[cfg(test)]
mod tests;

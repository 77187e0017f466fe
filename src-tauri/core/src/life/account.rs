//! All that is known of one agent, gathered for a person who looks at it. Reads only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{freshness, state_of};
use crate::hook::CHANGED_FILE;
use crate::host::{files, terminal};
use crate::registry::agents::Agent;
use crate::registry::change::Change;
use crate::registry::checkpoints::Stored;
use crate::registry::conversations::Conversation;
use crate::registry::messages::Message;
use crate::registry::states::Turn;
use crate::spawn::briefing::estimate_tokens;
use crate::spawn::deliver::BRIEFING_FILE;
use crate::spawn::launch;
use crate::spawn::undo::describe;
use crate::{Context, Error};

/// Longest briefing that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// The briefing an agent was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Briefing {
    /// Where it lies.
    pub path: PathBuf,
    /// Its text; `None` where the file is gone.
    pub text: Option<String>,
    /// The text is the one that was delivered, byte for byte.
    pub as_delivered: bool,
    /// Estimated tokens of the text.
    pub tokens: usize,
    /// How many of its lines each source gave, by name.
    pub sources: BTreeMap<String, usize>,
}

/// All that is known of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// Its row.
    pub agent: Agent,
    /// Its freshness in 0..=1.
    pub freshness: f64,
    /// Why, in words.
    pub reason: String,
    /// Its briefing.
    pub briefing: Briefing,
    /// What it was told at its last return of what had changed meanwhile.
    pub handed_over: Option<String>,
    /// What it did over time, oldest first.
    pub states: Vec<Turn>,
    /// Its conversations, oldest first.
    pub conversations: Vec<Conversation>,
    /// What it was told.
    pub messages: Vec<Message>,
    /// Its checkpoints.
    pub checkpoints: Vec<Stored>,
    /// What was written or changed for it and not taken back yet.
    pub written: Vec<String>,
    /// A command that shows its terminal, where there is one.
    pub attach: Option<String>,
}

/// Looks at the agent of that name or id and says all that is known of it.
pub async fn account(context: &Context, word: &str) -> Result<Account, Error> {
    let Context { host, registry, config, .. } = context;
    let found = context.registry.named(word).await?;
    let agent = state_of(context, &found.id).await?.unwrap_or(found);
    let id = agent.id.as_str();
    let open = registry.open_changes(Some(id)).await?;
    let in_folder = open.iter().find_map(|entry| match &entry.change {
        Change::File { path, .. } if path.file_name().is_some_and(|name| name == BRIEFING_FILE) => Some(path),
        _ => None,
    });
    let path = in_folder.cloned().unwrap_or_else(|| host.agent_dir(id).join(BRIEFING_FILE));
    let mut written = Vec::new();
    for entry in open.iter().rev() {
        if !launch::window_is_gone(host, entry).await {
            written.push(describe(host, &entry.change));
        }
    }
    let attach = agent.terminal.as_deref().zip(agent.handle.as_deref()).filter(|_| agent.state.live());
    let attach =
        attach.and_then(|(name, handle)| terminal::choose(host, name).ok().and_then(|t| t.attach(handle)));
    Ok(Account {
        freshness: freshness::of(&agent, host.now(), config.freshness.half_life()),
        reason: freshness::words(&agent, host.now()),
        briefing: briefing(path, agent.briefing_hash.as_deref()),
        handed_over: handed_over(&host.agent_dir(id).join(CHANGED_FILE)),
        states: registry.states(id).await?,
        conversations: registry.conversations(id).await?,
        messages: registry.messages(Some(id)).await?,
        checkpoints: registry.checkpoints(Some(id)).await?,
        written: agent
            .worktree
            .iter()
            .filter(|path| path.exists())
            .map(|path| format!("worktree {}", host.display(path)))
            .chain(written)
            .collect(),
        attach,
        agent,
    })
}

fn handed_over(path: &Path) -> Option<String> {
    let bytes = files::read_if_there(path).ok().flatten().filter(|bytes| bytes.len() <= LONGEST)?;
    Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.trim().is_empty())
}

fn briefing(path: PathBuf, hash: Option<&str>) -> Briefing {
    let bytes = files::read_if_there(&path).ok().flatten().filter(|bytes| bytes.len() <= LONGEST);
    let as_delivered = bytes.as_deref().is_some_and(|bytes| Some(files::sha256(bytes).as_str()) == hash);
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let sources = text.as_deref().map(cited).unwrap_or_default();
    let tokens = text.as_deref().map(estimate_tokens).unwrap_or_default();
    Briefing { path, text, as_delivered, tokens, sources }
}

/// Sources by the citation that ends each of their lines: `[name · date · id]`.
fn cited(briefing: &str) -> BTreeMap<String, usize> {
    let mut sources = BTreeMap::new();
    for line in briefing.lines().map(str::trim_end).filter(|line| line.ends_with(']')) {
        if let Some((_, citation)) = line.rsplit_once('[')
            && let Some((name, _)) = citation.split_once(" · ")
        {
            *sources.entry(name.to_string()).or_default() += 1;
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_counted_by_their_citations() {
        let text = "# Briefing\n- a [x] b [facts · 2026-11-02 · 17]\n- c [history · 2026-11-02 · u1]\n- d [facts · 1]\n- [ ]\n";
        let wanted = BTreeMap::from([("facts".to_string(), 2), ("history".to_string(), 1)]);
        assert_eq!(cited(text), wanted);
    }
}

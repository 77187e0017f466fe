//! Looks at rows, journal and machine, and says what could be cleaned up, with the evidence. Writes nothing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::work::{self, Work};
use super::{CleanError, KEPT, orphans, record};
use crate::host::Host;
use crate::host::process::{self, Identity};
use crate::host::terminal::{Alive, choose};
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};
use crate::registry::change::Change;
use crate::registry::journal::Entry;
use crate::spawn::{deliver, undo::describe};

/// How long one that was lost is taken to be missed: a general yes does not put it away.
pub const FRESH: TimeDelta = TimeDelta::hours(1);

/// What is to be looked at.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only these agents, by name or id; all where empty. Only a named one is cleaned up while it is paused.
    pub names: Vec<String>,
    /// Each group is chosen by itself, as from a list: a paused agent is asked about as if it were named.
    pub one_by_one: bool,
    /// Only what ended or was last changed that long ago.
    pub older_than: Option<TimeDelta>,
    /// A further folder to look for leftovers in.
    pub folder: Option<PathBuf>,
}

/// What could be cleaned up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// When it was looked at.
    pub at: DateTime<Utc>,
    /// By agent, then what rows know nothing of.
    pub groups: Vec<Group>,
}

/// What belongs together: it is cleaned up and put back as one. Stored with a cleanup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Names it among the groups of a plan, and from one plan to the next.
    pub key: String,
    /// What it belongs to.
    pub of: Of,
    /// Name for people.
    pub title: String,
    /// What that is: a state of an agent, or a phrase.
    pub state: String,
    /// Since when.
    pub since: Option<DateTime<Utc>>,
    /// Why it may go: what was seen, a phrase each.
    pub why: Vec<String>,
    /// What would go.
    pub items: Vec<Item>,
    /// What it takes beside the general yes.
    pub asks: Asks,
    /// Why it is left out, whatever the user says.
    pub held: Option<String>,
}

/// What a group belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Of {
    /// An agent with a row.
    Agent {
        /// Its registry id.
        id: String,
    },
    /// An agent whose row is lost.
    Lost {
        /// The id it had.
        id: String,
    },
    /// A folder without an agent.
    Folder {
        /// Which.
        path: PathBuf,
    },
    /// Small files of our own that nobody needs.
    Loose,
    /// An earlier cleanup.
    Cleanup {
        /// Its id.
        id: String,
    },
}

/// What a group takes beside the general yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asks {
    /// Nothing.
    Nothing,
    /// The agent is paused and could come back.
    Paused,
    /// The agent was lost less than [`FRESH`] ago and was not asked for, by name or by age.
    Fresh,
    /// Something still runs, and would be ended.
    Running,
    /// It is gone for good.
    Final,
}

impl Asks {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Asks::Nothing => "nothing",
            Asks::Paused => "paused",
            Asks::Fresh => "fresh",
            Asks::Running => "running",
            Asks::Final => "final",
        }
    }
}

/// One thing that would go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What it is, for people.
    pub what: String,
    /// Where it is, where it is somewhere.
    pub path: Option<PathBuf>,
    /// The files in it, where it is a folder of ours.
    pub holds: Vec<PathBuf>,
    /// Its size.
    pub bytes: u64,
    /// What it really is.
    pub thing: Thing,
}

/// What an item really is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Thing {
    /// The agent's row, which goes to the archive.
    Row,
    /// A change in the journal.
    Journalled {
        /// Registry id of the agent.
        agent: String,
        /// The change.
        change: Change,
    },
    /// The trace of a change that is not in the journal any more.
    Found {
        /// Registry id the agent had.
        agent: String,
        /// What the change must have been.
        change: Change,
    },
    /// A process that is ended.
    Process {
        /// Its pid.
        pid: u32,
        /// The mark of its start.
        started: String,
    },
    /// A worktree without any work in it.
    Worktree {
        /// Where.
        path: PathBuf,
        /// A folder of its repository that stays.
        repository: PathBuf,
        /// The branch it has, where it has one. The branch stays.
        branch: Option<String>,
        /// The commit it has.
        head: String,
    },
    /// A small file of ours.
    File {
        /// Where.
        path: PathBuf,
    },
    /// An earlier cleanup.
    Cleanup {
        /// Its id.
        id: String,
    },
}

impl Group {
    /// Bytes of all its items.
    pub fn bytes(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).sum()
    }

    fn is_called(&self, word: &str) -> bool {
        let id = match &self.of {
            Of::Agent { id } | Of::Lost { id } | Of::Cleanup { id } => Some(id),
            Of::Folder { .. } | Of::Loose => None,
        };
        self.title == word
            || self.key == word
            || id.is_some_and(|id| id == word || (word.len() >= 4 && id.starts_with(word)))
    }
}

/// Looks at everything and says what could be cleaned up.
pub async fn plan(host: &Host, registry: &Registry, wanted: &Wanted) -> Result<Plan, CleanError> {
    let now = host.now();
    let commands = process::command_lines();
    let found = orphans::Seen::look(host).await;
    // Rows are read after the folders: whoever appears in between has its row first.
    let agents = registry.agents().await?;
    let open = registry.open_changes(None).await?;
    let mut groups = Vec::new();
    for agent in &agents {
        let named = wanted.names.iter().any(|word| is_called(agent, word));
        let look = Look {
            host,
            agents: &agents,
            open: &open,
            commands: &commands,
            named,
            one_by_one: wanted.one_by_one,
        };
        if let Some(mut group) = of_agent(&look, agent).await? {
            let fresh = agent.state == State::Lost && now - agent.state_at < FRESH;
            if fresh && agent.archived_at.is_none() && !named && wanted.older_than.is_none() {
                group.asks = Asks::Fresh;
            }
            groups.push(group);
        }
    }
    let ground = orphans::Ground { host, registry, agents: &agents, open: &open, commands: &commands };
    groups.extend(orphans::find(&ground, found, wanted.folder.as_deref()).await?);
    groups.extend(old_cleanups(host, now)?);
    if wanted.names.is_empty() {
        groups.retain(|group| match group.of {
            // What was asked for by its folder was asked for at any age.
            Of::Folder { ref path } if wanted.folder.as_ref() == Some(path) => true,
            _ => wanted.older_than.is_none_or(|age| group.since.is_some_and(|at| now - at >= age)),
        });
    } else {
        for word in &wanted.names {
            if !groups.iter().any(|group| group.is_called(word)) {
                return Err(CleanError::Nobody(word.clone()));
            }
        }
        groups.retain(|group| wanted.names.iter().any(|word| group.is_called(word)));
        drop_namesakes(&mut groups);
    }
    Ok(Plan { at: now, groups })
}

/// A live agent that has the name of one that is gone was not meant.
fn drop_namesakes(groups: &mut Vec<Group>) {
    let gone: BTreeSet<String> = groups
        .iter()
        .filter(|g| g.held.is_none() && matches!(g.of, Of::Agent { .. }))
        .map(|g| g.title.clone())
        .collect();
    groups.retain(|g| g.held.is_none() || !gone.contains(&g.title));
}

fn is_called(agent: &Agent, word: &str) -> bool {
    agent.name == word || agent.id == word || (word.len() >= 4 && agent.id.starts_with(word))
}

/// What an agent is looked at with.
struct Look<'a> {
    host: &'a Host,
    agents: &'a [Agent],
    open: &'a [Entry],
    commands: &'a [(u32, Vec<OsString>)],
    /// It was named.
    named: bool,
    /// See [`Wanted::one_by_one`].
    one_by_one: bool,
}

async fn of_agent(look: &Look<'_>, agent: &Agent) -> Result<Option<Group>, CleanError> {
    let Look { host, agents, open, commands, named, one_by_one } = *look;
    let changes: Vec<&Entry> = open.iter().filter(|entry| entry.agent == agent.id).collect();
    if agent.archived_at.is_some() && changes.is_empty() {
        return Ok(None);
    }
    let mut group = Group {
        key: format!("agent:{}", agent.id),
        of: Of::Agent { id: agent.id.clone() },
        title: agent.name.clone(),
        state: agent.state.name().to_string(),
        since: Some(agent.ended_at.unwrap_or(agent.state_at)),
        why: Vec::new(),
        items: Vec::new(),
        asks: Asks::Nothing,
        held: None,
    };
    match agent.state {
        State::Paused if named || one_by_one => group.asks = Asks::Paused,
        State::Paused => group.held = Some("it is paused and may come back; name it to clean it up".into()),
        state if state.live() && !named => return Ok(None),
        state if state.live() => {
            group.held = Some("it has not ended, and only what is gone is cleaned up".into());
        }
        _ => {}
    }
    if group.held.is_some() {
        return Ok(Some(group));
    }
    match gone(host, agent, commands).await {
        Ok(why) => group.why = why,
        Err(held) => {
            group.held = Some(held);
            return Ok(Some(group));
        }
    }
    if let Some(path) = &agent.worktree {
        let sharing = agents.iter().find(|a| a.id != agent.id && stays(a) && a.folder.starts_with(path));
        let ours: Vec<&Path> = changes.iter().filter_map(|entry| written(&entry.change)).collect();
        match work::look(path, &ours).await {
            Work::Gone => {}
            _ if sharing.is_some() => {}
            Work::Held(why) => {
                group.held = Some(format!("its worktree {} {why}", host.display(path)));
                return Ok(Some(group));
            }
            Work::Free { repository, branch, head, along } => {
                let branch_words = match &branch {
                    Some(branch) => format!("; its branch {branch} stays"),
                    None => String::new(),
                };
                let along = if along.is_empty() {
                    String::new()
                } else {
                    format!("; with it goes for good what can be built again: {}", along.join(", "))
                };
                group.items.push(Item {
                    what: format!("worktree {}{branch_words}{along}", host.display(path)),
                    path: Some(path.clone()),
                    holds: Vec::new(),
                    bytes: 0,
                    thing: Thing::Worktree { path: path.clone(), repository, branch, head },
                });
            }
        }
    }
    let mut items: Vec<Item> = Vec::new();
    for entry in changes {
        let thing = Thing::Journalled { agent: agent.id.clone(), change: entry.change.clone() };
        let mut item = item(host, thing, &agent.id, &entry.change);
        if let Some(other) = relies(agents, &agent.id, &entry.change) {
            item.what = format!("{}: stays, {} works there too", item.what, other.name);
        }
        items.push(item);
    }
    // A window's closing takes a script of ours out of the private folder, which has to be kept as a whole first.
    items.sort_by_key(|item| !matches!(item.thing.change(), Some(Change::Private { .. })));
    // The worktree goes last, when nothing of ours is left in it.
    items.append(&mut group.items);
    group.items = items;
    if agent.archived_at.is_none() {
        group.items.push(Item {
            what: "its row, to the archive".into(),
            path: None,
            holds: Vec::new(),
            bytes: 0,
            thing: Thing::Row,
        });
    }
    Ok(Some(group))
}

impl Thing {
    /// The change that it is, where it is one.
    pub fn change(&self) -> Option<&Change> {
        match self {
            Thing::Journalled { change, .. } | Thing::Found { change, .. } => Some(change),
            _ => None,
        }
    }
}

fn written(change: &Change) -> Option<&Path> {
    match change {
        Change::File { path, .. } | Change::Folder { path } => Some(path),
        _ => None,
    }
}

/// An item for a change.
pub(super) fn item(host: &Host, thing: Thing, agent: &str, change: &Change) -> Item {
    let mut what = describe(host, change);
    let (path, holds, bytes) = match change {
        Change::Private { path } => {
            let (holds, bytes) = contents(path);
            (Some(path.clone()), holds, bytes)
        }
        Change::Block { path, .. } => {
            let text = std::fs::read(path).unwrap_or_default();
            if let Some((first, last)) = deliver::block::lines(&text, agent) {
                what = format!("{what} (lines {first}–{last})");
            }
            (Some(path.clone()), Vec::new(), kept_bytes(change, agent))
        }
        Change::File { path, .. } | Change::Folder { path } | Change::Exclude { path, .. } => {
            (Some(path.clone()), Vec::new(), kept_bytes(change, agent))
        }
        Change::Trust { config, .. } => (Some(config.clone()), Vec::new(), 0),
        Change::Terminal { .. } => (None, Vec::new(), 0),
    };
    Item { what, path, holds, bytes, thing }
}

fn kept_bytes(change: &Change, agent: &str) -> u64 {
    deliver::keepsake(change, agent).map_or(0, |kept| kept.bytes())
}

/// The files in a folder of ours, and their size.
pub(super) fn contents(folder: &Path) -> (Vec<PathBuf>, u64) {
    let (mut files, mut bytes, mut folders) = (Vec::new(), 0, vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                folders.push(entry.path());
            } else {
                bytes += meta.len();
                files.push(entry.path());
            }
        }
    }
    files.sort();
    (files, bytes)
}

/// Whether an agent is there, or may come back.
pub(super) fn stays(agent: &Agent) -> bool {
    agent.archived_at.is_none() && (agent.state.live() || agent.state == State::Paused)
}

/// Another agent that needs a trust record: it works in that folder, below it, or in a worktree of that repository.
pub(super) fn relies<'a>(agents: &'a [Agent], own: &str, change: &Change) -> Option<&'a Agent> {
    let Change::Trust { folder, .. } = change else { return None };
    let there = |a: &&Agent| a.folder.starts_with(folder) || a.project == *folder;
    agents.iter().find(|a| a.id != own && stays(a) && there(a))
}

/// What shows that an agent is gone, or what shows that it is not.
pub(super) async fn gone(
    host: &Host,
    agent: &Agent,
    commands: &[(u32, Vec<OsString>)],
) -> Result<Vec<String>, String> {
    let mut why = Vec::new();
    if let Some(claim) = agent.claim.filter(|claim| claim.by.alive()) {
        return Err(format!("process {} pauses it or brings it back", claim.by.pid));
    }
    match agent.process {
        Some(process) if process.alive() => return Err(format!("its process {} still runs", process.pid)),
        Some(process) => why.push(format!("process {} is gone", process.pid)),
        None => why.push("it never had a process".into()),
    }
    if let Some(process) = using(commands, &host.agent_dir(&agent.id)) {
        return Err(format!("process {} works with its settings", process.pid));
    }
    if let (Some(terminal), Some(handle)) = (&agent.terminal, &agent.handle) {
        let looked = match choose(host, terminal) {
            Ok(chosen) => chosen.alive(handle).await,
            Err(e) => Err(e),
        };
        match looked {
            Ok(Alive::Yes) => return Err(format!("its window in {terminal} is still in use")),
            Ok(Alive::No) => why.push(format!("its window in {terminal} is closed")),
            Ok(Alive::Unknown) | Err(_) => why.push(format!("its window in {terminal} cannot be looked at")),
        }
    }
    if let Some(by) = &agent.state_by {
        why.push(format!("{}: {by}", agent.state.name()));
    }
    Ok(why)
}

/// A process whose command line names a file in that folder of ours: an agent that was started or resumed with its
/// settings. A terminal's own processes name our scripts, and go on when the agent is gone.
pub(super) fn using(commands: &[(u32, Vec<OsString>)], folder: &Path) -> Option<Identity> {
    let names = |arg: &OsString| {
        let path = Path::new(arg);
        path.starts_with(folder) && path.extension().is_none_or(|extension| extension != "command")
    };
    commands.iter().filter(|(_, line)| line.iter().any(names)).find_map(|(pid, _)| Identity::of(*pid))
}

fn old_cleanups(host: &Host, now: DateTime<Utc>) -> Result<Vec<Group>, CleanError> {
    let old = record::history(host)?.into_iter().filter(|record| now - record.at >= KEPT);
    Ok(old
        .map(|record| {
            let path = record::place(host, &record.id);
            let (holds, bytes) = contents(&path);
            Group {
                key: format!("cleanup:{}", record.id),
                of: Of::Cleanup { id: record.id.clone() },
                title: format!("cleanup {}", record.id),
                state: "an earlier cleanup".into(),
                since: Some(record.at),
                why: vec![format!("kept for more than {} days", KEPT.num_days())],
                items: vec![Item {
                    what: format!("what was put away then, {}", host.display(&path)),
                    path: Some(path),
                    holds,
                    bytes,
                    thing: Thing::Cleanup { id: record.id },
                }],
                asks: Asks::Final,
                held: None,
            }
        })
        .collect())
}

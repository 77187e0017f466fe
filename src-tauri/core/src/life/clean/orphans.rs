//! Finds what is left of agents whose rows were lost: windows on our tmux server, private folders, journalled
//! changes, files and lines in folders, and small files of our own that nobody needs.
//!
//! Ours is only what shows by itself that we wrote it. Looks only in folders that the registry ever heard of, and
//! in one the user names. Reads; removes nothing.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::plan::{Asks, Group, Item, Of, Thing, item, stays, using};
use super::{CleanError, lock_file};
use crate::agent;
use crate::capture::marks;
use crate::host::process::{self, Identity};
use crate::host::terminal::tmux;
use crate::host::{Host, files};
use crate::project::Project;
use crate::registry::Registry;
use crate::registry::agents::Agent;
use crate::registry::change::Change;
use crate::registry::journal::Entry;
use crate::spawn::deliver::{self, BRIEFING_FILE, RULES_FILE, block, exclude};
use crate::spawn::launch;

/// A writer of ours needs its temporary file for moments.
const WRITING: Duration = Duration::from_hours(1);
/// A lock that nobody took for that long is nobody's.
const UNUSED: Duration = Duration::from_hours(30 * 24);

/// What was seen before the rows were read.
#[derive(Debug, Default)]
pub struct Seen {
    panes: Vec<tmux::Found>,
    private: Vec<String>,
}

/// What the search stands on.
pub struct Ground<'a> {
    pub host: &'a Host,
    pub registry: &'a Registry,
    pub agents: &'a [Agent],
    pub open: &'a [Entry],
    pub commands: &'a [(u32, Vec<OsString>)],
}

impl Seen {
    pub async fn look(host: &Host) -> Self {
        let agents = host.pao_home.join("agents");
        let panes = match tmux::Tmux::new(host) {
            Ok(tmux) => tmux.panes_of(&agents).await.unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let entries = std::fs::read_dir(&agents).into_iter().flatten().flatten();
        let folders = entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
        let private =
            folders.filter_map(|e| e.file_name().into_string().ok()).filter(|id| is_id(id)).collect();
        Self { panes, private }
    }
}

/// Whether that can be an agent's id.
fn is_id(id: &str) -> bool {
    (8..=32).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Everything without a row.
pub async fn find(ground: &Ground<'_>, seen: Seen, named: Option<&Path>) -> Result<Vec<Group>, CleanError> {
    let mut groups = lost(ground, &seen);
    let known = launch::orphans(ground.host, ground.agents);
    let known = |id: &str| known.iter().find(|orphan| orphan.id == id).and_then(|o| o.folder.clone());
    let (mut at_work, mut of_lost) = (Vec::new(), Vec::new());
    for group in &groups {
        let Of::Lost { id } = &group.of else { continue };
        of_lost.extend(known(id));
        for item in &group.items {
            if let Thing::Process { pid, .. } = item.thing {
                at_work.push(known(id).or_else(|| process::folder_of(pid)));
            }
        }
    }
    let mut folders = folders(ground, named).await?;
    folders.extend(of_lost.into_iter().filter(|folder| folder.is_dir()));
    for folder in &folders {
        let mut group = in_folder(ground, folder);
        if let Some(group) = group.as_mut()
            && at_work.iter().any(|at| at.as_ref().is_none_or(|at| at.starts_with(folder)))
        {
            group.held = Some("a process without a row may still need it".into());
        }
        groups.extend(group);
    }
    groups.extend(loose(ground.host, &folders));
    Ok(groups)
}

fn lost(ground: &Ground<'_>, seen: &Seen) -> Vec<Group> {
    let Ground { host, agents, open, .. } = ground;
    let pane_id = |pane: &tmux::Found| {
        let folder = pane.script.parent()?;
        (folder.parent() == Some(&host.pao_home.join("agents"))).then_some(())?;
        folder.file_name()?.to_str().map(str::to_string).filter(|id| is_id(id))
    };
    let panes: Vec<(String, &tmux::Found)> =
        seen.panes.iter().filter_map(|pane| Some((pane_id(pane)?, pane))).collect();
    let mut ids: BTreeSet<&str> = seen.private.iter().map(String::as_str).collect();
    ids.extend(panes.iter().map(|(id, _)| id.as_str()));
    ids.extend(open.iter().map(|entry| entry.agent.as_str()));
    let known: BTreeSet<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
    // A row that does not read is a row: whose it is may well be at work.
    ids.difference(&known)
        .filter(|id| !ground.registry.is_unreadable(id))
        .filter_map(|id| {
            let panes: Vec<&tmux::Found> = panes.iter().filter(|(of, _)| of == id).map(|(_, p)| *p).collect();
            of_lost(ground, id, &panes)
        })
        .collect()
}

fn of_lost(ground: &Ground<'_>, id: &str, panes: &[&tmux::Found]) -> Option<Group> {
    let Ground { host, open, commands, .. } = ground;
    let dir = host.agent_dir(id);
    let mut group = Group {
        key: format!("lost:{id}"),
        of: Of::Lost { id: id.to_string() },
        title: id.chars().take(8).collect(),
        state: "without a row".into(),
        since: None,
        why: vec!["the registry has no agent of that id".into()],
        items: Vec::new(),
        asks: Asks::Nothing,
        held: None,
    };
    let mut running: Vec<Identity> =
        panes.iter().filter(|p| !p.dead).filter_map(|p| Identity::of(p.pid)).collect();
    running.extend(using(commands, &dir).filter(|found| running.iter().all(|r| r.pid != found.pid)));
    for process in &running {
        group.asks = Asks::Running;
        group.why.push(format!("process {} still runs: it may be an agent at work", process.pid));
        group.items.push(Item {
            what: format!("process {}, which would be ended", process.pid),
            path: None,
            holds: Vec::new(),
            bytes: 0,
            thing: Thing::Process { pid: process.pid, started: process.started.to_string() },
        });
    }
    let entries: Vec<&Entry> = open.iter().filter(|entry| entry.agent == id).collect();
    let mut items = Vec::new();
    if dir.is_dir() {
        let change = Change::Private { path: dir.clone() };
        let journalled = entries.iter().any(|entry| entry.change == change);
        let (agent, change_) = (id.to_string(), change.clone());
        let thing = if journalled {
            Thing::Journalled { agent, change: change_ }
        } else {
            Thing::Found { agent, change: change_ }
        };
        group.since = modified(&dir);
        items.push(item(host, thing, id, &change));
    }
    for pane in panes {
        let change = Change::Terminal { terminal: tmux::NAME.into(), handle: pane.handle.clone() };
        if entries.iter().any(|entry| entry.change == change) {
            continue;
        }
        if pane.dead {
            group.why.push(format!("nothing runs in its tmux window {} any more", pane.session));
        }
        let mut item =
            item(host, Thing::Found { agent: id.to_string(), change: change.clone() }, id, &change);
        item.what = format!("tmux window {}", pane.session);
        items.push(item);
    }
    for entry in entries {
        if matches!(&entry.change, Change::Private { path } if *path == dir) && dir.is_dir() {
            continue;
        }
        let thing = Thing::Journalled { agent: id.to_string(), change: entry.change.clone() };
        let mut item = item(host, thing, id, &entry.change);
        if let Some(other) = super::plan::relies(ground.agents, id, &entry.change) {
            item.what = format!("{}: stays, {} works there too", item.what, other.name);
        }
        items.push(item);
    }
    group.items.extend(items);
    (!group.items.is_empty()).then_some(group)
}

fn modified(path: &Path) -> Option<DateTime<Utc>> {
    std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok().map(DateTime::from)
}

/// Folders the registry ever heard of, and the one that was named. Only those that exist.
async fn folders(ground: &Ground<'_>, named: Option<&Path>) -> Result<BTreeSet<PathBuf>, CleanError> {
    let mut folders: BTreeSet<PathBuf> = ground.agents.iter().map(|agent| agent.folder.clone()).collect();
    folders.extend(ground.registry.folders().await?);
    for change in ground.registry.all_changes().await? {
        match change {
            Change::Block { path, .. } => folders.extend(path.parent().map(Path::to_path_buf)),
            Change::File { path, .. } if path.ends_with(BRIEFING_FILE) => {
                folders.extend(path.parent().map(Path::to_path_buf));
            }
            Change::Trust { folder, .. } => {
                folders.insert(PathBuf::from(folder));
            }
            _ => {}
        }
    }
    folders.extend(named.and_then(|folder| folder.canonicalize().ok()));
    folders.retain(|folder| folder.is_dir());
    Ok(folders)
}

/// What is left in one folder. What an agent that is there, or may come back, needs is no leftover.
fn in_folder(ground: &Ground<'_>, folder: &Path) -> Option<Group> {
    let Ground { host, agents, open, .. } = ground;
    let mut group = Group {
        key: format!("folder:{}", folder.display()),
        of: Of::Folder { path: folder.to_path_buf() },
        title: host.display(folder),
        state: "a folder without an agent".into(),
        since: None,
        why: Vec::new(),
        items: Vec::new(),
        asks: Asks::Nothing,
        held: None,
    };
    let journalled =
        |path: &Path| open.iter().any(|e| matches!(&e.change, Change::File { path: p, .. } if p == path));
    // The id is no longer known; any valid one will do for the journal.
    let nobody = "0".repeat(12);
    let add = |group: &mut Group, change: Change, agent: &str, why: String| {
        let found = Thing::Found { agent: agent.to_string(), change: change.clone() };
        let path = match &change {
            Change::File { path, .. } | Change::Block { path, .. } => modified(path),
            _ => None,
        };
        group.since = group.since.max(path);
        group.items.push(item(host, found, agent, &change));
        group.why.push(why);
    };
    for reads in agent::ALL.iter().map(|known| known.reads) {
        let instructions = folder.join(reads.instructions);
        if let Ok(target) = files::resolve(&instructions)
            && let Ok(Some(text)) = files::read_if_there(&target)
        {
            match block::agents(&text) {
                Ok(blocks) => {
                    for id in blocks {
                        let row = agents.iter().find(|a| a.id == id);
                        let is_open = open.iter().any(|e| {
                            e.agent == id
                                && matches!(&e.change, Change::Block { path, .. } if *path == target)
                        });
                        if row.is_some_and(stays) || is_open {
                            continue;
                        }
                        let change = Change::Block { path: target.clone(), created: false };
                        let short: String = id.chars().take(8).collect();
                        add(&mut group, change, &id, format!("a block of agent {short}, which is not there"));
                    }
                }
                Err(error) => {
                    group.held = Some(format!("{}, {error}; mend it by hand", host.display(&target)));
                }
            }
        }
        let Some(rules) = reads.rules else { continue };
        let rule = folder.join(rules).join(RULES_FILE);
        if let Some(bytes) = plain(&rule).filter(|_| !journalled(&rule))
            && bytes == deliver::rule(rules, reads.import.unwrap_or_default()).as_bytes()
        {
            let change = Change::File { path: rule.clone(), sha256: files::sha256(&bytes) };
            add(&mut group, change, &nobody, format!("{RULES_FILE} is word for word what pao writes"));
        }
    }
    let briefing = folder.join(BRIEFING_FILE);
    if let Some(bytes) = plain(&briefing).filter(|bytes| !journalled(&briefing) && is_briefing(bytes)) {
        let change = Change::File { path: briefing.clone(), sha256: files::sha256(&bytes) };
        add(&mut group, change, &nobody, format!("{BRIEFING_FILE} begins and ends as pao's briefings do"));
    }
    for (path, line) in excluded(ground, folder, &group) {
        let change = Change::Exclude { path, line: line.clone(), created: false };
        add(&mut group, change, &nobody, format!("{line} is excluded for no agent"));
    }
    group.why.dedup();
    (!group.items.is_empty() || group.held.is_some()).then_some(group)
}

fn plain(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    if meta.is_file() { std::fs::read(path).ok() } else { None }
}

/// A briefing that was edited at its beginning or end is the user's.
fn is_briefing(bytes: &[u8]) -> bool {
    let head = format!("{}\n# Context briefing\n", marks::BEGIN);
    bytes.starts_with(head.as_bytes()) && bytes.ends_with(format!("{}\n", marks::END).as_bytes())
}

/// Lines of ours in the repository's exclude file that nobody needs. One that names the briefing could be the user's
/// own; it is ours where the briefing or our rule was left here too.
fn excluded(ground: &Ground<'_>, folder: &Path, group: &Group) -> Vec<(PathBuf, String)> {
    let project = Project::of(folder);
    let (Some(top), Some(common)) = (project.worktree, project.common_dir) else { return Vec::new() };
    let Ok(path) = files::resolve(&common.join("info/exclude")) else { return Vec::new() };
    let Some(text) = plain(&path) else { return Vec::new() };
    let needed = |line: &str| {
        let same = |e: &&Entry| matches!(&e.change, Change::Exclude { path: p, line: l, .. } if *p == path && l == line);
        ground.open.iter().any(|e| same(&e))
    };
    let rules = agent::ALL.iter().filter_map(|known| known.reads.rules);
    let mut ours: Vec<PathBuf> = rules.map(|rules| folder.join(rules).join(RULES_FILE)).collect();
    let left = |i: &Item| matches!(i.thing.change(), Some(Change::File { .. }));
    if group.items.iter().any(left) {
        ours.push(folder.join(BRIEFING_FILE));
    }
    let lines = ours.iter().filter_map(|path| exclude::pattern(&top, path));
    lines.filter(|line| exclude::has(&text, line) && !needed(line)).map(|line| (path.clone(), line)).collect()
}

/// Half-written files of a writer that was killed, and locks that nobody takes any more.
fn loose(host: &Host, folders: &BTreeSet<PathBuf>) -> Option<Group> {
    let mut places: BTreeSet<PathBuf> = folders.clone();
    for folder in folders {
        places
            .extend(agent::ALL.iter().filter_map(|known| known.reads.rules).map(|rules| folder.join(rules)));
        places.extend(Project::of(folder).common_dir.map(|common| common.join("info")));
    }
    places.extend(agent::ALL.iter().filter_map(|a| a.trust_file(host).parent().map(Path::to_path_buf)));
    places.insert(host.pao_home.clone());
    let mut found: Vec<PathBuf> = places
        .iter()
        .flat_map(|place| files::half_written(place))
        .filter(|path| older(path, WRITING))
        .collect();
    let clean = lock_file(host);
    let unused = |path: &PathBuf| path.extension().is_some_and(|e| e == "lock") && *path != clean;
    let locks = entries(&host.pao_home.join("locks"));
    found.extend(locks.into_iter().filter(|path| unused(path) && older(path, UNUSED)));
    if found.is_empty() {
        return None;
    }
    let items = found.into_iter().map(|path| Item {
        what: format!("file {}", host.display(&path)),
        bytes: std::fs::symlink_metadata(&path).map_or(0, |meta| meta.len()),
        holds: Vec::new(),
        thing: Thing::File { path: path.clone() },
        path: Some(path),
    });
    let items: Vec<Item> = items.collect();
    Some(Group {
        key: "loose".into(),
        of: Of::Loose,
        title: "small files of pao".into(),
        state: "left by a crash".into(),
        since: items.iter().filter_map(|item| modified(item.path.as_deref()?)).max(),
        why: vec![
            "half-written files of a writer that is gone, and locks nobody has taken for 30 days".into(),
        ],
        items,
        asks: Asks::Nothing,
        held: None,
    })
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_file())).map(|e| e.path()).collect()
}

/// File times come from the real clock, so they are compared with it and not with a frozen one.
fn older(path: &Path, than: Duration) -> bool {
    let age = std::fs::symlink_metadata(path).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
    age.is_some_and(|age| age > than)
}

/// Whether a leftover in a folder is still nobody's.
pub fn still_nobodys(agents: &[Agent], thing: &Thing) -> bool {
    let (Thing::Found { agent, .. } | Thing::Journalled { agent, .. }) = thing else { return true };
    !agents.iter().any(|a| a.id == *agent && stays(a))
}

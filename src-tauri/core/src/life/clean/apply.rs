//! Does what was planned and chosen. For each group: look again, keep what can be kept, write that down, claim the
//! agent's row, and only then take away, each kind by the room that made it.
//!
//! Killed at any moment it leaves a list from which [`finish`] goes on: what was kept stays kept, what is gone is
//! seen to be gone, and what was not begun is looked at anew.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::plan::{self, Asks, Group, Item, Of, Plan, Thing, stays};
use super::record::{Aside, Open, Part, Piece, Record, Stage, Standing, place};
use super::work::{self, Work};
use super::{CleanError, PATIENCE, alone, orphans, undo};
use crate::agent::{self, HostAgent};
use crate::host::process::{self, Identity};
use crate::host::{Host, files};
use crate::keepsake::Keepsake;
use crate::registry::Registry;
use crate::registry::agents::State;
use crate::registry::change::Change;
use crate::registry::journal::Entry;
use crate::spawn::{deliver, launch, trust};

/// What a cleanup did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What was taken away and kept. Without anything taken away it is not kept, and cannot be undone.
    pub record: Record,
    /// Whether there is anything to undo.
    pub undoable: bool,
}

/// Cleans up the groups of a plan that were chosen (see [`Group::asks`] for what choosing takes). Groups that are
/// held are left out whatever was chosen.
pub async fn apply(
    host: &Host,
    registry: &Registry,
    plan: Plan,
    chosen: impl Fn(&Group) -> bool,
    automatic: bool,
) -> Result<Done, CleanError> {
    let _alone = alone(host, PATIENCE).await?;
    resume(host, registry).await?;
    let parts: Vec<Part> = plan
        .groups
        .into_iter()
        .filter(|group| group.held.is_none() && !group.items.is_empty() && chosen(group))
        .map(part)
        .collect();
    let open = Open::begin(host, parts, automatic)?;
    let record = carry_out(host, registry, open).await?;
    Ok(Done { undoable: place(host, &record.id).is_dir(), record })
}

fn part(group: Group) -> Part {
    let piece = || Piece { stage: Stage::Planned, aside: Aside::Nothing, note: String::new() };
    let pieces = group.items.iter().map(|_| piece()).collect();
    let was_paused = group.asks == Asks::Paused;
    Part { group, saved: false, over: false, left: None, was_paused, pieces }
}

/// Goes on with cleanups and undoings that were cut short. Does nothing while another process is at it.
pub async fn finish(host: &Host, registry: &Registry) -> Result<(), CleanError> {
    // One that stands in for a registry that is not there knows nothing of what was begun.
    if !Open::any(host) || registry.path() != host.registry_file() {
        return Ok(());
    }
    match alone(host, Duration::ZERO).await {
        Ok(_alone) => resume(host, registry).await,
        Err(CleanError::Busy) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The same under the lock.
pub(super) async fn resume(host: &Host, registry: &Registry) -> Result<(), CleanError> {
    for open in Open::left_behind(host)? {
        match open.record.standing {
            Standing::Undoing | Standing::Undone => undo::carry_out(host, registry, open).await?,
            Standing::Applying | Standing::Done => carry_out(host, registry, open).await?,
        };
    }
    Ok(())
}

async fn carry_out(host: &Host, registry: &Registry, mut open: Open) -> Result<Record, CleanError> {
    for index in 0..open.record.parts.len() {
        if open.record.parts[index].over {
            continue;
        }
        // One group that does not work out does not keep the others.
        if let Err(error) = one(host, registry, &mut open, index).await {
            let part = &mut open.record.parts[index];
            part.left = Some(error.to_string());
        }
        open.record.parts[index].over = true;
        open.save()?;
    }
    open.settle(host, Standing::Done)
}

async fn one(host: &Host, registry: &Registry, open: &mut Open, index: usize) -> Result<(), CleanError> {
    let at = open.record.at;
    let group = open.record.parts[index].group.clone();
    if !open.record.parts[index].saved {
        if let Some(why) = not_any_more(host, registry, &group).await? {
            open.record.parts[index].left = Some(why);
            return Ok(());
        }
        for (number, item) in group.items.iter().enumerate() {
            let aside = keep(host, &open.dir, &format!("{index}-{number}"), item)?;
            open.record.parts[index].pieces[number].aside = aside;
        }
        open.record.parts[index].saved = true;
        open.save()?;
    }
    let mut claimed_by = Identity::own();
    if let (Of::Agent { id }, true) = (&group.of, group.items.iter().any(|i| i.thing == Thing::Row)) {
        // Whoever claims the row has the agent; from here on it is nobody else's to clean up or to bring back.
        let row = registry.agent(id).await?;
        let claimed = match row {
            Some(row) if row.archived_at.is_some() => {
                // This very cleanup's, whose process was killed: nobody else cleans up while we do.
                claimed_by = row.claim.map_or(claimed_by, |claim| claim.by);
                row.archived_at == Some(stamped(at))
            }
            Some(row) => {
                let why = not_any_more(host, registry, &group).await?;
                why.is_none() && registry.archive_as_seen(&row, Identity::own(), at).await?
            }
            None => false,
        };
        if !claimed {
            open.record.parts[index].left = Some("somebody else was faster".into());
            return Ok(());
        }
    }
    for (number, item) in group.items.iter().enumerate() {
        let aside = open.record.parts[index].pieces[number].aside.clone();
        let (stage, note) = match remove(host, registry, &open.dir, item, &aside).await {
            Ok(done) => done,
            Err(error) => (Stage::Kept, error.to_string()),
        };
        let piece = &mut open.record.parts[index].pieces[number];
        (piece.stage, piece.note) = (stage, note);
    }
    if let Of::Agent { id } = &group.of {
        registry.release(id, claimed_by).await?;
    }
    Ok(())
}

/// Times as rows keep them, to the microsecond.
pub(super) fn stamped(at: chrono::DateTime<chrono::Utc>) -> chrono::DateTime<chrono::Utc> {
    use chrono::SubsecRound;
    at.trunc_subsecs(6)
}

/// Why a group is not to be touched after all, looked at just before.
async fn not_any_more(host: &Host, registry: &Registry, group: &Group) -> Result<Option<String>, CleanError> {
    let agents = registry.agents().await?;
    match &group.of {
        Of::Agent { id } => {
            let Some(row) = agents.iter().find(|a| a.id == *id) else {
                return Ok(Some("its row is gone".into()));
            };
            if row.state.live() || (row.state == State::Paused && group.asks != Asks::Paused) {
                return Ok(Some(format!("it is {} now", row.state.name())));
            }
            if let Some(claim) = row.claim.filter(|claim| claim.by != Identity::own()) {
                return Ok(Some(format!("process {} pauses it or brings it back", claim.by.pid)));
            }
            if row.archived_at.is_some() && group.items.iter().any(|i| i.thing == Thing::Row) {
                return Ok(Some("it was cleaned up already".into()));
            }
            Ok(plan::gone(host, row, &process::command_lines()).await.err())
        }
        Of::Lost { id } => {
            if agents.iter().any(|a| a.id == *id) || registry.is_unreadable(id) {
                return Ok(Some("it has a row again".into()));
            }
            let using = plan::using(&process::command_lines(), &host.agent_dir(id));
            let known = |process: Identity| {
                group
                    .items
                    .iter()
                    .any(|i| matches!(&i.thing, Thing::Process { pid, .. } if *pid == process.pid))
            };
            Ok(using.filter(|process| !known(*process)).map(|p| format!("process {} runs now", p.pid)))
        }
        Of::Folder { .. } => {
            let back = group.items.iter().find(|item| !orphans::still_nobodys(&agents, &item.thing));
            Ok(back.map(|item| format!("{} belongs to an agent again", item.what)))
        }
        Of::Loose | Of::Cleanup { .. } => Ok(None),
    }
}

/// Keeps what can be kept of an item, in the cleanup's folder.
fn keep(host: &Host, dir: &Path, name: &str, item: &Item) -> Result<Aside, CleanError> {
    let kept = match &item.thing {
        Thing::Journalled { change: Change::Private { .. }, .. }
        | Thing::Found { change: Change::Private { .. }, .. } => {
            return Ok(Aside::Tree { name: name.into() });
        }
        Thing::Journalled { change: change @ Change::Trust { config, .. }, .. }
        | Thing::Found { change: change @ Change::Trust { config, .. }, .. } => {
            trust::keepsake(change, trusting(host, config).trust)?
        }
        Thing::Journalled { agent, change } | Thing::Found { agent, change } => {
            deliver::keepsake(change, agent)?
        }
        Thing::File { path } => {
            let change = fs::read(path)
                .ok()
                .map(|bytes| Change::File { path: path.clone(), sha256: files::sha256(&bytes) });
            change.map_or(Ok(Keepsake::Nothing), |change| deliver::keepsake(&change, ""))?
        }
        Thing::Row | Thing::Process { .. } | Thing::Worktree { .. } | Thing::Cleanup { .. } => {
            Keepsake::Nothing
        }
    };
    Ok(match kept {
        Keepsake::Nothing => Aside::Nothing,
        Keepsake::Folder { mode } => Aside::Folder { mode },
        Keepsake::Part(splice) => Aside::Part(splice),
        Keepsake::Whole { bytes, mode } => {
            let path = dir.join(name);
            files::write_private(&path, &bytes, false).map_err(|e| CleanError::file(&path, e))?;
            Aside::File { name: name.into(), mode }
        }
    })
}

/// The host agent that keeps its trust records in that file.
pub(super) fn trusting(host: &Host, config: &Path) -> &'static HostAgent {
    let known = agent::ALL.iter().copied().find(|agent| agent.trust_file(host) == *config);
    known.or_else(|| agent::by_trust_file(config)).unwrap_or(agent::ALL[0])
}

type Outcome = (Stage, String);

fn removed() -> Outcome {
    (Stage::Removed, String::new())
}

async fn remove(
    host: &Host,
    registry: &Registry,
    dir: &Path,
    item: &Item,
    aside: &Aside,
) -> Result<Outcome, CleanError> {
    match &item.thing {
        // Claimed before.
        Thing::Row => Ok(removed()),
        Thing::Journalled { agent, change } => {
            let same = |e: &Entry| e.change == *change;
            let entry = registry.open_changes(Some(agent)).await?.into_iter().find(same);
            if let (Change::Private { path }, Aside::Tree { name }) = (change, aside) {
                let moved = put_away(path, &dir.join(name))?;
                if let Some(entry) = &entry {
                    deliver::undo(host, registry, entry).await?;
                }
                return Ok(moved);
            }
            match entry {
                Some(entry) => take_back(host, registry, &entry, aside).await,
                // Taken back by a sweep since, or by us before we were cut short.
                None => Ok(gone_by(aside)),
            }
        }
        Thing::Found { agent, change } => {
            if let (Change::Private { path }, Aside::Tree { name }) = (change, aside) {
                return put_away(path, &dir.join(name));
            }
            // Taken into the journal, so that its own room takes it back like any other.
            let id = registry.plan_change(agent, change, host.now()).await?;
            let entry = Entry { id, agent: agent.clone(), change: change.clone(), applied: true };
            let done = take_back(host, registry, &entry, aside).await;
            if !matches!(done, Ok((Stage::Removed | Stage::Gone, _))) {
                // It was never in the journal, and what stays is not for others to take back.
                registry.change_undone(id).await?;
            }
            done
        }
        Thing::Process { pid, started } => {
            let Ok(started) = started.parse() else {
                return Ok((Stage::Kept, "when it began does not read".into()));
            };
            let process = Identity { pid: *pid, started };
            if !process.alive() {
                return Ok((Stage::Gone, String::new()));
            }
            launch::end_process(process).await?;
            Ok((Stage::Removed, "ended; that cannot be undone".into()))
        }
        Thing::Worktree { path, repository, .. } => match work::look(path, &[]).await {
            Work::Gone => Ok(gone_by(aside)),
            Work::Held(why) => Ok((Stage::Kept, format!("it {why}"))),
            Work::Free { .. } => match work::remove(repository, path).await {
                Ok(()) => Ok(removed()),
                Err(why) => Ok((Stage::Kept, why)),
            },
        },
        Thing::File { path } => {
            if path.extension().is_some_and(|e| e == "lock") {
                // Held while it goes, so that it goes under nobody.
                let held = files::lock(path, Duration::ZERO).await;
                if held.is_err() {
                    return Ok((Stage::Kept, "somebody holds it".into()));
                }
                return file_gone(path);
            }
            file_gone(path)
        }
        Thing::Cleanup { id } => {
            let path = place(host, id);
            match fs::remove_dir_all(&path) {
                Ok(()) => Ok((Stage::Removed, "gone for good".into())),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok((Stage::Gone, String::new())),
                Err(e) => Err(CleanError::file(&path, e)),
            }
        }
    }
}

/// What is gone although nobody took it just now: if it was kept, it was us.
fn gone_by(aside: &Aside) -> Outcome {
    match aside {
        Aside::Nothing => (Stage::Gone, String::new()),
        _ => removed(),
    }
}

fn file_gone(path: &Path) -> Result<Outcome, CleanError> {
    let gone = files::remove_if_there(path).map_err(|e| CleanError::file(path, e))?;
    Ok(if gone { removed() } else { (Stage::Gone, String::new()) })
}

/// Moves a private folder into the cleanup's; both are below our own, so it is one step.
fn put_away(path: &Path, to: &Path) -> Result<Outcome, CleanError> {
    if fs::symlink_metadata(to).is_ok() {
        return Ok(removed());
    }
    match fs::rename(path, to) {
        Ok(()) => Ok(removed()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok((Stage::Gone, String::new())),
        Err(e) => Err(CleanError::file(path, e)),
    }
}

async fn take_back(
    host: &Host,
    registry: &Registry,
    entry: &Entry,
    aside: &Aside,
) -> Result<Outcome, CleanError> {
    if let Some(undone) = deliver::undo(host, registry, entry).await? {
        return Ok(match undone {
            deliver::Undone::Removed => removed(),
            deliver::Undone::Gone => gone_by(aside),
            deliver::Undone::Kept(why) | deliver::Undone::Waiting(why) => (Stage::Kept, why),
        });
    }
    if let Some(taken) = launch::close_over(host, registry, entry).await? {
        return Ok(match taken {
            launch::TakenBack::Closed => (Stage::Removed, "a closed window is not opened again".into()),
            launch::TakenBack::LeftOpen(why) => (Stage::Kept, why),
        });
    }
    let Change::Trust { config, .. } = &entry.change else {
        return Ok((Stage::Kept, "no room knows it".into()));
    };
    let agents = registry.agents().await?;
    if let Some(other) = plan::relies(&agents, &entry.agent, &entry.change).filter(|a| stays(a)) {
        // From now on the record is the other agent's to take back.
        let id = registry.plan_change(&other.id, &entry.change, host.now()).await?;
        registry.change_applied(id).await?;
        registry.change_undone(entry.id).await?;
        return Ok((Stage::Kept, format!("{} works there too", other.name)));
    }
    Ok(match trust::undo(host, registry, entry, trusting(host, config).trust).await? {
        Some(trust::Revoked::Removed) => removed(),
        Some(trust::Revoked::Gone) | None => gone_by(aside),
    })
}

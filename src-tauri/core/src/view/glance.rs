//! Everything at a glance: agents, recent projects, sources, tray and troubles as one value that is pushed whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};

use super::{agents, roots, tray};
use crate::host::Host;
use crate::life::clean::{Record, Standing};
use crate::projects::{self, Project, with_agents};
use crate::registry::agents::Agent;
use crate::wire::door::{Glance, ProjectRow, SourceDot, Trouble, Undoable};

/// What a glance is made of.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// The machine: for how paths are shown.
    pub host: &'a Host,
    /// Now.
    pub now: DateTime<Utc>,
    /// The age at which half of an agent's freshness is left.
    pub half_life: TimeDelta,
    /// All agents.
    pub agents: &'a [Agent],
    /// Texts that wait, by agent.
    pub queued: &'a BTreeMap<String, u32>,
    /// Watched projects, as they were last seen.
    pub projects: &'a [Project],
    /// Folders in which they are looked for.
    pub roots: &'a [projects::Root],
    /// How often the history was brought up to date.
    pub indexed: u64,
    /// Folders that something is remembered of.
    pub folders: &'a [PathBuf],
    /// How the sources fared when they were last asked.
    pub sources: &'a [SourceDot],
    /// What keeps the app from doing its work.
    pub troubles: &'a [Trouble],
    /// Nothing was ever set up here.
    pub first_run: bool,
    /// Cleanups, in any order.
    pub cleanups: &'a [Record],
}

/// The glance.
pub fn glance(seen: &Seen<'_>) -> Glance {
    let agents = agents::rows(seen.agents, seen.queued, seen.host, seen.now, seen.half_life);
    let tray = tray::tray(&agents, seen.troubles);
    Glance {
        projects: recent(seen),
        roots: roots::all(seen.host, seen.roots),
        indexed: u32::try_from(seen.indexed).unwrap_or(u32::MAX),
        sources: seen.sources.to_vec(),
        tray,
        troubles: seen.troubles.to_vec(),
        first_run: seen.first_run,
        undoable: undoable(seen.cleanups),
        agents,
    }
}

/// Watched projects, and folders outside of them that agents were started in; most recently active first.
fn recent(seen: &Seen<'_>) -> Vec<ProjectRow> {
    let mut projects = seen.projects.to_vec();
    with_agents(&mut projects, seen.agents, seen.now);
    let watched: BTreeSet<&Path> = projects.iter().map(|project| project.folder.as_path()).collect();
    let mut folders: BTreeSet<&Path> = seen.folders.iter().map(PathBuf::as_path).collect();
    folders.extend(seen.agents.iter().map(|agent| agent.folder.as_path()));
    folders.retain(|folder| !folder.ancestors().any(|up| watched.contains(up)));
    // No agent can be started where the path cannot be said.
    let said = |folder: &&Path| folder.to_str().is_some_and(|path| !path.contains(char::is_control));
    let watched = projects.iter().filter(|project| said(&project.folder.as_path()));
    let mut rows: Vec<ProjectRow> = watched.map(|project| watched_project(seen, project)).collect();
    rows.extend(folders.into_iter().filter(said).map(|folder| project(seen, folder)));
    rows.sort_by(|a, b| b.active_at.cmp(&a.active_at).then_with(|| a.folder.cmp(&b.folder)));
    rows
}

fn watched_project(seen: &Seen<'_>, project: &Project) -> ProjectRow {
    ProjectRow {
        folder: project.folder.to_string_lossy().into_owned(),
        shown: seen.host.display(&project.folder),
        name: project.name.clone(),
        branch: project.branch.clone(),
        changed: project.changed,
        active_at: project.active_at,
        session_at: project.session_at,
        agents: project.agents.live(),
    }
}

fn project(seen: &Seen<'_>, folder: &Path) -> ProjectRow {
    let here = || seen.agents.iter().filter(|agent| agent.folder == folder);
    let active = here().map(|agent| agent.sign_at).max();
    ProjectRow {
        folder: folder.to_string_lossy().into_owned(),
        shown: seen.host.display(folder),
        name: folder.file_name().map_or_else(|| "/".into(), |name| name.to_string_lossy().into_owned()),
        branch: None,
        changed: None,
        active_at: active,
        session_at: active,
        agents: u32::try_from(here().filter(|agent| agent.state.live()).count()).unwrap_or(u32::MAX),
    }
}

fn undoable(cleanups: &[Record]) -> Vec<Undoable> {
    let open = cleanups.iter().filter(|record| record.standing == Standing::Done);
    let mut rows: Vec<Undoable> = open
        .filter_map(|record| {
            let agents = record.parts.iter().filter(|part| part.left.is_none()).count();
            (agents > 0).then(|| Undoable {
                id: record.id.clone(),
                at: record.at,
                agents: u32::try_from(agents).unwrap_or(u32::MAX),
            })
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.at));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projects::find;
    use crate::registry::agents::State;
    use crate::view::agents::tests::{agent, host, now};
    use crate::wire::door::Shape;

    #[test]
    fn a_glance_counts_live_agents_by_project_and_remembers_folders_without_any() {
        let agents = [agent("a", State::Working, 5), agent("b", State::Ended, 1), agent("c", State::Idle, 9)];
        let queued = BTreeMap::from([("c".to_string(), 2)]);
        let seen = Seen {
            host: &host(),
            now: now(),
            half_life: TimeDelta::hours(24),
            agents: &agents,
            queued: &queued,
            projects: &[],
            roots: &[],
            indexed: 0,
            folders: &["/home/me/code/支付对账".into()],
            sources: &[],
            troubles: &[],
            first_run: false,
            cleanups: &[],
        };
        let glance = glance(&seen);
        assert_eq!((glance.tray.shape, glance.tray.number), (Shape::Working, 1));
        let projects: Vec<(&str, u32)> =
            glance.projects.iter().map(|p| (p.name.as_str(), p.agents)).collect();
        assert_eq!(projects, [("api", 2), ("支付对账", 0)]);
        let waiting: Vec<u32> = glance.agents.iter().map(|row| row.queued).collect();
        assert_eq!(waiting, [0, 2, 0]);
    }

    #[test]
    fn a_watched_project_has_the_agents_inside_of_it_and_its_folders_are_no_projects_beside_it() {
        let mut inside = agent("a", State::Working, 5);
        inside.folder = "/home/me/code/api/server".into();
        let found = find::Found { folder: "/home/me/code/api".into(), marks: vec![".git"], cut: false };
        let mut known = Project::at(&found, Path::new("/home/me/code"), now());
        (known.branch, known.changed) = (Some("main".into()), Some(3));
        let seen = Seen {
            host: &host(),
            now: now(),
            half_life: TimeDelta::hours(24),
            agents: &[inside],
            queued: &BTreeMap::new(),
            projects: &[known],
            roots: &[],
            indexed: 2,
            folders: &["/home/me/code/api/web".into(), "/home/me/other".into()],
            sources: &[],
            troubles: &[],
            first_run: false,
            cleanups: &[],
        };
        let glance = glance(&seen);
        let rows: Vec<_> = glance
            .projects
            .iter()
            .map(|p| (p.shown.as_str(), p.branch.as_deref(), p.changed, p.agents))
            .collect();
        assert_eq!(rows, [("~/code/api", Some("main"), Some(3), 1), ("~/other", None, None, 0)]);
        assert_eq!(glance.projects[0].active_at, Some(now() - TimeDelta::minutes(5)));
        assert_eq!(glance.indexed, 2);
    }
}

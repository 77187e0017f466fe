//! One look at all projects: what a list shows that nobody watches.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::stream::{self, StreamExt};
use tokio::time::Instant;

use super::eyes::{Ear, Eyes};
use super::find::{Bounds, Scan, scan};
use super::ground::{Ground, Tree};
use super::{
    Project, Proposal, Root, RootState, proposals, roots, sort, transcripts, with_agents, with_sessions,
};
use crate::config::Config;
use crate::host::Host;
use crate::life::repository;
use crate::registry::agents::Agent;
use crate::source::history::{Session, Sessions};

/// How long git may take for one project.
pub const GIT: Duration = Duration::from_secs(3);
/// How many it is asked about at once.
const AT_ONCE: usize = 4;
/// Names shown of what is in a root.
const EXAMPLES: usize = 3;

/// Whose changes are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Git is asked about so many projects, those that were active last.
    pub changed: usize,
    /// How long that may take altogether. What is not known by then stays unknown.
    pub within: Duration,
}

/// What there is.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// The projects, the most recently active first.
    pub projects: Vec<Project>,
    /// The roots, in the order in which they are configured.
    pub roots: Vec<Root>,
    /// Folders that could be roots.
    pub proposals: Vec<Proposal>,
}

/// Looks.
pub async fn look(host: &Host, config: &Config, agents: &[Agent], asked: Asked) -> Look {
    let (away, settings) = (host.clone(), config.clone());
    let seen = tokio::task::spawn_blocking(move || seen(&away, &settings)).await;
    let (mut projects, mut roots, sessions) = seen.unwrap_or_default();
    let now = host.now();
    with_sessions(&mut projects, &sessions, now);
    with_agents(&mut projects, agents, now);
    sort(&mut projects);
    told(&mut roots, &projects);
    ask_git(&mut projects, asked).await;
    let named: Vec<PathBuf> = roots.iter().map(|root| root.folder.clone()).collect();
    let proposals = proposals(host, &named, &sessions);
    Look { projects, roots, proposals }
}

/// Folders that could be roots, too, as the history tells. Nothing is walked through.
pub async fn proposed(host: &Host, config: &Config) -> (Vec<Proposal>, Vec<Session>) {
    let (away, settings) = (host.clone(), config.clone());
    let asked = tokio::task::spawn_blocking(move || {
        let history = settings.history().map(|(_, history)| history);
        let sessions = history.map(|history| Sessions::default().last(&away, &history)).unwrap_or_default();
        (proposals(&away, &configured(&away, &settings), &sessions), sessions)
    });
    asked.await.unwrap_or_default()
}

/// The folders that are configured, each once.
pub fn configured(host: &Host, config: &Config) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for written in &config.projects.roots {
        let folder = roots::expand(host, written);
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// Registers for watching what there is, for a moment: the roots as they then fare, and how many folders are watched.
pub async fn trial(host: &Host, config: &Config) -> (Vec<Root>, usize) {
    let (host, config) = (host.clone(), config.clone());
    let tried = tokio::task::spawn_blocking(move || {
        let mut ground = Ground::new(&host, Eyes::new(0, &Ear::new(&host.pao_home)));
        let limit = usize::try_from(config.projects.watches).unwrap_or(usize::MAX);
        ground.set(configured(&host, &config), limit, config.projects.poll_s.into());
        let transcripts = config.history().map(|(_, history)| transcripts::folders(&host, &history));
        ground.walk(&[], &transcripts.unwrap_or_default(), &|| false);
        let projects: Vec<Project> = ground.trees.iter().flat_map(|tree| tree.projects.clone()).collect();
        let mut roots: Vec<Root> = ground.trees.iter().map(Tree::told).collect();
        told(&mut roots, &projects);
        (roots, ground.eyes.count())
    });
    tried.await.unwrap_or_default()
}

fn seen(host: &Host, config: &Config) -> (Vec<Project>, Vec<Root>, Vec<Session>) {
    let mut projects: Vec<Project> = Vec::new();
    let mut roots = Vec::new();
    for folder in configured(host, config) {
        let (state, scan) = scanned(host, &folder, &|| false);
        for found in &scan.projects {
            // A root may lie in another one.
            if !projects.iter().any(|known| known.folder == found.folder) {
                projects.push(Project::at(found, &folder, host.now()));
            }
        }
        roots.push(Root {
            folder,
            state,
            projects: scan.projects.len(),
            examples: Vec::new(),
            active_at: None,
            watched: 0,
            partly: 0,
            cut: scan.cut,
        });
    }
    let sessions = config.history().map(|(_, history)| Sessions::default().last(host, &history));
    (projects, roots, sessions.unwrap_or_default())
}

/// What lies in a root; nothing where it is away.
pub(super) fn scanned(host: &Host, root: &Path, stop: &dyn Fn() -> bool) -> (RootState, Scan) {
    let real = root.canonicalize();
    let home = host.home.canonicalize().unwrap_or_else(|_| host.home.clone());
    match real.and_then(|real| scan(&real, &home, &Bounds::default(), stop)) {
        Ok(scan) => (RootState::Seen, scan),
        Err(error) => {
            let away = matches!(error.kind(), std::io::ErrorKind::NotFound);
            let state = if away { RootState::Away } else { RootState::Unreadable(error.to_string()) };
            (state, Scan::default())
        }
    }
}

/// Says of each root what was active in it last. The projects are sorted.
pub(super) fn told(roots: &mut [Root], projects: &[Project]) {
    for root in roots {
        let mut inside = projects.iter().filter(|project| project.root == root.folder);
        root.projects = inside.clone().count();
        root.examples = inside.clone().take(EXAMPLES).map(|project| project.name.clone()).collect();
        root.active_at = inside.next().and_then(|project| project.active_at);
    }
}

async fn ask_git(projects: &mut [Project], asked: Asked) {
    let until = Instant::now() + asked.within;
    let repositories = projects.iter().enumerate().filter(|(_, project)| project.git_dir.is_some());
    let wanted: Vec<(usize, PathBuf)> =
        repositories.take(asked.changed).map(|(place, project)| (place, project.folder.clone())).collect();
    let mut answers = stream::iter(wanted)
        .map(|(place, folder)| async move { (place, repository::changed(&folder, GIT).await) })
        .buffer_unordered(AT_ONCE);
    while let Ok(Some((place, answer))) = tokio::time::timeout_at(until, answers.next()).await {
        let Some((branch, changed)) = answer else { continue };
        let project = &mut projects[place];
        project.branch = project.branch.take().or(branch);
        project.changed = u32::try_from(changed).ok();
    }
}

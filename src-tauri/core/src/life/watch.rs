//! Waits until something about agents changes, without asking again and again.
//!
//! Rows are watched through the registry's files, agents through the folder of their own session-state files. Only the
//! end of a process leaves no trace in either, so while agents run the process table is looked at now and then; when
//! nothing runs, nothing is looked at. Where the system cannot watch files, all is looked at now and then, and said.

use std::path::PathBuf;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::evidence::Effort;
use super::sweep::sweep_with;
use crate::agent;
use crate::host::Host;
use crate::host::process::Identity;
use crate::registry::agents::Agent;
use crate::registry::{Registry, RegistryError};

/// Time between two looks at the processes of running agents.
const PROCESSES: Duration = Duration::from_secs(2);
/// Time between two looks at everything where files cannot be watched.
const UNWATCHED: Duration = Duration::from_secs(2);
/// Time between two looks at the screens of agents of which nothing else tells.
const SCREENS: Duration = Duration::from_secs(30);
/// How long changes that come together are collected.
const TOGETHER: Duration = Duration::from_millis(60);

/// Tells that files changed.
pub struct Changes {
    watcher: Option<RecommendedWatcher>,
    watched: Vec<PathBuf>,
    told: mpsc::Receiver<()>,
    /// Something was told that nobody has been given yet: whoever waits may stop waiting at any moment.
    pending: bool,
    /// Why files cannot be watched.
    pub unwatched: Option<String>,
}

impl Changes {
    /// Watches nothing yet.
    pub fn new() -> Self {
        let (tell, told) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |event: Result<Event, notify::Error>| {
            // Reading, our own included, changes nothing.
            if !matches!(event, Ok(Event { kind: EventKind::Access(_), .. })) {
                let _ = tell.try_send(());
            }
        });
        let unwatched = watcher.as_ref().err().map(ToString::to_string);
        Self { watcher: watcher.ok(), watched: Vec::new(), told, pending: false, unwatched }
    }

    /// Watches a folder's files too, once it is there.
    pub fn also(&mut self, folder: PathBuf) {
        let Some(watcher) = &mut self.watcher else { return };
        if self.watched.contains(&folder) || !folder.is_dir() {
            return;
        }
        match watcher.watch(&folder, RecursiveMode::NonRecursive) {
            Ok(()) => self.watched.push(folder),
            Err(error) => self.unwatched = Some(error.to_string()),
        }
    }

    /// Waits for a change, and until those that come with it have come. Where files cannot be watched: a while.
    pub async fn next(&mut self) {
        if self.unwatched.is_some() {
            sleep(UNWATCHED).await;
            return;
        }
        if !self.pending && self.told.recv().await.is_none() {
            // Only where the watcher ended by itself.
            sleep(UNWATCHED).await;
        }
        self.pending = true;
        sleep(TOGETHER).await;
        while self.told.try_recv().is_ok() {}
        self.pending = false;
    }
}

impl Default for Changes {
    fn default() -> Self {
        Self::new()
    }
}

/// All agents, watched.
pub struct Watch<'a> {
    host: &'a Host,
    registry: &'a Registry,
    /// Tells when to look.
    pub changes: Changes,
    agents: Option<Vec<Agent>>,
    screens_due: Instant,
}

impl<'a> Watch<'a> {
    /// Begins to watch. The registry stays open as long: closing it would be a change of its own.
    pub fn new(host: &'a Host, registry: &'a Registry) -> Self {
        let mut changes = Changes::new();
        changes.also(host.pao_home.clone());
        Self { host, registry, changes, agents: None, screens_due: Instant::now() }
    }

    /// All agents: at once the first time, then as soon as one of them is another than before.
    pub async fn next(&mut self) -> Result<Vec<Agent>, RegistryError> {
        loop {
            if self.agents.is_some() {
                self.wait().await;
            }
            for folder in agent::ALL.iter().filter_map(|kind| kind.sessions_dir(self.host)) {
                self.changes.also(folder);
            }
            let screens = Instant::now() >= self.screens_due;
            if screens {
                self.screens_due = Instant::now() + SCREENS;
            }
            sweep_with(self.host, self.registry, Effort { windows: false, screens }).await;
            let agents = self.registry.agents().await?;
            if self.agents.as_ref() != Some(&agents) {
                self.agents = Some(agents.clone());
                return Ok(agents);
            }
        }
    }

    /// Waits until there is a reason to look at everything.
    async fn wait(&mut self) {
        let live: Vec<&Agent> = self.agents.iter().flatten().filter(|agent| agent.state.live()).collect();
        if live.is_empty() {
            return self.changes.next().await;
        }
        let processes: Vec<Identity> = live.iter().filter_map(|agent| agent.process).collect();
        let starting = processes.len() < live.len();
        loop {
            tokio::select! {
                () = self.changes.next() => return,
                () = sleep_until(self.screens_due) => return,
                () = sleep(PROCESSES) => {
                    if starting || !processes.iter().all(|process| process.alive()) {
                        return;
                    }
                }
            }
        }
    }
}

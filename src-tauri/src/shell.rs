//! What the commands work with: the machine, the registry as it is watched, what was shown last.
//!
//! The core is opened anew for every verb, so that what the command line or a hook did meanwhile is never missed.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pao_core::config::Config;
use pao_core::host::secrets::Service;
use pao_core::host::{Host, os};
use pao_core::life::clean;
use pao_core::projects;
use pao_core::registry::agents::Agent;
use pao_core::registry::messages::Fate;
use pao_core::registry::{Registry, RegistryError};
use pao_core::spawn::passed;
use pao_core::view::glance::{self, Seen};
use pao_core::wire;
use pao_core::wire::door::{Glance, Hotkey, SourceDot, Trouble};
use pao_core::{Context, Error};
use tauri::{AppHandle, Emitter};
use tokio_util::sync::CancellationToken;

use crate::jobs::Jobs;
use crate::notices::{self, Notices};
use crate::{hotkey, popover, tray};

/// The running app. Cheap to clone.
#[derive(Clone)]
pub struct Shell {
    inner: Arc<Inner>,
}

/// What the running app is made of.
pub struct Inner {
    /// The toolkit's own handle.
    pub app: AppHandle,
    /// The machine.
    pub host: Host,
    /// The folder the app was started in, from which its arguments count.
    pub started_in: PathBuf,
    /// Spawns under way.
    pub jobs: Jobs,
    /// The hotkey as it is.
    pub hotkey: Mutex<Hotkey>,
    /// How the popover behaves.
    pub popover: Mutex<popover::Popover>,
    /// What the tray shows.
    pub tray: Mutex<tray::Shown>,
    /// The page that was opened last, for a panel that does not listen yet.
    pub page: Mutex<Option<crate::door::Page>>,
    /// Holds what was copied: on Linux it is gone with whoever put it there.
    pub clipboard: Mutex<Option<arboard::Clipboard>>,
    /// What is told on the user's screen.
    pub notices: Notices,
    /// Where `pao` asks for secrets.
    pub credentials: tokio::sync::Mutex<Option<Service>>,
    /// Everything was removed: what is written until the app ends goes, too.
    pub removed: AtomicBool,
    registry: Mutex<Option<Arc<Registry>>>,
    rows: Mutex<Rows>,
    glance: Mutex<Option<Glance>>,
    refreshing: tokio::sync::Mutex<()>,
    projects: Mutex<Arc<projects::Seen>>,
    sources: Mutex<BTreeMap<String, SourceDot>>,
    troubles: Mutex<BTreeMap<&'static str, Trouble>>,
    preview: Mutex<CancellationToken>,
    memories: Mutex<HashMap<(String, String), String>>,
}

/// What the registry last said.
#[derive(Debug, Clone, Default)]
struct Rows {
    agents: Vec<Agent>,
    queued: BTreeMap<String, u32>,
    folders: Vec<PathBuf>,
}

impl Rows {
    async fn read(registry: &Registry) -> Result<Self, RegistryError> {
        let mut rows = Self {
            agents: registry.agents().await?,
            folders: registry.folders().await?,
            queued: BTreeMap::new(),
        };
        for message in registry.messages(None).await? {
            if message.fate == Fate::Queued {
                *rows.queued.entry(message.agent).or_insert(0) += 1;
            }
        }
        Ok(rows)
    }
}

impl std::ops::Deref for Shell {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

/// A lock that a defect elsewhere does not take away.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shell {
    /// The app as it begins.
    pub fn new(app: AppHandle, host: Host, started_in: PathBuf) -> Self {
        let inner = Inner {
            app,
            host,
            started_in,
            jobs: Jobs::default(),
            hotkey: Mutex::new(Hotkey { keys: None, active: false, note: None }),
            popover: Mutex::default(),
            tray: Mutex::default(),
            page: Mutex::default(),
            clipboard: Mutex::default(),
            notices: Notices::default(),
            removed: AtomicBool::new(false),
            credentials: tokio::sync::Mutex::default(),
            registry: Mutex::default(),
            rows: Mutex::default(),
            glance: Mutex::default(),
            refreshing: tokio::sync::Mutex::default(),
            projects: Mutex::default(),
            sources: Mutex::default(),
            troubles: Mutex::default(),
            preview: Mutex::default(),
            memories: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The core, for a verb that does something.
    pub async fn context(&self) -> Result<Context, Error> {
        Context::open_with(self.host.clone(), Config::load_or_defaults(&self.host).0).await
    }

    /// The core, for a verb that only asks.
    pub async fn context_to_ask(&self) -> Result<Context, Error> {
        Context::open_to_ask_with(self.host.clone(), Config::load_or_defaults(&self.host).0).await
    }

    /// The registry that is watched from now on, or none.
    pub fn watch(&self, registry: Option<Arc<Registry>>) {
        *lock(&self.registry) = registry;
    }

    /// The registry that is watched.
    pub fn watched(&self) -> Option<Arc<Registry>> {
        lock(&self.registry).clone()
    }

    /// What there is of projects from now on.
    pub fn see(&self, projects: Arc<projects::Seen>) {
        *lock(&self.projects) = projects;
    }

    /// Projects and folders as they were last seen.
    pub fn projects(&self) -> Arc<projects::Seen> {
        lock(&self.projects).clone()
    }

    /// Notes what keeps the app from doing its work, or that it no longer does.
    pub fn trouble(&self, kind: &'static str, error: Option<&Error>) {
        let mut troubles = lock(&self.troubles);
        match error {
            Some(error) => {
                troubles.insert(kind, Trouble::of(kind, error));
            }
            None => {
                troubles.remove(kind);
            }
        }
    }

    /// Looks at everything and, where something is another than before, tells the windows and the tray.
    pub async fn refresh(&self) -> Glance {
        let _one = self.refreshing.lock().await;
        let now = self.look().await;
        // Without a registry an empty list is no news of anybody, and neither is what may be old.
        if self.watched().is_some_and(|registry| registry.refusal().is_none()) {
            notices::turned(self, &now.agents);
        }
        let changed = lock(&self.glance).replace(now.clone()).as_ref() != Some(&now);
        if changed {
            tray::show(self, &now);
            if let Err(error) = self.app.emit("glance", &now) {
                tracing::warn!(%error, "the windows were not told");
            }
        }
        now
    }

    async fn look(&self) -> Glance {
        let (config, broken) = Config::load_or_defaults(&self.host);
        self.trouble("config", broken.as_ref());
        if broken.is_none() {
            // A file that is being mended takes nobody's hotkey away.
            hotkey::follow(self, &config.app.hotkey);
        }
        let half_life = config.freshness.half_life();
        let Rows { agents, queued, folders } = self.rows().await;
        let sources = self.sources(&config);
        let projects = self.projects();
        let troubles: Vec<Trouble> = lock(&self.troubles).values().cloned().collect();
        glance::glance(&Seen {
            host: &self.host,
            now: self.host.now(),
            half_life,
            first_run: agents.is_empty() && !self.host.config_file().exists(),
            agents: &agents,
            queued: &queued,
            projects: &projects.projects,
            roots: &projects.roots,
            indexed: projects.indexed,
            folders: &folders,
            sources: &sources,
            troubles: &troubles,
            cleanups: &clean::history(&self.host).unwrap_or_default(),
        })
    }

    /// What the registry says or, while it does not read, what it last said.
    async fn rows(&self) -> Rows {
        if let Some(registry) = self.watched() {
            let read = Rows::read(&registry).await.map_err(Error::from);
            self.trouble("rows", read.as_ref().err());
            if let Ok(read) = read {
                *lock(&self.rows) = read;
            }
        } else if !self.host.pao_home.exists() {
            // Everything was removed.
            *lock(&self.rows) = Rows::default();
        }
        lock(&self.rows).clone()
    }

    /// The enabled sources, and how they fared when they were last asked.
    fn sources(&self, config: &Config) -> Vec<SourceDot> {
        let known = lock(&self.sources);
        let enabled = config.sources.iter().filter(|(_, source)| source.enabled());
        let names = config.implied_history().into_iter().chain(enabled.map(|(name, _)| name.as_str()));
        names
            .map(|name| {
                let unasked = || SourceDot { name: name.into(), state: "unasked".into(), reason: None };
                known.get(name).cloned().unwrap_or_else(unasked)
            })
            .collect()
    }

    /// Notes how sources fared.
    pub fn asked(&self, reports: &[passed::SourceReport]) {
        let mut known = lock(&self.sources);
        for report in reports {
            let wire::SourceReport { name, state, reason, .. } = report.into();
            known.insert(name.clone(), SourceDot { name, state: state.into(), reason });
        }
    }

    /// Takes the place of the preview before, which ends.
    pub fn next_preview(&self) -> CancellationToken {
        let mine = CancellationToken::new();
        std::mem::replace(&mut *lock(&self.preview), mine.clone()).cancel();
        mine
    }

    /// Keeps the whole texts of what a preview found.
    pub fn keep_memories(&self, gathered: &passed::Gathered) {
        let whole = |s: &pao_core::source::Snippet| ((s.source.clone(), s.id.clone()), s.text.clone());
        *lock(&self.memories) = gathered.snippets.iter().map(whole).collect();
    }

    /// The whole text of a memory the last preview found.
    pub fn memory(&self, source: &str, id: &str) -> Option<String> {
        lock(&self.memories).get(&(source.to_string(), id.to_string())).cloned()
    }

    /// What nothing can be started without.
    pub fn check_command(&self) {
        let there = self.host.exe.file_name().is_some_and(|name| name == "pao") && self.host.exe.is_file();
        let missing = Error::environment(
            "the command `pao` was found neither beside the app nor on the PATH, so no agent can be started",
            if os::IS_MACOS {
                "install the app again"
            } else {
                "put `pao` on the PATH, then start the app again"
            },
        );
        self.trouble("no-pao", (!there).then_some(&missing));
    }
}

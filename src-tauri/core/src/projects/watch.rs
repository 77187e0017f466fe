//! Watches projects and transcripts, and says what there is whenever something about it changed.
//!
//! One task of its own, ended when its [`Watch`] is dropped. It sleeps until the system tells of a change; beside that it
//! looks every ten seconds whether the roots are still there, which a disk that is taken away does not tell. What waits
//! for a disk or for git never runs on its thread, and nobody who spawns ever waits for it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::task::{JoinSet, spawn_blocking};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

use super::eyes::{Ear, Eyes, Told};
use super::ground::{Ground, Place, Tree};
use super::look::{GIT, configured, told};
use super::transcripts::{Indexing, folders};
use super::{Project, Root, RootState, sort, with_sessions};
use crate::config::Config;
use crate::host::Host;
use crate::life::repository;
use crate::source::history::{Session, Sessions, is_stale};

/// How long it must be quiet before changes that come together are looked at.
const TOGETHER: Duration = Duration::from_millis(250);
/// How long they are collected at most.
const AT_MOST: Duration = Duration::from_millis(600);
/// Time between two looks whether the roots are still there.
const ROOTS: Duration = Duration::from_secs(10);
/// How long everything is left alone after more happened than could be told.
const AFTER_LOSS: Duration = Duration::from_mins(1);
/// How many repositories git is asked about at once.
const AT_ONCE: usize = 2;
/// Share of the time that git may take for one that changes all the time.
const SHARE: u32 = 10;

/// What there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The projects, the most recently active first. Agents are not counted; see [`super::with_agents`].
    pub projects: Vec<Project>,
    /// The roots, in the order in which they are configured.
    pub roots: Vec<Root>,
    /// Folders that are watched, transcripts included.
    pub watched: usize,
    /// Why new transcripts are only looked for every now and then.
    pub transcripts_polled: Option<String>,
    /// How often the history was brought up to date.
    pub indexed: u64,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A project is new or another than before.
    Project(Project),
    /// A project is not there any more.
    Gone(Project),
    /// A root fares otherwise, is new, or has other projects.
    Root(Root),
    /// What agents said meanwhile can be recalled now.
    Indexed,
}

/// What came between two looks.
pub fn events(before: &Seen, now: &Seen) -> Vec<Event> {
    let known: HashMap<&Path, &Project> = before.projects.iter().map(|p| (p.folder.as_path(), p)).collect();
    let there: HashSet<&Path> = now.projects.iter().map(|p| p.folder.as_path()).collect();
    let roots = now.roots.iter().filter(|root| !before.roots.contains(root)).cloned().map(Event::Root);
    let other = now.projects.iter().filter(|p| known.get(p.folder.as_path()) != Some(p)).cloned();
    let gone = before.projects.iter().filter(|p| !there.contains(p.folder.as_path())).cloned();
    let indexed = (before.indexed != now.indexed).then_some(Event::Indexed);
    roots.chain(other.map(Event::Project)).chain(gone.map(Event::Gone)).chain(indexed).collect()
}

/// Watches as long as it lives.
pub struct Watch {
    seen: watch::Receiver<Arc<Seen>>,
    shown: mpsc::UnboundedSender<HashSet<PathBuf>>,
    _stop: DropGuard,
    _task: AbortOnDropHandle<()>,
}

impl Watch {
    /// Begins to watch what the configuration names, and follows its changes. Needs a runtime.
    pub fn start(host: &Host, config: &Config) -> Self {
        let (seen, receiver) = watch::channel(Arc::default());
        let (shown, asks) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        let ear = Ear::new(&host.pao_home);
        let worker = Worker {
            ground: Some(Ground::new(host, Eyes::new(0, &ear))),
            host: host.clone(),
            config: config.clone(),
            ear,
            asks,
            seen,
            stop: stop.clone(),
            known: BTreeMap::new(),
            shown: HashSet::new(),
            git: JoinSet::new(),
            asked: HashSet::new(),
            sessions: Some(Sessions::default()),
            said: Vec::new(),
            indexing: Indexing::default(),
            transcripts: Vec::new(),
            roots_due: Instant::now() + ROOTS,
            poll_due: None,
            lost_at: None,
        };
        let task = AbortOnDropHandle::new(tokio::spawn(worker.run()));
        Self { seen: receiver, shown, _stop: stop.drop_guard(), _task: task }
    }

    /// What there is right now; nothing before the first walk is over.
    pub fn seen(&self) -> Arc<Seen> {
        self.seen.borrow().clone()
    }

    /// Waits until something is another than when it was asked last; `None` when the watching broke down, and is to be
    /// begun anew.
    pub async fn next(&mut self) -> Option<Arc<Seen>> {
        self.seen.changed().await.ok()?;
        Some(self.seen.borrow_and_update().clone())
    }

    /// Whose changes are wanted, because somebody looks at them. Git is asked about no others.
    pub fn show(&self, folders: impl IntoIterator<Item = PathBuf>) {
        // The worker's end is told by `next`.
        let _ = self.shown.send(folders.into_iter().collect());
    }
}

/// A project, what git said of it (branch, number of changed paths), and how long that took.
type Answer = (PathBuf, Option<(Option<String>, usize)>, Duration);

/// A project, and what is known of its changes.
struct Known {
    project: Project,
    /// What is not committed is to be asked.
    stale: bool,
    /// When it may be asked again.
    rest: Option<Instant>,
}

struct Worker {
    /// Away while it walks.
    ground: Option<Ground>,
    host: Host,
    config: Config,
    ear: Ear,
    asks: mpsc::UnboundedReceiver<HashSet<PathBuf>>,
    seen: watch::Sender<Arc<Seen>>,
    stop: CancellationToken,
    known: BTreeMap<PathBuf, Known>,
    shown: HashSet<PathBuf>,
    git: JoinSet<Answer>,
    asked: HashSet<PathBuf>,
    /// Away while the index is asked.
    sessions: Option<Sessions>,
    said: Vec<Session>,
    indexing: Indexing,
    transcripts: Vec<PathBuf>,
    roots_due: Instant,
    poll_due: Option<Instant>,
    lost_at: Option<Instant>,
}

/// What a look at what was told came to.
#[derive(Default)]
struct Heard {
    touched: HashSet<PathBuf>,
    heads: HashSet<PathBuf>,
    transcripts: bool,
    more_transcripts: bool,
    own: bool,
}

/// The watching cannot go on.
struct Broken;

impl Worker {
    async fn run(mut self) {
        // Whoever holds the other end hears of it by the closed channel.
        if self.watch().await.is_err() {
            tracing::warn!("projects are not watched any more");
        }
    }

    async fn watch(&mut self) -> Result<(), Broken> {
        self.settle().await?;
        self.ask_history().await?;
        if let Some((_, history)) = self.config.history()
            && is_stale(&self.host, &history).await
        {
            self.indexing.note();
        }
        loop {
            self.publish();
            self.ask_git();
            self.indexing.begin(&self.host);
            let wake = self.wake();
            tokio::select! {
                () = self.stop.cancelled() => return Ok(()),
                shown = self.asks.recv() => match shown {
                    Some(shown) => self.shown = shown,
                    None => return Ok(()),
                },
                () = self.ear.heard() => {
                    self.together().await;
                    let told = self.ear.take();
                    self.hear(told).await?;
                }
                Some(done) = self.git.join_next() => self.answered(done.ok()),
                ended = self.indexing.ended() => {
                    if ended {
                        self.ask_history().await?;
                    }
                }
                () = tokio::time::sleep_until(wake.into()) => self.tick().await?,
            }
        }
    }

    /// Waits until what comes together has come.
    async fn together(&self) {
        let until = Instant::now() + AT_MOST;
        while Instant::now() < until && tokio::time::timeout(TOGETHER, self.ear.heard()).await.is_ok() {}
    }

    /// Does something with the ground that may wait for a disk.
    async fn on_ground<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Ground) -> T + Send + 'static,
    ) -> Result<T, Broken> {
        let mut ground = self.ground.take().ok_or(Broken)?;
        let (ground, result) = spawn_blocking(move || {
            let result = work(&mut ground);
            (ground, result)
        })
        .await
        .map_err(|_| Broken)?;
        self.ground = Some(ground);
        Ok(result)
    }

    /// Takes the configuration to heart and walks.
    async fn settle(&mut self) -> Result<(), Broken> {
        let roots = configured(&self.host, &self.config);
        let (limit, every) = (self.config.projects.watches, u64::from(self.config.projects.poll_s));
        self.on_ground(move |ground| ground.set(roots, usize::try_from(limit).unwrap_or(usize::MAX), every))
            .await?;
        self.walk().await
    }

    async fn walk(&mut self) -> Result<(), Broken> {
        let mut order: Vec<&Known> = self.known.values().collect();
        order.sort_by_key(|known| {
            (!self.shown.contains(&known.project.folder), std::cmp::Reverse(known.project.active_at))
        });
        let order: Vec<PathBuf> = order.into_iter().map(|known| known.project.folder.clone()).collect();
        let (stop, host) = (self.stop.clone(), self.host.clone());
        let history = self.config.history().map(|(_, history)| history);
        let (transcripts, projects) = self
            .on_ground(move |ground| {
                let transcripts = history.map(|history| folders(&host, &history)).unwrap_or_default();
                ground.walk(&order, &transcripts, &|| stop.is_cancelled());
                let projects: Vec<Project> =
                    ground.trees.iter().flat_map(|tree| tree.projects.iter().cloned()).collect();
                (transcripts, projects)
            })
            .await?;
        self.transcripts = transcripts;
        let mut before = std::mem::take(&mut self.known);
        for mut project in projects {
            if self.known.contains_key(&project.folder) {
                continue;
            }
            let known = match before.remove(&project.folder) {
                Some(Known { project: old, stale, rest }) => {
                    project.session_at = old.session_at;
                    project.active(old.active_at, self.host.now());
                    let same = old.git_dir == project.git_dir;
                    project.changed = old.changed.filter(|_| same);
                    project.branch = project.branch.or(old.branch.filter(|_| same && old.changed.is_some()));
                    Known { project, stale: stale || !same, rest }
                }
                None => Known { project, stale: true, rest: None },
            };
            self.known.insert(known.project.folder.clone(), known);
        }
        self.tell_sessions();
        let polled = self
            .ground
            .iter()
            .flat_map(|ground| &ground.trees)
            .any(|tree| matches!(tree.state, RootState::Polled { .. }) || !tree.partly.is_empty());
        let polled =
            polled || self.ground.as_ref().is_some_and(|ground| ground.transcripts_unwatched.is_some());
        let every = Duration::from_secs(self.config.projects.poll_s.into());
        self.poll_due = polled.then(|| self.poll_due.unwrap_or_else(|| Instant::now() + every));
        Ok(())
    }

    /// Reads what was said where since the last time.
    async fn ask_history(&mut self) -> Result<(), Broken> {
        let Some((_, history)) = self.config.history() else {
            self.said.clear();
            return Ok(());
        };
        let (host, mut sessions) = (self.host.clone(), self.sessions.take().unwrap_or_default());
        let asked = spawn_blocking(move || {
            let said = sessions.last(&host, &history);
            (sessions, said)
        });
        let (sessions, said) = asked.await.map_err(|_| Broken)?;
        (self.sessions, self.said) = (Some(sessions), said);
        self.tell_sessions();
        Ok(())
    }

    fn tell_sessions(&mut self) {
        let mut projects: Vec<Project> = self.known.values().map(|known| known.project.clone()).collect();
        with_sessions(&mut projects, &self.said, self.host.now());
        for project in projects {
            if let Some(known) = self.known.get_mut(&project.folder) {
                known.project = project;
            }
        }
    }

    /// Looks at what was told.
    async fn hear(&mut self, told: Told) -> Result<(), Broken> {
        let lost = told.lost;
        let transcripts = self.transcripts.clone();
        let heard = self.on_ground(move |ground| look_at(ground, &told, &transcripts)).await?;
        if lost && self.lost_at.is_none_or(|at| at.elapsed() > AFTER_LOSS) {
            self.lost_at = Some(Instant::now());
            self.indexing.note();
            self.known.values_mut().for_each(|known| known.stale = true);
            self.on_ground(|ground| ground.trees.iter_mut().for_each(|tree| tree.due = true)).await?;
        }
        if heard.transcripts {
            self.indexing.note();
        }
        let now = self.host.now();
        for folder in &heard.touched {
            if let Some(known) = self.known.get_mut(folder) {
                known.stale = true;
                known.project.active(Some(now), now);
            }
        }
        for folder in heard.heads {
            let Some(known) = self.known.get_mut(&folder) else { continue };
            known.stale = true;
            let mut project = known.project.clone();
            let looked = spawn_blocking(move || {
                project.look_at_head(now);
                project
            });
            known.project = looked.await.map_err(|_| Broken)?;
        }
        self.forget_unshown();
        if heard.own {
            let config = Config::load(&self.host);
            // One that does not read just now is somebody's half-typed word.
            if let Ok(config) = config.inspect_err(|error| tracing::warn!(%error, "the old settings hold"))
                && (config.projects != self.config.projects || config.sources != self.config.sources)
            {
                self.config = config;
                return self.settle().await;
            }
        }
        let due = self.ground.as_ref().and_then(Ground::next_walk).is_some_and(|at| at <= Instant::now());
        if due || heard.more_transcripts { self.walk().await } else { Ok(()) }
    }

    /// What nobody looks at and has changed is not known any more.
    fn forget_unshown(&mut self) {
        for known in self.known.values_mut().filter(|known| known.stale) {
            if !self.shown.contains(&known.project.folder) {
                known.project.changed = None;
            }
        }
    }

    /// Does what is due by the clock.
    async fn tick(&mut self) -> Result<(), Broken> {
        let now = Instant::now();
        let mut walk = self.ground.as_ref().and_then(Ground::next_walk).is_some_and(|at| at <= now);
        if self.roots_due <= now {
            let transcripts = self.transcripts.clone();
            walk |= self
                .on_ground(move |ground| ground.check(&transcripts) || ground.next_walk().is_some())
                .await?;
            self.roots_due = Instant::now() + ROOTS;
        }
        if self.poll_due.is_some_and(|due| due <= now) {
            self.poll_due = None;
            self.poll().await?;
            walk = true;
        }
        if walk { self.walk().await } else { Ok(()) }
    }

    /// Looks through what cannot be watched.
    async fn poll(&mut self) -> Result<(), Broken> {
        let (polled, transcripts) = self
            .on_ground(|ground| {
                let mut polled: HashSet<PathBuf> = HashSet::new();
                for tree in &mut ground.trees {
                    if matches!(tree.state, RootState::Polled { .. }) {
                        tree.due = true;
                        polled.extend(tree.projects.iter().map(|project| project.folder.clone()));
                    }
                    polled.extend(tree.partly.iter().cloned());
                }
                (polled, ground.transcripts_unwatched.is_some())
            })
            .await?;
        for (folder, known) in &mut self.known {
            known.stale |= polled.contains(folder);
        }
        if transcripts
            && let Some((_, history)) = self.config.history()
            && is_stale(&self.host, &history).await
        {
            self.indexing.note();
        }
        Ok(())
    }

    /// Asks git about what somebody looks at and is not known.
    fn ask_git(&mut self) {
        let now = Instant::now();
        for (folder, known) in &mut self.known {
            if self.git.len() >= AT_ONCE {
                break;
            }
            let wanted = known.stale && known.project.git_dir.is_some() && self.shown.contains(folder);
            if !wanted || known.rest.is_some_and(|rest| rest > now) || self.asked.contains(folder) {
                continue;
            }
            known.stale = false;
            self.asked.insert(folder.clone());
            let folder = folder.clone();
            self.git.spawn(async move {
                let began = Instant::now();
                let answer = repository::changed(&folder, GIT).await;
                (folder, answer, began.elapsed())
            });
        }
    }

    fn answered(&mut self, done: Option<Answer>) {
        let Some((folder, answer, took)) = done else {
            // Which one it was is not known: all that are under way are free to be asked again.
            self.asked.clear();
            return;
        };
        self.asked.remove(&folder);
        let Some(known) = self.known.get_mut(&folder) else { return };
        known.rest = Some(Instant::now() + took * SHARE);
        let (branch, changed) = answer.map_or((None, None), |(branch, n)| (branch, u32::try_from(n).ok()));
        known.project.changed = changed;
        known.project.branch = known.project.branch.take().or(branch);
    }

    /// When something is due by the clock.
    fn wake(&self) -> Instant {
        let now = Instant::now();
        let resting = self.known.iter().filter(|(folder, known)| {
            known.stale && known.project.git_dir.is_some() && self.shown.contains(*folder)
        });
        let resting = resting.filter_map(|(_, known)| known.rest.filter(|rest| *rest > now)).min();
        let walk = self.ground.as_ref().and_then(Ground::next_walk);
        let due = [Some(self.roots_due), self.poll_due, resting, walk, self.indexing.due()];
        due.into_iter().flatten().min().unwrap_or(self.roots_due)
    }

    fn publish(&self) {
        let Some(ground) = &self.ground else { return };
        let mut projects: Vec<Project> = self.known.values().map(|known| known.project.clone()).collect();
        sort(&mut projects);
        let mut roots: Vec<Root> = ground.trees.iter().map(Tree::told).collect();
        told(&mut roots, &projects);
        let seen = Seen {
            projects,
            roots,
            watched: ground.eyes.count(),
            transcripts_polled: ground.transcripts_unwatched.as_ref().map(|refused| refused.why.clone()),
            indexed: self.indexing.times(),
        };
        self.seen.send_if_modified(|known| {
            let other = **known != seen;
            if other {
                *known = Arc::new(seen);
            }
            other
        });
    }
}

fn look_at(ground: &mut Ground, told: &Told, transcripts: &[PathBuf]) -> Heard {
    let mut heard = Heard::default();
    for folder in &told.touched {
        match ground.places.get(folder) {
            Some(Place::Inside(project)) => drop(heard.touched.insert(project.clone())),
            Some(Place::Git(projects)) => heard.heads.extend(projects.iter().cloned()),
            Some(Place::Own) => heard.own = true,
            Some(Place::Transcripts) => heard.transcripts = true,
            Some(Place::Air | Place::Above) => {}
            None => heard.transcripts |= transcripts.iter().any(|root| folder.starts_with(root)),
        }
    }
    for path in &told.structure {
        let parent = path.parent().and_then(|parent| ground.places.get(parent));
        if parent == Some(&Place::Transcripts) {
            heard.more_transcripts |= path.is_dir() && !ground.eyes.sees(path);
        } else {
            ground.changed(path);
        }
    }
    heard
}

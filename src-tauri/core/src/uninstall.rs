//! Every trace of ours on this machine: found and listed first, removed only afterwards.
//!
//! It removes what PAO wrote and nothing else: a folder goes only when nothing of others is left in it, a program
//! only when it is this very one.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Context;
use crate::Error;
use crate::agent::{self, Resume};
use crate::config::Config;
use crate::entrance::file_manager::{data_home, xdg};
use crate::entrance::{self, APP_ID, Standing};
use crate::host::process::Identity;
use crate::host::secrets::SecretStore;
use crate::host::{Host, LoginItem, app, files, os};
use crate::project::Project;
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};
use crate::spawn::launch::{self, Orphan};
use crate::spawn::{self, Target};
use crate::spawn::{deliver, trust};
use crate::worktree;

/// One trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What it is, for people.
    pub what: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// What was done for an agent: taken back by undo.
    Agent { id: String },
    /// An agent that the registry does not know: ended, where it runs.
    Orphan(Orphan),
    /// Something of which nothing says any more whether it is ours: stays, with this reason.
    Doubtful(&'static str),
    /// A value in the secret store.
    Secret { name: String },
    /// A file or folder of ours, with everything in it.
    Path(PathBuf),
    /// A folder that goes when it is empty.
    Folder(PathBuf),
    /// A part of an entrance from outside.
    Entrance(PathBuf),
    /// Opening at login, where the system itself keeps it.
    LoginItem,
    /// A git worktree of ours that goes where no work is in it.
    Worktree(PathBuf),
    /// The app, which would write anew what is removed: asked to quit.
    App(Identity),
}

/// What there is to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Every trace, in the order of removal.
    pub traces: Vec<Trace>,
    /// Agents that are at work, by name or id.
    pub running: Vec<String>,
    /// The app runs, and is not this process.
    pub app: bool,
    /// Agents that are paused and cannot be resumed by pao afterwards: a phrase each, with how their conversation is
    /// taken up without it.
    pub paused: Vec<String>,
}

/// What became of one trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// What it was.
    pub what: String,
    /// What became of it, a phrase.
    pub outcome: String,
    /// It is no longer there.
    pub gone: bool,
}

/// What PAO keeps in its own folder, and what that is for people. Anything else there is not ours to remove.
const OURS: &[(&str, &str)] = &[
    ("agents", "the agents' private folders"),
    ("cleanups", "what was cleaned up, kept for undo"),
    ("edit", "briefings being edited"),
    ("history", "the search index of your transcripts (never the transcripts)"),
    ("locks", "locks"),
    ("logs", "the app's log"),
    ("run", "where the app listens for pao"),
    ("secrets", "the folder of passwords and tokens"),
    ("shown.json", "the memories that were shown last"),
    ("spool", "events of agents"),
    ("agent-version", "what was found out about this machine"),
    ("automation.json", "what was found out about this machine"),
    ("config.lock", "a lock"),
    ("config.toml", "your settings"),
    ("login-env.json", "what was found out about this machine"),
    ("registry.db", "the registry of agents and of your marks"),
    ("registry.db-journal", "the registry of agents and of your marks"),
    ("registry.db-shm", "the registry of agents and of your marks"),
    ("registry.db-wal", "the registry of agents and of your marks"),
    ("tmux.conf", "settings for tmux"),
];

/// How long what comes into our folder while it is removed is removed too.
const LATECOMERS: Duration = Duration::from_secs(5);
/// How long it is waited until that is tried again.
const AGAIN: Duration = Duration::from_millis(50);

/// Where completion scripts are usually put, from the home directory, and what shows that one is ours.
const COMPLETIONS: &[(&str, &str)] = &[
    (".local/share/bash-completion/completions/pao", "_pao() {"),
    (".zfunc/_pao", "#compdef pao"),
    (".config/fish/completions/pao.fish", "PAO_COMPLETE="),
];

/// Everything that would be removed, in that order. Only reads.
pub async fn plan(host: &Host) -> Result<Plan, Error> {
    plan_with(host, true).await
}

/// The same for who only wants to see what is there: the system's secret store, which may ask the user for a password,
/// is not asked. What it may hold is listed with "if one is kept".
pub async fn look(host: &Host) -> Result<Vec<Trace>, Error> {
    Ok(plan_with(host, false).await?.traces)
}

async fn plan_with(host: &Host, ask: bool) -> Result<Plan, Error> {
    let mut plan = Plan::default();
    let agents = if host.registry_file().exists() { with_rows(host, &mut plan).await? } else { Vec::new() };
    without_rows(host, &agents, &mut plan);
    if let Some(process) = app::running(host).await {
        plan.app = true;
        let what = format!("the app, which runs as process {}", process.pid);
        plan.traces.insert(0, Trace { what, kind: Kind::App(process) });
    }
    let traces = &mut plan.traces;
    traces.extend(secrets(host, ask).await);
    for (path, mark) in COMPLETIONS {
        let path = host.home.join(path);
        if std::fs::read_to_string(&path).is_ok_and(|text| text.contains(mark)) {
            traces.push(trace(host, "the completion script", path));
        }
    }
    plan_entrances(host, traces);
    plan_worktrees(host, &agents, traces).await;
    let versions = agent::KINDS.iter().map(|kind| format!("{kind}-version"));
    for path in versions.map(|name| host.pao_home.join(name)).filter(|path| path.symlink_metadata().is_ok()) {
        traces.push(trace(host, "what was found out about this machine", path));
    }
    for (name, what) in OURS {
        let path = host.pao_home.join(name);
        if path.symlink_metadata().is_ok() {
            traces.push(trace(host, what, path));
        }
    }
    if host.pao_home.is_dir() {
        let what = format!("the folder {}, unless something else is in it", host.display(&host.pao_home));
        traces.push(Trace { what, kind: Kind::Folder(host.pao_home.clone()) });
    }
    let installed = host.home.join(".local/bin/pao");
    // A folder of ours elsewhere was tried out; the program belongs to the usual one.
    if host.pao_home == host.home.join(".pao") && is_this_program(host, &installed) {
        let beside = installed.with_file_name(app::PROGRAM);
        traces.push(trace(host, "the program", installed));
        if beside.is_file() {
            traces.push(trace(host, "the app", beside));
        }
    }
    for path in kept_for_app(host) {
        traces.push(trace(host, "what the system keeps for the app's windows", path));
    }
    Ok(plan)
}

/// What the web view and the system write for the app, by its identifier; only of the app that goes with the usual folder.
fn kept_for_app(host: &Host) -> Vec<PathBuf> {
    if host.pao_home != host.home.join(".pao") {
        return Vec::new();
    }
    let places = if os::IS_MACOS {
        let library = host.home.join("Library");
        let folders = ["WebKit", "Caches", "HTTPStorages", "Application Support"];
        let mut places: Vec<PathBuf> = folders.iter().map(|name| library.join(name).join(APP_ID)).collect();
        places.push(library.join("Preferences").join(format!("{APP_ID}.plist")));
        places.push(library.join("Saved Application State").join(format!("{APP_ID}.savedState")));
        places
    } else {
        let (data, cache) = (data_home(host), xdg(host, "XDG_CACHE_HOME", ".cache"));
        [data, cache].iter().flat_map(|home| [home.join(APP_ID), home.join(app::PROGRAM)]).collect()
    };
    places.into_iter().filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// Removes once more what is kept for the app's windows: for the app itself, as the last thing it does.
pub async fn remove_kept_for_app(host: &Host) {
    app::end_windows().await;
    for path in kept_for_app(host) {
        if let Err(error) = remove_path(&path) {
            tracing::warn!(%error, "something was left behind");
        }
    }
}

/// The ways in from outside.
fn plan_entrances(host: &Host, traces: &mut Vec<Trace>) {
    let parts = entrance::file_manager::found(host).unwrap_or_default();
    for part in parts {
        if matches!(part.standing, Standing::Installed | Standing::NeedsRepair) {
            let what = format!("{}: {}", part.what, host.display(&part.path));
            traces.push(Trace { what, kind: Kind::Entrance(part.path) });
        }
    }
    if let Some(entry) = entrance::autostart::entry(host) {
        traces.push(trace(host, "opening at login", entry));
    }
    if matches!(os::login_item(host), Some(LoginItem::On | LoginItem::NeedsApproval)) {
        traces.push(Trace { what: "opening at login".into(), kind: Kind::LoginItem });
    }
}

/// What the registry knows of.
async fn with_rows(host: &Host, plan: &mut Plan) -> Result<Vec<Agent>, Error> {
    let registry = Registry::open_to_ask(&host.registry_file()).await?;
    let open = registry.open_changes(None).await?;
    let agents = registry.agents().await?;
    let unreadable: Vec<_> = registry.unreadable().into_iter().map(|row| row.agent).collect();
    registry.close().await;
    let named = agents.iter().map(|agent| (&agent.id, &agent.name));
    for (id, name) in named.chain(unreadable.iter().map(|id| (id, id))) {
        let mut changes = Vec::new();
        for entry in open.iter().filter(|entry| entry.agent == *id) {
            let gone = if launch::window_is_gone(host, entry).await { " (closed already)" } else { "" };
            changes.push(spawn::undo::describe(host, &entry.change) + gone);
        }
        if !changes.is_empty() {
            let what = format!("for agent {name}: {}", changes.join(", "));
            plan.traces.push(Trace { what, kind: Kind::Agent { id: id.clone() } });
        }
    }
    plan.running.extend(agents.iter().filter(|agent| runs(agent)).map(|agent| agent.name.clone()));
    let paused = agents.iter().filter(|agent| agent.state == State::Paused && agent.archived_at.is_none());
    plan.paused.extend(paused.map(|agent| match without_us(agent) {
        Some(how) => format!("{}: {how} in {} takes it up", agent.name, host.display(&agent.folder)),
        None => agent.name.clone(),
    }));
    Ok(agents)
}

/// The command that takes up an agent's conversation without us.
fn without_us(agent: &Agent) -> Option<String> {
    let kind = agent::by_kind(&agent.host_agent)?;
    let session = agent.session.as_deref()?;
    Some(match kind.flags.resume {
        Resume::Flag(word) | Resume::Command(word) => format!("`{} {word} {session}`", kind.program),
    })
}

/// Worktrees that were made for agents, whoever still knows of them, and the branches of ours in their repositories.
async fn plan_worktrees(host: &Host, agents: &[Agent], traces: &mut Vec<Trace>) {
    let home = host.home.join(worktree::FOLDER);
    let entries = std::fs::read_dir(&home).into_iter().flatten().flatten();
    let mut places: Vec<PathBuf> = entries.map(|e| e.path()).filter(|path| path.is_dir()).collect();
    places.sort();
    let mut repositories = BTreeSet::new();
    for folder in places.iter().chain(agents.iter().map(|agent| &agent.folder)) {
        repositories.extend(Project::of(folder).common_dir);
    }
    for path in places {
        let what = format!("git worktree {}, unless there is work in it", host.display(&path));
        traces.push(Trace { what, kind: Kind::Worktree(path) });
    }
    for repository in repositories {
        for branch in worktree::branches(&repository).await {
            let what = format!("left to you: branch {branch} in {}", host.display(&repository));
            let why = "goes with its worktree where all of it is merged; else delete it with `git branch -D`";
            traces.push(Trace { what, kind: Kind::Doubtful(why) });
        }
    }
    if home.is_dir() {
        let what = format!("the folder {}, unless something else is in it", host.display(&home));
        traces.push(Trace { what, kind: Kind::Folder(home) });
    }
}

/// What is left of agents whose rows were lost.
fn without_rows(host: &Host, known: &[Agent], plan: &mut Plan) {
    for orphan in launch::orphans(host, known) {
        let at_work = orphan.process.map(|p| format!(", at work as process {}", p.pid)).unwrap_or_default();
        let shown = orphan.folder.as_ref().map(|f| format!(" in {}", host.display(f))).unwrap_or_default();
        let what = format!("agent {}{shown}, which is in no registry{at_work}", orphan.id);
        plan.running.extend(orphan.process.map(|_| orphan.id.clone()));
        let doubtful = orphan.folder.as_deref().map(|folder| doubtful(host, folder)).unwrap_or_default();
        plan.traces.push(Trace { what, kind: Kind::Orphan(orphan) });
        for trace in doubtful {
            if !plan.traces.contains(&trace) {
                plan.traces.push(trace);
            }
        }
    }
}

/// What may have been done for an agent of which only its folder is known.
fn doubtful(host: &Host, folder: &Path) -> Vec<Trace> {
    let mut traces = Vec::new();
    let agent = Config::load(host).ok().and_then(|config| agent::by_kind(&config.agent.kind));
    if let Some(agent) = agent {
        let (config, project) = (agent.trust_file(host), Project::of(folder));
        let place = trust::Place { config: &config, record: agent.trust, folder, project: &project };
        if trust::is_trusted(&place) {
            let what = format!("left to you: trust of {} in {}", host.display(folder), host.display(&config));
            let why = "nothing says any more who agreed to it; take it out there if it is not wanted";
            traces.push(Trace { what, kind: Kind::Doubtful(why) });
        }
        let rules = agent.reads.rules.map(|rules| folder.join(rules).join(deliver::RULES_FILE));
        for path in [Some(folder.join(deliver::BRIEFING_FILE)), rules].into_iter().flatten() {
            if path.is_file() {
                let why = "nothing says any more who wrote it; delete it if it is a briefing";
                traces.push(Trace {
                    what: format!("left to you: file {}", host.display(&path)),
                    kind: Kind::Doubtful(why),
                });
            }
        }
    }
    traces
}

fn trace(host: &Host, what: &str, path: PathBuf) -> Trace {
    Trace { what: format!("{what}: {}", host.display(&path)), kind: Kind::Path(path) }
}

/// The secrets of configured sources; a store cannot be asked for all that is ours in it.
async fn secrets(host: &Host, ask: bool) -> Vec<Trace> {
    let Ok(config) = Config::load(host) else { return Vec::new() };
    let Ok(store) = SecretStore::new(host, &config.secrets.store) else { return Vec::new() };
    let mut found = Vec::new();
    for name in config.secret_names() {
        let kept = if ask { Some(store.is_kept(name).await.unwrap_or(false)) } else { store.has(name) };
        if kept != Some(false) {
            let unsure = if kept.is_none() { ", if one is kept" } else { "" };
            let what = format!("the password or token of {name}, in {}{unsure}", store.place());
            found.push(Trace { what, kind: Kind::Secret { name: name.to_owned() } });
        }
    }
    found
}

fn is_this_program(host: &Host, path: &Path) -> bool {
    match (path.canonicalize(), host.exe.canonicalize()) {
        (Ok(installed), Ok(own)) => installed == own,
        _ => false,
    }
}

/// Removes the traces. Refused while agents run, unless they may be ended.
pub async fn remove(host: &Host, traces: &[Trace], end_live: bool) -> Result<Vec<Removed>, Error> {
    let at_work = traces.iter().filter_map(|trace| match &trace.kind {
        Kind::Orphan(orphan) => orphan.process.filter(|process| process.alive()).map(|_| orphan.id.clone()),
        _ => None,
    });
    let at_work: Vec<String> = at_work.collect();
    if !at_work.is_empty() && !end_live {
        return Err(still_running(&at_work));
    }
    let runs = traces.iter().any(|trace| matches!(trace.kind, Kind::App(app) if app.alive()));
    if runs && !end_live {
        return Err(app_runs());
    }
    let mut removed = Vec::new();
    if host.registry_file().exists() {
        removed.extend(take_back(host, traces, end_live).await?);
    }
    let config = Config::load(host).unwrap_or_default();
    let store = SecretStore::new(host, &config.secrets.store);
    for trace in traces {
        let (outcome, gone) = match &trace.kind {
            Kind::Agent { .. } => continue,
            Kind::Doubtful(why) => (why.to_string(), false),
            Kind::Orphan(orphan) => match launch::end(host, orphan).await {
                Ok(()) if orphan.process.is_some() => ("ended".to_string(), true),
                Ok(()) => ("had ended".to_string(), true),
                Err(error) => (format!("kept: {error}"), false),
            },
            Kind::Secret { name } => match &store {
                Ok(store) => match store.delete(name).await {
                    Ok(true) => ("deleted".to_string(), true),
                    Ok(false) => ("was gone already".to_string(), true),
                    Err(error) => (format!("kept: {error}"), false),
                },
                Err(error) => (format!("kept: {error}"), false),
            },
            Kind::Path(path) => done(remove_path(path)),
            Kind::Folder(path) if *path == host.pao_home => done(remove_home(path).await),
            Kind::Folder(path) => done(remove_empty(path)),
            Kind::Entrance(path) => match entrance::file_manager::remove_one(host, path).await {
                Ok(done) => (done.outcome.into(), true),
                Err(error) => (format!("kept: {error}"), false),
            },
            Kind::LoginItem => match os::set_login_item(false) {
                Ok(()) => ("switched off".into(), true),
                Err(error) => (format!("kept: {error}"), false),
            },
            Kind::Worktree(path) => worktree::take_back(host, path).await,
            Kind::App(process) if app::quit(*process).await => ("quit".into(), true),
            Kind::App(process) => (format!("does not quit: end it with `kill -9 {}`", process.pid), false),
        };
        removed.push(Removed { what: trace.what.clone(), outcome, gone });
    }
    Ok(removed)
}

async fn take_back(host: &Host, traces: &[Trace], end_live: bool) -> Result<Vec<Removed>, Error> {
    let registry = Registry::open(&host.registry_file()).await?;
    let running = registry.agents().await?.into_iter().filter(runs).map(|agent| agent.name);
    let running: Vec<String> = running.collect();
    if !running.is_empty() && !end_live {
        registry.close().await;
        return Err(still_running(&running));
    }
    let config = Config::load(host).unwrap_or_default();
    let context = Context {
        host: host.clone(),
        config,
        registry: std::sync::Arc::new(registry),
        without_registry: None,
    };
    let mut removed = Vec::new();
    for trace in traces {
        let Kind::Agent { id } = &trace.kind else { continue };
        for item in spawn::undo(&context, &Target::Agent(id.clone()), true).await? {
            removed.push(Removed { what: item.what, outcome: item.outcome, gone: item.gone });
        }
    }
    if let Some(registry) = std::sync::Arc::into_inner(context.registry) {
        registry.close().await;
    }
    Ok(removed)
}

/// That nothing is removed while agents are at work.
pub fn still_running(names: &[String]) -> Error {
    Error::user(
        format!("nothing was removed, for still at work: {}", names.join(", ")),
        "end them yourself, or let pao end them with --end",
    )
}

/// That nothing is removed while the app runs.
pub fn app_runs() -> Error {
    Error::user(
        "nothing was removed, for the app runs and would write anew what is removed",
        "quit it (Quit in its menu), remove everything in its settings, or let pao end it with --end",
    )
}

fn runs(agent: &Agent) -> bool {
    agent.process.is_some_and(Identity::alive)
}

fn done(result: std::io::Result<&'static str>) -> (String, bool) {
    match result {
        Ok(outcome) => (outcome.into(), true),
        Err(error) => (format!("kept: {error}"), false),
    }
}

/// Removes a file, a link (never what it points to) or a folder.
fn remove_path(path: &Path) -> std::io::Result<&'static str> {
    let is_dir = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    if is_dir {
        std::fs::remove_dir_all(path)?;
        return Ok("removed");
    }
    Ok(if files::remove_if_there(path)? { "removed" } else { "was gone already" })
}

/// Removes our folder with what of ours came into it meanwhile: the last hook of an agent that was ended indexes what was
/// said in it, and stops when it finds nothing of ours any more.
async fn remove_home(path: &Path) -> std::io::Result<&'static str> {
    let begun = Instant::now();
    loop {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let (ours, others): (Vec<_>, Vec<_>) = entries.map(|entry| entry.file_name()).partition(is_ours);
        for name in &ours {
            // Somebody may be writing to it right now; then it is tried again.
            let _ = remove_path(&path.join(name));
        }
        match remove_empty(path) {
            Err(_) if others.is_empty() && begun.elapsed() < LATECOMERS => tokio::time::sleep(AGAIN).await,
            other => return other,
        }
    }
}

fn is_ours(name: &OsString) -> bool {
    let is = |name: &str| {
        let of_agent = name.strip_suffix("-version").is_some_and(|kind| agent::by_kind(kind).is_some());
        of_agent || OURS.iter().any(|(ours, _)| *ours == name)
    };
    // The app may have been ended while it wrote something.
    files::is_half_written(Path::new(name)) || name.to_str().is_some_and(is)
}

fn remove_empty(path: &Path) -> std::io::Result<&'static str> {
    if !path.exists() {
        return Ok("was gone already");
    }
    if let Some(entry) = std::fs::read_dir(path)?.next() {
        let name = entry?.file_name();
        return Err(std::io::Error::other(format!("{} is still in it", name.display())));
    }
    std::fs::remove_dir(path)?;
    Ok("removed")
}

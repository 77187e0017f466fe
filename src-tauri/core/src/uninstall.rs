//! Every trace of ours on this machine: found and listed first, removed only afterwards.
//!
//! It removes what PAO wrote and nothing else: a folder goes only when nothing of others is left in it, a program
//! only when it is this very one.

use std::path::{Path, PathBuf};

use crate::Context;
use crate::Error;
use crate::config::Config;
use crate::host::process::Identity;
use crate::host::secrets::SecretStore;
use crate::host::{Host, files};
use crate::registry::Registry;
use crate::registry::agents::Agent;
use crate::spawn::{self, Target};

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
    /// A value in the secret store.
    Secret { name: String },
    /// A file or folder of ours, with everything in it.
    Path(PathBuf),
    /// A folder that goes when it is empty.
    Folder(PathBuf),
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

/// What PAO keeps in its own folder. Anything else there is not ours to remove.
const OURS: &[&str] = &[
    "agents",
    "edit",
    "history",
    "locks",
    "secrets",
    "spool",
    "agent-version",
    "automation.json",
    "config.lock",
    "config.toml",
    "login-env.json",
    "registry.db",
    "registry.db-shm",
    "registry.db-wal",
    "tmux.conf",
];

/// Where completion scripts are usually put, from the home directory, and what shows that one is ours.
const COMPLETIONS: &[(&str, &str)] = &[
    (".local/share/bash-completion/completions/pao", "_pao() {"),
    (".zfunc/_pao", "#compdef pao"),
    (".config/fish/completions/pao.fish", "complete -c pao "),
];

/// Everything that would be removed, in that order. Only reads.
pub async fn plan(host: &Host) -> Result<Vec<Trace>, Error> {
    let mut traces = Vec::new();
    if host.registry_file().exists() {
        let registry = Registry::open(&host.registry_file()).await?;
        let open = registry.open_changes(None).await?;
        for agent in registry.agents().await? {
            let changes = open.iter().filter(|entry| entry.agent == agent.id);
            let changes: Vec<_> = changes.map(|entry| spawn::undo::describe(host, &entry.change)).collect();
            if !changes.is_empty() {
                let what = format!("of agent {}: {}", agent.name, changes.join(", "));
                traces.push(Trace { what, kind: Kind::Agent { id: agent.id } });
            }
        }
        registry.close().await;
    }
    traces.extend(secrets(host).await);
    for (path, mark) in COMPLETIONS {
        let path = host.home.join(path);
        if std::fs::read_to_string(&path).is_ok_and(|text| text.contains(mark)) {
            traces.push(trace(host, "completion script", path));
        }
    }
    let kept =
        OURS.iter().map(|name| host.pao_home.join(name)).filter(|path| path.symlink_metadata().is_ok());
    traces.extend(kept.map(|path| trace(host, "our own", path)));
    if host.pao_home.is_dir() {
        let what = format!("folder {}, when nothing else is in it", host.display(&host.pao_home));
        traces.push(Trace { what, kind: Kind::Folder(host.pao_home.clone()) });
    }
    let installed = host.home.join(".local/bin/pao");
    // A folder of ours elsewhere was tried out; the program belongs to the usual one.
    if host.pao_home == host.home.join(".pao") && is_this_program(host, &installed) {
        traces.push(trace(host, "program", installed));
    }
    Ok(traces)
}

fn trace(host: &Host, word: &str, path: PathBuf) -> Trace {
    Trace { what: format!("{word} {}", host.display(&path)), kind: Kind::Path(path) }
}

/// The secrets of configured sources; a store cannot be asked for all that is ours in it.
async fn secrets(host: &Host) -> Vec<Trace> {
    let Ok(config) = Config::load(host) else { return Vec::new() };
    let Ok(store) = SecretStore::new(host, &config.secrets.store) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, source) in &config.sources {
        if source.kind() != "history" && store.get(name).await.is_ok_and(|value| value.is_some()) {
            let what = format!("secret {name} in {}", store.place());
            found.push(Trace { what, kind: Kind::Secret { name: name.clone() } });
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
    let mut removed = Vec::new();
    if host.registry_file().exists() {
        removed.extend(take_back(host, traces, end_live).await?);
    }
    let config = Config::load(host).unwrap_or_default();
    let store = SecretStore::new(host, &config.secrets.store);
    for trace in traces {
        let (outcome, gone) = match &trace.kind {
            Kind::Agent { .. } => continue,
            Kind::Secret { name } => match &store {
                Ok(store) => match store.delete(name).await {
                    Ok(true) => ("deleted".to_string(), true),
                    Ok(false) => ("was gone already".to_string(), true),
                    Err(error) => (format!("kept: {error}"), false),
                },
                Err(error) => (format!("kept: {error}"), false),
            },
            Kind::Path(path) => done(remove_path(path)),
            Kind::Folder(path) => done(remove_empty(path)),
        };
        removed.push(Removed { what: trace.what.clone(), outcome, gone });
    }
    Ok(removed)
}

async fn take_back(host: &Host, traces: &[Trace], end_live: bool) -> Result<Vec<Removed>, Error> {
    let registry = Registry::open(&host.registry_file()).await?;
    let running: Vec<Agent> = registry.agents().await?.into_iter().filter(runs).collect();
    if !running.is_empty() && !end_live {
        let names: Vec<_> = running.iter().map(|a| a.name.as_str()).collect();
        registry.close().await;
        return Err(Error::user(
            format!("still running: {}", names.join(", ")),
            "end them yourself, or: pao uninstall --end",
        ));
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

fn remove_empty(path: &Path) -> std::io::Result<&'static str> {
    if std::fs::read_dir(path)?.next().is_some() {
        return Err(std::io::Error::other("there is something in it that is not ours"));
    }
    std::fs::remove_dir(path)?;
    Ok("removed")
}

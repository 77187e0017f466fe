//! Looks at everything a spawn needs and says for each thing what was found and how to cure it.
//!
//! It changes nothing of the user's: the one thing it writes is a secret of its own, which it deletes again.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::Context;
use crate::Error;
use crate::agent::{ALL, HostAgent, by_kind};
use crate::config::Config;
use crate::entrance::{self, Standing};
use crate::host::login::{self, How};
use crate::host::process::Run;
use crate::host::secrets::SecretStore;
use crate::host::{Host, files, os, terminal, writing};
use crate::project::Project;
use crate::projects::{self, RootState};
use crate::registry::{Registry, RegistryError};
use crate::source::{SourceError, history};
use crate::spawn::trust;
use crate::words::counted;

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// As it should be.
    Ok,
    /// A spawn works, yet something is lost.
    Warning,
    /// A spawn will fail, or a promise cannot be kept.
    Failed,
}

impl Health {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Health::Ok => "ok",
            Health::Warning => "warning",
            Health::Failed => "failed",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it is.
    pub name: String,
    /// How it is.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// What to do about it; empty where nothing is to be done.
    pub cure: String,
}

impl Check {
    fn ok(name: &str, found: impl Into<String>) -> Self {
        Self { name: name.into(), health: Health::Ok, found: found.into(), cure: String::new() }
    }

    fn warning(name: &str, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { name: name.into(), health: Health::Warning, found: found.into(), cure: cure.into() }
    }

    fn failed(name: &str, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { name: name.into(), health: Health::Failed, found: found.into(), cure: cure.into() }
    }

    fn error(name: &str, error: impl Into<Error>) -> Self {
        let error = error.into();
        Self::failed(name, error.message, error.next)
    }
}

/// How long the secret store may take; it may be asking for a password that nobody is going to type.
const SECRETS_LIMIT: Duration = Duration::from_secs(10);

/// Looks at everything, in the order in which a spawn would need it.
pub async fn examine(host: &Host) -> Vec<Check> {
    let mut checks = vec![folder(host)];
    let config = match Config::load(host) {
        Ok(config) => {
            let there = host.config_file().exists();
            let file = host.display(&host.config_file());
            checks
                .push(Check::ok("config", if there { file } else { format!("{file} (none: all defaults)") }));
            config
        }
        Err(error) => {
            checks.push(Check::error("config", error));
            Config::default()
        }
    };
    checks.push(registry(host).await);
    if let Some(agent) = by_kind(&config.agent.kind) {
        checks.push(program(host, agent, &config).await);
        checks.push(gui(host, agent, &config).await);
        checks.push(trust_file(host, agent));
        checks.push(login(host, agent));
    }
    // The others may be chosen for a folder; one that is not installed is nobody's fault.
    for agent in ALL.iter().filter(|agent| agent.kind != config.agent.kind) {
        if login::find(host, config.command(agent)).await.is_some() {
            checks.push(program(host, agent, &config).await);
            checks.push(trust_file(host, agent));
        }
    }
    checks.push(open_terminal(host, &config).await);
    checks.extend(terminals(host));
    checks.push(secrets(host, &config).await);
    checks.push(index(host, &config));
    checks.extend(projects(host, &config).await);
    checks.extend(sources(host, &config).await);
    checks.push(file_manager(host));
    checks
}

/// What watching the user's projects comes to, tried for a moment.
async fn projects(host: &Host, config: &Config) -> Vec<Check> {
    const NAME: &str = "projects";
    if config.projects.roots.is_empty() {
        return Vec::new();
    }
    let (roots, watched) = projects::trial(host, config).await;
    let found = roots.iter().map(|root| root.projects).sum::<usize>();
    let (found, watched) = (counted(found, "project", "projects"), counted(watched, "folder", "folders"));
    let mut checks = vec![Check::ok(NAME, format!("{found}; {watched} watched"))];
    for root in roots {
        let shown = host.display(&root.folder);
        let told = |note: String, cure: String| Check::warning(NAME, format!("{shown}: {note}"), cure);
        let note = root.state.note();
        checks.extend(match root.state {
            RootState::Polled { next, .. } => note.map(|note| told(note, next)),
            RootState::Away => {
                note.map(|note| told(note, format!("bring its disk back, or: pao projects remove {shown}")))
            }
            RootState::Unreadable(_) => note.map(|note| {
                told(note, "let pao read it: on macOS, Privacy & Security > Files and Folders".into())
            }),
            RootState::Seen | RootState::Watched if root.partly > 0 => {
                let which = counted(root.partly, "project", "projects");
                let note = format!("{which} of it too large to be watched to the last folder");
                let cure = format!(
                    "raise it: pao config set projects.watches {}",
                    config.projects.watches.max(2048) * 4
                );
                Some(told(note, cure))
            }
            RootState::Seen | RootState::Watched => None,
        });
    }
    checks
}

fn folder(host: &Host) -> Check {
    const NAME: &str = "folder";
    let shown = host.display(&host.pao_home);
    match host.pao_home.metadata() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Check::ok(NAME, format!("{shown} (not made yet)")),
        Err(e) => Check::failed(NAME, format!("{shown} cannot be read: {e}"), format!("make {shown} yours")),
        Ok(meta) if !meta.is_dir() => {
            Check::failed(NAME, format!("{shown} is not a folder"), format!("move {shown} out of the way"))
        }
        Ok(meta) if meta.mode() & 0o077 != 0 => Check::warning(
            NAME,
            format!("{shown} is open to others (mode {:o})", meta.mode() & 0o777),
            format!("chmod 700 {shown}"),
        ),
        Ok(_) if let Some(refusal) = writing::refused(&host.pao_home, &[]) => {
            Check::failed(NAME, format!("{shown} cannot be written: {refusal}"), refusal.next(&host.pao_home))
        }
        Ok(_) => match tempfile::Builder::new().prefix(".pao-").tempfile_in(&host.pao_home) {
            Ok(_) => Check::ok(NAME, shown),
            Err(e) => Check::failed(
                NAME,
                format!("{shown} cannot be written: {e}"),
                format!("make {shown} writable"),
            ),
        },
    }
}

async fn registry(host: &Host) -> Check {
    const NAME: &str = "registry";
    let path = host.registry_file();
    let shown = host.display(&path);
    if !path.exists() {
        return Check::ok(NAME, format!("{shown} (none yet)"));
    }
    let agents = match Registry::open(&path).await {
        Ok(registry) => {
            let agents = registry.agents().await;
            let unreadable = registry.unreadable();
            registry.close().await;
            agents.map(|agents| (agents.len(), unreadable))
        }
        Err(error) => Err(error),
    };
    match agents {
        Ok((agents, unreadable)) => {
            let found = format!("{shown}, {}", counted(agents, "agent", "agents"));
            match unreadable.first() {
                Some(row) => Check::warning(NAME, format!("{found}; {}", row.what), row.next()),
                None => Check::ok(NAME, found),
            }
        }
        Err(RegistryError::Database(error)) => {
            let cure = if !path.is_file() || crate::registry::is_damaged(&error) {
                format!("move {shown} out of the way; a new one is made")
            } else {
                // It holds what has to be taken back: a full disk is no reason to part with it.
                format!("check the disk's free space, and who may write to {}", host.display(&host.pao_home))
            };
            Check::failed(NAME, format!("{shown} cannot be used: {error}"), cure)
        }
        Err(error) => Check::error(NAME, error),
    }
}

async fn program(host: &Host, agent: &HostAgent, config: &Config) -> Check {
    const NAME: &str = "agent";
    let command = config.command(agent);
    let Some(found) = login::find(host, command).await else {
        return Check::failed(
            NAME,
            format!("{} is not installed: no {command} was found", agent.display),
            "install it, or name it: pao config set agent.command /path/to/it",
        );
    };
    let shown = host.display(&found.path);
    let asked = Run::new(&found.path).arg("--version").env("PATH", &found.child_path).output().await;
    match asked {
        Ok(outcome) if outcome.success() => {
            let said = outcome.text();
            let version = said.lines().next().unwrap_or_default().trim().to_string();
            Check::ok(NAME, format!("{} {version} at {shown}", agent.display))
        }
        Ok(outcome) => {
            let said = outcome.error_text();
            let said = said.lines().next().unwrap_or("it says nothing");
            Check::failed(NAME, format!("{shown} does not run: {said}"), format!("run {shown} --version"))
        }
        Err(error) => Check::failed(NAME, error.to_string(), format!("run {shown} --version")),
    }
}

/// The same program as a menu-bar app would find it.
async fn gui(host: &Host, agent: &HostAgent, config: &Config) -> Check {
    const NAME: &str = "gui launch";
    let mut bare = host.clone();
    bare.env.insert("PATH".into(), login::BARE_PATH.into());
    let command = config.command(agent);
    match login::find(&bare, command).await {
        Some(found) => {
            let how = match found.how {
                How::Path => "it is named by its path",
                How::Caller => "in the system's own folders",
                How::Login => "by the login shell's PATH",
                How::Known => "in a usual folder",
            };
            Check::ok(NAME, format!("{command} is found {how}"))
        }
        None => Check::warning(
            NAME,
            format!("{command} is not found when pao is not started from a terminal"),
            "name it: pao config set agent.command \"$(command -v claude)\"",
        ),
    }
}

fn trust_file(host: &Host, agent: &HostAgent) -> Check {
    const NAME: &str = "trust file";
    let path = agent.trust_file(host);
    let shown = host.display(&path);
    if !path.exists() {
        if agent.trust.may_be_made && agent.config_dir(host).is_dir() {
            return Check::ok(NAME, format!("{shown} (none yet)"));
        }
        return Check::warning(
            NAME,
            format!("{shown} does not exist"),
            format!("start {} once by hand and log in", agent.display),
        );
    }
    let project = Project::of(&host.home);
    let place = trust::Place { config: &path, record: agent.trust, folder: &host.home, project: &project };
    match trust::look(&place) {
        Ok(_) => Check::ok(NAME, shown),
        Err(trust::TrustError::Unreadable { source, .. }) => Check::failed(
            NAME,
            format!("{shown} cannot be read: {source}"),
            format!("mend {shown}, or let {} make a new one; pao leaves it alone", agent.display),
        ),
        Err(error) => Check::error(NAME, error),
    }
}

/// Whether the user is logged in to the host agent, as far as that is seen without reading a secret.
fn login(host: &Host, agent: &HostAgent) -> Check {
    const NAME: &str = "login";
    let top = read_keys(&agent.trust_file(host)).ok().flatten().unwrap_or_default();
    match agent.login_sign(host, top.iter().map(String::as_str)) {
        Some(sign) => Check::ok(NAME, sign),
        None => Check::warning(
            NAME,
            format!("no sign of a login to {}{}", agent.display, os::LOGIN_UNSEEN),
            format!("start {} once by hand and log in, or set {}", agent.display, agent.login.variables[0]),
        ),
    }
}

/// Keys at the top of the JSON object in a file, never their values; `None` where there is no file, `InvalidData` where
/// it holds something else.
fn read_keys(path: &Path) -> io::Result<Option<Vec<String>>> {
    let Some(bytes) = files::read_if_there(path)? else { return Ok(None) };
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(&bytes).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(Some(object.into_iter().map(|(key, _)| key).collect()))
}

async fn open_terminal(host: &Host, config: &Config) -> Check {
    const NAME: &str = "terminal";
    let terminal = match terminal::choose(host, &config.spawn.terminal) {
        Ok(terminal) => terminal,
        Err(error) => {
            let known = terminal::names_here().any(|name| name == config.spawn.terminal);
            let mut check = Check::error(NAME, error);
            if !known {
                check.cure = "pao config set spawn.terminal auto".into();
            }
            return check;
        }
    };
    if terminal.name() != terminal::tmux::NAME {
        return Check::ok(NAME, terminal.name());
    }
    let said = match host.find_on_path(terminal::tmux::NAME) {
        Some(tmux) => Run::new(tmux).arg("-V").output().await,
        None => return Check::ok(NAME, terminal.name()),
    };
    match said {
        Ok(outcome) if outcome.success() => Check::ok(NAME, outcome.text()),
        Ok(outcome) => Check::failed(NAME, format!("tmux -V: {}", outcome.error_text()), "reinstall tmux"),
        Err(error) => Check::failed(NAME, error.to_string(), "reinstall tmux"),
    }
}

/// What each terminal of this machine can do and needs, where there is a choice.
fn terminals(host: &Host) -> Vec<Check> {
    let installed = terminal::installed(host);
    if installed.len() < 2 {
        return Vec::new();
    }
    let told = |terminal: &Arc<dyn terminal::Terminal>| {
        let needs = terminal.permission().map_or_else(String::new, |p| format!("; needs {p}"));
        let found = format!("{}: {}{needs}", terminal.called(), terminal.capabilities().told());
        Check::ok(&format!("terminal {}", terminal.name()), found)
    };
    installed.iter().map(told).collect()
}

async fn secrets(host: &Host, config: &Config) -> Check {
    const NAME: &str = "secrets";
    let store = match SecretStore::new(host, &config.secrets.store) {
        Ok(store) => store.within(SECRETS_LIMIT),
        Err(error) => return Check::error(NAME, error),
    };
    let wanted = config.sources.values().any(|s| s.kind() != "history" && s.enabled());
    match store.self_test().await {
        Ok(()) => {
            let kept = format!("{} keeps a value across processes", store.place());
            match store.signed().await {
                None => Check::ok(NAME, kept),
                Some(note) => {
                    Check::warning(NAME, format!("{kept}; {note}"), "pao config set secrets.store file")
                }
            }
        }
        // Without a store that asks for a password, its absence costs nothing.
        Err(error) if !wanted => {
            let error = Error::from(error);
            Check::warning(NAME, error.message, error.next)
        }
        Err(error) => Check::error(NAME, error),
    }
}

fn index(host: &Host, config: &Config) -> Check {
    const NAME: &str = "history";
    let Some((_, settings)) = config.history() else {
        return Check::ok(NAME, "switched off");
    };
    match history::state(host, &settings) {
        Ok(state) if state.pending > 0 => Check::warning(
            NAME,
            format!(
                "{}; {} of {} not read to their end",
                counted(state.messages, "message", "messages"),
                state.pending,
                counted(state.files, "transcript", "transcripts")
            ),
            "pao index",
        ),
        Ok(state) => Check::ok(
            NAME,
            format!(
                "{} of {}",
                counted(state.messages, "message", "messages"),
                counted(state.files, "transcript", "transcripts")
            ),
        ),
        Err(error) => Check::error(NAME, error),
    }
}

/// "Spawn agent here" in the file manager. Nobody needs it, so its absence is no fault.
fn file_manager(host: &Host) -> Check {
    const NAME: &str = "spawn here";
    let entry = format!("\"{}\"", entrance::TITLE);
    let found = match entrance::file_manager::found(host) {
        Ok(found) => found,
        Err(error) => return Check::error(NAME, error),
    };
    let cure = "pao file-manager install";
    match entrance::file_manager::together(&found) {
        Standing::Installed => {
            Check::ok(NAME, format!("{entry} is installed; {}", entrance::file_manager::ENABLE))
        }
        Standing::NotInstalled => Check::ok(NAME, format!("{entry} is not installed ({cure})")),
        Standing::NeedsRepair => Check::warning(NAME, format!("{entry} is not as it should be"), cure),
        Standing::Foreign => {
            let place = found.iter().find(|found| found.standing == Standing::Foreign);
            let shown = place.map(|found| host.display(&found.path)).unwrap_or_default();
            Check::warning(NAME, format!("{shown} is not ours"), format!("move {shown} away, then: {cure}"))
        }
    }
}

/// Every other source that is switched on, tried as a spawn would, all at once.
async fn sources(host: &Host, config: &Config) -> Vec<Check> {
    if !config.sources.values().any(|source| source.enabled() && source.kind() != "history") {
        return Vec::new();
    }
    // What keeps the registry or the secrets from opening was already said.
    let Ok(registry) = Registry::open_to_ask(&host.registry_file()).await else { return Vec::new() };
    let context = Context {
        host: host.clone(),
        config: config.clone(),
        registry: Arc::new(registry),
        without_registry: None,
    };
    let Ok(sources) = context.sources() else { return Vec::new() };
    let history = config.history().map(|(name, _)| name);
    let others = sources.iter().filter(|(source, _)| Some(source.name()) != history);
    let tries = others.map(|(source, limits)| async move {
        let name = format!("source {}", source.name());
        match tokio::time::timeout(limits.deadline, source.check(*limits)).await {
            Ok(Ok(found)) => Check::ok(&name, found),
            Ok(Err(error)) => Check::failed(&name, error.to_string(), cure_of(source.name(), &error)),
            Err(_) => {
                let error = SourceError::TimedOut(limits.deadline);
                Check::failed(&name, error.to_string(), cure_of(source.name(), &error))
            }
        }
    });
    futures::future::join_all(tries).await
}

fn cure_of(name: &str, error: &SourceError) -> String {
    match error {
        SourceError::Unreachable(_) | SourceError::TimedOut(_) => {
            format!(
                "start it, look at its address, or switch it off: pao config set sources.{name}.enabled false"
            )
        }
        SourceError::Refused(_) => format!("keep the right password or token: pao secret set {name}"),
        SourceError::Secret { next, .. } => next.clone(),
        SourceError::Paused(_) => "wait until then".into(),
        SourceError::BadReply(_) | SourceError::Misconfigured(_) => {
            format!("look at its settings: pao config show, keys sources.{name}.…")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn host(home: &Path) -> Host {
        Host { env: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]), ..Host::at(home) }
    }

    #[test]
    fn a_folder_open_to_others_is_a_warning_with_its_cure() {
        let dir = tempfile::tempdir().unwrap();
        let host = host(dir.path());
        assert_eq!(folder(&host).health, Health::Ok);
        std::fs::create_dir(&host.pao_home).unwrap();
        std::fs::set_permissions(&host.pao_home, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(folder(&host).cure, "chmod 700 ~/.pao");
    }

    #[test]
    fn a_trust_file_that_does_not_parse_is_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        let host = host(dir.path());
        let agent = by_kind("claude-code").unwrap();
        assert_eq!(trust_file(&host, agent).health, Health::Warning);
        for (text, health) in
            [("{}", Health::Ok), ("", Health::Failed), ("[]", Health::Failed), ("{\"a\":1,}", Health::Failed)]
        {
            std::fs::write(agent.trust_file(&host), text).unwrap();
            assert_eq!(trust_file(&host, agent).health, health, "{text:?}");
        }
    }

    #[tokio::test]
    async fn a_registry_of_a_newer_version_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let host = host(dir.path());
        assert_eq!(registry(&host).await.health, Health::Ok);
        std::fs::create_dir(&host.pao_home).unwrap();
        std::fs::write(host.registry_file(), "not a database").unwrap();
        assert_eq!(registry(&host).await.health, Health::Failed);
        assert!(registry(&host).await.cure.contains("out of the way"));
    }

    #[tokio::test]
    async fn a_registry_that_only_cannot_be_reached_is_not_to_be_thrown_away() {
        let dir = tempfile::tempdir().unwrap();
        let mut host = host(dir.path());
        // Longer than SQLite takes.
        host.pao_home = dir.path().join(["d".repeat(100).as_str(); 6].join("/"));
        std::fs::create_dir_all(&host.pao_home).unwrap();
        std::fs::write(host.registry_file(), "").unwrap();
        let check = registry(&host).await;
        assert_eq!(check.health, Health::Failed);
        assert!(!check.cure.contains("out of the way"), "{}", check.cure);
    }
}

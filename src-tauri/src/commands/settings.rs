//! The settings, and their changes.

use std::path::{Path, PathBuf};

use pao_core::config::edit::{self, Editor};
use pao_core::config::{Config, HistoryConfig, SourceConfig, keys, tolerant};
use pao_core::host::secrets::{self, SecretStore};
use pao_core::host::terminal;
use pao_core::marks;
use pao_core::source::SourceError;
use pao_core::spawn::agreed::{self, Agreed, Back};
use pao_core::spawn::program;
use pao_core::view::roots as view;
use pao_core::wire::door::{
    AgentChoice, FolderConsent, Hotkey, Marked, Outcome, Root, Settings, SourceSettings, Switch,
    TerminalChoice,
};
use pao_core::wire::{Setting, Source};
use pao_core::{Context, Error, agent, projects, uninstall};
use tauri_plugin_dialog::DialogExt;

use crate::door::{Change, Consent, NewSource, Secret, Switching, Which};
use crate::shell::{Shell, lock};
use crate::{events, hotkey, notices, switches};

pub async fn settings(shell: &Shell, _with: ()) -> Result<Settings, Error> {
    let context = shell.context_to_ask().await?;
    let Context { host, config, .. } = &context;
    let written = uninstall::look(host).await?;
    let store = SecretStore::new(host, &config.secrets.store)?;
    let marked = marks::list(&context, None).await?;
    let secret_note = store.note().await;
    let notifications = notices::switch(shell, config.app.notifications).await;
    let mut sources = sources(config);
    for source in &mut sources {
        if source.source.kind != "history" {
            source.has_secret = store.has(&source.source.name);
        }
    }
    let command_line = switches::command_line(host).await;
    Ok(Settings {
        values: edit::settings_anyway(host).iter().map(Setting::from).collect(),
        sources,
        roots: roots(shell, config).await,
        terminals: terminals(host),
        agents: agents(&context).await,
        folders: folders(&context).await?,
        hotkey: lock(&shell.hotkey).clone(),
        login_item: switches::login_item(host),
        notifications,
        file_manager: switches::file_manager(host),
        command_line,
        marks: marked.iter().map(|row| Marked::of(row, host)).collect(),
        written: written.into_iter().map(|trace| Outcome::new(trace.what, "is there", true)).collect(),
        config_path: host.config_file().to_string_lossy().into_owned(),
        secret_store: store.place(),
        secret_note,
    })
}

fn sources(config: &Config) -> Vec<SourceSettings> {
    let implied = config.implied_history().map(|name| {
        let source = SourceConfig::History(HistoryConfig::default());
        source_settings(config, name, &source, true)
    });
    let named = config.sources.iter().map(|(name, source)| source_settings(config, name, source, false));
    implied.into_iter().chain(named).collect()
}

fn source_settings(config: &Config, name: &str, source: &SourceConfig, by_default: bool) -> SourceSettings {
    let deadline = match source {
        SourceConfig::History(c) => c.deadline_ms,
        SourceConfig::Postgres(c) => c.deadline_ms,
        SourceConfig::Worker(c) => c.deadline_ms,
    };
    SourceSettings {
        source: shown(name, source, by_default),
        has_secret: matches!(source, SourceConfig::History(_)).then_some(false),
        deadline_ms: u32::try_from(deadline.unwrap_or(config.spawn.deadline_ms)).unwrap_or(u32::MAX),
    }
}

fn shown(name: &str, source: &SourceConfig, by_default: bool) -> Source {
    let at = match source {
        SourceConfig::History(c) if c.folders.is_empty() => "transcripts on this disk".to_string(),
        SourceConfig::History(c) => format!("transcripts on this disk and in {}", c.folders.join(", ")),
        SourceConfig::Postgres(c) => c.url.clone(),
        SourceConfig::Worker(c) => format!("{} ({})", c.url, c.protocol),
    };
    let (kind, enabled) = (source.kind(), source.enabled());
    Source { name: name.into(), kind, enabled, by_default, at, reachable: None, found: None }
}

fn terminals(host: &pao_core::host::Host) -> Vec<TerminalChoice> {
    let installed: Vec<&'static str> = terminal::installed(host).iter().map(|t| t.name()).collect();
    let here: Vec<&str> = terminal::names_here().collect();
    let known = terminal::KNOWN.iter().filter(|known| here.contains(&known.name));
    known
        .map(|known| TerminalChoice {
            name: known.name.into(),
            display: known.says.into(),
            installed: installed.contains(&known.name),
            note: None,
        })
        .collect()
}

async fn agents(context: &Context) -> Vec<AgentChoice> {
    let Context { host, config, .. } = context;
    let mut choices = Vec::new();
    for kind in agent::ALL {
        let found = program::find(host, kind, config.command(kind)).await.ok().map(|program| {
            let version = program.version.map(|version| format!(", version {version}")).unwrap_or_default();
            format!("{}{version}", host.display(&program.path))
        });
        choices.push(AgentChoice { kind: kind.kind.into(), display: kind.display.into(), found });
    }
    choices
}

async fn folders(context: &Context) -> Result<Vec<FolderConsent>, Error> {
    let shown = |row: Agreed| FolderConsent {
        shown: context.host.display(&row.folder),
        trust: row.trust,
        skip: row.skip_permissions,
        permission: row.permission,
        folder: row.folder.to_string_lossy().into_owned(),
    };
    Ok(agreed::list(context).await?.into_iter().map(shown).collect())
}

pub async fn set(shell: &Shell, with: Change) -> Result<Settings, Error> {
    {
        let mut editor = Editor::open_anyway(&shell.host)?;
        match &with.value {
            Some(value) => editor.set(&with.key, value)?,
            None => drop(editor.unset(&with.key)?),
        }
        editor.save()?;
    }
    if with.key.starts_with("agent") {
        events::look_for_agent(shell.clone()).await;
    }
    shell.refresh().await;
    settings(shell, ()).await
}

pub async fn config_anew(shell: &Shell, _with: ()) -> Result<Outcome, Error> {
    let kept = tolerant::keep_aside(&shell.host)?;
    shell.refresh().await;
    let outcome = match kept {
        Some(aside) => format!("begun anew; the broken one is kept as {}", shell.host.display(&aside)),
        None => "reads again, and was left as it is".into(),
    };
    Ok(Outcome::new("The configuration", outcome, true))
}

pub async fn consent(shell: &Shell, with: Consent) -> Result<Settings, Error> {
    let context = shell.context().await?;
    let back = Back { trust: !with.trust, skip_permissions: !with.skip };
    agreed::take_back(&context, Path::new(&with.folder), back).await?;
    settings(shell, ()).await
}

pub async fn check_source(shell: &Shell, name: String) -> Result<Source, Error> {
    let context = shell.context_to_ask().await?;
    let found = sources(&context.config).into_iter().find(|source| source.source.name == name);
    let Some(SourceSettings { mut source, .. }) = found else {
        return Err(Error::user(format!("there is no source {name}"), "look at the list of sources again"));
    };
    let opened = context.sources()?;
    if let Some((opened, limits)) = opened.iter().find(|(opened, _)| opened.name() == name) {
        let tried = tokio::time::timeout(limits.deadline, opened.check(*limits)).await;
        let tried = tried.unwrap_or(Err(SourceError::TimedOut(limits.deadline)));
        source.reachable = Some(tried.is_ok());
        source.found = Some(tried.unwrap_or_else(|error| error.to_string()));
    }
    Ok(source)
}

pub async fn add_source(shell: &Shell, with: NewSource) -> Result<SourceSettings, Error> {
    let known = keys::of_source(&with.kind).ok_or_else(|| {
        Error::user(
            format!("there is no kind of source {:?}", with.kind),
            "choose postgres, worker or history",
        )
    })?;
    if let Some(key) = with.values.keys().find(|key| !known.iter().any(|known| known.name == *key)) {
        return Err(Error::user(format!("a {} source has no key {key}", with.kind), "leave it out"));
    }
    let values: Vec<(&str, Option<&str>)> =
        with.values.iter().map(|(key, value)| (key.as_str(), Some(value.as_str()))).collect();
    let config = {
        let mut editor = Editor::open_anyway(&shell.host)?;
        editor.add_source(&with.name, &with.kind, &values)?;
        editor.save()?
    };
    shell.refresh().await;
    let added = config.sources.get(&with.name);
    let added = added.ok_or_else(|| Error::internal("the source that was added is not in the file"))?;
    Ok(source_settings(&config, &with.name, added, false))
}

pub async fn remove_source(shell: &Shell, name: String) -> Result<(), Error> {
    {
        let mut editor = Editor::open_anyway(&shell.host)?;
        editor.remove_source(&name)?;
        editor.save()?;
    }
    shell.refresh().await;
    Ok(())
}

pub async fn set_secret(shell: &Shell, with: Secret) -> Result<Outcome, Error> {
    let (config, _) = Config::load_or_defaults(&shell.host);
    if !config.secret_names().any(|name| name == with.name) {
        let message = format!("there is no source {} that takes a password or token", with.name);
        return Err(Error::user(message, "add the source first"));
    }
    let store = SecretStore::new(&shell.host, &config.secrets.store)?;
    let done = match with.value {
        Some(value) if value.is_empty() => {
            return Err(Error::user("the value is empty", "to remove a secret, delete it"));
        }
        Some(value) => {
            store.set(&with.name, &secrets::Secret::new(value)).await?;
            "kept"
        }
        None if store.delete(&with.name).await? => "deleted",
        None => "not there",
    };
    Ok(Outcome::new(with.name, format!("{done} in {}", store.place()), true))
}

pub async fn switch(shell: &Shell, with: Switching) -> Result<Switch, Error> {
    let (host, on) = (&shell.host, with.on);
    Ok(match with.which {
        Which::LoginItem => {
            switches::set_login_item(host, on).await?;
            switches::login_item(host)
        }
        Which::FileManager => {
            switches::set_file_manager(host, on).await?;
            switches::file_manager(host)
        }
        Which::CommandLine => {
            switches::set_command_line(host, on)?;
            switches::command_line(host).await
        }
        Which::Notifications => notices::set(shell, on).await?,
    })
}

pub async fn set_hotkey(shell: &Shell, keys: Option<String>) -> Result<Hotkey, Error> {
    hotkey::change(shell, keys.as_deref())
}

pub async fn set_roots(shell: &Shell, folders: Vec<String>) -> Result<Settings, Error> {
    watch_exactly(shell, folders)?;
    settings(shell, ()).await
}

/// Watches exactly these folders from now on.
pub fn watch_exactly(shell: &Shell, folders: Vec<String>) -> Result<(), Error> {
    tolerant::keep_aside(&shell.host)?;
    let folders: Vec<PathBuf> = folders.into_iter().map(PathBuf::from).collect();
    projects::set(&shell.host, &folders)
}

/// Folders that are watched, then such that could be.
async fn roots(shell: &Shell, config: &Config) -> Vec<Root> {
    let host = &shell.host;
    let configured = projects::configured(host, config);
    let mut rows = view::watched(host, &configured, &shell.projects().roots);
    rows.extend(view::proposed(host, &projects::proposed(host, config).await.0, None));
    rows
}

pub async fn choose_folder(shell: &Shell, _with: ()) -> Result<Option<String>, Error> {
    let (chosen, choice) = tokio::sync::oneshot::channel();
    shell.app.dialog().file().pick_folder(move |folder| {
        // Whoever asked may be gone.
        let _ = chosen.send(folder);
    });
    let folder = choice.await.ok().flatten().and_then(|folder| folder.into_path().ok());
    Ok(folder.map(|folder| folder.to_string_lossy().into_owned()))
}

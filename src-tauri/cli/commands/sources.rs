//! `pao sources`: which memory stores are asked; adding and removing one.

use pao_core::Context;
use pao_core::config::edit::Editor;
use pao_core::config::{Config, HistoryConfig, SourceConfig};
use pao_core::host::Host;
use pao_core::source::{SourceError, postgres};
use pao_core::{Error, Kind, wire};

use crate::args::{AddSource, Sources};
use crate::render::{BAD, GOOD, QUIET, STRONG, Screen, Table, clean, paint};

pub async fn run(host: Host, screen: Screen, what: Option<Sources>) -> Result<u8, Error> {
    match what.unwrap_or(Sources::List) {
        Sources::List => list(&host, screen),
        Sources::Check { name } => check(host, screen, name).await,
        Sources::Add { kind } => add(&host, screen, &kind),
        Sources::Indexes { name } => indexes(&host, screen, &name),
        Sources::Remove { name } => remove(&host, screen, &name),
    }
}

/// Configured sources, and the one that is there without being configured.
fn configured(config: &Config) -> Vec<wire::Source> {
    let mut sources: Vec<_> =
        config.sources.iter().map(|(name, source)| shown(name, source, false)).collect();
    if let Some(name) = config.implied_history() {
        sources.insert(0, shown(name, &SourceConfig::History(HistoryConfig::default()), true));
    }
    sources
}

fn shown(name: &str, source: &SourceConfig, by_default: bool) -> wire::Source {
    let at = match source {
        SourceConfig::History(c) if c.folders.is_empty() => "transcripts on this disk".to_string(),
        SourceConfig::History(c) => format!("transcripts on this disk and in {}", c.folders.join(", ")),
        SourceConfig::Postgres(c) => c.url.clone(),
        SourceConfig::Worker(c) => format!("{} ({})", c.url, c.protocol),
    };
    wire::Source {
        name: name.into(),
        kind: source.kind(),
        enabled: source.enabled(),
        by_default,
        at,
        reachable: None,
        found: None,
    }
}

fn list(host: &Host, screen: Screen) -> Result<u8, Error> {
    let sources = configured(&Config::load(host)?);
    if screen.json {
        screen.document(&sources)?;
        return Ok(0);
    }
    let mut table = Table::new(&["NAME", "KIND", "", "WHERE"]);
    for source in &sources {
        let mark = match (source.enabled, source.by_default) {
            (false, _) => "off",
            (true, true) => "default",
            (true, false) => "",
        };
        table.row([paint(STRONG, &source.name), source.kind.into(), paint(QUIET, mark), clean(&source.at)]);
    }
    screen.say(&table.to_string())?;
    Ok(0)
}

/// Tries the sources that are switched on, each within its own deadline, all at once.
async fn check(host: Host, screen: Screen, only: Option<String>) -> Result<u8, Error> {
    let context = Context::open_to_ask(host).await?;
    screen.without_registry(&context);
    let mut all = configured(&context.config);
    let mut opened = context.sources()?;
    if let Some(only) = &only {
        all.retain(|source| source.name == *only);
        opened.retain(|(source, _)| source.name() == only);
        if all.is_empty() {
            return Err(Error::user(format!("there is no source {only}"), "see `pao sources`"));
        }
    }
    let tries = opened.iter().map(|(source, limits)| async move {
        let tried = tokio::time::timeout(limits.deadline, source.check(*limits)).await;
        let tried = tried.unwrap_or(Err(SourceError::TimedOut(limits.deadline)));
        (source.name().to_string(), tried)
    });
    for (name, tried) in futures::future::join_all(tries).await {
        let Some(source) = all.iter_mut().find(|source| source.name == name) else { continue };
        source.reachable = Some(tried.is_ok());
        source.found = Some(tried.unwrap_or_else(|error| error.to_string()));
    }
    let failed = all.iter().any(|source| source.reachable == Some(false));
    if screen.json {
        screen.document(&all)?;
    } else {
        let mut table = Table::plain();
        for source in &all {
            let (mark, said) = match source.reachable {
                Some(true) => (paint(GOOD, "✓"), source.found.as_deref().unwrap_or_default()),
                Some(false) => (paint(BAD, "✗"), source.found.as_deref().unwrap_or_default()),
                None => (paint(QUIET, "–"), "switched off"),
            };
            table.row([format!("{mark} {}", paint(STRONG, &source.name)), source.kind.into(), clean(said)]);
        }
        screen.say(&table.to_string())?;
    }
    Ok(if failed { Kind::Environment.exit_code() } else { 0 })
}

/// What its owner may run to make a database answer from indexes.
fn indexes(host: &Host, screen: Screen, name: &str) -> Result<u8, Error> {
    let config = Config::load(host)?;
    let Some(SourceConfig::Postgres(source)) = config.sources.get(name) else {
        return Err(Error::user(format!("there is no PostgreSQL source {name}"), "see `pao sources`"));
    };
    let statements = postgres::index_statements(source).map_err(|e| {
        Error::config(
            format!("sources.{name}: {e}"),
            format!("see `pao config show`, then `pao config set sources.{name}.…`"),
        )
    })?;
    if screen.json {
        screen.document(&wire::Statements { statements })?;
    } else {
        screen.raw(&statements)?;
    }
    Ok(0)
}

fn add(host: &Host, screen: Screen, kind: &AddSource) -> Result<u8, Error> {
    let mut editor = Editor::open(host)?;
    let folders;
    let (name, kind, settings): (&str, &str, Vec<(&str, Option<&str>)>) = match kind {
        AddSource::History(a) => {
            folders = toml_list(&a.folder);
            (
                &a.name,
                "history",
                vec![("folders", folders.as_deref()), ("deadline_ms", a.deadline_ms.as_deref())],
            )
        }
        AddSource::Postgres(a) => (
            &a.name,
            "postgres",
            vec![
                ("url", Some(&a.url)),
                ("language", a.language.as_deref()),
                ("scan_rows", a.scan_rows.as_deref()),
                ("archive", a.archive.as_deref()),
                ("deadline_ms", a.deadline_ms.as_deref()),
                ("mapping.table", a.table.as_deref()),
                ("mapping.id", a.id.as_deref()),
                ("mapping.text", a.text.as_deref()),
                ("mapping.title", a.title.as_deref()),
                ("mapping.created_at", a.created_at.as_deref()),
                ("mapping.importance", a.importance.as_deref()),
                ("mapping.project", a.project.as_deref()),
            ],
        ),
        AddSource::Worker(a) => (
            &a.name,
            "worker",
            vec![
                ("url", Some(&a.url)),
                ("protocol", Some(&a.protocol)),
                ("method", a.method.as_deref()),
                ("tool", a.tool.as_deref()),
                ("query_param", a.query_param.as_deref()),
                ("limit_param", a.limit_param.as_deref()),
                ("auth", a.auth.as_deref()),
                ("deadline_ms", a.deadline_ms.as_deref()),
            ],
        ),
    };
    editor.add_source(name, kind, &settings)?;
    let config = editor.save()?;
    let Some(source) = config.sources.get(name) else { return Ok(0) };
    if screen.json {
        screen.document(&shown(name, source, false))?;
        return Ok(0);
    }
    screen.say(&format!("added {} to {}\n", paint(STRONG, name), host.display(&host.config_file())))?;
    if kind != "history" {
        screen.say(&format!("keep its password or token:  pao secret set {name}\n"))?;
    }
    screen.say(&format!("try it:                      pao sources check {name}\n"))?;
    Ok(0)
}

/// Words as a list in TOML; `None` for none.
fn toml_list(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| serde_json::json!(words).to_string())
}

fn remove(host: &Host, screen: Screen, name: &str) -> Result<u8, Error> {
    let mut editor = Editor::open(host)?;
    let source = editor.remove_source(name)?;
    editor.save()?;
    if screen.json {
        screen.document(&shown(name, &source, false))?;
        return Ok(0);
    }
    screen.say(&format!("removed {} from {}\n", paint(STRONG, name), host.display(&host.config_file())))?;
    if source.kind() != "history" {
        screen.say(&format!("its secret, if it has one:  pao secret delete {name}\n"))?;
    }
    Ok(0)
}

//! Names that exist on this machine, for a shell that completes them. Whatever cannot be read at once is left out: a
//! person waits for this at every Tab.

use std::time::Duration;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use pao_core::config::{Config, edit};
use pao_core::host::Host;
use pao_core::registry::Registry;

/// How long the registry may take.
const MOMENT: Duration = Duration::from_millis(200);

/// Agents that have not ended.
pub fn agents() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let agents = || {
            let host = Host::current().ok()?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(async {
                let live = async {
                    let registry = Registry::open_as_is(&host.registry_file(), MOMENT).await.ok()?;
                    registry.agents().await.ok()
                };
                tokio::time::timeout(MOMENT, live).await.ok().flatten()
            })
        };
        let live = agents().into_iter().flatten().filter(|agent| agent.ended_at.is_none());
        live.map(|agent| {
            let what = agent.prompt.unwrap_or_else(|| agent.folder.display().to_string());
            CompletionCandidate::new(agent.name).help(Some(crate::render::clean(&what).into()))
        })
        .collect()
    })
}

/// Memory stores, the one that is there by default too.
pub fn sources() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let config = config();
        config
            .implied_history()
            .into_iter()
            .chain(config.sources.keys().map(String::as_str))
            .map(candidate)
            .collect()
    })
}

/// Memory stores that take a password or token.
pub fn secrets() -> ArgValueCandidates {
    ArgValueCandidates::new(|| config().secret_names().map(candidate).collect())
}

/// Folders in which projects are found.
pub fn roots() -> ArgValueCandidates {
    ArgValueCandidates::new(|| config().projects.roots.into_iter().map(candidate).collect())
}

/// Keys of the configuration.
pub fn keys() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let settings = Host::current().and_then(|host| edit::settings(&host)).unwrap_or_default();
        settings.into_iter().map(|s| CompletionCandidate::new(s.key).help(Some(s.says.into()))).collect()
    })
}

fn candidate(name: impl Into<String>) -> CompletionCandidate {
    CompletionCandidate::new(name.into())
}

fn config() -> Config {
    Host::current().and_then(|host| Config::load(&host)).unwrap_or_default()
}

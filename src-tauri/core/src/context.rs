//! What every verb works with, opened once per call: the machine, the configuration, the registry.

use std::sync::Arc;

use crate::agent::{self, HostAgent};
use crate::config::Config;
use crate::host::Host;
use crate::host::secrets::SecretStore;
use crate::life::clean::automatic::automatic;
use crate::life::sweep;
use crate::registry::Registry;
use crate::source::worker::Pauses;
use crate::source::{self, Limited};
use crate::{Error, Remedy};

/// What every verb works with.
#[derive(Debug)]
pub struct Context {
    /// The machine.
    pub host: Host,
    /// The configuration.
    pub config: Config,
    /// The registry, brought up to date with the machine.
    pub registry: Arc<Registry>,
    /// Why the registry is an empty one in memory (see [`Context::open_to_ask`]).
    pub without_registry: Option<Error>,
}

impl Context {
    /// Reads the configuration, opens the registry and sweeps it.
    pub async fn open(host: Host) -> Result<Self, Error> {
        let config = Config::load(&host)?;
        Self::open_with(host, config).await
    }

    /// The same with a configuration that was read already.
    pub async fn open_with(host: Host, config: Config) -> Result<Self, Error> {
        let registry = Arc::new(Registry::open(&host.registry_file()).await?);
        sweep::sweep(&host, &registry).await;
        automatic(&host, &config, &registry).await;
        Ok(Self { host, config, registry, without_registry: None })
    }

    /// The same for verbs that only ask: nothing is created, and where the registry is not there or cannot be used, an
    /// empty one in memory stands in for it. Names in use and stores that want to be left alone are then unknown.
    pub async fn open_to_ask(host: Host) -> Result<Self, Error> {
        let config = Config::load(&host)?;
        Self::open_to_ask_with(host, config).await
    }

    /// The same with a configuration that was read already.
    pub async fn open_to_ask_with(host: Host, config: Config) -> Result<Self, Error> {
        let (registry, without_registry) = match Registry::open_to_ask(&host.registry_file()).await {
            Ok(registry) => (registry, None),
            Err(error) => (Registry::in_memory().await?, Some(error.into())),
        };
        let registry = Arc::new(registry);
        if without_registry.is_none() && !registry.is_kept().await {
            sweep::sweep(&host, &registry).await;
        }
        Ok(Self { host, config, registry, without_registry })
    }

    /// The same for verbs that look at agents: nothing is created, and a registry to which nothing can be written is
    /// read all the same; one that does not read is an error.
    pub async fn open_to_look(host: Host) -> Result<Self, Error> {
        let config = Config::load(&host)?;
        let registry = Arc::new(Registry::open_to_ask(&host.registry_file()).await?);
        if !registry.is_kept().await {
            sweep::sweep(&host, &registry).await;
            automatic(&host, &config, &registry).await;
        }
        Ok(Self { host, config, registry, without_registry: None })
    }

    /// The enabled sources, each with its limits.
    pub fn sources(&self) -> Result<Vec<Limited>, Error> {
        let secrets = SecretStore::new(&self.host, &self.config.secrets.store)?;
        let pauses: Arc<dyn Pauses> = self.registry.clone();
        Ok(source::open(&self.config, &self.host, &secrets, &pauses))
    }

    /// The host agent that is started where none is chosen.
    pub fn agent(&self) -> Result<&'static HostAgent, Error> {
        let kind = &self.config.agent.kind;
        agent::by_kind(kind).ok_or_else(|| {
            Error::config(
                format!("the configuration says agent.kind = \"{kind}\", which pao does not know"),
                "`pao config set agent.kind claude-code`",
            )
            .in_window("choose one in the settings")
            .with(Remedy::Settings("agents"))
        })
    }
}

//! What was asked, completed: options first, then the folder's last choices, then the configuration.

use super::passed::{Permission, Way};
use super::request::{Delivery, Request};
use crate::agent::{self, HostAgent};
use crate::config::Config;
use crate::registry::folders::Choices;
use crate::{Error, Kind, Remedy};

/// A request with nothing left open.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settled {
    pub agent: &'static HostAgent,
    pub terminal: String,
    pub permission: Permission,
    /// `None` is `auto`.
    pub way: Option<Way>,
    pub budget: usize,
    pub only_sources: Vec<String>,
    pub without_sources: Vec<String>,
}

impl Settled {
    pub(super) fn new(request: &Request, last: &Choices, config: &Config) -> Result<Self, Error> {
        check_sources(request, config)?;
        // A kind that a later version remembered and this one does not know counts as none.
        let remembered = last.agent.as_deref().and_then(agent::by_kind);
        let agent = match request.agent.as_deref() {
            Some(kind) => host_agent(kind)?,
            None => remembered.map_or_else(|| host_agent(&config.agent.kind), Ok)?,
        };
        let spawn = &config.spawn;
        let permission =
            match (request.permission, last.permission.as_deref().and_then(Permission::from_name)) {
                (Some(chosen), _) | (None, Some(chosen)) => chosen,
                (None, None) => Permission::from_name(&spawn.permission)
                    .ok_or_else(|| unusable("spawn.permission", &spawn.permission))?,
            };
        let delivery = match (request.delivery, last.delivery.as_deref().and_then(Delivery::from_name)) {
            (Some(chosen), _) | (None, Some(chosen)) => chosen,
            (None, None) => Delivery::from_name(&spawn.delivery)
                .ok_or_else(|| unusable("spawn.delivery", &spawn.delivery))?,
        };
        let named_sources = !request.only_sources.is_empty() || !request.without_sources.is_empty();
        let sources =
            |asked: &[String], last: &[String]| if named_sources { asked.to_vec() } else { last.to_vec() };
        Ok(Self {
            agent,
            terminal: request
                .terminal
                .clone()
                .or_else(|| last.terminal.clone())
                .unwrap_or_else(|| spawn.terminal.clone()),
            permission,
            way: delivery.way(),
            budget: request.budget.or(last.budget).unwrap_or(spawn.budget),
            only_sources: sources(&request.only_sources, &last.only_sources),
            without_sources: sources(&request.without_sources, &last.without_sources),
        })
    }

    /// Which host agent it is and why, where it is not the configured one.
    pub(super) fn other_agent(&self, request: &Request, config: &Config) -> Option<String> {
        let name = self.agent.display;
        match request.agent {
            _ if self.agent.kind == config.agent.kind => None,
            Some(_) => Some(name.to_string()),
            None => Some(format!("{name}, as last time here")),
        }
    }

    pub(super) fn asks(&self, source: &str) -> bool {
        (self.only_sources.is_empty() || self.only_sources.iter().any(|s| s == source))
            && !self.without_sources.iter().any(|s| s == source)
    }

    /// What to remember for next time: what was chosen, not what the configuration said.
    pub(super) fn choices(&self, request: &Request, last: &Choices) -> Choices {
        Choices {
            agent: request.agent.clone().or_else(|| last.agent.clone()),
            terminal: request.terminal.clone().or_else(|| last.terminal.clone()),
            permission: request.permission.map(|p| p.name().to_string()).or_else(|| last.permission.clone()),
            delivery: request.delivery.map(|d| d.name().to_string()).or_else(|| last.delivery.clone()),
            budget: request.budget.or(last.budget),
            only_sources: self.only_sources.clone(),
            without_sources: self.without_sources.clone(),
        }
    }
}

/// A source named on the command line must exist; one remembered from last time may have been removed since.
fn check_sources(request: &Request, config: &Config) -> Result<(), Error> {
    let known = |name: &String| config.sources.contains_key(name) || name == "history";
    match request.only_sources.iter().chain(&request.without_sources).find(|name| !known(name)) {
        Some(name) => {
            Err(Error::user(format!("there is no source named {name}"), "see `pao sources` for their names")
                .in_window("choose among the sources in the settings")
                .with(Remedy::Settings("sources")))
        }
        None => Ok(()),
    }
}

/// The host agent of that kind.
pub(super) fn host_agent(kind: &str) -> Result<&'static HostAgent, Error> {
    agent::by_kind(kind).ok_or_else(|| {
        Error::user(
            format!("pao knows no host agent {kind}"),
            format!("choose one of {}", agent::KINDS.join(", ")),
        )
    })
}

fn unusable(key: &str, value: &str) -> Error {
    Error::new(
        Kind::Config,
        format!("the configuration says {key} = \"{value}\", which is not one of its values"),
        format!("see `pao config show`, then `pao config set {key} …`"),
    )
    .in_window(format!("choose another in the settings, or mend {key} in the configuration file"))
    .with(Remedy::Settings("general"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_is_not_the_configured_one_is_named_and_why() {
        let config = Config::default();
        let last = Choices { agent: Some("codex".into()), ..Choices::default() };
        let said = |request: &Request, last: &Choices| {
            Settled::new(request, last, &config).unwrap().other_agent(request, &config)
        };
        let (plain, named) =
            (Request::default(), Request { agent: Some("codex".into()), ..Request::default() });
        assert_eq!(said(&plain, &Choices::default()), None);
        assert_eq!(said(&plain, &last).unwrap(), "Codex, as last time here");
        assert_eq!(said(&named, &last).unwrap(), "Codex");
    }
}

//! `pao agents`: who is there, what they do, where.

use pao_core::config::Config;
use pao_core::host::Host;
use pao_core::life::clean::automatic::automatic;
use pao_core::life::sweep::sweep;
use pao_core::registry::Registry;
use pao_core::registry::agents::{Agent, State};
use pao_core::{Error, wire};

use super::clean::tell_news;
use super::waiting;
use crate::args::Agents;
use crate::render::{BAD, GOOD, QUIET, STRONG, Screen, Table, WARNING, age, clean, count, paint};

pub async fn run(host: &Host, screen: Screen, what: Agents) -> Result<u8, Error> {
    let registry = waiting(host, screen, Registry::open_to_ask(&host.registry_file())).await?;
    if !registry.is_kept().await {
        sweep(host, &registry).await;
        if let Ok(config) = Config::load(host) {
            automatic(host, &config, &registry).await;
        }
    }
    let all = registry.agents().await?;
    screen.unreadable(&registry);
    registry.close().await;
    let (shown, ended): (Vec<_>, Vec<_>) = all.into_iter().partition(|a| what.all || a.ended_at.is_none());
    if screen.json {
        screen.document(&shown.iter().map(wire::Agent::from).collect::<Vec<_>>())?;
        return Ok(0);
    }
    tell_news(host, screen);
    if shown.is_empty() {
        screen.say("no agents\n")?;
    } else {
        let mut table = Table::new(&["NAME", "STATE", "AGE", "FOLDER", "TASK"]);
        for agent in &shown {
            table.row([
                paint(STRONG, &clean(&agent.name)),
                state(agent),
                age(host.now(), agent.created_at),
                clean(&host.display(&agent.folder)),
                paint(QUIET, &clean(agent.needs.as_deref().or(agent.prompt.as_deref()).unwrap_or(""))),
            ]);
        }
        screen.say(&table.to_string())?;
    }
    if !ended.is_empty() {
        screen.aside(&format!(
            "{} not shown; see them with --all",
            count(ended.len(), "ended agent", "ended agents")
        ));
    }
    Ok(0)
}

fn state(agent: &Agent) -> String {
    let style = match agent.state {
        State::Working | State::Idle => GOOD,
        State::Starting | State::NeedsYou => WARNING,
        State::Lost => BAD,
        State::Paused | State::Ended => QUIET,
    };
    let words = if agent.state == State::NeedsYou { "needs you" } else { agent.state.name() };
    paint(style, words)
}

//! `pao agents`: who is there, who needs the user, what they do, where.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use chrono::TimeDelta;
use pao_core::Error;
use pao_core::config::Config;
use pao_core::host::Host;
use pao_core::life::clean::automatic::automatic;
use pao_core::life::evidence::Effort;
use pao_core::life::freshness;
use pao_core::life::sweep::sweep_with;
use pao_core::life::watch::Watch;
use pao_core::registry::Registry;
use pao_core::registry::agents::{Agent, State};
use pao_core::wire::look::{Changed, Listed};

use super::clean::tell_news;
use super::waiting;
use crate::args::look::Agents;
use crate::interrupt::Interrupt;
use crate::render::{BAD, GOOD, QUIET, STRONG, Screen, Table, WARNING, clean, count, paint};

pub async fn run(host: &Host, screen: Screen, what: Agents) -> Result<u8, Error> {
    let config = Config::load(host)?;
    let half_life = config.freshness.half_life();
    if what.watch {
        return watch(host, screen, what.all, half_life).await;
    }
    let registry = waiting(host, screen, Registry::open_to_ask(&host.registry_file())).await?;
    if !registry.is_kept().await {
        sweep_with(host, &registry, Effort::FULL).await;
        automatic(host, &config, &registry).await;
    }
    let all = registry.agents().await?;
    screen.unreadable(&registry);
    registry.close().await;
    let (shown, hidden) = shown(all, what.all);
    if screen.json {
        screen.document(&shown.iter().map(|a| Listed::new(a, host.now(), half_life)).collect::<Vec<_>>())?;
        return Ok(0);
    }
    tell_news(host, screen);
    screen.say(&table(host, &shown, half_life))?;
    for line in footer(&shown, hidden) {
        screen.aside(&line);
    }
    Ok(0)
}

/// Those to be shown, in the order in which they matter, and how many are not. One that was lost is missed until it
/// is put aside.
fn shown(mut agents: Vec<Agent>, all: bool) -> (Vec<Agent>, usize) {
    let total = agents.len();
    let there = |a: &Agent| a.archived_at.is_none() && (a.ended_at.is_none() || a.state == State::Lost);
    agents.retain(|agent| all || there(agent));
    freshness::sort(&mut agents);
    let hidden = total - agents.len();
    (agents, hidden)
}

/// What is said below the list.
fn footer(shown: &[Agent], hidden: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let lost = shown.iter().filter(|a| a.state == State::Lost && a.archived_at.is_none()).count();
    if lost > 0 {
        lines.push(format!("{lost} lost: pao resume NAME brings back, pao agents clean puts away"));
    }
    if hidden > 0 {
        let hidden = count(hidden, "ended agent", "ended agents");
        lines.push(format!("{hidden} not shown; see them with --all"));
    }
    lines
}

fn table(host: &Host, agents: &[Agent], half_life: TimeDelta) -> String {
    if agents.is_empty() {
        return "no agents\n".into();
    }
    let mut table = Table::new(&["NAME", "STATE", "FRESHNESS", "FOLDER", "TASK"]);
    for agent in agents {
        let fresh = freshness::of(agent, host.now(), half_life);
        table.row([
            paint(STRONG, &clean(&agent.name)),
            state(agent),
            format!("{} {}", bar(fresh), freshness::words(agent, host.now())),
            clean(&host.display(&agent.folder)),
            paint(QUIET, &clean(agent.needs.as_deref().or(agent.prompt.as_deref()).unwrap_or(""))),
        ]);
    }
    table.to_string()
}

/// A bar of five that fades; what still counts at all shows one.
fn bar(fresh: f64) -> String {
    let full = (1..=5).filter(|step| fresh * 5.0 > f64::from(*step) - 0.5).count();
    let full = if fresh > 0.01 { full.max(1) } else { full };
    let style = match full {
        4.. => GOOD,
        2.. => WARNING,
        _ => QUIET,
    };
    paint(style, &"▮".repeat(full)) + &paint(QUIET, &"▯".repeat(5 - full))
}

pub fn state(agent: &Agent) -> String {
    let style = match agent.state {
        State::Working | State::Idle => GOOD,
        State::Starting | State::NeedsYou => WARNING,
        State::Lost => BAD,
        State::Paused | State::Ended => QUIET,
    };
    let words = if agent.state == State::NeedsYou { "needs you" } else { agent.state.name() };
    paint(style, words)
}

/// Shows every change until Ctrl-C.
async fn watch(host: &Host, screen: Screen, all: bool, half_life: TimeDelta) -> Result<u8, Error> {
    let registry = waiting(host, screen, Registry::open(&host.registry_file())).await?;
    let interrupt = Interrupt::watch(screen, "")?;
    let mut watch = Watch::new(host, &registry);
    let mut last = Vec::new();
    let mut hidden = 0;
    let mut said = false;
    // Only what a person sees grows old; lists that are kept somewhere are of their moment.
    let ages = !screen.json && std::io::stdout().is_terminal();
    'watching: loop {
        let agents = {
            let mut next = std::pin::pin!(watch.next());
            loop {
                tokio::select! {
                    agents = &mut next => break agents?,
                    () = other_words(host, &last), if ages && !last.is_empty() => {
                        draw(screen, &list(host, &last, hidden, half_life))?;
                    }
                    () = interrupt.cancel.cancelled() => break 'watching,
                }
            }
        };
        if let Some(why) = watch.changes.unwatched.as_ref().filter(|_| !std::mem::replace(&mut said, true)) {
            screen
                .aside(&format!("files cannot be watched ({}), so they are looked at every 2 s", clean(why)));
        }
        let (agents, left_out) = shown(agents, all);
        hidden = left_out;
        if screen.json {
            for line in changes(&last, &agents, host, half_life) {
                screen.line(&line)?;
            }
        } else {
            draw(screen, &list(host, &agents, hidden, half_life))?;
        }
        last = agents;
    }
    drop(watch);
    registry.close().await;
    Ok(0)
}

/// The list with what is said below it.
fn list(host: &Host, agents: &[Agent], hidden: usize, half_life: TimeDelta) -> String {
    let footer = footer(agents, hidden).into_iter().map(|line| paint(QUIET, &line) + "\n");
    table(host, agents, half_life) + &footer.collect::<String>()
}

/// Waits until some shown age is said in other words.
async fn other_words(host: &Host, agents: &[Agent]) {
    let now = host.now();
    let due = agents.iter().map(|agent| freshness::until_other_words(agent, now)).min();
    let due = due.and_then(|due| due.to_std().ok()).unwrap_or(Duration::from_secs(60));
    tokio::time::sleep(due).await;
}

/// A fresh screen on a terminal, one list after the other elsewhere.
fn draw(screen: Screen, table: &str) -> Result<(), Error> {
    if std::io::stdout().is_terminal() {
        screen.raw("\x1b[H\x1b[2J")?;
        screen.say(table)
    } else {
        screen.say(&(table.to_string() + "\n"))
    }
}

fn changes(before: &[Agent], now: &[Agent], host: &Host, half_life: TimeDelta) -> Vec<Changed> {
    let at = host.now();
    let known: BTreeMap<&str, &Agent> = before.iter().map(|agent| (agent.id.as_str(), agent)).collect();
    let changed = |agent: &Agent, gone| Changed { at, agent: Listed::new(agent, at, half_life), gone };
    let gone = before.iter().filter(|agent| !now.iter().any(|other| other.id == agent.id));
    let turned = now.iter().filter(|agent| known.get(agent.id.as_str()) != Some(agent));
    turned.map(|agent| changed(agent, false)).chain(gone.map(|agent| changed(agent, true))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fades_and_what_is_left_shows() {
        let plain = |fresh| anstream::adapter::strip_str(&bar(fresh)).to_string();
        let bars = [1.0, 0.6, 0.2, 0.02, 0.0].map(plain);
        assert_eq!(bars, ["▮▮▮▮▮", "▮▮▮▯▯", "▮▯▯▯▯", "▮▯▯▯▯", "▯▯▯▯▯"]);
    }
}

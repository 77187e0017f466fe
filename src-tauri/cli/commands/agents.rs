//! `pao agents`: who is there, who needs the user, what they do, where.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use chrono::TimeDelta;
use console::{measure_text_width, truncate_str};
use pao_core::Error;
use pao_core::config::Config;
use pao_core::host::Host;
use pao_core::life::clean::automatic::automatic;
use pao_core::life::evidence::Effort;
use pao_core::life::freshness;
use pao_core::life::pause::works_in;
use pao_core::life::sweep::sweep_with;
use pao_core::life::truth::by_error;
use pao_core::life::watch::Watch;
use pao_core::registry::Registry;
use pao_core::registry::agents::{Agent, State};
use pao_core::wire::look::{Changed, Listed};
use pao_core::words::{first_line, need};

use super::clean::tell_news;
use super::waiting;
use crate::args::look::Agents;
use crate::interrupt::Interrupt;
use crate::render::{BAD, GOOD, QUIET, STRONG, Screen, Table, WARNING, clean, count, edge, paint};

pub async fn run(host: &Host, screen: Screen, what: Agents) -> Result<u8, Error> {
    let config = Config::load(host)?;
    if what.watch {
        return watch(host, screen, &what, &config).await;
    }
    let half_life = config.freshness.half_life();
    let registry = waiting(host, screen, Registry::open_to_ask(&host.registry_file())).await?;
    if !registry.is_kept().await {
        sweep_with(host, &registry, Effort::FULL).await;
        automatic(host, &config, &registry).await;
    }
    let all = registry.agents().await?;
    screen.unreadable(&registry);
    let told = registry.last_told().await?;
    let (shown, hidden) = shown(host, all, &what);
    registry.close().await;
    if screen.json {
        screen.document(&shown.iter().map(|a| Listed::new(a, host.now(), half_life)).collect::<Vec<_>>())?;
        return Ok(0);
    }
    tell_news(host, screen);
    screen.say(&Look { host, config: &config, told: &told }.table(&shown))?;
    for line in footer(&shown, hidden) {
        screen.aside(&line);
    }
    Ok(0)
}

/// Those to be shown, in the order in which they matter, and how many are not. One that was lost is missed until it
/// is put aside.
fn shown(host: &Host, mut agents: Vec<Agent>, what: &Agents) -> (Vec<Agent>, usize) {
    if let Some(folder) = &what.project {
        agents.retain(|agent| works_in(host, agent, folder));
    }
    let total = agents.len();
    let there = |a: &Agent| a.archived_at.is_none() && (a.ended_at.is_none() || a.state == State::Lost);
    agents.retain(|agent| what.all || there(agent));
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

/// What a list is made with.
struct Look<'a> {
    host: &'a Host,
    config: &'a Config,
    /// What each agent was told last.
    told: &'a BTreeMap<String, String>,
}

/// Narrowest that a folder and what an agent does become.
const NARROW: usize = 12;
/// Columns for both where no terminal says how many there are.
const WIDE: usize = 80;

impl Look<'_> {
    /// The list. Where the screen is narrow the folder gives way first, then what the agent does.
    fn table(&self, agents: &[Agent]) -> String {
        if agents.is_empty() {
            return "no agents\n".into();
        }
        let rows: Vec<[String; 5]> = agents.iter().map(|agent| self.row(agent, agents)).collect();
        let widest = |column: usize, least: usize| {
            rows.iter().map(|row| measure_text_width(&row[column])).max().unwrap_or(0).max(least)
        };
        let (now, folder) = (widest(2, 3), widest(3, 6));
        let others = widest(0, 4) + widest(1, 5) + widest(4, 9) + 4 * 2;
        let room = edge().map_or(WIDE, |edge| edge.saturating_sub(others));
        let folder = folder.min(room.saturating_sub(now).max(NARROW));
        let now = now.min(room.saturating_sub(folder).max(NARROW));
        let mut table = Table::new(&["NAME", "STATE", "NOW", "FOLDER", "FRESHNESS"]);
        for [name, state, does, place, fresh] in rows {
            let does = truncate_str(&does, now, "…").into_owned();
            table.row([name, state, does, end_of(&place, folder), fresh]);
        }
        table.to_string()
    }

    fn row(&self, agent: &Agent, all: &[Agent]) -> [String; 5] {
        [
            self.name(agent, all),
            state(agent),
            self.now(agent),
            clean(&self.host.display(&agent.folder)),
            self.freshness(agent),
        ]
    }

    /// Its name, with the id where another one has it too, and its host agent where that is not the usual one.
    fn name(&self, agent: &Agent, all: &[Agent]) -> String {
        let mut name = paint(STRONG, &clean(&agent.name));
        if all.iter().any(|other| other.name == agent.name && other.id != agent.id) {
            name = name + " " + &paint(QUIET, short(&agent.id));
        }
        if agent.host_agent != self.config.agent.kind {
            name = name + " " + &paint(QUIET, &clean(&agent.host_agent));
        }
        name
    }

    /// What it needs, else what it was asked for last.
    fn now(&self, agent: &Agent) -> String {
        let asked = self.told.get(&agent.id).or(agent.prompt.as_ref());
        let (style, words) = match &agent.needs {
            Some(needs) if by_error(agent) => {
                (BAD, format!("error: {}", need(needs, agent.state_by.as_deref())))
            }
            Some(needs) => (WARNING, need(needs, agent.state_by.as_deref())),
            None => (QUIET, first_line(asked.map_or("", String::as_str), 200)),
        };
        paint(style, &clean(&words))
    }

    /// Since when, and how much that has faded; what is gone or entirely fresh needs no bar.
    fn freshness(&self, agent: &Agent) -> String {
        let words = freshness::words(agent, self.host.now());
        let fresh = freshness::of(agent, self.host.now(), self.config.freshness.half_life());
        if agent.state.live() && fresh < 0.9 { bar(fresh) + " " + &words } else { words }
    }
}

/// The beginning of an id by which people can call an agent.
pub fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// The end of a path, in so many columns.
fn end_of(path: &str, columns: usize) -> String {
    if measure_text_width(path) <= columns {
        return path.to_owned();
    }
    let mut end = path;
    while measure_text_width(end) >= columns {
        let mut letters = end.chars();
        letters.next();
        end = letters.as_str();
    }
    // From a whole name on, where that leaves one.
    let end = end.find('/').filter(|at| at + 1 < end.len()).map_or(end, |at| &end[at..]);
    format!("…{end}")
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
async fn watch(host: &Host, screen: Screen, what: &Agents, config: &Config) -> Result<u8, Error> {
    let half_life = config.freshness.half_life();
    let registry =
        waiting(host, screen, Registry::open(&host.registry_file())).await.map_err(|mut error| {
            error.next += "; what is known already: pao agents";
            error
        })?;
    let interrupt = Interrupt::of_viewer(screen)?;
    let mut watch = Watch::new(host, &registry);
    let mut last = Vec::new();
    let (mut hidden, mut told) = (0, BTreeMap::new());
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
                        draw(screen, &list(&Look { host, config, told: &told }, &last, hidden))?;
                    }
                    () = interrupt.cancel.cancelled() => break 'watching,
                }
            }
        };
        if let Some(why) = watch.changes.unwatched.as_ref().filter(|_| !std::mem::replace(&mut said, true)) {
            screen
                .aside(&format!("files cannot be watched ({}), so they are looked at every 2 s", clean(why)));
        }
        let (agents, left_out) = shown(host, agents, what);
        hidden = left_out;
        if screen.json {
            for line in changes(&last, &agents, host, half_life) {
                screen.line(&line)?;
            }
        } else {
            told = registry.last_told().await?;
            draw(screen, &list(&Look { host, config, told: &told }, &agents, hidden))?;
        }
        last = agents;
    }
    drop(watch);
    registry.close().await;
    Ok(0)
}

/// The list with what is said below it.
fn list(look: &Look<'_>, agents: &[Agent], hidden: usize) -> String {
    let footer = footer(agents, hidden).into_iter().map(|line| paint(QUIET, &line) + "\n");
    look.table(agents) + &footer.collect::<String>()
}

/// Waits until some shown age is said in other words.
async fn other_words(host: &Host, agents: &[Agent]) {
    let now = host.now();
    let due = agents.iter().map(|agent| freshness::until_other_words(agent, now)).min();
    let due = due.and_then(|due| due.to_std().ok()).unwrap_or(Duration::from_mins(1));
    tokio::time::sleep(due).await;
}

/// A fresh screen on a terminal, one list after the other elsewhere.
pub fn draw(screen: Screen, table: &str) -> Result<(), Error> {
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
    use std::path::Path;

    use chrono::{DateTime, Utc};

    use super::*;

    #[test]
    fn the_list_says_first_what_matters_and_shows_no_bar_for_what_is_gone() {
        let now: DateTime<Utc> = "2026-11-30T12:00:00Z".parse().unwrap();
        let host = Host {
            home: "/home/me".into(),
            pao_home: "/home/me/.pao".into(),
            cwd: "/home/me".into(),
            exe: "/bin/pao".into(),
            env: BTreeMap::new(),
            frozen: Some(now),
        };
        let agent = |id: &str, name: &str, state, minutes, prompt: &str| Agent {
            state,
            prompt: Some(prompt.into()),
            ended_at: matches!(state, State::Ended | State::Lost).then_some(now),
            ..Agent::starting(
                id,
                name,
                Path::new("/home/me/code/api"),
                "claude-code",
                now - TimeDelta::minutes(minutes),
            )
        };
        let needs = |by: &str, words: &str, agent: Agent| Agent {
            needs: Some(words.into()),
            state_by: Some(by.into()),
            ..agent
        };
        let agents = vec![
            agent("0123456789", "api", State::Ended, 9, "over"),
            Agent { host_agent: "codex".into(), ..agent("b", "web", State::Idle, 3_000, "first") },
            agent("abcdef01ff", "api", State::Lost, 3, "crashed"),
            needs("hook StopFailure", "Credit is low", agent("d", "pay", State::NeedsYou, 2, "")),
            needs("login on the screen", "Select\n1. A", agent("e", "log", State::NeedsYou, 5, "")),
            agent("f", "old", State::Paused, 50, "rest"),
        ];
        let told = BTreeMap::from([("b".to_string(), "then this\nand that".to_string())]);
        let config = Config::default();
        let look = Look { host: &host, config: &config, told: &told };
        let list_of = |all| {
            let what = Agents { what: None, all, project: None, watch: false };
            let (shown, hidden) = shown(&host, agents.clone(), &what);
            anstream::adapter::strip_str(&list(&look, &shown, hidden)).to_string()
        };
        let wanted = "\
NAME       STATE      NOW                     FOLDER      FRESHNESS
log        needs you  it wants you to log in  ~/code/api  asked 5 min ago
pay        needs you  error: Credit is low    ~/code/api  failed 2 min ago
api        lost       crashed                 ~/code/api  lost 3 min ago
web codex  idle       then this               ~/code/api  ▮▯▯▯▯ worked 2 d ago
old        paused     rest                    ~/code/api  paused 50 min ago
1 lost: pao resume NAME brings back, pao agents clean puts away
1 ended agent not shown; see them with --all
";
        assert_eq!(list_of(false), wanted);
        let all = list_of(true);
        assert!(all.contains("api abcdef01  lost") && all.contains("api 01234567  ended"), "{all}");
    }

    #[test]
    fn of_a_path_its_end_is_kept() {
        let path = "~/code/some/where/api";
        assert_eq!(end_of(path, 40), path);
        assert_eq!([12, 6, 3].map(|n| end_of(path, n)), ["…/where/api", "…/api", "…pi"]);
    }

    #[test]
    fn a_bar_fades_and_what_is_left_shows() {
        let plain = |fresh| anstream::adapter::strip_str(&bar(fresh)).to_string();
        let bars = [1.0, 0.6, 0.2, 0.02, 0.0].map(plain);
        assert_eq!(bars, ["▮▮▮▮▮", "▮▮▮▯▯", "▮▯▯▯▯", "▮▯▯▯▯", "▯▯▯▯▯"]);
    }
}

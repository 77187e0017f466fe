//! `pao pause`: puts agents to rest and says how much memory that frees.

use pao_core::Context;
use pao_core::host::Host;
use pao_core::life::pause::{self, Paused};
use pao_core::life::several::several;
use pao_core::registry::agents::{Agent, State};
use pao_core::{Error, Kind, wire};

use super::waiting;
use crate::args::Pause;
use crate::interrupt::Interrupt;
use crate::render::{BAD, GOOD, QUIET, STRONG, Screen, bytes, clean, count, paint, took};

/// How many are asked to end at once.
const AT_ONCE: usize = 8;

pub async fn run(host: Host, screen: Screen, what: Pause) -> Result<u8, Error> {
    let interrupt = Interrupt::watch(screen, "stopping; who is being asked to end is waited for")?;
    let context = waiting(&host.clone(), screen, Context::open(host)).await?;
    let how = what.how();
    let Some(word) = &what.agent else {
        let agents = pause::all(&context, what.project.as_deref()).await?;
        let busy: Vec<&str> =
            agents.iter().filter(|a| a.state == State::Working).map(|a| a.name.as_str()).collect();
        if how.wait.is_some() && !busy.is_empty() {
            screen.aside(&paint(QUIET, &format!("waiting for {}", clean(&busy.join(", ")))));
        }
        let work = async |agent: &Agent| pause::pause(&context, &agent.id, &how, &interrupt.cancel).await;
        let settled = |agent: &Agent, result: &Result<Paused, Error>| {
            let line = match result {
                Ok(paused) => one(paused),
                Err(error) => failed(agent, error),
            };
            screen.aside(line.trim_end());
        };
        let done = several(agents, AT_ONCE, &interrupt.cancel, work, settled).await;
        return summary(screen, &done);
    };
    let agent = context.registry.named(word).await?;
    let paused = pause::pause(&context, &agent.id, &how, &interrupt.cancel).await?;
    if screen.json {
        screen.document(&wire::rest::Paused::from(&paused))?;
    } else {
        screen.say(&one(&paused))?;
    }
    Ok(0)
}

fn one(paused: &Paused) -> String {
    let mut text = format!(
        "{} {} is paused, {} freed, checkpoint {}{} {}\n",
        paint(GOOD, "✓"),
        paint(STRONG, &clean(&paused.name)),
        bytes(paused.freed),
        paused.checkpoint.id,
        if paused.interrupted { ", its turn was cut short" } else { "" },
        paint(QUIET, &format!("({})", took(paused.took))),
    );
    if let Some(unsent) = &paused.unsent {
        text = text + "  note its prompt line held this, which was not sent: " + &clean(unsent) + "\n";
    }
    for note in &paused.notes {
        text = text + "  note " + &clean(note) + "\n";
    }
    text
}

/// One of several that failed, as a line.
pub fn failed(agent: &Agent, error: &Error) -> String {
    let message = clean(&error.message);
    let name = clean(&agent.name);
    // Most sentences begin with whom they are about.
    let told = match message.strip_prefix(&format!("{name} ")) {
        Some(rest) => format!("{} {rest}", paint(STRONG, &name)),
        None => format!("{}: {message}", paint(STRONG, &name)),
    };
    format!("{} {told}\n  {}: {}\n", paint(BAD, "✗"), paint(QUIET, "next"), clean(&error.next))
}

/// The exit code of a verb for several agents: that of the first that failed. Which agents are meant was not typed, so
/// that one of them cannot be served is no wrong use.
pub fn code<'a, T: 'a>(mut results: impl Iterator<Item = &'a Result<T, Error>>) -> u8 {
    results.find_map(|result| result.as_ref().err()).map_or(0, |error| match error.kind {
        Kind::User => Kind::Environment.exit_code(),
        kind => kind.exit_code(),
    })
}

fn summary(screen: Screen, done: &[(Agent, Result<Paused, Error>)]) -> Result<u8, Error> {
    let code = code(done.iter().map(|(_, result)| result));
    if screen.json {
        let rows: Vec<_> = done
            .iter()
            .map(|(agent, result)| match result {
                Ok(paused) => wire::rest::Paused::from(paused),
                Err(error) => wire::rest::Paused {
                    agent: agent.name.clone(),
                    id: agent.id.clone(),
                    checkpoint: None,
                    freed_bytes: 0,
                    interrupted: false,
                    unsent: None,
                    notes: Vec::new(),
                    ms: 0,
                    error: Some(wire::Failure::from(error)),
                },
            })
            .collect();
        screen.document(&rows)?;
        return Ok(code);
    }
    let freed: u64 = done.iter().filter_map(|(_, result)| result.as_ref().ok()).map(|p| p.freed).sum();
    let paused = done.iter().filter(|(_, result)| result.is_ok()).count();
    let mut text = format!("{} paused, {} freed", count(paused, "agent", "agents"), bytes(freed));
    if paused < done.len() {
        text = text + ", " + &count(done.len() - paused, "agent", "agents") + " not paused";
    }
    screen.say(&(text + "\n"))?;
    Ok(code)
}

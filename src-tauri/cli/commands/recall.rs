//! `pao recall`: asks the sources, for people and for running agents.

use pao_core::Context;
use std::io::IsTerminal;

use pao_core::host::Host;
use pao_core::recall::{Asked, recall};
use pao_core::spawn::passed::{SourceState, silent};
use pao_core::{Error, wire};

use super::brief;
use crate::args::Recall;
use crate::interrupt::Interrupt;
use crate::render::{QUIET, Screen, WARNING, clean, count, paint};

pub async fn run(host: Host, screen: Screen, what: Recall) -> Result<u8, Error> {
    let interrupt = Interrupt::watch(screen, "stopping; nothing was written")?;
    let context = Context::open_to_ask(host).await?;
    screen.without_registry(&context);
    let asked = Asked {
        query: what.query.join(" "),
        folder: what.folder,
        only_sources: what.source,
        without_sources: what.no_source,
        limit: usize::try_from(what.limit).unwrap_or(usize::MAX),
    };
    let recalled = recall(&context, &asked, &interrupt.cancel).await?;
    if screen.json {
        screen.document(&wire::Recalled {
            query: asked.query,
            sources: recalled.reports.iter().map(Into::into).collect(),
            memories: recalled.lines.iter().map(Into::into).collect(),
            held_back: recalled.held_back.len(),
            held_back_memories: recalled.held_back.iter().map(Into::into).collect(),
            never: recalled.never.len(),
            never_memories: recalled.never.iter().map(Into::into).collect(),
        })?;
        return Ok(0);
    }
    if recalled.lines.is_empty() {
        let silent = silent(&recalled.reports);
        let said = match silent {
            0 => "nothing relevant is known\n".to_string(),
            _ => format!(
                "nothing relevant was found, and {} did not answer\n",
                count(silent, "source", "sources")
            ),
        };
        screen.say(&said)?;
    }
    for line in &recalled.lines {
        let date = line.at.map_or_else(|| "undated".into(), |at| at.format("%Y-%m-%d").to_string());
        let from = format!("[{} · {date} · {}]", clean(&line.source), clean(&line.id));
        screen.say(&format!("- {} {}\n", clean(&line.text), paint(QUIET, &from)))?;
    }
    // An agent that reads this must be able to tell "nothing known" from "could not be asked".
    if recalled.reports.iter().any(|r| !matches!(r.state, SourceState::Ok(_) | SourceState::Empty)) {
        screen.say(&format!("\n{}", brief::sources(&recalled.reports)))?;
    }
    if !recalled.never.is_empty() {
        let held = count(recalled.never.len(), "memory", "memories");
        screen.aside(&paint(WARNING, &format!("{held} held back: never to be said, see `pao marks`")));
        if std::io::stderr().is_terminal() {
            for line in &recalled.never {
                screen.aside(&brief::never(line));
            }
        }
    }
    if !recalled.held_back.is_empty() {
        let held = count(recalled.held_back.len(), "memory", "memories");
        // Where nobody looks at a terminal an agent may be reading, and it is the one that must not.
        let seen = std::io::stderr().is_terminal();
        let where_else = if seen { "" } else { "; a terminal shows them, to people" };
        screen.aside(&paint(WARNING, &format!("{held} held back: addressed to the agent{where_else}")));
        if seen {
            for line in &recalled.held_back {
                screen.aside(&brief::held_back(line));
            }
        }
    }
    Ok(0)
}

//! `pao brief`: the briefing an agent would get, and how each source fared.

use std::fmt::Write as _;

use pao_core::Context;
use pao_core::host::Host;
use pao_core::spawn;
use pao_core::spawn::passed::{Briefing, Gathered, LeftOut, Line, SourceReport, SourceState};
use pao_core::spawn::request::Brief;
use pao_core::{Error, wire};

use crate::args::Inputs;
use crate::face::{Agreed, Person};
use crate::interrupt::Interrupt;
use crate::render::{BAD, GOOD, QUIET, Screen, Table, WARNING, clean, count, paint, took};

pub async fn run(host: Host, screen: Screen, what: Inputs) -> Result<u8, Error> {
    let interrupt = Interrupt::watch(screen, "stopping; nothing was written")?;
    let face = Person::new(host.clone(), interrupt.clone(), Agreed::default());
    let context = Context::open_to_ask(host).await?;
    screen.without_registry(&context);
    let brief = spawn::brief(&context, &what.request(), &face, &interrupt.cancel).await?;
    if screen.json {
        screen.document(&wire::Brief::from(&brief))?;
    } else {
        aside(screen, &brief);
        screen.markdown(&brief.briefing.markdown)?;
    }
    Ok(0)
}

/// What there is to say beside the document.
pub fn aside(screen: Screen, brief: &Brief) {
    screen.aside(&format!("\n{}", sources(&brief.gathered.reports)));
    screen.aside(&format!("{}\n", left_out(&brief.briefing, &brief.gathered)));
}

/// How each source fared, as a table.
pub fn sources(reports: &[SourceReport]) -> String {
    let mut table = Table::new(&["SOURCE", "STATE", "TIME", "NOTE"]);
    for report in reports {
        let (state, note) = match &report.state {
            SourceState::Ok(n) => (paint(GOOD, &format!("ok ({n})")), String::new()),
            SourceState::Empty => (paint(QUIET, "empty"), String::new()),
            SourceState::Unavailable(why) => (paint(BAD, "unavailable"), why.to_string()),
            SourceState::TimedOut(limit) => {
                (paint(WARNING, "timed out"), format!("no answer within {}", took(*limit)))
            }
        };
        let notes = [Some(note), report.note.clone()];
        let note: Vec<_> = notes.into_iter().flatten().filter(|n| !n.is_empty()).collect();
        table.row([clean(&report.name), state, took(report.took), clean(&note.join("; "))]);
    }
    if reports.is_empty() { "no sources were asked\n".into() } else { table.to_string() }
}

fn left_out(briefing: &Briefing, gathered: &Gathered) -> String {
    let of = |reason| briefing.lines.iter().filter(|line| line.left_out == Some(reason)).count();
    let delivered = briefing.lines.iter().filter(|line| line.left_out.is_none()).count();
    let mut text = format!(
        "{} of {} in the briefing, about {} tokens",
        delivered,
        count(gathered.snippets.len(), "memory", "memories"),
        briefing.tokens
    );
    for (reason, word) in [
        (LeftOut::Irrelevant, "not relevant"),
        (LeftOut::Duplicate, "said twice"),
        (LeftOut::Superseded, "superseded"),
        (LeftOut::OverBudget, "over budget"),
    ] {
        if of(reason) > 0 {
            let _ = write!(text, ", {} {word}", of(reason));
        }
    }
    for line in briefing.lines.iter().filter(|line| line.left_out == Some(LeftOut::Quarantined)) {
        text = text + "\n" + &held_back(line);
    }
    text
}

/// A memory that addresses the agent, for people.
pub fn held_back(line: &Line) -> String {
    let held = format!("held back, it addresses the agent: [{} · {}] ", clean(&line.source), clean(&line.id));
    paint(WARNING, &held) + &clean(&line.text)
}

//! `pao brief`: the briefing an agent would get, and how each source fared.

use std::fmt::Write as _;

use pao_core::Context;
use pao_core::host::Host;
use pao_core::marks::Mark;
use pao_core::spawn;
use pao_core::spawn::passed::{LeftOut, Line, SourceReport, SourceState};
use pao_core::spawn::request::Brief;
use pao_core::{Error, wire};

use crate::args::Brief as Asked;
use crate::face::{Agreed, Person};
use crate::interrupt::Interrupt;
use crate::render::{BAD, GOOD, QUIET, Screen, Table, WARNING, clean, count, paint, took};

pub async fn run(host: Host, screen: Screen, what: Asked) -> Result<u8, Error> {
    let interrupt = Interrupt::watch(screen, "stopping; nothing was written")?;
    let face = Person::new(host.clone(), interrupt.clone(), Agreed::default());
    let context = Context::open_to_ask(host).await?;
    screen.without_registry(&context);
    let brief = spawn::brief(&context, &what.inputs.request(), &face, &interrupt.cancel).await?;
    if screen.json {
        screen.document(&wire::Brief::from(&brief))?;
    } else if what.changes {
        aside(screen, &brief);
        screen.say(&changes(&context.host, &brief))?;
    } else {
        aside(screen, &brief);
        screen.markdown(&brief.briefing.markdown)?;
    }
    Ok(0)
}

/// What there is to say beside the document.
pub fn aside(screen: Screen, brief: &Brief) {
    screen.aside(&format!("\n{}", sources(&brief.gathered.reports)));
    screen.aside(&format!("{}\n", left_out(brief)));
}

/// What is another since the folder's last spawn: `+` new, `~` changed, `-` gone.
fn changes(host: &Host, brief: &Brief) -> String {
    let Some(changes) = &brief.changes else { return "nothing was spawned here before\n".into() };
    let since = host.local(changes.since).format("%Y-%m-%d %H:%M");
    let edited = if changes.edited { ", edited by you" } else { "" };
    if changes.is_empty() {
        return format!("nothing is another since the last spawn here ({since}{edited})\n");
    }
    let mut text = paint(QUIET, &format!("Since the last spawn here ({since}{edited}):")) + "\n";
    let changes = wire::marks::Changes::new(changes, &brief.briefing.lines);
    let mut row = |sign: &str, style, line: &wire::marks::ChangedLine, more: String| {
        let at = paint(QUIET, &cited(&line.source, &line.id));
        let _ = writeln!(text, "{} {} {at}{more}", paint(style, sign), clean(&line.text));
    };
    for line in &changes.new {
        row("+", GOOD, line, String::new());
    }
    for line in &changes.changed {
        let before =
            line.before.as_deref().filter(|before| *before != line.text).unwrap_or("listed otherwise");
        row("~", WARNING, line, format!("\n    before: {}", clean(before)));
    }
    for line in &changes.gone {
        let by =
            line.because.as_ref().map_or_else(String::new, |by| format!(" {}", cited(&by.source, &by.id)));
        row("-", BAD, line, format!(" — {}{by}", gone(line.why.unwrap_or_default())));
    }
    text
}

/// Why a line is gone, in words.
fn gone(why: &str) -> &str {
    match why {
        "irrelevant" => "not relevant to this",
        "duplicate" => "said already by",
        "superseded" => "superseded by",
        "over-budget" => "the budget has no room for it",
        "quarantined" => "it addresses the agent",
        "dropped" => "you dropped it",
        "never" => "never to be said",
        "no-answer" => "its store did not answer",
        "not-asked" => "its store was not asked",
        "edited" => "taken out in the editor",
        _ => "no longer found",
    }
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

fn left_out(brief: &Brief) -> String {
    let Brief { briefing, gathered, .. } = brief;
    let of = |reason| briefing.lines.iter().filter(|line| line.left_out == Some(reason)).count();
    let delivered = briefing.lines.iter().filter(|line| line.left_out.is_none()).count();
    let mut text = format!(
        "{} of {} in the briefing, about {} tokens",
        delivered,
        count(gathered.snippets.len(), "memory", "memories"),
        briefing.tokens
    );
    if let Some(price) = brief.price() {
        let _ = write!(text, " ($ {price:.4})");
    }
    for (reason, word) in [
        (LeftOut::Irrelevant, "not relevant"),
        (LeftOut::Duplicate, "said twice"),
        (LeftOut::Superseded, "superseded"),
        (LeftOut::OverBudget, "over budget"),
        (LeftOut::Dropped, "dropped"),
        (LeftOut::Never, "never to be said"),
    ] {
        if of(reason) > 0 {
            let _ = write!(text, ", {} {word}", of(reason));
        }
    }
    let pinned = briefing.lines.iter().filter(|line| line.mark == Some(Mark::Pin));
    for line in pinned {
        text = text + "\n" + &pin(line);
    }
    for line in &briefing.lines {
        let said = match line.left_out {
            Some(LeftOut::Quarantined) => held_back(line),
            Some(LeftOut::Dropped) => dropped(line),
            Some(LeftOut::Never) => never(line),
            _ => continue,
        };
        text = text + "\n" + &said;
    }
    text
}

/// A pinned memory, for people, and why it is not in the briefing where it is not.
fn pin(line: &Line) -> String {
    let at = cited(&line.source, &line.id);
    let by = line.because.as_ref().map_or_else(String::new, |by| cited(&by.source, &by.id));
    match line.left_out {
        None => paint(GOOD, &format!("pinned: {at} ")) + &clean(&line.text),
        Some(LeftOut::OverBudget) => {
            paint(WARNING, &format!("pinned, but the budget has no room for it (--budget): {at} "))
                + &clean(&line.text)
        }
        Some(LeftOut::Duplicate) => paint(QUIET, &format!("pinned, and said already by {by}: {at}")),
        Some(LeftOut::Superseded) => {
            paint(WARNING, &format!("pinned, but {by} is newer: {at} ")) + &clean(&line.text)
        }
        Some(_) => paint(WARNING, &format!("pinned, and not delivered: {at}")),
    }
}

fn cited(source: &str, id: &str) -> String {
    format!("[{} · {}]", clean(source), clean(id))
}

/// A memory the user dropped, for people.
fn dropped(line: &Line) -> String {
    let at = cited(&line.source, &line.id);
    paint(QUIET, &format!("dropped, out of the next spawn here: {at} ")) + &clean(&line.text)
}

/// A memory the user wants never said, for people.
pub fn never(line: &Line) -> String {
    let word = format!("{}:{}", clean(&line.source), clean(&line.id));
    paint(QUIET, &format!("never to be said (pao marks undo {word}): ")) + &clean(&line.text)
}

/// A memory that addresses the agent, for people.
pub fn held_back(line: &Line) -> String {
    let held = format!("held back, it addresses the agent: [{} · {}] ", clean(&line.source), clean(&line.id));
    paint(WARNING, &held) + &clean(&line.text)
}

//! `pao tell`: a text for one agent or many, and what became of it.

use std::io::Read;

use pao_core::host::Host;
use pao_core::life::tell::{self, Told};
use pao_core::registry::messages::Fate;
use pao_core::{Error, Kind, wire};

use crate::args::life::{Tell, Telling, duration};
use crate::render::{BAD, GOOD, QUIET, STRONG, Screen, Table, WARNING, clean, paint};

/// How much of a text a list shows, in characters.
const SHOWN: usize = 60;

pub async fn run(host: Host, screen: Screen, what: Tell) -> Result<u8, Error> {
    let wait = what.wait.map(duration);
    let telling = what.telling()?;
    // Standard input is read before anything is opened: it may take its time.
    let telling = match telling {
        Telling::Say(to, words) if words == ["-"] => Telling::Say(to, vec![piped()?]),
        other => other,
    };
    let context = super::context(host, screen, matches!(telling, Telling::List(_))).await?;
    screen.unreadable(&context.registry);
    let told = match &telling {
        Telling::Say(to, words) => tell::tell(&context, to, &words.join(" "), wait).await?,
        Telling::List(name) => tell::list(&context.registry, name.as_deref()).await?,
        Telling::Withdraw(id) => vec![tell::withdraw(&context, *id).await?],
    };
    let said = matches!(telling, Telling::Say(..));
    if screen.json {
        screen.document(&told.iter().map(wire::life::Told::from).collect::<Vec<_>>())?;
    } else if told.is_empty() {
        screen.say("no agent was told anything\n")?;
    } else {
        screen.say(&table(&told, !said))?;
    }
    let unproven =
        said && told.iter().any(|told| matches!(told.fate, Fate::Unknown | Fate::Sent) && !waits(told));
    Ok(if unproven { Kind::Unconfirmed.exit_code() } else { 0 })
}

/// Sent, and known to wait for the agent's next prompt.
fn waits(told: &Told) -> bool {
    told.fate == Fate::Sent && told.note.is_some()
}

fn piped() -> Result<String, Error> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|e| {
        Error::environment(format!("standard input cannot be read: {e}"), "give the text as words")
    })?;
    String::from_utf8(bytes).map_err(|_| {
        Error::user("what standard input holds is no UTF-8 text", "put it into a file and name that")
    })
}

fn table(told: &[Told], texts: bool) -> String {
    let mut table = Table::plain();
    for told in told {
        let mut cells =
            vec![paint(QUIET, &told.id.to_string()), paint(STRONG, &clean(&told.name)), fate(told.fate)];
        if texts {
            cells.push(excerpt(&told.text));
        }
        cells.push(paint(QUIET, &clean(told.note.as_deref().unwrap_or(""))));
        table.row(cells);
    }
    table.to_string()
}

fn fate(fate: Fate) -> String {
    let style = match fate {
        Fate::Confirmed => GOOD,
        Fate::Queued | Fate::Sent => WARNING,
        Fate::Unknown => BAD,
        Fate::Withdrawn => QUIET,
    };
    paint(style, fate.name())
}

fn excerpt(text: &str) -> String {
    let line = clean(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if line.chars().count() <= SHOWN {
        return line;
    }
    line.chars().take(SHOWN - 1).collect::<String>() + "…"
}

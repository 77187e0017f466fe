//! `pao marks`: what you decided about single memories, made, listed and taken back.

use std::path::Path;

use pao_core::Context;
use pao_core::host::Host;
use pao_core::marks::{self, Mark, Marked, Scope};
use pao_core::wire;
use pao_core::{Error, words};

use super::waiting;
use crate::args::marks::{Marking, Marks, MarksVerb, Undoing};
use crate::interrupt::Interrupt;
use crate::render::{BAD, GOOD, QUIET, Screen, Table, WARNING, age, clean, paint};

pub async fn run(host: Host, screen: Screen, what: Marks) -> Result<u8, Error> {
    let Some(verb) = what.what else {
        let context = Context::open_to_ask(host).await?;
        screen.without_registry(&context);
        let all = marks::list(&context, what.folder.as_deref()).await?;
        return show(&context, screen, &all);
    };
    let open = host.clone();
    let context = waiting(&host, screen, Context::open(open)).await?;
    screen.unreadable(&context.registry);
    let folder = what.folder.as_deref();
    match verb {
        MarksVerb::Pin(what) => mark(&context, screen, Mark::Pin, folder, what).await,
        MarksVerb::Drop(what) => mark(&context, screen, Mark::Drop, folder, what).await,
        MarksVerb::Never(what) => mark(&context, screen, Mark::Never, folder, what).await,
        MarksVerb::Undo(what) => undo(&context, screen, folder, what).await,
    }
}

async fn mark(
    context: &Context,
    screen: Screen,
    mark: Mark,
    folder: Option<&Path>,
    what: Marking,
) -> Result<u8, Error> {
    let interrupt = Interrupt::watch(screen, "stopping; nothing was marked")?;
    let scope = place(context, folder, what.everywhere)?.map_or_else(|| here(context), Ok)?;
    let named = marks::find(context, &what.id, what.about.as_deref(), folder, &interrupt.cancel).await?;
    let marked = marks::mark(context, &scope, mark, &named).await?;
    if screen.json {
        screen.document(&wire::marks::Marked::from(&marked))?;
        return Ok(0);
    }
    let place = match &marked.scope {
        Scope::Everywhere => "everywhere".to_string(),
        Scope::Project(id) => format!("in {}", context.host.display(id.as_ref())),
    };
    let said = match mark {
        Mark::Pin => format!("{} is in every briefing {place} from now on", named.word()),
        Mark::Drop => format!(
            "{} is left out of the next spawn {place}, and weighs less afterwards{}",
            named.word(),
            if marked.times > 1 { format!(" (dropped {} times)", marked.times) } else { String::new() }
        ),
        Mark::Never => format!("{} is never said again {place}", named.word()),
    };
    screen.say(&format!("{} {}\n  {}\n", paint(GOOD, "✓"), clean(&said), paint(QUIET, &text(&marked))))?;
    Ok(0)
}

async fn undo(context: &Context, screen: Screen, folder: Option<&Path>, what: Undoing) -> Result<u8, Error> {
    let scope = place(context, folder, what.everywhere)?;
    let gone = match &what.id {
        Some(id) => vec![marks::undo(context, id, scope.as_ref()).await?],
        None => marks::undo_all(context, scope.as_ref()).await?,
    };
    if screen.json {
        screen.document(&gone.iter().map(wire::marks::Marked::from).collect::<Vec<_>>())?;
        return Ok(0);
    }
    if gone.is_empty() {
        screen.say("nothing was marked\n")?;
    }
    for marked in &gone {
        let word = format!("{}:{}", marked.memory.source, marked.memory.id);
        let said = format!("{word} is no longer marked “{}”", marked.mark.name());
        screen.say(&format!("{} {}\n", paint(GOOD, "✓"), clean(&said)))?;
    }
    Ok(0)
}

/// Where it was said to hold; nowhere in particular is `None`.
fn place(context: &Context, folder: Option<&Path>, everywhere: bool) -> Result<Option<Scope>, Error> {
    match (folder, everywhere) {
        (Some(_), true) => {
            Err(Error::user("-C names one project and --everywhere all of them", "leave one of the two out"))
        }
        (Some(folder), false) => Ok(Some(Scope::Project(marks::project_of(context, Some(folder))?.id))),
        (None, true) => Ok(Some(Scope::Everywhere)),
        (None, false) => Ok(None),
    }
}

fn here(context: &Context) -> Result<Scope, Error> {
    Ok(Scope::Project(marks::project_of(context, None)?.id))
}

fn show(context: &Context, screen: Screen, all: &[Marked]) -> Result<u8, Error> {
    if screen.json {
        screen.document(&all.iter().map(wire::marks::Marked::from).collect::<Vec<_>>())?;
        return Ok(0);
    }
    if all.is_empty() {
        screen.say("nothing is marked\n")?;
        return Ok(0);
    }
    let mut table = Table::new(&["MARK", "MEMORY", "WHERE", "AGE", "WHAT IT SAYS"]);
    for marked in all {
        let word = match marked.mark {
            Mark::Pin => paint(GOOD, "pin"),
            Mark::Drop if marked.times > 1 => paint(WARNING, &format!("drop ×{}", marked.times)),
            Mark::Drop => paint(WARNING, "drop"),
            Mark::Never => paint(BAD, "never"),
        };
        let place = match &marked.scope {
            Scope::Everywhere => "everywhere".to_string(),
            Scope::Project(id) => clean(&context.host.display(id.as_ref())),
        };
        let memory = clean(&format!("{}:{}", marked.memory.source, marked.memory.id));
        table.row([word, memory, place, age(context.host.now(), marked.at), text(marked)]);
    }
    screen.say(&table.to_string())?;
    Ok(0)
}

fn text(marked: &Marked) -> String {
    clean(&words::first_line(&marked.memory.text, 80))
}

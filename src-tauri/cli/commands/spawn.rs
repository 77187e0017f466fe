//! `pao spawn`: the whole job, seen from the terminal.

use std::fmt::Write as _;

use pao_core::Context;
use pao_core::host::Host;
use pao_core::life::checkpoint;
use pao_core::spawn;
use pao_core::spawn::passed::Receipt;
use pao_core::spawn::request::{Request, Spawned};
use pao_core::words::question;
use pao_core::{Error, Kind, wire};

use super::{brief, waiting};
use crate::args::Spawn;
use crate::face::{Agreed, Person};
use crate::interrupt::Interrupt;
use crate::render::{GOOD, QUIET, STRONG, Screen, WARNING, bullets, clean, count, paint};

pub async fn run(host: Host, screen: Screen, what: Spawn) -> Result<u8, Error> {
    let interrupt = Interrupt::watch(screen, "stopping; what was begun is taken back")?;
    let agreed = Agreed { trust: what.yes, skip_permissions: what.yes_skip_permissions };
    let face = Person::new(host.clone(), interrupt.clone(), agreed);
    let face = if screen.json || what.dry_run || what.edit { face } else { face.shown_the_briefing() };
    if what.dry_run {
        let context = Context::open_to_ask(host).await?;
        screen.without_registry(&context);
        let (request, note) = request(&context, what).await?;
        let mut run = spawn::dry_run(&context, &request, &face, &interrupt.cancel).await?;
        run.would.splice(..0, note);
        if screen.json {
            screen.document(&wire::Brief::from(&run))?;
            return Ok(0);
        }
        brief::aside(screen, &run.brief);
        screen.markdown(&run.brief.briefing.markdown)?;
        screen.say(&bullets("A spawn would:", run.would.iter().map(String::as_str)))?;
        return Ok(0);
    }
    let context = waiting(&host.clone(), screen, Context::open(host)).await?;
    screen.unreadable(&context.registry);
    let (request, note) = request(&context, what).await?;
    let given = given(&request);
    let mut spawned = spawn::spawn(&context, &request, &face, &interrupt.cancel).await?;
    spawned.notes.splice(..0, note);
    show(&context.host, screen, &spawned, given.as_deref())
}

/// What stands before its briefing, as a phrase.
pub fn given(request: &Request) -> Option<String> {
    request.fork.as_ref().map(|fork| match fork.conversation {
        Some(_) => "the conversation is copied".to_string(),
        None => format!("a hand-over of {}", count(fork.opening.lines().count(), "line", "lines")),
    })
}

/// What a spawn came to; the exit code.
/// `given` says what stands before its briefing, as a phrase.
pub fn show(host: &Host, screen: Screen, spawned: &Spawned, given: Option<&str>) -> Result<u8, Error> {
    let unproven = unproven(spawned);
    if screen.json {
        let error = unproven.as_ref().map(wire::Failure::from);
        screen.document(&wire::Spawned { error, ..wire::Spawned::from(spawned) })?;
    } else {
        screen.say(&summary(host, spawned, given))?;
        if let Some(error) = &unproven {
            screen.error(error);
        }
    }
    Ok(unproven.map_or(0, |error| error.kind.exit_code()))
}

/// What to spawn, and what there is to say where it starts from a checkpoint.
async fn request(context: &Context, what: Spawn) -> Result<(Request, Option<String>), Error> {
    let Some(id) = what.fork.clone() else { return Ok((what.request(), None)) };
    let forked = checkpoint::fork(context, &id, what.request()).await?;
    Ok((forked.request, forked.note))
}

/// A start that nothing confirmed: done, and yet not certain.
fn unproven(spawned: &Spawned) -> Option<Error> {
    if spawned.ready.receipt == Receipt::Confirmed && spawned.ready.needs.is_none() {
        return None;
    }
    let message = match &spawned.ready.needs {
        Some(needs) => {
            format!("{} waits for you: {}", spawned.name, question(needs, Some(&spawned.ready.evidence)))
        }
        None => format!("nothing has proved that {} received its prompt", spawned.name),
    };
    let next = match &spawned.attach {
        Some(attach) => format!("look at it: {attach}"),
        None => format!("look at its window in {}", spawned.terminal),
    };
    Some(Error::new(Kind::Unconfirmed, message, next).after(format!("{} was started", spawned.name)))
}

fn summary(host: &Host, spawned: &Spawned, given: Option<&str>) -> String {
    let mark =
        if spawned.ready.receipt == Receipt::Confirmed { paint(GOOD, "✓") } else { paint(WARNING, "?") };
    let folder = clean(&host.display(&spawned.folder));
    let lines = spawned.briefing.lines.iter().filter(|line| line.left_out.is_none()).count();
    let known = if spawned.briefing.self_warming {
        "nothing known, told how to ask".to_string()
    } else {
        format!("{}, about {} tokens", count(lines, "line", "lines"), spawned.briefing.tokens)
    };
    let mut text = format!("{mark} {} in {folder}\n", paint(STRONG, &clean(&spawned.name)));
    let mut row = |word: &str, what: &str| {
        let _ = writeln!(text, "  {} {}", paint(QUIET, &format!("{word:<9}")), clean(what));
    };
    let given = given.map(|given| format!("{given}; ")).unwrap_or_default();
    row("briefing", &format!("{given}{known}, by {}", spawned.way.name()));
    let receipt = match (spawned.prompted, spawned.ready.receipt) {
        (false, Receipt::Confirmed) => "none, it is ready",
        (_, receipt) => receipt.name(),
    };
    row("prompt", &format!("{receipt} ({})", spawned.ready.evidence));
    row("session", spawned.session.as_deref().unwrap_or("not known before its first turn"));
    row("terminal", &spawned.terminal);
    if let Some(attach) = &spawned.attach {
        row("attach", attach);
    }
    for note in &spawned.notes {
        row("note", note);
    }
    text
}

//! `pao agents clean`: shows what could go and why, asks, puts it aside; and puts it back.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use chrono::{DateTime, TimeDelta, Utc};
use pao_core::host::Host;
use pao_core::life::clean::automatic::{news, sentence};
use pao_core::life::clean::{
    self, Asks, Done, Group, KEPT, Of, Plan, Record, Stage, Standing, Thing, Wanted,
};
use pao_core::{Context, Error, wire};
use tokio_util::sync::CancellationToken;

use super::agents::short;
use crate::args::clean::Clean;
use crate::ask;
use crate::render::{BAD, GOOD, QUIET, STRONG, Screen, WARNING, age, bytes, clean as plain, count, paint};

pub async fn run(host: Host, screen: Screen, what: Clean) -> Result<u8, Error> {
    let looks = what.history || (what.dry_run && what.undo.is_none());
    let context = super::context(host, screen, looks).await?;
    screen.unreadable(&context.registry);
    let Context { host, registry, .. } = &context;
    if what.history {
        return history(host, screen);
    }
    if let Some(id) = &what.undo {
        let id = Some(id.as_str()).filter(|id| !id.is_empty());
        let record = clean::undo(host, registry, id).await?;
        if screen.json {
            screen.document(&wire::Cleanup::from(&record))?;
        } else {
            screen.say(&undone(&record))?;
        }
        return Ok(0);
    }
    let wanted = Wanted {
        names: what.names.clone(),
        one_by_one: false,
        older_than: what.older_than.map(|days| TimeDelta::days(days.into())),
        folder: what.folder.as_ref().map(|folder| host.cwd.join(folder)),
    };
    let plan = clean::plan(host, registry, &wanted).await?;
    let nothing = !plan.groups.iter().any(|group| group.held.is_none());
    if what.dry_run || nothing {
        if screen.json {
            screen.document(&wire::CleanPlan::from(&plan))?;
        } else {
            screen.say(&shown(host, &plan))?;
        }
        return Ok(0);
    }
    let chosen = chosen(host, screen, &what, &plan)?;
    let done = clean::apply(host, registry, plan, |group| chosen.contains(&group.key), false).await?;
    if screen.json {
        screen.document(&wire::Cleanup::from(&done))?;
    } else {
        screen.say(&cleaned(host, &done))?;
    }
    Ok(0)
}

/// What an automatic cleanup did since the user last looked, one line each.
pub fn tell_news(host: &Host, screen: Screen) {
    for record in news(host).unwrap_or_default() {
        let undo = format!("pao agents clean --undo {}", record.id);
        screen.aside(&paint(QUIET, &plain(&format!("{}; to put it back: {undo}", sentence(host, &record)))));
    }
}

/// The keys of the groups the user agrees to. Each kind that takes more than the general yes is asked for by itself.
fn chosen(host: &Host, screen: Screen, what: &Clean, plan: &Plan) -> Result<BTreeSet<String>, Error> {
    let mut chosen = BTreeSet::new();
    let free = |asks: Asks| plan.groups.iter().filter(move |g| g.held.is_none() && g.asks == asks);
    if !what.yes {
        screen.aside(&shown(host, plan));
    }
    if free(Asks::Nothing).next().is_some() {
        let size: u64 = free(Asks::Nothing).map(Group::bytes).sum();
        let number = count(free(Asks::Nothing).count(), "entry", "entries");
        if !what.yes && !asked(&format!("Clean up {number}, {}?", bytes(size)))? {
            return Err(Error::user("nothing was cleaned up", "to only see the list: --dry-run"));
        }
        chosen.extend(free(Asks::Nothing).map(|group| group.key.clone()));
    }
    for group in plan.groups.iter().filter(|g| g.held.is_none()) {
        let title = plain(&group.title);
        let (agreed, question) = match group.asks {
            Asks::Nothing => continue,
            Asks::Paused => (
                what.yes_paused,
                format!("{title} is paused and could be resumed. Clean it up all the same?"),
            ),
            Asks::Running => (
                what.yes_end,
                format!("{title} still runs and may be an agent at work. End it and clean it up?"),
            ),
            Asks::Fresh => {
                (false, format!("{title} was lost just now and could be resumed. Clean it up all the same?"))
            }
            Asks::Final => (what.yes_final, format!("Remove {title} for good?")),
        };
        // A general yes given beforehand was not given to this.
        if agreed || (!what.yes && asked(&question)?) {
            chosen.insert(group.key.clone());
        }
    }
    if chosen.is_empty() {
        let next =
            "agree by name, --older-than 0, --yes-paused, --yes-end or --yes-final, as --dry-run shows";
        return Err(Error::user("nothing was agreed to, and nothing was cleaned up", next));
    }
    Ok(chosen)
}

fn asked(question: &str) -> Result<bool, Error> {
    ask::yes(question, &CancellationToken::new()).ok_or_else(|| {
        Error::user(
            "there is nobody to ask",
            "run it in a terminal, or agree with --yes; --dry-run shows the list",
        )
    })
}

fn shown(host: &Host, plan: &Plan) -> String {
    let mut text = String::new();
    let (free, held): (Vec<&Group>, Vec<&Group>) = plan.groups.iter().partition(|g| g.held.is_none());
    if free.is_empty() {
        text.push_str("nothing to clean up\n");
    }
    for group in &free {
        let _ =
            writeln!(text, "{}  {}", heading(host, group, &plan.groups), paint(QUIET, &bytes(group.bytes())));
        let _ = writeln!(text, "    {}", paint(QUIET, &plain(&group.why.join("; "))));
        for item in &group.items {
            let _ = writeln!(text, "    • {}", plain(&item.what));
        }
        if let Some(words) = extra(group.asks) {
            let _ = writeln!(text, "    {}", paint(WARNING, words));
        }
    }
    if !held.is_empty() {
        let _ = writeln!(text, "{}", paint(STRONG, "Left out:"));
    }
    for group in &held {
        let why = group.held.as_deref().unwrap_or_default();
        let _ = writeln!(text, "  {}: {}", heading(host, group, &plan.groups), plain(why));
    }
    if !free.is_empty() {
        let days = KEPT.num_days();
        let _ = writeln!(
            text,
            "{}",
            paint(
                QUIET,
                &format!(
                    "Can be undone for {days} days. Never touched: your files, commits, transcripts, memory, running agents."
                )
            )
        );
    }
    text
}

fn extra(asks: Asks) -> Option<&'static str> {
    match asks {
        Asks::Nothing => None,
        Asks::Paused => Some("it could be resumed: asked for by itself, or --yes-paused"),
        Asks::Running => Some("it still runs: asked for by itself, or --yes-end"),
        Asks::Fresh => Some(
            "lost less than an hour ago, could be resumed: asked for by itself; --yes takes it only by its name or with --older-than 0",
        ),
        Asks::Final => Some("cannot be undone: asked for by itself, or --yes-final"),
    }
}

fn ago(host: &Host, at: DateTime<Utc>) -> String {
    match age(host.now(), at) {
        now if now == "now" => "just now".into(),
        age => format!("{age} ago"),
    }
}

fn heading(host: &Host, group: &Group, all: &[Group]) -> String {
    let id = match &group.of {
        Of::Agent { id } | Of::Lost { id } => Some(short(id)),
        _ => None,
    };
    let twice = all.iter().filter(|other| other.title == group.title).count() > 1;
    let id = id.filter(|_| twice).map(|id| format!(" {}", paint(QUIET, &plain(id)))).unwrap_or_default();
    let since = group.since.map(|at| format!(", {}", ago(host, at))).unwrap_or_default();
    format!("{}{id}  {}", paint(STRONG, &plain(&group.title)), plain(&format!("{}{since}", group.state)))
}

fn cleaned(host: &Host, done: &Done) -> String {
    let mut text = lines(&done.record, false);
    if done.undoable {
        let until = host.local(done.record.at + KEPT).format("%Y-%m-%d");
        let _ = writeln!(
            text,
            "kept until {until} at least; to put it back: pao agents clean --undo {}",
            done.record.id
        );
    }
    text
}

fn undone(record: &Record) -> String {
    let mut text = lines(record, true);
    if record.pieces().any(|(_, piece)| piece.stage == Stage::Refused) {
        let _ = writeln!(text, "what was not put back is still kept in cleanups/{}", record.id);
    }
    text
}

/// Groups, and items with what became of them. Undone, only what had been taken away is shown.
fn lines(record: &Record, undone: bool) -> String {
    let mut text = String::new();
    for part in &record.parts {
        let title = paint(STRONG, &plain(&part.group.title));
        if let Some(why) = &part.left {
            if !undone {
                let _ = writeln!(text, "{} {title}  left alone: {}", paint(WARNING, "!"), plain(why));
            }
            continue;
        }
        let _ = writeln!(text, "{title}");
        for (item, piece) in part.group.items.iter().zip(&part.pieces) {
            let (mark, word) = match piece.stage {
                Stage::Removed if undone => (paint(QUIET, "–"), "stays away"),
                Stage::Removed => (paint(GOOD, "✓"), "removed"),
                Stage::Gone | Stage::Kept if undone => continue,
                Stage::Gone => (paint(QUIET, "–"), "was gone already"),
                Stage::Kept => (paint(WARNING, "!"), "kept"),
                Stage::Restored => (paint(GOOD, "✓"), "put back"),
                Stage::Refused => (paint(BAD, "!"), "not put back"),
                Stage::Planned => continue,
            };
            let (what, word) = match (&item.thing, piece.stage) {
                (Thing::Row, Stage::Removed) if !undone => ("its row", "archived"),
                (Thing::Row, Stage::Restored) => ("its row", "back in the list"),
                (Thing::Row, _) => ("its row", word),
                _ => (&*item.what, word),
            };
            let note =
                if piece.note.is_empty() { String::new() } else { format!(": {}", plain(&piece.note)) };
            let _ = writeln!(text, "  {mark} {}  {}", plain(what), paint(QUIET, &format!("{word}{note}")));
        }
    }
    text
}

fn history(host: &Host, screen: Screen) -> Result<u8, Error> {
    let records = clean::history(host)?;
    if screen.json {
        screen.document(&records.iter().map(wire::Cleanup::from).collect::<Vec<_>>())?;
        return Ok(0);
    }
    let mut text = String::new();
    for record in &records {
        let took = |part: &&clean::Part| part.left.is_none();
        let titles: Vec<&str> = record.parts.iter().filter(took).map(|p| p.group.title.as_str()).collect();
        let state = match (record.standing, record.automatic) {
            (Standing::Undone, _) => "undone",
            (_, true) => "made by itself",
            _ => "made",
        };
        let ago = ago(host, record.at);
        let _ =
            writeln!(text, "{}  {ago}  {state}  {}", paint(STRONG, &record.id), plain(&titles.join(", ")));
    }
    if records.is_empty() {
        text.push_str("no cleanup was made\n");
    }
    screen.say(&text)?;
    Ok(0)
}

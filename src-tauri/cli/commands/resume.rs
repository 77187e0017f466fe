//! `pao resume`: brings agents back and says what changed while they rested.

use std::fmt::Write as _;

use pao_core::Context;
use pao_core::host::Host;
use pao_core::life::resume::{self, Resumed};
use pao_core::life::several::several;
use pao_core::registry::agents::Agent;
use pao_core::spawn::passed::{Briefing, Gathered, Receipt};
use pao_core::spawn::request::{Consent, Face, Progress};
use pao_core::words::question;
use pao_core::{Error, Kind, wire};

use super::pause::{code, failed};
use super::{say_which, waiting};
use crate::args::Resume;
use crate::face::{Agreed, Person};
use crate::interrupt::Interrupt;
use crate::render::{GOOD, QUIET, STRONG, Screen, WARNING, clean, count, paint};

pub async fn run(host: Host, screen: Screen, what: Resume) -> Result<u8, Error> {
    let interrupt = Interrupt::watch(screen, "stopping; what was begun is taken back")?;
    let agreed = Agreed { trust: what.yes, skip_permissions: what.yes_skip_permissions };
    let context = waiting(&host, screen, Context::open(host.clone())).await?;
    let how = what.how();
    let Some(word) = &what.agent else {
        let (mut agents, mut lost) = resume::all(&context, what.project.as_deref()).await?;
        if what.lost {
            agents.append(&mut lost);
        }
        let face = Unasked(agreed);
        let work =
            async |agent: &Agent| resume::resume(&context, &agent.id, &how, &face, &interrupt.cancel).await;
        let settled = |agent: &Agent, result: &Result<Resumed, Error>| {
            let line = match result {
                Ok(resumed) => first_line(resumed),
                Err(error) => failed(agent, error),
            };
            screen.aside(line.trim_end());
        };
        let done = several(agents, usize::from(what.at_once), &interrupt.cancel, work, settled).await;
        if !lost.is_empty() {
            let were = if lost.len() == 1 { "was" } else { "were" };
            let left = count(lost.len(), "lost agent", "lost agents");
            screen.aside(&format!("{left} {were} left: pao resume NAME, or pao resume --all --lost"));
        }
        return summary(screen, &done);
    };
    let agent = context.registry.named(word).await?;
    say_which(screen, &context, word, &agent).await?;
    let face = Person::new(host, interrupt.clone(), agreed);
    let resumed = resume::resume(&context, &agent.id, &how, &face, &interrupt.cancel).await?;
    let unproven = unproven(&resumed);
    if screen.json {
        screen.document(&wire::rest::Resumed::from(&resumed))?;
    } else {
        screen.say(&told(&context.host, &resumed))?;
        if let Some(error) = &unproven {
            screen.error(error);
        }
    }
    Ok(unproven.map_or(0, |error| error.kind.exit_code()))
}

fn unproven(resumed: &Resumed) -> Option<Error> {
    let ready = &resumed.back.ready;
    if ready.receipt == Receipt::Confirmed && ready.needs.is_none() {
        return None;
    }
    let message = match &ready.needs {
        Some(needs) => {
            format!("{} waits for you: {}", resumed.name, question(needs, Some(&ready.evidence)))
        }
        None => format!("nothing has proved that {} is at its prompt line", resumed.name),
    };
    let next = match &resumed.back.attach {
        Some(attach) => format!("look at it: {attach}"),
        None => format!("look at its window in {}", resumed.back.terminal),
    };
    Some(Error::new(Kind::Unconfirmed, message, next).after(format!("{} was started", resumed.name)))
}

fn first_line(resumed: &Resumed) -> String {
    let sure = resumed.back.ready.receipt == Receipt::Confirmed && resumed.back.ready.needs.is_none();
    let mark = if sure { paint(GOOD, "✓") } else { paint(WARNING, "?") };
    let phrases = resumed.changed.phrases();
    let changed = if phrases.is_empty() { "nothing changed meanwhile".into() } else { phrases.join(", ") };
    format!("{mark} {} is back: {}\n", paint(STRONG, &clean(&resumed.name)), clean(&changed))
}

fn told(host: &Host, resumed: &Resumed) -> String {
    let mut text = first_line(resumed);
    let mut row = |word: &str, what: &str| {
        let _ = writeln!(text, "  {} {}", paint(QUIET, &format!("{word:<9}")), clean(what));
    };
    let anew = if resumed.begins_anew { " (nothing had been said in it)" } else { "" };
    row("session", &format!("{}{anew}", resumed.back.session));
    row("folder", &host.display(&resumed.folder));
    row("terminal", &resumed.back.terminal);
    if let Some(attach) = &resumed.back.attach {
        row("attach", attach);
    }
    for (word, what) in changes(resumed) {
        row(word, &what);
    }
    for report in &resumed.changed.news.reports {
        if let Some(why) = wire::SourceReport::from(report).reason {
            row("note", &format!("{} could not say what is new: {why}", report.name));
        }
    }
    for note in &resumed.back.notes {
        row("note", note);
    }
    text
}

/// Each thing that changed, with what it is.
fn changes(resumed: &Resumed) -> Vec<(&'static str, String)> {
    let changed = &resumed.changed;
    let mut all = Vec::new();
    if let Some(between) = &changed.between {
        all.extend(
            between.commits.iter().map(|c| ("commit", format!("{} {} ({})", c.id, c.subject, c.author))),
        );
        if between.more_commits > 0 {
            all.push(("commit", format!("and {} more", between.more_commits)));
        }
        all.extend(between.files.iter().map(|file| ("file", file.path.clone())));
        if between.more_files > 0 {
            all.push(("file", format!("and {} more", between.more_files)));
        }
    }
    all.extend(changed.dirty.iter().map(|path| ("edited", path.trim().to_string())));
    all.extend(changed.news.lines.iter().map(|line| ("memory", line.text.clone())));
    all
}

fn summary(screen: Screen, done: &[(Agent, Result<Resumed, Error>)]) -> Result<u8, Error> {
    let code = code(done.iter().map(|(_, result)| result));
    if screen.json {
        let rows: Vec<_> = done
            .iter()
            .map(|(agent, result)| match result {
                Ok(resumed) => wire::rest::OneResumed::Back(Box::new(resumed.into())),
                Err(error) => wire::rest::OneResumed::Not(Box::new(wire::rest::NotResumed {
                    agent: agent.name.clone(),
                    id: agent.id.clone(),
                    error: wire::Failure::from(error),
                })),
            })
            .collect();
        screen.document(&rows)?;
        return Ok(code);
    }
    let back = done.iter().filter(|(_, result)| result.is_ok()).count();
    let mut text = format!("{} back", count(back, "agent", "agents"));
    if back < done.len() {
        text = text + ", " + &count(done.len() - back, "agent", "agents") + " not";
    }
    screen.say(&(text + "\n"))?;
    Ok(code)
}

/// Whoever brings several back is asked nothing: questions of several at once would be answered in the dark.
struct Unasked(Agreed);

impl Face for Unasked {
    fn progress(&self, _: &Progress) {}

    fn composed(&self, _: &Briefing, _: &Gathered) {}

    fn agree(&self, consent: &Consent) -> Result<bool, Error> {
        let (agreed, what, option) = match consent {
            Consent::Trust { .. } => (self.0.trust, "its folder is not trusted any more", "--yes"),
            Consent::SkipPermissions { .. } => (
                self.0.skip_permissions,
                "nobody has agreed that it asks for nothing there",
                "--yes-skip-permissions",
            ),
        };
        if agreed {
            return Ok(true);
        }
        Err(Error::user(what, format!("resume it alone to be asked, or agree with {option}")))
    }

    fn edit(&self, _: &str) -> Result<Option<String>, Error> {
        Ok(None)
    }
}

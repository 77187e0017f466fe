//! `pao index`: brings the index of transcripts up to date, or says how far it reaches.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pao_core::config::Config;
use pao_core::host::{Host, files};
use pao_core::source::history::{self, IngestError, IngestReport, Progress, State};
use pao_core::{Error, wire};

use crate::args::Index;
use crate::interrupt::Interrupt;
use crate::render::{QUIET, Screen, WARNING, age, bytes, clean, count, grouped, paint, took};

pub async fn run(host: Host, screen: Screen, what: Index) -> Result<u8, Error> {
    let config = Config::load(&host)?;
    let Some((_, config)) = config.history() else {
        return Err(Error::user("the source of transcripts is switched off", "see `pao sources`"));
    };
    if what.state {
        let state = history::state(&host, &config)?;
        if screen.json {
            screen.document(&wire::IndexState::from(&state))?;
        } else {
            screen.say(&reach(&host, &state))?;
        }
        return Ok(0);
    }
    let stopping = if what.quiet { "" } else { "stopping; what was read is kept" };
    let interrupt = Interrupt::watch(screen, stopping)?;
    files::private_dir(&host.pao_home).map_err(|e| IngestError::Index(e.to_string()))?;
    let mut shown = if what.quiet { Shown::Nothing } else { Shown::new(screen) };
    let cancel = interrupt.cancel.clone();
    let (home, settings) = (host.clone(), config.clone());
    let work = tokio::task::spawn_blocking(move || {
        let done = history::refresh(&home, &settings, &mut |progress| shown.show(progress), &cancel);
        shown.end();
        done
    });
    let done = work.await.map_err(|e| Error::internal(format!("indexing broke down: {e}")))?;
    let report = match done {
        // In the background the work is being done, if not by us.
        Err(IngestError::Busy) if what.quiet => return Ok(0),
        done => done?,
    };
    if report.stopped {
        let kept = format!("{} were added and are kept", messages(report.messages));
        return Err(Error::user("stopped before the end", "go on with: pao index").after(kept));
    }
    if what.quiet {
        return Ok(0);
    }
    if screen.json {
        screen.document(&wire::IndexReport::from(&report))?;
    } else {
        screen.say(&summary(&host, &report))?;
        screen.say(&reach(&host, &history::state(&host, &config)?))?;
    }
    Ok(0)
}

fn messages(number: u64) -> String {
    format!("{} {}", grouped(number), if number == 1 { "message" } else { "messages" })
}

fn reach(host: &Host, state: &State) -> String {
    let newest =
        state.newest.map_or_else(String::new, |at| format!(", the newest {} old", age(host.now(), at)));
    let pending = match state.pending {
        0 => "all up to date".to_string(),
        n => paint(WARNING, &format!("{n} not read to their end")),
    };
    format!(
        "index: {}{newest}, {} on disk\ntranscripts: {}, {pending}\n",
        messages(state.messages),
        bytes(state.bytes),
        state.files,
    )
}

fn summary(host: &Host, report: &IngestReport) -> String {
    let mut text = match report.read {
        0 => "nothing new\n".to_string(),
        read => format!(
            "read {} of {}: {} added from {} in {}{}\n",
            read,
            count(report.files, "transcript", "transcripts"),
            messages(report.messages),
            bytes(report.bytes),
            took(report.took),
            rate(report.bytes, report.took),
        ),
    };
    for (path, why) in &report.unreadable {
        let line = format!("not readable: {}: {why}", host.display(path));
        text = text + &paint(WARNING, &clean(&line)) + "\n";
    }
    if let Some(path) = &report.set_aside {
        let line = format!("the old index was damaged and is kept in {}", host.display(path));
        text = text + &paint(WARNING, &clean(&line)) + "\n";
    }
    text
}

fn rate(read: u64, within: Duration) -> String {
    let ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX).max(1);
    // A rate over less than a tenth of a second says nothing.
    if ms < 100 { String::new() } else { format!(", {}/s", bytes(read.saturating_mul(1000) / ms)) }
}

/// How far it is, while it works.
enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines { screen: Screen, last: Instant },
}

impl Shown {
    fn new(screen: Screen) -> Self {
        if !std::io::stderr().is_terminal() {
            return Shown::Lines { screen, last: Instant::now() };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Shown::Bar(bar)
    }

    fn show(&mut self, progress: &Progress) {
        let told = match progress.brought_over {
            0 => messages(progress.messages),
            n => format!("{} brought over from an older index", messages(n)),
        };
        match self {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_length(progress.bytes_total);
                bar.set_position(progress.bytes_done);
                bar.set_message(told);
            }
            Shown::Lines { screen, last } => {
                if last.elapsed() < Duration::from_secs(2) {
                    return;
                }
                *last = Instant::now();
                screen.aside(&paint(
                    QUIET,
                    &format!(
                        "{} of {}{}, {told}",
                        bytes(progress.bytes_done),
                        bytes(progress.bytes_total),
                        rate(progress.bytes_done, progress.elapsed),
                    ),
                ));
            }
        }
    }

    fn end(&self) {
        if let Shown::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

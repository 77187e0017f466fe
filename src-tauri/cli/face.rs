//! The face a spawn talks to: steps as they happen, questions, the editor.
//!
//! On a terminal the seven steps are one block that is redrawn; elsewhere every beginning and every ending is a
//! line of its own, written at once.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use pao_core::host::Host;
use pao_core::spawn::passed::{Briefing, Gathered, LeftOut, Line};
use pao_core::spawn::request::{Consent, Crowded, Face, Progress, Step, StepState};
use pao_core::{Error, wire};

use crate::editor;
use crate::interrupt::Interrupt;
use crate::render::{BAD, GOOD, QUIET, STRONG, WARNING, clean, count, paint, take_colour, took};

/// What was agreed to beforehand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Agreed {
    /// Trust of the folder.
    pub trust: bool,
    /// An agent that asks for nothing.
    pub skip_permissions: bool,
}

/// The person at the command line.
pub struct Person {
    host: Host,
    interrupt: Interrupt,
    agreed: Agreed,
    shows: bool,
    steps: Option<MultiProgress>,
    bars: Mutex<Vec<(Step, ProgressBar)>>,
}

impl Person {
    pub fn new(host: Host, interrupt: Interrupt, agreed: Agreed) -> Self {
        let steps = std::io::stderr().is_terminal().then(MultiProgress::new);
        Self { host, interrupt, agreed, shows: false, steps, bars: Mutex::default() }
    }

    /// The same person, who wants to see what the agent is about to be told.
    pub fn shown_the_briefing(mut self) -> Self {
        self.shows = true;
        self
    }

    /// Runs something that writes to the terminal, with the block of steps out of the way.
    fn aside<T>(&self, run: impl FnOnce() -> T) -> T {
        match &self.steps {
            Some(steps) => steps.suspend(run),
            None => run(),
        }
    }

    fn draw(&self, steps: &MultiProgress, progress: &Progress) {
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        if !bars.iter().any(|(step, _)| *step == progress.step) {
            let bar = steps.add(ProgressBar::new_spinner());
            bar.set_prefix(progress.step.name());
            bar.set_style(running());
            bar.enable_steady_tick(Duration::from_millis(100));
            bars.push((progress.step, bar));
        }
        let Some((_, bar)) = bars.iter().find(|(step, _)| *step == progress.step) else { return };
        if progress.state == StepState::Started {
            bar.set_message(clean(&progress.note));
            return;
        }
        let (mark, style) = match progress.state {
            StepState::Done => ("✓", GOOD),
            StepState::Skipped => ("–", QUIET),
            _ => ("✗", BAD),
        };
        let name = format!("{:<9}", progress.step.name());
        let time = paint(QUIET, &format!("{:>8}", took(progress.took)));
        bar.set_style(plain());
        let line = format!("{} {name} {time}  {}", paint(style, mark), clean(&progress.note));
        bar.finish_with_message(take_colour(line));
    }
}

fn running() -> ProgressStyle {
    let ticks = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏", " "];
    let style = ProgressStyle::with_template("{spinner} {prefix:<9} {time:>8.dim}  {msg}");
    style.unwrap_or_else(|_| ProgressStyle::default_spinner()).tick_strings(&ticks).with_key(
        "time",
        |state: &ProgressState, w: &mut dyn std::fmt::Write| {
            let _ = write!(w, "{}", took(state.elapsed()));
        },
    )
}

fn plain() -> ProgressStyle {
    ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// At most this many lines of a briefing are shown before the agent starts.
const TOLD: usize = 12;

/// What the agent is about to be told, one line each, and what it is not told although it was found.
fn told(briefing: &Briefing, gathered: &Gathered, width: usize) -> String {
    let delivered: Vec<&Line> = briefing.lines.iter().filter(|line| line.left_out.is_none()).collect();
    let mut text = String::new();
    for line in delivered.iter().take(TOLD) {
        let date = line.at.map(|at| format!(" · {}", at.format("%Y-%m-%d"))).unwrap_or_default();
        let from = format!("[{}{date}]", clean(&line.source));
        let room = width.saturating_sub(console::measure_text_width(&from) + 5);
        let said = clean(&line.text);
        let said = console::truncate_str(&said, room, "…");
        text = text + "  • " + &said + " " + &paint(QUIET, &from) + "\n";
    }
    if delivered.len() > TOLD {
        text = text
            + "    and "
            + &count(delivered.len() - TOLD, "more line", "more lines")
            + ": see `pao brief`\n";
    }
    for report in &gathered.reports {
        if let Some(why) = wire::SourceReport::from(report).reason {
            text +=
                &paint(WARNING, &format!("  ! {} could not answer: {}\n", clean(&report.name), clean(&why)));
        }
    }
    let held = briefing.lines.iter().filter(|line| line.left_out == Some(LeftOut::Quarantined));
    for line in held {
        let said = format!("  ! held back, it addresses the agent: {}", clean(&line.text));
        text = text + &paint(WARNING, &console::truncate_str(&said, width.saturating_sub(1), "…")) + "\n";
    }
    text
}

/// One step as a line for a pipe.
fn line(progress: &Progress) -> String {
    let name = progress.step.name();
    let note = clean(&progress.note);
    let state = progress.state.name();
    match progress.state {
        StepState::Started => format!("{name:<8}  {state} {note}").trim_end().to_string(),
        _ => format!("{name:<8}  {state:<7}  {:>7}  {note}", took(progress.took)).trim_end().to_string(),
    }
}

impl Face for Person {
    fn progress(&self, progress: &Progress) {
        match &self.steps {
            Some(steps) => self.draw(steps, progress),
            None => {
                let _ = writeln!(std::io::stderr().lock(), "{}", line(progress));
            }
        }
    }

    fn composed(&self, briefing: &Briefing, gathered: &Gathered) {
        if self.shows {
            let width =
                console::Term::stderr().size_checked().map_or(100, |(_, columns)| usize::from(columns));
            let text = take_colour(told(briefing, gathered, width));
            self.aside(|| {
                let _ = write!(std::io::stderr().lock(), "{text}");
            });
        }
    }

    fn crowded(&self, folder: &Path, others: &[String], repository: bool) -> Result<Crowded, Error> {
        let works = if others.len() == 1 { "works" } else { "work" };
        let folder = clean(&self.host.display(folder));
        let warning = format!("{} {works} in {folder} too", clean(&others.join(", ")));
        let (offer, letters): (&str, &[char]) = if repository {
            (
                "[c] work there as well, [w] in a git worktree of its own, [n] not at all:",
                &['c', 'y', 'w', 'n'],
            )
        } else {
            ("[c] work there as well, [n] not at all:", &['c', 'y', 'n'])
        };
        let question = format!("{}\n{offer}", paint(WARNING, &warning));
        let asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let answer = asked.then(|| {
            self.aside(|| crate::ask::letter(&take_colour(question), letters, &self.interrupt.cancel))
        });
        Ok(match answer.flatten() {
            Some('c' | 'y') => Crowded::Stay,
            Some('w') => Crowded::Worktree,
            Some(_) => Crowded::Cancel,
            None => {
                let hint = if repository { "; --worktree gives it one of its own" } else { "" };
                self.aside(|| writeln!(std::io::stderr().lock(), "{warning}{hint}").ok());
                Crowded::Stay
            }
        })
    }

    fn agree(&self, consent: &Consent) -> Result<bool, Error> {
        let (already, question, unasked, option) = match consent {
            Consent::Trust { agent, folder, enables } => {
                let folder = clean(&self.host.display(folder));
                let mut question = format!("Trust {} for {agent}?\n", paint(STRONG, &folder));
                if enables.is_empty() {
                    question = question + "It holds no hooks, servers or settings for " + agent + ".\n";
                } else {
                    question = question + "Trusting it lets " + agent + " use what it brings:\n";
                    for item in enables {
                        question = question + "  • " + &clean(item) + "\n";
                    }
                }
                question.push_str("This is asked once per folder and program. Trust it?");
                (self.agreed.trust, question, format!("{folder} is not trusted yet for {agent}"), "--yes")
            }
            Consent::SkipPermissions { agent, folder, needs } => {
                let folder = clean(&self.host.display(folder));
                let mut question = format!(
                    "{} in {}?\nIt runs any command and changes any file it can reach.\n",
                    paint(BAD, &format!("Let {agent} ask for nothing")),
                    paint(STRONG, &folder)
                );
                if !needs.is_empty() {
                    question = question + &clean(needs) + "\n";
                }
                question.push_str("Let it?");
                let unasked = format!("nobody has agreed yet that {agent} asks for nothing in {folder}");
                (self.agreed.skip_permissions, question, unasked, "--yes-skip-permissions")
            }
        };
        if already {
            return Ok(true);
        }
        let answer = self.aside(|| crate::ask::yes(&take_colour(question), &self.interrupt.cancel));
        answer.ok_or_else(|| {
            Error::user(
                format!("{unasked}, and there is nobody to ask"),
                format!("run it in a terminal, or agree with {option}"),
            )
        })
    }

    fn edit(&self, markdown: &str) -> Result<Option<String>, Error> {
        self.aside(|| self.interrupt.elsewhere(|| editor::edit(&self.host, markdown)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_in_a_pipe_is_one_line() {
        let ended = Progress {
            step: Step::Gather,
            state: StepState::Done,
            took: Duration::from_millis(12),
            note: "3 sources, 14 memories".into(),
        };
        assert_eq!(line(&ended), "gather    done       12 ms  3 sources, 14 memories");
        let begun = Progress { state: StepState::Started, note: String::new(), ..ended };
        assert_eq!(line(&begun), "gather    started");
    }
}

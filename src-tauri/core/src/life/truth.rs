//! From evidence to an agent's state: which of several witnesses is believed, and what follows. Pure.
//!
//! The witnesses, in order: the hooks of its session (what the row says), its own session-state file, its process,
//! its window, its screen. Each line is tried in turn, the first that fits decides:
//!
//! | # | the row says | the others say | the agent is |
//! |---|---|---|---|
//! | 1 | paused | anything | paused: only resuming ends that |
//! | 2 | ended | its process runs, its file is newer than the end | what its file says |
//! | 3 | ended | anything else | ended |
//! | 4 | lost | its process runs | what its file or screen says, else what it was before it was lost |
//! | 5 | lost | anything else | lost |
//! | 6 | anything live | its process is gone | lost, whatever else is said |
//! | 7 | starting, no process yet | the machine was restarted since | lost |
//! | 8 | starting, no process yet | its window is gone | lost |
//! | 9 | starting, no process yet | its window stands and has not run our script | starting, however long it takes |
//! | 10 | starting, no process yet | awake for less than [`START_LIMIT`] | starting |
//! | 11 | starting, no process yet | awake for longer | lost; line 4 brings it back should it start after all |
//! | 12 | anything live, runs | file: waiting, and the row needs you | needs you, with the hook's words where they are the same wait |
//! | 13 | anything live, runs | file: waiting, newer than the row, or the row rests on the use of a tool | needs you: another tool of the same turn may still ask |
//! | 14 | anything live, runs | file: busy, newer than the row | working: what it asked for was granted, or it was told something |
//! | 15 | needs you by an error | file: idle | needs you: an error stays until the next turn |
//! | 16 | anything live, runs | file: idle, newer than the row | idle: the turn was stopped, the question declined |
//! | 17 | working or needs you by its screen | screen: an error, a repeated request, a dialog | needs you |
//! | 18 | needs you by its screen | screen: a running turn, the prompt line | working, idle |
//! | 19 | anything live, runs | no file; screen: anything known | what the screen says |
//! | 20 | working or needs you, runs | no file, no such screen; transcript: the turn is over, newer than the row | idle, or needs you with the error it ended in |
//! | 21 | anything live, runs | nothing | what the row says: unknown stays unknown, and is never guessed to be idle |
//!
//! A window that is gone although the process runs changes no state; it is said beside it.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::agent::screen::Screen;
use crate::agent::{Doing, Said, TurnOver};
use crate::host::terminal::Alive;
use crate::registry::agents::{Agent, State};

/// How long the machine may be awake until a start of which no process was ever seen counts as lost.
pub const START_LIMIT: Duration = Duration::from_mins(2);
/// How long after the row was written the screen is believed: half-drawn ones, and dialogs that are not there yet, look
/// like others.
const SCREEN_AFTER: TimeDelta = TimeDelta::seconds(3);
/// How long a turn may be silent until the screen is asked whether it repeats a request in vain.
const SILENT: TimeDelta = TimeDelta::seconds(20);
/// How much later than the hook's its file may name the same wait.
const SAME_WAIT: TimeDelta = TimeDelta::seconds(2);
/// What is said beside evidence.
const NO_WINDOW: &str = "its window is gone";
const SCREEN_SEEN: &str = "screen";

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// None was recorded.
    Unrecorded,
    /// The recorded one runs.
    Runs,
    /// The recorded one does not.
    Gone,
}

/// How far a start is of which there is no process yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The machine was restarted since it began.
    Restarted,
    /// It began so long ago, in time the machine was awake.
    Awake(Duration),
}

/// Everything that is seen of one agent at one moment.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// Its row: what its hooks said last, or what was concluded last.
    pub row: &'a Agent,
    /// What it was before it ended or was lost, with what it needed then.
    pub before: Option<(State, Option<String>)>,
    /// Its own session-state file.
    pub said: Option<Said>,
    /// The end of its last turn by its own record of the conversation.
    pub turn: Option<TurnOver>,
    /// Its process.
    pub process: Process,
    /// Its window, where it was looked for.
    pub window: Option<Alive>,
    /// Its screen, where it was read.
    pub screen: Option<Screen>,
    /// How far its start is.
    pub start: Start,
    /// Its window has not run our launch script yet.
    pub unclaimed: bool,
    /// Now.
    pub now: DateTime<Utc>,
}

/// What an agent does, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    /// The state.
    pub state: State,
    /// What it waits for.
    pub needs: Option<String>,
    /// The evidence, a short phrase.
    pub by: String,
    /// Since when.
    pub at: DateTime<Utc>,
}

/// What follows from the evidence, by the table above.
pub fn judge(evidence: &Evidence<'_>) -> Truth {
    // A file from the future, as after a clock was set back, would be newer than every row for ever.
    let mut evidence = evidence.clone();
    if let Some(said) = &mut evidence.said {
        said.at = said.at.min(evidence.now);
    }
    let evidence = &evidence;
    let mut truth = decided(evidence);
    if truth.state.live() && evidence.process == Process::Runs && evidence.window == Some(Alive::No) {
        beside(&mut truth.by, NO_WINDOW);
    }
    truth
}

fn decided(evidence: &Evidence<'_>) -> Truth {
    let row = evidence.row;
    let runs = evidence.process == Process::Runs;
    match row.state {
        State::Ended if runs && evidence.said.as_ref().is_some_and(|said| said.at > row.state_at) => {
            by_file(evidence).map_or_else(|| stays(row), |truth| beyond_the_file(evidence, truth))
        }
        State::Lost if runs => revived(evidence),
        State::Paused | State::Ended | State::Lost => stays(row),
        _ => match evidence.process {
            Process::Gone => turned(State::Lost, None, "process", evidence.now),
            Process::Unrecorded if row.state == State::Starting => starting(evidence),
            Process::Unrecorded => stays(row),
            Process::Runs => running(evidence),
        },
    }
}

/// Whether reading the screen could tell more: the others are silent, or contradict what was read from it before.
pub fn wants_screen(evidence: &Evidence<'_>) -> bool {
    let row = evidence.row;
    if evidence.process != Process::Runs || !row.state.live() || evidence.now - row.state_at < SCREEN_AFTER {
        return false;
    }
    let doing = evidence.said.as_ref().and_then(|said| said.doing.as_ref());
    let heard = evidence.said.as_ref().map_or(row.sign_at, |said| said.at.max(row.sign_at)).max(row.state_at);
    match (doing, row.state) {
        (Some(_), State::NeedsYou) => by_screen(row),
        (Some(_), State::Working) => evidence.now - heard >= SILENT,
        (Some(_), _) => false,
        // Some versions end a turn in an error without a word of it; the screen has been asked once that is noted.
        (None, State::Idle) => row.state_by.as_deref() == Some("hook Stop"),
        (None, _) => true,
    }
}

/// Lines 7 to 11.
fn starting(evidence: &Evidence<'_>) -> Truth {
    let lost = |why: &str| turned(State::Lost, None, why, evidence.now);
    match (evidence.start, evidence.window) {
        (Start::Restarted, _) => lost("the machine was restarted"),
        (_, Some(Alive::No)) => lost(NO_WINDOW),
        (_, Some(Alive::Yes)) if evidence.unclaimed => stays(evidence.row),
        (Start::Awake(time), _) if time <= START_LIMIT => stays(evidence.row),
        _ => lost("nothing was started in its window"),
    }
}

/// Line 4.
fn revived(evidence: &Evidence<'_>) -> Truth {
    let by_file = by_file(evidence).map(|truth| beyond_the_file(evidence, truth));
    let by_itself = by_file.or_else(|| by_its_screen(evidence));
    by_itself.unwrap_or_else(|| match &evidence.before {
        Some((state, needs)) if state.live() => turned(*state, needs.clone(), "process", evidence.now),
        _ => turned(State::Starting, None, "process", evidence.now),
    })
}

/// Lines 12 to 21.
fn running(evidence: &Evidence<'_>) -> Truth {
    let row = evidence.row;
    let Some(doing) = evidence.said.as_ref().and_then(|said| said.doing.clone()) else {
        let known = by_its_screen(evidence).or_else(|| by_its_record(evidence));
        return known.unwrap_or_else(|| stays(row));
    };
    let newer = evidence.said.as_ref().is_some_and(|said| said.at > row.state_at);
    let truth = match (doing, row.state) {
        (Doing::Waiting(_), State::NeedsYou) if !another_wait(evidence) => stays(row),
        (Doing::Waiting(_), _) if newer || row.state == State::Starting || by_tool(row) => filed(evidence),
        (Doing::Busy, State::Working) | (Doing::Idle, State::Idle) => stays(row),
        (Doing::Idle, State::NeedsYou) if by_error(row) => stays(row),
        (Doing::Busy | Doing::Idle, _) if newer || row.state == State::Starting => filed(evidence),
        _ => stays(row),
    };
    beyond_the_file(evidence, truth)
}

/// Lines 17 and 18: what the file does not know of.
fn beyond_the_file(evidence: &Evidence<'_>, truth: Truth) -> Truth {
    let Some(screen) = &evidence.screen else { return truth };
    let says = |state, needs: Option<&String>| {
        turned(state, needs.cloned(), &format!("{} on the screen", screen.name()), evidence.now)
    };
    match (screen, truth.state) {
        (Screen::Retrying(text) | Screen::Failed(text), State::Working) => says(State::NeedsYou, Some(text)),
        (Screen::Dialog(dialog), State::Working) => says(State::NeedsYou, Some(&dialog.text)),
        (Screen::Retrying(text), State::NeedsYou) if by_screen(evidence.row) => {
            Truth { needs: Some(text.clone()), ..truth }
        }
        (Screen::Busy, State::NeedsYou) if by_screen(evidence.row) => says(State::Working, None),
        (Screen::Ready | Screen::Interrupted | Screen::Typed { .. }, State::NeedsYou)
            if by_screen(evidence.row) =>
        {
            says(State::Idle, None)
        }
        _ => truth,
    }
}

fn by_file(evidence: &Evidence<'_>) -> Option<Truth> {
    evidence.said.as_ref()?.doing.as_ref()?;
    Some(filed(evidence))
}

/// What the file says, taken at its word.
fn filed(evidence: &Evidence<'_>) -> Truth {
    let Some((said, doing)) = evidence.said.as_ref().and_then(|s| Some((s, s.doing.clone()?))) else {
        return stays(evidence.row);
    };
    let (state, needs) = match doing {
        Doing::Busy => (State::Working, None),
        Doing::Idle => (State::Idle, None),
        Doing::Waiting(what) => (State::NeedsYou, Some(what)),
    };
    turned(state, needs, "session file", said.at.min(evidence.now))
}

/// Line 19. Whoever has no file is known by its screen alone.
fn by_its_screen(evidence: &Evidence<'_>) -> Option<Truth> {
    let row = evidence.row;
    let screen = evidence.screen.as_ref()?;
    let (state, needs) = match screen {
        Screen::Dialog(dialog) => (State::NeedsYou, Some(dialog.text.clone())),
        Screen::Retrying(text) | Screen::Failed(text) => (State::NeedsYou, Some(text.clone())),
        Screen::Busy => (State::Working, None),
        Screen::Ready | Screen::Typed { .. } | Screen::Interrupted => (State::Idle, None),
        Screen::Unknown | Screen::Ended(_) => return None,
    };
    // A hook's words for a question are better than the screen's; a request that is repeated has new ones each time.
    let same = state == row.state && (!matches!(screen, Screen::Dialog(_)) || !by_screen(row));
    if same && (needs.is_none() || matches!(screen, Screen::Dialog(_))) {
        let mut truth = stays(row);
        beside(&mut truth.by, SCREEN_SEEN);
        return Some(truth);
    }
    let by = format!("{} on the screen", screen.name());
    let since = if state == row.state { row.state_at } else { evidence.now };
    Some(turned(state, needs, &by, since))
}

/// Line 20.
fn by_its_record(evidence: &Evidence<'_>) -> Option<Truth> {
    let row = evidence.row;
    let waits = matches!(row.state, State::Working | State::NeedsYou);
    let turn = evidence.turn.as_ref().filter(|turn| waits && turn.at > row.state_at)?;
    let state = if turn.error.is_some() { State::NeedsYou } else { State::Idle };
    Some(turned(state, turn.error.clone(), "transcript", turn.at.min(evidence.now)))
}

/// Whether the file tells of another wait than the row, which no hook told of.
fn another_wait(evidence: &Evidence<'_>) -> bool {
    evidence.said.as_ref().is_some_and(|said| said.at > evidence.row.state_at + SAME_WAIT)
}

fn by_tool(row: &Agent) -> bool {
    base(row).ends_with("PostToolUse")
}

fn by_screen(row: &Agent) -> bool {
    row.state == State::NeedsYou && base(row).ends_with("on the screen")
}

/// Whether it needs the user because a turn ended in an error, or a request is repeated in vain.
pub fn by_error(row: &Agent) -> bool {
    matches!(base(row), "hook StopFailure" | "failed on the screen" | "retrying on the screen")
}

/// The evidence without what was said beside it.
fn base(row: &Agent) -> &str {
    row.state_by.as_deref().unwrap_or_default().split(';').next().unwrap_or_default().trim()
}

fn beside(by: &mut String, what: &str) {
    if !by.split(';').any(|part| part.trim() == what) {
        by.push_str("; ");
        by.push_str(what);
    }
}

/// What the row says; a window that was gone may be there again.
fn stays(row: &Agent) -> Truth {
    let by = row.state_by.as_deref().unwrap_or("row");
    let parts: Vec<&str> = by.split(';').map(str::trim).filter(|part| *part != NO_WINDOW).collect();
    Truth { state: row.state, needs: row.needs.clone(), by: parts.join("; "), at: row.state_at }
}

fn turned(state: State, needs: Option<String>, by: &str, at: DateTime<Utc>) -> Truth {
    Truth { state, needs, by: by.to_string(), at }
}

#[cfg(test)]
#[path = "truth_tests.rs"]
mod tests;

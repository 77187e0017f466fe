//! Collects what is to be seen of agents: rows, session-state files, processes, windows, screens. Draws no conclusion.
//!
//! The cheap witnesses are always heard: a file and a line of the process table per agent. Windows are asked for all
//! agents of a terminal together; a screen is read only where [`truth::wants_screen`] says that nothing else tells.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;

use super::truth::{self, Evidence, Process, Start};
use crate::agent::{self, HostAgent, Said, TurnOver};
use crate::host::Host;
use crate::host::awake::Awake;
use crate::host::process::Identity;
use crate::host::terminal::{self, Terminal, tmux};
use crate::registry::agents::{Agent, State};
use crate::registry::{Registry, RegistryError};
use crate::spawn::launch;

/// How much is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    /// Ask for windows where that costs one call for all of them; else only where a start depends on it.
    pub windows: bool,
    /// Read screens where nothing else tells.
    pub screens: bool,
}

impl Effort {
    /// What every command does in passing.
    pub const LITTLE: Self = Self { windows: false, screens: false };
    /// Everything there is.
    pub const FULL: Self = Self { windows: true, screens: true };
}

/// Screens read at the same time; each look starts two processes.
const AT_ONCE: usize = 4;
/// A start that is younger has its window opened right now.
const WINDOW_OPENS: Duration = Duration::from_secs(5);

/// What was seen of one agent, with what it may tell beside its state.
#[derive(Debug, Clone)]
pub(super) struct Seen<'a> {
    pub evidence: Evidence<'a>,
    /// Its process is known by the clock only and runs: what it is to be known by from now on.
    pub better: Option<Identity>,
}

impl Seen<'_> {
    /// The conversation its own file names, where that is another than the row's.
    pub fn other_session(&self) -> Option<&str> {
        let said = self.evidence.said.as_ref().filter(|said| said.proven)?;
        (self.evidence.row.session.as_deref() != Some(&said.session)).then_some(&said.session)
    }
}

/// Looks at these agents. Those that have ended are looked at as well: one of them may have been given up too early.
pub(super) async fn collect<'a>(
    host: &Host,
    registry: &Registry,
    agents: impl Iterator<Item = &'a Agent>,
    effort: Effort,
) -> Result<Vec<Seen<'a>>, RegistryError> {
    let mut all: Vec<Seen<'a>> = agents.map(|row| cheap(host, row)).collect();
    for seen in &mut all {
        let evidence = &mut seen.evidence;
        if evidence.row.state == State::Lost && evidence.process == Process::Runs {
            let states = registry.states(&evidence.row.id).await?;
            evidence.before =
                states.into_iter().rev().find(|turn| turn.state.live()).map(|t| (t.state, t.needs));
        }
    }
    windows(host, &mut all, effort).await;
    if effort.screens {
        screens(host, &mut all).await;
    }
    Ok(all)
}

/// What costs a few system calls.
fn cheap<'a>(host: &Host, row: &'a Agent) -> Seen<'a> {
    let alive = row.process.is_some_and(Identity::alive);
    let process = match row.process {
        None => Process::Unrecorded,
        Some(_) if alive => Process::Runs,
        Some(_) => Process::Gone,
    };
    let current = row.process.filter(|_| alive).and_then(|process| Identity::of(process.pid));
    let starting = row.state == State::Starting && process == Process::Unrecorded;
    Seen {
        evidence: Evidence {
            row,
            before: None,
            said: current.and_then(|current| said(host, row, current)),
            turn: turn(host, row).filter(|_| alive),
            process,
            window: None,
            screen: None,
            start: start(host, row),
            unclaimed: starting && launch::is_unclaimed(host, &row.id),
            now: host.now(),
        },
        better: current.filter(|_| row.process.is_some_and(|process| process.mark().is_none())),
    }
}

fn said(host: &Host, row: &Agent, process: Identity) -> Option<Said> {
    kind(row)?.said(host, process)?.of(row.session.as_deref())
}

/// Looked for only where it could end something.
fn turn(host: &Host, row: &Agent) -> Option<TurnOver> {
    let waits = matches!(row.state, State::Working | State::NeedsYou);
    kind(row)?.turn_over(host, &row.folder, row.session.as_deref().filter(|_| waits)?)
}

fn kind(row: &Agent) -> Option<&'static HostAgent> {
    agent::by_kind(&row.host_agent)
}

/// Rows of before the clock that stands still was noted are measured by the one on the wall.
fn start(host: &Host, row: &Agent) -> Start {
    match row.starting_since {
        Some(since) => Awake::now().since(since).map_or(Start::Restarted, Start::Awake),
        None => Start::Awake((host.now() - row.created_at).to_std().unwrap_or_default()),
    }
}

async fn windows(host: &Host, all: &mut [Seen<'_>], effort: Effort) {
    let mut asked: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, seen) in all.iter().enumerate() {
        let evidence = &seen.evidence;
        let starting = evidence.row.state == State::Starting && evidence.process == Process::Unrecorded;
        let opened = !matches!(evidence.start, Start::Awake(time) if time < WINDOW_OPENS);
        let together = effort.windows && evidence.process == Process::Runs && evidence.row.state.live();
        let Some(terminal) = evidence.row.terminal.as_deref().filter(|_| evidence.row.handle.is_some())
        else {
            continue;
        };
        if (starting && opened) || (together && terminal == tmux::NAME) {
            asked.entry(terminal.to_string()).or_default().push(at);
        }
    }
    for (name, which) in asked {
        let Ok(terminal) = terminal::choose(host, &name) else { continue };
        let handles: Vec<&str> =
            which.iter().filter_map(|at| all[*at].evidence.row.handle.as_deref()).collect();
        let found = terminal.alive_each(&handles).await;
        for (at, alive) in which.into_iter().zip(found) {
            all[at].evidence.window = Some(alive);
        }
    }
}

async fn screens(host: &Host, all: &mut [Seen<'_>]) {
    let wanted: Vec<(usize, &Agent)> = all
        .iter()
        .enumerate()
        .filter(|(_, seen)| truth::wants_screen(&seen.evidence))
        .map(|(at, seen)| (at, seen.evidence.row))
        .collect();
    let mut terminals: HashMap<&str, Arc<dyn Terminal>> = HashMap::new();
    let mut reads = Vec::new();
    for (at, row) in wanted {
        let (Some(name), Some(handle), Some(kind)) =
            (row.terminal.as_deref(), row.handle.as_deref(), kind(row))
        else {
            continue;
        };
        if !terminals.contains_key(name) {
            let Ok(terminal) = terminal::choose(host, name) else { continue };
            terminals.insert(name, terminal);
        }
        let Some(terminal) = terminals.get(name).cloned() else { continue };
        if terminal.capabilities_of(handle).read {
            reads.push(async move {
                let text = terminal.screen(handle).await.ok()?;
                Some((at, kind.screens.classify(&text)))
            });
        }
    }
    let read: Vec<_> = futures::stream::iter(reads).buffer_unordered(AT_ONCE).collect().await;
    for (at, screen) in read.into_iter().flatten() {
        all[at].evidence.screen = Some(screen);
    }
}

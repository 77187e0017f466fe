//! Which process is meant: a number and a mark of its start, so that a later process of the same number is another.
//!
//! The mark is opaque and survives what a wall clock does not: corrections, jumps, sleep and, because it names the
//! boot, a restart of the machine. Rows of before there were marks hold seconds since the epoch and are still
//! compared the old way, with a second of tolerance, because those are derived from a clock that may be corrected.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use super::os;

/// When a process started, told apart from every other start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark {
    /// The boot it belongs to; 0 where the start alone is unique.
    pub boot: u128,
    /// Its start in a unit of the system's own, which no setting of the clock moves.
    pub start: u64,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}:{}", self.boot, self.start)
    }
}

impl FromStr for Mark {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (boot, start) = text.split_once(':').ok_or(())?;
        Ok(Self { boot: u128::from_str_radix(boot, 16).map_err(drop)?, start: start.parse().map_err(drop)? })
    }
}

/// How a process's start is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// By its mark.
    Marked(Mark),
    /// By the clock, in seconds since the epoch: rows of before there were marks.
    Clock(u64),
}

impl fmt::Display for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Started::Marked(mark) => mark.fmt(f),
            Started::Clock(seconds) => seconds.fmt(f),
        }
    }
}

impl FromStr for Started {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.parse() {
            Ok(mark) => Ok(Self::Marked(mark)),
            Err(()) => text.parse().map(Self::Clock).map_err(drop),
        }
    }
}

impl Started {
    /// Whether a process that started `now` so is the one meant.
    fn is(self, now: &Current) -> bool {
        match self {
            Started::Marked(mark) => mark == now.mark,
            Started::Clock(then) => (now.clock)().is_some_and(|clock| clock.abs_diff(then) <= 1),
        }
    }
}

/// A process as it is now. The clock's word is asked for only where it is needed.
struct Current {
    mark: Mark,
    clock: Box<dyn Fn() -> Option<u64>>,
}

/// A process that cannot be confused with a later one of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Process id.
    pub pid: u32,
    /// Its start.
    pub started: Started,
}

impl Identity {
    /// Looks at a running process; `None` when there is none, or only what is left of an ended one.
    pub fn of(pid: u32) -> Option<Self> {
        os::start_mark(pid).map(|mark| Self { pid, started: Started::Marked(mark) })
    }

    /// The oldest process that was given a path as an argument of which `wanted` is true.
    pub fn with_argument(wanted: impl Fn(&Path) -> bool) -> Option<Self> {
        let mut system = System::new().ok()?;
        let with_arguments = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, with_arguments);
        let found = system.processes().values().filter(|process| {
            process.thread_kind().is_none() && process.cmd().iter().skip(1).any(|arg| wanted(Path::new(arg)))
        });
        let oldest = found.min_by_key(|process| (process.start_time(), process.pid()))?;
        Self::of(oldest.pid().as_u32())
    }

    /// This very process.
    pub fn own() -> Self {
        let pid = std::process::id();
        Self::of(pid).unwrap_or(Self { pid, started: Started::Clock(0) })
    }

    /// The process that had a shell start us for it: the parent of our parent. `None` where that is nobody's.
    pub fn behind_the_shell() -> Option<Self> {
        let shell = u32::try_from(nix::unistd::getppid().as_raw()).ok()?;
        let behind = look(shell)?.parent()?.as_u32();
        // What lost its parent belongs to the first process.
        if behind <= 1 { None } else { Self::of(behind) }
    }

    /// Whether this very process still runs.
    pub fn alive(self) -> bool {
        os::start_mark(self.pid).is_some_and(|mark| {
            let pid = self.pid;
            self.started.is(&Current { mark, clock: Box::new(move || clock(pid)) })
        })
    }

    /// The mark, where that is how the start is known.
    pub fn mark(self) -> Option<Mark> {
        match self.started {
            Started::Marked(mark) => Some(mark),
            Started::Clock(_) => None,
        }
    }

    /// Asks this very process to end.
    pub fn terminate(self) -> io::Result<()> {
        self.signal(nix::sys::signal::Signal::SIGTERM)
    }

    /// Ends this very process.
    pub fn kill(self) -> io::Result<()> {
        self.signal(nix::sys::signal::Signal::SIGKILL)
    }

    fn signal(self, signal: nix::sys::signal::Signal) -> io::Result<()> {
        if !self.alive() {
            return Ok(());
        }
        let pid = i32::try_from(self.pid).map_err(io::Error::other)?;
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).map_err(io::Error::from)
    }
}

/// Waits until all of these processes are gone, for at most `limit`; whether they are.
pub async fn gone(processes: &[Identity], limit: Duration) -> bool {
    let since = Instant::now();
    while processes.iter().any(|process| process.alive()) {
        if since.elapsed() >= limit {
            return false;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    true
}

/// How often it is looked whether a process still runs.
const LOOK_EVERY: Duration = Duration::from_millis(30);

struct Looked(System, Pid);

impl Looked {
    fn parent(&self) -> Option<Pid> {
        self.0.process(self.1)?.parent()
    }
}

/// A process and those above it, nearest first.
pub fn above(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    // Deeper than any real one; a number taken anew meanwhile must not make a ring.
    while all.len() < 64
        && let Some(parent) = all.last().and_then(|pid| look(*pid)?.parent()).map(Pid::as_u32)
        && parent > 1
        && !all.contains(&parent)
    {
        all.push(parent);
    }
    all
}

fn look(pid: u32) -> Option<Looked> {
    let mut system = System::new().ok()?;
    let pid = Pid::from_u32(pid);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, ProcessRefreshKind::nothing());
    system.process(pid)?;
    Some(Looked(system, pid))
}

/// Start of a process by the clock, in seconds since the epoch.
pub(super) fn clock(pid: u32) -> Option<u64> {
    let looked = look(pid)?;
    let process = looked.0.process(looked.1)?;
    (process.status() != sysinfo::ProcessStatus::Zombie).then(|| process.start_time())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now(mark: Mark, clock: u64) -> Current {
        Current { mark, clock: Box::new(move || Some(clock)) }
    }

    #[test]
    fn a_pid_with_another_start_is_another_process() {
        let own = Identity::own();
        assert!(own.alive());
        let mark = own.mark().unwrap();
        let other = |mark| Identity { started: Started::Marked(mark), ..own };
        assert!(!other(Mark { start: mark.start.wrapping_sub(1), ..mark }).alive());
        assert!(!other(Mark { boot: mark.boot ^ 1, ..mark }).alive());
    }

    #[test]
    fn rows_of_before_there_were_marks_still_name_their_process() {
        let own = Identity::own();
        let started = clock(own.pid).unwrap();
        assert!(Identity { started: Started::Clock(started), ..own }.alive());
        assert!(!Identity { started: Started::Clock(started - 100), ..own }.alive());
    }

    #[test]
    fn a_clock_that_is_set_changes_nothing_and_a_restart_changes_all() {
        let mark = Mark { boot: 7, start: 1_208_729 };
        for clock in [0, 1_796_064_959, u64::MAX] {
            assert!(Started::Marked(mark).is(&now(mark, clock)));
        }
        assert!(!Started::Marked(mark).is(&now(Mark { boot: 8, ..mark }, 1_796_064_959)));
        assert!(!Started::Clock(1_796_064_959).is(&now(mark, 1_796_064_959 + 28_800)));
    }

    #[test]
    fn above_a_process_stands_who_started_it() {
        let own = std::process::id();
        let all = above(own);
        assert_eq!(all[0], own);
        let parent = u32::try_from(nix::unistd::getppid().as_raw()).unwrap();
        assert!(parent <= 1 || all[1] == parent, "{all:?}");
    }

    proptest! {
        #[test]
        fn a_mark_reads_back_as_it_was_written(boot in any::<u128>(), start in any::<u64>()) {
            let mark = Mark { boot, start };
            prop_assert_eq!(mark.to_string().parse(), Ok(mark));
        }

        #[test]
        fn any_text_is_a_mark_or_none(text in ".{0,60}") {
            if let Ok(mark) = text.parse::<Mark>() {
                prop_assert_eq!(mark.to_string().parse(), Ok(mark));
            }
        }
    }
}

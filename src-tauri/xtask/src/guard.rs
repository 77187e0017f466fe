//! Ends a demo, however the demo itself ended: a process of its own that waits for its standard input to close, then
//! ends the agents in the demo's tmux and removes the temporary home. Ctrl-C and kill -9 leave nothing behind that way.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::fault::{Context, Fault};
use crate::run::{read, say, succeeds};
use crate::sample::PREFIX;

/// The line that tells the guard that the demo is to stay. Any other line is the id of a process that would go on
/// starting things, and is ended first.
const KEEP: &str = "keep";

/// How long agents may take to end by themselves.
const PATIENCE: Duration = Duration::from_secs(5);

/// A waiting guard.
#[derive(Debug)]
pub struct Guard {
    process: Child,
}

impl Guard {
    /// Starts a guard over a demo's home, out of reach of this terminal's Ctrl-C.
    pub fn over(home: &Path) -> Result<Self, Fault> {
        let ourselves = std::env::current_exe().doing("finding our own program")?;
        let process = Command::new(ourselves)
            .arg("demo-guard")
            .arg(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .doing("starting the demo's guard")?;
        Ok(Self { process })
    }

    /// Has this process ended too, should we not live to see its end.
    pub fn mind(&mut self, process: &Child) -> Result<(), Fault> {
        self.tell(&process.id().to_string())
    }

    fn tell(&mut self, line: &str) -> Result<(), Fault> {
        let Some(stdin) = &mut self.process.stdin else { return Ok(()) };
        writeln!(stdin, "{line}").doing("talking to the demo's guard")
    }

    /// Ends the demo and waits until it is gone.
    pub fn end(mut self) -> Result<(), Fault> {
        drop(self.process.stdin.take());
        let status = self.process.wait().doing("waiting for the demo's end")?;
        if status.success() {
            Ok(())
        } else {
            Err(Fault::failed("the demo could not be cleared up completely"))
        }
    }

    /// Leaves the demo as it is.
    pub fn dismiss(mut self) -> Result<(), Fault> {
        self.tell(KEEP)?;
        drop(self.process.stdin.take());
        self.process.wait().doing("dismissing the demo's guard").map(|_| ())
    }
}

/// The guard itself.
pub fn guard(home: &Path) -> Result<ExitCode, Fault> {
    let ours = home.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    if !ours {
        return Err(Fault::user(format!("{} is no demo's home", home.display()), ""));
    }
    let mut told = String::new();
    std::io::stdin().read_to_string(&mut told).doing("waiting for the demo's end")?;
    if !told.lines().any(|line| line == KEEP) {
        for pid in told.lines().filter(|pid| belongs_to(pid, home)) {
            read("kill", &["-KILL", pid]);
        }
        end_agents(home);
        remove(home).doing(format!("removing {}", home.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the process still is the one we were told of: its command line names the demo's home.
fn belongs_to(pid: &str, home: &Path) -> bool {
    read("ps", &["-o", "args=", "-p", pid]).is_some_and(|line| line.contains(&*home.to_string_lossy()))
}

/// Ends every tmux server of the demo and waits for what ran in it.
fn end_agents(home: &Path) {
    let mut pids = Vec::new();
    for socket in sockets(home) {
        let server = [OsString::from("-S"), socket.into_os_string()];
        let tmux = |arguments: &[&str]| {
            let mut command = Command::new("tmux");
            command.args(&server).args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
            command.output().ok().map(|out| String::from_utf8_lossy(&out.stdout).into_owned())
        };
        let panes = tmux(&["list-panes", "-a", "-F", "#{pane_pid}"]).unwrap_or_default();
        pids.extend(panes.lines().map(str::to_owned));
        tmux(&["kill-server"]);
    }
    let start = Instant::now();
    let alive = |pid: &String| succeeds("kill", &["-0", pid]);
    while start.elapsed() < PATIENCE && pids.iter().any(alive) {
        sleep(Duration::from_millis(50));
    }
    for pid in pids.iter().filter(|pid| alive(pid)) {
        say(format!("the demo's agent (process {pid}) did not end by itself and is killed"));
        read("kill", &["-KILL", pid]);
    }
}

fn sockets(home: &Path) -> Vec<PathBuf> {
    let users = fs::read_dir(home.join("tmux")).into_iter().flatten().flatten();
    users
        .flat_map(|user| fs::read_dir(user.path()).into_iter().flatten().flatten())
        .map(|s| s.path())
        .collect()
}

/// Removes the home. Hooks that outlive their agent for a moment may still write there, so it looks again.
fn remove(home: &Path) -> std::io::Result<()> {
    let start = Instant::now();
    loop {
        let removed = fs::remove_dir_all(home);
        sleep(Duration::from_millis(200));
        if !home.exists() {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            return removed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_demos_home_is_ever_removed() {
        let dir = tempfile::tempdir().expect("folder");
        assert_eq!(guard(dir.path()).expect_err("refused").code, 2);
        assert!(dir.path().exists());
    }

    #[test]
    fn a_process_is_only_ended_while_it_is_the_one_we_were_told_of() {
        let ours = std::process::id().to_string();
        let program = std::env::current_exe().expect("program");
        assert!(belongs_to(&ours, program.parent().expect("folder")));
        assert!(!belongs_to(&ours, Path::new("/tmp/pao-demo-of-another")));
        assert!(!belongs_to("not a number", &program));
    }

    #[test]
    fn the_agents_of_the_demo_are_ended_before_its_home_is_removed() {
        let dir = tempfile::tempdir().expect("folder");
        let home = dir.path().join(format!("{PREFIX}test"));
        fs::create_dir_all(home.join("tmux")).expect("home");
        let started = Command::new("tmux")
            .args(["-L", "demo", "-f", "/dev/null", "new-session", "-d", "sleep", "600"])
            .env_remove("TMUX")
            .env("TMUX_TMPDIR", home.join("tmux"))
            .status()
            .expect("tmux");
        assert!(started.success());
        let socket = sockets(&home).pop().expect("a socket");
        let pane =
            ["-S", &socket.to_string_lossy(), "list-panes", "-a", "-F", "#{pane_pid}"].map(str::to_owned);
        let pid = read("tmux", &pane.each_ref().map(String::as_str)).expect("a pane");

        end_agents(&home);
        assert!(!succeeds("kill", &["-0", &pid]), "the agent outlived the demo");
        remove(&home).expect("removed");
        assert!(!home.exists());
    }
}

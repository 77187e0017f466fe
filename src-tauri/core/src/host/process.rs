//! Processes: started here and nowhere else, always bounded in time, always without a shell in between.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};
use tokio::io::AsyncWriteExt;

pub use super::identity::{Identity, Mark, Started, gone};

/// A program to run to its end.
#[derive(Debug, Clone)]
pub struct Run {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    env_clear: bool,
    env_remove: Vec<OsString>,
    cwd: Option<PathBuf>,
    stdin: Option<Vec<u8>>,
    leads_itself: bool,
    limit: Duration,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Exit status; `None` when a signal ended it.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// The program said that all went well.
    pub fn success(&self) -> bool {
        self.status == Some(0)
    }

    /// Standard output as text, without the final line ending.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches(['\n', '\r']).to_string()
    }

    /// Standard error as text, trimmed.
    pub fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_string()
    }
}

/// Why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It is not there, or not executable.
    #[error("{program} cannot be started: {source}")]
    Start {
        /// What was to be started.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// It took longer than allowed; it and its process group were ended.
    #[error("{program} did not finish within {} s", .limit.as_secs_f32())]
    TooSlow {
        /// What was started.
        program: String,
        /// How long it was given.
        limit: Duration,
    },
    /// Its output could not be read.
    #[error("{program} could not be read: {source}")]
    Pipe {
        /// What was started.
        program: String,
        /// Why not.
        source: io::Error,
    },
}

impl Run {
    /// A program with a limit of 10 s, no input, our environment.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_os_string(),
            args: Vec::new(),
            env: Vec::new(),
            env_clear: false,
            env_remove: Vec::new(),
            cwd: None,
            stdin: None,
            leads_itself: false,
            limit: Duration::from_secs(10),
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_os_string());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I, S>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.args.extend(args.into_iter().map(|a| a.as_ref().to_os_string()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_os_string(), value.as_ref().to_os_string()));
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env_remove.push(name.as_ref().to_os_string());
        self
    }

    /// Starts from an empty environment.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.env_clear = true;
        self
    }

    /// Runs in that folder.
    #[must_use]
    pub fn cwd(mut self, cwd: &Path) -> Self {
        self.cwd = Some(cwd.to_path_buf());
        self
    }

    /// Gives it that input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// It will put itself at the head of a session, and thereby of a process group, as soon as it runs. A leader
    /// made by us could not.
    #[must_use]
    pub fn leads_itself(mut self) -> Self {
        self.leads_itself = true;
        self
    }

    /// Allows it that long.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place where processes are started")]
    fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args);
        if self.env_clear {
            command.env_clear();
        }
        for name in &self.env_remove {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(k, v)| (k, v)));
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command
    }

    /// Runs it to its end and collects its output. It runs in a process group of its own, which is ended as a
    /// whole when the limit passes or the caller stops waiting.
    pub async fn output(self) -> Result<Outcome, RunError> {
        let name = self.name();
        let mut command = tokio::process::Command::from(self.command());
        command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        if !self.leads_itself {
            command.process_group(0);
        }
        let mut child =
            command.spawn().map_err(|source| RunError::Start { program: name.clone(), source })?;
        let mut group = Group { leader: child.id(), session: self.leads_itself };
        if let (Some(bytes), Some(mut pipe)) = (self.stdin, child.stdin.take()) {
            // Written beside reading: a program that answers before it has read everything would block both.
            tokio::spawn(async move {
                let _ = pipe.write_all(&bytes).await;
            });
        }
        match tokio::time::timeout(self.limit, child.wait_with_output()).await {
            Ok(Ok(output)) => {
                group.leader = None;
                Ok(Outcome { status: output.status.code(), stdout: output.stdout, stderr: output.stderr })
            }
            Ok(Err(source)) => Err(RunError::Pipe { program: name, source }),
            Err(_) => Err(RunError::TooSlow { program: name, limit: self.limit }),
        }
    }

    /// Starts it on its own: no terminal, no input, no output, a process group of its own. Returns its pid.
    pub fn detach(self) -> Result<u32, RunError> {
        let name = self.name();
        self.command()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map(|child| child.id())
            .map_err(|source| RunError::Start { program: name, source })
    }

    /// Runs it on the caller's own terminal and waits without a limit: an editor, `tmux attach`.
    pub fn interactive(self) -> Result<Option<i32>, RunError> {
        let name = self.name();
        let mut command = self.command();
        // What goes into a pipe is our own answer, one document; the program's drawing is no part of it.
        if !std::io::stdout().is_terminal() {
            command.stdout(std::io::stderr());
        }
        command.status().map(|s| s.code()).map_err(|source| RunError::Start { program: name, source })
    }

    /// Becomes that program. Returns only when that fails.
    pub fn exec(self) -> RunError {
        let name = self.name();
        RunError::Start { program: name, source: self.command().exec() }
    }
}

/// Ends a process group when dropped, or all of a session.
struct Group {
    leader: Option<u32>,
    session: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(pid) = self.leader else { return };
        let kill = nix::sys::signal::Signal::SIGKILL;
        if let Ok(raw) = i32::try_from(pid) {
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(raw), kill);
        }
        if self.session {
            // An interactive shell gives each of its jobs a process group of its own.
            for member in members(pid) {
                let _ = nix::sys::signal::kill(member, kill);
            }
        }
    }
}

/// The processes of a session, by its leader.
fn members(session: u32) -> Vec<nix::unistd::Pid> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, ProcessRefreshKind::nothing());
    let of = |process: &sysinfo::Process| process.session_id() == Some(Pid::from_u32(session));
    let pids = system.processes().values().filter(|p| of(p)).map(|p| p.pid().as_u32());
    pids.filter_map(|pid| i32::try_from(pid).ok()).map(nix::unistd::Pid::from_raw).collect()
}

/// Every running process of which the command line can be read, by its number.
pub fn command_lines() -> Vec<(u32, Vec<OsString>)> {
    let Ok(mut system) = System::new() else { return Vec::new() };
    let wanted = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, wanted);
    let own = system.processes().values().filter(|process| process.thread_kind().is_none());
    own.map(|process| (process.pid().as_u32(), process.cmd().to_vec())).collect()
}

/// The folder a process works in, where the system tells.
pub fn folder_of(pid: u32) -> Option<PathBuf> {
    let mut system = System::new().ok()?;
    let pid = Pid::from_u32(pid);
    let wanted = ProcessRefreshKind::nothing().with_cwd(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, wanted);
    system.process(pid)?.cwd().map(Path::to_path_buf)
}

/// Whether we run as root.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn output_and_status_come_back() {
        let out =
            Run::new("/bin/sh").args(["-c", "cat; echo err >&2; exit 3"]).stdin("in").output().await.unwrap();
        assert_eq!((out.status, out.text(), out.error_text()), (Some(3), "in".into(), "err".into()));
    }

    #[tokio::test]
    async fn a_program_that_takes_too_long_is_ended_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let pid_file = dir.path().join("pid");
        let script = format!("sleep 60 & echo $! > {}; wait", pid_file.display());
        let run = Run::new("/bin/sh").args(["-c", &script]).limit(Duration::from_millis(300));
        assert!(matches!(run.output().await, Err(RunError::TooSlow { .. })));
        let pid: u32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
        for _ in 0..100 {
            if Identity::of(pid).is_none() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the child outlived its group");
    }

    #[tokio::test]
    async fn a_missing_program_is_named() {
        let error = Run::new("/nowhere/at-all").output().await.unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/at-all cannot be started"));
    }
}

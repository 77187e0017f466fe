//! A machine of its own for one test: home directory, our folder, PATH, clock and tmux server.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pao_core::host::Host;

/// The built program under test.
pub const PAO: &str = env!("CARGO_BIN_EXE_pao");

/// When it is, unless a test says otherwise.
pub const NOW: &str = "2026-11-30T12:00:00Z";

/// A temporary home with everything `pao` looks at. Ends its tmux server when dropped.
pub struct World {
    root: tempfile::TempDir,
    /// The home directory.
    pub home: PathBuf,
    /// First folder of PATH, for programs of the test.
    pub bin: PathBuf,
    env: BTreeMap<OsString, OsString>,
}

impl World {
    /// An empty home, a clock that stands still, no display, no agent.
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("pao-test-").tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (home, bin) = (base.join("home"), base.join("bin"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&bin).unwrap();
        let socket = format!(
            "pao-test-{}",
            base.file_name().unwrap().to_string_lossy().trim_start_matches("pao-test-")
        );
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
        let env = [
            ("HOME", home.as_os_str().to_owned()),
            ("PAO_HOME", home.join(".pao").into()),
            ("PATH", path.into()),
            ("PAO_NOW", NOW.into()),
            ("PAO_TMUX_SOCKET", socket.into()),
            ("TMPDIR", base.join("tmp").into()),
            ("SHELL", "/bin/sh".into()),
            // Nobody's credential store is touched, and none hangs a test.
            ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}/no-bus", base.display()).into()),
            ("TERM", "xterm-256color".into()),
            ("LANG", "C.UTF-8".into()),
            ("USER", "tester".into()),
        ];
        fs::create_dir(base.join("tmp")).unwrap();
        let env = env.into_iter().map(|(k, v)| (k.into(), v)).collect();
        Self { root, home, bin, env }
    }

    /// Sets a variable for every program of this world.
    pub fn set(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut Self {
        self.env.insert(name.into(), value.as_ref().into());
        self
    }

    /// Takes a variable away.
    pub fn unset(&mut self, name: &str) -> &mut Self {
        self.env.remove(OsStr::new(name));
        self
    }

    /// Lets the clock run.
    pub fn real_clock(&mut self) -> &mut Self {
        self.unset("PAO_NOW")
    }

    /// This world as the core sees it.
    pub fn host(&self) -> Host {
        let now = self.env.get(OsStr::new("PAO_NOW")).map(|now| now.to_string_lossy().parse().unwrap());
        Host {
            home: self.home.clone(),
            pao_home: self.path(".pao"),
            cwd: self.home.clone(),
            exe: PAO.into(),
            env: self.env.clone(),
            frozen: now,
        }
    }

    /// The environment of this world.
    pub fn env(&self) -> &BTreeMap<OsString, OsString> {
        &self.env
    }

    /// A path in the home directory.
    pub fn path(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }

    /// Makes a folder in the home directory.
    pub fn folder(&self, path: &str) -> PathBuf {
        let folder = self.path(path);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Writes a file in the home directory.
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let file = self.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    /// Reads a file in the home directory.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Puts a program, e.g. a shell script, first in PATH.
    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        let file = self.bin.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    /// `pao` with these words, in the home directory.
    pub fn pao<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Pao<'_> {
        self.pao_by(Path::new(PAO), args)
    }

    /// The same by a program that becomes `pao`, e.g. one of [`World::prepared`].
    pub fn pao_by<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, program: &Path, args: I) -> Pao<'_> {
        let mut command = Command::new(program);
        let args: Vec<OsString> = args.into_iter().map(|a| a.as_ref().to_owned()).collect();
        command.args(&args).current_dir(&self.home).env_clear().envs(&self.env);
        let line = args.iter().map(|a| a.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
        Pao { world: self, command, line, stdin: Vec::new(), limit: Duration::from_mins(2) }
    }

    /// A script that becomes a program after something was done to mounted folders, which only it and what it starts
    /// see.
    #[cfg(target_os = "linux")]
    pub fn prepared(&self, program: &Path, doing: &str) -> PathBuf {
        // Whoever is no administrator is one in a space of their own.
        let user = if nix::unistd::geteuid().is_root() { "" } else { "--map-root-user --user" };
        let inner = format!("#!/bin/sh\nset -e\n{doing}\nexec '{}' \"$@\"\n", program.display());
        let inner = self.program("prepared", &inner);
        let outer = format!("#!/bin/sh\nexec unshare --mount {user} '{}' \"$@\"\n", inner.display());
        self.program("preparing", &outer)
    }

    /// Any other program in this world.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.home).env_clear().envs(&self.env);
        command
    }

    /// Runs tmux on this world's private server; returns what it printed.
    pub fn tmux(&self, args: &[&str]) -> String {
        let socket = self.env.get(OsStr::new("PAO_TMUX_SOCKET")).cloned().unwrap_or_default();
        let output = self.command("tmux").arg("-L").arg(socket).args(args).output();
        output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default()
    }

    /// Text as it would read in any world: the home directory is `~`, times are gone.
    pub fn timeless(&self, text: &str) -> String {
        let base = self.root.path().canonicalize().unwrap();
        let text =
            text.replace(&*self.home.to_string_lossy(), "~").replace(&*base.to_string_lossy(), "/world");
        without_times(&text)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Ends what the test's agents left running; where no server was started there is nothing to end.
        let panes = self.tmux(&["list-panes", "-a", "-F", "#{pane_pid}"]);
        self.tmux(&["kill-server"]);
        // An agent writes its last words into the home directory; only then can that be removed.
        let running = |pid: &str| Path::new("/proc").join(pid).exists();
        let began = Instant::now();
        while panes.lines().any(running) && began.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
        for _ in 0..50 {
            if fs::remove_dir_all(self.root.path()).is_ok() || !self.root.path().exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Replaces numbers before ` ms` and ` s`, which differ from run to run, and the padding before them.
fn without_times(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some(at) = rest.find(" ms") {
            let digits = rest[..at].trim_end_matches(|c: char| c.is_ascii_digit());
            if digits.len() == at {
                out.push_str(&rest[..at + 3]);
            } else {
                out.push_str(digits.trim_end());
                out.push_str(" N ms");
            }
            rest = &rest[at + 3..];
        }
        out.push_str(rest);
    }
    out
}

/// One call of `pao`, not yet made.
pub struct Pao<'w> {
    world: &'w World,
    command: Command,
    line: String,
    stdin: Vec<u8>,
    limit: Duration,
}

impl Pao<'_> {
    /// In that folder.
    pub fn at(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// With that variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// With that on standard input.
    pub fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = bytes.as_ref().to_vec();
        self
    }

    /// Ended after that long, which fails the test.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts it without waiting, with all three streams piped and no terminal to ask on.
    pub fn start(mut self) -> Child {
        self.detached();
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs it to its end.
    pub fn run(mut self) -> Ran {
        self.detached();
        let mut child =
            self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut input, bytes) = (child.stdin.take().unwrap(), std::mem::take(&mut self.stdin));
        let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
        let pid = child.id();
        let (sender, ended) = std::sync::mpsc::channel::<()>();
        let limit = self.limit;
        let guard = std::thread::spawn(move || {
            if ended.recv_timeout(limit).is_err() {
                let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
                let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            }
        });
        let began = Instant::now();
        let output = child.wait_with_output().unwrap();
        let took = began.elapsed();
        let _ = sender.send(());
        guard.join().unwrap();
        writer.join().unwrap();
        assert!(took < limit, "pao {} did not end within {limit:?}", self.line);
        Ran {
            line: self.world.timeless(&self.line),
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            screen: String::new(),
        }
        .with_screen(self.world)
    }

    /// Runs it and wants success.
    pub fn ok(self) -> Ran {
        let ran = self.run();
        assert_eq!(ran.code, Some(0), "{}", ran.screen);
        ran
    }

    /// A session of its own has no controlling terminal: nobody can be asked by accident. `pao probe session`
    /// begins one and becomes the program, so that its pid stays the child's.
    fn detached(&mut self) {
        let program = self.command.get_program().to_owned();
        let args: Vec<OsString> = self.command.get_args().map(ToOwned::to_owned).collect();
        let mut command = Command::new(PAO);
        command.args(["probe", "session"]).arg(program).args(args);
        if let Some(folder) = self.command.get_current_dir() {
            command.current_dir(folder);
        }
        command.env_clear();
        for (name, value) in self.command.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        self.command = command;
    }
}

/// One call of `pao` that ended.
pub struct Ran {
    line: String,
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// All of it in one text for a snapshot, without what differs from run to run.
    pub screen: String,
}

impl Ran {
    fn with_screen(mut self, world: &World) -> Self {
        let mut screen = format!("$ pao {}\n", self.line);
        screen += &world.timeless(&self.stdout);
        if !self.stderr.is_empty() {
            screen = screen + "--- stderr\n" + &world.timeless(&self.stderr);
        }
        if self.code != Some(0) {
            screen = screen + "--- exit " + &self.code.unwrap_or(-1).to_string() + "\n";
        }
        self.screen = screen;
        self
    }

    /// Standard output as the one JSON document that it must be.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}\n{}", self.screen))
    }
}

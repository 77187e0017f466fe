//! tmux on a private socket with a configuration of our own: one session per agent, its pane addressed by id.
//!
//! The user's own tmux server, sessions and configuration are never touched. The server is started with a bare
//! environment, because it lives longer than what starts it: agents get theirs from the launch script. Text goes in
//! from a buffer as a bracketed paste and is submitted separately. Nothing of the user's (folder, name, text) is
//! ever given to tmux as a name, target, format or command.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{
    Alive, Capabilities, Key, Opened, Script, Terminal, TerminalError, plain, plain_title, shell_word,
};
use crate::host::attention::{above, raise, since};
use crate::host::process::{Identity, Outcome, Run};
use crate::host::{Host, files, os};

/// Name in configuration, rows and messages.
pub const NAME: &str = "tmux";

const CONFIGURATION: &str = include_str!("tmux.conf");

/// What the server and the panes' launch scripts start from. Everything else an agent needs reaches it by `pao run`.
const ENVIRONMENT: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TMUX_TMPDIR",
    "XDG_RUNTIME_DIR",
];

/// tmux as a terminal.
#[derive(Debug, Clone)]
pub struct Tmux {
    host: Host,
    program: PathBuf,
    socket: String,
}

/// Where a pane is. Pane ids start anew with each server, so the id alone could one day name another's pane; with
/// the process id of what was started in it, it cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Handle {
    /// Path of the server's socket.
    socket: PathBuf,
    /// `%N`.
    pane: String,
    /// Process id of what was started in the pane.
    pid: u32,
    /// Name of the session, for a person who attaches.
    session: String,
    /// Script of ours that attaches to the session.
    attach: PathBuf,
}

impl Handle {
    /// Whether what was started in the pane has ended. A busy server hears of that later than we can see it.
    fn ended(&self) -> bool {
        Identity::of(self.pid).is_none()
    }
}

/// A pane of ours, found without a row that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The script it was opened with.
    pub script: PathBuf,
    /// What we would have noted about it.
    pub handle: String,
    /// Process id of what was started in it.
    pub pid: u32,
    /// That has ended.
    pub dead: bool,
    /// Name of its session.
    pub session: String,
}

/// A line of the list of panes.
fn found(line: &str, folder: &Path) -> Option<Found> {
    let mut fields = line.splitn(6, '|');
    let mut next = || fields.next();
    let (pane, pid, dead, session, socket, command) = (next()?, next()?, next()?, next()?, next()?, next()?);
    let folder = folder.to_str()?;
    let from = command.find(folder)?;
    let length = command[from..].find(SCRIPTS)? + SCRIPTS.len();
    let script = PathBuf::from(&command[from..from + length]);
    let pid = pid.parse().ok()?;
    let handle = Handle {
        socket: socket.into(),
        pane: pane.into(),
        pid,
        session: session.into(),
        attach: script.with_file_name("attach.command"),
    };
    let handle = serde_json::to_string(&handle).ok()?;
    Some(Found { script, handle, pid, dead: dead != "0", session: session.into() })
}

/// How our scripts' names end.
const SCRIPTS: &str = ".command";

/// What is asked about a pane.
const PANE: &str = "#{pane_pid}|#{pane_dead}|#{pane_in_mode}|#{session_attached}";

/// A pane as it is now.
struct Pane {
    dead: bool,
    in_mode: bool,
    attached: bool,
}

impl Tmux {
    /// Finds tmux. The socket's name is `pao`, or `$PAO_TMUX_SOCKET`.
    pub fn new(host: &Host) -> Result<Self, TerminalError> {
        let folders = os::PROGRAM_FOLDERS.iter().map(|f| Path::new(f).join(NAME));
        let program = host
            .find_on_path(NAME)
            // An app that was not started from a terminal has a bare PATH.
            .or_else(|| folders.into_iter().find(|p| p.is_file()))
            .ok_or(TerminalError::NotInstalled { terminal: NAME })?;
        let socket = host.var("PAO_TMUX_SOCKET").unwrap_or("pao").to_string();
        Ok(Self { host: host.clone(), program, socket })
    }

    /// Every pane on our server that was opened with a script in `folder`, or below it.
    pub async fn panes_of(&self, folder: &Path) -> Result<Vec<Found>, TerminalError> {
        let format =
            "#{pane_id}|#{pane_pid}|#{pane_dead}|#{session_name}|#{socket_path}|#{pane_start_command}";
        let listed = self.run().args(["-L", &self.socket, "list-panes", "-a", "-F", format]).output().await?;
        let text = listed.text();
        Ok(text.lines().filter_map(|line| found(line, folder)).collect())
    }

    fn run(&self) -> Run {
        // The folder of the caller may be gone or on a slow disk; the launch script goes to the right one itself.
        let run =
            Run::new(&self.program).env_clear().cwd(Path::new("/")).limit(Duration::from_secs(5)).arg("-u");
        ENVIRONMENT
            .iter()
            .filter_map(|name| self.host.var(name).map(|value| (name, value)))
            .fold(run, |run, (name, value)| run.env(name, value))
    }

    fn at(&self, handle: &Handle) -> Run {
        self.run().arg("-S").arg(&handle.socket)
    }

    async fn ask(&self, run: Run) -> Result<Outcome, TerminalError> {
        let out = run.output().await?;
        if out.success() {
            return Ok(out);
        }
        Err(refusal(&out))
    }

    /// Looks the pane up; `Gone` unless it is the very pane we opened.
    async fn pane(&self, handle: &Handle) -> Result<Pane, TerminalError> {
        let out = self.ask(self.at(handle).args(["display-message", "-p", "-t", &handle.pane, PANE])).await?;
        Self::told(handle, &out.text())
    }

    /// Reads what tmux said of a pane; `Gone` unless it is the very pane we opened.
    fn told(handle: &Handle, text: &str) -> Result<Pane, TerminalError> {
        let mut fields = text.split('|');
        let mut next = || fields.next().unwrap_or_default();
        if next().parse() != Ok(handle.pid) {
            return Err(TerminalError::Gone { terminal: NAME });
        }
        let mut set = || !matches!(next(), "" | "0");
        Ok(Pane { dead: set() || handle.ended(), in_mode: set(), attached: set() })
    }

    /// Looks the pane up and makes sure that it takes input.
    async fn ready_for_input(&self, handle: &Handle) -> Result<(), TerminalError> {
        let pane = self.pane(handle).await?;
        if pane.dead {
            return Err(TerminalError::Gone { terminal: NAME });
        }
        if pane.in_mode {
            // Someone scrolled back: keys would go to the scrolling and not to the agent.
            self.ask(self.at(handle).args(["send-keys", "-t", &handle.pane, "-X", "cancel"])).await?;
        }
        Ok(())
    }

    /// Brings the window of one who is attached to the front, of several the one that was used last.
    async fn raise(&self, handle: &Handle) -> Result<(), TerminalError> {
        let format = "#{pane_id}|#{client_pid}|#{client_activity}|#{window_name}";
        let out = self.ask(self.at(handle).args(["list-clients", "-F", format])).await?;
        let text = out.text();
        let client = |line: &str| {
            let mut fields = line.splitn(4, '|');
            let (pane, pid, at, title) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
            let (pid, at): (u32, i64) = (pid.parse().ok()?, at.parse().ok()?);
            (pane == handle.pane).then(|| (at, pid, title.to_owned()))
        };
        let mut clients: Vec<_> = text.lines().filter_map(client).collect();
        clients.sort_unstable_by(|one, other| other.cmp(one));
        for (_, pid, title) in clients {
            if raise(&self.host, above(pid), &title).await {
                return Ok(());
            }
        }
        Err(TerminalError::Behind { terminal: NAME })
    }

    fn write_attach(&self, handle: &Handle) -> Result<(), TerminalError> {
        let mut script =
            b"#!/bin/sh\n# Written by pao: shows a running agent.\nunset TMUX TMUX_PANE\nexec ".to_vec();
        script.extend(shell_word(&self.program));
        script.extend(b" -u -S ");
        script.extend(shell_word(&handle.socket));
        script.extend(format!(" attach-session -t {}\n", handle.session).into_bytes());
        files::write_private(&handle.attach, &script, true)
            .map_err(|source| TerminalError::File { path: handle.attach.clone(), source })
    }

    /// Writes our configuration where it does not stand yet.
    fn configuration(&self) -> Result<PathBuf, TerminalError> {
        let path = self.host.pao_home.join("tmux.conf");
        let write = || {
            if files::read_if_there(&path)?.as_deref() != Some(CONFIGURATION.as_bytes()) {
                files::private_dir(&self.host.pao_home)?;
                files::write_private(&path, CONFIGURATION.as_bytes(), false)?;
            }
            Ok(())
        };
        write().map_err(|source| TerminalError::File { path: path.clone(), source })?;
        Ok(path)
    }
}

/// What a failed command of tmux means. Its messages are not translated.
fn refusal(out: &Outcome) -> TerminalError {
    let text = out.error_text();
    let gone =
        ["can't find", "no server running", "error connecting", "no current", "server exited", "lost server"];
    if gone.iter().any(|g| text.contains(g)) {
        return TerminalError::Gone { terminal: NAME };
    }
    TerminalError::Refused { terminal: NAME, text }
}

fn read(handle: &str) -> Result<Handle, TerminalError> {
    serde_json::from_str(handle).map_err(|e| TerminalError::Handle(e.to_string()))
}

/// A session name that needs no quoting anywhere, is not a beginning of any other, and that tmux does not alter.
fn session_name(title: &str) -> String {
    let word: String = title.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(24).collect();
    let word = word.trim_matches('-');
    let mut name = if word.is_empty() { "agent".to_string() } else { word.to_string() };
    let unique = uuid::Uuid::new_v4().simple().to_string();
    let _ = write!(name, "-{}", &unique[..6]);
    name
}

fn key_name(key: Key) -> &'static str {
    match key {
        Key::Up => "Up",
        Key::Down => "Down",
        Key::Left => "Left",
        Key::Right => "Right",
        Key::Enter => "Enter",
        Key::ControlM => "C-m",
        Key::Escape => "Escape",
        Key::Tab => "Tab",
        Key::Interrupt => "C-c",
    }
}

#[async_trait]
impl Terminal for Tmux {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        let visible = os::has_display(&self.host);
        Capabilities {
            read: true,
            keys: true,
            paste: true,
            paste_returns: false,
            paste_lines: true,
            visible,
            focus: visible,
            close: true,
        }
    }

    async fn open(&self, script: &Script) -> Result<Opened, TerminalError> {
        let configuration = self.configuration()?;
        let session = session_name(&script.title);
        let window = plain_title(&script.title);
        let format = "#{pane_id}|#{pane_pid}|#{socket_path}";
        // A command of several words is executed as it is; a single one would be read by a shell.
        let run = self
            .run()
            .args(["-L", &self.socket, "-f"])
            .arg(&configuration)
            .args(["new-session", "-d", "-x", "200", "-y", "50", "-s", &session, "-n", &window])
            .args(["-P", "-F", format, "--", "/bin/sh"])
            .arg(&script.path);
        let mut tries = 0;
        let out = loop {
            match self.ask(run.clone()).await {
                // The server may just be ending because its last session did.
                Err(TerminalError::Gone { .. }) if tries < 5 => tries += 1,
                other => break other?,
            }
            tokio::time::sleep(Duration::from_millis(40 * tries)).await;
        };
        let text = out.text();
        let mut fields = text.splitn(3, '|');
        let (pane, pid, socket) = (fields.next(), fields.next().and_then(|p| p.parse().ok()), fields.next());
        let (Some(pane), Some(pid), Some(socket)) = (pane, pid, socket.filter(|s| !s.is_empty())) else {
            return Err(TerminalError::Refused { terminal: NAME, text });
        };
        let attach = script.path.with_file_name("attach.command");
        let handle = Handle { socket: socket.into(), pane: pane.into(), pid, session, attach };
        self.write_attach(&handle)?;
        let (shown, note) = match os::open_window(&self.host, &handle.attach).await {
            Ok(shown) => (shown, None),
            Err(e) => (false, Some(format!("no window could be opened: {e}"))),
        };
        let handle = serde_json::to_string(&handle).map_err(|e| TerminalError::Handle(e.to_string()))?;
        Ok(Opened { attach: self.attach(&handle), handle, shown, note })
    }

    async fn find(&self, script: &Script) -> Result<Option<String>, TerminalError> {
        let format = "#{pane_id}|#{pane_pid}|#{session_name}|#{socket_path}|#{pane_start_command}";
        let listed = self.run().args(["-L", &self.socket, "list-panes", "-a", "-F", format]).output().await?;
        let Some(path) = script.path.to_str() else { return Ok(None) };
        let text = listed.text();
        let Some(line) = text.lines().find(|line| line.contains(path)) else { return Ok(None) };
        let fields: Vec<&str> = line.splitn(5, '|').collect();
        let [pane, pid, session, socket, _] = fields[..] else { return Ok(None) };
        let Ok(pid) = pid.parse() else { return Ok(None) };
        let attach = script.path.with_file_name("attach.command");
        let handle =
            Handle { socket: socket.into(), pane: pane.into(), pid, session: session.into(), attach };
        serde_json::to_string(&handle).map(Some).map_err(|e| TerminalError::Handle(e.to_string()))
    }

    async fn screen(&self, handle: &str) -> Result<String, TerminalError> {
        let handle = read(handle)?;
        // In one call: the window of a starting agent is read often, and each call is a process.
        let run = self.at(&handle).args(["display-message", "-p", "-t", &handle.pane, PANE, ";"]).args([
            "capture-pane",
            "-p",
            "-t",
            &handle.pane,
        ]);
        let text = self.ask(run).await?.text();
        let (pane, screen) = text.split_once('\n').unwrap_or((&text, ""));
        Self::told(&handle, pane)?;
        Ok(screen.to_string())
    }

    async fn key(&self, handle: &str, key: Key) -> Result<(), TerminalError> {
        let handle = read(handle)?;
        self.ready_for_input(&handle).await?;
        self.ask(self.at(&handle).args(["send-keys", "-t", &handle.pane, key_name(key)])).await.map(drop)
    }

    async fn paste(&self, handle: &str, text: &str) -> Result<(), TerminalError> {
        plain(text)?;
        let handle = read(handle)?;
        self.ready_for_input(&handle).await?;
        let buffer = format!("pao-{}", uuid::Uuid::new_v4().simple());
        // -p: bracketed where the program asked for it. -r: a line feed stays one; without it each becomes a
        // Return, which submits in a program that did not ask for brackets. -d: nothing is left behind.
        let run = self
            .at(&handle)
            .args(["load-buffer", "-b", &buffer, "-", ";"])
            .args(["paste-buffer", "-p", "-r", "-d", "-b", &buffer, "-t", &handle.pane])
            .stdin(text);
        self.ask(run).await.map(drop)
    }

    async fn submit(&self, handle: &str) -> Result<(), TerminalError> {
        self.key(handle, Key::Enter).await
    }

    async fn alive(&self, handle: &str) -> Result<Alive, TerminalError> {
        match self.pane(&read(handle)?).await {
            Ok(pane) => Ok(if pane.dead { Alive::No } else { Alive::Yes }),
            Err(TerminalError::Gone { .. }) => Ok(Alive::No),
            Err(TerminalError::Run(_)) => Ok(Alive::Unknown),
            Err(e) => Err(e),
        }
    }

    async fn alive_each(&self, handles: &[&str]) -> Vec<Alive> {
        let handles: Vec<Option<Handle>> = handles.iter().map(|handle| read(handle).ok()).collect();
        let mut servers: HashMap<&Path, Option<Vec<String>>> = HashMap::new();
        for handle in handles.iter().flatten() {
            if servers.contains_key(handle.socket.as_path()) {
                continue;
            }
            let format = "#{pane_id}|#{pane_pid}|#{pane_dead}";
            let listed = self.ask(self.at(handle).args(["list-panes", "-a", "-F", format])).await;
            let panes = match listed {
                Ok(out) => Some(out.text().lines().map(str::to_string).collect()),
                Err(TerminalError::Gone { .. }) => Some(Vec::new()),
                Err(_) => None,
            };
            servers.insert(&handle.socket, panes);
        }
        let state = |handle: &Option<Handle>| {
            let Some(handle) = handle else { return Alive::Unknown };
            let Some(Some(panes)) = servers.get(handle.socket.as_path()) else { return Alive::Unknown };
            let runs = format!("{}|{}|", handle.pane, handle.pid);
            match panes.iter().find_map(|pane| pane.strip_prefix(&runs)) {
                Some("" | "0") if !handle.ended() => Alive::Yes,
                _ => Alive::No,
            }
        };
        handles.iter().map(state).collect()
    }

    async fn settled(&self, handle: &str) -> Result<(), TerminalError> {
        let handle = read(handle)?;
        self.pane(&handle).await?;
        let args = ["set-option", "-w", "-t", &handle.pane, "remain-on-exit", "off"];
        self.ask(self.at(&handle).args(args)).await.map(drop)
    }

    async fn focus(&self, handle: &str) -> Result<(), TerminalError> {
        let handle = read(handle)?;
        let pane = self.pane(&handle).await?;
        if pane.attached {
            let select = ["select-window", "-t", &handle.pane, ";", "select-pane", "-t", &handle.pane];
            self.ask(self.at(&handle).args(select)).await?;
            return self.raise(&handle).await;
        }
        self.write_attach(&handle)?;
        if os::open_window(&self.host, &handle.attach).await? {
            return Ok(());
        }
        Err(TerminalError::NotCapable {
            terminal: NAME,
            what: "show a window: there is no display, or no terminal \
            emulator",
        })
    }

    async fn close(&self, handle: &str) -> Result<(), TerminalError> {
        let handle = read(handle)?;
        // The pane and not the session: someone may have opened windows of their own in it.
        let killed = match self.pane(&handle).await {
            Ok(_) => self.ask(self.at(&handle).args(["kill-pane", "-t", &handle.pane])).await.map(drop),
            Err(e) => Err(e),
        };
        match killed {
            Ok(()) | Err(TerminalError::Gone { .. }) => {}
            Err(e) => return Err(e),
        }
        files::remove_if_there(&handle.attach)
            .map(drop)
            .map_err(|source| TerminalError::File { path: handle.attach.clone(), source })
    }

    async fn clients(&self, handle: &str) -> Result<Vec<(u32, Duration)>, TerminalError> {
        let handle = read(handle)?;
        // Of each client the pane it is at.
        let format = "#{pane_id}|#{client_pid}|#{client_activity}";
        let out = self.ask(self.at(&handle).args(["list-clients", "-F", format])).await?;
        let text = out.text();
        let client = |line: &str| {
            let mut fields = line.split('|');
            let (pane, pid, at) = (fields.next()?, fields.next()?, fields.next()?);
            let pid = pid.parse().ok().filter(|_| pane == handle.pane)?;
            Some((pid, since(&self.host, at.parse().ok()?)))
        };
        Ok(text.lines().filter_map(client).collect())
    }

    fn attach(&self, handle: &str) -> Option<String> {
        let handle = read(handle).ok()?;
        let quoted = |path: &Path| String::from_utf8_lossy(&shell_word(path)).into_owned();
        let mut env = String::new();
        if self.host.var("TMUX").is_some() {
            // Inside another tmux it would refuse to nest.
            env += " -u TMUX";
        }
        let server = if handle.socket.file_name() == Some(self.socket.as_ref()) {
            if let Some(folder) = self.host.var("TMUX_TMPDIR") {
                // Whoever types it elsewhere would look for the socket in another folder.
                let _ = write!(env, " TMUX_TMPDIR={}", quoted(Path::new(folder)));
            }
            format!("-L {}", self.socket)
        } else {
            format!("-S {}", quoted(&handle.socket))
        };
        let env = if env.is_empty() { env } else { format!("env{env} ") };
        Some(format!("{env}tmux {server} attach -t {}", handle.session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_need_no_quoting_and_never_collide() {
        for title in ["app", "app", "a.b", "a:b", "支付对账", "it's $(touch x) #(touch y)", "--", ""] {
            let name = session_name(title);
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{name}");
            assert!(!name.starts_with('-') && name.len() >= 8, "{name}");
        }
        assert_ne!(session_name("app"), session_name("app"));
    }

    #[tokio::test]
    async fn what_has_ended_is_over_before_its_server_says_so() {
        let pid = Run::new("/bin/sh").args(["-c", "echo $$"]).output().await.unwrap().text().parse().unwrap();
        let handle = |pid| Handle {
            socket: "/nowhere".into(),
            pane: "%1".into(),
            pid,
            session: "api-1".into(),
            attach: "/nowhere".into(),
        };
        assert!(Tmux::told(&handle(pid), &format!("{pid}|0|0|1")).unwrap().dead);
        let own = std::process::id();
        let pane = Tmux::told(&handle(own), &format!("{own}|0|0|1")).unwrap();
        assert!(!pane.dead && !pane.in_mode && pane.attached);
        assert!(Tmux::told(&handle(own), &format!("{own}|1|0|0")).unwrap().dead);
    }

    #[test]
    fn the_command_to_attach_names_what_leads_to_the_server_from_anywhere() {
        let root = tempfile::tempdir().unwrap();
        let handle = r#"{"socket":"/s/pao","pane":"%1","pid":1,"session":"api-1","attach":"/a"}"#;
        let elsewhere = handle.replace("/s/pao", "/s/other");
        let attach = |set: &[(&str, &str)], handle: &str| {
            let mut host = Host::at(root.path());
            host.env.extend(set.iter().map(|(name, value)| ((*name).into(), (*value).into())));
            Tmux { host, program: "tmux".into(), socket: "pao".into() }.attach(handle).unwrap()
        };
        let plain = "tmux -L pao attach -t api-1";
        assert_eq!(attach(&[], handle), plain);
        let moved = [("TMUX_TMPDIR", "/my s")];
        assert_eq!(attach(&moved, handle), format!("env TMUX_TMPDIR='/my s' {plain}"));
        let inside = [moved[0], ("TMUX", "/s/mine,1,0")];
        assert_eq!(attach(&inside, handle), format!("env -u TMUX TMUX_TMPDIR='/my s' {plain}"));
        assert_eq!(attach(&moved, &elsewhere), "tmux -S '/s/other' attach -t api-1");
    }

    #[test]
    fn a_handle_of_another_terminal_is_named_as_unreadable() {
        assert!(matches!(read("941|/dev/ttys003"), Err(TerminalError::Handle(_))));
    }
}

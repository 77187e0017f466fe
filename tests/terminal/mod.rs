//! What every terminal must do, run against real tmux and against make-believe Terminal.app, iTerm2 and Ghostty.

/// What every terminal must do, for the one of that name.
macro_rules! suite {
    ($name:expr) => {
        #[tokio::test]
        async fn what_it_opens_runs_and_can_be_read_and_closed() {
            crate::terminal::what_it_opens_runs_and_can_be_read_and_closed(
                &crate::terminal::Stage::new(),
                $name,
            )
            .await;
        }

        #[tokio::test]
        async fn text_arrives_as_it_is_and_at_the_right_window() {
            crate::terminal::text_arrives_as_it_is_and_at_the_right_window(
                &crate::terminal::Stage::new(),
                $name,
            )
            .await;
        }

        #[tokio::test]
        async fn text_that_is_no_text_is_refused_before_anything_is_typed() {
            crate::terminal::text_that_is_no_text_is_refused_before_anything_is_typed(
                &crate::terminal::Stage::new(),
                $name,
            )
            .await;
        }

        #[tokio::test]
        async fn a_window_that_is_gone_is_said_to_be_gone() {
            crate::terminal::a_window_that_is_gone_is_said_to_be_gone(&crate::terminal::Stage::new(), $name)
                .await;
        }

        #[tokio::test]
        async fn names_are_never_executed() {
            crate::terminal::names_are_never_executed($name).await;
        }

        #[tokio::test]
        async fn it_does_what_it_says_it_can_and_nothing_else() {
            crate::terminal::it_does_what_it_says_it_can_and_nothing_else(
                &crate::terminal::Stage::new(),
                $name,
            )
            .await;
        }
    };
}

mod app;
mod choice;
mod scripted;
mod tmux;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pao_core::host::Host;
use pao_core::host::terminal::iterm2;
use pao_core::host::terminal::{Alive, Key, Script, Terminal, TerminalError, choose};

/// A first event that a busy machine makes slow is no unanswered question.
const PATIENT: Duration = Duration::from_mins(1);

/// A temporary machine with its own tmux socket and its own make-believe applications.
struct Stage {
    root: tempfile::TempDir,
    host: Host,
    socket: String,
}

impl Stage {
    fn new() -> Self {
        Self::at("")
    }

    /// The same, our folder lying below a folder of that name.
    fn at(below: &str) -> Self {
        let root = tempfile::Builder::new().prefix("pao-").tempdir().unwrap();
        let home = root.path().join(below).join("home");
        let bin = root.path().join("bin");
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&bin).unwrap();
        for application in ["terminal", "iterm2", "ghostty"] {
            fs::create_dir_all(root.path().join("applications").join(application)).unwrap();
        }
        for bundle in ["iTerm.app", "Ghostty.app"] {
            fs::create_dir_all(home.join("Applications").join(bundle)).unwrap();
        }
        for fake in ["osascript", "open"] {
            fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes").join(fake), bin.join(fake))
                .unwrap();
        }
        let socket = format!("pao-test-{}", root.path().file_name().unwrap().to_string_lossy());
        let env = BTreeMap::from([
            ("PATH".into(), format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()).into()),
            ("HOME".into(), home.clone().into()),
            ("PAO_TMUX_SOCKET".into(), socket.clone().into()),
        ]);
        let host = Host {
            pao_home: home.join(".pao"),
            cwd: home.clone(),
            home,
            exe: PathBuf::from(env!("CARGO_BIN_EXE_pao")),
            env,
            frozen: None,
        };
        fs::create_dir_all(&host.pao_home).unwrap();
        let mut stage = Self { root, host, socket };
        stage.patience(PATIENT);
        stage
    }

    /// From now on a first event may take that long.
    fn patience(&mut self, limit: Duration) {
        self.host.env.insert("PAO_CONSENT_LIMIT_MS".into(), limit.as_millis().to_string().into());
    }

    fn terminal(&self, name: &str) -> Arc<dyn Terminal> {
        choose(&self.host, name).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.host.pao_home.join(name)
    }

    /// A launch script with that body, in a folder of its own.
    fn script(&self, name: &str, body: &str) -> Script {
        let folder = self.path(&format!("agents/{name}"));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("launch.command");
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        Script { path, title: name.to_string() }
    }

    /// A script that writes each line it is given to the file `NAME.got`.
    fn listener(&self, name: &str) -> Script {
        let got = self.path(&format!("{name}.got"));
        fs::write(&got, "").unwrap();
        self.script(
            name,
            &format!(
                "stty -echo; echo listening to {name}; touch '{}.ready'; while IFS= read -r line; do printf '%s\\n' \"$line\" >> \"{}\"; done",
                got.display(),
                got.display()
            ),
        )
    }

    /// Opens one of these and waits until it listens; returns its handle.
    async fn listening(&self, terminal: &dyn Terminal, name: &str) -> String {
        let opened = terminal.open(&self.listener(name)).await.unwrap();
        let ready = self.path(&format!("{name}.got.ready"));
        until("it listens", || async { ready.exists() }).await;
        opened.handle
    }

    fn got(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("{name}.got"))).unwrap()
    }

    /// A file that the make-believe applications keep, below the name of one of them or for all together.
    fn of_applications(&self, path: &str) -> PathBuf {
        self.root.path().join("applications").join(path)
    }

    /// From now on every event to that application fails like that.
    fn fails(&self, application: &str, how: &str) {
        fs::write(self.of_applications(application).join("fails"), how).unwrap();
    }

    /// Every event answers again.
    fn recovers(&self, application: &str) {
        fs::remove_file(self.of_applications(application).join("fails")).unwrap();
    }

    /// How many windows an application ever had.
    fn windows(&self, application: &str) -> usize {
        fs::read_dir(self.of_applications(application).join("windows")).map_or(0, Iterator::count)
    }

    /// What `osascript` and `open` were asked, without what differs from run to run.
    fn log(&self) -> String {
        let root = self.root.path().to_string_lossy().into_owned();
        fs::read_to_string(self.of_applications("log")).unwrap_or_default().replace(&root, "ROOT")
    }
}

impl Drop for Stage {
    #[expect(
        clippy::disallowed_methods,
        reason = "ends the servers of this very test, whatever happened in it"
    )]
    fn drop(&mut self) {
        for place in [
            ["-L".into(), self.socket.clone()],
            ["-S".into(), self.of_applications("engine").display().to_string()],
        ] {
            let _ = std::process::Command::new("tmux").args(place).arg("kill-server").output();
        }
    }
}

/// Waits until something holds, for at most as long as a busy machine may take.
async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let since = Instant::now();
    while !holds().await {
        assert!(since.elapsed() < Duration::from_mins(1), "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn until_screen(terminal: &dyn Terminal, handle: &str, text: &str) {
    until(text, || async { terminal.screen(handle).await.unwrap().contains(text) }).await;
}

/// Where the screen can be read, waits until that is on it; elsewhere it must say that it cannot.
async fn shows(terminal: &dyn Terminal, handle: &str, text: &str) {
    if terminal.capabilities_of(handle).read {
        until_screen(terminal, handle, text).await;
    } else {
        assert!(matches!(terminal.screen(handle).await, Err(TerminalError::NotCapable { .. })));
    }
}

async fn until_alive(terminal: &dyn Terminal, handle: &str) {
    until("it runs", || async { terminal.alive(handle).await.unwrap() == Alive::Yes }).await;
}

/// Puts a line in and submits it, once, whatever the terminal does by itself.
async fn send_line(terminal: &dyn Terminal, handle: &str, line: &str) {
    terminal.paste(handle, line).await.unwrap();
    if !terminal.capabilities_of(handle).paste_returns {
        terminal.submit(handle).await.unwrap();
    }
}

/// Names that have broken programs of this kind.
const HOSTILE: &[&str] = &[
    "My App",
    "it's",
    "a\"b",
    "a\\b",
    "`touch pwned`",
    "$(touch pwned)",
    "; touch pwned",
    "#(touch pwned)",
    "a\ntouch pwned",
    "Library/Mobile Documents/com~apple~CloudDocs",
    "支付对账",
    "#{pane_id}",
    "%1",
    "-t",
    "a!b",
];

async fn what_it_opens_runs_and_can_be_read_and_closed(stage: &Stage, name: &str) {
    let terminal = stage.terminal(name);
    let opened = terminal.open(&stage.script("api", "echo hello from here; exec sleep 600")).await.unwrap();
    until_alive(&*terminal, &opened.handle).await;
    shows(&*terminal, &opened.handle, "hello from here").await;
    let other = terminal.open(&stage.script("api-web", "echo second window; exit 3")).await.unwrap();
    until("the second ends", || async { terminal.alive(&other.handle).await.unwrap() == Alive::No }).await;
    // Its last words can still be quoted, where its window does not close by itself.
    if name == iterm2::NAME {
        assert!(matches!(terminal.screen(&other.handle).await, Err(TerminalError::Gone { .. })));
    } else {
        shows(&*terminal, &other.handle, "second window").await;
    }
    shows(&*terminal, &opened.handle, "hello from here").await;
    terminal.close(&other.handle).await.unwrap();
    terminal.close(&other.handle).await.unwrap();
    assert_eq!(terminal.alive(&opened.handle).await.unwrap(), Alive::Yes);
}

async fn text_arrives_as_it_is_and_at_the_right_window(stage: &Stage, name: &str) {
    let terminal = stage.terminal(name);
    let one = stage.listening(&*terminal, "app").await;
    let two = stage.listening(&*terminal, "app-web").await;
    let lines = [
        "Enter",
        "C-c",
        "Escape",
        "-t x",
        "--",
        "ends in ;",
        "\\",
        "it's \"quoted\"",
        "$(touch pwned) `touch pwned`",
        "#{pane_id} #(touch pwned)",
        "  leading and trailing  ",
        "支付对账 🦀 表示崩れ",
        "%0",
        "a!b",
    ];
    for line in lines {
        send_line(&*terminal, &one, line).await;
    }
    send_line(&*terminal, &two, "for the second").await;
    let want = lines.join("\n") + "\n";
    until("all lines arrive", || async { stage.got("app").len() >= want.len() }).await;
    assert_eq!(stage.got("app"), want);
    until("the second has its line", || async { !stage.got("app-web").is_empty() }).await;
    assert_eq!(stage.got("app-web"), "for the second\n");
    nothing_was_executed(stage);
}

async fn text_that_is_no_text_is_refused_before_anything_is_typed(stage: &Stage, name: &str) {
    let terminal = stage.terminal(name);
    let handle = stage.listening(&*terminal, "app").await;
    for text in ["", "\0", "a\u{1b}[201~b", "\u{3}", "a\rb"] {
        assert!(matches!(terminal.paste(&handle, text).await, Err(TerminalError::Text(_))), "{text:?}");
    }
    send_line(&*terminal, &handle, "after").await;
    until("the line arrives", || async { !stage.got("app").is_empty() }).await;
    assert_eq!(stage.got("app"), "after\n");
}

async fn a_window_that_is_gone_is_said_to_be_gone(stage: &Stage, name: &str) {
    let terminal = stage.terminal(name);
    let opened = terminal.open(&stage.script("api", "exit 0")).await.unwrap();
    until("it ends", || async { terminal.alive(&opened.handle).await.unwrap() == Alive::No }).await;
    assert!(
        matches!(terminal.paste(&opened.handle, "x").await, Err(TerminalError::Gone { .. })),
        "typed into an ended one"
    );
    terminal.close(&opened.handle).await.unwrap();
    assert_eq!(terminal.alive(&opened.handle).await.unwrap(), Alive::No);
    if terminal.capabilities().read {
        assert!(matches!(terminal.screen(&opened.handle).await, Err(TerminalError::Gone { .. })));
    }
    assert!(matches!(terminal.submit(&opened.handle).await, Err(TerminalError::Gone { .. })));
    assert!(matches!(terminal.screen("nonsense").await, Err(TerminalError::Handle(_))));
}

async fn names_are_never_executed(name: &str) {
    for hostile in HOSTILE {
        let stage = Stage::at(hostile);
        let terminal = stage.terminal(name);
        let ran = stage.path("ran");
        let mut script = stage.script("api", "touch \"$0.ran\"; exec sleep 600");
        script.title = (*hostile).to_string();
        let opened = terminal.open(&script).await.unwrap();
        let mark = PathBuf::from(format!("{}.ran", script.path.display()));
        until(&format!("{hostile:?} runs"), || async { mark.exists() }).await;
        assert!(!ran.exists());
        if terminal.capabilities_of(&opened.handle).read {
            assert!(terminal.screen(&opened.handle).await.is_ok(), "{hostile:?}");
        }
        nothing_was_executed(&stage);
    }
}

/// A script that writes every byte it is given to a file, from the moment the terminal is raw, and asks for brackets
/// around what is pasted.
const BYTES: &str = "stty raw -echo; printf '\\033[?2004h'; touch \"$0.ready\"; exec cat > \"$0.bytes\"";

async fn it_does_what_it_says_it_can_and_nothing_else(stage: &Stage, name: &str) {
    let terminal = stage.terminal(name);
    let script = stage.script("raw", BYTES);
    let handle = terminal.open(&script).await.unwrap().handle;
    let beside = |what: &str| PathBuf::from(format!("{}.{what}", script.path.display()));
    until("it is raw", || async { beside("ready").exists() }).await;
    let can = terminal.capabilities_of(&handle);
    assert_eq!(can, terminal.capabilities(), "opened the best way");
    let mut want = Vec::new();
    let lines = terminal.paste(&handle, "one\n\ttwo").await;
    if can.paste_lines {
        lines.unwrap();
        want.extend_from_slice(b"\x1b[200~one\n\ttwo\x1b[201~");
    } else {
        assert!(matches!(lines, Err(TerminalError::Text(_))), "{lines:?}");
    }
    terminal.submit(&handle).await.unwrap();
    want.push(b'\r');
    for (key, bytes) in [
        (Key::Up, "\x1b[A"),
        (Key::Down, "\x1b[B"),
        (Key::Left, "\x1b[D"),
        (Key::Right, "\x1b[C"),
        (Key::Tab, "\t"),
        (Key::Interrupt, "\x03"),
        (Key::ControlM, "\r"),
        (Key::Enter, "\r"),
        (Key::Escape, "\x1b"),
    ] {
        let pressed = terminal.key(&handle, key).await;
        if can.keys || matches!(key, Key::Enter | Key::ControlM) {
            pressed.unwrap();
            want.extend_from_slice(bytes.as_bytes());
        } else {
            assert!(matches!(pressed, Err(TerminalError::NotCapable { .. })), "{key:?}: {pressed:?}");
        }
    }
    until("all arrives", || async { fs::read(beside("bytes")).is_ok_and(|b| b.len() >= want.len()) }).await;
    assert_eq!(String::from_utf8_lossy(&fs::read(beside("bytes")).unwrap()), String::from_utf8_lossy(&want));
    if can.focus {
        terminal.focus(&handle).await.unwrap();
    } else {
        assert!(matches!(terminal.focus(&handle).await, Err(TerminalError::NotCapable { .. })));
    }
    shows(&*terminal, &handle, "").await;
    for phrase in [terminal.called().to_string(), can.told()] {
        assert!(!phrase.is_empty());
    }
}

/// None of the hostile texts had its way anywhere it could have been executed.
fn nothing_was_executed(stage: &Stage) {
    let places = [Path::new("/"), stage.root.path(), &stage.host.home, &stage.host.pao_home, Path::new(".")];
    for place in places {
        assert!(!place.join("pwned").exists(), "executed in {}", place.display());
    }
}

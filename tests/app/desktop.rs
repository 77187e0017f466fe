//! A desktop for one test. Every process of it is the first of its own group, and the whole group ends with the test.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::world::{PAO, World};

/// How long anything may take to come.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// The built app, beside the built command.
pub fn program() -> PathBuf {
    let app = PathBuf::from(PAO).with_file_name("prime-agent-orchestrator");
    assert!(app.is_file(), "{} is not there: run `cargo build -p pao-app` first", app.display());
    app
}

/// A desktop, with the app on it.
pub struct Desktop {
    processes: Vec<Child>,
    port: u16,
    session: String,
    /// The window the driver is at.
    pub(super) at: RefCell<String>,
}

/// Adds a desktop's display and bus to a world, so that whatever runs there finds them, and starts the app.
pub fn open(world: &mut World) -> Desktop {
    let mut desktop = empty(world);
    desktop.launch(world, &[]);
    desktop
}

/// A desktop without the app.
pub fn empty(world: &mut World) -> Desktop {
    // From the first process on it is this that ends them, whatever fails.
    let mut desktop =
        Desktop { processes: Vec::new(), port: 0, session: String::new(), at: RefCell::default() };
    let mut bus = world.command("dbus-daemon");
    bus.args(["--session", "--nofork", "--nopidfile", "--print-address=1"]);
    let address = desktop.first_line(&mut bus);
    world.set("DBUS_SESSION_BUS_ADDRESS", address);
    let mut display = world.command("Xvfb");
    display.args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"]);
    let number = desktop.first_line(&mut display);
    world.set("DISPLAY", format!(":{number}"));
    world.set("XDG_RUNTIME_DIR", world.folder("run"));
    for (name, value) in [
        ("LIBGL_ALWAYS_SOFTWARE", "1"),
        ("WEBKIT_DISABLE_DMABUF_RENDERER", "1"),
        ("NO_AT_BRIDGE", "1"),
        ("GDK_BACKEND", "x11"),
        ("TAURI_WEBVIEW_AUTOMATION", "true"),
    ] {
        world.set(name, value);
    }
    desktop.start(&mut world.command("openbox"), Stdio::null());
    desktop.start(world.command("xfce4-panel").arg("--disable-wm-check"), Stdio::null());
    let until = Instant::now() + PATIENCE;
    while !tray_is_there(world) {
        assert!(Instant::now() < until, "no tray came up");
        std::thread::sleep(Duration::from_millis(100));
    }
    desktop
}

/// Whether somebody shows tray icons.
fn tray_is_there(world: &World) -> bool {
    let call = "org.freedesktop.DBus.NameHasOwner";
    dbus(world, "org.freedesktop.DBus", "/org/freedesktop/DBus", call, &["org.kde.StatusNotifierWatcher"])
        .contains("true")
}

/// One call on the session bus; what it printed.
pub fn dbus(world: &World, to: &str, path: &str, method: &str, args: &[&str]) -> String {
    let mut gdbus = world.command("gdbus");
    gdbus.args([
        "call",
        "--session",
        "--timeout",
        "10",
        "--dest",
        to,
        "--object-path",
        path,
        "--method",
        method,
    ]);
    let output = gdbus.args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Desktop {
    fn start(&mut self, command: &mut Command, out: Stdio) -> &mut Child {
        let started = command.stdin(Stdio::null()).stdout(out).stderr(Stdio::null()).process_group(0).spawn();
        let started = started.unwrap_or_else(|e| panic!("{}: {e}", command.get_program().display()));
        self.processes.push(started);
        self.processes.last_mut().unwrap()
    }

    /// Its first line. Its output is read on, so that it never waits for us.
    fn first_line(&mut self, command: &mut Command) -> String {
        let mut lines = BufReader::new(self.start(command, Stdio::piped()).stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        assert!(!line.trim().is_empty(), "it ended before it said anything");
        line.trim().to_owned()
    }

    /// Starts the app with these arguments and the world's environment as it is now, after one that was there before.
    pub fn launch(&mut self, world: &World, arguments: &[&str]) {
        self.launch_as(world, &program(), arguments);
    }

    /// The same by a script of the test's that becomes the app.
    pub fn launch_as(&mut self, world: &World, program: &Path, arguments: &[&str]) {
        self.leave();
        // A driver for each run of the app: one keeps a session for longer than the app it was with.
        self.port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let port = format!("--port={}", self.port);
        self.start(world.command("WebKitWebDriver").arg(port), Stdio::null());
        self.session = self.begin(program, arguments);
    }

    /// Ends the app and its driver, as a crash does.
    pub fn leave(&mut self) {
        if !self.session.is_empty() {
            let _ = self.ask("DELETE", &format!("session/{}", self.session), "");
            self.session.clear();
            self.at.borrow_mut().clear();
            let driver = self.processes.pop().unwrap();
            end(driver);
        }
    }

    /// Ends the panel, and with it the tray; before the app is launched.
    pub fn end_panel(&mut self) {
        let panel = self.processes.pop().unwrap();
        end(panel);
    }

    /// Starts a program that ends with the desktop; nobody reads what it says.
    pub fn run(&mut self, command: &mut Command) {
        self.start(command, Stdio::null());
    }

    fn begin(&self, program: &Path, arguments: &[&str]) -> String {
        let browser = json!({ "binary": program, "args": arguments });
        let wanted = json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": browser } } });
        let until = Instant::now() + PATIENCE;
        loop {
            match self.post("session", &wanted) {
                Ok(made) => return made["sessionId"].as_str().unwrap().to_owned(),
                Err(error) => assert!(Instant::now() < until, "the app was not started: {error}"),
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// One request of the session; `Err` is what the driver says.
    pub(super) fn drive(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let path = format!("session/{}/{path}", self.session);
        if method == "POST" { self.post(&path, body) } else { self.answer(method, &path, "") }
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.answer("POST", path, &body.to_string())
    }

    fn answer(&self, method: &str, path: &str, body: &str) -> Result<Value, String> {
        let text = self.ask(method, path, body).map_err(|e| e.to_string())?;
        let mut value: Value = serde_json::from_str(&text).map_err(|e| format!("{e}: {text}"))?;
        let value = value["value"].take();
        if value["error"].is_string() { Err(value.to_string()) } else { Ok(value) }
    }

    /// One request of the driver, which is on this machine and speaks plain HTTP.
    fn ask(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (port, length) = (self.port, body.len());
        write!(
            stream,
            "{method} /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )?;
        let mut reply = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reply.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            if let Some(number) = line.to_lowercase().strip_prefix("content-length:") {
                length = number.trim().parse().map_err(std::io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        reply.read_exact(&mut body)?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// Calls a verb of the door as a window does: `Ok` with what it gives, `Err` with its failure.
    pub fn door(&self, verb: &str, with: &Value) -> Result<Value, Value> {
        let script = "const [verb, input, done] = arguments; \
                      window.__TAURI_INTERNALS__.invoke('door', { verb, with: input }) \
                      .then((gives) => done({ gives }), (failure) => done({ failure }))";
        let call = json!({ "script": script, "args": [verb, with] });
        let path = format!("session/{}/execute/async", self.session);
        let mut answer = self.post(&path, &call).unwrap_or_else(|error| panic!("{verb}: {error}"));
        if answer.get("failure").is_some() {
            Err(answer["failure"].take())
        } else {
            Ok(answer["gives"].take())
        }
    }

    /// Runs a script in the page and gives what it returns.
    pub fn script(&self, script: &str) -> Value {
        let path = format!("session/{}/execute/sync", self.session);
        self.post(&path, &json!({ "script": script, "args": [] })).unwrap()
    }

    /// Calls a verb that must succeed.
    pub fn gives(&self, verb: &str, with: &Value) -> Value {
        self.door(verb, with).unwrap_or_else(|failure| panic!("{verb}: {failure:#}"))
    }

    /// Keeps what comes as an event from now on.
    pub fn listen(&self, event: &str) {
        let script = format!(
            "window.heard = window.heard || {{}}; window.heard['{event}'] = []; \
             const i = window.__TAURI_INTERNALS__; \
             i.invoke('plugin:event|listen', {{ event: '{event}', target: {{ kind: 'Any' }}, \
             handler: i.transformCallback((e) => window.heard['{event}'].push(e.payload)) }}); return true"
        );
        assert_eq!(self.script(&script), json!(true));
    }

    /// Waits for an event that fits, the latest first, and gives it.
    pub fn hears(&self, event: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let heard = self.script(&format!("return window.heard['{event}']"));
            let all = heard.as_array().cloned().unwrap_or_default();
            if let Some(found) = all.iter().rev().find(|event| fits(event)) {
                return found.clone();
            }
            assert!(
                Instant::now() < until,
                "not heard: {what}; the last was {:#}",
                all.last().unwrap_or(&heard)
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        self.leave();
        while let Some(last) = self.processes.pop() {
            end(last);
        }
    }
}

/// Ends a process and all it started.
fn end(mut child: Child) {
    let group = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
    let _ = child.wait();
}

//! Notices to a real notification server: one for each question, for nothing else, and none where nobody needs one.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use messages_api::{Reply, Script};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::credentials::{Running, until};
use super::desktop::{Desktop, dbus, open};
use crate::harness::claude::{Claude, Version};
use crate::harness::world::World;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// A notification server that keeps a log of what it was asked.
pub(super) struct Server {
    log: PathBuf,
    process: Running,
}

/// Starts one on the world's bus.
pub(super) fn server(world: &World) -> Server {
    let log = world.path("notifications.log");
    let mut mock = world.command("/usr/bin/python3");
    mock.args(["-m", "dbusmock", "--session", "--template", "notification_daemon", "-l"]).arg(&log);
    mock.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let server = Server { log, process: Running(mock.spawn().unwrap()) };
    until("the notification server", || {
        let has = "org.freedesktop.DBus.NameHasOwner";
        dbus(world, "org.freedesktop.DBus", "/org/freedesktop/DBus", has, &[NAME]).contains("true")
    });
    server
}

impl Server {
    /// What it was asked, a line each, of that method.
    pub(super) fn asked(&self, method: &str) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let of = |line: &&str| line.split_whitespace().nth(1) == Some(method);
        log.lines().filter(of).map(str::to_owned).collect()
    }

    fn signal(&self, signal: Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.process.0.id()).unwrap());
        nix::sys::signal::kill(pid, signal).unwrap();
    }
}

/// The user clicks on a notice, by its number.
pub(super) fn click(world: &World, number: u32) {
    let arguments = format!("[<uint32 {number}>, <'default'>]");
    let emit = "org.freedesktop.DBus.Mock.EmitSignal";
    dbus(world, NAME, PATH, emit, &[NAME, "ActionInvoked", "us", &arguments]);
}

/// The bus starts no server by itself.
pub(super) fn no_server_by_itself(world: &mut World) {
    let runtime = world.folder("run");
    world.set("XDG_RUNTIME_DIR", runtime);
    let none = format!("[D-BUS Service]\nName={NAME}\nExec=/bin/false\n");
    world.write(&format!("run/dbus-1/services/{NAME}.service"), &none);
}

/// An agent that asks before it runs this.
fn asking(command: &str) -> Claude {
    let bash = json!({ "command": command, "description": "makes a file" });
    let script = Script::saying("done").when("make it", Reply::tool("Bash", bash).after_ms(1500)).unwrap();
    let mut claude = Claude::with_script(Version::New, script);
    no_server_by_itself(&mut claude.world);
    // No first run: its window would be in front.
    claude.world.pao(["config", "set", "spawn.budget", "1500"]).ok();
    claude
}

/// Spawns in a folder and waits until the agent asks; its id.
fn spawn(desktop: &Desktop, folder: &str) -> String {
    let job = desktop.gives("spawn", &json!({ "text": format!("make it in {folder}"), "terminal": "tmux" }));
    desktop.hears("job", "the question", |now| now["id"] == job && now["question"]["kind"] == "trust");
    desktop.gives("answer", &json!({ "job": job, "yes": true }));
    let done = desktop.hears("job", "the end", |now| now["id"] == job && !now["end"].is_null());
    let id = done["end"]["agent"].as_str().unwrap_or_else(|| panic!("{done:#}")).to_owned();
    desktop.hears("glance", "needs you", |glance| {
        let rows = glance["agents"].as_array().unwrap();
        rows.iter().any(|row| row["id"] == id.as_str() && row["state"] == "needs-you")
    });
    id
}

fn switch(desktop: &Desktop, on: bool) -> Value {
    desktop.gives("switch", &json!({ "which": "notifications", "on": on }))
}

/// Shows what the app logged, where a test fails.
struct Log(PathBuf);

impl Drop for Log {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for entry in std::fs::read_dir(&self.0).into_iter().flatten().flatten() {
                eprintln!("{}", std::fs::read_to_string(entry.path()).unwrap_or_default());
            }
        }
    }
}

/// Long enough for a notice that was not to come.
const SURELY: Duration = Duration::from_secs(3);

#[test]
fn a_question_is_told_once_a_click_leads_to_its_terminal_and_an_answer_takes_it_back() {
    let mut claude = asking("touch '<b>made</b>.txt' && sleep 1");
    claude.repository("code/api");
    claude.repository("code/web");
    // A window for the terminal: it only notes that it was opened.
    claude.world.program("x-terminal-emulator", "#!/bin/sh\necho \"$@\" >> \"$HOME/opened\"\n");
    let _log = Log(claude.world.path(".pao/logs"));
    let desktop = open(&mut claude.world);
    let server = server(&claude.world);
    let opened = || std::fs::read_to_string(claude.world.path("opened")).unwrap_or_default().lines().count();
    desktop.listen("glance");
    desktop.listen("job");

    // Off until switched on.
    let before = desktop.gives("settings", &Value::Null)["notifications"].clone();
    assert_eq!(before, json!({ "on": false, "possible": true, "note": null }));
    assert_eq!(switch(&desktop, true), json!({ "on": true, "possible": true, "note": null }));

    spawn(&desktop, "~/code/api");
    until("the notice", || !server.asked("Notify").is_empty());
    std::thread::sleep(SURELY);
    let told = server.asked("Notify");
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].contains("api needs you"), "{told:#?}");
    assert!(told[0].contains("permission for Bash: touch '&lt;b&gt;made&lt;/b&gt;.txt'"), "{told:#?}");
    let windows = opened();
    click(&claude.world, 1);
    until("its terminal", || opened() == windows + 1);

    let web = spawn(&desktop, "~/code/web");
    until("the second notice", || server.asked("Notify").len() == 2);
    assert!(server.asked("Notify")[1].contains("web needs you"));
    desktop.gives("pause", &json!({ "agent": web, "now": true }));
    until("it is taken back", || server.asked("CloseNotification").iter().any(|line| line.ends_with(" 2")));
    assert_eq!(server.asked("Notify").len(), 2);
}

#[test]
fn nobody_is_told_of_the_terminal_they_look_at_and_it_comes_back_from_behind_another() {
    let mut claude = asking("touch made.txt");
    claude.repository("code/api");
    let _log = Log(claude.world.path(".pao/logs"));
    let mut desktop = open(&mut claude.world);
    let server = server(&claude.world);
    desktop.listen("glance");
    desktop.listen("job");
    switch(&desktop, true);
    // A real terminal comes up on the display, attaches and is in front.
    spawn(&desktop, "~/code/api");
    let clients = claude.world.tmux(&["list-clients", "-F", "#{client_pid}"]);
    assert_ne!(clients, "", "no terminal attached");
    let front = claude.world.command("xdotool").args(["getactivewindow", "getwindowpid"]).output().unwrap();
    let front = String::from_utf8_lossy(&front.stdout).trim().to_owned();
    let name = std::fs::read_to_string(format!("/proc/{front}/comm")).unwrap_or_default();
    assert!(name.contains("term"), "{name} is in front");
    std::thread::sleep(SURELY);
    assert_eq!(server.asked("Notify"), Vec::<String>::new());

    // It goes behind another window, and comes back when it is asked for.
    let title = || {
        let found = claude.world.command("xdotool").args(["getactivewindow", "getwindowname"]).output();
        String::from_utf8_lossy(&found.unwrap().stdout).trim().to_owned()
    };
    assert_eq!(title(), "api");
    let mut other = claude.world.command("xterm");
    desktop.run(other.args(["-T", "somewhere else", "-e", "cat"]).stdin(Stdio::null()));
    until("the other window in front", || title() == "somewhere else");
    assert_eq!(claude.world.pao(["focus", "api"]).ok().stdout, "api is in front\n");
    assert_eq!(title(), "api");
}

#[test]
fn without_a_server_or_with_one_that_hangs_the_settings_say_so_and_the_app_goes_on() {
    let mut world = World::new();
    world.real_clock();
    no_server_by_itself(&mut world);
    let _log = Log(world.path(".pao/logs"));
    let desktop = open(&mut world);
    desktop.gives("glance", &Value::Null);
    let note = |switch: &Value| switch["note"].as_str().unwrap_or_default().to_owned();
    let without = switch(&desktop, true);
    assert!(
        note(&without).starts_with("this desktop has no notification service; the icon and the list"),
        "{without}"
    );
    let server = server(&world);
    server.signal(Signal::SIGSTOP);
    let began = Instant::now();
    let asked = std::thread::scope(|scope| {
        let asked = scope.spawn(|| world.pao(["config", "show"]).run().stdout);
        let settings = desktop.gives("settings", &Value::Null)["notifications"].clone();
        assert!(note(&settings).contains("does not answer"), "{settings}");
        asked.join().unwrap()
    });
    assert!(asked.contains("app.notifications"), "{asked}");
    assert!(began.elapsed() < Duration::from_secs(20));
    server.signal(Signal::SIGCONT);
    assert_eq!(desktop.gives("settings", &Value::Null)["notifications"]["note"], Value::Null);
    assert_eq!(switch(&desktop, false), json!({ "on": false, "possible": true, "note": null }));
}

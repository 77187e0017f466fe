//! What can be wrong with a machine: each is a clear state in the windows, and none is ever blank.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::credentials::{Running, apps, listening};
use super::desktop::{Desktop, empty, open, program};
use super::shell::{seen, until};
use super::tray;
use super::window::Window;
use crate::cli::registry;
use crate::harness::claude::{Claude, Version};
use crate::harness::world::{PAO, World};

fn set_up(config: &str) -> World {
    let mut world = World::new();
    world.real_clock();
    world.write(".pao/config.toml", config);
    world
}

/// Shows the list of agents.
fn listed<'d>(world: &World, desktop: &'d Desktop) -> Window<'d> {
    let list = desktop.popover();
    tray::open(world, &list, &["Open Prime Agent Orchestrator"]);
    list
}

/// Whatever windows there are show something to read.
fn are_not_blank(desktop: &Desktop) {
    for window in [desktop.popover(), desktop.panel()].into_iter().filter(Window::is_made) {
        let words = "return document.body.textContent.trim().split(/\\s+/).length";
        let count = window.run(words, &json!([])).as_u64().unwrap();
        assert!(count > 10, "{}", window.text());
    }
}

/// A server that wants a token nobody gives it; its port.
fn refusing() -> u16 {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut asked in server.incoming().flatten() {
            let _ = asked.read(&mut [0; 4096]);
            let _ = asked
                .write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    port
}

#[test]
fn without_a_display_the_app_says_so_in_the_terminal_and_ends() {
    let world = World::new();
    let out = world.command(program()).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.contains("there is no display"), "{said}");
    // One that is named and does not answer is none either.
    let out = world.command(program()).env("DISPLAY", ":4711").output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.contains(":4711") && !said.contains("panicked"), "{said}");
}

#[test]
fn where_nobody_shows_tray_icons_a_window_opens_by_itself() {
    let mut world = set_up("[spawn]\nbudget = 1500\n");
    let mut desktop = empty(&mut world);
    desktop.end_panel();
    world.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
    desktop.launch(&world, &[]);
    desktop.popover().is_shown(true);
    desktop.popover().says("shows no tray icons");
    are_not_blank(&desktop);
}

#[test]
fn while_the_app_runs_nothing_is_removed_unless_it_may_be_ended() {
    let mut world = set_up("[spawn]\nbudget = 1500\n");
    let _desktop = open(&mut world);
    until("the app listens", || listening(&world));
    let refused = world.pao(["uninstall", "--yes"]).run();
    assert_eq!(refused.code, Some(2), "{}", refused.screen);
    assert!(refused.stderr.contains("nothing was removed, for the app runs"), "{}", refused.screen);
    assert!(world.path(".pao/config.toml").exists() && apps(&world).len() == 1);
    let removed = world.pao(["uninstall", "--yes", "--end"]).ok();
    assert_eq!(apps(&world).len(), 0, "{}", removed.screen);
    for home in [".pao", ".local/share/dev.prime-agent-orchestrator.app"] {
        assert!(!world.path(home).exists(), "{home}: {}", removed.screen);
    }
}

#[test]
fn everything_is_removed_from_within_also_what_the_app_needs_until_it_ends() {
    let mut world = set_up("[spawn]\nbudget = 1500\n");
    world.folder("code/api");
    world.program("dolphin", "#!/bin/sh\n");
    let desktop = open(&mut world);
    let panel = desktop.panel();
    for which in ["login-item", "file-manager", "command-line"] {
        desktop.gives("switch", &json!({ "which": which, "on": true }));
    }
    let written = [
        ".pao",
        ".local/share/dev.prime-agent-orchestrator.app",
        ".config/autostart/dev.prime-agent-orchestrator.app.desktop",
        ".config/mimeapps.list",
        ".local/bin/pao",
    ];
    for path in written {
        until(path, || world.path(path).symlink_metadata().is_ok());
    }
    desktop.gives("open", &json!({ "page": "settings", "pane": "privacy" }));
    panel.click("button", "Remove everything…");
    panel.says("your settings: ~/.pao/config.toml");
    panel.click("button", "Remove everything");
    panel.says("Removed");
    assert!(!world.path(".pao").exists(), "{}", panel.text());
    panel.until("a way out", || panel.has("button", "Quit"));
    // A moment later: the driver loses the window with the click.
    let quit = "const quit = [...document.querySelectorAll('dialog button')].find((b) => b.textContent.includes('Quit'));
                setTimeout(() => quit.click(), 100)";
    panel.run(quit, &json!([]));
    until("the app is gone", || apps(&world).is_empty());
    for path in written {
        assert!(world.path(path).symlink_metadata().is_err(), "{path}");
    }
    assert_eq!(world.pao(["uninstall"]).ok().stdout, "no trace of pao was found\n");
    assert!(world.path("code/api").exists());
}

#[test]
fn without_a_session_bus_a_later_launch_is_taken_by_the_app_that_runs() {
    let mut world = set_up("[spawn]\nbudget = 1500\n");
    world.folder("code/api");
    let mut desktop = empty(&mut world);
    world.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
    desktop.launch(&world, &[]);
    let launched = Instant::now();
    until("the app listens", || listening(&world));
    let second = world.command(program()).arg("code/api").output().unwrap();
    assert!(second.status.success(), "{second:?}");
    let panel = desktop.panel();
    panel.is_shown(true);
    panel.until("its project", || panel.has("button", "Project: api"));
    assert_eq!(apps(&world).len(), 1);
    // The icon is in the tray of the display, which needs no bus: after a while, too, nothing is said against it.
    std::thread::sleep(Duration::from_secs(7).saturating_sub(launched.elapsed()));
    let glance = desktop.gives("glance", &Value::Null);
    assert!(!glance["troubles"].to_string().contains("tray"), "{glance}");
}

#[test]
fn of_three_launches_at_once_without_a_session_bus_one_stays() {
    let mut world = set_up("[spawn]\nbudget = 1500\n");
    let _desktop = empty(&mut world);
    world.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
    let launch = || {
        let mut app = world.command(program());
        Running(app.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap())
    };
    let mut launched = [launch(), launch(), launch()];
    let mut ended = [None; 3];
    let began = Instant::now();
    while ended.iter().flatten().count() < 2 {
        assert!(began.elapsed() < super::desktop::PATIENCE, "{ended:?}");
        std::thread::sleep(Duration::from_millis(50));
        for (launch, ended) in launched.iter_mut().zip(&mut ended) {
            *ended = launch.0.try_wait().unwrap();
        }
    }
    assert!(ended.iter().flatten().all(std::process::ExitStatus::success), "{ended:?}");
    assert_eq!(apps(&world).len(), 1);
    until("a window of the one", || !seen(&world).is_empty());
}

/// Keeps a process from doing anything, until this ends.
struct Frozen(Pid);

impl Frozen {
    fn new(process: Pid) -> Self {
        kill(process, Signal::SIGSTOP).unwrap();
        Self(process)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

#[test]
fn beside_an_app_that_is_frozen_a_later_launch_names_its_process_and_ends_soon() {
    let mut world = set_up("[spawn]\nbudget = 1500\n");
    let _desktop = open(&mut world);
    until("the app listens", || listening(&world));
    assert_eq!(seen(&world), "");
    // The bus knows it from when it was built.
    until("the tray", || tray::item(&world).is_some());
    let [app] = apps(&world).try_into().unwrap();
    let frozen = Frozen::new(app);
    let names_it = |second: &mut Command| {
        let began = Instant::now();
        let out = second.output().unwrap();
        let (took, said) = (began.elapsed(), String::from_utf8_lossy(&out.stderr));
        assert_eq!(out.status.code(), Some(4), "{said}");
        assert!(said.contains(&format!("process {app}, and does not answer")), "{said}");
        assert!(said.contains(&format!("`kill -9 {app}`")), "{said}");
        assert!(took < Duration::from_secs(10), "{took:?}");
    };
    names_it(&mut world.command(program()));
    // Where there is no socket of its, the bus knows it, too; and without that one is enough.
    names_it(world.command(program()).env("PAO_HOME", world.path("elsewhere")));
    names_it(world.command(program()).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus"));
    names_it(world.command(PAO).arg("app"));
    assert_eq!(apps(&world), [app]);
    assert!(!world.path("elsewhere").exists());
    drop(frozen);
    assert!(world.command(program()).status().unwrap().success());
    // Asked of the display: the driver may have given its session up meanwhile.
    until("the list", || !seen(&world).is_empty());
    assert_eq!(apps(&world), [app]);
}

#[test]
fn without_an_agent_program_that_is_said_and_a_spawn_ends_with_what_to_do() {
    // Under its own name this machine may have one.
    let mut world = set_up("[agent]\ncommand = \"no-claude-here\"\n");
    let folder = world.folder("code/api");
    let desktop = open(&mut world);
    let list = listed(&world, &desktop);
    list.says("no-claude-here");
    assert_eq!(desktop.gives("glance", &Value::Null)["tray"]["shape"], "error");
    let panel = desktop.panel();
    tray::open(&world, &panel, &["Spawn an Agent…"]);
    panel.types("look around in ~/code/api");
    panel.until("its project", || panel.has("button", "Project: api"));
    panel.press("Control+Enter");
    panel.says("did not start");
    panel.says("no-claude-here");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    are_not_blank(&desktop);
}

#[test]
fn a_configuration_that_does_not_read_gives_the_defaults_and_is_kept_aside() {
    let broken = "[spawn\nbudget = one thousand\n";
    let mut world = set_up(broken);
    let desktop = open(&mut world);
    listed(&world, &desktop).says("config.toml");
    let panel = desktop.panel();
    tray::open(&world, &panel, &["Settings…"]);
    panel.says("General");
    panel.says("config.toml");
    // The first change begins a new file; the broken one lies beside it, byte for byte.
    desktop.gives("set", &json!({ "key": "spawn.budget", "value": "1200" }));
    assert!(world.read(".pao/config.toml").contains("1200"));
    let beside = fs::read_dir(world.path(".pao")).unwrap().flatten().map(|entry| entry.path());
    let mut kept =
        beside.filter(|path| path.is_file() && fs::read(path).is_ok_and(|b| b == broken.as_bytes()));
    assert!(kept.next().is_some());
    desktop.popover().until("no trouble", || !desktop.popover().text().contains("does not read"));
    are_not_blank(&desktop);
}

#[test]
fn a_source_without_its_password_is_named_as_down_and_a_missing_keyring_says_what_else_there_is() {
    let port = refusing();
    let mut world = set_up(&format!(
        "[spawn]\nbudget = 1500\n[sources.facts]\nkind = \"postgres\"\nurl = \"postgres://me@127.0.0.1:1/memory\"\n\
         [sources.chats]\nkind = \"worker\"\nurl = \"http://127.0.0.1:{port}/rpc\"\nprotocol = \"json-rpc\"\n",
    ));
    world.folder("code/api");
    let desktop = open(&mut world);
    let panel = desktop.panel();
    tray::open(&world, &panel, &["Spawn an Agent…"]);
    panel.types("look around in ~/code/api");
    panel.says("facts");
    panel.says("unreachable: nobody listens at 127.0.0.1:1");
    panel.says("no token is stored for this source");
    desktop.gives("open", &json!({ "page": "settings", "pane": "sources" }));
    panel.click("button", "Set the secret of facts");
    panel.types("FAKE-password");
    panel.press("Control+Enter");
    panel.says("Secret Service");
    panel.until("what to do", || {
        panel.text().contains("secrets.store") || panel.text().contains("PAO_SECRET")
    });
    assert!(!panel.text().contains("FAKE-password"));
    are_not_blank(&desktop);
}

#[test]
fn a_full_disk_is_said_and_nothing_else_breaks() {
    let mut claude = Claude::new(Version::New);
    claude.repository("code/api");
    claude.world.write(".pao/config.toml", "[spawn]\nbudget = 1500\n");
    let fill = "mount -t tmpfs -o size=512k tmpfs \"$PAO_HOME\"\n\
                echo '[spawn]' > \"$PAO_HOME/config.toml\"\n\
                cat /dev/zero > \"$PAO_HOME/full\" 2> /dev/null || true";
    let app = claude.world.prepared(&program(), fill);
    let mut desktop = empty(&mut claude.world);
    desktop.launch_as(&claude.world, &app, &[]);
    says_on_disk(&claude.world, &desktop, &["full", "space"]);
}

#[test]
fn a_folder_of_ours_that_cannot_be_written_is_said_and_nothing_else_breaks() {
    let mut claude = Claude::new(Version::New);
    claude.repository("code/api");
    claude.world.write(".pao/config.toml", "[spawn]\nbudget = 1500\n");
    let folder = claude.world.folder("code/web");
    registry(&claude.world, &["sleeper"], &folder, "UPDATE agents SET state = 'paused'");
    let fix = "mount --bind \"$PAO_HOME\" \"$PAO_HOME\"\nmount -o remount,bind,ro \"$PAO_HOME\"";
    let app = claude.world.prepared(&program(), fix);
    let mut desktop = empty(&mut claude.world);
    desktop.launch_as(&claude.world, &app, &[]);
    says_on_disk(&claude.world, &desktop, &["read-only", "Read-only", "readonly", "cannot be written"]);
    desktop.popover().says("sleeper");
}

/// The list says one of these words, and a spawn ends with them, too.
fn says_on_disk(world: &World, desktop: &Desktop, words: &[&str]) {
    let said = |window: &Window<'_>| words.iter().any(|word| window.text().contains(word));
    let list = listed(world, desktop);
    list.until(format_args!("{words:?}"), || said(&list));
    let failure = desktop
        .door("spawn", &json!({ "text": "look", "folder": world.path("code/api"), "terminal": "tmux" }))
        .inspect(|job| {
            desktop.gives("open", &json!({ "page": "job", "id": job }));
        });
    let panel = desktop.panel();
    match failure {
        Ok(_) => {
            panel.is_shown(true);
            panel.until(format_args!("{words:?}"), || said(&panel));
            panel.says("api did not start");
        }
        Err(failure) => assert_ne!(failure["next"], Value::Null),
    }
    are_not_blank(desktop);
}

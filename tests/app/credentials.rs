//! The running app keeps secrets in a real Secret Service and gives them to `pao`, which then asks no store itself.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::desktop::{Desktop, PATIENCE, dbus, open, program};
use crate::harness::postgres::{PASSWORD, Postgres, SCHEMA};
use crate::harness::world::World;

/// A program of this test. Ends with it.
pub(super) struct Running(pub(super) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(i32::try_from(self.0.id()).unwrap());
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

/// A real keyring on the world's bus, opened with an empty password as a log-in would, or not.
fn keyring(world: &World, opened: bool) -> Running {
    let mut daemon = world.command("gnome-keyring-daemon");
    daemon.args(["--foreground", "--components=secrets"]).env("XDG_DATA_HOME", world.folder("data"));
    daemon.arg(if opened { "--unlock" } else { "--start" });
    daemon.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = daemon.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let running = Running(child);
    until("the keyring", || {
        let has = "org.freedesktop.DBus.NameHasOwner";
        dbus(world, "org.freedesktop.DBus", "/org/freedesktop/DBus", has, &["org.freedesktop.secrets"])
            .contains("true")
    });
    running
}

/// The process of this world's app.
fn app(world: &World) -> Option<nix::unistd::Pid> {
    apps(world).pop()
}

/// All processes of this world's app: there is to be one.
pub(super) fn apps(world: &World) -> Vec<nix::unistd::Pid> {
    let home = format!("PAO_HOME={}\0", world.path(".pao").display());
    let all = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let is_app = std::fs::read_link(entry.path().join("exe")).ok()? == program();
        let environ = std::fs::read(entry.path().join("environ")).ok()?;
        (is_app && String::from_utf8_lossy(&environ).contains(&home)).then(|| nix::unistd::Pid::from_raw(pid))
    });
    all.collect()
}

pub(super) fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "not seen: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A world whose secrets only the app may read, with a source that wants one.
fn world(url: &str) -> World {
    let mut world = World::new();
    world.real_clock();
    world.write(
        ".pao/config.toml",
        &format!("[secrets]\nstore = \"app\"\n[sources.facts]\nkind = \"postgres\"\nurl = \"{url}\"\n"),
    );
    std::fs::set_permissions(world.path(".pao"), std::fs::Permissions::from_mode(0o700)).unwrap();
    world
}

const NOWHERE: &str = "postgres://me@127.0.0.1:1/m";

pub(super) fn listening(world: &World) -> bool {
    world.path(".pao/run/app.sock").exists()
}

fn mode(world: &World, path: &str) -> u32 {
    world.path(path).metadata().unwrap().permissions().mode() & 0o777
}

/// Everything that is written down anywhere in this world, apart from the store itself.
fn written(world: &World, desktop: &Desktop) -> String {
    let mut all = desktop.gives("diagnostics", &Value::Null).to_string();
    for entry in std::fs::read_dir(world.path(".pao/logs")).unwrap() {
        all += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn the_app_keeps_a_secret_and_gives_it_to_pao_which_reads_no_store_itself() {
    let database = Postgres::shared().database().await;
    database.run(SCHEMA).await;
    database.observe("login", "The login token expires after 15 minutes", "2026-11-01T00:00:00Z").await;
    let mut world = world(&database.url());
    world.set("PAO_LOG", "debug");
    let desktop = open(&mut world);
    let _keyring = keyring(&world, true);
    until("the app listens", || listening(&world));
    assert_eq!((mode(&world, ".pao/run"), mode(&world, ".pao/run/app.sock")), (0o700, 0o600));
    // From here on `pao` has no way to a store of its own.
    let bus = world.env()[std::ffi::OsStr::new("DBUS_SESSION_BUS_ADDRESS")].clone();
    world.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");

    let missing = world.pao(["secret", "status"]).ok().stdout;
    assert_eq!(missing, "facts: not there\n");
    let kept = world.pao(["secret", "set", "facts"]).stdin(PASSWORD).ok().stdout;
    assert_eq!(kept, "facts: kept in Secret Service, through the app\n");
    assert_eq!(
        world.pao(["secret", "status"]).ok().stdout,
        "facts: kept in Secret Service, through the app\n"
    );
    let checked = world.pao(["sources", "check"]).run();
    assert_eq!(checked.code, Some(0), "{}", checked.screen);
    // What a spawn would gather with it.
    world.folder("code/api");
    let brief = world.pao(["brief", "login token", "-C", "code/api"]).run();
    assert!(brief.stdout.contains("expires after 15 minutes"), "{}", brief.screen);
    let doctor = world.pao(["doctor"]).run().stdout;
    assert!(doctor.contains("Secret Service, through the app keeps a value across processes"), "{doctor}");
    // The app's own spawns read it, too, and the settings know of it without asking.
    let tried = desktop.gives("check_source", &json!("facts"));
    assert_eq!(tried["reachable"], true, "{tried:#}");
    let settings = desktop.gives("settings", &Value::Null);
    let facts = settings["sources"].as_array().unwrap().iter().find(|s| s["name"] == "facts").unwrap();
    assert_eq!(facts["has_secret"], true, "{facts:#}");
    assert_eq!(settings["secret_note"], Value::Null);

    // Nobody asks for what no source takes.
    let other = world.pao(["probe", "secret", "app", "self-test-nobodys"]).run();
    assert_eq!(other.stdout, "absent", "{}", other.screen);
    assert!(!written(&world, &desktop).contains(PASSWORD));

    // Set by somebody else in the store itself, it is read anew.
    world.set("DBUS_SESSION_BUS_ADDRESS", bus);
    world.pao(["config", "set", "secrets.store", "keyring"]).ok();
    world.pao(["secret", "set", "facts"]).stdin("another").ok();
    world.pao(["config", "set", "secrets.store", "app"]).ok();
    let refused = world.pao(["sources", "check"]).run();
    assert_eq!(refused.code, Some(4), "the app remembers an old value\n{}", refused.screen);

    // Killed, it leaves a socket that nobody answers; that is said at once, and the next start takes it over.
    let app = app(&world).unwrap();
    nix::sys::signal::kill(app, nix::sys::signal::Signal::SIGKILL).unwrap();
    until("its end", || self::app(&world).is_none());
    assert!(listening(&world));
    until("it is said", || {
        let gone = world.pao(["secret", "status"]).run();
        gone.code == Some(4) && gone.stdout.contains("is not running; open it (`pao app`)")
    });
    let check = world.pao(["sources", "check"]).run();
    assert!(check.screen.contains("the app, which alone reads the credential store"), "{}", check.screen);
    let mut again = world.command(program());
    again.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let _again = Running(again.spawn().unwrap());
    until("the app answers", || world.pao(["secret", "status"]).run().code == Some(0));
    assert_eq!(
        world.pao(["secret", "delete", "facts"]).ok().stdout,
        "facts: deleted in Secret Service, through the app\n"
    );
}

#[test]
fn a_locked_store_and_none_at_all_are_said_in_the_settings_and_by_pao() {
    let mut world = world(NOWHERE);
    // The bus would start a keyring by itself.
    let runtime = world.folder("run");
    world.set("XDG_RUNTIME_DIR", runtime);
    let none = "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/false\n";
    world.write("run/dbus-1/services/org.freedesktop.secrets.service", none);
    let desktop = open(&mut world);
    until("the app listens", || listening(&world));
    // Neither the start nor the settings have asked for anything.
    assert_eq!(desktop.gives("settings", &Value::Null)["secret_note"], Value::Null);
    let said = world.pao(["secret", "status"]).run();
    assert!(said.stdout.contains("facts: there is no credential store"), "{}", said.screen);
    let none = desktop.gives("settings", &Value::Null)["secret_note"].clone();
    assert!(none.as_str().unwrap().contains("there is no credential store (Secret Service)"), "{none}");
    // It may come later than the app, and be locked.
    let _keyring = keyring(&world, false);
    let said = world.pao(["secret", "set", "facts"]).stdin(PASSWORD).run();
    assert_eq!(said.code, Some(4), "{}", said.screen);
    assert!(said.stderr.contains("is locked or refused access"), "{}", said.screen);
    let locked = desktop.gives("settings", &Value::Null)["secret_note"].clone();
    assert!(locked.as_str().unwrap().contains("is locked or refused access; unlock it"), "{locked}");
}

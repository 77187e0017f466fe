//! Secrets in a real Secret Service (gnome-keyring on a bus of its own), and what happens without one.

use std::process::Output;

use crate::harness::world::{PAO, World};

/// Runs a shell script as the only user of a fresh session bus; `$PAO` is our program.
fn on_a_bus(world: &mut World, script: &str) -> Output {
    let data = world.path("data");
    world.set("XDG_DATA_HOME", data).set("PAO", PAO).unset("DBUS_SESSION_BUS_ADDRESS");
    world.command("dbus-run-session").args(["--", "sh", "-c", script]).output().unwrap()
}

/// Opens the keyring with an empty password, as a log-in would.
const UNLOCK: &str = "printf '\\n' | gnome-keyring-daemon --unlock --components=secrets --daemonize > /dev/null 2>&1 || exit 90\n";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Sources that want a password: a secret nobody asks for is not kept.
const STORES: &str = "for name in postgres self-test-mine; do \"$PAO\" sources add postgres $name \
                      --url postgres://me@127.0.0.1:1/m > /dev/null || exit 96; done\n";

#[test]
fn a_value_is_kept_for_the_next_process_and_never_shown() {
    let mut world = World::new();
    let script = format!(
        "{UNLOCK}{STORES}printf 'FAKE-value' | \"$PAO\" secret set postgres || exit 91\n\
         printf 'FAKE-value' | \"$PAO\" secret set self-test-mine || exit 92\n\
         \"$PAO\" probe secret keyring self-test-mine || exit 93\necho\n\
         \"$PAO\" doctor --json > ~/doctor.json\n\
         \"$PAO\" secret delete postgres || exit 94\n\"$PAO\" secret delete postgres || exit 95"
    );
    let out = on_a_bus(&mut world, &script);
    let said = text(&out.stdout) + &text(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(!said.contains("FAKE-value"), "{said}");
    // SHA-256 of the value: what another process read is what this one had set.
    let fingerprint = "3be1e248a96f2827be0358ac0ab265469c8dd0db5d25e57bcdacc7cc544e0801";
    assert!(said.contains(fingerprint), "{said}");
    assert!(said.contains("postgres: deleted") && said.contains("postgres: not there"), "{said}");
    assert!(
        world.read("doctor.json").contains("keeps a value across processes"),
        "{}",
        world.read("doctor.json")
    );
}

#[test]
fn a_probe_answers_for_no_secret_of_the_users() {
    let world = World::new();
    let ran = world.pao(["probe", "secret", "file", "postgres"]).run();
    assert_eq!(ran.code, Some(2), "{}", ran.screen);
}

#[test]
fn a_locked_store_is_told_from_a_missing_one() {
    let mut world = World::new();
    // Without an unlocked collection nothing can be kept, and nobody is there to be asked.
    let out = on_a_bus(&mut world, &format!("{STORES}printf v | \"$PAO\" --json secret set postgres"));
    let said = text(&out.stdout) + &text(&out.stderr);
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.contains("is locked or refused access\""), "{said}");
    assert!(said.contains("or set the variable PAO_SECRET_POSTGRES, or"), "{said}");
}

#[test]
fn without_a_store_both_alternatives_are_named_and_work() {
    for address in ["unix:path=/nowhere/bus", "nonsense", ""] {
        let mut world = World::new();
        let runtime = world.path("run");
        world.set("DBUS_SESSION_BUS_ADDRESS", address).set("XDG_RUNTIME_DIR", runtime);
        world.pao(["sources", "add", "postgres", "postgres", "--url", "postgres://me@127.0.0.1:1/m"]).ok();
        let ran = world.pao(["secret", "set", "postgres"]).stdin("FAKE-value").run();
        assert_eq!(ran.code, Some(4), "{}", ran.screen);
        assert!(
            ran.stderr.contains("there is no credential store (Secret Service) on this machine\n"),
            "{}",
            ran.screen
        );
        assert!(
            ran.stderr.contains("PAO_SECRET_POSTGRES") && ran.stderr.contains("secrets.store file"),
            "{}",
            ran.screen
        );
        world.pao(["config", "set", "secrets.store", "file"]).ok();
        world.pao(["secret", "set", "postgres"]).stdin("FAKE-value").ok();
        assert_eq!(world.read(".pao/secrets/postgres"), "FAKE-value");
        assert!(world.pao(["doctor"]).run().stdout.contains("keeps a value across processes"));
    }
}

#[test]
fn a_store_that_does_not_answer_is_waited_for_aloud() {
    let mut world = World::new();
    let script = format!(
        "{UNLOCK}{STORES}pid=$(gdbus call --session --dest org.freedesktop.DBus --object-path / --method \
         org.freedesktop.DBus.GetConnectionUnixProcessID org.freedesktop.secrets | sed 's/.* //; s/,.*//')\n\
         kill -STOP \"$pid\" || exit 91\n\
         \"$PAO\" secret status 2> ~/said & asked=$!\n\
         while ! grep -q waiting ~/said && kill -0 $asked 2> /dev/null; do sleep 0.1; done\n\
         kill -TERM $asked; wait $asked; kill -KILL \"$pid\"; cat ~/said"
    );
    let out = on_a_bus(&mut world, &script);
    let said = text(&out.stdout) + &text(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert!(said.contains("waiting for Secret Service"), "{said}");
    assert!(said.contains("Ctrl-C ends that"), "{said}");
}

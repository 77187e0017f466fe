//! What comes to the app from outside: folders and links, by a first launch and by a second one; and the switches that
//! make those ways.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::desktop::{Desktop, PATIENCE, empty, open, program};
use super::shell::{bare, seen, until};
use crate::harness::world::{PAO, World};

const LINK: &str = "pao://spawn?text=fix%20the%20login&folder=~%2Fcode%2Fapi";

fn on_a_desktop() -> (World, Desktop) {
    let mut world = bare();
    world.write(".pao/config.toml", "[spawn]\nbudget = 1500\n");
    let desktop = open(&mut world);
    // A panel that is not there yet is not told of its page, it asks.
    desktop.gives("open", &json!({ "page": "cleanup" }));
    until("the panel", || !seen(&world).is_empty());
    desktop.gives("close", &json!("panel"));
    until("its end", || seen(&world).is_empty());
    desktop.listen("page");
    (world, desktop)
}

/// Runs it to its end, which comes at once, and gives the page that the running app then opens.
fn opens(desktop: &Desktop, command: &mut Command) -> Value {
    let before = desktop.script("return window.heard.page.length").as_u64().unwrap();
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{command:?}: {ended:?}");
    let mut page = Value::Null;
    let began = Instant::now();
    while page.is_null() {
        assert!(began.elapsed() < PATIENCE, "no page was opened by {command:?}");
        std::thread::sleep(Duration::from_millis(50));
        // The driver has no answer while a window comes up on a busy machine.
        let script = format!("return window.heard.page[{before}] ?? null");
        let asked = json!({ "script": script, "args": [] });
        page = desktop.drive("POST", "execute/sync", &asked).unwrap_or_default();
    }
    page
}

#[test]
fn a_second_launch_fills_the_panel_in_with_folders_and_links_and_spawns_nothing() {
    let (world, desktop) = on_a_desktop();
    let (api, odd) = (world.folder("code/api"), world.folder("code/it's \"100%\"\n-rf"));
    assert_eq!(seen(&world), "");
    let page = opens(&desktop, world.command(program()).arg("code/api"));
    assert_eq!(page, json!({ "page": "spawn", "text": "", "folder": api }));
    until("the panel", || !seen(&world).is_empty());
    let page = opens(&desktop, world.command(program()).args([&odd, &api]));
    assert_eq!(page, json!({ "page": "spawn", "text": "", "folder": odd, "others": [api] }));
    let page = opens(&desktop, world.command(program()).arg(LINK));
    assert_eq!((&page["text"], &page["folder"]), (&json!("fix the login"), &json!(api)));
    assert!(page["note"].as_str().unwrap().contains("Read it before you spawn"), "{page}");
    for (word, says) in [
        ("pao://spawn?text=x&permission=skip", "names \"permission\""),
        ("pao://run?text=x", "links cannot do"),
        ("nowhere", "There is no folder"),
    ] {
        let page = opens(&desktop, world.command(program()).arg(word));
        assert_eq!((&page["text"], &page["folder"]), (&json!(""), &Value::Null), "{word}");
        assert!(page["note"].as_str().unwrap().contains(says), "{page}");
    }
    let page = opens(&desktop, world.command(PAO).args(["app", "code/api"]));
    assert_eq!(page, json!({ "page": "spawn", "text": "", "folder": api }));
    assert_eq!(world.pao(["agents", "--all", "--json"]).ok().json(), json!([]));
}

#[test]
fn the_file_managers_entries_and_the_desktops_links_reach_the_running_app() {
    let (mut world, desktop) = on_a_desktop();
    for manager in ["nautilus", "dolphin"] {
        world.program(manager, "#!/bin/sh\n");
    }
    world.set("XDG_DATA_DIRS", world.path("none"));
    world.pao(["file-manager", "install"]).ok();
    let odd = world.folder("code/it's \"100%\"\n$HOME");
    let script = world.path(".local/share/nautilus/scripts/Spawn agent here");
    let page =
        opens(&desktop, world.command(script).arg(odd.file_name().unwrap()).current_dir(world.path("code")));
    assert_eq!(page, json!({ "page": "spawn", "text": "", "folder": odd }));
    world.folder("code/api");
    let page = opens(&desktop, world.command("gio").args(["open", LINK]));
    assert_eq!(page["text"], "fix the login");
}

#[test]
fn an_app_that_does_not_run_yet_starts_with_what_it_is_given() {
    for (words, text) in [(vec!["code/api"], ""), (vec![LINK], "fix the login")] {
        let mut world = bare();
        let api = world.folder("code/api");
        // Never set up: what it was given goes before the first run.
        let mut desktop = empty(&mut world);
        desktop.launch(&world, &words);
        until("the panel", || !seen(&world).is_empty());
        let panel = desktop.panel();
        panel.until("the text", || panel.typed() == text);
        panel.says(api.file_name().unwrap().to_str().unwrap());
    }
}

#[test]
fn the_switches_say_what_is_there_and_move_it() {
    let (world, desktop) = on_a_desktop();
    world.program("dolphin", "#!/bin/sh\n");
    let switch = |which: &str, on: bool| desktop.door("switch", &json!({ "which": which, "on": on }));
    let entry = world.path(".config/autostart/dev.prime-agent-orchestrator.app.desktop");
    for (which, key, made) in [
        ("login-item", "login_item", entry),
        ("command-line", "command_line", world.path(".local/bin/pao")),
        ("file-manager", "file_manager", world.path(".config/mimeapps.list")),
    ] {
        assert_eq!(desktop.gives("settings", &Value::Null)[key]["on"], false, "{which}");
        assert_eq!(switch(which, true).unwrap()["on"], true, "{which}");
        assert!(made.symlink_metadata().is_ok(), "{}", made.display());
        let settings = desktop.gives("settings", &Value::Null);
        assert_eq!(settings[key]["on"], true, "{which}");
        let written = settings["written"].to_string();
        assert!(written.contains(made.file_name().unwrap().to_str().unwrap()), "{written}");
        assert_eq!(switch(which, false).unwrap()["on"], false, "{which}");
        assert!(made.symlink_metadata().is_err(), "{}", made.display());
    }
    world.write(".local/bin/pao", "theirs");
    assert_eq!(switch("command-line", true).unwrap_err()["kind"], "user");
    assert_eq!(world.read(".local/bin/pao"), "theirs");
    // A file of ours is opened by the desktop's own program; a pane this system does not have is said.
    let opened = world.path("opened");
    world.program("xdg-open", &format!("#!/bin/sh\nprintf %s \"$1\" > '{}'\n", opened.display()));
    desktop.gives("reveal", &json!("config"));
    until("the file", || {
        std::fs::read_to_string(&opened).is_ok_and(|path| path.ends_with(".pao/config.toml"))
    });
    assert_eq!(desktop.door("reveal", &json!("login-items")).unwrap_err()["kind"], "user");
    assert!(desktop.door("reveal", &json!("/etc/passwd")).is_err());
}

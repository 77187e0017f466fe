//! The hotkey by a real press, and what a press does then.

use std::process::Stdio;

use serde_json::json;

use super::desktop::{Desktop, empty, open};
use super::tray;
use crate::harness::world::World;

fn with_hotkey(keys: &str) -> World {
    let mut world = World::new();
    world.real_clock();
    world.write(".pao/config.toml", &format!("[app]\nhotkey = \"{keys}\"\n"));
    world
}

/// What a keyboard does.
fn keyboard(world: &World, arguments: &[&str]) {
    assert!(world.command("xdotool").args(arguments).status().unwrap().success());
}

fn in_front(world: &World) -> String {
    let found = world.command("xdotool").args(["getactivewindow", "getwindowname"]).output().unwrap();
    String::from_utf8_lossy(&found.stdout).trim().to_owned()
}

fn press_until_shown(world: &World, desktop: &Desktop, keys: &str) {
    // Registered a moment after the start; what comes before goes nowhere.
    desktop.panel().until("the panel, by its key", || {
        keyboard(world, &["key", keys]);
        desktop.panel().visible()
    });
}

#[test]
fn the_hotkey_shows_the_panel_typing_works_at_once_and_escape_gives_the_focus_back() {
    let mut world = with_hotkey("Ctrl+Alt+P");
    let mut desktop = empty(&mut world);
    // What the user was at.
    desktop.run(world.command("xterm").args(["-T", "somewhere else", "-e", "cat"]).stdin(Stdio::null()));
    desktop.launch(&world, &[]);
    let panel = desktop.panel();
    panel.until("the other program in front", || in_front(&world) == "somewhere else");
    press_until_shown(&world, &desktop, "ctrl+alt+p");
    panel.until("it in front", || in_front(&world).contains("Prime Agent"));
    panel.until("the field with the focus", || {
        panel.run("return document.activeElement?.tagName", &json!([])) == "TEXTAREA"
    });
    keyboard(&world, &["type", "--delay", "30", "fix the login"]);
    panel.until("what was typed", || panel.typed() == "fix the login");
    keyboard(&world, &["key", "Escape"]);
    panel.is_shown(false);
    panel.until("the other program in front again", || in_front(&world) == "somewhere else");
    // What was typed is not lost by closing.
    press_until_shown(&world, &desktop, "ctrl+alt+p");
    panel.until("what was typed", || panel.typed() == "fix the login");
}

#[test]
fn the_list_goes_when_the_user_turns_to_something_else() {
    let mut world = with_hotkey("off");
    let mut desktop = empty(&mut world);
    desktop.run(world.command("xterm").args(["-T", "somewhere else", "-e", "cat"]).stdin(Stdio::null()));
    desktop.launch(&world, &[]);
    let list = desktop.popover();
    tray::open(&world, &list, &["Open Prime Agent Orchestrator"]);
    list.until("it in front", || in_front(&world).contains("Prime Agent"));
    list.until("its field with the focus", || {
        list.run("return document.activeElement?.tagName", &json!([])) == "INPUT"
    });
    keyboard(&world, &["type", "--delay", "30", "nobody"]);
    list.until("what was typed", || list.typed() == "nobody");
    keyboard(&world, &["search", "--name", "somewhere else", "windowactivate"]);
    list.is_shown(false);
    // Escape backs out of what was typed first, then closes.
    tray::open(&world, &list, &["Open Prime Agent Orchestrator"]);
    list.until("it in front", || in_front(&world).contains("Prime Agent"));
    keyboard(&world, &["key", "Escape"]);
    list.until("an empty field", || list.typed().is_empty());
    assert!(list.visible());
    keyboard(&world, &["key", "Escape"]);
    list.is_shown(false);
    list.until("the other program in front again", || in_front(&world) == "somewhere else");
}

#[test]
fn a_hotkey_that_another_program_has_is_reported() {
    let mut world = with_hotkey("Ctrl+Alt+P");
    world.write(
        ".config/openbox/rc.xml",
        "<openbox_config xmlns=\"http://openbox.org/3.4/rc\"><keyboard><keybind key=\"C-A-p\">\
         <action name=\"Execute\"><command>touch taken</command></action></keybind></keyboard></openbox_config>",
    );
    let desktop = open(&mut world);
    desktop.gives("open", &json!({ "page": "settings", "pane": "hotkey" }));
    desktop.panel().is_shown(true);
    desktop.panel().says("Ctrl+Alt+P could not be had; another program may use it already");
    // It stays the other program's.
    desktop.panel().until("the other program's own", || {
        keyboard(&world, &["key", "ctrl+alt+p"]);
        world.path("taken").exists()
    });
}

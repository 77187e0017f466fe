//! Every entry of the tray's menu does its thing; the app ends, its agents live, and it comes back as it was.

use super::desktop::{dbus, open};
use super::tray;
use crate::harness::claude::{Claude, Version, runs};

#[test]
fn every_entry_of_the_menu_does_its_thing_and_the_app_comes_back_to_what_it_left() {
    let mut claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    claude.world.write(".pao/config.toml", "[spawn]\nbudget = 1500\n");
    // A terminal that only tells what it was opened with.
    claude.world.program("x-terminal-emulator", "#!/bin/sh\necho \"$@\" >> \"$HOME/opened\"\n");
    let spawned = claude.spawn(&folder, &["look", "around"]);
    claude.comes_to(&spawned, "idle");
    let mut desktop = open(&mut claude.world);
    let (panel, list) = (desktop.panel(), desktop.popover());
    let choose = |labels: &[&str], effect: &dyn Fn() -> bool| {
        tray::choose_until(&claude.world, labels, effect);
    };

    choose(&["Open Prime Agent Orchestrator"], &|| list.visible());
    list.until("the agent", || list.rows("Agents").iter().any(|row| row.starts_with("api, Idle")));
    choose(&["Spawn in a Recent Project", "~/code/api"], &|| panel.visible());
    panel.until("its project", || panel.has("button", "Project: api"));
    panel.says("api works in this folder, too.");
    panel.press("Escape");
    panel.is_shown(false);
    choose(&["Clean Up…"], &|| panel.text().contains("Nothing to clean up"));
    choose(&["Settings…"], &|| panel.text().contains("Notifications"));
    choose(&["api — idle", "Details…"], &|| panel.text().contains("look around"));
    choose(&["Spawn an Agent…"], &|| panel.has("field", "What should the agent do?"));
    assert_eq!(panel.typed(), "");

    choose(&["api — idle", "Show Its Terminal"], &|| claude.world.path("opened").exists());
    let kept = || claude.world.pao(["checkpoint", "list", "--json"]).ok().json().as_array().unwrap().len();
    choose(&["api — idle", "Make a Checkpoint"], &|| kept() > 0);
    let pid = claude.row(&spawned)["pid"].as_u64().unwrap();
    choose(&["api — idle", "Pause"], &|| claude.row(&spawned)["state"] == "paused");
    claude.until("the end of its process", || !runs(pid));
    choose(&["api — paused", "Resume"], &|| claude.row(&spawned)["state"] == "idle");

    // The app ends, its agent does not.
    let app = app_pid(&claude);
    choose(&["Quit (Agents Go On)"], &|| !runs(app));
    let pid = claude.row(&spawned)["pid"].as_u64().unwrap();
    assert!(runs(pid));
    assert_eq!(claude.row(&spawned)["state"], "idle");

    desktop.launch(&claude.world, &[]);
    let list = desktop.popover();
    list.until("the agent again", || list.rows("Agents").iter().any(|row| row.starts_with("api, Idle")));
    claude.until("its menu again", || tray::menu(&claude.world).contains("api — idle"));
}

/// The process whose icon stands in the tray.
fn app_pid(claude: &Claude) -> u64 {
    let (name, _) = tray::item(&claude.world).unwrap();
    let call = "org.freedesktop.DBus.GetConnectionUnixProcessID";
    let said = dbus(&claude.world, "org.freedesktop.DBus", "/org/freedesktop/DBus", call, &[&name]);
    let digits = said.trim_start_matches(|c: char| !c.is_whitespace()).trim();
    digits.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

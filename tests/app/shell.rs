//! The shell over the real core: it starts, shows itself in the tray, spawns a real agent and tells of it, opens by a
//! second launch and by a key.

use std::time::{Duration, Instant};

use messages_api::{Reply, Script};
use serde_json::{Value, json};

use super::desktop::{PATIENCE, open, program};
use super::tray::{self, menu};
use crate::harness::claude::{Claude, Version};
use crate::harness::world::World;

pub fn bare() -> World {
    let mut world = World::new();
    world.real_clock();
    world
}

pub fn until(what: &str, holds: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "not seen: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
    began.elapsed()
}

/// Names of the windows that can be seen.
pub fn seen(world: &World) -> String {
    let found =
        world.command("xdotool").args(["search", "--onlyvisible", "--name", "Prime Agent"]).output().unwrap();
    String::from_utf8_lossy(&found.stdout).into_owned()
}

#[test]
fn the_app_starts_with_its_first_run_and_a_tray_icon_whose_menu_has_every_entry() {
    let mut world = bare();
    let desktop = open(&mut world);
    assert_eq!(desktop.gives("glance", &Value::Null)["first_run"], true);
    until("the tray icon", || tray::item(&world).is_some());
    for entry in
        ["Open Prime Agent Orchestrator", "Spawn an Agent…", "Clean Up…", "Settings…", "Quit (Agents Go On)"]
    {
        until(entry, || menu(&world).contains(entry));
    }
    // A change by the command line arrives by itself.
    desktop.listen("glance");
    world.pao(["config", "set", "agent.command", "/bin/true"]).ok();
    desktop.hears("glance", "the first run is over", |glance| glance["first_run"] == false);
    let settings = desktop.gives("settings", &Value::Null);
    let command =
        settings["values"].as_array().unwrap().iter().find(|v| v["key"] == "agent.command").unwrap();
    assert_eq!(command["value"], "\"/bin/true\"");
    let text = desktop.gives("diagnostics", &Value::Null);
    assert!(text.as_str().unwrap().contains("tauri: 2."), "{text}");
}

fn agent_of(glance: &Value, state: &str) -> bool {
    glance["agents"].as_array().is_some_and(|rows| rows.iter().any(|row| row["state"] == state))
}

#[test]
fn a_spawn_through_the_door_is_followed_from_its_question_to_the_agents_own() {
    let bash = json!({ "command": "touch made.txt && sleep 1", "description": "makes a file" });
    let script = Script::saying("done").when("make it", Reply::tool("Bash", bash).after_ms(1500)).unwrap();
    let mut claude = Claude::with_script(Version::New, script);
    let folder = claude.repository("code/api");
    let desktop = open(&mut claude.world);
    desktop.listen("glance");
    desktop.listen("job");
    let wish = |text: &str| {
        json!({ "text": text, "folder": null, "name": null, "permission": null, "delivery": null,
                "terminal": "tmux", "agent": null, "budget": null, "without_sources": [], "worktree": false,
                "markdown": null })
    };
    let preview = desktop.gives("preview", &wish("make it in ~/code/api"));
    assert_eq!(preview["folder"], folder.to_str().unwrap());
    assert_eq!(preview["found"], json!([11, 21]));
    assert_eq!(preview["name"], "api");
    assert!(preview["trust"].is_array(), "{preview:#}");
    assert!(preview["html"].as_str().unwrap().contains("<h1>Context briefing</h1>"));
    assert!(!folder.join("CONTEXT_BRIEFING.md").exists());

    let job = desktop.gives("spawn", &wish("make it in ~/code/api"));
    let asked = desktop.hears("job", "the question", |job| job["question"]["kind"] == "trust");
    assert_eq!(asked["question"]["shown"], "~/code/api");
    desktop.gives("answer", &json!({ "job": job, "yes": true }));
    let done = desktop.hears("job", "the end", |job| !job["end"].is_null());
    assert_eq!(done["end"]["how"], "done", "{done:#}\n{}", claude.screens());
    assert!(done["steps"].as_array().unwrap().iter().all(|step| step["state"] != "pending"), "{done:#}");
    desktop.hears("glance", "working", |glance| agent_of(glance, "working"));
    let asks = desktop.hears("glance", "needs you", |glance| agent_of(glance, "needs-you"));
    assert_eq!(asks["tray"]["shape"], "needs-you");
    assert_eq!(asks["tray"]["label"], "Prime Agent Orchestrator — 1 needs you");
    assert_eq!(asks["agents"][0]["needs"], "permission for Bash", "{asks:#}");
    until("the menu", || menu(&claude.world).contains("api — needs you: permission for Bash"));

    let id = asks["agents"][0]["id"].clone();
    let page = desktop.gives("agent", &id);
    assert_eq!(page["prompt"], "make it in ~/code/api");
    let told = desktop.gives("tell", &json!({ "agent": id, "text": "and then this" }));
    assert_eq!(told["fate"], "queued");
    desktop.hears("glance", "a text waits", |glance| glance["agents"][0]["queued"] == 1);
    let made = desktop.gives("checkpoint", &json!({ "agent": id, "message": "here" }));
    assert_eq!(made["well"], true);
    let paused = desktop.gives("pause", &json!({ "agent": id, "now": true }));
    assert_eq!(paused[0]["well"], true, "{paused:#}");
    desktop.hears("glance", "paused", |glance| agent_of(glance, "paused"));
    let forgotten = desktop.gives("forget", &id);
    desktop.hears("glance", "put aside", |glance| glance["agents"] == json!([]));
    let back = desktop.gives("clean_undo", &forgotten["id"]);
    assert!(back["items"].as_array().unwrap().iter().all(|item| item["well"] == true), "{back:#}");
}

#[test]
fn a_spawn_whose_question_is_answered_no_is_cancelled_and_leaves_nothing() {
    let mut claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    let desktop = open(&mut claude.world);
    desktop.listen("job");
    let job = desktop.gives("spawn", &json!({ "text": "look", "folder": folder, "terminal": "tmux" }));
    desktop.hears("job", "the question", |job| job["question"]["kind"] == "trust");
    desktop.gives("answer", &json!({ "job": job, "yes": false }));
    let ended = desktop.hears("job", "the end", |job| !job["end"].is_null());
    assert_eq!(ended["end"]["how"], "cancelled", "{ended:#}");
    assert_eq!(claude.agents(), Vec::<Value>::new());
}

#[test]
fn a_second_launch_ends_at_once_and_opens_the_first_ones_window() {
    let mut world = bare();
    world.write(".pao/config.toml", "[spawn]\nbudget = 1500\n");
    let desktop = open(&mut world);
    until("the app", || desktop.gives("glance", &Value::Null)["first_run"] == false);
    assert_eq!(seen(&world), "");
    let second = world.command(program()).status().unwrap();
    assert!(second.success());
    until("a window", || !seen(&world).is_empty());
}

#[test]
fn the_hotkey_opens_the_panel() {
    let mut world = bare();
    world.write(".pao/config.toml", "[app]\nhotkey = \"Ctrl+Alt+P\"\n");
    let desktop = open(&mut world);
    until("the hotkey", || desktop.gives("settings", &Value::Null)["hotkey"]["active"] == true);
    assert_eq!(seen(&world), "");
    assert!(world.command("xdotool").args(["key", "ctrl+alt+p"]).status().unwrap().success());
    until("the panel", || !seen(&world).is_empty());
    // A combination that is none is not kept, and said.
    let refused = desktop.gives("set_hotkey", &json!("P"));
    assert_eq!((&refused["keys"], &refused["active"]), (&json!("Ctrl+Alt+P"), &json!(true)));
    assert!(refused["note"].as_str().unwrap().contains("no modifier"), "{refused}");
    let off = desktop.gives("set_hotkey", &Value::Null);
    assert_eq!((&off["keys"], &off["active"], &off["note"]), (&Value::Null, &json!(false), &Value::Null));
}

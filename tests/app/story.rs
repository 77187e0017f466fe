//! The whole job by clicks and keys in the real windows, each step told by its effect: in the registry, in the agent's
//! pane, in the log of what the agent was told.

use std::path::Path;

use messages_api::{Reply, Script};
use serde_json::{Value, json};

use super::desktop::open;
use super::notices;
use super::tray;
use super::window::Window;
use crate::harness::claude::{Claude, Version, runs};

/// Known only from the past session.
const FACT: &str = "The login bug comes from the session cookie, which expires after one hour.";

/// Something said in an earlier session of that folder.
pub fn said(claude: &Claude, folder: &Path, number: u32, text: &str) {
    let session = format!("0b5e7f0e-58b4-4c57-9a44-0d4cf1a7{number:04x}");
    let record = json!({
        "parentUuid": null, "isSidechain": false, "type": "user", "userType": "external",
        "message": { "role": "user", "content": text },
        "uuid": format!("77bda9c0-47c6-4028-be18-cc4b07d2{number:04x}"), "timestamp": "2026-11-20T09:00:00.000Z",
        "cwd": folder, "sessionId": session, "version": "2.1.332", "gitBranch": "main",
    });
    claude.world.write(&format!(".claude/projects/-sample/{session}.jsonl"), &format!("{record}\n"));
}

/// Moves with the arrow keys until the row of that agent has the keyboard.
pub(super) fn move_to(list: &Window<'_>, agent: &str) {
    let at = "return document.activeElement.getAttribute('aria-label') ?? ''";
    list.until(format_args!("the row of {agent} with the keyboard"), || {
        if list.run(at, &json!([])).as_str().unwrap().starts_with(&format!("{agent}, ")) {
            return true;
        }
        list.press("Down");
        false
    });
}

/// Waits until the list begins so.
pub(super) fn begins(list: &Window<'_>, rows: &[&str]) {
    list.until(format_args!("{rows:?}"), || {
        let found = list.rows("Agents");
        found.len() >= rows.len() && found.iter().zip(rows).all(|(row, wanted)| row.starts_with(wanted))
    });
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in its order")]
fn from_the_first_run_to_a_cleanup_taken_back_by_clicks_and_keys() {
    let bash = json!({ "command": "touch made.txt", "description": "makes a file" });
    let script = Script::saying("done")
        .when("make it", Reply::tool("Bash", bash).after_ms(5000))
        .and_then(|script| script.when("go slow", Reply::text("slow").after_ms(600_000)))
        .unwrap();
    let mut claude = Claude::with_script(Version::New, script);
    let (api, web) = (claude.repository("code/api"), claude.repository("code/web"));
    said(&claude, &api, 1, FACT);
    notices::no_server_by_itself(&mut claude.world);
    // A terminal that only tells that it was opened.
    claude.world.program("x-terminal-emulator", "#!/bin/sh\necho \"$@\" >> \"$HOME/opened\"\n");
    let desktop = open(&mut claude.world);
    let server = notices::server(&claude.world);
    let (panel, list) = (desktop.panel(), desktop.popover());
    let world = &claude.world;

    // The first run says what it found, and asks for nothing but a click.
    panel.is_shown(true);
    panel.says("Your next agent starts with what the last ones learned");
    for found in ["Claude Code 2.", "tmux", "history"] {
        panel.says(found);
    }
    panel.until("the folder of both projects", || panel.has("checkbox", "~/code"));
    panel.says("An agent in api would know");
    panel.says("session cookie");
    assert!(!world.path(".pao/config.toml").exists());
    // What was worked in lately is ticked already.
    panel.click("button", "Watch 1 folder");
    // It goes on with what all this was for.
    panel.until("the spawn panel", || panel.has("field", "What should the agent do?"));
    panel.press("Escape");
    panel.is_shown(false);
    let config = world.read(".pao/config.toml");
    assert!(config.contains("hotkey") && config.contains("~/code"), "{config}");
    list.until("both projects", || list.rows("Projects").len() == 2);

    // Notices are off until they are switched on.
    tray::open(world, &panel, &["Settings…"]);
    panel.click("button", "Notifications");
    panel.click("checkbox", "Tell me when an agent needs me");
    panel.until("the switch", || world.read(".pao/config.toml").contains("notifications = true"));
    panel.press("Escape");
    panel.is_shown(false);

    // Typing works at once; what is known appears as the typing pauses, and nothing is written for it.
    panel.until("the tray's icon", || tray::item(world).is_some());
    let resting = tray::picture(world);
    tray::open(world, &panel, &["Spawn an Agent…"]);
    panel.types("make it: fix the login bug in ~/code/api");
    panel.says("session cookie");
    assert_eq!(claude.agents(), Vec::<Value>::new());
    assert_eq!(claude.panes(), Vec::<String>::new());

    // One question before anything is written, then seven steps.
    let trusted = || {
        let settings: Value = serde_json::from_str(&world.read(".claude.json")).unwrap();
        settings["projects"][api.to_str().unwrap()]["hasTrustDialogAccepted"] == true
    };
    panel.press("Control+Enter");
    panel.says("Trust ~/code/api?");
    assert!(!trusted());
    panel.press("Control+Enter");
    panel.says("api is ready");
    assert!(trusted());
    let steps =
        "return [...document.querySelectorAll('[aria-label=Steps] .name')].map((step) => step.textContent)";
    let steps: Vec<String> = serde_json::from_value(panel.run(steps, &json!([]))).unwrap();
    assert_eq!(steps.len(), 7, "{steps:?}");
    assert!(steps.iter().all(|step| step.ends_with(", done")), "{steps:?}");
    panel.press("Escape");
    panel.is_shown(false);
    let heard = claude.first_request("make it");
    assert!(heard.text().contains("which expires after one hour"), "{}", heard.text());
    let [pane] = claude.panes().try_into().unwrap();

    // It works; icon, menu and list say so. Nothing of ours is in front any more.
    panel.until("1 working, in the tray", || tray::property(world, "XAyatanaLabel").ends_with("1 working"));
    let working = tray::picture(world);
    assert!(!working.is_empty() && working != resting);
    begins(&list, &["api, Working"]);
    let spawned = claude.agents().remove(0);

    // Another one works, too, and was seen more recently; who needs the user still stands first.
    let other = claude.spawn(&web, &["go", "slow"]);
    begins(&list, &["api, Needs you, permission for Bash", "web, Working"]);
    assert_eq!(claude.row(&spawned)["state"], "needs-you");
    panel.until("who needs the user, in the tray", || {
        tray::property(world, "XAyatanaLabel").ends_with("1 working, 1 needs you")
    });
    assert_ne!(tray::picture(world), working);
    panel.until("it, in the menu", || tray::menu(world).contains("api — needs you: permission for Bash"));

    // It is told on the screen, once, and a click leads to its terminal.
    panel.until("the notice", || !server.asked("Notify").is_empty());
    assert!(server.asked("Notify")[0].contains("api needs you"), "{:?}", server.asked("Notify"));
    let opened = || std::fs::read_to_string(world.path("opened")).unwrap_or_default().lines().count();
    let windows = opened();
    notices::click(world, 1);
    panel.until("its terminal", || opened() > windows);

    // The answer belongs into the terminal. Then it can be told something.
    assert!(!api.join("made.txt").exists());
    claude.press(&pane, "Enter", || api.join("made.txt").exists());
    begins(&list, &["web, Working", "api, Idle"]);
    tray::open(world, &list, &["Open Prime Agent Orchestrator"]);
    move_to(&list, "api");
    list.press("t");
    list.says("Tell api");
    list.types("and mind the gap");
    list.press("Control+Enter");
    claude.first_request("and mind the gap");
    claude.comes_to(&spawned, "idle");
    begins(&list, &["web, Working", "api, Idle"]);

    // Its memory is freed, and it comes back to its conversation.
    let pid = claude.row(&spawned)["pid"].as_u64().unwrap();
    move_to(&list, "api");
    list.press("p");
    list.says(" MB freed");
    begins(&list, &["web, Working", "api, Paused"]);
    assert!(!runs(pid));
    assert_eq!(claude.row(&spawned)["state"], "paused");
    let left = claude.panes();
    assert_eq!(left.len(), 1);
    move_to(&list, "api");
    list.press("p");
    list.says("resumed");
    begins(&list, &["web, Working", "api, Idle"]);
    assert_eq!(claude.began(&spawned), ["startup", "resume"]);
    let again = claude.panes().into_iter().find(|pane| !left.contains(pane)).unwrap();
    assert!(claude.ask(&again, "and now?").text().contains("and mind the gap"));

    // It ends. What was written for it is shown, put aside, and brought back.
    claude.exit(&again, &spawned);
    begins(&list, &["web, Working", "api, Ended"]);
    let folder = world.path(".pao/agents").join(spawned["id"].as_str().unwrap());
    assert!(folder.exists());
    list.click("button", "Clean up…");
    panel.says("Only what PAO wrote itself is removed.");
    panel.until("api in the plan", || panel.has("row", "api"));
    assert!(!panel.has("row", "web"));
    assert!(folder.exists());
    panel.press("Control+Enter");
    panel.says("1 agent cleaned up.");
    assert!(!folder.exists());
    list.until("api gone from the list", || list.rows("Agents").len() == 1);
    panel.press("Control+z");
    panel.says("Everything is back");
    assert!(folder.exists());
    begins(&list, &["web, Working", "api, Ended"]);
    assert_eq!(claude.row(&other)["state"], "working");
}

//! An agent that comes back where something has to be agreed to once more: it is asked in the panel, by clicks.

use std::path::Path;

use serde_json::{Value, json};

use super::desktop::open;
use super::story::{begins, move_to};
use super::tray;
use crate::harness::claude::{Claude, Version, runs};

/// Whether Claude Code's own record says that the folder is trusted.
fn trusted(claude: &Claude, folder: &Path) -> bool {
    let settings: Value = serde_json::from_str(&claude.world.read(".claude.json")).unwrap();
    settings["projects"][folder.to_str().unwrap()]["hasTrustDialogAccepted"] == true
}

/// Takes back the trust in a folder: that PAO was agreed to, and what Claude Code has written down.
fn distrust(claude: &Claude, folder: &Path) {
    claude.world.pao(["consents", "-C", folder.to_str().unwrap(), "--take-back", "all"]).ok();
    let mut settings: Value = serde_json::from_str(&claude.world.read(".claude.json")).unwrap();
    settings["projects"][folder.to_str().unwrap()]["hasTrustDialogAccepted"] = json!(false);
    claude.world.write(".claude.json", &serde_json::to_string_pretty(&settings).unwrap());
    assert!(!trusted(claude, folder));
}

#[test]
fn an_agent_whose_folder_is_not_trusted_any_more_is_asked_about_in_the_panel_before_it_comes_back() {
    let mut claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    let hooks = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }] } });
    claude.world.write("code/api/.claude/settings.json", &hooks.to_string());
    let spawned = claude.spawn(&folder, &["look", "around"]);
    claude.comes_to(&spawned, "idle");
    let desktop = open(&mut claude.world);
    let (panel, list) = (desktop.panel(), desktop.popover());
    let world = &claude.world;
    tray::open(world, &panel, &["api — idle", "Details…"]);
    panel.says("look around");
    let pid = claude.row(&spawned)["pid"].as_u64().unwrap();
    panel.click("button", "Pause");
    panel.says(" MB freed");
    assert!(!runs(pid));
    distrust(&claude, &folder);

    // Of all at once nobody is asked, and each is offered alone.
    let all = desktop.gives("resume", &json!({ "agent": null, "now": false }));
    assert_eq!(all[0]["well"], false, "{all:#}");
    assert!(all[0]["outcome"].as_str().unwrap().contains("resume it alone, which asks"), "{all:#}");
    assert_eq!(all[0]["action"]["label"], "Resume api…");
    assert_eq!(all[0]["action"]["with"]["agent"], spawned["id"]);

    // A no: it rests as before, and nothing was written.
    panel.click("button", "Resume");
    panel.says("Before api comes back");
    panel.says("Trust ~/code/api?");
    panel.says("hook: Stop: true");
    assert_eq!(claude.row(&spawned)["state"], "paused");
    panel.press("Escape");
    panel.says("api was not resumed");
    panel.says("It rests as before");
    assert_eq!(claude.row(&spawned)["state"], "paused");
    assert!(!trusted(&claude, &folder));
    assert_eq!(claude.panes(), Vec::<String>::new());
    // Back at the agent it was asked from.
    panel.press("Escape");
    panel.says("Checkpoints");
    assert!(panel.visible());
    panel.press("Escape");
    panel.is_shown(false);

    // A yes, from the list: the panel opens by itself.
    tray::open(world, &list, &["Open Prime Agent Orchestrator"]);
    begins(&list, &["api, Paused"]);
    move_to(&list, "api");
    list.press("p");
    panel.is_shown(true);
    panel.says("Trust ~/code/api?");
    assert!(!trusted(&claude, &folder));
    // Asked for once more while it asks, it is the same question.
    let again = desktop.gives("resume", &json!({ "agent": spawned["id"], "now": false }));
    assert_eq!(again[0]["action"]["verb"], "open", "{again:#}");
    assert_eq!(desktop.gives("jobs", &Value::Null).as_array().unwrap().len(), 2);
    panel.says("Trust ~/code/api?");
    panel.press("Control+Enter");
    panel.says("api is back");
    assert!(trusted(&claude, &folder));
    let steps =
        "return [...document.querySelectorAll('[aria-label=Steps] .name')].map((step) => step.textContent)";
    let steps: Vec<String> = serde_json::from_value(panel.run(steps, &json!([]))).unwrap();
    assert_eq!(steps.len(), 4, "{steps:?}");
    assert!(steps.iter().all(|step| step.ends_with(", done")), "{steps:?}");
    begins(&list, &["api, Idle"]);
    assert_eq!(claude.began(&spawned), ["startup", "resume"]);
    let [pane] = claude.panes().try_into().unwrap();
    assert!(claude.ask(&pane, "and now?").text().contains("look around"));
    claude.end(&spawned);
}

#[test]
fn an_agent_that_asks_for_nothing_comes_back_only_by_a_new_yes_to_that() {
    let mut claude = Claude::new(Version::New);
    // Its own guard against running as root.
    claude.world.set("IS_SANDBOX", "1");
    let folder = claude.repository("code/api");
    let spawned =
        claude.spawn(&folder, &["--permission", "skip", "--yes-skip-permissions", "look", "around"]);
    claude.comes_to(&spawned, "idle");
    claude.world.pao(["pause", "api"]).ok();
    claude.comes_to(&spawned, "paused");
    let at = folder.to_str().unwrap();
    claude.world.pao(["consents", "-C", at, "--take-back", "skip-permissions"]).ok();

    let desktop = open(&mut claude.world);
    let panel = desktop.panel();
    tray::open(&claude.world, &panel, &["api — paused", "Resume"]);
    panel.says("Let agents in ~/code/api do everything without asking?");
    assert_eq!(claude.row(&spawned)["state"], "paused");
    panel.press("Control+Enter");
    panel.says("api is back");
    claude.comes_to(&spawned, "idle");
    assert_eq!(claude.began(&spawned), ["startup", "resume"]);
    claude.end(&spawned);
}

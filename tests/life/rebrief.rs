//! What is new in the stores reaches a running agent once.

use serde_json::{Value, json};

use super::{idle, tell, turns};
use crate::harness::claude::{Claude, Version};

/// Puts down what another session of that folder said, and has it indexed.
fn learn(claude: &Claude, folder: &std::path::Path, n: u32, text: &str) {
    let session = format!("0b5e7f0e-58b4-4c57-9a44-0d4cf1a7a{n:03}");
    let record = json!({
        "parentUuid": null, "isSidechain": false, "type": "user", "userType": "external",
        "message": { "role": "user", "content": text },
        "uuid": format!("77bda9c0-47c6-4028-be18-cc4b07d22{n:03}"), "timestamp": "2026-11-20T09:00:00.000Z",
        "cwd": folder, "sessionId": session, "version": "2.1.332", "gitBranch": "main",
    });
    claude.world.write(&format!(".claude/projects/-sample/{session}.jsonl"), &format!("{record}\n"));
    claude.world.pao(["index", "--quiet"]).ok();
}

fn rebrief(claude: &Claude) -> Value {
    claude.world.pao(["rebrief", "--json", "api"]).ok().json()[0].clone()
}

#[test]
fn what_was_learnt_since_the_briefing_stands_in_the_next_prompts_request_once() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    learn(&claude, &folder, 1, "The login bug comes from the session cookie: it expires at midnight UTC.");
    let spawned = claude.spawn(&folder, &["fix", "the", "login", "bug"]);
    claude.comes_to(&spawned, "idle");
    let nothing = rebrief(&claude);
    assert_eq!((&nothing["delivery"], &nothing["lines"]), (&json!("nothing-new"), &json!([])), "{nothing:#}");
    learn(
        &claude,
        &folder,
        2,
        "The login bug also strikes when the session cookie is set by the staging proxy.",
    );
    let news = rebrief(&claude);
    assert_eq!(news["delivery"], "next-prompt", "{news:#}");
    assert_eq!(news["lines"].as_array().unwrap().len(), 1, "{news:#}");
    assert_eq!(rebrief(&claude)["delivery"], "nothing-new", "what waits is not told twice");
    claude.api.forget();
    assert_eq!(tell(&claude, "api", "go on please", "60")["state"], "confirmed");
    claude.comes_to(&spawned, "idle");
    assert_eq!(tell(&claude, "api", "and on again", "60")["state"], "confirmed");
    claude.comes_to(&spawned, "idle");
    let turns = turns(&claude);
    let count = |n: usize, text: &str| turns[n].text().matches(text).count();
    assert_eq!(turns.len(), 2);
    assert_eq!((count(0, "staging proxy"), count(1, "staging proxy")), (1, 1), "{}", turns[1].text());
    assert_eq!(count(0, "learnt since your briefing"), 1);
    assert_eq!(rebrief(&claude)["delivery"], "nothing-new", "what was handed over is known");
}

#[test]
fn a_store_that_is_down_is_named_and_nothing_is_delivered() {
    let (claude, _, spawned) = idle(Version::New);
    let add =
        ["sources", "add", "worker", "old-chats", "--url", "http://127.0.0.1:9", "--protocol", "search"];
    claude.world.pao(add).ok();
    let ran = claude.world.pao(["rebrief", "api"]).ok();
    assert!(
        ran.stdout.contains("not every store answered") && ran.stdout.contains("old-chats"),
        "{}",
        ran.screen
    );
    let id = spawned["id"].as_str().unwrap();
    assert!(!claude.world.path(".pao/agents").join(id).join("next").exists());
}

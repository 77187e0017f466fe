//! One agent's work for another.

use serde_json::json;

use super::{idle, tell, turns};
use crate::harness::claude::{Claude, Version};

/// Two agents, of which the first was told what to decide.
fn two() -> (Claude, serde_json::Value, serde_json::Value) {
    let (claude, folder, first) = idle(Version::New);
    assert_eq!(tell(&claude, "api", "TODO: the walrus index is still missing", "60")["state"], "confirmed");
    claude.comes_to(&first, "idle");
    let second = claude.spawn(&folder, &["--name", "web", "wait", "for", "work"]);
    claude.comes_to(&second, "idle");
    claude.api.forget();
    (claude, first, second)
}

#[test]
fn a_running_agent_gets_the_others_work_with_its_next_prompt() {
    let (claude, _, second) = two();
    let ran = claude.world.pao(["handover", "api", "web", "take", "over", "from", "here"]).ok();
    assert!(ran.stdout.contains("confirmed"), "{}", ran.screen);
    claude.comes_to(&second, "idle");
    let turns = turns(&claude);
    assert_eq!(turns.len(), 1);
    let text = turns[0].text();
    for part in ["take over from here", "Handed over by another agent", "look around", "walrus index"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(claude.world.pao(["handover", "api", "api"]).run().code, Some(2));
}

#[test]
fn a_new_agent_starts_with_the_others_work_in_its_briefing_after_that_has_ended_too() {
    let (claude, first, _) = two();
    claude.end(&first);
    let words = [
        "handover",
        "--json",
        "--yes",
        "--terminal",
        "tmux",
        "--new",
        "--name",
        "heir",
        "api",
        "finish",
        "it",
    ];
    let ran = claude.world.pao(words).run();
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.screen, claude.screens());
    let text = claude.first_request("finish it").text();
    for part in ["Handed over by another agent", "walrus index", "# Context briefing"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // From whom it came is told even when nothing is left of that one.
    let heir = ran.json();
    let origin = json!({ "by": "handover", "agent": first["id"], "name": "api", "checkpoint": null });
    assert_eq!(claude.row(&heir)["origin"], origin);
    let shown = claude.world.pao(["agent", "show", "heir"]).ok();
    let told = format!("handed over by api ({})", first["id"].as_str().unwrap());
    assert!(shown.stdout.contains(&told), "{}", shown.screen);
    let shown = claude.world.pao(["agent", "show", "heir", "--json"]).ok().json();
    assert_eq!(shown["origin"], origin);
}

//! Checkpoints of real agents: what they hold, and new agents that start from them.

use std::fs;

use messages_api::{Reply, Script};
use serde_json::{Value, json};

use crate::harness::claude::{Claude, Version};

fn id(spawned: &Value) -> &str {
    spawned["id"].as_str().unwrap()
}

/// An agent that keeps a list and has done a turn.
fn with_a_list() -> Claude {
    let todos = json!({ "todos": [
        { "content": "find the cookie", "status": "completed", "activeForm": "Finding" },
        { "content": "mend the cookie", "status": "pending", "activeForm": "Mending" },
    ] });
    let queue = [Reply::tool("TodoWrite", todos), Reply::text("the cookie lives too short")];
    Claude::with_script(
        Version::Old,
        Script { queue: queue.into(), default: Some(Reply::text("noted")), ..Script::default() },
    )
}

#[test]
fn a_checkpoint_holds_repository_conversation_and_list_and_two_can_be_compared() {
    let claude = with_a_list();
    let folder = claude.repository("code/api");
    let spawned = claude.spawn(&folder, &["fix", "the", "login", "bug"]);
    claude.comes_to(&spawned, "idle");
    fs::write(folder.join("README.md"), "# Changed\n").unwrap();
    let first = claude.world.pao(["checkpoint", "--json", id(&spawned), "-m", "works"]).ok().json();
    assert_eq!((&first["message"], &first["state"]), (&json!("works"), &json!("idle")));
    assert_eq!(first["session"], spawned["session_id"]);
    assert_eq!(first["git"]["branch"], "main");
    assert_eq!(first["git"]["dirty"][0]["path"], "README.md");
    assert_eq!(first["said"]["last_prompts"], json!(["fix the login bug"]));
    assert_eq!(first["said"]["todos"], json!(["mend the cookie"]));
    assert_eq!(first["said"]["last_reply"], "the cookie lives too short");
    assert!(first["transcript"]["position"].as_u64().unwrap() > 0);
    let pane = claude.panes().pop().unwrap();
    claude.say(&pane, "go on", || claude.api.requests().iter().any(|r| r.last_user_text().contains("go on")));
    claude.commit(&folder, "the cookie lives for a day");
    claude.comes_to(&spawned, "idle");
    // Also of an agent that has ended.
    claude.exit(&pane, &spawned);
    let second = claude.world.pao(["checkpoint", "--json", id(&spawned)]).ok().json();
    let (a, b) = (first["id"].as_str().unwrap(), second["id"].as_str().unwrap());
    let compared = claude.world.pao(["checkpoint", "compare", a, b]).ok().stdout;
    for part in
        ["Commits since", "the cookie lives for a day (tester)", "README.md", "Prompts since", "go on"]
    {
        assert!(compared.contains(part), "{part} in {compared}");
    }
    let listed = claude.world.pao(["checkpoint", "list", id(&spawned)]).ok().stdout;
    assert!(listed.contains(a) && listed.contains(b) && listed.contains("works"), "{listed}");
    let shown = claude.world.pao(["checkpoint", "show", &a[..6]]).ok().stdout;
    assert!(shown.contains("mend the cookie") && shown.contains(".M README.md"), "{shown}");
    claude.world.pao(["checkpoint", "remove", a]).ok();
    assert_eq!(claude.world.pao(["checkpoint", "show", a]).run().code, Some(2));
}

#[test]
fn a_new_agent_begins_with_a_copy_of_the_conversation_and_the_first_stays_as_it_was() {
    for version in [Version::New, Version::Old] {
        let claude = Claude::new(version);
        let folder = claude.repository("code/api");
        let first = claude.spawn(&folder, &["fix", "the", "login", "bug"]);
        claude.comes_to(&first, "idle");
        let kept = claude.world.pao(["checkpoint", "--json", id(&first)]).ok().json();
        let transcript = kept["transcript"]["path"].as_str().unwrap().to_owned();
        let checkpoint = kept["id"].as_str().unwrap();
        let before = fs::read(&transcript).unwrap();
        let forked = claude.spawn(&folder, &["--fork", checkpoint, "try", "the", "other", "way"]);
        assert_ne!(forked["session_id"], first["session_id"]);
        assert_ne!(forked["id"], first["id"]);
        let origin = json!({ "by": "fork", "agent": first["id"], "name": "api", "checkpoint": checkpoint });
        assert_eq!(claude.row(&forked)["origin"], origin);
        assert_eq!(claude.row(&first)["origin"], Value::Null);
        let text = claude.first_request("try the other way").text();
        assert!(
            text.contains("fix the login bug") && text.contains("begins as a copy"),
            "{version:?}: {text}"
        );
        claude.comes_to(&forked, "idle");
        assert_eq!(claude.row(&forked)["session_id"], forked["session_id"]);
        assert_eq!(claude.row(&first)["session_id"], first["session_id"]);
        let own = std::path::Path::new(&transcript)
            .with_file_name(format!("{}.jsonl", forked["session_id"].as_str().unwrap()));
        assert!(fs::read_to_string(own).unwrap().contains("try the other way"), "{version:?}");
        assert!(fs::read(&transcript).unwrap().starts_with(&before), "{version:?}");
        let said = String::from_utf8(fs::read(&transcript).unwrap()).unwrap();
        assert!(!said.contains("try the other way"), "{version:?}: the first one's conversation was touched");
        claude.end(&forked);
        claude.end(&first);
    }
}

#[test]
fn where_the_conversation_went_on_the_new_agent_gets_what_was_true_then() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    let first = claude.spawn(&folder, &["fix", "the", "login", "bug"]);
    claude.comes_to(&first, "idle");
    let kept = claude.world.pao(["checkpoint", "--json", id(&first), "-m", "still simple"]).ok().json();
    let pane = claude.panes().pop().unwrap();
    claude.say(&pane, "now make it complicated", || {
        claude.api.requests().iter().any(|r| r.last_user_text().contains("make it complicated"))
    });
    claude.comes_to(&first, "idle");
    let forked = claude.spawn(&folder, &["--fork", kept["id"].as_str().unwrap(), "another", "way"]);
    let notes = forked["notes"].to_string();
    assert!(notes.contains("its conversation went on since, and a copy cannot be cut"), "{notes}");
    let text = claude.first_request("another way").text();
    assert!(text.contains("still simple") && text.contains("fix the login bug"), "{text}");
    assert!(!text.contains("complicated"), "{text}");
}

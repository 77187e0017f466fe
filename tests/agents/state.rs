//! What each of them does, told without its saying so: its screen, its record of the conversation, its process.

use messages_api::{Reply, Script};

use super::*;
use crate::harness::claude::pressed;

const ASKED: &str = "fix the login bug";

/// Starts it, whatever comes of that, and gives the row that it then has.
fn started(other: &Other) -> Value {
    let folder = other.folder.to_str().unwrap();
    let words =
        ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder, "--agent", other.agent.kind, ASKED];
    other.world.pao(words).limit(Duration::from_mins(2)).run().json()
}

fn comes_to(other: &Other, spawned: &Value, state: &str) -> Value {
    other.until(&format!("it is {state}: {}", other.row(spawned)), || other.row(spawned)["state"] == state);
    other.row(spawned)
}

fn end(other: &Other, spawned: &Value) {
    other.world.pao(["undo", "--end", spawned["id"].as_str().unwrap()]).ok();
}

/// Presses Enter until that has its effect.
fn enter(other: &Other, effect: impl Fn() -> bool) {
    let took = pressed(|| type_into(other, &["Enter"]), effect);
    assert!(took, "Enter had no effect\n{}", other.screens());
}

fn type_into(other: &Other, keys: &[&str]) {
    let pane = other.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
    let all = ["send-keys", "-t", pane.trim()];
    other.tmux(&all.iter().chain(keys).copied().collect::<Vec<_>>());
}

#[test]
fn after_its_reply_each_is_idle() {
    for agent in [&CODEX, &GEMINI] {
        let other = Other::new(agent);
        let spawned = started(&other);
        comes_to(&other, &spawned, "idle");
        end(&other, &spawned);
    }
}

#[test]
fn a_turn_that_ended_in_an_error_needs_its_user_and_says_which() {
    for agent in [&CODEX, &GEMINI] {
        let other = Other::new(agent);
        other.api.set_script(Script { default: Some(Reply::status(401)), ..Script::default() });
        let spawned = started(&other);
        other.until("the error is told", || {
            let row = other.row(&spawned);
            row["state"] == "needs-you" && row["needs"].as_str().is_some_and(|needs| needs.contains("401"))
        });
        end(&other, &spawned);
    }
}

#[test]
fn a_question_whether_a_tool_may_be_used_needs_its_user_and_names_the_command() {
    for agent in [&CODEX, &GEMINI] {
        let other = Other::new(agent);
        let tool = if agent.kind == CODEX.kind {
            let input = serde_json::json!({
                "cmd": "touch made.txt", "justification": "needs to", "sandbox_permissions": "require_escalated",
            });
            Reply::tool("exec_command", input)
        } else {
            let input = serde_json::json!({"command": "touch made.txt", "description": "makes a file"});
            Reply::tool("run_shell_command", input)
        };
        other.api.set_script(Script { queue: [tool].into(), ..Script::saying("noted") });
        let spawned = started(&other);
        let row = comes_to(&other, &spawned, "needs-you");
        assert!(row["needs"].as_str().is_some_and(|needs| needs.contains("touch made.txt")), "{row:#}");
        assert!(!other.folder.join("made.txt").exists());
        // Granted: nobody is needed any more. Its hook may have told of the question before that is drawn, and a key
        // pressed until then answers nothing.
        enter(&other, || other.folder.join("made.txt").exists());
        comes_to(&other, &spawned, "idle");
        end(&other, &spawned);
    }
}

#[test]
fn one_that_is_killed_is_lost() {
    for agent in [&CODEX, &GEMINI] {
        let other = Other::new(agent);
        let spawned = started(&other);
        let pid = comes_to(&other, &spawned, "idle")["pid"].as_u64().unwrap();
        Identity::of(u32::try_from(pid).unwrap()).unwrap().kill().unwrap();
        comes_to(&other, &spawned, "lost");
        end(&other, &spawned);
    }
}

/// Codex says by a hook that it ends; of Gemini CLI it is only seen that it is gone.
#[test]
fn one_that_is_told_to_quit_is_over() {
    for (agent, state) in [(&CODEX, "ended"), (&GEMINI, "lost")] {
        let other = Other::new(agent);
        let spawned = started(&other);
        comes_to(&other, &spawned, "idle");
        type_into(&other, &["-l", "/quit"]);
        other.until("it stands there", || other.screens().contains("/quit"));
        enter(&other, || other.row(&spawned)["state"] == state);
        end(&other, &spawned);
    }
}

#[test]
fn each_is_put_to_rest_and_comes_back_to_its_conversation() {
    for agent in [&CODEX, &GEMINI] {
        let other = Other::new(agent);
        let spawned = started(&other);
        let before = comes_to(&other, &spawned, "idle");
        let name = before["name"].as_str().unwrap();
        let logged = other.world.pao(["logs", "--json", name]).ok().json();
        let said = |who: &str, text: &str| {
            let lines = logged.as_array().into_iter().flatten();
            lines.filter(|l| l["who"] == who && l["text"].as_str().is_some_and(|t| t.contains(text))).count()
        };
        assert_eq!((said("you", ASKED), said("agent", "noted")), (1, 1), "{logged:#}");
        other.world.pao(["pause", name]).ok();
        assert_eq!(other.row(&spawned)["state"], "paused");
        other.world.pao(["resume", name, "--yes"]).limit(Duration::from_mins(1)).ok();
        let after = comes_to(&other, &spawned, "idle");
        assert_eq!(after["session_id"], before["session_id"]);
        assert_ne!(after["pid"], before["pid"]);
        other.until("the conversation is there again", || other.screens().contains("noted"));
        end(&other, &spawned);
    }
}

//! From `pao spawn` to the first request, and back to the bytes before.

use std::time::Duration;

use super::*;

const SAID: &str = "The login bug comes from the session cookie: it expires at midnight UTC.";
const KNOWN: &str = "expires at midnight UTC";
const TASK: &str = "fix the login bug";

/// Starts it in a folder it does not trust yet, looks at what came of that, and takes it back.
fn starts_warm_and_leaves_nothing(agent: &'static HostAgent) {
    let other = Other::new(agent);
    other.remember(SAID);
    let before = bytes(&other.trust_file());
    let spawned = other.spawn(&["--agent", agent.kind, TASK]);
    assert_eq!(spawned["confirmed"], true, "{spawned:#}");
    assert_eq!(spawned["delivery"], "session", "{spawned:#}");
    assert_eq!((&spawned["needs"], &spawned["briefed"]), (&Value::Null, &true.into()), "{spawned:#}");
    let first = other.first_request(TASK);
    assert!(first.text().contains(KNOWN), "{}", first.text());
    assert_eq!(other.api.requests().iter().filter(|r| r.has_tools() && r.text().contains(TASK)).count(), 1);
    assert_eq!(other.git(&["status", "--short", "--ignored"]), "");
    assert!(!other.screens().to_lowercase().contains("do you trust"), "{}", other.screens());
    assert!(bytes(&other.trust_file()).contains(other.folder.to_str().unwrap()));
    let row = other.row(&spawned);
    assert_eq!((&row["receipt"], &row["host_agent"]), (&"confirmed".into(), &agent.kind.into()), "{row:#}");
    assert!(row["session_id"].is_string(), "{row:#}");
    // Its prompt line is there again: the turn is over.
    other.until("it is ready again", || agent.screens.classify(&other.screens()).name() == "ready");
    // The choice is the folder's from now on.
    let again = other.world.pao(["spawn", "--dry-run", "--yes", "-C", other.folder.to_str().unwrap()]).ok();
    assert!(again.screen.contains(agent.program), "{}", again.screen);
    other.world.pao(["undo", "--end", spawned["id"].as_str().unwrap()]).ok();
    assert_eq!(own(&bytes(&other.trust_file())), own(&before));
    assert!(!other.world.path(".pao/agents").join(spawned["id"].as_str().unwrap()).exists());
}

/// The lines that are not a counter of the program's, which counts each start.
fn own(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').filter(|line| !line.starts_with("\"gpt-")).collect()
}

#[test]
fn codex_starts_warm_and_leaves_nothing_behind() {
    starts_warm_and_leaves_nothing(&CODEX);
}

#[test]
fn gemini_starts_warm_and_leaves_nothing_behind() {
    starts_warm_and_leaves_nothing(&GEMINI);
}

#[test]
fn codex_tells_by_its_hooks_when_its_turn_is_over() {
    let other = Other::new(&CODEX);
    let spawned = other.spawn(&["--agent", "codex", TASK]);
    assert_eq!(spawned["briefed"], true, "{spawned:#}");
    assert_eq!(spawned["evidence"], "UserPromptSubmit hook");
    other.until("it is idle", || other.row(&spawned)["state"] == "idle");
    other.world.pao(["undo", "--end", spawned["id"].as_str().unwrap()]).ok();
}

/// A prompt that the program would run as a command of its own arrives as text.
#[test]
fn a_prompt_that_looks_like_a_command_is_text_to_each() {
    for agent in [&CODEX, &GEMINI] {
        let other = Other::new(agent);
        let spawned = other.spawn(&["--agent", agent.kind, "--", "!touch made.txt"]);
        assert_eq!(spawned["confirmed"], true, "{spawned:#}");
        let first = other.first_request("!touch made.txt");
        assert!(first.last_user_text().contains("Task: !touch made.txt"), "{}", first.last_user_text());
        assert!(!other.folder.join("made.txt").exists());
        other.world.pao(["undo", "--end", spawned["id"].as_str().unwrap()]).ok();
    }
}

#[test]
fn files_in_the_project_carry_the_briefing_too_and_come_out_again() {
    for agent in [&CODEX, &GEMINI] {
        let other = Other::new(agent);
        other.remember(SAID);
        let instructions = other.folder.join(agent.reads.instructions);
        fs::write(&instructions, "# Ours\r\nkeep this").unwrap();
        let spawned = other.spawn(&["--agent", agent.kind, "--delivery", "files", TASK]);
        let first = other.first_request(TASK);
        assert!(first.text().contains("keep this") && first.text().contains(KNOWN), "{}", first.text());
        other.world.pao(["undo", "--end", spawned["id"].as_str().unwrap()]).ok();
        assert_eq!(bytes(&instructions), "# Ours\r\nkeep this");
        assert_eq!(other.git(&["status", "--short"]).trim(), format!("?? {}", agent.reads.instructions));
    }
}

#[test]
fn an_agent_that_was_never_set_up_needs_its_user_and_says_for_what() {
    let other = Other::new(&CODEX);
    fs::remove_dir_all(other.world.path(".codex")).unwrap();
    let folder = other.folder.to_str().unwrap();
    let all = ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder, "--agent", "codex", TASK];
    let ran = other.world.pao(all).limit(Duration::from_mins(2)).run();
    let said = ran.json();
    assert!(said["needs"].as_str().is_some_and(|needs| needs.contains("Welcome to Codex")), "{said:#}");
    assert_eq!(other.row(&said)["state"], "needs-you");
    other.world.pao(["undo", "--end", said["id"].as_str().unwrap()]).ok();
}

#[test]
fn a_program_that_is_missing_is_named_with_how_to_install_it() {
    for agent in [&CODEX, &GEMINI] {
        let mut world = World::new();
        world.real_clock();
        let folder = world.folder("code/api");
        let folder = folder.to_str().unwrap();
        let ran = world
            .pao(["spawn", "--yes", "--terminal", "tmux", "-C", folder, "--agent", agent.kind, TASK])
            .run();
        assert_ne!(ran.code, Some(0));
        assert!(ran.screen.contains(agent.install), "{}", ran.screen);
        assert!(ran.screen.contains(&format!("agents.{}.command", agent.kind)), "{}", ran.screen);
    }
}

use std::path::PathBuf;

use chrono::TimeZone;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::registry::agents::{Agent, State};

struct World {
    _dir: TempDir,
    host: Host,
}

fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let host = Host { pao_home: dir.path().join("pao"), exe: "/usr/bin/pao".into(), ..Host::at(dir.path()) };
    std::fs::create_dir_all(host.agent_dir("a1")).unwrap();
    World { _dir: dir, host }
}

fn row(host: &Host) -> Agent {
    Agent::starting("a1", "app", std::path::Path::new("/home/user/project"), "claude-code", host.now())
}

async fn with_agent() -> (World, Registry) {
    let world = world();
    let registry = Registry::open(&world.host.registry_file()).await.unwrap();
    registry.add(&row(&world.host)).await.unwrap();
    (world, registry)
}

fn fixture(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/claude-code/hooks");
    std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap()
}

async fn tell(world: &World, payload: &str) -> Answer {
    answer(&world.host, "a1", None, payload.as_bytes()).await
}

/// What an event says, without what only tells it from others.
fn without_id(event: &Event) -> String {
    let mut detail: serde_json::Map<String, Value> = serde_json::from_str(&event.detail).unwrap();
    assert!(detail.shift_remove(EVENT_ID).is_some_and(|id| id.as_str().is_some_and(|id| id.len() == 12)));
    Value::Object(detail).to_string()
}

#[tokio::test]
async fn a_write_that_was_made_late_is_not_made_twice() {
    let (world, registry) = with_agent().await;
    tell(&world, &fixture("Stop")).await;
    let (_, event) = registry.events_after("a1", 0).await.unwrap().remove(0);
    // Its process did not hear of the success any more, and kept it.
    let seen = seen::understand(&serde_json::from_str(&fixture("Stop")).unwrap(), &CLAUDE_CODE);
    spool::keep(&world.host, &event, &seen);
    drain(&world.host, &registry).await.unwrap();
    assert_eq!(registry.events_after("a1", 0).await.unwrap().len(), 1);
}

#[tokio::test]
async fn each_captured_payload_leads_to_its_state_and_keeps_only_what_matters() {
    let (world, registry) = with_agent().await;
    let mut seen = String::new();
    let mut after = 0;
    for name in [
        "SessionStart",
        "UserPromptSubmit",
        "InstructionsLoaded",
        "PreToolUse",
        "PermissionRequest",
        "Notification",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "StopFailure",
        "PreCompact",
        "PostCompact",
        "SessionEnd",
    ] {
        assert_eq!(tell(&world, &fixture(name)).await, Answer::default(), "{name}");
        let agent = registry.agent("a1").await.unwrap().unwrap();
        let events = registry.events_after("a1", after).await.unwrap();
        let needs = agent.needs.unwrap_or_default();
        let line = match &events[..] {
            // One row per tool would be hundreds.
            [] if name == "PostToolUse" => format!("{name} (no row) {} [{needs}]\n", agent.state.name()),
            [(id, event)] => {
                after = *id;
                format!("{} {} {} [{needs}]\n", event.event, without_id(event), agent.state.name())
            }
            _ => panic!("{name}: {events:?}"),
        };
        seen.push_str(&line);
    }
    insta::assert_snapshot!(seen);
}

#[tokio::test]
async fn what_is_asked_is_said_in_few_words_and_never_with_a_secret() {
    let (world, registry) = with_agent().await;
    let long = "x".repeat(500);
    for (tool, input, needs) in [
        ("Bash", json!({ "command": "touch made.txt\n&& ls" }), "permission for Bash: touch made.txt && ls"),
        ("Edit", json!({ "file_path": "/code/a.rs", "new_string": "y" }), "permission for Edit: /code/a.rs"),
        (
            "Bash",
            json!({ "command": "curl -H 'Authorization: Bearer sk-ant-api03-abc' x" }),
            "permission for Bash",
        ),
        ("Bash", json!({ "command": long }), &format!("permission for Bash: {}…", "x".repeat(80))),
        ("mcp__x__y", json!(7), "permission for mcp__x__y"),
        (
            "AskUserQuestion",
            json!({ "questions": [{ "question": "Which colour?" }] }),
            "question: Which colour?",
        ),
        ("ExitPlanMode", json!({ "plan": "1. do it" }), "agreement to its plan"),
    ] {
        let payload =
            json!({ "hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": input });
        tell(&world, &payload.to_string()).await;
        let agent = registry.agent("a1").await.unwrap().unwrap();
        assert_eq!((agent.state, agent.needs.as_deref()), (State::NeedsYou, Some(needs)));
        // The notification that follows a few seconds later has worse words.
        tell(&world, &fixture("Notification")).await;
        assert_eq!(registry.agent("a1").await.unwrap().unwrap().needs.as_deref(), Some(needs));
    }
    tell(&world, &fixture("PostToolUse")).await;
    let agent = registry.agent("a1").await.unwrap().unwrap();
    assert_eq!((agent.state, agent.needs), (State::Working, None));
}

#[tokio::test]
async fn that_nobody_has_typed_for_a_minute_is_no_sign_of_life() {
    let (world, registry) = with_agent().await;
    tell(&world, &fixture("Stop")).await;
    let before = registry.agent("a1").await.unwrap().unwrap();
    let payload =
        json!({ "hook_event_name": "Notification", "notification_type": "idle_prompt", "message": "w" });
    tell(&world, &payload.to_string()).await;
    assert_eq!(registry.agent("a1").await.unwrap().unwrap(), before);
    assert_eq!(registry.events_after("a1", 0).await.unwrap().len(), 2, "it is written down all the same");
    // One that was kept, and is taken in late.
    let seen = seen::understand(&payload, &CLAUDE_CODE);
    let at = world.host.now();
    let event =
        Event { agent: "a1".into(), at, event: seen.event.clone(), session: None, detail: "{}".into() };
    spool::keep(&world.host, &event, &seen);
    assert_eq!(drain(&world.host, &registry).await.unwrap(), 1);
    assert_eq!(registry.agent("a1").await.unwrap().unwrap(), before);
    // It still ends a turn whose end was missed.
    tell(&world, &fixture("UserPromptSubmit")).await;
    tell(&world, &payload.to_string()).await;
    assert_eq!(registry.agent("a1").await.unwrap().unwrap().state, State::Idle);
}

#[tokio::test]
async fn what_runs_beside_a_turn_does_not_end_it() {
    let (world, registry) = with_agent().await;
    tell(&world, &fixture("UserPromptSubmit")).await;
    for event in ["Stop", "StopFailure"] {
        let payload = json!({ "hook_event_name": event, "agent_id": "ae854c58", "error": "billing_error" });
        tell(&world, &payload.to_string()).await;
        assert_eq!(registry.agent("a1").await.unwrap().unwrap().state, State::Working);
    }
}

#[tokio::test]
async fn the_briefing_is_handed_over_at_every_beginning_of_a_conversation() {
    let (world, registry) = with_agent().await;
    let text = "支 \"quoted\"\nsecond line\n";
    std::fs::write(world.host.agent_dir("a1").join(CONTEXT_FILE), text).unwrap();
    for source in ["startup", "resume", "clear", "compact", "fork", "unheard-of"] {
        let start = fixture("SessionStart").replace("\"startup\"", &format!("\"{source}\""));
        let output = tell(&world, &start).await.stdout.unwrap();
        let output: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(
            output,
            json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text } })
        );
    }
    let events = registry.events_after("a1", 0).await.unwrap();
    assert!(events.iter().all(|(_, event)| briefed(event)), "{events:?}");
    assert_eq!(tell(&world, &fixture("UserPromptSubmit")).await.stdout, None);
}

#[tokio::test]
async fn what_changed_comes_alone_at_a_return_and_before_the_briefing_otherwise() {
    let world = world();
    let dir = world.host.agent_dir("a1");
    std::fs::write(dir.join(CONTEXT_FILE), "briefing\n").unwrap();
    let said = async |source: &str| {
        let start = fixture("SessionStart").replace("\"startup\"", &format!("\"{source}\""));
        let output: Value = serde_json::from_str(&tell(&world, &start).await.stdout?).unwrap();
        Some(output["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
    };
    std::fs::write(dir.join(CHANGED_FILE), "changed\n").unwrap();
    assert_eq!(said("resume").await.as_deref(), Some("changed\n"));
    assert_eq!(said("compact").await.as_deref(), Some("changed\nbriefing\n"));
    std::fs::write(dir.join(CHANGED_FILE), "").unwrap();
    assert_eq!(said("resume").await, None, "nothing changed, and the conversation holds its briefing");
    assert_eq!(said("clear").await.as_deref(), Some("briefing\n"));
}

#[tokio::test]
async fn a_briefing_over_the_limit_is_cut_at_a_line_and_says_so() {
    let world = world();
    let path = world.host.agent_dir("a1").join(CONTEXT_FILE);
    for (text, whole) in [
        ("a".repeat(9_999) + "\n", true),
        ("支".repeat(10_000), true),
        ("🦀".repeat(5_000), true),
        ("🦀\n".repeat(3_334), false),
        ("a".repeat(10_001), false),
    ] {
        std::fs::write(&path, &text).unwrap();
        let output = tell(&world, &fixture("SessionStart")).await.stdout.unwrap();
        let output: Value = serde_json::from_str(&output).unwrap();
        let got = output["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(got.encode_utf16().count() <= 10_000);
        assert_eq!(got == text, whole);
        assert_eq!(got.ends_with("(cut here: too long for a hook)\n"), !whole);
    }
}

#[tokio::test]
async fn clearing_a_conversation_does_not_end_the_agent_and_its_ancestry_is_kept() {
    let (world, registry) = with_agent().await;
    tell(&world, &fixture("SessionStart")).await;
    tell(&world, &fixture("SessionEnd").replace("\"other\"", "\"clear\"")).await;
    let agent = registry.agent("a1").await.unwrap().unwrap();
    assert_eq!((agent.state, agent.ended_at), (State::Idle, None));
    let next = fixture("SessionStart").replace("11111111", "22222222").replace("\"startup\"", "\"clear\"");
    tell(&world, &next).await;
    let agent = registry.agent("a1").await.unwrap().unwrap();
    assert_eq!(agent.session.as_deref(), Some("22222222-2222-4333-8444-555555555555"));
    tell(&world, &fixture("SessionEnd")).await;
    assert_eq!(registry.agent("a1").await.unwrap().unwrap().state, State::Ended);
}

#[tokio::test]
async fn a_prompt_is_known_by_its_fingerprint_and_not_kept() {
    let (world, registry) = with_agent().await;
    tell(&world, &fixture("UserPromptSubmit")).await;
    let (_, event) = registry.events_after("a1", 0).await.unwrap().remove(0);
    assert_eq!(prompt_fingerprint(&event), Some(fingerprint("  do the tools\r\n")));
    assert!(!event.detail.contains("do the tools"));
}

#[tokio::test]
async fn an_agent_that_works_for_us_sets_nothing_off() {
    let (mut world, registry) = with_agent().await;
    std::fs::write(world.host.agent_dir("a1").join(CONTEXT_FILE), "text").unwrap();
    world.host.env.insert(GUARD.into(), "1".into());
    assert_eq!(tell(&world, &fixture("SessionStart")).await, Answer::default());
    assert!(registry.events_after("a1", 0).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_id_that_is_a_path_reaches_no_file() {
    let (world, _registry) = with_agent().await;
    std::fs::write(world.host.pao_home.join(CONTEXT_FILE), "outside").unwrap();
    for agent in ["", "..", "../..", "a/../..", "a1/", "\0", &"a".repeat(65)] {
        let payload = fixture("SessionStart");
        assert_eq!(
            answer(&world.host, agent, None, payload.as_bytes()).await,
            Answer::default(),
            "{agent:?}"
        );
    }
}

#[tokio::test]
async fn without_a_database_events_wait_in_the_agent_s_folder_and_are_taken_in_once() {
    let world = world();
    let text = "briefing";
    std::fs::write(world.host.agent_dir("a1").join(CONTEXT_FILE), text).unwrap();
    assert!(tell(&world, &fixture("SessionStart")).await.stdout.unwrap().contains(text));
    tell(&world, &fixture("UserPromptSubmit")).await;
    assert!(!world.host.registry_file().exists());
    let registry = Registry::open(&world.host.registry_file()).await.unwrap();
    let mut early = row(&world.host);
    early.sign_at = chrono::Utc.timestamp_opt(0, 0).unwrap();
    registry.add(&early).await.unwrap();
    assert_eq!(drain(&world.host, &registry).await.unwrap(), 2);
    assert_eq!(drain(&world.host, &registry).await.unwrap(), 0);
    let events = registry.events_after("a1", 0).await.unwrap();
    let names: Vec<&str> = events.iter().map(|(_, e)| e.event.as_str()).collect();
    assert_eq!(names, ["SessionStart", "UserPromptSubmit"]);
    let agent = registry.agent("a1").await.unwrap().unwrap();
    assert_eq!(agent.state, State::Working);
    assert!(agent.session.is_some());
}

#[tokio::test]
async fn a_drain_that_was_cut_short_makes_no_row_twice() {
    let world = world();
    tell(&world, &fixture("Stop")).await;
    let spool = world.host.agent_dir("a1").join("spool");
    let file = std::fs::read_dir(&spool).unwrap().next().unwrap().unwrap().path();
    let bytes = std::fs::read(&file).unwrap();
    let registry = Registry::open(&world.host.registry_file()).await.unwrap();
    registry.add(&row(&world.host)).await.unwrap();
    drain(&world.host, &registry).await.unwrap();
    std::fs::write(&file, bytes).unwrap();
    drain(&world.host, &registry).await.unwrap();
    assert_eq!(registry.events_after("a1", 0).await.unwrap().len(), 1);
    assert!(!file.exists());
}

#[tokio::test]
async fn what_is_told_late_does_not_undo_what_happened_since() {
    let (world, registry) = with_agent().await;
    let hidden = world.host.pao_home.join("hidden.db");
    registry.close().await;
    std::fs::rename(world.host.registry_file(), &hidden).unwrap();
    tell(&world, &fixture("UserPromptSubmit")).await;
    std::fs::rename(&hidden, world.host.registry_file()).unwrap();
    tell(&world, &fixture("Stop")).await;
    let registry = Registry::open(&world.host.registry_file()).await.unwrap();
    assert_eq!(drain(&world.host, &registry).await.unwrap(), 1);
    assert_eq!(registry.agent("a1").await.unwrap().unwrap().state, State::Idle);
}

#[tokio::test]
async fn a_newer_database_is_left_alone() {
    let (world, registry) = with_agent().await;
    registry.close().await;
    let path = world.host.registry_file();
    let mut connection =
        <sqlx::SqliteConnection as sqlx::Connection>::connect(path.to_str().unwrap()).await.unwrap();
    sqlx::raw_sql("PRAGMA user_version = 999").execute(&mut connection).await.unwrap();
    sqlx::Connection::close(connection).await.unwrap();
    let before = std::fs::read(&path).unwrap();
    tell(&world, &fixture("Stop")).await;
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(world.host.agent_dir("a1").join("spool")).unwrap().count(), 1);
}

#[tokio::test]
async fn a_locked_database_is_not_waited_for() {
    let (world, registry) = with_agent().await;
    let path = world.host.registry_file();
    let mut other =
        <sqlx::SqliteConnection as sqlx::Connection>::connect(path.to_str().unwrap()).await.unwrap();
    sqlx::raw_sql("BEGIN EXCLUSIVE").execute(&mut other).await.unwrap();
    let started = std::time::Instant::now();
    tell(&world, &fixture("Stop")).await;
    assert!(started.elapsed() < Duration::from_millis(700), "{:?}", started.elapsed());
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    assert_eq!(drain(&world.host, &registry).await.unwrap(), 1);
    assert_eq!(registry.events_after("a1", 0).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_payload_that_is_no_payload_is_survived() {
    let (world, registry) = with_agent().await;
    let long = format!("{{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"{}\"}}", "a".repeat(2 << 20));
    let mut deep = "[".repeat(100_000);
    deep += &"]".repeat(100_000);
    for payload in ["", "{", "null", "[]", "\"Stop\"", "{\"hook_event_name\": 7}", "{} {}", &long, &deep] {
        assert_eq!(tell(&world, payload).await, Answer::default());
    }
    answer(&world.host, "a1", Some("claude-code"), &b"\xff\xfe\0"[..]).await;
    let events = registry.events_after("a1", 0).await.unwrap();
    assert_eq!(events.len(), 10);
    assert!(events.iter().all(|(_, event)| event.event == "unknown" && without_id(event) == "{}"));
    assert_eq!(registry.agent("a1").await.unwrap().unwrap().state, State::Starting);
}

#[test]
fn twenty_writers_with_fifty_events_each_lose_nothing() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (world, registry) = runtime().block_on(with_agent());
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let payload = fixture("Stop");
                for _ in 0..50 {
                    runtime().block_on(tell(&world, &payload));
                }
            });
        }
    });
    runtime().block_on(async {
        drain(&world.host, &registry).await.unwrap();
        assert_eq!(registry.events_after("a1", 0).await.unwrap().len(), 1000);
    });
}

proptest! {
    #[test]
    fn any_payload_is_reduced_to_short_plain_words(
        event in "(SessionStart|UserPromptSubmit|PermissionRequest|Notification|SessionEnd|(?s).{0,80})",
        value in "(?s).{0,300}",
    ) {
        let payload = json!({
            "hook_event_name": event, "session_id": value, "source": value, "prompt": value, "reason": value,
            "tool_name": value, "message": value, "notification_type": "permission_prompt",
        });
        let seen = seen::understand(&payload, &CLAUDE_CODE);
        let detail = Value::Object(seen.detail.clone()).to_string();
        prop_assert!(detail.len() < 1500, "{}", detail);
        for text in [Some(&seen.event), seen.session.as_ref(), seen.needs.as_ref(), seen.session_source.as_ref()] {
            prop_assert!(text.is_none_or(|t| t.chars().count() <= 220 && !t.contains(char::is_control)));
        }
    }
}

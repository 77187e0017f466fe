//! `pao hook` as the host agent calls it: a whole process that ends well whatever happens.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use pao_core::registry::Registry;
use serde_json::Value;

use crate::harness::world::{PAO, World};

fn payload(name: &str) -> String {
    let file = format!("tests/fixtures/claude-code/hooks/{name}.json");
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn world() -> World {
    let world = World::new();
    world.folder(".pao/agents/a1");
    world
}

/// Calls the hook and returns what it printed; its exit status must be 0 and its standard error empty.
fn hook(world: &World, args: &[&str], input: &str) -> String {
    use std::io::Write;
    let mut command = world.command(PAO);
    command.arg("hook").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that is not meant to read ends before everything is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{args:?}");
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "", "{args:?}");
    String::from_utf8(out.stdout).unwrap()
}

async fn registry(world: &World) -> Registry {
    Registry::open(&world.path(".pao/registry.db")).await.unwrap()
}

#[tokio::test]
async fn the_briefing_is_one_json_document_and_nothing_else_is_printed() {
    let world = world();
    registry(&world).await.close().await;
    world.write(".pao/agents/a1/hook.md", "first\n\"second\" 支付\n");
    let out = hook(&world, &["--agent", "a1"], &payload("SessionStart"));
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["hookSpecificOutput"]["additionalContext"], "first\n\"second\" 支付\n");
    for name in ["UserPromptSubmit", "Stop", "PreCompact", "Notification", "SessionEnd"] {
        assert_eq!(hook(&world, &["--agent", "a1"], &payload(name)), "", "{name}");
    }
}

#[test]
fn nothing_that_is_wrong_is_an_error_for_the_host_agent() {
    let world = world();
    for (args, input) in [
        (&[][..], ""),
        (&["--agent"], "{}"),
        (&["--agent", "../.."], "{}"),
        (&["--agent", "a1", "--more"], "no json"),
        (&["--other", "a1"], "{}"),
        (&["--help"], ""),
        (&["--agent", "a1"], &payload("Stop").repeat(4000)),
    ] {
        assert_eq!(hook(&world, args, input), "", "{args:?}");
    }
    fs::write(world.path(".pao/registry.db"), "this is not a database, whatever its name says").unwrap();
    assert_eq!(hook(&world, &["--agent", "a1"], &payload("Stop")), "");
    assert_eq!(world.read(".pao/registry.db"), "this is not a database, whatever its name says");
}

#[test]
fn an_agent_that_works_for_us_is_told_nothing() {
    let mut world = world();
    world.set("PAO_CHILD", "1");
    world.write(".pao/agents/a1/hook.md", "text");
    assert_eq!(hook(&world, &["--agent", "a1"], &payload("SessionStart")), "");
    assert!(!world.path(".pao/agents/a1/spool").exists());
}

#[tokio::test]
async fn twenty_processes_at_once_with_fifty_events_each_lose_nothing() {
    let world = world();
    registry(&world).await.close().await;
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                for _ in 0..50 {
                    hook(&world, &["--agent", "a1"], &payload("Stop"));
                }
            });
        }
    });
    let registry = registry(&world).await;
    pao_core::hook::drain(&world.host(), &registry).await.unwrap();
    assert_eq!(registry.events_after("a1", 0).await.unwrap().len(), 1000);
}

#[tokio::test]
async fn a_database_that_is_locked_for_long_holds_nobody_up() {
    let world = world();
    registry(&world).await.close().await;
    let path = world.path(".pao/registry.db");
    let mut other =
        <sqlx::SqliteConnection as sqlx::Connection>::connect(path.to_str().unwrap()).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let started = Instant::now();
    hook(&world, &["--agent", "a1"], &payload("Stop"));
    // 100 ms of patience; the rest is room for a busy machine.
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(fs::read_dir(world.path(".pao/agents/a1/spool")).unwrap().count(), 1);
}

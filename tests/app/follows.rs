//! What the windows show follows the registry, whoever writes it and whatever becomes of its file.

#![expect(clippy::disallowed_methods, reason = "the tests are the edge of their own world")]

use std::fs;
use std::time::{Duration, Instant};

use pao_core::registry::Registry;
use pao_core::registry::agents::{Agent, State};
use serde_json::json;

use super::desktop::open;
use super::tray;
use super::window::Window;
use crate::harness::claude::wait;
use crate::harness::world::World;

/// How soon the list shows what another process wrote. This machine may be busy with other things; alone it is a
/// fraction of this.
const SOON: Duration = Duration::from_secs(5);

/// A world with agents in its registry that no process belongs to: they rest.
pub fn resting(names: &[&str]) -> World {
    let mut world = World::new();
    world.real_clock();
    world.write(".pao/config.toml", "[spawn]\nbudget = 1500\n");
    for name in names {
        rest(&world, name);
    }
    world
}

/// Writes a row of an agent that rests, as another process does.
fn rest(world: &World, name: &str) {
    let folder = world.folder(&format!("code/{name}"));
    let at = chrono::Utc::now();
    let resting = Agent { state: State::Paused, ..Agent::starting(name, name, &folder, "claude-code", at) };
    wait(async {
        let registry = Registry::open(&world.path(".pao/registry.db")).await.unwrap();
        registry.add(&resting).await.unwrap();
        registry.close().await;
    });
}

fn shows(list: &Window<'_>, names: &[&str]) {
    list.until(format_args!("{names:?} in the list"), || {
        let rows = list.rows("Agents");
        rows.len() == names.len() && names.iter().all(|name| rows.iter().any(|row| row.starts_with(name)))
    });
}

#[test]
fn what_another_process_writes_is_shown_within_half_a_second() {
    let mut world = resting(&["api"]);
    let desktop = open(&mut world);
    let list = desktop.popover();
    shows(&list, &["api"]);
    // The page itself notes when a row appears in it.
    let note = "window.seen = {}; new MutationObserver(() => document.querySelectorAll('[data-row]') \
                .forEach((row) => window.seen[row.dataset.row] ??= Date.now())) \
                .observe(document.body, { childList: true, subtree: true })";
    list.run(note, &json!([]));
    let mut took: Vec<Duration> = ["b1", "b2", "b3", "b4", "b5"]
        .iter()
        .map(|name| {
            rest(&world, name);
            let written = chrono::Utc::now().timestamp_millis();
            list.until(name, || list.run("return window.seen[arguments[0]] ?? 0", &json!([name])) != 0);
            let seen = list.run("return window.seen[arguments[0]]", &json!([name])).as_i64().unwrap();
            Duration::from_millis(u64::try_from(seen - written).unwrap_or(0))
        })
        .collect();
    took.sort();
    eprintln!("from a row's writing to its showing: median {:?}, longest {:?}", took[2], took[4]);
    assert!(took[2] < SOON, "{took:?}");
}

#[test]
fn a_registry_that_is_removed_broken_or_another_leaves_what_was_last_known_and_is_said() {
    let mut world = resting(&["api", "web"]);
    let other = resting(&["docs"]);
    let desktop = open(&mut world);
    let list = desktop.popover();
    tray::open(&world, &list, &["Open Prime Agent Orchestrator"]);
    shows(&list, &["api", "web"]);
    let (file, kept) = (world.path(".pao/registry.db"), world.path("kept"));
    let aside = |name: &str| world.path(".pao").join(format!("registry.db{name}"));
    let remove = || ["-wal", "-shm", ""].iter().for_each(|end| drop(fs::remove_file(aside(end))));
    fs::create_dir(&kept).unwrap();
    wait(async { Registry::open(&file).await.unwrap().close().await });
    for end in ["-wal", "-shm", ""] {
        let _ = fs::copy(aside(end), kept.join(format!("registry.db{end}")));
    }

    remove();
    list.says("removed from the disk");
    shows(&list, &["api", "web"]);

    // What was put back is followed again.
    for end in ["", "-wal", "-shm"] {
        let _ = fs::copy(kept.join(format!("registry.db{end}")), aside(end));
    }
    list.until("no trouble", || !list.text().contains("removed from the disk"));
    rest(&world, "more");
    shows(&list, &["api", "web", "more"]);

    // So is another in its place, although the old one stays readable for whoever holds it.
    wait(async { Registry::open(&other.path(".pao/registry.db")).await.unwrap().close().await });
    let new = world.path(".pao/registry.new");
    fs::copy(other.path(".pao/registry.db"), &new).unwrap();
    remove();
    fs::rename(&new, &file).unwrap();
    shows(&list, &["docs"]);

    remove();
    fs::write(&file, "this is no database, and never was one; it is only text of some length\n".repeat(200))
        .unwrap();
    list.says("registry.db");
    shows(&list, &["docs"]);
    fs::remove_file(&file).unwrap();
    rest(&world, "new");
    shows(&list, &["new"]);
}

#[test]
fn a_registry_that_another_holds_for_ten_seconds_leaves_what_was_last_known_and_is_waited_for() {
    let mut world = resting(&["api"]);
    let desktop = open(&mut world);
    let list = desktop.popover();
    shows(&list, &["api"]);
    let file = world.path(".pao/registry.db");
    let held = Instant::now();
    let holder = std::thread::spawn(move || {
        wait(async move {
            use sqlx::Connection;
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
            let mut other = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
            let begun = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
            tokio::time::sleep(Duration::from_secs(10)).await;
            begun.rollback().await.unwrap();
        });
    });
    // A verb that writes is asked for meanwhile: it waits, or says who is in its way.
    std::thread::sleep(Duration::from_millis(500));
    let answer = desktop.door("tell", &json!({ "agent": "api", "text": "mind the gap" }));
    eprintln!("told while another held the registry, after {:?}: {answer:?}", held.elapsed());
    if let Err(failure) = &answer {
        assert!(failure["message"].as_str().unwrap().contains("registry"), "{failure:#}");
        assert!(!failure["next"].as_str().unwrap().is_empty(), "{failure:#}");
    }
    shows(&list, &["api"]);
    assert!(!list.text().trim().is_empty());
    holder.join().unwrap();
    desktop.door("tell", &json!({ "agent": "api", "text": "and this" })).unwrap();
    rest(&world, "web");
    shows(&list, &["api", "web"]);
}

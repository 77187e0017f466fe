//! An agent's life after its start, on a real Claude Code in real tmux.

mod checkpoint;
mod clean;
mod handover;
mod looked_at;
mod pause;
mod rebrief;
mod states;
mod tell;
mod times;
mod uninstall;
mod wait;
mod worktree;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::harness::claude::{Claude, Version};

/// A world with one agent that was asked one thing and is idle again.
fn idle(version: Version) -> (Claude, PathBuf, Value) {
    idle_in(Claude::new(version))
}

/// The same in a world that is already there.
fn idle_in(claude: Claude) -> (Claude, PathBuf, Value) {
    let folder = claude.repository("code/api");
    let spawned = claude.spawn(&folder, &["look", "around"]);
    claude.comes_to(&spawned, "idle");
    claude.api.forget();
    (claude, folder, spawned)
}

/// Tells an agent a text and gives what became of it.
fn tell(claude: &Claude, name: &str, text: &str, wait: &str) -> Value {
    let words = ["tell", "--json", "--wait", wait, name, "-"];
    let ran = claude.world.pao(words).stdin(text).limit(Duration::from_mins(2)).run();
    assert!(matches!(ran.code, Some(0 | 5)), "{}\n{}", ran.screen, claude.screens());
    ran.json()[0].clone()
}

/// What became of a text by now.
fn fate(claude: &Claude, told: &Value) -> String {
    let listed = claude.world.pao(["tell", "--list", "--json"]).ok().json();
    let row = listed.as_array().unwrap().iter().find(|row| row["message"] == told["message"]).cloned();
    row.unwrap()["state"].as_str().unwrap().to_owned()
}

/// Requests of turns that the user began, in order, each once.
fn turns(claude: &Claude) -> Vec<messages_api::Request> {
    claude.api.requests().into_iter().filter(messages_api::Request::has_tools).collect()
}

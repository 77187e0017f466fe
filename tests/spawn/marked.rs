//! What the user decided about single memories reaches the agent's first request.

use std::path::Path;

use serde_json::{Value, json};

use super::{KNOWN, SAID, remember};
use crate::harness::claude::{Claude, Version};

const ID: &str = "77bda9c0-47c6-4028-be18-cc4b07d22dcd";

fn marks(claude: &Claude, folder: &Path, words: &[&str]) -> Value {
    let words = [&["marks", "--json"], words].concat();
    claude.world.pao(words).at(folder).ok().json()
}

/// The first request of a new agent that is asked that.
fn asked(claude: &Claude, folder: &Path, words: &[&str]) -> String {
    claude.api.forget();
    let spawned = claude.spawn(folder, words);
    assert_eq!(spawned["confirmed"], true, "{spawned:#}");
    let text = claude.first_request(words.last().unwrap()).text();
    claude.comes_to(&spawned, "idle");
    claude.end(&spawned);
    text
}

#[test]
fn never_keeps_out_of_the_first_request_undo_brings_back_and_a_pin_stays_without_its_store() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    remember(&claude, &folder, SAID);
    assert!(asked(&claude, &folder, &["fix the login bug"]).contains(KNOWN));

    let marked = marks(&claude, &folder, &["never", &ID[..8]]);
    assert_eq!((&marked["mark"], &marked["id"]), (&json!("never"), &json!(ID)), "{marked:#}");
    assert!(!asked(&claude, &folder, &["fix the login bug"]).contains(KNOWN));
    let brief = claude.world.pao(["brief", "--json", "fix the login bug"]).at(&folder).ok().json();
    let line = brief["lines"].as_array().unwrap().iter().find(|line| line["id"] == ID).unwrap();
    assert_eq!((&line["left_out"], &line["marked"]), (&json!("never"), &json!("never")), "{line:#}");
    let recall = claude.world.pao(["recall", "--json", "login bug"]).at(&folder).ok().json();
    assert_eq!(recall["never"], 1, "{recall:#}");
    assert!(!recall["memories"].to_string().contains(KNOWN), "{recall:#}");

    marks(&claude, &folder, &["undo", ID]);
    assert!(asked(&claude, &folder, &["fix the login bug"]).contains(KNOWN));

    marks(&claude, &folder, &["pin", &format!("history:{ID}")]);
    std::fs::remove_dir_all(claude.world.path(".claude/projects/-sample")).unwrap();
    let elsewhere = ["--no-source", "history", "write release notes"];
    let pinned = asked(&claude, &folder, &elsewhere);
    assert!(pinned.contains("## Pinned by the user") && pinned.contains(KNOWN), "{pinned}");
    assert_eq!(marks(&claude, &folder, &["undo", "--all"]).as_array().unwrap().len(), 1);
    assert!(!asked(&claude, &folder, &elsewhere).contains(KNOWN));
}

#[test]
fn a_drop_is_out_of_one_spawn_and_lighter_in_the_next() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    remember(&claude, &folder, SAID);
    let line = || {
        let brief = claude.world.pao(["brief", "--json", "fix the login bug"]).at(&folder).ok().json();
        brief["lines"].as_array().unwrap().iter().find(|line| line["id"] == ID).unwrap().clone()
    };
    let before = line();
    marks(&claude, &folder, &["drop", ID]);
    assert_eq!(line()["left_out"], "dropped");
    assert_eq!(line()["left_out"], "dropped", "looking at it changes nothing");
    assert!(!asked(&claude, &folder, &["fix the login bug"]).contains(KNOWN));
    let after = line();
    assert_eq!(after["marked"], "drop", "{after:#}");
    assert_ne!(after["left_out"], "dropped", "one spawn was made without it: {after:#}");
    let score = |line: &Value| line["score"].as_f64().unwrap();
    assert!(score(&after) < score(&before) * 0.45, "{before:#}{after:#}");
}

#[test]
fn what_is_another_since_the_last_spawn_is_told_with_the_reason() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    remember(&claude, &folder, SAID);
    let changes = |words: &[&str]| {
        let words = [&["brief", "--changes"], words, &["fix the login bug"]].concat();
        claude.world.pao(words).at(&folder).ok()
    };
    assert_eq!(changes(&[]).stdout, "nothing was spawned here before\n");
    assert!(asked(&claude, &folder, &["fix the login bug"]).contains(KNOWN));
    marks(&claude, &folder, &["never", ID]);
    let told = changes(&["--json"]).json()["changes"].clone();
    let gone = &told["gone"][0];
    assert_eq!((&gone["id"], &gone["why"]), (&json!(ID), &json!("never")), "{told:#}");
    let told = changes(&[]).stdout;
    let line = told.lines().find(|line| line.starts_with("- ")).unwrap();
    assert!(line.contains(KNOWN) && line.ends_with("— never to be said"), "{told}");
}

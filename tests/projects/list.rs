//! `pao projects` without anybody watching.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;

use serde_json::{Value, json};

use super::*;

fn listed(world: &World) -> Value {
    world.pao(["projects", "--json"]).ok().json()
}

fn names(list: &Value) -> Vec<&str> {
    list["projects"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect()
}

fn one<'a>(list: &'a Value, name: &str) -> &'a Value {
    list["projects"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap()
}

#[test]
fn a_project_is_listed_with_its_branch_its_changes_and_its_last_session() {
    let world = World::new();
    let api = repository(&world, "code/api");
    world.write("code/api/new.txt", "");
    world.write("code/api/a.txt", "other\n");
    git(&world, &api, &["branch", "other"]);
    git(&world, &api, &["worktree", "add", "-q", "../api-other", "other"]);
    world.write("code/支付对账/package.json", "{}");
    transcript(&world, &api, "s1", "2026-11-30T09:00:00Z", "why do sessions expire");
    world.pao(["projects", "add", "code"]).ok();
    let list = listed(&world);
    let row = one(&list, "api");
    assert_eq!((&row["branch"], &row["changed"]), (&json!("main"), &json!(2)));
    let worktree = one(&list, "api-other");
    assert_eq!((&worktree["branch"], &worktree["changed"]), (&json!("other"), &json!(0)));
    let plain = one(&list, "支付对账");
    assert_eq!((&plain["branch"], &plain["changed"]), (&Value::Null, &Value::Null));
    assert!(
        row["session_at"].is_string() && worktree["session_at"].is_null() && plain["session_at"].is_null()
    );
    world.pao(["index"]).ok();
    assert_eq!(one(&listed(&world), "api")["session_at"], "2026-11-30T09:00:00Z");
    let screen = world.pao(["projects"]).ok().stdout;
    let line = screen.lines().find(|line| line.starts_with("api ")).unwrap().split_whitespace();
    assert_eq!(line.collect::<Vec<_>>()[..5], ["api", "main", "2", "3", "h"], "{screen}");
}

#[test]
fn nothing_is_looked_at_before_the_user_named_it_and_what_transcripts_tell_is_proposed() {
    let world = World::new();
    let said = world.pao(["projects"]).ok();
    assert_eq!(said.stdout, "no projects\n");
    assert!(said.stderr.contains("pao projects add ~/code"), "{}", said.screen);
    for (name, hour) in [("api", "09"), ("web", "08"), ("it's", "07"), ("x", "06")] {
        let folder = world.folder(&format!("my code/{name}"));
        transcript(&world, &folder, name, &format!("2026-11-30T{hour}:00:00Z"), "hello");
    }
    transcript(&world, &world.home, "home", "2026-11-30T10:00:00Z", "hello");
    world.pao(["index"]).ok();
    let said = world.pao(["projects"]).ok();
    assert!(
        said.stderr.contains("pao projects add ~/'my code'   api, web, it's and 1 more, 3 h\n"),
        "{}",
        said.screen
    );
    assert_eq!(said.stderr.lines().count(), 2, "{}", said.screen);
    let list = listed(&world);
    assert_eq!(
        (list["projects"].as_array().unwrap().len(), list["proposals"][0]["projects"].as_u64()),
        (0, Some(4))
    );
    assert!(!world.path(".pao/config.toml").exists());
}

#[test]
fn a_root_whose_disk_is_away_is_kept_and_comes_back() {
    let world = World::new();
    world.write("disk/code/api/go.mod", "");
    world.pao(["projects", "add", "disk/code"]).ok();
    assert_eq!(names(&listed(&world)), ["api"]);
    fs::rename(world.path("disk"), world.path("away")).unwrap();
    let list = listed(&world);
    assert_eq!((names(&list).len(), &list["roots"][0]["state"]), (0, &json!("away")));
    let said = world.pao(["projects"]).ok();
    assert!(said.stderr.contains("~/disk/code: not there"), "{}", said.screen);
    fs::rename(world.path("away"), world.path("disk")).unwrap();
    assert_eq!(names(&listed(&world)), ["api"]);
    let gone = world.pao(["projects", "remove", "disk/code", "--json"]).ok().json();
    assert_eq!(gone["changed"], true);
    assert_eq!(world.pao(["projects", "remove", "disk/code"]).run().code, Some(2));
}

#[test]
fn hostile_names_are_listed_and_never_reach_the_terminal_as_they_are() {
    let world = World::new();
    for name in ["a\nb", "\u{1b}[2Jred", "$(touch x)", "-rf"] {
        world.write(&format!("code/{name}/Cargo.toml"), "");
    }
    let folder = world.folder("code").join(OsString::from_vec(b"caf\xe9".to_vec()));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("AGENTS.md"), "").unwrap();
    world.pao(["projects", "add", "code"]).ok();
    assert_eq!(listed(&world)["projects"].as_array().unwrap().len(), 5);
    let screen = world.pao(["projects"]).ok().stdout;
    assert!(!screen.contains('\u{1b}') && screen.lines().count() == 6, "{screen:?}");
    assert!(!world.path("x").exists() && !world.path("code/x").exists());
}

#[test]
fn agents_are_counted_where_they_work() {
    let world = World::new();
    let api = repository(&world, "code/api");
    world.pao(["projects", "add", "code"]).ok();
    crate::cli::registry(&world, &["one", "two"], &api, "UPDATE agents SET state = 'paused'");
    assert_eq!(one(&listed(&world), "api")["agents"]["paused"], 2);
}

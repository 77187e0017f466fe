//! Cleanup: real agents that ended in every way, a registry that was lost, kills in the middle, and what is shown.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::TimeDelta;
use insta::assert_snapshot;
use pao_core::agent::CLAUDE_CODE;
use pao_core::host::process::{Identity, Started};
use pao_core::project::Project;
use pao_core::registry::Registry;
use pao_core::registry::agents::{Agent, State};
use pao_core::spawn::passed::Way;
use pao_core::spawn::{deliver, launch, trust};
use serde_json::Value;

use crate::harness::claude::{Claude, Version, runs, wait};
use crate::harness::world::World;

type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Paths, permissions and bytes below a folder, except what git and a running agent rewrite by themselves.
fn tree(folder: &Path, without: &[&str]) -> Tree {
    let mut all = Tree::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).unwrap().flatten() {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            if without.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            if meta.is_dir() {
                left.push(path.clone());
            }
            let bytes = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            all.insert(path, (meta.mode(), bytes));
        }
    }
    all
}

fn same(before: &Tree, after: &Tree, what: &str) {
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differing: Vec<_> = paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(differing.is_empty(), "{what}: {differing:#?}");
}

/// Makes everything a spawn makes for an agent that has been gone for two days, without starting one.
fn gone(world: &World, id: &str, name: &str, folder: &Path, state: State) {
    let (host, folder) = (world.host(), folder.canonicalize().unwrap());
    let ago = |days| host.now() - TimeDelta::days(days);
    wait(async {
        let registry = Registry::open(&host.registry_file()).await.unwrap();
        registry.add(&Agent::starting(id, name, &folder, "claude-code", ago(3))).await.unwrap();
        let project = Project::of(&folder);
        let wanted = deliver::Wanted {
            agent: id,
            // What an agent lends to its project by files is back before it rests.
            way: Way::Session,
            context: None,
            folder: &folder,
            project: &project,
            briefing: "# Recorded observations\n",
            hook_text: "recorded",
            reads: CLAUDE_CODE.reads,
        };
        let plan = deliver::plan(&host, &registry, &wanted).await.unwrap();
        deliver::apply(&host, &registry, &plan, id, ago(3)).await.unwrap();
        let config = world.path(".claude.json");
        let place =
            trust::Place { config: &config, record: CLAUDE_CODE.trust, folder: &folder, project: &project };
        trust::grant(&host, &registry, id, &place, ago(3)).await.unwrap();
        let dir = host.agent_dir(id);
        launch::private_folder(&host, &registry, id, &dir).await.unwrap();
        fs::write(dir.join("settings.json"), "{}\n").unwrap();
        fs::set_permissions(dir.join("settings.json"), fs::Permissions::from_mode(0o600)).unwrap();
        let process = Identity { pid: 4_194_000, started: Started::Clock(1) };
        registry.set_process(id, process, None, ago(3)).await.unwrap();
        registry.set_state(id, state, None, "hook `SessionEnd`", ago(2)).await.unwrap();
        registry.close().await;
    });
}

fn id(number: u32) -> String {
    format!("{number:032x}")
}

/// What a cleanup may touch, without what keeps its books.
const BOOKS: &[&str] = &["registry.db", "registry.db-wal", "registry.db-shm", "locks", "cleanups", "index"];

#[test]
fn a_cleanup_is_shown_made_undone_and_listed() {
    let world = World::new();
    let folder = world.folder("code/api");
    world.write(".claude.json", "{\n  \"projects\": {}\n}\n");
    gone(&world, &id(1), "api", &folder, State::Ended);
    gone(&world, &id(2), "resting", &world.folder("code/web"), State::Paused);
    let before = tree(&world.home, BOOKS);
    let shown = world.pao(["agents", "clean", "--dry-run"]).ok();
    assert_snapshot!("clean_plan", shown.screen);
    assert_snapshot!("clean_plan_json", world.pao(["agents", "clean", "--dry-run", "--json"]).ok().screen);
    let unasked = world.pao(["agents", "clean"]).run();
    assert_eq!(unasked.code, Some(2), "{}", unasked.screen);
    assert!(unasked.stderr.contains("there is nobody to ask"), "{}", unasked.stderr);
    same(&before, &tree(&world.home, BOOKS), "nothing was agreed to");

    assert_snapshot!("clean_done", world.pao(["agents", "clean", "--yes"]).ok().screen);
    assert!(!world.path(".pao/agents").join(id(1)).exists());
    assert_snapshot!("clean_nothing", world.pao(["agents", "clean", "--yes"]).ok().screen);
    let paused = world.pao(["agents", "clean", "resting", "--yes"]).run();
    assert_eq!(paused.code, Some(2), "{}", paused.screen);
    assert_snapshot!(
        "clean_paused",
        world.pao(["agents", "clean", "resting", "--yes-paused", "--yes"]).ok().screen
    );
    assert_snapshot!("clean_history", world.pao(["agents", "clean", "--history"]).ok().screen);

    assert_snapshot!("clean_undone", world.pao(["agents", "clean", "--undo"]).ok().screen);
    let undone = world.pao(["agents", "clean", "--undo", "2026-11-30-1", "--json"]).ok().json();
    let items = undone["groups"][0]["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["state"] == "restored"), "{undone:#}");
    same(&before, &tree(&world.home, BOOKS), "all of it is back");
    assert_eq!(world.pao(["agents", "clean", "--undo"]).run().code, Some(2), "nothing is left to undo");
}

#[test]
fn an_automatic_cleanup_says_once_what_it_did() {
    let mut world = World::new();
    world.write(".claude.json", "{\n  \"projects\": {}\n}\n");
    gone(&world, &id(1), "api", &world.folder("code/api"), State::Lost);
    let before = tree(&world.home, BOOKS);
    world.pao(["agents"]).ok();
    same(&before, &tree(&world.home, BOOKS), "off by default");
    world.pao(["config", "set", "clean.automatic", "true"]).ok();
    world.set("PAO_NOW", "2026-12-20T12:00:00Z");
    assert_snapshot!("clean_automatic", world.pao(["agents"]).ok().screen);
    assert!(!world.pao(["agents"]).ok().stderr.contains("cleaned up"), "told once");
    world.pao(["agents", "clean", "--undo"]).ok();
    let mut after = tree(&world.home, BOOKS);
    after.retain(|path, _| before.contains_key(path));
    same(&before, &after, "undone");
}

/// Agents that are whole, neither half there nor half gone; how many are cleaned up.
fn consistent(world: &World, ids: &[String]) -> usize {
    let host = world.host();
    wait(async {
        let registry = Registry::open(&host.registry_file()).await.unwrap();
        let mut cleaned = 0;
        for id in ids {
            let row = registry.agent(id).await.unwrap().unwrap();
            let open = registry.open_changes(Some(id)).await.unwrap().len();
            let there = host.agent_dir(id).is_dir();
            assert_eq!(
                (row.archived_at.is_none(), open > 0),
                (there, there),
                "{row:#?}, {open} open changes"
            );
            assert!(row.claim.is_none() && row.state == State::Ended, "{row:#?}");
            cleaned += usize::from(!there);
        }
        registry.close().await;
        cleaned
    })
}

#[test]
fn killed_at_any_moment_a_cleanup_is_finished_by_the_next_command_and_nothing_is_lost() {
    let world = World::new();
    world.write(".claude.json", "{\n  \"projects\": {}\n}\n");
    let ids: Vec<String> = (1..=8).map(id).collect();
    for (number, id) in ids.iter().enumerate() {
        let folder = world.folder(&format!("code/project-{number}"));
        gone(&world, id, &format!("agent-{number}"), &folder, State::Ended);
    }
    let before = tree(&world.home, BOOKS);
    // What a writer of a file that belongs to others leaves when it is killed: half a file under a name of its own,
    // for a later cleanup, and the host agent's lock, which that one takes over when it is ten seconds old.
    let whole = || {
        let mut all = tree(&world.home, BOOKS);
        all.retain(|path, _| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            !(name.starts_with(".pao-") && path.extension().is_some_and(|e| e == "tmp"))
                && name != ".claude.json.lock"
        });
        all
    };
    let cut = |args: &[&str], after: u64| {
        let mut child = world.pao(args).start();
        let is_open = || {
            let all = fs::read_dir(world.path(".pao/cleanups")).into_iter().flatten().flatten();
            all.filter(|e| e.file_name().to_string_lossy().ends_with(".open")).count() > 0
        };
        while !is_open() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(after));
        child.kill().unwrap();
        child.wait().unwrap();
        let met = is_open();
        world.pao(["agents"]).ok();
        consistent(&world, &ids);
        usize::from(met)
    };
    // Moments spread over the time a cleanup of eight takes, and a little chance in each.
    let chance = u64::from(std::process::id()) % 5;
    let moments = || [0, 2, 5, 9, 14, 20, 30, 45].map(|moment| moment + chance);
    let mut met = 0;
    for moment in moments() {
        met += cut(&["agents", "clean", "--yes"], moment);
        while world.pao(["agents", "clean", "--undo"]).run().code == Some(0) {}
        assert_eq!(consistent(&world, &ids), 0, "after {moment} ms");
        same(&before, &whole(), &format!("after {moment} ms"));
    }
    assert!(met >= 3, "only {met} kills met a cleanup at work");
    met = 0;
    for moment in moments() {
        world.pao(["agents", "clean", "--yes"]).ok();
        assert_eq!(consistent(&world, &ids), 8);
        met += cut(&["agents", "clean", "--undo"], moment);
        // Where the kill came before anything began, it is still to be undone.
        world.pao(["agents", "clean", "--undo"]).run();
        same(&before, &whole(), &format!("undoing, after {moment} ms"));
    }
    assert!(met >= 3, "only {met} kills met an undoing at work");
}

#[test]
fn of_two_cleanups_at_once_one_takes_each_agent() {
    let world = World::new();
    world.write(".claude.json", "{\n  \"projects\": {}\n}\n");
    let ids: Vec<String> = (1..=6).map(id).collect();
    for id in &ids {
        gone(&world, id, &format!("agent-{}", &id[30..]), &world.folder("code/api"), State::Ended);
    }
    let before = tree(&world.home, BOOKS);
    let both: Vec<_> = (0..2).map(|_| world.pao(["agents", "clean", "--yes", "--json"]).start()).collect();
    let mut removed = Vec::new();
    for cleaning in both {
        let output = cleaning.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let done: Value = serde_json::from_slice(&output.stdout).unwrap();
        for group in done["groups"].as_array().unwrap() {
            let items = group["items"].as_array().unwrap();
            if items.iter().any(|item| item["state"] == "removed") {
                removed.push(group["key"].as_str().unwrap().to_owned());
            }
        }
    }
    removed.sort();
    assert_eq!(removed, ids.iter().map(|id| format!("agent:{id}")).collect::<Vec<_>>());
    while world.pao(["agents", "clean", "--undo"]).run().code == Some(0) {}
    same(&before, &tree(&world.home, BOOKS), "undone");
}

fn titles(plan: &Value) -> Vec<&str> {
    let free = plan["groups"].as_array().unwrap().iter().filter(|group| group["left_out"].is_null());
    free.map(|group| group["title"].as_str().unwrap()).collect()
}

#[test]
fn real_agents_that_ended_in_any_way_are_cleaned_up_and_the_live_one_beside_them_is_not() {
    let claude = Claude::new(Version::New);
    let shared = claude.repository("code/api");
    let alone = claude.repository("code/web");
    let spawn = |folder: &Path, name: &str, way: &str| {
        let spawned = claude.spawn(folder, &["--name", name, "--delivery", way, "say", "something"]);
        claude.comes_to(&spawned, "idle");
        spawned
    };
    let live = spawn(&shared, "live", "files");
    let exits = spawn(&shared, "exits", "session");
    let killed = spawn(&alone, "killed", "session");
    let closed = spawn(&shared, "closed", "session");
    let pane = |spawned: &Value| {
        let id = spawned["id"].as_str().unwrap();
        let format = "#{pane_id} #{pane_start_command}";
        let panes = claude.tmux(&["list-panes", "-a", "-F", format]);
        panes.lines().find(|line| line.contains(id)).unwrap().split(' ').next().unwrap().to_owned()
    };
    let plan = claude.world.pao(["agents", "clean", "--dry-run", "--json"]).ok().json();
    assert_eq!(titles(&plan), [""; 0], "{plan:#}");
    claude.exit(&pane(&exits), &exits);
    claude.kill(&killed);
    claude.tmux(&["kill-pane", "-t", &pane(&closed)]);
    claude.until("all three are gone", || claude.agents().len() == 1);
    // An agent says goodbye before its process is gone; until then the plan holds it.
    let look = || claude.world.pao(["agents", "clean", "--dry-run", "--json"]).ok().json();
    claude.until("their processes, too", || titles(&look()).len() == 3);

    let plan = look();
    let mut planned = titles(&plan);
    planned.sort_unstable();
    assert_eq!(planned, ["closed", "exits", "killed"], "{plan:#}");
    for group in plan["groups"].as_array().unwrap() {
        let why = group["why"].to_string();
        assert!(why.contains("is gone") && why.contains("its window in tmux is closed"), "{group:#}");
    }
    let agents = claude.world.path(".pao/agents");
    let private = |spawned: &Value| tree(&agents.join(spawned["id"].as_str().unwrap()), &[]);
    let before: Vec<Tree> = [&exits, &killed, &closed].map(&private).into();
    let (projects, trusted) = (tree(&claude.world.path("code"), &["index"]), trusts(&claude));
    let shown = claude.world.pao(["agents", "clean", "--dry-run"]).ok();
    assert!(shown.screen.contains("less than an hour"), "{}", shown.screen);
    claude.world.pao(["agents", "clean", "--yes", "--older-than", "0"]).ok();
    for gone in [&exits, &killed, &closed] {
        assert!(!agents.join(gone["id"].as_str().unwrap()).exists(), "{gone:#}");
    }
    same(&projects, &tree(&claude.world.path("code"), &["index"]), "projects and the live agent's files");
    assert!(runs(claude.row(&live)["pid"].as_u64().unwrap()));
    assert_eq!(claude.row(&live)["state"], "idle");
    assert_eq!(trusts(&claude), std::slice::from_ref(&shared), "the live one works there");
    claude.ask(&pane(&live), "are you still there");

    claude.world.pao(["agents", "clean", "--undo"]).ok();
    let after: Vec<Tree> = [&exits, &killed, &closed].map(&private).into();
    for (before, after) in before.iter().zip(&after) {
        same(before, after, "private folders");
    }
    assert_eq!(trusts(&claude), trusted);
    claude.end(&live);
}

/// The folders of this world that the agent's configuration calls trusted.
fn trusts(claude: &Claude) -> Vec<PathBuf> {
    let settings: Value = serde_json::from_str(&claude.world.read(".claude.json")).unwrap();
    let projects = settings["projects"].as_object().unwrap().iter();
    let trusted = projects.filter(|(_, entry)| entry["hasTrustDialogAccepted"] == true);
    let mut folders: Vec<PathBuf> = trusted.map(|(folder, _)| folder.into()).collect();
    folders.retain(|folder| folder.starts_with(&claude.world.home));
    folders.sort();
    folders
}

#[test]
fn an_agent_whose_row_was_lost_is_ended_only_by_its_own_yes() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    let clean = tree(&folder, &["index"]);
    let live = claude.spawn(&folder, &["--delivery", "files", "say", "something"]);
    claude.comes_to(&live, "idle");
    let dead = claude.spawn(&claude.repository("code/web"), &["say", "something"]);
    claude.comes_to(&dead, "idle");
    let pid = claude.row(&live)["pid"].as_u64().unwrap();
    claude.kill(&dead);
    for name in ["registry.db", "registry.db-wal", "registry.db-shm"] {
        let _ = fs::remove_file(claude.world.path(".pao").join(name));
    }
    let with = tree(&folder, &["index"]);
    let agents = claude.world.path(".pao/agents");
    let cleaned = claude.world.pao(["agents", "clean", "--yes"]).ok();
    assert!(!agents.join(dead["id"].as_str().unwrap()).exists(), "nothing ran there: {}", cleaned.screen);
    assert!(agents.join(live["id"].as_str().unwrap()).exists() && runs(pid), "it may be at work");
    same(&with, &tree(&folder, &["index"]), "its files");

    claude.world.pao(["agents", "clean", "--yes", "--yes-end"]).ok();
    assert!(!runs(pid) && claude.panes().is_empty(), "{}", claude.screens());
    claude.world.pao(["agents", "clean", "--yes", "-C", folder.to_str().unwrap()]).ok();
    let mut after = tree(&folder, &["index"]);
    // Nobody knows any more that these folders are ours; git does not see them.
    after.retain(|path, _| !path.starts_with(folder.join(".claude")) || path.is_file());
    same(&clean, &after, "the project");
}

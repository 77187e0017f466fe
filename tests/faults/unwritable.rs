//! A folder of ours to which nothing can be written: what only looks goes on, and says that its answer may be old; what
//! must write is refused before anything is begun.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pao_core::host::files::sha256;
use pao_core::registry::Registry;
use pao_core::registry::agents::State;
use serde_json::json;

use super::{differences, tree};
use crate::cli::registry;
use crate::harness::claude::wait;
use crate::harness::world::{NOW, PAO, World};

const SESSION: &str = "0b5e7f0e-58b4-4c57-9a44-0d4cf1a70001";
const BRIEFING: &str = "# Briefing\n- the cookie expires [history · 2026-11-20 · u1]\n";

/// Lines of a script that make our folder one that can only be read.
const READ_ONLY: &str = "mount --bind \"$PAO_HOME\" \"$PAO_HOME\"\nmount -o remount,bind,ro \"$PAO_HOME\"";

/// What is said beside an answer.
const OLD: &str = "so what is said of agents may be old";

/// A machine with an agent that has ended without a word, its briefing, its conversation and an index of that.
fn machine() -> World {
    let world = World::new();
    let folder = world.folder("code/api");
    let record = json!({
        "type": "user", "message": { "role": "user", "content": "The session cookie expires at midnight UTC." },
        "uuid": "77bda9c0-47c6-4028-be18-cc4b07d22dcd", "timestamp": "2026-11-20T09:00:00.000Z",
        "cwd": folder, "sessionId": SESSION, "isSidechain": false,
    });
    let slug: String =
        folder.to_string_lossy().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    world.write(&format!(".claude/projects/{slug}/{SESSION}.jsonl"), &format!("{record}\n"));
    world.write(".claude.json", "{\"hasCompletedOnboarding\": true, \"projects\": {}}");
    world.program("claude", "#!/bin/sh\necho '2.1.332 (Claude Code)'\n");
    world.pao(["index", "--quiet"]).ok();
    // No process has so high a number.
    let statement = format!(
        "UPDATE agents SET session = '{SESSION}', prompt = 'fix the login', query = 'fix the login', state = 'idle',
            pid = 2147483646, pid_started = 1, briefing_hash = '{}' WHERE id = 'gone';
         UPDATE agents SET state = 'paused', session = 'x' WHERE id = 'rest'",
        sha256(BRIEFING.as_bytes())
    );
    registry(&world, &["gone", "rest"], &folder, &statement);
    world.write(".pao/agents/gone/CONTEXT_BRIEFING.md", BRIEFING);
    world
}

/// Everything that only looks, with something that its answer holds.
const LOOKS: &[(&[&str], &str)] = &[
    (&["agents"], "gone"),
    (&["agents", "--json"], "\"lost\""),
    (&["agents", "clean", "--dry-run"], ""),
    (&["agent", "show", "gone"], "as delivered, 1 line, about "),
    (&["agent", "show", "gone", "--json"], "the cookie expires"),
    (&["logs", "gone"], "The session cookie expires"),
    (&["checkpoint", "list"], "no checkpoints"),
    (&["brief", "-C", "code/api", "session", "cookie"], "expires at midnight"),
    (&["recall", "session", "cookie"], "expires at midnight"),
    (&["marks"], ""),
    (&["tell", "--list"], ""),
    (&["consents"], ""),
    (&["projects"], ""),
    (&["spawn", "-C", "code/api", "--dry-run", "--terminal", "tmux", "session", "cookie"], "A spawn would:"),
];

/// Everything that has to write.
const WRITES: &[&[&str]] = &[
    &["spawn", "-C", "code/api", "--yes", "--terminal", "tmux", "session", "cookie"],
    &["agents", "--watch"],
    &["agents", "clean", "--yes"],
    &["pause", "gone"],
    &["resume", "rest", "--yes"],
    &["checkpoint", "gone"],
    &["tell", "gone", "go on"],
    &["rebrief", "gone"],
    &["handover", "gone", "--new", "--yes"],
    &["wait", "gone", "--until", "idle"],
    &["undo", "gone"],
    &["marks", "pin", "history:u1"],
    &["uninstall", "--yes"],
];

/// All that looks answers and says why it may be old, all that writes is refused with a next step, and not a byte of
/// our folder or of the user's is another afterwards. `pao` is the program to run, `why` what it says of the folder.
fn looks_and_does_not_write(world: &World, pao: &Path, why: &str) {
    let before = tree(&world.home);
    for (words, holds) in LOOKS {
        let ran = world.pao_by(pao, *words).ok();
        assert!(ran.stdout.contains(holds), "{}", ran.screen);
        assert!(ran.stderr.contains(why) && ran.stderr.contains(OLD), "{}", ran.screen);
        assert_eq!(ran.stderr.matches(OLD).count(), 1, "{}", ran.screen);
    }
    for words in WRITES {
        let ran = world.pao_by(pao, words.iter().copied().chain(["--json"])).run();
        assert_eq!(ran.code, Some(4), "{}", ran.screen);
        let said = ran.json();
        let message = said["message"].as_str().unwrap();
        assert!(message.starts_with("nothing can be written to ") && message.contains(why), "{}", ran.screen);
        assert_eq!(said["done"], "nothing was begun", "{}", ran.screen);
        assert_ne!(said["next"], "", "{}", ran.screen);
    }
    // A hook is never in its agent's way.
    let event = json!({ "hook_event_name": "Stop", "session_id": SESSION, "cwd": world.path("code/api") });
    let hook = world
        .pao_by(pao, ["hook", "--agent", "gone", "--kind", "claude-code"])
        .stdin(event.to_string())
        .run();
    assert_eq!((hook.code, hook.screen.lines().count()), (Some(0), 1), "{}", hook.screen);
    let after = tree(&world.home);
    let changed =
        differences(&before, &after).into_iter().map(|line| line.chars().take(200).collect::<String>());
    assert_eq!(changed.collect::<Vec<_>>(), Vec::<String>::new());
    let temporary = fs::read_dir(world.path("../tmp")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(temporary.collect::<Vec<_>>(), Vec::<PathBuf>::new(), "a copy stayed");
}

/// A program that becomes `pao` to which closed files are closed: to root nothing is, unless it gives that right away.
fn without_rights(world: &World) -> PathBuf {
    let root = nix::unistd::geteuid().is_root();
    let right = if root { "setpriv --bounding-set=-dac_override,-dac_read_search " } else { "" };
    world.program("closed", &format!("#!/bin/sh\nexec {right}'{PAO}' \"$@\"\n"))
}

#[test]
fn a_disk_that_is_read_only_keeps_nobody_from_looking() {
    let world = machine();
    let pao = world.prepared(Path::new(PAO), READ_ONLY);
    looks_and_does_not_write(&world, &pao, "its disk is read-only");
}

#[test]
fn a_first_index_that_cannot_be_kept_is_made_for_the_answer_alone() {
    let world = machine();
    fs::remove_dir_all(world.path(".pao/history")).unwrap();
    let pao = world.prepared(Path::new(PAO), READ_ONLY);
    let ran = world.pao_by(&pao, ["recall", "session", "cookie"]).at(&world.path("code/api")).ok();
    assert!(ran.stdout.contains("expires at midnight"), "{}", ran.screen);
    assert!(!world.path(".pao/history").exists());
    assert_eq!(fs::read_dir(world.path("../tmp")).unwrap().count(), 0, "a temporary index stayed");
}

#[test]
fn a_full_disk_keeps_nobody_from_looking() {
    let world = machine();
    let fill = "kept=$(mktemp -d)\ncp -a \"$PAO_HOME/.\" \"$kept\"\n\
                mount -t tmpfs -o size=8m,mode=700 tmpfs \"$PAO_HOME\"\n\
                cp -a \"$kept/.\" \"$PAO_HOME\"\nrm -r \"$kept\"\n\
                cat /dev/zero > \"$PAO_HOME/full\" 2> /dev/null || true";
    let pao = world.prepared(Path::new(PAO), fill);
    looks_and_does_not_write(&world, &pao, "its disk is full");
}

#[test]
fn a_folder_that_is_closed_to_the_user_keeps_nobody_from_looking() {
    let world = machine();
    let pao = without_rights(&world);
    let close = |mode: u32| {
        // What an agent's hook cannot write to the registry it keeps in the agent's own folder.
        for folder in [".pao/agents/gone", ".pao"] {
            fs::set_permissions(world.path(folder), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    close(0o500);
    looks_and_does_not_write(&world, &pao, "you may not write there");
    close(0o700);
}

#[test]
fn one_file_of_somebody_else_is_enough_to_be_told_and_one_that_does_not_read_is_no_empty_list() {
    let world = machine();
    let pao = without_rights(&world);
    let file = world.path(".pao/registry.db");
    let close = |mode: u32| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    close(0o400);
    let before = fs::read(&file).unwrap();
    let ran = world.pao_by(&pao, ["agents"]).ok();
    assert!(ran.stdout.contains("gone") && ran.stderr.contains(OLD), "{}", ran.screen);
    let ran = world.pao_by(&pao, ["undo", "gone"]).run();
    assert_eq!(ran.code, Some(4), "{}", ran.screen);
    assert!(
        ran.stderr.contains("nothing can be written to") && ran.stderr.contains("ls -la"),
        "{}",
        ran.screen
    );
    close(0o000);
    for words in [&["agents"][..], &["agent", "show", "gone"], &["logs", "gone"], &["checkpoint", "list"]] {
        let ran = world.pao_by(&pao, words).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(4), ""), "{}", ran.screen);
        assert!(ran.stderr.contains("Permission denied") && ran.stderr.contains("next: "), "{}", ran.screen);
    }
    // The stores can be asked all the same.
    let ran = world.pao_by(&pao, ["recall", "session", "cookie"]).at(&world.path("code/api")).ok();
    assert!(ran.stdout.contains("expires at midnight"), "{}", ran.screen);
    assert!(ran.stderr.contains("answered without the registry"), "{}", ran.screen);
    close(0o600);
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn what_was_committed_last_is_read_too_and_what_waits_to_be_taken_in_stays() {
    let world = machine();
    let event = json!({
        "at": NOW, "event": "SessionEnd", "session": SESSION, "detail": "{}", "state": "ended", "needs": null,
        "session_source": null,
    });
    let waits = world.write(".pao/agents/gone/spool/1.json", &event.to_string());
    wait(async {
        // As long as somebody has it open, what was written last stands only in the write-ahead log.
        let registry = Registry::open(&world.path(".pao/registry.db")).await.unwrap();
        registry
            .set_state("rest", State::NeedsYou, Some("the last word"), "test", NOW.parse().unwrap())
            .await
            .unwrap();
        assert_ne!(fs::metadata(world.path(".pao/registry.db-wal")).unwrap().len(), 0);
        let shown =
            world.pao_by(&world.prepared(Path::new(PAO), READ_ONLY), ["agents", "--json", "--all"]).ok();
        let rows = shown.json();
        let rest = rows.as_array().unwrap().iter().find(|row| row["id"] == "rest").unwrap().clone();
        assert_eq!(rest["needs"], "the last word", "{}", shown.screen);
        registry.close().await;
    });
    assert!(waits.exists(), "an event was taken into a registry that is gone");
    // As soon as it can be written, it counts.
    world.pao(["agents"]).ok();
    assert!(!waits.exists());
}

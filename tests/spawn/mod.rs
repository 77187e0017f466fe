//! The main job on real parts: a real Claude Code in real tmux, whose first request holds the briefing.

mod delivery;
mod git;
mod marked;
mod prompt;
mod undone;

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::claude::{Claude, Version};
use crate::harness::world::Ran;

const BOTH: [Version; 2] = [Version::New, Version::Old];

/// What an earlier session said, in the words of [`remember`].
const SAID: &str = "The login bug comes from the session cookie: it expires at midnight UTC.";

/// A sentence's part that is in no topic here.
const KNOWN: &str = "expires at midnight UTC";

/// Puts down what an earlier session of this folder said, as a transcript the host agent would have left, and has it
/// indexed.
fn remember(claude: &Claude, folder: &Path, text: &str) {
    let session = "0b5e7f0e-58b4-4c57-9a44-0d4cf1a7a001";
    let record = serde_json::json!({
        "parentUuid": null, "isSidechain": false, "type": "user", "userType": "external",
        "message": { "role": "user", "content": text },
        "uuid": "77bda9c0-47c6-4028-be18-cc4b07d22dcd", "timestamp": "2026-11-20T09:00:00.000Z",
        "cwd": folder, "sessionId": session, "version": "2.1.332", "gitBranch": "main",
    });
    claude.world.write(&format!(".claude/projects/-sample/{session}.jsonl"), &format!("{record}\n"));
    claude.world.pao(["index", "--quiet"]).ok();
}

/// A world with a repository of which [`SAID`] is remembered.
fn knowing(version: Version) -> (Claude, PathBuf) {
    let claude = Claude::new(version);
    let folder = claude.repository("code/api");
    remember(&claude, &folder, SAID);
    (claude, folder)
}

/// An agent's file in its private folder.
fn private(claude: &Claude, spawned: &serde_json::Value, name: &str) -> PathBuf {
    claude.world.path(".pao/agents").join(spawned["id"].as_str().unwrap()).join(name)
}

/// Everything below a folder by its path, except git's index, which `git status` itself rewrites.
fn tree(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut all = Vec::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                all.push((path.clone(), None));
                left.push(path);
            } else if entry.file_name() != "index" {
                all.push((path.clone(), fs::read(&path).ok()));
            }
        }
    }
    all.sort();
    all
}

/// What of a tree differs from how it was, for the message of a failed test.
fn changed(before: &[(PathBuf, Option<Vec<u8>>)], after: &[(PathBuf, Option<Vec<u8>>)]) -> Vec<PathBuf> {
    let one = before.iter().filter(|entry| !after.contains(entry));
    let other = after.iter().filter(|entry| !before.contains(entry));
    one.chain(other).map(|(path, _)| path.clone()).collect()
}

/// Any command of ours that takes no part in what is tested.
fn any_command(claude: &Claude) -> Ran {
    claude.world.pao(["agents"]).ok()
}

#[test]
fn everything_in_our_folder_is_for_its_owner_only_and_a_project_s_files_are_as_ever() {
    use std::os::unix::fs::PermissionsExt;
    let (claude, folder) = knowing(Version::New);
    let spawned = claude.spawn(&folder, &["--delivery", "files", "fix", "the", "login", "bug"]);
    assert_eq!(spawned["confirmed"], true, "{spawned:#}");
    claude.world.pao(["config", "set", "spawn.budget", "3000"]).ok();
    claude.world.pao(["doctor"]).run();
    let mode = |path: &Path| path.symlink_metadata().unwrap().permissions().mode() & 0o777;
    let open: Vec<String> = tree(&claude.world.path(".pao"))
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| mode(path) & 0o077 != 0)
        .map(|path| format!("{:o} {}", mode(&path), path.display()))
        .collect();
    assert!(open.is_empty(), "{open:#?}");
    let mine = folder.join("by-me");
    fs::write(&mine, "").unwrap();
    let pane = claude.world.tmux(&["list-panes", "-a", "-F", "#{pane_pid}"]);
    let status = fs::read_to_string(format!("/proc/{}/status", pane.lines().next().unwrap())).unwrap();
    let umask = status.lines().find(|line| line.starts_with("Umask")).unwrap();
    let umask = u32::from_str_radix(umask.split_whitespace().nth(1).unwrap(), 8).unwrap();
    assert_eq!(0o666 & !umask, mode(&mine), "an agent writes as its user does");
}

#[test]
fn what_an_earlier_session_said_stands_in_the_first_request() {
    let (claude, folder) = knowing(Version::New);
    let spawned = claude.spawn(&folder, &["fix", "the", "login", "bug"]);
    assert_eq!(spawned["confirmed"], true, "{spawned:#}");
    let request = claude.first_request("fix the login bug");
    assert!(request.text().contains(KNOWN), "{}", request.text());
    assert_eq!(claude.git(&folder, &["status", "--porcelain", "--ignored"]), "");
}

//! Projects as they are found, listed and watched, on a real disk and with real git.

mod list;
mod watched;

use std::path::Path;

use crate::harness::world::World;

/// A repository with one commit in the home directory.
fn repository(world: &World, path: &str) -> std::path::PathBuf {
    let folder = world.folder(path);
    world.write(&format!("{path}/a.txt"), "a\n");
    git(world, &folder, &["init", "-q", "-b", "main"]);
    git(world, &folder, &["add", "-A"]);
    commit(world, &folder);
    folder
}

fn commit(world: &World, folder: &Path) {
    git(world, folder, &["commit", "-q", "--no-gpg-sign", "-m", "work"]);
}

fn git(world: &World, folder: &Path, args: &[&str]) {
    let mut git = world.command("git");
    git.args(["-c", "user.name=An Author", "-c", "user.email=a@example.invalid"]).args(args);
    let done = git.env("GIT_CONFIG_GLOBAL", "/dev/null").current_dir(folder).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A transcript of a session in that folder, with one question of the user's.
fn transcript(world: &World, folder: &Path, session: &str, at: &str, text: &str) -> std::path::PathBuf {
    let line = said(folder, session, at, text);
    world.write(&format!(".claude/projects/{session}-folder/{session}.jsonl"), &line)
}

/// One line of such a transcript.
fn said(folder: &Path, session: &str, at: &str, text: &str) -> String {
    let line = serde_json::json!({
        "type": "user", "sessionId": session, "cwd": folder, "gitBranch": "main", "timestamp": at,
        "uuid": format!("{session}-{at}"), "isSidechain": false,
        "message": {"role": "user", "content": text},
    });
    line.to_string() + "\n"
}

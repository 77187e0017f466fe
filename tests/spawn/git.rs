//! Git in the folder of an agent behaves as if we were not there, and afterwards we were not.

use std::fs;
use std::path::Path;

use super::{KNOWN, any_command, changed, knowing, tree};
use crate::harness::claude::{Claude, Version};

/// Makes a branch that brings one file, and returns to `main`.
fn branch_bringing(claude: &Claude, folder: &Path, name: &str, file: &str) {
    claude.git(folder, &["checkout", "-q", "-b", name]);
    fs::write(folder.join(file), format!("theirs, from {name}\n")).unwrap();
    claude.commit(folder, name);
    claude.git(folder, &["checkout", "-q", "main"]);
}

fn ours(folder: &Path) -> Vec<&'static str> {
    let ours = ["CONTEXT_BRIEFING.md", ".claude/rules/pao-briefing.md", ".claude"];
    ours.into_iter().filter(|name| folder.join(name).exists()).collect()
}

fn exclude(folder: &Path) -> String {
    fs::read_to_string(folder.join(".git/info/exclude")).unwrap_or_default()
}

#[test]
fn status_stash_and_merge_are_as_without_us_and_the_end_of_the_session_takes_all_away() {
    let (claude, folder) = knowing(Version::New);
    branch_bringing(&claude, &folder, "rules", "CLAUDE.md");
    let before = exclude(&folder);
    let spawned = claude.spawn(&folder, &["--delivery", "files", "fix", "the", "login", "bug"]);
    assert!(claude.first_request("fix the login bug").text().contains(KNOWN));
    assert_eq!(ours(&folder).len(), 3);
    assert_eq!(claude.git(&folder, &["status", "--porcelain"]), "");

    fs::write(folder.join("new.rs"), "fn main() {}\n").unwrap();
    claude.git(&folder, &["stash", "-u", "-q"]);
    assert_eq!(claude.git(&folder, &["stash", "show", "-u", "--name-only"]).trim(), "new.rs");
    assert_eq!(ours(&folder).len(), 3, "the stash took our files along");
    claude.git(&folder, &["stash", "pop", "-q"]);
    assert_eq!(claude.git(&folder, &["status", "--porcelain"]), "?? new.rs\n");
    fs::remove_file(folder.join("new.rs")).unwrap();
    claude.git(&folder, &["merge", "-q", "rules"]);
    assert_eq!(claude.git(&folder, &["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(folder.join("CLAUDE.md")).unwrap(), "theirs, from rules\n");

    claude.comes_to(&spawned, "idle");
    // No command of ours runs here: the session's last hook sees to it.
    claude.say(&claude.panes()[0], "/exit", || ours(&folder).is_empty() && exclude(&folder) == before);
    assert_eq!(claude.git(&folder, &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(claude.agents().len(), 0);
}

#[test]
fn a_merge_that_brings_a_briefing_of_its_own_wins_and_a_second_agent_gets_the_session_way() {
    let (claude, folder) = knowing(Version::New);
    branch_bringing(&claude, &folder, "theirs", "CONTEXT_BRIEFING.md");
    let before = exclude(&folder);
    let first = claude.spawn(&folder, &["--delivery", "files", "fix", "the", "login", "bug"]);
    let second = claude.spawn(&folder, &["--delivery", "files", "login", "bug,", "the", "second"]);
    assert_eq!(second["delivery"], "session", "{second:#}");
    let notes = second["notes"].to_string();
    assert!(notes.contains("delivered for this session instead of by files"), "{notes}");
    assert!(claude.first_request("login bug, the second").text().contains(KNOWN));

    claude.git(&folder, &["merge", "-q", "theirs"]);
    assert_eq!(claude.git(&folder, &["status", "--porcelain"]), "");
    claude.kill(&first);
    any_command(&claude);
    assert_eq!(ours(&folder), ["CONTEXT_BRIEFING.md"], "what the merge brought stays");
    assert_eq!(fs::read_to_string(folder.join("CONTEXT_BRIEFING.md")).unwrap(), "theirs, from theirs\n");
    assert_eq!(exclude(&folder), before);
    assert_eq!(claude.git(&folder, &["status", "--porcelain", "--ignored"]), "");
    let states: Vec<_> = claude.agents().iter().map(|row| row["id"].clone()).collect();
    assert_eq!(states, [second["id"].clone()], "only the second one lives");
}

#[test]
fn agents_in_two_worktrees_share_the_exclude_lines_until_the_last_is_gone() {
    let (claude, folder) = knowing(Version::New);
    let other = claude.world.path("code/other");
    claude.git(&folder, &["worktree", "add", "-q", other.to_str().unwrap(), "-b", "other"]);
    let before = (tree(&folder), tree(&other));
    let excluded = exclude(&folder);
    let lines = |text: &str| text.lines().filter(|line| line.contains("CONTEXT_BRIEFING")).count();

    let first = claude.spawn(&folder, &["--delivery", "files", "fix", "the", "login", "bug"]);
    let second = claude.spawn(&other, &["--delivery", "files", "the", "login", "bug", "elsewhere"]);
    assert_eq!((&first["delivery"], &second["delivery"]), (&"files".into(), &"files".into()));
    assert!(claude.first_request("the login bug elsewhere").text().contains(KNOWN));
    assert_eq!(lines(&exclude(&folder)), 1, "{}", exclude(&folder));
    for folder in [&folder, &other] {
        assert_eq!(claude.git(folder, &["status", "--porcelain"]), "");
    }

    claude.kill(&first);
    any_command(&claude);
    assert!(ours(&folder).is_empty(), "{:?}", ours(&folder));
    assert_eq!((ours(&other).len(), lines(&exclude(&folder))), (3, 1));
    assert_eq!(claude.git(&other, &["status", "--porcelain"]), "");

    // Its window is closed under it: it still has the time to say so.
    claude.comes_to(&second, "idle");
    claude.tmux(&["kill-server"]);
    claude.until("the last one's files are gone", || ours(&other).is_empty() && exclude(&folder) == excluded);
    let after = (tree(&folder), tree(&other));
    assert!(after == before, "{:?} {:?}", changed(&before.0, &after.0), changed(&before.1, &after.1));
}

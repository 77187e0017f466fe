//! A worktree of its own for a second agent in a folder.

use std::fs;

use super::idle;
use crate::harness::claude::Version;

#[test]
fn a_second_agent_is_warned_of_and_gets_a_worktree_that_goes_again_only_without_work_in_it() {
    let (claude, folder, first) = idle(Version::New);
    fs::write(folder.join(".env"), "KEY=1\n").unwrap();
    let where_to = ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder.to_str().unwrap()];
    let beside = claude.world.pao(where_to.iter().chain(&["--name", "beside"])).ok();
    assert!(beside.stderr.contains("api works in ~/code/api too; --worktree"), "{}", beside.screen);
    assert!(
        beside.json()["notes"].to_string().contains("works in the same folder: api"),
        "{}",
        beside.screen
    );

    let apart = claude.spawn(&folder, &["--name", "apart", "--worktree", "--", "work", "apart"]);
    let place = claude.world.path(".pao-worktrees/api-apart");
    assert_eq!(apart["folder"], place.to_str().unwrap(), "{apart:#}");
    assert!(place.join("README.md").exists() && apart["notes"].to_string().contains(".env"), "{apart:#}");
    assert_eq!(claude.git(&place, &["branch", "--show-current"]).trim(), "pao/apart");
    assert_eq!(claude.git(&folder, &["status", "--porcelain"]), "?? .env\n", "nothing is left in the folder");
    let row = claude.row(&apart);
    assert_eq!(row["project"], claude.row(&first)["project"], "one project");

    // Work in it: it stays.
    fs::write(place.join("README.md"), "# Changed\n").unwrap();
    let kept = claude.world.pao(["undo", "--end", "apart"]).ok();
    assert!(place.join("README.md").exists() && kept.stdout.contains("kept"), "{}", kept.screen);
    claude.commit(&place, "on the branch alone");
    let kept = claude.world.pao(["undo", "apart"]).ok();
    assert!(place.exists() && kept.stdout.contains("neither pushed nor merged"), "{}", kept.screen);
    let listed = claude.world.pao(["uninstall", "--dry-run"]).ok();
    assert!(listed.stdout.contains("git worktree ~/.pao-worktrees/api-apart, unless"), "{}", listed.screen);
    assert!(listed.stdout.contains("left to you: branch pao/apart in ~/code/api"), "{}", listed.screen);
    claude.git(&folder, &["merge", "-q", "pao/apart"]);
    let gone = claude.world.pao(["undo", "apart"]).ok();
    assert!(!place.exists(), "{}", gone.screen);
    assert_eq!(claude.git(&folder, &["branch", "--list", "pao/*"]), "");
}

#[test]
fn a_named_branch_is_used_and_where_none_can_be_made_nothing_is_started() {
    let (claude, folder, _) = idle(Version::New);
    claude.git(&folder, &["branch", "topic"]);
    let spawned = claude.spawn(&folder, &["--name", "on-topic", "--worktree=topic"]);
    let place = spawned["folder"].as_str().unwrap();
    assert_eq!(claude.git(place.as_ref(), &["branch", "--show-current"]).trim(), "topic");
    let at = |folder: &str, branch: &str| {
        let words = ["spawn", "--yes", "--terminal", "tmux", "-C", folder, branch, "--name", "other"];
        claude.world.pao(words).run()
    };
    let taken = at(folder.to_str().unwrap(), "--worktree=topic");
    assert_eq!(taken.code, Some(4), "{}", taken.screen);
    let bare = claude.world.folder("plain");
    assert_eq!(at(bare.to_str().unwrap(), "--worktree").code, Some(2));
    assert!(claude.agents().iter().all(|row| row["agent"] != "other" && row["name"] != "other"));
}

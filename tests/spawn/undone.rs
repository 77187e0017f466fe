//! Taking a spawn back leaves nothing of it.

use serde_json::Value;

use super::{any_command, changed, knowing, tree};
use crate::harness::claude::{Claude, Version, runs};

fn settings(claude: &Claude) -> Value {
    serde_json::from_str(&claude.world.read(".claude.json")).unwrap()
}

fn trusted(claude: &Claude, folder: &std::path::Path) -> bool {
    settings(claude)["projects"][&*folder.to_string_lossy()]["hasTrustDialogAccepted"] == true
}

#[test]
fn undo_ends_the_agent_and_leaves_nothing_of_it() {
    let (claude, folder) = knowing(Version::New);
    let (before, kept) = (tree(&folder), settings(&claude));
    for way in ["session", "files"] {
        let spawned = claude.spawn(&folder, &["--delivery", way, "fix", "the", "login", "bug"]);
        let name = spawned["agent"].as_str().unwrap();
        claude.comes_to(&spawned, "idle");
        assert!(trusted(&claude, &folder));
        let pid = claude.row(&spawned)["pid"].as_u64().unwrap();
        assert_eq!(
            claude.world.pao(["undo", name]).run().code,
            Some(2),
            "a running one is not ended unasked"
        );
        claude.world.pao(["undo", name, "--end"]).ok();
        assert!(!runs(pid));
        assert!(claude.panes().is_empty(), "{}", claude.screens());
        let after = tree(&folder);
        assert!(after == before, "{way} {:?}", changed(&before, &after));
        assert!(!super::private(&claude, &spawned, "").exists());
        assert!(claude.agents().is_empty());

        let now = settings(&claude);
        assert!(!trusted(&claude, &folder), "{way} {now:#}");
        for key in ["hasCompletedOnboarding", "customApiKeyResponses"] {
            assert_eq!(now[key], kept[key], "{way}");
        }
        assert_eq!(now["projects"]["/somewhere/else"], kept["projects"]["/somewhere/else"]);
    }
}

#[test]
fn undo_of_a_folder_takes_back_all_its_agents() {
    let (claude, folder) = knowing(Version::New);
    let elsewhere = claude.repository("code/web");
    let before = tree(&folder);
    let one = claude.spawn(&folder, &["--delivery", "files", "fix", "the", "login", "bug"]);
    let two = claude.spawn(&folder, &["--delivery", "session", "again", "the", "login", "bug"]);
    let other = claude.spawn(&elsewhere, &["another", "login", "bug"]);
    for spawned in [&one, &two, &other] {
        claude.comes_to(spawned, "idle");
    }
    claude.world.pao(["undo", "--end", "-C", folder.to_str().unwrap()]).ok();
    any_command(&claude);
    let after = tree(&folder);
    assert!(after == before, "{:?}", changed(&before, &after));
    assert!(!trusted(&claude, &folder) && trusted(&claude, &elsewhere));
    let left: Vec<_> = claude.agents().iter().map(|row| row["id"].clone()).collect();
    assert_eq!(left, [other["id"].clone()]);
    assert_eq!(claude.panes().len(), 1);
}

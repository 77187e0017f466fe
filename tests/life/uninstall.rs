//! Removing everything while agents are paused or at work: what is theirs and the user's stays.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::idle;
use crate::harness::claude::{Claude, Version, runs};

/// Files of an agent's conversation.
fn transcript(claude: &Claude, spawned: &Value) -> std::path::PathBuf {
    let kept = claude.world.pao(["checkpoint", "--json", spawned["id"].as_str().unwrap()]).ok().json();
    kept["transcript"]["path"].as_str().unwrap().into()
}

#[test]
fn of_a_paused_agent_the_conversation_stays_and_how_to_take_it_up_is_said() {
    let (claude, folder, spawned) = idle(Version::New);
    let world = &claude.world;
    let transcript = transcript(&claude, &spawned);
    world.pao(["pause", "api"]).ok();
    let said = fs::read(&transcript).unwrap();
    let session = spawned["session_id"].as_str().unwrap();
    let how = format!("api: `claude --resume {session}` in ~/code/api takes it up");

    let listed = world.pao(["uninstall", "--dry-run"]).ok();
    let heading = "These are paused, and pao cannot bring them back afterwards:";
    assert!(listed.stdout.contains(heading) && listed.stdout.contains(&how), "{}", listed.screen);
    assert!(!listed.stdout.contains("Still at work"), "{}", listed.screen);
    assert!(world.path(".pao/registry.db").exists(), "a list removes nothing");
    // A paused one is not at work, but nobody said yes.
    let unasked = world.pao(["uninstall"]).run();
    assert_eq!(unasked.code, Some(2), "{}", unasked.screen);
    assert!(unasked.stderr.contains(&how) && unasked.stderr.contains("--yes"), "{}", unasked.screen);
    assert_eq!(claude.row(&spawned)["state"], "paused");

    let removed = world.pao(["uninstall", "--yes"]).ok();
    assert!(
        removed.stdout.contains("These were paused; their conversations are kept:"),
        "{}",
        removed.screen
    );
    assert!(removed.stdout.contains(&how), "{}", removed.screen);
    assert!(!world.path(".pao").exists(), "{}", removed.screen);
    assert_eq!(fs::read(&transcript).unwrap(), said, "the conversation is the host agent's");
    assert_eq!(claude.git(&folder, &["status", "--porcelain"]), "");
    let record: Value = serde_json::from_str(&world.read(".claude.json")).unwrap();
    let trusted = &record["projects"][folder.to_str().unwrap()]["hasTrustDialogAccepted"];
    assert_ne!(trusted, &json!(true), "what was agreed to for it is taken back");
    assert_eq!(record["projects"]["/somewhere/else"]["hasTrustDialogAccepted"], true);
}

#[test]
fn a_live_agent_is_ended_only_with_the_word_for_it_and_a_yes() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    fs::write(folder.join("AGENTS.md"), "# Mine\n").unwrap();
    claude.commit(&folder, "my own words");
    let spawned = claude.spawn(&folder, &["--delivery", "files", "look", "around"]);
    claude.comes_to(&spawned, "idle");
    let world = &claude.world;
    let transcript = transcript(&claude, &spawned);
    fs::write(folder.join("work.txt"), "not committed").unwrap();
    let pid = claude.row(&spawned)["pid"].as_u64().unwrap();
    let settings = world.path(".pao/agents").join(spawned["id"].as_str().unwrap());
    let untouched = |after: &str| {
        assert!(runs(pid), "{after}");
        assert!(settings.is_dir() && folder.join("CONTEXT_BRIEFING.md").exists(), "{after}");
        assert_eq!(claude.row(&spawned)["state"], "idle", "{after}");
        assert_eq!(claude.panes().len(), 1, "{after}");
    };

    let listed = world.pao(["uninstall", "--dry-run"]).ok();
    assert!(listed.stdout.contains("Still at work, and only ended with --end: api"), "{}", listed.screen);
    for part in ["for agent api: ", "file ~/code/api/CONTEXT_BRIEFING.md", "the folder ~/.pao"] {
        assert!(listed.stdout.contains(part), "{part} in {}", listed.screen);
    }
    untouched("a list");
    for (words, next) in
        [(&["uninstall"][..], "pao uninstall --end"), (&["uninstall", "--yes"], "pao uninstall --end --yes")]
    {
        let refused = world.pao(words).run();
        assert_eq!(refused.code, Some(2), "{}", refused.screen);
        assert!(refused.stderr.contains("nothing was removed, for still at work: api"), "{}", refused.screen);
        assert!(refused.stderr.trim_end().ends_with(next), "{}", refused.screen);
        untouched(&refused.screen);
    }
    // The word for it is no yes: nobody is there to give one.
    let unasked = world.pao(["uninstall", "--end", "--json"]).run();
    assert_eq!(unasked.code, Some(2), "{}", unasked.screen);
    assert_eq!(unasked.json()["message"], "there is nobody to ask");
    assert!(unasked.json()["next"].as_str().unwrap().contains("--yes"), "{}", unasked.screen);
    untouched(&unasked.screen);

    let removed = world.pao(["uninstall", "--end", "--yes"]).ok();
    claude.until("the agent is gone", || !runs(pid));
    assert_eq!(claude.panes(), Vec::<String>::new(), "{}", removed.screen);
    // The agent's last hook indexes what was said in it, in a process that may outlive this command.
    std::thread::sleep(Duration::from_secs(1));
    let left = fs::read_dir(world.path(".pao")).into_iter().flatten().map(|entry| entry.unwrap().path());
    assert_eq!(left.collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new(), "{}", removed.screen);
    assert!(!world.path(".pao").exists(), "{}", removed.screen);
    assert!(transcript.is_file(), "the conversation is the host agent's");
    assert_eq!(fs::read_to_string(folder.join("work.txt")).unwrap(), "not committed");
    assert_eq!(fs::read_to_string(folder.join("AGENTS.md")).unwrap(), "# Mine\n");
    assert_eq!(claude.git(&folder, &["status", "--porcelain"]), "?? work.txt\n");
    assert_eq!(world.pao(["uninstall"]).ok().stdout, "no trace of pao was found\n");
}

//! Pausing real agents and bringing them back: the conversation goes on, what changed is told, nothing is half-done.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use messages_api::{Reply, Request, Script};
use serde_json::{Value, json};

use crate::harness::claude::{Claude, PATIENCE, Version, runs};

const BEGIN: &str = "<!-- pao:briefing -->";

/// An agent at its prompt line, after one turn.
fn idle(claude: &Claude, args: &[&str]) -> (PathBuf, Value) {
    let folder = claude.repository("code/api");
    let spawned = claude.spawn(&folder, args);
    claude.comes_to(&spawned, "idle");
    (folder, spawned)
}

fn id(spawned: &Value) -> &str {
    spawned["id"].as_str().unwrap()
}

fn pause(claude: &Claude, spawned: &Value) -> Value {
    claude.world.pao(["pause", "--json", id(spawned)]).ok().json()
}

fn resume(claude: &Claude, spawned: &Value) -> Value {
    let ran = claude.world.pao(["resume", "--json", id(spawned)]).limit(PATIENCE).run();
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.screen, claude.screens());
    ran.json()
}

/// Says something to the agent and returns the request that carried it.
fn asks(claude: &Claude, text: &str) -> Request {
    let pane = claude.panes().pop().unwrap();
    let came = |r: &Request| r.has_tools() && r.last_user_text().contains(text);
    claude.say(&pane, text, || claude.api.requests().iter().any(came));
    claude.first_request(text)
}

#[test]
fn a_paused_agent_is_gone_and_comes_back_to_its_conversation_told_what_changed() {
    for version in [Version::New, Version::Old] {
        let claude = Claude::new(version);
        let (folder, spawned) = idle(&claude, &["fix", "the", "login", "bug"]);
        let pid = claude.row(&spawned)["pid"].as_u64().unwrap();
        let paused = pause(&claude, &spawned);
        assert!(!runs(pid), "{version:?}");
        assert!(paused["freed_bytes"].as_u64().unwrap() > 20_000_000, "{paused:#}");
        eprintln!("{version:?}: freed {} bytes in {} ms", paused["freed_bytes"], paused["ms"]);
        assert_eq!(claude.panes(), Vec::<String>::new(), "{version:?}");
        let row = claude.row(&spawned);
        assert_eq!((&row["state"], &row["ended_at"]), (&json!("paused"), &Value::Null), "{version:?}");

        fs::write(folder.join("cookie.rs"), "fn cookie() {}\n").unwrap();
        claude.commit(&folder, "the cookie lives for a day");
        fs::write(folder.join("README.md"), "# Changed\n").unwrap();
        let began = Instant::now();
        let resumed = resume(&claude, &spawned);
        eprintln!("{version:?}: resumed in {} ms ({:?} outside)", resumed["ms"], began.elapsed());
        for step in resumed["steps"].as_array().unwrap() {
            eprintln!("  {} {} ms: {}", step["name"], step["ms"], step["note"]);
        }
        assert_eq!((&resumed["id"], &resumed["session_id"]), (&spawned["id"], &spawned["session_id"]));
        assert_eq!(
            resumed["changed"]["phrases"],
            json!(["1 new commit", "1 file changed", "1 uncommitted change"])
        );
        let request = asks(&claude, "and what now?");
        let text = request.text();
        assert!(
            text.contains("fix the login bug") && text.contains("noted"),
            "the earlier turns, {version:?}"
        );
        assert!(text.contains("the cookie lives for a day (tester)"), "{version:?}: {text}");
        assert!(text.contains("+1 −0 cookie.rs") && text.contains(".M README.md"), "{version:?}: {text}");
        claude.comes_to(&spawned, "idle");
        assert_eq!(claude.began(&spawned), ["startup", "resume"]);
        claude.end(&spawned);
    }
}

#[test]
fn another_folder_in_the_place_of_its_repository_is_said_to_be_none() {
    let claude = Claude::new(Version::New);
    let (folder, spawned) = idle(&claude, &["fix", "the", "login", "bug"]);
    pause(&claude, &spawned);
    fs::rename(&folder, folder.with_extension("moved")).unwrap();
    fs::create_dir(&folder).unwrap();
    let resumed = resume(&claude, &spawned);
    assert_eq!(resumed["changed"]["phrases"], json!(["its folder is no git repository any more"]));
    assert!(asks(&claude, "and what now?").text().contains("is no git repository any more"));
    claude.end(&spawned);
}

/// Something said in another session of that folder at that time.
fn said(claude: &Claude, folder: &std::path::Path, number: u32, at: &str, text: &str) {
    let session = format!("0b5e7f0e-58b4-4c57-9a44-0d4cf1a7{number:04x}");
    let record = json!({
        "parentUuid": null, "isSidechain": false, "type": "user", "userType": "external",
        "message": { "role": "user", "content": text },
        "uuid": format!("77bda9c0-47c6-4028-be18-cc4b07d2{number:04x}"), "timestamp": at,
        "cwd": folder, "sessionId": session, "version": "2.1.332", "gitBranch": "main",
    });
    claude.world.write(&format!(".claude/projects/-sample/{session}.jsonl"), &format!("{record}\n"));
    claude.world.pao(["index"]).ok();
}

#[test]
fn of_the_memories_only_those_are_told_that_came_after_it_was_put_to_rest() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    said(&claude, &folder, 1, "2026-11-20T09:00:00.000Z", "The login bug comes from the session cookie.");
    let spawned = claude.spawn(&folder, &["fix", "the", "login", "bug"]);
    claude.comes_to(&spawned, "idle");
    let paused = pause(&claude, &spawned);
    let kept =
        claude.world.pao(["checkpoint", "show", "--json", paused["checkpoint"].as_str().unwrap()]).ok();
    std::thread::sleep(Duration::from_millis(1_100));
    let now = String::from_utf8(
        claude.world.command("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().unwrap().stdout,
    )
    .unwrap();
    assert!(kept.json()["at"].as_str().unwrap() < now.trim());
    said(&claude, &folder, 2, now.trim(), "The login bug is gone when the cookie lives for a day.");
    let resumed = resume(&claude, &spawned);
    assert_eq!(resumed["changed"]["phrases"], json!(["1 new memory"]), "{resumed:#}");
    let text = resumed["changed"]["text"].as_str().unwrap();
    assert!(text.contains("cookie lives for a day. [history · "), "{text}");
    assert!(!text.contains("comes from the session cookie"), "{text}");
    assert!(asks(&claude, "and what now?").text().contains("cookie lives for a day. [history · "));
}

#[test]
fn where_nothing_changed_nothing_is_said() {
    let claude = Claude::new(Version::New);
    let (_, spawned) = idle(&claude, &["fix", "the", "login", "bug"]);
    pause(&claude, &spawned);
    let resumed = resume(&claude, &spawned);
    assert_eq!((&resumed["changed"]["phrases"], &resumed["changed"]["text"]), (&json!([]), &json!("")));
    let text = asks(&claude, "and what now?").text();
    assert!(text.contains("fix the login bug"));
    assert_eq!(text.matches(BEGIN).count(), 1, "the briefing of its start, and nothing after it: {text}");
}

#[test]
fn after_clear_it_is_the_new_conversation_that_comes_back() {
    for said in [true, false] {
        let claude = Claude::new(Version::New);
        let (_, spawned) = idle(&claude, &["fix", "the", "login", "bug"]);
        let pane = claude.panes().pop().unwrap();
        claude.say(&pane, "/clear", || claude.began(&spawned).len() == 2);
        if said {
            asks(&claude, "a second matter");
            claude.comes_to(&spawned, "idle");
        }
        let second = claude.row(&spawned)["session_id"].clone();
        assert_ne!(second, spawned["session_id"]);
        pause(&claude, &spawned);
        let resumed = resume(&claude, &spawned);
        assert_eq!(resumed["session_id"], second);
        let text = asks(&claude, "and what now?").text();
        assert_eq!(text.contains("a second matter"), said, "{text}");
        // The first one was cleared and stays so; what it was asked stands in the briefing at most.
        let turns = text.split(BEGIN).next().unwrap().to_owned()
            + text.rsplit("<!-- /pao:briefing -->").next().unwrap();
        assert!(!turns.contains("fix the login bug"), "{text}");
    }
}

#[test]
fn a_conversation_in_which_nothing_was_said_begins_anew() {
    for version in [Version::New, Version::Old] {
        let claude = Claude::new(version);
        let (_, spawned) = idle(&claude, &[]);
        pause(&claude, &spawned);
        let resumed = resume(&claude, &spawned);
        assert_eq!(resumed["begins_anew"], true, "{version:?}");
        assert_eq!(claude.row(&spawned)["session_id"], resumed["session_id"]);
        assert_eq!(
            asks(&claude, "and what now?").text().matches(BEGIN).count(),
            1,
            "{version:?}: its briefing"
        );
        claude.end(&spawned);
    }
}

#[test]
fn a_busy_agent_is_only_interrupted_by_the_users_word() {
    let slow = Script { default: Some(Reply::text("slowly").after_ms(20_000)), ..Script::default() };
    let claude = Claude::with_script(Version::New, slow);
    let folder = claude.repository("code/api");
    let spawned = claude.spawn(&folder, &["a", "long", "task"]);
    claude.comes_to(&spawned, "working");
    let refused = claude.world.pao(["pause", id(&spawned)]).run();
    assert_eq!(refused.code, Some(4), "{}", refused.screen);
    assert!(refused.stderr.contains("is busy: it is in a turn"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--wait") && refused.stderr.contains("--now"), "{}", refused.stderr);
    assert_eq!(claude.row(&spawned)["state"], "working");
    let waited = claude.world.pao(["pause", id(&spawned), "--wait", "1"]).run();
    assert_eq!(waited.code, Some(4), "{}", waited.screen);
    assert!(waited.stderr.contains("wait longer"), "{}", waited.stderr);
    let paused = claude.world.pao(["pause", "--json", "--now", id(&spawned)]).ok().json();
    assert_eq!(paused["interrupted"], true);
    assert_eq!(claude.row(&spawned)["state"], "paused");
    let again = claude.world.pao(["pause", id(&spawned)]).run();
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("is paused already"), "{}", again.stderr);
    let resumed = resume(&claude, &spawned);
    assert!(resumed["changed"]["text"].as_str().unwrap().contains("interrupted in the middle of a turn"));
}

#[test]
fn unsent_text_in_the_prompt_line_is_not_lost_unasked() {
    let claude = Claude::new(Version::New);
    let (_, spawned) = idle(&claude, &["fix", "the", "login", "bug"]);
    let pane = claude.panes().pop().unwrap();
    claude.tmux(&["send-keys", "-t", &pane, "-l", "--", "half a thought"]);
    claude.until("it stands there", || claude.screen(&pane).contains("half a thought"));
    let refused = claude.world.pao(["pause", id(&spawned)]).run();
    assert_eq!(refused.code, Some(4), "{}", refused.screen);
    assert!(refused.stderr.contains("was not sent: “half a thought”"), "{}", refused.stderr);
    assert!(claude.screen(&pane).contains("half a thought"));
    let paused = claude.world.pao(["pause", "--now", id(&spawned)]).ok();
    assert!(paused.stdout.contains("was not sent: half a thought"), "{}", paused.screen);
    assert!(!paused.stdout.contains("cut short"), "{}", paused.screen);
    let kept = claude.world.pao(["checkpoint", "list"]).ok();
    assert!(kept.stdout.contains("not sent: half a thought"), "{}", kept.screen);
}

#[test]
fn files_in_the_project_are_gone_while_it_rests_and_there_again_when_it_is_back() {
    let claude = Claude::new(Version::New);
    let (folder, spawned) = idle(&claude, &["--delivery", "files", "fix", "the", "login", "bug"]);
    let briefing = folder.join("CONTEXT_BRIEFING.md");
    let text = fs::read_to_string(&briefing).unwrap();
    pause(&claude, &spawned);
    assert!(!briefing.exists() && !folder.join(".claude").exists());
    assert_eq!(claude.git(&folder, &["status", "--porcelain", "--ignored"]), "");
    let resumed = resume(&claude, &spawned);
    assert_eq!(resumed["delivery"], "files");
    assert_eq!(fs::read_to_string(&briefing).unwrap(), text);
    claude.end(&spawned);
    assert_eq!(claude.git(&folder, &["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn an_ended_and_a_lost_agent_come_back_too() {
    let claude = Claude::new(Version::New);
    let (_, spawned) = idle(&claude, &["fix", "the", "login", "bug"]);
    let pane = claude.panes().pop().unwrap();
    claude.exit(&pane, &spawned);
    let resumed = resume(&claude, &spawned);
    assert_eq!(resumed["session_id"], spawned["session_id"]);
    assert!(asks(&claude, "and what now?").text().contains("fix the login bug"));
    claude.comes_to(&spawned, "idle");
    claude.kill(&spawned);
    assert_eq!(claude.row(&spawned)["state"], "lost");
    let resumed = resume(&claude, &spawned);
    assert_eq!(resumed["session_id"], spawned["session_id"]);
    assert!(asks(&claude, "and a third time?").text().contains("and what now?"));
    let live = claude.world.pao(["resume", id(&spawned)]).run();
    assert_eq!(live.code, Some(2));
    assert!(live.stderr.contains("is not at rest"), "{}", live.stderr);
}

#[test]
fn what_no_longer_fits_is_said_with_choices_and_nothing_is_started_elsewhere() {
    let claude = Claude::new(Version::New);
    let (folder, spawned) = idle(&claude, &["fix", "the", "login", "bug"]);
    let checkpoint = pause(&claude, &spawned)["checkpoint"].as_str().unwrap().to_owned();
    let refused = |holding: &[&str]| {
        let ran = claude.world.pao(["resume", "--json", id(&spawned)]).run();
        assert_eq!(ran.code, Some(2), "{}", ran.screen);
        let error = ran.json();
        let said = format!("{} {}", error["message"].as_str().unwrap(), error["next"].as_str().unwrap());
        for part in holding {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert_eq!(claude.row(&spawned)["state"], "paused");
        assert_eq!(claude.panes(), Vec::<String>::new());
    };
    // The folder was moved.
    let moved = claude.world.path("code/moved");
    fs::rename(&folder, &moved).unwrap();
    refused(&["is gone", "--in DIR", &format!("pao spawn --fork {checkpoint} -C DIR")]);
    // A link in its place is another folder.
    std::os::unix::fs::symlink(&moved, &folder).unwrap();
    refused(&["is gone or is another folder now"]);
    fs::remove_file(&folder).unwrap();
    fs::rename(&moved, &folder).unwrap();
    // The host agent removed the conversation.
    let transcripts = claude.world.path(".claude/projects");
    let hidden = claude.world.path("hidden");
    fs::rename(&transcripts, &hidden).unwrap();
    refused(&["no longer has the conversation", &format!("pao spawn --fork {checkpoint}")]);
    let _ = fs::remove_dir_all(&transcripts);
    fs::rename(&hidden, &transcripts).unwrap();
    // Its file was emptied.
    let of_it = format!("{}.jsonl", spawned["session_id"].as_str().unwrap());
    let transcript = fs::read_dir(&transcripts).unwrap().map(|dir| dir.unwrap().path().join(&of_it));
    let transcript = transcript.filter(|path| path.exists()).collect::<Vec<_>>().remove(0);
    let kept = fs::read(&transcript).unwrap();
    fs::write(&transcript, "").unwrap();
    refused(&["something was said in it", &format!("pao spawn --fork {checkpoint}")]);
    fs::write(&transcript, kept).unwrap();
    // Somebody went back to it by hand.
    let elsewhere = claude.world.path(".claude/sessions").join(format!("{}.json", std::process::id()));
    fs::write(&elsewhere, json!({ "sessionId": spawned["session_id"] }).to_string()).unwrap();
    refused(&["is open elsewhere", &std::process::id().to_string(), "--anyway"]);
    fs::remove_file(elsewhere).unwrap();
    // An older host agent.
    let real = fs::read_link(claude.world.bin.join("claude")).unwrap();
    fs::remove_file(claude.world.bin.join("claude")).unwrap();
    claude.world.program("claude", "#!/bin/sh\necho '2.0.1 (Claude Code)'\n");
    refused(&["here is the older 2.0.1", "--anyway"]);
    fs::remove_file(claude.world.bin.join("claude")).unwrap();
    std::os::unix::fs::symlink(real, claude.world.bin.join("claude")).unwrap();
    // And then it all fits again.
    assert_eq!(resume(&claude, &spawned)["session_id"], spawned["session_id"]);
}

#[test]
fn a_moved_folder_takes_its_conversation_along() {
    for version in [Version::New, Version::Old] {
        let claude = Claude::new(version);
        let (folder, spawned) = idle(&claude, &["fix", "the", "login", "bug"]);
        pause(&claude, &spawned);
        let moved = claude.world.path("code/moved");
        fs::rename(&folder, &moved).unwrap();
        let to = moved.to_str().unwrap();
        let untrusted = claude.world.pao(["resume", id(&spawned), "--in", to]).run();
        assert_eq!(untrusted.code, Some(2), "{}", untrusted.screen);
        assert!(untrusted.stderr.contains("is not trusted yet"), "{}", untrusted.stderr);
        let ran = claude.world.pao(["resume", "--json", "--yes", id(&spawned), "--in", to]).run();
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.screen, claude.screens());
        assert_eq!(ran.json()["folder"], to);
        let text = asks(&claude, "and what now?").text();
        assert!(text.contains("fix the login bug") && text.contains("Your folder is another one"), "{text}");
        claude.end(&spawned);
    }
}

#[test]
fn all_of_a_project_rest_and_come_back_and_one_that_cannot_keeps_no_other() {
    let slow = Script {
        rules: vec![messages_api::Rule {
            pattern: "busy one".parse().unwrap(),
            reply: Reply::text("slowly").after_ms(60_000),
            once: false,
        }],
        default: Some(Reply::text("noted")),
        ..Script::default()
    };
    let claude = Claude::with_script(Version::New, slow);
    let folder = claude.repository("code/api");
    let elsewhere = claude.repository("code/web");
    let first = claude.spawn(&folder, &["one"]);
    let second = claude.spawn(&folder, &["two"]);
    let busy = claude.spawn(&folder, &["busy", "one"]);
    let other = claude.spawn(&elsewhere, &["three"]);
    for agent in [&first, &second, &other] {
        claude.comes_to(agent, "idle");
    }
    let project = folder.to_str().unwrap();
    let ran = claude.world.pao(["pause", "--all", "--project", project]).run();
    assert_eq!(ran.code, Some(4), "{}", ran.screen);
    assert!(ran.stderr.contains("next: wait for it with --wait"), "{}", ran.stderr);
    assert!(
        ran.stdout.starts_with("2 agents paused, ") && ran.stdout.contains("1 agent not paused"),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.contains("is busy"), "{}", ran.stderr);
    let states = |agents: [&Value; 4]| agents.map(|a| claude.row(a)["state"].as_str().unwrap().to_owned());
    assert_eq!(states([&first, &second, &busy, &other]), ["paused", "paused", "working", "idle"]);
    let ran = claude.world.pao(["resume", "--all", "--at-once", "2"]).limit(Duration::from_mins(2)).run();
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "2 agents back\n"), "{}", ran.screen);
    for agent in [&first, &second] {
        claude.comes_to(agent, "idle");
    }
    assert_eq!(claude.panes().len(), 4);
}

#[test]
fn the_lost_come_back_with_all_others_only_when_they_are_named_too() {
    let claude = Claude::new(Version::New);
    let rested = claude.spawn(&claude.repository("code/api"), &["one"]);
    let lost = claude.spawn(&claude.repository("code/web"), &["two"]);
    for agent in [&rested, &lost] {
        claude.comes_to(agent, "idle");
    }
    pause(&claude, &rested);
    claude.kill(&lost);
    claude.comes_to(&lost, "lost");
    let ran = claude.world.pao(["resume", "--all"]).run();
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "1 agent back\n"), "{}", ran.screen);
    assert!(
        ran.stderr.contains("1 lost agent was left: pao resume NAME, or pao resume --all --lost"),
        "{}",
        ran.screen
    );
    assert_eq!(claude.row(&lost)["state"], "lost");
    let ran = claude.world.pao(["resume", "--all", "--lost"]).run();
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "1 agent back\n"), "{}", ran.screen);
    assert!(!ran.stderr.contains("left"), "{}", ran.screen);
    for agent in [&rested, &lost] {
        claude.comes_to(agent, "idle");
        assert_eq!(claude.row(agent)["session_id"], agent["session_id"]);
    }
    assert_eq!(claude.panes().len(), 2);
}

/// Starts `pao` with these words and kills it after a while; false where it had come to its end before.
fn killed(claude: &Claude, words: &[&str], after: Duration) -> bool {
    let mut child = claude.world.pao(words).start();
    std::thread::sleep(after);
    let ended = child.try_wait().unwrap().is_some();
    let _ = child.kill();
    child.wait().unwrap();
    !ended
}

/// Waits until the agent is either at rest without process and window, or alive with both; whether it rests.
fn rests(claude: &Claude, spawned: &Value, what: &str) -> bool {
    let began = Instant::now();
    loop {
        let row = claude.row(spawned);
        let pid = row["pid"].as_u64();
        let alive = pid.is_some_and(runs);
        let windows = claude.panes().len();
        match row["state"].as_str().unwrap() {
            "paused" if !alive && windows == 0 && row["ended_at"].is_null() => return true,
            "idle" if alive && windows == 1 => return false,
            _ => {}
        }
        assert!(began.elapsed() < PATIENCE, "{what}: {row:#}\n{}", claude.screens());
        std::thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn killed_at_any_moment_a_pause_or_a_return_leaves_an_agent_that_rests_or_lives() {
    let claude = Claude::new(Version::New);
    let (_, spawned) = idle(&claude, &["fix", "the", "login", "bug"]);
    // Moments of no pattern, other ones in each run.
    // A fresh hasher's keys are random.
    let moment = |most: u64| Duration::from_millis(RandomState::new().hash_one(most) % most);
    for _ in 0..3 {
        let after = moment(900);
        let was_killed = killed(&claude, &["pause", id(&spawned)], after);
        let at_rest = rests(&claude, &spawned, &format!("pause killed after {after:?}"));
        eprintln!("pause killed after {after:?} ({was_killed}): rests {at_rest}");
        if !at_rest {
            // It may just have been ending.
            let ran = claude.world.pao(["pause", id(&spawned)]).run();
            assert!(ran.code == Some(0) || ran.stderr.contains("is paused already"), "{}", ran.screen);
            assert!(rests(&claude, &spawned, "paused after all"));
        }
        let after = moment(1_800);
        let was_killed = killed(&claude, &["resume", id(&spawned)], after);
        let at_rest = rests(&claude, &spawned, &format!("return killed after {after:?}"));
        eprintln!("return killed after {after:?} ({was_killed}): rests {at_rest}");
        if at_rest {
            resume(&claude, &spawned);
        }
        assert!(!rests(&claude, &spawned, "after all"));
    }
    let text = asks(&claude, "and what now?").text();
    assert!(text.contains("fix the login bug"), "{text}");
    claude.end(&spawned);
    assert_eq!(claude.panes(), Vec::<String>::new());
}

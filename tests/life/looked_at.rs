//! Looking at agents: the list as it changes, one agent in full, its window, its log.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use messages_api::{Reply, Script};
use pao_core::registry::Registry;
use pao_core::registry::agents::{Agent, State};
use serde_json::{Value, json};

use super::idle_in;
use crate::harness::claude::{Claude, Version, wait};
use crate::harness::world::{PAO, World};

fn rows(world: &World, change: &impl AsyncFn(&Registry)) {
    wait(async {
        let registry = Registry::open(&world.path(".pao/registry.db")).await.unwrap();
        change(&registry).await;
        registry.close().await;
    });
}

fn switches(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let number = |line: &str| line.split_whitespace().last().and_then(|n| n.parse::<u64>().ok());
    status.lines().filter(|line| line.contains("ctxt_switches")).filter_map(number).sum()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the list is read by the real clock")]
fn the_watched_list_says_each_change_once_and_does_nothing_when_nothing_runs() {
    let mut world = World::new();
    world.real_clock();
    rows(&world, &async |_| ());
    let mut child = world
        .command(PAO)
        .args(["agents", "--watch", "--json", "--all"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    // Once it has begun to wait.
    let began = Instant::now();
    let mut before = switches(child.id());
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = switches(child.id());
        if now == before && now > 1 {
            break;
        }
        before = now;
        assert!(began.elapsed() < Duration::from_mins(1), "it never comes to rest");
    }
    std::thread::sleep(Duration::from_secs(5));
    let woken = switches(child.id()) - before;
    assert!(woken <= 5, "woken {woken} times in five seconds although nothing runs");

    let now = chrono::Utc::now();
    let agent = Agent {
        state: State::Ended,
        ended_at: Some(now),
        ..Agent::starting("a1", "app", &world.home, "claude-code", now)
    };
    rows(&world, &async |registry| {
        registry.add(&agent).await.unwrap();
        registry.set_state("a1", State::Ended, None, "test", now).await.unwrap();
    });
    let line = next();
    assert_eq!((&line["agent"]["id"], &line["gone"]), (&"a1".into(), &false.into()), "{line:#}");
    let mut last = line;
    while last["agent"]["state"] != "ended" {
        last = next();
    }
    rows(&world, &async |registry| registry.forget("a1").await.unwrap());
    assert_eq!(next()["gone"], true);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let began = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn one_agent_is_shown_in_full_its_window_found_and_its_log_read() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/app");
    let spawned = claude.spawn(&folder, &["fix", "the", "login"]);
    claude.comes_to(&spawned, "idle");
    let shown = claude.world.pao(["agent", "show", "app", "--json"]).ok().json();
    assert_eq!(shown["prompt"], "fix the login");
    assert_eq!(shown["briefing"]["as_delivered"], true, "{shown:#}");
    assert_eq!(shown["briefing"]["hash"], spawned["briefing_hash"]);
    assert!(shown["written"].as_array().is_some_and(|w| !w.is_empty()), "{shown:#}");
    let text = claude.world.pao(["agent", "show", "app"]).ok().stdout;
    for part in
        ["fix the login", "States", "Conversations", "Written for it", "Briefing", "as delivered", "startup"]
    {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    // There is no display here, so it is said how to get there.
    let focused = claude.world.pao(["focus", "app", "--json"]).ok().json();
    assert_eq!(focused["in_front"], false);
    assert_eq!(focused["attach"], spawned["attach"]);
    let logs = claude.world.pao(["logs", "app"]).ok().stdout;
    assert!(logs.contains("fix the login") && logs.contains("noted"), "{logs}");

    // Followed until nobody reads any more.
    let mut follow = claude.world.pao(["logs", "app", "--follow", "-n", "1"]).start();
    std::io::Read::read_exact(&mut follow.stdout.take().unwrap(), &mut [0]).unwrap();
    assert_eq!(follow.wait().unwrap().code(), Some(0));

    // Followed until it ends.
    let mut follow = claude.world.pao(["logs", "app", "--follow", "--json"]).start();
    let pane = claude.panes().remove(0);
    claude.ask(&pane, "and the logout");
    claude.comes_to(&spawned, "idle");
    claude.exit(&pane, &spawned);
    let began = Instant::now();
    while follow.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_mins(1), "it follows an agent that has ended");
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut followed = String::new();
    std::io::Read::read_to_string(&mut follow.stdout.take().unwrap(), &mut followed).unwrap();
    assert!(followed.contains("and the logout"), "{followed}");
    assert!(followed.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));

    claude.until("its window is gone", || claude.panes().is_empty());
    let gone = claude.world.pao(["focus", "app"]).run();
    assert_eq!(gone.code, Some(4), "{}", gone.screen);
    assert!(gone.stderr.contains("the window of app is gone; it is ended"), "{}", gone.screen);
    assert!(claude.world.pao(["logs", "app"]).ok().stdout.contains("and the logout"));
    assert_eq!(claude.world.pao(["focus", "nobody"]).run().code, Some(2));
}

#[test]
fn a_log_tells_what_was_asked_what_was_chosen_and_what_failed() {
    let question = json!({ "questions": [{
        "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{ "label": "Red", "description": "r" }, { "label": "Blue", "description": "b" }],
    }] });
    let credit = json!({ "type": "invalid_request_error", "message": "Your credit balance is too low to access the API." });
    let poor = Reply { error: credit.as_object().unwrap().clone(), ..Reply::status(400) };
    let script = Script::saying("noted")
        .when("ask me", Reply::tool("AskUserQuestion", question))
        .and_then(|s| s.when("no money", poor))
        .unwrap();
    let (claude, _, spawned) = idle_in(Claude::with_script(Version::New, script));
    let pane = claude.panes().remove(0);
    claude.ask(&pane, "ask me");
    claude.comes_to(&spawned, "needs-you");
    claude.press(&pane, "Enter", || claude.row(&spawned)["state"] == "idle");
    claude.ask(&pane, "no money");
    claude.comes_to(&spawned, "needs-you");
    // The host agent writes its transcript a moment after it has called its hooks.
    claude.until("the log tells all of it, in order", || {
        let logs = claude.world.pao(["logs", "api", "--json"]).ok().json();
        let said = |who: &str, text: &str| {
            logs.as_array().unwrap().iter().position(|line| {
                line["who"] == who && line["text"].as_str().unwrap().to_lowercase().contains(text)
            })
        };
        let order = [
            said("agent", "which colour? (red, blue)"),
            said("you", "which colour? → red"),
            said("you", "no money"),
            said("agent", "credit balance is too low"),
        ];
        order.iter().all(Option::is_some) && order.is_sorted()
    });
}

#[test]
fn what_was_written_for_an_agent_is_listed_until_it_is_taken_back() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/app");
    let spawned = claude.spawn(&folder, &["--delivery", "files", "fix", "the", "login"]);
    claude.comes_to(&spawned, "idle");
    let written = || -> Vec<String> {
        let shown = claude.world.pao(["agent", "show", "app", "--json"]).ok().json();
        serde_json::from_value(shown["written"].clone()).unwrap()
    };
    let id = spawned["id"].as_str().unwrap();
    assert_eq!(
        written(),
        [
            "line /CONTEXT_BRIEFING.md in ~/code/app/.git/info/exclude".to_string(),
            "line /.claude/rules/pao-briefing.md in ~/code/app/.git/info/exclude".into(),
            "file ~/code/app/CONTEXT_BRIEFING.md".into(),
            "folder ~/code/app/.claude".into(),
            "folder ~/code/app/.claude/rules".into(),
            "file ~/code/app/.claude/rules/pao-briefing.md".into(),
            "trust of ~/code/app in ~/.claude.json".into(),
            format!("private folder ~/.pao/agents/{id}"),
            "window in tmux".into(),
        ]
    );
    claude.end(&spawned);
    assert_eq!(written(), [""; 0]);
}

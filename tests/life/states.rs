//! Twelve agents at once through every transition; what `pao` says of them beside what the test knows, because it did
//! it and because the stand-in's log shows it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use messages_api::{Reply, Script};
use pao_core::host::process::Identity;
use pao_core::registry::Registry;
use serde_json::{Value, json};

use crate::harness::claude::{Claude, PATIENCE, Version, runs};

/// How soon a question must be seen as one.
const SEEN_WITHIN: Duration = Duration::from_secs(1);

/// What the stand-in says, by words of the prompt.
fn script() -> Script {
    let bash = json!({ "command": "touch made.txt && sleep 1", "description": "makes a file" });
    let question = json!({ "questions": [{
        "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{ "label": "Red", "description": "r" }, { "label": "Blue", "description": "b" }],
    }] });
    let credit = json!({ "type": "invalid_request_error", "message": "Your credit balance is too low to access the API." });
    let poor = Reply { error: credit.as_object().unwrap().clone(), ..Reply::status(400) };
    Script::saying("done")
        .when("make it", Reply::tool("Bash", bash))
        .and_then(|s| s.when("ask me", Reply::tool("AskUserQuestion", question)))
        .and_then(|s| s.when("go slow", Reply::text("slow").after_ms(600_000)))
        .and_then(|s| s.when("no money", poor))
        .unwrap()
}

/// Twelve agents, each in a window of its own.
struct Twelve {
    claude: Claude,
    agents: Vec<One>,
}

struct One {
    spawned: Value,
    pane: String,
    folder: PathBuf,
}

impl Twelve {
    fn new(count: usize) -> Self {
        let claude = Claude::with_script(Version::New, script());
        let mut agents = Vec::new();
        for number in 0..count {
            let folder = claude.world.folder(&format!("code/app{number}"));
            let before = claude.panes();
            let spawned = claude.spawn(&folder, &["hello", "there"]);
            let pane = claude.panes().into_iter().find(|pane| !before.contains(pane)).unwrap();
            agents.push(One { spawned, pane, folder });
        }
        Self { claude, agents }
    }

    /// What `pao` says of all of them, by one sweep.
    fn said(&self) -> BTreeMap<String, (String, String)> {
        let rows = self.claude.world.pao(["agents", "--all", "--json"]).ok().json();
        let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let rows = rows.as_array().unwrap();
        rows.iter().map(|row| (text(row, "id"), (text(row, "state"), text(row, "needs")))).collect()
    }

    fn id(&self, which: usize) -> &str {
        self.agents[which].spawned["id"].as_str().unwrap()
    }

    fn pid(&self, which: usize) -> u64 {
        self.claude.row(&self.agents[which].spawned)["pid"].as_u64().unwrap()
    }

    /// Waits until all of these are said to be so, and says of whom it is not.
    fn come_to(&self, wanted: &[(usize, &str, &str)]) {
        let began = Instant::now();
        loop {
            let said = self.said();
            let wrong: Vec<_> = wanted
                .iter()
                .filter(|(which, state, needs)| {
                    let (is, for_what) = &said[self.id(*which)];
                    is != state || !for_what.contains(needs)
                })
                .map(|(which, state, needs)| {
                    format!("{which} should be {state} [{needs}], is {:?}", said[self.id(*which)])
                })
                .collect();
            if wrong.is_empty() {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{wrong:#?}\n{}", self.claude.screens());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Types a line and presses Enter until the stand-in has heard it.
    fn tell(&self, which: usize, text: &str) {
        let heard = |r: &messages_api::Request| r.has_tools() && r.last_user_text().contains(text);
        let before = self.claude.api.requests().iter().filter(|r| heard(r)).count();
        self.claude.say(&self.agents[which].pane, text, || {
            self.claude.api.requests().iter().filter(|r| heard(r)).count() > before
        });
    }

    /// Answers or stops it: presses the key until it is no longer what it was.
    fn press(&self, which: usize, key: &str) {
        let state = || self.claude.row(&self.agents[which].spawned)["state"].clone();
        let was = state();
        self.claude.press(&self.agents[which].pane, key, || state() != was);
    }
}

#[test]
fn twelve_agents_at_once_are_always_what_they_are_said_to_be() {
    let all = Twelve::new(12);
    let idle: Vec<_> = (0..12).map(|which| (which, "idle", "")).collect();
    all.come_to(&idle);

    // Each does something else, all at the same time.
    for (which, prompt) in
        ["make it", "make it", "ask me", "go slow", "go slow", "no money", "make it"].into_iter().enumerate()
    {
        all.tell(which, &format!("{prompt} {which}"));
    }
    all.come_to(&[
        (0, "needs-you", "permission for Bash: touch made.txt"),
        (1, "needs-you", "permission for Bash"),
        (2, "needs-you", "question: Which colour?"),
        (3, "working", ""),
        (4, "working", ""),
        (5, "needs-you", "redit balance"),
        (6, "needs-you", "permission for Bash"),
        (7, "idle", ""),
    ]);

    // Granted, declined, answered, stopped: no hook tells of the middle of it.
    all.press(0, "Enter");
    all.come_to(&[(0, "working", "")]);
    all.press(1, "Escape");
    all.press(2, "Enter");
    all.press(3, "Escape");
    all.come_to(&[(0, "idle", ""), (1, "idle", ""), (2, "idle", ""), (3, "idle", "")]);
    assert!(
        all.agents[0].folder.join("made.txt").exists() && !all.agents[1].folder.join("made.txt").exists()
    );
    // Still what it was before: an error stays, and so do a turn and a question.
    all.come_to(&[(4, "working", ""), (5, "needs-you", "redit balance"), (6, "needs-you", "permission")]);

    // The user clears one conversation: the same agent, another session, its ancestry kept.
    let before = all.claude.row(&all.agents[7].spawned)["session_id"].clone();
    all.claude.say(&all.agents[7].pane, "/clear", || {
        all.claude.row(&all.agents[7].spawned)["session_id"] != before
    });
    all.come_to(&[(7, "idle", "")]);
    let shown = all.claude.world.pao(["agent", "show", all.id(7), "--json"]).ok().json();
    let conversations = shown["conversations"].as_array().unwrap();
    assert_eq!(conversations.len(), 2, "{shown:#}");
    assert_eq!(conversations[1]["source"], "clear");
    assert_eq!(conversations[1]["parent"], before);
    let states: Vec<_> = shown["states"].as_array().unwrap().iter().map(|s| s["state"].clone()).collect();
    assert_eq!(states[0], "starting", "{shown:#}");
    assert!(states.iter().any(|state| *state == "working"), "{shown:#}");

    // A dialog of its own is a need as well.
    all.claude.say(&all.agents[8].pane, "/resume", || {
        all.said()[all.id(8)] == ("needs-you".into(), "a dialog is open".into())
    });
    all.press(8, "Escape");
    all.come_to(&[(8, "idle", "")]);

    // Every way to end: in order, by a signal, by force, by closing the window. One sweep each, and it is right.
    all.claude.exit(&all.agents[9].pane, &all.agents[9].spawned);
    let identity = |which| Identity::of(u32::try_from(all.pid(which)).unwrap()).unwrap();
    let (ten, eleven, six) = (identity(10), identity(11), identity(6));
    let of_four = all.pid(4);
    ten.terminate().unwrap();
    eleven.kill().unwrap();
    six.kill().unwrap();
    all.claude.tmux(&["kill-pane", "-t", &all.agents[4].pane]);
    let began = Instant::now();
    while ten.alive() || eleven.alive() || six.alive() || runs(of_four) {
        assert!(began.elapsed() < PATIENCE, "they do not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = all.said();
    let state = |which: usize| said[all.id(which)].0.as_str();
    assert_eq!(state(9), "ended");
    // Whether its last hook was heard in time is the host agent's affair; gone it is.
    assert!(matches!(state(10), "ended" | "lost"), "{said:#?}");
    assert!(matches!(state(4), "ended" | "lost"), "{said:#?}");
    assert_eq!((state(11), state(6)), ("lost", "lost"), "{said:#?}");
    // Nobody who lives was taken with them.
    for which in [0, 1, 2, 3, 5, 7, 8] {
        assert!(matches!(state(which), "idle" | "needs-you"), "{which} {said:#?}");
        assert!(runs(all.pid(which)));
    }
    // What ended is still to be read; what lives is listed first by its need.
    let logs = all.claude.world.pao(["logs", all.id(6), "-n", "3"]).ok().stdout;
    assert!(logs.contains("make it 6"), "{logs}");
    let listed = all.claude.agents();
    assert_eq!(listed[0]["id"], all.agents[5].spawned["id"], "{listed:#?}");
}

#[test]
fn a_question_is_seen_within_a_second_and_its_answer_as_well() {
    let all = Twelve::new(1);
    all.come_to(&[(0, "idle", "")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // Open all the time, as whoever watches has it: each closing would stand in the hook's way.
    let registry = runtime.block_on(Registry::open(&all.claude.world.path(".pao/registry.db"))).unwrap();
    let row = || runtime.block_on(registry.agent(all.id(0))).unwrap().unwrap();
    all.tell(0, "make it");
    // The moment at which the question stands on the screen, as near as it can be seen from outside.
    let pane = &all.agents[0].pane;
    all.claude.until("the question", || all.claude.screen(pane).contains("Do you want to proceed?"));
    let asked = Instant::now();
    while row().state.name() != "needs-you" {
        assert!(asked.elapsed() < SEEN_WITHIN, "not seen within {SEEN_WITHIN:?}\n{}", all.claude.screens());
        std::thread::sleep(Duration::from_millis(10));
    }
    eprintln!("needs-you {} ms after the question stood on the screen", asked.elapsed().as_millis());
    all.claude.press(pane, "Enter", || !all.claude.screen(pane).contains("Do you want to proceed?"));
    let answered = Instant::now();
    all.come_to(&[(0, "working", "")]);
    eprintln!("working {} ms after the answer", answered.elapsed().as_millis());
}

#[test]
fn a_version_without_a_file_of_its_own_is_known_by_hooks_and_at_last_by_its_screen() {
    let claude = Claude::with_script(Version::Old, script());
    let folder = claude.world.folder("code/old");
    let spawned = claude.spawn(&folder, &["hello"]);
    claude.comes_to(&spawned, "idle");
    let pane = claude.panes().remove(0);
    claude.ask(&pane, "make it");
    claude.comes_to(&spawned, "needs-you");
    assert!(claude.row(&spawned)["needs"].as_str().unwrap().contains("touch made.txt"));
    let answered = || claude.row(&spawned)["state"] != "needs-you";
    claude.press(&pane, "Enter", answered);
    // The tool's use says that it was granted, the turn's end that it is over.
    claude.comes_to(&spawned, "idle");
    assert!(claude.events(&spawned).iter().all(|event| event.event != "PostToolUse"));
    claude.ask(&pane, "make it again");
    claude.comes_to(&spawned, "needs-you");
    // Declined: no hook of this version says so.
    claude.press(&pane, "Escape", answered);
    claude.comes_to(&spawned, "idle");
    assert_eq!(claude.row(&spawned)["evidence"], "interrupted on the screen");
    claude.end(&spawned);
}

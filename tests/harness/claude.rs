//! A real Claude Code in a test's world: onboarded, pointed at a stand-in of its API, found on PATH as `claude`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use messages_api::{Request, Script, Standin};
use pao_core::host::process::Identity;
use pao_core::registry::Registry;
use pao_core::registry::events::Event;
use serde_json::Value;

use super::world::World;

/// A made-up key; its last twenty characters stand in the seeded configuration as approved.
const KEY: &str = "sk-ant-api03-0000000000000000000000000000000000000000-made-up-key-of-a-test";

/// How long anything of a real agent may take on a machine that is slow and busy.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Which of the two pinned programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// The current pinned one.
    New,
    /// 2.0.76.
    Old,
}

/// A world with a real agent in it.
pub struct Claude {
    /// The world.
    pub world: World,
    /// What the agent talks to.
    pub api: Standin,
}

/// Waits for what a test that is not asynchronous needs.
pub fn wait<T>(what: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(what)
}

/// Whether a process is there.
pub fn runs(pid: u64) -> bool {
    u32::try_from(pid).is_ok_and(|pid| Identity::of(pid).is_some())
}

fn program(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => panic!("{variable} is not set: run `cargo xtask test`, which installs the real program"),
    }
}

/// Presses until that has its effect, for a minute; whether it had.
pub fn pressed(press: impl Fn(), effect: impl Fn() -> bool) -> bool {
    (0..30).any(|_| {
        press();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(2) {
            if effect() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    })
}

impl Claude {
    /// A home with exactly what an onboarded user has.
    pub fn new(version: Version) -> Self {
        Self::with_script(version, Script::saying("noted"))
    }

    /// The same, with an API that answers as told.
    pub fn with_script(version: Version, script: Script) -> Self {
        let mut world = World::new();
        let api = Standin::start(script).unwrap();
        match version {
            Version::New => symlink(program("PAO_TEST_CLAUDE_NEW"), world.bin.join("claude")).unwrap(),
            Version::Old => {
                let cli = program("PAO_TEST_CLAUDE_OLD");
                let script = format!("#!/bin/sh\nexec node '{}' \"$@\"\n", cli.display());
                world.program("claude", &script);
            }
        }
        let approved = &KEY[KEY.len() - 20..];
        let seed = serde_json::json!({
            "numStartups": 3,
            "hasCompletedOnboarding": true,
            "customApiKeyResponses": { "approved": [approved], "rejected": [] },
            "projects": { "/somewhere/else": { "allowedTools": [], "hasTrustDialogAccepted": true } },
        });
        world.write(".claude.json", &serde_json::to_string_pretty(&seed).unwrap());
        world.real_clock();
        for (name, value) in [
            ("ANTHROPIC_API_KEY", KEY),
            ("ANTHROPIC_BASE_URL", &api.url()),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            // Its native program would otherwise be looked for under the home directory.
            ("DISABLE_INSTALLATION_CHECKS", "1"),
        ] {
            world.set(name, value);
        }
        Self { world, api }
    }

    /// A git repository in the home directory with one commit.
    pub fn repository(&self, path: &str) -> PathBuf {
        let folder = self.world.folder(path);
        self.git(&folder, &["init", "-q", "-b", "main"]);
        fs::write(folder.join("README.md"), "# Sample\n").unwrap();
        self.commit(&folder, "first");
        folder
    }

    /// Commits everything.
    pub fn commit(&self, folder: &Path, message: &str) {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-q", "--no-gpg-sign", "-m", message]);
    }

    /// Runs git as a user without any configuration of their own; returns what it printed.
    pub fn git(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.try_git(folder, args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs git, whatever comes of it.
    pub fn try_git(&self, folder: &Path, args: &[&str]) -> Output {
        let mut git = self.world.command("git");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "tester")
                .env(format!("GIT_{who}_EMAIL"), "tester@example.invalid");
        }
        git.current_dir(folder).args(args).output().unwrap()
    }

    /// Spawns with `--json --yes` in tmux and wants a confirmed start.
    pub fn spawn(&self, folder: &Path, args: &[&str]) -> Value {
        let folder = folder.to_str().unwrap();
        let all = ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder];
        let words = all.iter().chain(args);
        let ran = self.world.pao(words).limit(Duration::from_mins(2)).run();
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.screen, self.screens());
        ran.json()
    }

    /// The first request of an agent's conversation, which is what this all is for.
    pub fn first_request(&self, holding: &str) -> Request {
        let found = self.api.wait_for(PATIENCE, |r| r.has_tools() && r.text().contains(holding));
        found.unwrap_or_else(|| {
            panic!("no request holds {holding:?}; the agent's screens:\n{}", self.screens())
        })
    }

    /// Runs tmux on this world's private server.
    pub fn tmux(&self, args: &[&str]) -> String {
        let socket = self.world.env()[std::ffi::OsStr::new("PAO_TMUX_SOCKET")].clone();
        let output = self.world.command("tmux").arg("-L").arg(socket).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Panes of the private server, one id a line.
    pub fn panes(&self) -> Vec<String> {
        self.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]).lines().map(str::to_owned).collect()
    }

    /// Everything there is to see, for the message of a failed test.
    pub fn screens(&self) -> String {
        let shown = |pane: &String| ["[", pane, "]\n", &self.screen(pane), "\n"].concat();
        self.panes().iter().map(shown).collect()
    }

    /// What one pane shows.
    pub fn screen(&self, pane: &str) -> String {
        self.tmux(&["capture-pane", "-p", "-t", pane])
    }

    /// Types a line into a pane, as the user would, and enters it.
    pub fn say(&self, pane: &str, text: &str, effect: impl Fn() -> bool) {
        self.tmux(&["send-keys", "-t", pane, "-l", "--", text]);
        self.until(&format!("{text} on the screen"), || self.screen(pane).contains(text));
        self.press(pane, "Enter", effect);
    }

    /// Presses a key until it has its effect: an agent that is busy with itself loses one, and so does a question of
    /// which its hook has told before it is drawn.
    pub fn press(&self, pane: &str, key: &str, effect: impl Fn() -> bool) {
        let took = pressed(|| drop(self.tmux(&["send-keys", "-t", pane, key])), effect);
        assert!(took, "{key} had no effect; the agents' screens:\n{}", self.screens());
    }

    /// Types a prompt into a pane and gives the request that came of it.
    pub fn ask(&self, pane: &str, text: &str) -> Request {
        let came = |r: &Request| r.has_tools() && r.last_user_text().contains(text);
        self.say(pane, text, || self.api.requests().iter().any(came));
        self.first_request(text)
    }

    /// Has an agent end its session in order.
    pub fn exit(&self, pane: &str, spawned: &Value) {
        let pid = self.row(spawned)["pid"].as_u64();
        self.say(pane, "/exit", || self.row(spawned)["state"] == "ended");
        // Its last hook tells of the end a moment before the process is gone.
        if let Some(pid) = pid {
            self.until("the agent is gone", || !runs(pid));
        }
    }

    /// Waits until something holds.
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < PATIENCE, "not seen: {what}\n{}", self.screens());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The row of a spawned agent, ended or not.
    pub fn row(&self, spawned: &Value) -> Value {
        let rows = self.world.pao(["agents", "--all", "--json"]).ok().json();
        let row = rows.as_array().unwrap().iter().find(|row| row["id"] == spawned["id"]).cloned();
        row.unwrap_or_else(|| panic!("{} has no row in {rows:#}", spawned["id"]))
    }

    /// Waits until a spawned agent is in that state.
    pub fn comes_to(&self, spawned: &Value, state: &str) {
        let what = format!("{} is {state}", spawned["agent"]);
        self.until(&what, || self.row(spawned)["state"] == state);
    }

    /// What its hooks saw of it, what they left in the spool included.
    pub fn events(&self, spawned: &Value) -> Vec<Event> {
        let file = self.world.path(".pao/registry.db");
        let id = spawned["id"].as_str().unwrap();
        wait(async {
            let registry = Registry::open(&file).await.unwrap();
            pao_core::hook::drain(&self.world.host(), &registry).await.unwrap();
            let events = registry.events_after(id, 0).await.unwrap();
            registry.close().await;
            events.into_iter().map(|(_, event)| event).collect()
        })
    }

    /// How its conversations began, in order: `startup`, `resume`, `compact` and so on.
    pub fn began(&self, spawned: &Value) -> Vec<String> {
        let events = self.events(spawned);
        let details = events.iter().filter(|event| event.event == "SessionStart").map(|event| &event.detail);
        details
            .map(|d| serde_json::from_str::<Value>(d).unwrap()["source"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Brings its conversation back in a window of its own, with its own settings, and gives the pane.
    pub fn resume(&self, folder: &Path, spawned: &Value) -> String {
        let id = spawned["id"].as_str().unwrap();
        let settings = self.world.path(".pao/agents").join(id).join("settings.json");
        let session = spawned["session_id"].as_str().unwrap();
        let (folder, settings) = (folder.to_str().unwrap(), settings.to_str().unwrap());
        let mut tmux =
            vec!["new-session", "-d", "-x", "120", "-y", "40", "-P", "-F", "#{pane_id}", "-c", folder];
        // The server knows nothing of this world: what an agent is to have is never left to it.
        let env: Vec<String> = self
            .world
            .env()
            .iter()
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
            .collect();
        tmux.extend(env.iter().flat_map(|variable| ["-e", variable]));
        tmux.extend(["claude", "--resume", session, "--permission-mode", "default", "--settings", settings]);
        let mut pane = String::new();
        // A server whose last window has just closed takes no other one in before it is gone.
        self.until("a window to resume in", || {
            pane = self.tmux(&tmux);
            !pane.trim().is_empty()
        });
        pane.trim().to_owned()
    }

    /// Ends an agent as a crash does: nothing of it gets to say goodbye.
    pub fn kill(&self, spawned: &Value) {
        let pid = self.row(spawned)["pid"].as_u64().unwrap();
        Identity::of(u32::try_from(pid).unwrap()).unwrap().kill().unwrap();
        self.until("the agent is gone", || !runs(pid));
    }

    /// Ends an agent and takes back what was done for it.
    pub fn end(&self, spawned: &Value) {
        self.world.pao(["undo", "--end", spawned["id"].as_str().unwrap()]).ok();
    }

    /// The agents' rows as `pao agents` shows them, without those that were lost.
    pub fn agents(&self) -> Vec<Value> {
        let listed = self.world.pao(["agents", "--json"]).ok().json();
        let mut rows = listed.as_array().cloned().unwrap_or_default();
        rows.retain(|row| row["state"] != "lost");
        rows
    }
}

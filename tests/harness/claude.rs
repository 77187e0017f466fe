//! A real Claude Code in a test's world: onboarded, pointed at a stand-in of its API, found on PATH as `claude`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use messages_api::{Request, Script, Standin};

use super::world::World;

/// A made-up key; its last twenty characters stand in the seeded configuration as approved.
const KEY: &str = "sk-ant-api03-0000000000000000000000000000000000000000-made-up-key-of-a-test";

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

fn program(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => panic!("{variable} is not set: run `cargo xtask test`, which installs the real program"),
    }
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
    pub fn spawn(&self, folder: &Path, args: &[&str]) -> serde_json::Value {
        let folder = folder.to_str().unwrap();
        let all = ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder];
        let words = all.iter().chain(args);
        let ran = self.world.pao(words).limit(Duration::from_mins(2)).run();
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.screen, self.screens());
        ran.json()
    }

    /// The first request of an agent's conversation, which is what this all is for.
    pub fn first_request(&self, holding: &str) -> Request {
        let found =
            self.api.wait_for(Duration::from_secs(30), |r| r.has_tools() && r.text().contains(holding));
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
        self.panes().iter().map(|pane| format!("[{pane}]\n{}\n", self.screen(pane))).collect()
    }

    /// What one pane shows.
    pub fn screen(&self, pane: &str) -> String {
        self.tmux(&["capture-pane", "-p", "-t", pane])
    }

    /// Types a line into a pane, as the user would.
    pub fn say(&self, pane: &str, text: &str) {
        self.tmux(&["send-keys", "-t", pane, "-l", "--", text]);
        std::thread::sleep(Duration::from_millis(300));
        self.tmux(&["send-keys", "-t", pane, "Enter"]);
    }

    /// Waits until something holds.
    pub fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < Duration::from_secs(30), "not seen: {what}\n{}", self.screens());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The agent's rows as `pao agents` shows them.
    pub fn agents(&self) -> Vec<serde_json::Value> {
        let listed = self.world.pao(["agents", "--json"]).ok().json();
        listed.as_array().or_else(|| listed["agents"].as_array()).cloned().unwrap_or_default()
    }
}

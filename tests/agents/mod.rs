//! The other host agents as they really are: Codex and Gemini CLI from npm, in real tmux, against a stand-in of the
//! API each of them speaks.

mod started;
mod state;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use messages_api::{Request, Script, Standin};
use pao_core::agent::{CODEX, GEMINI, HostAgent};
use pao_core::host::process::Identity;
use serde_json::Value;

use crate::harness::claude::PATIENCE;
use crate::harness::world::World;

/// A world with one of them, set up as by a user who has used it before.
struct Other {
    world: World,
    api: Standin,
    agent: &'static HostAgent,
    folder: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "the tests are the edge of their own world")]
fn program(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => panic!("{variable} is not set: run `cargo xtask test`, which installs the real program"),
    }
}

impl Other {
    fn new(agent: &'static HostAgent) -> Self {
        let mut world = World::new();
        let api = Standin::start(Script::saying("noted")).unwrap();
        world.real_clock();
        if agent.kind == CODEX.kind {
            symlink(program("PAO_TEST_CODEX"), world.bin.join("codex")).unwrap();
            let config = format!(
                "# mine\nmodel = \"gpt-5\"\nmodel_provider = \"standin\"\n\n[model_providers.standin]\nname = \"standin\"\n\
                 base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"STANDIN_KEY\"\n\n[projects.\"/somewhere/else\"]\n\
                 trust_level = \"trusted\"\n\n# The program's own notes, so that it has nothing to add.\n[tui]\n\
                 screen_reader_detection_done = true\n\n[tui.model_availability_nux]\n\"gpt-6.1-sol\" = 1\n",
                api.url()
            );
            world.write(".codex/config.toml", &config);
            world.set("STANDIN_KEY", "made-up");
        } else {
            let script = format!("#!/bin/sh\nexec node '{}' \"$@\"\n", program("PAO_TEST_GEMINI").display());
            world.program("gemini", &script);
            let settings = serde_json::json!({
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "general": {"enableAutoUpdate": false},
                "privacy": {"usageStatisticsEnabled": false},
            });
            world.write(".gemini/settings.json", &settings.to_string());
            world.write(".gemini/trustedFolders.json", "{\n  \"/somewhere/else\": \"TRUST_FOLDER\"\n}");
            world.set("GEMINI_API_KEY", "made-up");
            world.set("GOOGLE_GEMINI_BASE_URL", api.url());
        }
        let folder = world.folder("code/api");
        let other = Self { world, api, agent, folder };
        other.git(&["init", "-q", "-b", "main"]);
        other
    }

    fn git(&self, args: &[&str]) -> String {
        let output = self.world.command("git").current_dir(&self.folder).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What an earlier session said of this folder, indexed.
    fn remember(&self, text: &str) {
        let session = "0b5e7f0e-58b4-4c57-9a44-0d4cf1a7a001";
        let record = serde_json::json!({
            "type": "user", "message": {"role": "user", "content": text}, "cwd": self.folder,
            "uuid": "77bda9c0-47c6-4028-be18-cc4b07d22dcd", "timestamp": "2026-11-20T09:00:00.000Z",
            "sessionId": session,
        });
        self.world.write(&format!(".claude/projects/-sample/{session}.jsonl"), &format!("{record}\n"));
        self.world.pao(["index", "--quiet"]).ok();
    }

    fn spawn(&self, args: &[&str]) -> Value {
        let folder = self.folder.to_str().unwrap();
        let all = ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder];
        let ran = self.world.pao(all.iter().chain(args)).limit(Duration::from_mins(2)).run();
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.screen, self.screens());
        ran.json()
    }

    fn first_request(&self, holding: &str) -> Request {
        let found = self.api.wait_for(PATIENCE, |r| r.has_tools() && r.text().contains(holding));
        found.unwrap_or_else(|| panic!("no request holds {holding:?}\n{}", self.screens()))
    }

    fn tmux(&self, args: &[&str]) -> String {
        let socket = self.world.env()[std::ffi::OsStr::new("PAO_TMUX_SOCKET")].clone();
        let output = self.world.command("tmux").arg("-L").arg(socket).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn screens(&self) -> String {
        let panes = self.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
        panes.lines().map(|pane| self.tmux(&["capture-pane", "-p", "-t", pane])).collect()
    }

    fn row(&self, spawned: &Value) -> Value {
        let rows = self.world.pao(["agents", "--all", "--json"]).ok().json();
        let row = rows.as_array().unwrap().iter().find(|row| row["id"] == spawned["id"]).cloned();
        row.unwrap_or_else(|| panic!("{} has no row in {rows:#}", spawned["id"]))
    }

    fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < PATIENCE, "not seen: {what}\n{}", self.screens());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn trust_file(&self) -> PathBuf {
        self.world.home.join(self.agent.places.config_folder).join(self.agent.places.trust_file)
    }
}

fn bytes(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

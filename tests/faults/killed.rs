//! A spawn that is ended at any of its steps: by Ctrl-C it takes itself back, after `kill -9` `pao undo` does.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::*;
use crate::harness::claude::Version;

const STEPS: [&str; 7] = ["topic", "gather", "briefing", "deliver", "trust", "launch", "ready"];

/// How a stopped spawn ended.
struct Stopped {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// A world with a repository whose files, modes, links and exclude file must survive all this.
struct Ground {
    claude: Claude,
    folder: PathBuf,
    tree: BTreeMap<PathBuf, (String, Vec<u8>)>,
    others: u64,
}

impl Ground {
    fn new() -> Self {
        let claude = Claude::new(Version::New);
        claude.world.write(".pao/config.toml", "[spawn]\nready_timeout_s = 90\n");
        let folder = claude.repository("code/api");
        fs::write(folder.join("CLAUDE.md"), "# Rules\r\n\r\nUse tabs.").unwrap();
        fs::write(folder.join("run.sh"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(folder.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("README.md", folder.join("link")).unwrap();
        claude.commit(&folder, "second");
        fs::write(folder.join(".git/info/exclude"), "# mine, without a line ending at its end\n*.tmp")
            .unwrap();
        fs::write(folder.join("not-committed.txt"), "mine\n").unwrap();
        remember(&claude.world, &folder, 1, "The login bug comes from the session cookie.");
        claude.world.pao(["index"]).ok();
        let tree = tree(&folder);
        Self { claude, folder, tree, others: 0 }
    }

    /// Starts a spawn, sends it the signals when it reports that line, and waits for its end.
    fn stop_at(&self, way: &str, line: &str, signals: &[Signal]) -> Stopped {
        let folder = self.folder.to_str().unwrap();
        let words = [
            "spawn",
            "--yes",
            "--json",
            "--terminal",
            "tmux",
            "--delivery",
            way,
            "-C",
            folder,
            "fix the login bug",
        ];
        let mut child = self.claude.world.pao(words).start();
        drop(child.stdin.take());
        let mut reports = BufReader::new(child.stderr.take().unwrap());
        let mut stderr = String::new();
        let (step, state) = line.split_once(' ').unwrap();
        loop {
            let begin = stderr.len();
            let n = reports.read_line(&mut stderr).unwrap();
            assert!(n > 0, "it never said {line:?}:\n{stderr}");
            let mut words = stderr[begin..].split_whitespace();
            let (named, stands) = (words.next() == Some(step), words.next().unwrap_or_default());
            // A step with nothing to do ends too.
            if named && (stands == state || (state == "done" && stands == "skipped")) {
                break;
            }
        }
        for (n, signal) in signals.iter().enumerate() {
            if n > 0 {
                std::thread::sleep(Duration::from_millis(20));
            }
            // It may have ended meanwhile; it is ours to reap, so its pid is still its own.
            let _ = kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), *signal);
        }
        let code = wait(&mut child);
        reports.read_to_string(&mut stderr).unwrap();
        let mut stdout = String::new();
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        Stopped { code, stdout, stderr }
    }

    /// Somebody else writes a key into the agent's file.
    fn other_writes(&mut self) {
        self.others += 1;
        let mut file = agent_file(&self.claude.world);
        file[format!("written-by-others-{}", self.others)] = json!(self.others);
        let half =
            self.claude.world.write(".claude.json.half", &serde_json::to_string_pretty(&file).unwrap());
        fs::rename(half, self.claude.world.path(".claude.json")).unwrap();
    }

    fn undo(&self, end: bool) -> String {
        let folder = self.folder.to_str().unwrap();
        let words = ["undo", "-C", folder, "--end"];
        self.claude.world.pao(&words[..if end { 4 } else { 3 }]).ok().stdout
    }

    fn assert_nothing_left(&self, after: &str) {
        let differences = differences(&self.tree, &tree(&self.folder));
        assert!(differences.is_empty(), "{after}: {differences:#?}");
        let world = &self.claude.world;
        // A window that was just opening may take a moment to find nothing to start.
        self.claude.until(&format!("no window, {after}"), || self.claude.panes().is_empty());
        assert_eq!(private_folders(world), Vec::<PathBuf>::new(), "{after}");
        assert!(!is_trusted(world, &self.folder), "{after}");
        let file = agent_file(world);
        for n in 1..=self.others {
            assert_eq!(file[format!("written-by-others-{n}")], n, "{after}");
        }
        assert_eq!(file["projects"]["/somewhere/else"]["hasTrustDialogAccepted"], true, "{after}");
        assert_eq!(file["hasCompletedOnboarding"], true, "{after}");
        assert_eq!(self.claude.agents(), Vec::<Value>::new(), "{after}");
    }
}

fn wait(child: &mut Child) -> Option<i32> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if began.elapsed() > Duration::from_mins(2) {
            let _ = child.kill();
            panic!("pao did not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn killed_at_each_step(way: &str) {
    let mut ground = Ground::new();
    for step in STEPS {
        for state in ["started", "done"] {
            let after = format!("killed at `{step} {state}`, {way}");
            ground.other_writes();
            let stopped = ground.stop_at(way, &format!("{step} {state}"), &[Signal::SIGKILL]);
            // After its last step there is so little left to do that it may be faster than the signal.
            let finished = (step, state) == ("ready", "done") && stopped.code == Some(0);
            assert!(stopped.code.is_none() || finished, "{after}: {}{}", stopped.stdout, stopped.stderr);
            // An agent that runs may itself write an older copy over what was written beside its lock.
            if !["launch", "ready"].contains(&step) {
                ground.other_writes();
            }
            ground.undo(["launch", "ready"].contains(&step));
            ground.assert_nothing_left(&after);
            assert_eq!(ground.undo(false), "nothing was left to take back\n", "{after}");
        }
    }
}

#[test]
fn killed_at_any_step_a_spawn_by_files_is_taken_back_to_the_last_byte() {
    killed_at_each_step("files");
}

#[test]
fn killed_at_any_step_a_spawn_by_hook_is_taken_back_to_the_last_byte() {
    killed_at_each_step("session");
}

#[test]
fn interrupted_at_any_step_it_takes_itself_back_and_says_so() {
    let mut ground = Ground::new();
    for (n, step) in STEPS.into_iter().enumerate() {
        let way = if n % 2 == 0 { "files" } else { "session" };
        for signals in [&[Signal::SIGINT][..], &[Signal::SIGINT, Signal::SIGINT, Signal::SIGTERM]] {
            let after = format!("{signals:?} at `{step} started`, {way}");
            ground.other_writes();
            let stopped = ground.stop_at(way, &format!("{step} started"), signals);
            assert_eq!(stopped.code, Some(2), "{after}: {}{}", stopped.stdout, stopped.stderr);
            let error: Value = serde_json::from_str(&stopped.stdout).unwrap();
            assert_eq!((&error["kind"], &error["message"]), (&json!("user"), &json!("cancelled")), "{after}");
            ground.assert_nothing_left(&after);
            assert_eq!(ground.undo(false), "nothing was left to take back\n", "{after}");
        }
    }
    // The name is free again.
    let spawned = ground.claude.spawn(&ground.folder, &["--name", "api", "fix", "the", "login", "bug"]);
    assert_eq!(spawned["agent"], "api");
}

//! Whole spawns of the real agent, each beside bare starts of the same agent with the same words in a tmux of their own.
//!
//! Both are measured from the start of the first process to the arrival of the agent's first request at the stand-in of
//! its API, so that the difference is what we cost. Bare starts come in two kinds: with no hooks at all, and with the
//! same hooks calling `true`, which shows what the agent itself takes for having them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pao_core::agent::{Arguments, CLAUDE_CODE, HookCall};
use pao_core::spawn::passed::Permission;
use serde_json::{Value, json};

use crate::figures::{Aim, Report};
use crate::harness::claude::Claude;
use crate::harness::world::PAO;
use crate::stores::Stores;
use crate::talk::Talk;

const PART: &str = "spawn";
const OVERHEAD: &str = "overhead";

/// Mean of the pipeline that was published for this job, in ms.
const PUBLISHED: f64 = 586.0;

const STEPS: [&str; 7] = ["topic", "gather", "briefing", "deliver", "trust", "launch", "ready"];

/// Spawns `times` times.
pub fn measure(claude: &Claude, stores: &Stores, talk: &mut Talk, times: usize, report: &mut Report) {
    let folders: Vec<_> = (0..=times).map(|n| claude.repository(&format!("code/sample{n}"))).collect();
    let bare: Vec<_> = (0..=times).map(|n| claude.repository(&format!("code/bare{n}"))).collect();
    trust(claude, &bare);
    let mut steps: BTreeMap<&str, Vec<Duration>> = BTreeMap::new();
    let mut sources: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    let [mut ours, mut whole, mut plain, mut hooked, mut sum, mut alone] = <[Vec<Duration>; 6]>::default();
    for n in 0..=times {
        let words = format!("look at m{n}m {}", talk.question(4, 12).replace('\n', " "));
        let p = bare_start(claude, &bare[n], &words, n, false);
        let (o, w, spawned) = spawn(claude, &folders[n], &words, n);
        let h = bare_start(claude, &bare[n], &words, n, true);
        if n == 0 {
            // The first of each finds out what is kept afterwards, and warms the disk's cache.
            report.times(PART, "the very first, to the first request", &[o], None);
            continue;
        }
        plain.push(p);
        ours.push(o);
        whole.push(w);
        hooked.push(h);
        alone.extend(stores.worker_alone(&words));
        let mut before_launch = Duration::ZERO;
        for step in spawned["steps"].as_array().unwrap() {
            let took = Duration::from_millis(step["ms"].as_u64().unwrap());
            let name = STEPS.iter().find(|name| step["name"] == **name).unwrap();
            steps.entry(name).or_default().push(took);
            if ["gather", "briefing", "deliver", "trust"].contains(name) {
                before_launch += took;
            }
        }
        sum.push(before_launch);
        for source in spawned["sources"].as_array().unwrap() {
            let name = format!("{}: {}", source["name"].as_str().unwrap(), source["state"].as_str().unwrap());
            let took = Duration::from_millis(source["ms"].as_u64().unwrap());
            sources.entry(name).or_default().push(took);
        }
    }
    for name in STEPS {
        report.times(PART, name, &steps[name], None);
        if name == "gather" {
            for (source, times) in &sources {
                report.times(PART, &format!("  {source}"), times, None);
            }
            if !alone.is_empty() {
                report.times(PART, "  the Worker itself, a bare request", &alone, None);
            }
        }
    }
    report.times(PART, "gather + briefing + deliver + trust", &sum, Some(Aim::Below(60.0)));
    report.times(PART, "the whole command, until confirmed", &whole, None);
    report.one(PART, "published pipeline, mean", "ms", PUBLISHED, None);
    report.times(OVERHEAD, "spawn to first request", &ours, None);
    report.times(OVERHEAD, "bare start to first request", &plain, None);
    report.times(OVERHEAD, "bare start, hooks that call true", &hooked, None);
    report.difference(OVERHEAD, "ours above a bare start", &ours, &plain, Some(Aim::Below(150.0)));
    report.difference(OVERHEAD, "of it the agent's own for having hooks", &hooked, &plain, None);
}

/// Marks folders as trusted, as the agent itself would have after its dialog.
fn trust(claude: &Claude, folders: &[PathBuf]) {
    let mut known: Value = serde_json::from_str(&claude.world.read(".claude.json")).unwrap();
    for folder in folders {
        known["projects"][folder.to_str().unwrap()] =
            json!({ "allowedTools": [], "hasTrustDialogAccepted": true });
    }
    claude.world.write(".claude.json", &serde_json::to_string_pretty(&known).unwrap());
}

/// Until the first request, until the command's end, and what it printed.
fn spawn(claude: &Claude, folder: &Path, words: &str, n: usize) -> (Duration, Duration, Value) {
    claude.api.forget();
    let mut pao = claude.world.command(PAO);
    pao.args(["spawn", "--json", "--yes", "--terminal", "tmux", "-C"]).arg(folder).arg(words);
    pao.stdin(Stdio::null());
    let (since, started) = (now(), Instant::now());
    let output = pao.output().unwrap();
    let whole = started.elapsed();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", claude.screens());
    let spawned: Value = serde_json::from_str(&text).unwrap();
    let first = first_request(claude, n, since);
    let name = spawned["agent"].as_str().unwrap();
    let undone = claude.world.command(PAO).args(["undo", name, "--end"]).output().unwrap();
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    (first, whole, spawned)
}

/// Until the first request of the same agent without us.
fn bare_start(claude: &Claude, folder: &Path, words: &str, n: usize, hooks: bool) -> Duration {
    claude.api.forget();
    let call = HookCall { exe: Path::new("/bin/true"), agent: "none", pao_home: None };
    let mut settings = CLAUDE_CODE.settings(None, &call, folder);
    if !hooks {
        settings.as_object_mut().unwrap().remove("hooks");
    }
    let file = claude.world.write("bare/settings.json", &settings.to_string());
    let arguments = CLAUDE_CODE.arguments(&Arguments {
        version: None,
        session: &uuid(n, hooks),
        resume: false,
        fork_of: None,
        name: "bare",
        setup: &["--settings".into(), file.clone().into()],
        permission: Permission::Ask,
        prompt: Some(words),
        extra: &[],
    });
    let socket = format!("pao-bare-{}", std::process::id());
    let mut tmux = claude.world.command("tmux");
    tmux.args(["-L", &socket, "-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "50", "-c"]);
    tmux.arg(folder).args(["-P", "-F", "#{pane_pid}", "--", "claude"]).args(arguments);
    let since = now();
    let output = tmux.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let first = first_request(claude, n, since);
    let mut end = claude.world.command("tmux");
    end.args(["-L", &socket, "kill-server"]).output().unwrap();
    let pid = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    let process = nix::unistd::Pid::from_raw(pid);
    // What still runs would slow the next one down.
    for _ in 0..200 {
        if nix::sys::signal::kill(process, None).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    let _ = fs::remove_file(file);
    first
}

/// Session ids only have to differ and to look like one.
fn uuid(n: usize, hooks: bool) -> String {
    format!("{n:08x}-0000-4000-8000-{:012x}", u8::from(hooks))
}

fn first_request(claude: &Claude, n: usize, since: f64) -> Duration {
    let mark = format!("m{n}m");
    let first = claude.api.wait_for(Duration::from_secs(30), |r| r.has_tools() && r.text().contains(&mark));
    let first = first.unwrap_or_else(|| panic!("no request came\n{}", claude.screens()));
    Duration::from_secs_f64(first.at - since)
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

//! `pao agents --watch` beside 30 idle agents and beside none: processor time and how often it is woken, with an empty
//! process for comparison. And what one sweep of as many costs a command in passing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use chrono::Utc;
use pao_core::host::process::Identity;
use pao_core::registry::Registry;
use pao_core::registry::agents::{Agent, State};

use crate::figures::{Aim, Report};
use crate::harness::claude::Claude;
use crate::harness::world::PAO;

const PART: &str = "watching agents";
/// Real agents among the thirty.
const REAL: usize = 3;
const ALL: usize = 30;

/// Watches for that long.
pub fn measure(claude: &Claude, time: Duration, report: &mut Report) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let file = claude.world.path(".pao/registry.db");
    runtime.block_on(async { Registry::open(&file).await.unwrap().close().await });
    let (_, woken) = watched(claude, time);
    report.one(PART, "nothing runs: woken", "/min", woken, Some(Aim::Below(10.0)));

    for number in 0..REAL {
        let folder = claude.world.folder(&format!("code/real{number}"));
        claude.spawn(&folder, &["hello"]);
    }
    let mut light = Light(Vec::new());
    runtime.block_on(async {
        let registry = Registry::open(&file).await.unwrap();
        for number in 0..ALL - REAL {
            light.0.push(sleeper(claude));
            stand_in(claude, &registry, number, &light.0[number]).await;
        }
        registry.close().await;
    });
    claude.until("all are idle", || {
        let listed = claude.agents();
        listed.len() == ALL && listed.iter().all(|agent| agent["state"] == "idle")
    });
    let (share, woken) = watched(claude, time);
    report.one(PART, "30 idle agents: processor time", "%", share, Some(Aim::Below(0.5)));
    report.one(PART, "30 idle agents: woken", "/min", woken, None);
    let empty = processor(sleeper(claude), time).0;
    report.one(PART, "an empty process: processor time", "%", empty, None);

    let host = pao_core::host::Host {
        home: claude.world.home.clone(),
        pao_home: claude.world.path(".pao"),
        cwd: claude.world.home.clone(),
        exe: PAO.into(),
        env: claude.world.env().clone(),
        frozen: None,
    };
    runtime.block_on(async {
        let registry = Registry::open(&file).await.unwrap();
        for (what, effort) in [
            ("a sweep of 30 in passing", pao_core::life::evidence::Effort::LITTLE),
            ("a sweep of 30 with windows and screens", pao_core::life::evidence::Effort::FULL),
        ] {
            let mut took = Vec::new();
            for _ in 0..30 {
                let began = Instant::now();
                pao_core::life::sweep::sweep_with(&host, &registry, effort).await;
                took.push(began.elapsed());
            }
            report.times(PART, what, &took, None);
        }
        registry.close().await;
    });
}

/// Processes that are ended whatever comes.
struct Light(Vec<Child>);

impl Drop for Light {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A process that does nothing, and holds nothing open.
fn sleeper(claude: &Claude) -> Child {
    let mut command = claude.world.command("sleep");
    command.arg("3600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A process with the rows and the session-state file an idle agent has.
async fn stand_in(claude: &Claude, registry: &Registry, number: usize, child: &Child) {
    let process = Identity::of(child.id()).unwrap();
    let start = process.mark().unwrap().start;
    let (id, session) = (format!("light{number:02}"), format!("00000000-0000-4000-8000-{number:012}"));
    let now = Utc::now();
    let agent = Agent {
        session: Some(session.clone()),
        state: State::Idle,
        ..Agent::starting(&id, &id, &claude.world.home, "claude-code", now)
    };
    registry.add(&agent).await.unwrap();
    registry.set_process(&id, process, None, now).await.unwrap();
    claude.world.folder(&format!(".pao/agents/{id}"));
    let said = serde_json::json!({
        "pid": child.id(), "sessionId": session, "procStart": start.to_string(), "status": "idle",
        "statusUpdatedAt": now.timestamp_millis(),
    });
    claude.world.write(&format!(".claude/sessions/{}.json", child.id()), &said.to_string());
}

/// Share of one core in percent, and wake-ups a minute, of a watch that was given time to begin.
fn watched(claude: &Claude, time: Duration) -> (f64, f64) {
    let mut command = claude.world.command(PAO);
    command.args(["agents", "--watch", "--json"]).stdin(Stdio::null()).stdout(Stdio::null());
    let child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    processor(child, time)
}

pub fn processor(mut child: Child, time: Duration) -> (f64, f64) {
    let before = (spent(child.id()), switches(child.id()));
    std::thread::sleep(time);
    let after = (spent(child.id()), switches(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let share = after.0.saturating_sub(before.0).as_secs_f64() / time.as_secs_f64() * 100.0;
    // A thread that has ended meanwhile no longer tells.
    let woken = after.1.iter().map(|(thread, all)| all - before.1.get(thread).unwrap_or(&0)).sum::<u64>();
    (share, woken as f64 / time.as_secs_f64() * 60.0)
}

/// Time on a processor over all threads, ended ones too, to a hundredth of a second.
pub fn spent(pid: u32) -> Duration {
    Duration::from_millis(stat(pid).iter().skip(11).take(2).sum::<u64>() * 10)
}

/// What the system counts of a process, from its state (a letter, here 0) on; times in hundredths of a second. Empty where it is gone.
pub fn stat(pid: u32) -> Vec<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in parentheses, may hold anything; behind it come a letter and numbers.
    let numbers = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    numbers.map(|number| number.parse().unwrap_or_default()).collect()
}

/// How often each thread gave the processor up of its own accord: each was a wake-up.
fn switches(pid: u32) -> BTreeMap<OsString, u64> {
    let number = |text: String| {
        let line = text.lines().find(|line| line.starts_with("voluntary_ctxt_switches"))?.to_owned();
        line.split_whitespace().last()?.parse::<u64>().ok()
    };
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of = |task: std::fs::DirEntry| {
        Some((task.file_name(), number(std::fs::read_to_string(task.path().join("status")).ok()?)?))
    };
    tasks.filter_map(of).collect()
}

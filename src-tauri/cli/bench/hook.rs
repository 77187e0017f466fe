//! `pao hook` as a whole process beside `true`, in turn, as the host agent's shell would start either.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use pao_core::registry::Registry;

use crate::figures::{Aim, Report};
use crate::harness::world::{PAO, World};

const PART: &str = "hook, the whole process";
const AGENT: &str = "a1";

/// Calls each `times` times.
pub fn measure(world: &World, times: usize, report: &mut Report) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { Registry::open(&world.path(".pao/registry.db")).await.unwrap().close().await });
    let briefing =
        "- the webhook retry was made idempotent by its event id [facts · 2026-11-02 · 17]\n".repeat(112);
    world.write(&format!(".pao/agents/{AGENT}/hook.md"), &briefing);
    let [stop, start] = ["Stop", "SessionStart"].map(payload);
    let mut took: [Vec<Duration>; 3] = Default::default();
    for _ in 0..times {
        took[0].push(call(world, "true", &stop, 0));
        took[1].push(call(world, PAO, &stop, 0));
        took[2].push(call(world, PAO, &start, briefing.len()));
    }
    let aim = Some(Aim::Below(10.0));
    report.times(PART, "true", &took[0], None);
    report.times(PART, "pao hook: Stop", &took[1], None);
    report.times(PART, "pao hook: SessionStart, 9 KB", &took[2], None);
    report.difference(PART, "Stop above true", &took[1], &took[0], aim);
    report.difference(PART, "SessionStart above true", &took[2], &took[0], aim);
    // What follows must find this world as it was.
    std::fs::remove_dir_all(world.path(".pao")).unwrap();
}

fn payload(event: &str) -> String {
    let file = format!("tests/fixtures/claude-code/hooks/{event}.json");
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn call(world: &World, program: &str, input: &str, at_least: usize) -> Duration {
    let mut command = world.command(program);
    command.args(["hook", "--agent", AGENT]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    // One that does not read may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let took = started.elapsed();
    assert!(output.status.success() && output.stdout.len() >= at_least, "{program} did not do its work");
    took
}

//! The app on a desktop of its own: until a window can be used, until one is shown, what it takes while nothing happens.
//! Beside it a program with the same toolkit and an empty page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::figures::{Aim, Report};
use crate::harness::world::World;

#[allow(dead_code, reason = "the tests' desktop, of which the benchmark needs a part")]
#[path = "../../../tests/app/desktop.rs"]
mod desktop;
#[allow(dead_code, reason = "as above")]
#[path = "../../../tests/app/tray.rs"]
mod tray;
#[allow(dead_code, reason = "as above")]
#[path = "../../../tests/app/window.rs"]
mod window;

use desktop::{Desktop, PATIENCE, program};

const PART: &str = "the app";

/// Measures that many starts, and rests that long.
pub fn measure(starts: usize, rest: Duration, report: &mut Report) {
    let mut world = World::new();
    world.real_clock();
    let folder = world.folder("code/api");
    // With settings there is no first run.
    world.write(".pao/config.toml", "");
    let mut desktop = desktop::empty(&mut world);
    let mut took = Vec::new();
    for _ in 0..starts {
        desktop.launch(&world, &[&folder.to_string_lossy()]);
        took.push(usable(&desktop));
    }
    report.times(PART, "exec until the spawn panel can be used", &took, Some(Aim::Below(500.0)));
    let bare = program().with_file_name("examples").join("bare");
    let mut took = Vec::new();
    for _ in 0..starts {
        desktop.launch_as(&world, &bare, &[]);
        took.push(loaded(&desktop, &bare));
    }
    report.times(PART, "exec of one with an empty page until that is loaded", &took, None);

    let mut took = Vec::new();
    // Another desktop: panels do not take well to icons that vanish so often.
    drop(desktop);
    let mut desktop = desktop::empty(&mut world);
    desktop.launch(&world, &[]);
    for _ in 0..starts {
        took.push(shown(&world, &desktop));
    }
    report.times(PART, "popover drawn, with the call on the bus", &took, Some(Aim::Below(100.0)));

    // Whatever starting it still does is over.
    std::thread::sleep(Duration::from_secs(5));
    let app = tree(process(&program()));
    let spent = || app.iter().map(|pid| crate::watch::spent(*pid)).sum::<Duration>();
    let before = spent();
    std::thread::sleep(rest);
    let share = spent().saturating_sub(before).as_secs_f64() / rest.as_secs_f64() * 100.0;
    report.one(PART, "idle: processor time", "%", share, Some(Aim::Below(0.2)));
    let ours = memory(&app);
    desktop.leave();
    desktop.run(&mut world.command(&bare));
    std::thread::sleep(Duration::from_secs(5));
    let bare = memory(&tree(process(&bare)));
    report.one(PART, "memory, of all its processes", "MB", ours, None);
    report.one(PART, "memory of one with an empty page", "MB", bare, None);
    report.one(PART, "ratio of the two", "", ours / bare, Some(Aim::Below(1.3)));
    report.one(PART, "user interface, gzipped", "KB", interface() / 1e3, Some(Aim::Below(150.0)));
}

/// From the start of the process until its page had what it shows.
fn usable(desktop: &Desktop) -> Duration {
    let panel = desktop.panel();
    let until = Instant::now() + PATIENCE;
    loop {
        let at = panel.run(
            "const [mark] = performance.getEntriesByName('usable');
             return mark && document.visibilityState === 'visible' ? performance.timeOrigin + mark.startTime : null",
            &json!([]),
        );
        if let Some(at) = at.as_f64() {
            return Duration::from_secs_f64((at / 1e3 - began(process(&program()))).max(0.0));
        }
        assert!(Instant::now() < until, "the panel did not come up");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// From the start of the process until its one page was loaded.
fn loaded(desktop: &Desktop, program: &Path) -> Duration {
    let script = json!({ "script": "return performance.timing.loadEventEnd || null", "args": [] });
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(at) = desktop.drive("POST", "execute/sync", &script).ok().as_ref().and_then(Value::as_f64)
        {
            return Duration::from_secs_f64((at / 1e3 - began(process(program))).max(0.0));
        }
        assert!(Instant::now() < until, "the empty page did not come up");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// From the click on its entry in the tray's menu until the page was drawn.
fn shown(world: &World, desktop: &Desktop) -> Duration {
    let popover = desktop.popover();
    popover.run(
        "window.shownAt = null;
         const shown = () => requestAnimationFrame(() => setTimeout(() => { window.shownAt = performance.timeOrigin + performance.now() }));
         if (!window.asked) document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && shown());
         window.asked = true",
        &json!([]),
    );
    let until = Instant::now() + PATIENCE;
    let entry = loop {
        match tray::entry(world, &["Open Prime Agent Orchestrator"]) {
            Some(entry) => break entry,
            None => assert!(Instant::now() < until, "there is no tray icon"),
        }
    };
    let clicked = wall();
    tray::click(world, &entry);
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(at) = popover.run("return window.shownAt", &json!([])).as_f64() {
            popover.run("document.activeElement?.blur()", &json!([]));
            desktop.gives("close", &json!("popover"));
            popover.is_shown(false);
            return Duration::from_secs_f64((at / 1e3 - clicked).max(0.0));
        }
        assert!(Instant::now() < until, "the popover was not shown");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn wall() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64()
}

/// When a process began, in seconds since 1970, to a hundredth.
fn began(pid: u32) -> f64 {
    let ticks = crate::watch::stat(pid)[19] as f64;
    let up = fs::read_to_string("/proc/uptime").unwrap();
    let up: f64 = up.split(' ').next().unwrap().parse().unwrap();
    wall() - up + ticks / 100.0
}

/// The newest process of a program.
fn process(program: &Path) -> u32 {
    let program = program.canonicalize().unwrap();
    let found =
        pids().filter(|pid| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program));
    found.max().unwrap_or_else(|| panic!("{} does not run", program.display()))
}

fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A process with all below it.
fn tree(root: u32) -> Vec<u32> {
    let mut all = vec![root];
    let mut next = 0;
    while let Some(parent) = all.get(next).copied() {
        let children =
            fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        all.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        next += 1;
    }
    all
}

/// Megabytes, what is shared with others by its share.
fn memory(pids: &[u32]) -> f64 {
    let proportional = |pid: &u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = text.lines().find(|line| line.starts_with("Pss:"))?.to_owned();
        line.split_whitespace().nth(1)?.parse::<f64>().ok()
    };
    pids.iter().filter_map(proportional).sum::<f64>() / 1024.0
}

/// Bytes of the built pages, each file gzipped.
fn interface() -> f64 {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("ui/dist/assets");
    let gzipped = |file: PathBuf| {
        let gzip = Command::new("gzip").arg("-9c").arg(file).stdout(Stdio::piped()).output().unwrap();
        gzip.stdout.len() as f64
    };
    fs::read_dir(folder).unwrap().flatten().map(|entry| gzipped(entry.path())).sum()
}

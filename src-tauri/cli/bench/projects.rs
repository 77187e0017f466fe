//! Projects found in a tree of fifty files each, beside a plain walk of the `ignore` crate over the same tree, and the
//! price of watching them while nothing happens.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use pao_core::projects::find::{Bounds, scan};

use crate::figures::{Aim, Report};
use crate::harness::world::{PAO, World};
use crate::watch::processor;

const PART: &str = "projects";
/// Files of each: most of them in its sources, some where nobody looks.
const FILES: usize = 50;
const ROUNDS: usize = 9;

/// Measures so many projects, and watches them for that long.
pub fn measure(projects: usize, time: Duration, report: &mut Report) {
    let mut world = World::new();
    world.real_clock();
    let code = world.folder("code");
    for number in 0..projects {
        fill(&code.join(format!("group{}/p{number}", number % 20)));
    }
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let found = scan(&code, &world.home, &Bounds::default(), &|| false).unwrap();
        ours.push(began.elapsed());
        assert_eq!(found.projects.len(), projects);
        let began = Instant::now();
        let walked = ignore::WalkBuilder::new(&code).build().flatten().count();
        plain.push(began.elapsed());
        assert!(walked > found.folders.len());
    }
    let what = format!("{projects} projects, {} files: found", projects * FILES);
    report.times(PART, &what, &ours, None);
    report.times(PART, "the same tree walked by the crate ignore", &plain, None);
    ours.sort();
    plain.sort();
    let ratio = ours[ROUNDS / 2].as_secs_f64() / plain[ROUNDS / 2].as_secs_f64();
    report.one(PART, "ratio of the two", "", ratio, Some(Aim::Below(1.0)));
    world.pao(["projects", "add", "code"]).ok();
    let began = Instant::now();
    let list = world.pao(["projects"]).ok();
    report.times(PART, "pao projects, thirty of them asked of git", &[began.elapsed()], None);
    assert!(list.stdout.lines().count() > 20, "{}", list.screen);
    let mut command = world.command(PAO);
    command.args(["projects", "--watch", "--json"]).stdin(Stdio::null()).stdout(Stdio::null());
    let child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(10));
    let (share, woken) = processor(child, time);
    report.one(PART, "watched while nothing happens: processor time", "%", share, Some(Aim::Below(0.2)));
    report.one(PART, "watched while nothing happens: woken", "/min", woken, None);
}

fn fill(folder: &Path) {
    for inside in ["src", "src/deep", ".git/refs", "node_modules/a/lib"] {
        fs::create_dir_all(folder.join(inside)).unwrap();
    }
    fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(folder.join(".gitignore"), "node_modules/\ndist/\n").unwrap();
    fs::write(folder.join("package.json"), "{}").unwrap();
    for file in 3..FILES {
        let inside = ["src", "src/deep", "node_modules/a/lib"][file % 3];
        fs::File::create(folder.join(format!("{inside}/f{file}"))).unwrap();
    }
}

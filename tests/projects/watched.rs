//! `pao projects --watch`: what happens on the disk is told as it happens, and what is ignored costs nothing.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::*;

/// Registrations of our own folder: for agents, and for the configuration.
const OWN: usize = 2;

/// A watch under way. Ended when dropped.
struct Live {
    child: Child,
    told: Receiver<Value>,
    /// What was told last of each project and root.
    known: std::collections::BTreeMap<String, Value>,
}

impl Live {
    fn start(world: &World) -> Self {
        let mut child = world.pao(["projects", "--watch", "--json"]).start();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, told) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = tell.send(serde_json::from_str(&line).unwrap());
            }
        });
        Self { child, told, known: std::collections::BTreeMap::new() }
    }

    fn take(&mut self, line: &Value) {
        let place = |of: &str| line[of]["folder"].as_str().map(str::to_owned);
        match (line["what"].as_str(), place("project"), place("root")) {
            (Some("gone"), Some(folder), _) => drop(self.known.remove(&folder)),
            (_, Some(folder), _) => drop(self.known.insert(folder, line["project"].clone())),
            (_, _, Some(folder)) => drop(self.known.insert(format!("root {folder}"), line["root"].clone())),
            _ => {}
        }
    }

    /// Waits until it is so; how long that took.
    fn until(&mut self, what: &str, so: impl Fn(&Self) -> bool) -> Duration {
        let began = Instant::now();
        while !so(self) {
            let left = Duration::from_mins(1).saturating_sub(began.elapsed());
            match self.told.recv_timeout(left) {
                Ok(line) => self.take(&line),
                Err(RecvTimeoutError::Timeout) => panic!("{what}: {:#?}", self.known),
                Err(RecvTimeoutError::Disconnected) => panic!("{what}: the watch has ended"),
            }
        }
        began.elapsed()
    }

    fn project(&self, folder: &Path) -> Option<&Value> {
        self.known.get(folder.to_str().unwrap())
    }

    fn root(&self, folder: &Path) -> Option<&Value> {
        self.known.get(&format!("root {}", folder.display()))
    }

    fn has(&self, folder: &Path, key: &str, value: impl Into<Value>) -> bool {
        self.project(folder).is_some_and(|project| project[key] == value.into())
    }

    /// Folders the system itself says are registered.
    fn registered(&self) -> usize {
        let files = fs::read_dir(format!("/proc/{}/fdinfo", self.child.id())).unwrap();
        let files = files.flatten().filter_map(|file| fs::read_to_string(file.path()).ok());
        files.map(|text| text.lines().filter(|line| line.starts_with("inotify ")).count()).sum()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn world() -> World {
    let mut world = World::new();
    world.real_clock();
    world
}

fn watched(world: &World) -> Live {
    let code = world.folder("code");
    world.pao(["projects", "add", "code"]).ok();
    let mut live = Live::start(world);
    live.until("the root is watched", |live| live.root(&code).is_some_and(|root| root["state"] == "watched"));
    live
}

#[test]
fn another_branch_and_changed_files_are_seen_within_a_second() {
    let world = world();
    let api = repository(&world, "code/api");
    world.write("code/api/src/deep/x.rs", "");
    git(&world, &api, &["add", "-A"]);
    commit(&world, &api);
    let mut live = watched(&world);
    live.until("it is clean", |live| live.has(&api, "branch", "main") && live.has(&api, "changed", 0));
    let (mut branches, mut changes) = (Vec::new(), Vec::new());
    for turn in 0..3 {
        let name = format!("turn/{turn}");
        git(&world, &api, &["checkout", "-q", "-b", &name]);
        branches.push(live.until("the branch is seen", |live| live.has(&api, "branch", name.clone())));
        live.until("it is known again", |live| live.has(&api, "changed", 0));
        std::thread::sleep(Duration::from_secs(1));
        world.write("code/api/src/deep/x.rs", &name);
        changes.push(live.until("the change is seen", |live| live.has(&api, "changed", 1)));
        git(&world, &api, &["commit", "-q", "--no-gpg-sign", "-a", "-m", "turn"]);
        live.until("it is committed", |live| live.has(&api, "changed", 0));
    }
    // Once would be luck on a busy machine; never would be a fault.
    let second = Duration::from_secs(1);
    assert!(branches.iter().any(|took| *took < second), "{branches:?}");
    assert!(changes.iter().any(|took| *took < second), "{changes:?}");
}

#[test]
fn projects_come_and_go_as_they_do_on_the_disk() {
    let world = world();
    let mut live = watched(&world);
    let hostile = world.folder("code").join("a\nb \u{1b}[2J");
    for folder in [world.path("code/支付对账"), world.path("code/group/inner"), hostile.clone()] {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("package.json"), "{}").unwrap();
        live.until("it is found", |live| live.project(&folder).is_some());
    }
    let odd = world.path("code").join(OsString::from_vec(b"caf\xe9".to_vec()));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("go.mod"), "").unwrap();
    let shown = PathBuf::from(odd.to_string_lossy().into_owned());
    live.until("a name that is no Unicode is found", |live| live.project(&shown).is_some());
    let api = repository(&world, "code/api");
    git(&world, &api, &["worktree", "add", "-q", "-b", "other", "../other"]);
    let other = world.path("code/other");
    live.until("the worktree is found", |live| live.has(&other, "branch", "other"));
    git(&world, &other, &["checkout", "-q", "-b", "third"]);
    live.until("its own branch is seen", |live| {
        live.has(&other, "branch", "third") && live.has(&api, "branch", "main")
    });
    fs::rename(&other, world.path("code/moved")).unwrap();
    fs::remove_dir_all(&hostile).unwrap();
    live.until("what went is gone", |live| {
        live.project(&other).is_none() && live.project(&hostile).is_none()
    });
    fs::remove_file(world.path("code/支付对账/package.json")).unwrap();
    live.until("without its mark it is none", |live| live.project(&world.path("code/支付对账")).is_none());
}

#[test]
fn what_is_ignored_is_never_registered() {
    let world = world();
    let api = repository(&world, "code/api");
    world.write("code/api/.gitignore", "/generated\n");
    for n in 0..200 {
        world.folder(&format!("code/api/node_modules/p{n}/lib"));
        world.folder(&format!("code/api/target/t{n}"));
        world.folder(&format!("code/api/generated/g{n}"));
        world.folder(&format!("code/api/.git/objects/o{n}"));
        world.folder(&format!("code/.cache/c{n}"));
    }
    let mut live = watched(&world);
    // The root, the project, its git folder.
    assert_eq!(live.registered(), OWN + 3);
    fs::create_dir_all(world.path("code/api/node_modules/more/and/more")).unwrap();
    fs::create_dir_all(world.path("code/api/src/deep")).unwrap();
    live.until("new folders are watched", |live| {
        let root = live.root(&world.path("code"));
        root.is_some_and(|root| root["watched"] == 5)
    });
    assert_eq!(live.registered(), OWN + 5);
    fs::remove_dir_all(world.path("code/api/src")).unwrap();
    live.until("removed ones are let go", |live| live.root(&world.path("code")).unwrap()["watched"] == 3);
    assert_eq!(live.registered(), OWN + 3);
    assert!(live.project(&api).is_some());
}

#[test]
fn a_root_that_goes_away_is_kept_and_watched_again_when_it_comes_back() {
    let world = world();
    world.write("code/api/package.json", "");
    let code = world.path("code");
    let mut live = watched(&world);
    live.until("it is found", |live| live.project(&code.join("api")).is_some());
    for _ in 0..2 {
        fs::rename(&code, world.path("away")).unwrap();
        live.until("it is away", |live| {
            live.root(&code).unwrap()["state"] == "away" && live.project(&code.join("api")).is_none()
        });
        fs::rename(world.path("away"), &code).unwrap();
        live.until("it is back", |live| {
            live.root(&code).unwrap()["state"] == "watched" && live.project(&code.join("api")).is_some()
        });
    }
    fs::remove_dir_all(&code).unwrap();
    live.until("it is removed", |live| live.root(&code).unwrap()["state"] == "away");
    world.write("code/web/package.json", "");
    live.until("another one is there", |live| live.project(&code.join("web")).is_some());
    world.write("code/later/go.mod", "");
    live.until("and is watched", |live| live.project(&code.join("later")).is_some());
}

#[test]
fn where_no_more_folders_may_be_watched_the_root_is_looked_through_and_the_reason_is_told() {
    let world = world();
    let api = repository(&world, "code/api");
    for (key, value) in [("projects.watches", "2"), ("projects.poll_s", "1")] {
        world.pao(["config", "set", key, value]).ok();
    }
    world.pao(["projects", "add", "code"]).ok();
    let code = world.path("code");
    let mut live = Live::start(&world);
    live.until("it is polled", |live| live.root(&code).is_some_and(|root| root["state"] == "polled"));
    let root = live.root(&code).unwrap().clone();
    assert!(root["why"].as_str().unwrap().contains("more than 2 folders"), "{root}");
    assert!(root["next"].as_str().unwrap().contains("pao config set projects.watches"), "{root}");
    assert!(live.registered() < OWN + 2);
    world.write("code/api/new.txt", "");
    git(&world, &api, &["checkout", "-q", "-b", "other"]);
    world.write("code/web/go.mod", "");
    live.until("all of it is seen all the same", |live| {
        live.has(&api, "changed", 1)
            && live.has(&api, "branch", "other")
            && live.project(&code.join("web")).is_some()
    });
    world.pao(["config", "set", "projects.watches", "100"]).ok();
    live.until("with room it is watched", |live| live.root(&code).unwrap()["state"] == "watched");
    let checks = world.pao(["doctor", "--json"]).run().json();
    let check = checks.as_array().unwrap().iter().find(|check| check["name"] == "projects").unwrap();
    assert!(check["found"].as_str().unwrap().starts_with("2 projects; "), "{check}");
}

#[test]
fn a_project_too_large_to_be_watched_whole_is_watched_at_its_top_and_looked_at_now_and_then() {
    let world = world();
    let api = repository(&world, "code/api");
    for n in 0..30 {
        world.write(&format!("code/api/src/d{n}/x"), "");
    }
    git(&world, &api, &["add", "-A"]);
    commit(&world, &api);
    for (key, value) in [("projects.watches", "10"), ("projects.poll_s", "1")] {
        world.pao(["config", "set", key, value]).ok();
    }
    let mut live = watched(&world);
    live.until("it is known", |live| live.has(&api, "changed", 0));
    assert_eq!(live.root(&world.path("code")).unwrap()["partly"], 1);
    assert!(live.registered() < OWN + 10);
    world.write("code/api/src/d7/x", "other");
    live.until("the change is seen", |live| live.has(&api, "changed", 1));
}

#[test]
fn what_the_user_names_meanwhile_is_watched_from_then_on() {
    let world = world();
    world.write("工作/支付/go.mod", "");
    let mut live = watched(&world);
    world.pao(["projects", "add", "工作"]).ok();
    live.until("it is found", |live| live.project(&world.path("工作/支付")).is_some());
    world.write(".pao/config.toml", "[projects]\nroots = [\n");
    world.write("工作/more/go.mod", "");
    live.until("half a configuration changes nothing", |live| {
        live.project(&world.path("工作/more")).is_some()
    });
    world.write(".pao/config.toml", "");
    live.until("without roots there is nothing", |live| live.project(&world.path("工作/支付")).is_none());
}

#[test]
fn a_transcript_that_grows_can_be_recalled_without_anybody_indexing() {
    let world = world();
    let api = repository(&world, "code/api");
    let file = transcript(&world, &api, "s1", "2026-11-30T09:00:00Z", "the flux capacitor!");
    world.pao(["index"]).ok();
    let recalled =
        |words: &str| world.pao(["recall", "--json", words]).run().stdout.contains(&format!("{words}!"));
    let grow = |text: &str, at: &str| {
        let line = said(&api, "s1", at, text);
        let old = fs::read_to_string(&file).unwrap();
        fs::write(&file, old + &line).unwrap();
    };
    grow("this is zymurgy!", "2026-11-30T10:00:00Z");
    assert!(recalled("capacitor") && !recalled("zymurgy"), "nobody indexes by himself");
    let mut live = watched(&world);
    let until = |word: &str| {
        let began = Instant::now();
        while !recalled(word) {
            assert!(began.elapsed() < Duration::from_secs(30), "{word}");
            std::thread::sleep(Duration::from_millis(200));
        }
    };
    until("zymurgy");
    grow("this is a quokka!", "2026-11-30T11:00:00Z");
    until("quokka");
    transcript(&world, &api, "s2", "2026-11-30T11:30:00Z", "and this a numbat!");
    until("numbat");
    live.until("the session is told", |live| live.has(&api, "session_at", "2026-11-30T11:30:00Z"));
}

#[test]
fn a_hundred_thousand_files_are_found_and_watched_in_bounded_time() {
    let world = world();
    for project in 0..100 {
        let folder = world.folder(&format!("code/group{}/p{project}", project % 10));
        fs::create_dir_all(folder.join(".git")).unwrap();
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        for module in 0..10 {
            let inside = folder.join(format!("src/m{module}"));
            let ignored = folder.join(format!("node_modules/n{module}/lib"));
            fs::create_dir_all(&inside).unwrap();
            fs::create_dir_all(&ignored).unwrap();
            for file in 0..50 {
                fs::File::create(inside.join(format!("f{file}"))).unwrap();
                fs::File::create(ignored.join(format!("f{file}"))).unwrap();
            }
        }
    }
    let began = Instant::now();
    let mut live = watched(&world);
    let took = began.elapsed();
    assert!(took < Duration::from_mins(1), "{took:?}");
    // Root, groups, and of each project its top, its git folder, `src` and ten modules.
    assert_eq!(live.root(&world.path("code")).unwrap()["watched"], 1 + 10 + 100 * 13);
    assert_eq!(live.registered(), OWN + 1 + 10 + 100 * 13);
    world.write("code/group3/new/go.mod", "");
    let took =
        live.until("a new one is found", |live| live.project(&world.path("code/group3/new")).is_some());
    assert!(took < Duration::from_mins(1), "{took:?}");
}

#[test]
fn whoever_stops_watching_leaves_nothing_behind() {
    let world = world();
    repository(&world, "code/api");
    world.pao(["projects", "add", "code"]).ok();
    let host = pao_core::host::Host {
        home: world.home.clone(),
        pao_home: world.path(".pao"),
        cwd: world.home.clone(),
        exe: crate::harness::world::PAO.into(),
        env: world.env().clone(),
        frozen: None,
    };
    let config = pao_core::config::Config::load(&host).unwrap();
    let open = || {
        let files = fs::read_dir("/proc/self/fd").unwrap().flatten();
        let links = files.filter_map(|file| fs::read_link(file.path()).ok());
        links.filter(|link| link.to_string_lossy().contains("inotify")).count()
    };
    let before = open();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut watch = pao_core::projects::Watch::start(&host, &config);
        let seen = watch.next().await.unwrap();
        assert_eq!((seen.projects.len(), seen.projects[0].branch.as_deref()), (1, Some("main")));
        assert!(seen.watched >= 3 && open() > before);
        drop(watch);
        for _ in 0..100 {
            if open() == before {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it still watches");
    });
}

//! Eight spawns at once, beside a program that rewrites the agent's file without asking anybody.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::*;
use crate::harness::claude::Version;

/// Words that occur nowhere else, one per agent.
const MARKS: [&str; 8] =
    ["albatross", "bandicoot", "capybara", "dromedary", "echidna", "flamingo", "gazelle", "hedgehog"];

/// Reads, changes and replaces the agent's file, again and again, as programs do that know of no lock.
fn rewrite(world: &World, stop: &AtomicBool, written: &AtomicU64) {
    let (file, half) = (world.path(".claude.json"), world.path(".claude.json.rewriter"));
    while !stop.load(Ordering::Relaxed) {
        // What does not parse is half of somebody's write in place; a careful program leaves it alone.
        if let Ok(mut value) = serde_json::from_slice::<Value>(&fs::read(&file).unwrap_or_default()) {
            value["rewrites"] = json!(written.fetch_add(1, Ordering::Relaxed) + 1);
            fs::write(&half, serde_json::to_vec_pretty(&value).unwrap()).unwrap();
            fs::rename(&half, &file).unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn eight_at_once_get_their_own_briefings_and_no_key_of_the_agent_s_file_is_lost() {
    let claude = Claude::new(Version::New);
    let world = &claude.world;
    world.write(".pao/config.toml", "[spawn]\nready_timeout_s = 150\ndeadline_ms = 20000\n");
    // The last two work in the same folder.
    let mut folders: Vec<PathBuf> =
        MARKS[..7].iter().map(|mark| claude.repository(&format!("code/{mark}"))).collect();
    folders.push(folders[6].clone());
    for (n, (mark, folder)) in (0..).zip(MARKS.iter().zip(&folders)) {
        let text = format!("Remember that {mark} numbers live at known-{mark}.");
        remember(world, folder, n, &text);
    }
    world.pao(["index"]).ok();
    let (stop, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let spawned: Vec<Value> = std::thread::scope(|scope| {
        let rewriter = scope.spawn(|| rewrite(world, &stop, &written));
        let spawns: Vec<_> = MARKS
            .iter()
            .zip(&folders)
            .map(|(mark, folder)| {
                scope.spawn(move || {
                    let topic = format!("where does the {mark} service keep its {mark} ledger");
                    let folder = folder.to_str().unwrap();
                    let words = ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder, &topic];
                    world.pao(words).limit(Duration::from_mins(4)).run()
                })
            })
            .collect();
        let ran: Vec<_> = spawns.into_iter().map(|spawn| spawn.join().unwrap()).collect();
        stop.store(true, Ordering::Relaxed);
        rewriter.join().unwrap();
        ran.into_iter()
            .map(|ran| {
                assert_eq!(ran.code, Some(0), "{}\n{}", ran.screen, claude.screens());
                ran.json()
            })
            .collect()
    });

    let mut names = std::collections::BTreeSet::new();
    for (mark, spawned) in MARKS.iter().zip(&spawned) {
        assert_eq!(spawned["confirmed"], true, "{spawned:#}");
        names.insert(spawned["agent"].as_str().unwrap().to_string());
        let text = claude.first_request(&format!("where does the {mark} service")).text();
        assert!(text.contains(&format!("known-{mark}")), "{mark} was not briefed:\n{text}");
        for other in MARKS.iter().filter(|other| *other != mark) {
            assert!(!text.contains(&format!("where does the {other}")), "{mark} got the topic of {other}");
            assert!(
                !text.contains(&format!("known-{other}")),
                "{mark} got what {other} should know:\n{text}"
            );
        }
    }
    assert_eq!(names.len(), 8, "{names:?}");
    let rows: std::collections::BTreeSet<String> =
        claude.agents().iter().map(|row| row["name"].as_str().unwrap().to_string()).collect();
    assert_eq!(rows, names);
    assert_eq!(claude.panes().len(), 8);

    let file = agent_file(world);
    for folder in &folders {
        assert!(is_trusted(world, folder), "{} lost its trust", folder.display());
    }
    assert_eq!(file["projects"]["/somewhere/else"]["hasTrustDialogAccepted"], true);
    assert_eq!(file["hasCompletedOnboarding"], true);
    assert_eq!(file["customApiKeyResponses"]["approved"].as_array().unwrap().len(), 1);
    // Whoever writes last may bring back an older count, but not take the key away.
    assert!(file["rewrites"].as_u64().unwrap() > 0 && written.load(Ordering::Relaxed) > 20);
}

//! People read times in their own time zone, programs in UTC.

use serde_json::json;

use crate::cli::registry;
use crate::harness::world::World;

const SESSION: &str = "0b5e7f0e-58b4-4c57-9a44-0d4cf1a70001";

/// Two agents of one name that ended when it was noon in UTC, one of them with a conversation, both cleaned up by hand
/// never. The clock stands in the evening, when it is the next day already in India.
fn machine() -> World {
    let mut world = World::new();
    let folder = world.folder("code/api");
    let statement = format!(
        "UPDATE agents SET name = 'api', state = 'ended', ended_at = '2026-11-30T12:00:00Z', session = '{SESSION}'"
    );
    registry(&world, &["first", "second"], &folder, &statement);
    let record = json!({
        "type": "user", "message": { "role": "user", "content": "look around" }, "cwd": folder,
        "uuid": "77bda9c0-47c6-4028-be18-cc4b07d22dcd", "timestamp": "2026-11-20T09:00:00.000Z",
        "sessionId": SESSION, "isSidechain": false,
    });
    let slug: String =
        folder.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    world.write(&format!(".claude/projects/{slug}/{SESSION}.jsonl"), &format!("{record}\n"));
    world.set("PAO_NOW", "2026-11-30T20:00:00Z");
    world
}

/// What India's time zone is called where the machine knows names of zones, and what says the same by itself.
const INDIA: [&str; 2] = ["Asia/Kolkata", "IST-05:30"];

#[test]
fn every_time_that_people_read_is_of_their_own_zone() {
    let mut world = machine();
    world.pao(["checkpoint", "first"]).ok();
    let id = world.pao(["checkpoint", "list", "--json"]).ok().json()[0]["id"].as_str().unwrap().to_owned();
    for zone in INDIA {
        world.set("TZ", zone);
        let shown = world.pao(["agent", "show", "api"]).ok();
        assert!(shown.stdout.contains("2026-11-30 17:30:00"), "{zone}: {}", shown.screen);
        assert!(shown.stdout.contains("2026-12-01 01:30:00"), "the checkpoint, {zone}: {}", shown.screen);
        // Which of two was taken is said with its time.
        assert!(shown.stderr.contains("(ended 2026-11-30 17:30)"), "{zone}: {}", shown.screen);
        let kept = world.pao(["checkpoint", "show", &id]).ok();
        assert!(kept.stdout.contains("2026-12-01 01:30:00"), "{zone}: {}", kept.screen);
        let log = world.pao(["logs", "first"]).ok();
        assert!(log.stdout.contains("2026-11-20 14:30"), "{zone}: {}", log.screen);
        for said in [&shown, &kept, &log] {
            for utc in ["12:00", "20:00", "09:00"] {
                assert!(!said.screen.contains(utc), "{utc}, {zone}: {}", said.screen);
            }
        }
    }
}

#[test]
fn an_age_is_the_same_in_every_zone() {
    let mut world = machine();
    world.pao(["checkpoint", "first"]).ok();
    let read = |world: &World| {
        let list = world.pao(["agents", "--all"]).ok().stdout;
        list + &world.pao(["checkpoint", "list"]).ok().stdout
    };
    let utc = read(&world);
    assert!(utc.contains("ended 8 h ago") && utc.contains("now"), "{utc}");
    for zone in INDIA.into_iter().chain(["America/Los_Angeles"]) {
        world.set("TZ", zone);
        assert_eq!(read(&world), utc, "{zone}");
    }
}

#[test]
fn what_is_kept_until_a_day_is_kept_until_that_day_where_the_user_is() {
    for (zone, day) in [("Asia/Kolkata", "2026-12-31"), ("UTC", "2026-12-30")] {
        let mut world = machine();
        world.set("TZ", zone);
        let cleaned = world.pao(["agents", "clean", "--yes"]).ok();
        assert!(cleaned.stdout.contains(&format!("kept until {day} at least")), "{zone}: {}", cleaned.screen);
    }
}

#[test]
fn programs_read_the_same_times_in_every_zone() {
    let mut world = machine();
    world.pao(["checkpoint", "first"]).ok();
    let read = |world: &World| {
        let asked = [
            &["agents", "--all", "--json"][..],
            &["agent", "show", "first", "--json"],
            &["checkpoint", "list", "--json"],
            &["logs", "first", "--json"],
        ];
        asked.map(|words| world.pao(words).ok().stdout)
    };
    let utc = read(&world);
    for (said, time) in utc.iter().zip([
        "\"ended_at\": \"2026-11-30T12:00:00Z\"",
        "\"at\": \"2026-11-30T12:00:00Z\"",
        "\"at\": \"2026-11-30T20:00:00Z\"",
        "\"at\": \"2026-11-20T09:00:00Z\"",
    ]) {
        assert!(said.contains(time), "{time} in {said}");
    }
    for zone in INDIA {
        world.set("TZ", zone);
        assert_eq!(read(&world), utc, "{zone}");
    }
}

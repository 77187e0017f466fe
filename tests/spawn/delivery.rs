//! How the briefing reaches the agent: from every store, by both ways, in both versions, and again when the agent
//! has forgotten it.

use std::fs;

use messages_api::{Reply, Script};
use serde_json::{Value, json};

use super::{BOTH, KNOWN, SAID, knowing, private, remember};
use crate::harness::claude::{Claude, Version, wait};
use crate::harness::postgres::{Database, PASSWORD, Postgres, SCHEMA};
use crate::harness::worker::{TOKEN, Worker};

const IN_DATABASE: &str = "the login bug was seen on staging after the migration of the user table";
const IN_WORKER: &str = "for the login bug we agreed to rotate the signing keys every week";

/// Long enough that a loaded machine decides no test.
const PATIENT: &str = "20000";

fn database() -> Database {
    wait(async {
        let database = Postgres::shared().database().await;
        database.run(SCHEMA).await;
        database.observe("auth", IN_DATABASE, "2026-11-02T10:00:00Z").await;
        database.observe("kitchen", "the coffee machine is on the third floor", "2026-11-03T10:00:00Z").await;
        database
    })
}

/// Configures all three stores as a user does.
fn configure(claude: &mut Claude, database: &Database, worker: &Worker) {
    claude.world.set("PAO_SECRET_FACTS", PASSWORD).set("PAO_SECRET_CHATS", TOKEN);
    let (url, rpc) = (database.url(), worker.url("/rpc"));
    let add = ["sources", "add"];
    for words in [
        vec!["history", "history", "--deadline-ms", PATIENT],
        vec!["postgres", "facts", "--url", &url, "--deadline-ms", PATIENT],
        vec!["worker", "chats", "--url", &rpc, "--protocol", "json-rpc", "--deadline-ms", PATIENT],
    ] {
        claude.world.pao(add.iter().chain(&words)).ok();
    }
}

#[test]
fn all_three_stores_stand_in_the_first_request_by_both_ways() {
    let worker = Worker::start(&json!([
        { "text": IN_WORKER, "created_at": "2026-11-05T10:00:00Z", "session": "s-1" },
        { "text": "lunch was late", "created_at": "2026-11-03T10:00:00Z" },
    ]));
    let database = database();
    for version in BOTH {
        let mut claude = Claude::new(version);
        configure(&mut claude, &database, &worker);
        for (n, way) in ["session", "files"].into_iter().enumerate() {
            let folder = claude.repository(&format!("code/{way}"));
            fs::write(folder.join("CLAUDE.md"), format!("Rule of {way}: tabs, never spaces.\n")).unwrap();
            claude.commit(&folder, "rules");
            remember(&claude, &folder, SAID);
            let spawned = claude.spawn(&folder, &["--delivery", way, "fix", "the", "login", "bug", way]);
            let what = format!("{version:?} {way} {spawned:#}");
            assert_eq!(spawned["confirmed"], true, "{what}");
            assert_eq!(spawned["delivery"], way, "{what}");
            let states: Vec<_> = spawned["sources"].as_array().unwrap().iter().map(|s| &s["state"]).collect();
            assert_eq!(states, ["ok", "ok", "ok"], "{what}");

            let text = claude.first_request(&format!("fix the login bug {way}")).text();
            for part in [KNOWN, IN_DATABASE, IN_WORKER, "[history", "[facts", "[chats"] {
                assert!(text.contains(part), "{what}: no {part} in\n{text}");
            }
            assert!(!text.contains("coffee machine") && !text.contains("lunch was late"), "{what}\n{text}");
            assert!(text.contains(&format!("Rule of {way}: tabs")), "{what}: CLAUDE.md is gone\n{text}");
            assert_eq!(claude.git(&folder, &["status", "--porcelain"]), "", "{what}");

            let rows = claude.agents();
            assert_eq!(rows.len(), n + 1, "{rows:#?}");
            let row = rows.iter().find(|row| row["id"] == spawned["id"]).unwrap();
            assert_eq!(row["receipt"], "confirmed", "{what}");
            assert!(["working", "idle"].contains(&row["state"].as_str().unwrap()), "{row:#}");
            let file = match way {
                "session" => private(&claude, &spawned, "CONTEXT_BRIEFING.md"),
                _ => folder.join("CONTEXT_BRIEFING.md"),
            };
            let hash = pao_core::host::files::sha256(&fs::read(file).unwrap());
            assert_eq!(row["briefing_hash"], hash, "{what}");
            assert_eq!(spawned["briefing_hash"], hash, "{what}");
        }
    }
}

#[test]
fn agents_md_alone_still_arrives_by_both_ways() {
    // 2.0.76 does not read it at all.
    let claude = Claude::new(Version::New);
    for way in ["session", "files"] {
        let folder = claude.repository(&format!("code/{way}"));
        fs::write(folder.join("AGENTS.md"), format!("Agents of {way} answer in Esperanto.\n")).unwrap();
        claude.commit(&folder, "rules");
        remember(&claude, &folder, SAID);
        claude.spawn(&folder, &["--delivery", way, "fix", "the", "login", "bug", way]);
        let text = claude.first_request(&format!("fix the login bug {way}")).text();
        assert!(text.contains(&format!("Agents of {way} answer in Esperanto")), "{way}\n{text}");
        assert!(text.contains(KNOWN), "{way}\n{text}");
    }
}

#[test]
fn after_compaction_and_a_resume_our_hook_hands_the_briefing_over_again() {
    for version in BOTH {
        let (claude, folder) = knowing(version);
        let spawned = claude.spawn(&folder, &["--delivery", "session", "fix", "the", "login", "bug"]);
        let pane = compacted(&claude, &spawned);
        claude.exit(&pane, &spawned);

        let pane = claude.resume(&folder, &spawned);
        let began = |how: &str| claude.began(&spawned).iter().any(|began| began == how);
        claude.until("the resume", || began("resume"));
        claude.until("its prompt line", || claude.screen(&pane).contains(['❯', '>']));
        let text = claude.ask(&pane, "and what after that?").text();
        assert!(text.contains(KNOWN), "{version:?}, after a resume:\n{text}");
        claude.comes_to(&spawned, "idle");
        assert_eq!(claude.row(&spawned)["ended_at"], json!(null), "{version:?}: it is there again");
        claude.kill(&spawned);
        assert_eq!(claude.row(&spawned)["state"], "lost", "{version:?}");
    }
}

#[test]
fn after_compaction_the_files_are_read_again_and_go_with_the_session() {
    for version in BOTH {
        let (claude, folder) = knowing(version);
        let spawned = claude.spawn(&folder, &["--delivery", "files", "fix", "the", "login", "bug"]);
        let pane = compacted(&claude, &spawned);
        let file = folder.join("CONTEXT_BRIEFING.md");
        claude.say(&pane, "/exit", || !file.exists());
        claude.comes_to(&spawned, "ended");
    }
}

/// Lets a spawned agent forget what was said, and wants the briefing in its next request.
fn compacted(claude: &Claude, spawned: &Value) -> String {
    claude.comes_to(spawned, "idle");
    let pane = claude.panes().remove(0);
    claude.say(&pane, "/compact", || claude.began(spawned).iter().any(|began| began == "compact"));
    let text = claude.ask(&pane, "what comes next?").text();
    assert!(text.contains(KNOWN), "{}, after /compact:\n{text}", claude.screens());
    claude.comes_to(spawned, "idle");
    pane
}

#[test]
fn of_a_long_briefing_the_head_arrives_and_the_rest_is_read_without_a_question() {
    let mut claude = Claude::new(Version::New);
    // One store gives twenty memories at most.
    let stores = [PLACES.to_vec(), PLACES_TOO.to_vec()].map(|places| {
        wait(async {
            let database = Postgres::shared().database().await;
            database.run(SCHEMA).await;
            for place in places {
                let text = format!("{place} keeps its sessions for {place} days; ").repeat(24);
                database.observe(place, &format!("login in {place}: {text}"), "2026-11-02T10:00:00Z").await;
            }
            database
        })
    });
    for (name, store) in ["facts", "more"].into_iter().zip(&stores) {
        claude.world.set(&format!("PAO_SECRET_{}", name.to_uppercase()), PASSWORD);
        let (url, add) = (store.url(), ["sources", "add", "postgres", name]);
        claude.world.pao(add.iter().chain(&["--url", &url, "--deadline-ms", PATIENT])).ok();
    }
    let folder = claude.repository("code/api");
    let spawned = claude.spawn(&folder, &["--budget", "20000", "compare", "the", "login", "sessions"]);
    let file = private(&claude, &spawned, "CONTEXT_BRIEFING.md");
    let whole = fs::read_to_string(&file).unwrap();
    assert!(whole.chars().count() > 10_500, "{spawned:#}\n{whole}");
    let all = [PLACES, PLACES_TOO].concat();
    let of = |text: &str| all.iter().filter(|place| text.contains(&format!("login in {place}:"))).count();

    let head = claude.first_request("compare the login sessions").text();
    assert!(head.contains(&format!("the whole briefing stands in {}", file.display())), "{head}");
    assert!(of(&head) > 0 && of(&head) < of(&whole), "{} of {}\n{head}", of(&head), of(&whole));

    claude.comes_to(&spawned, "idle");
    let read = Reply::tool("Read", json!({ "file_path": file }));
    let once = format!(r#"{{"rules": [{{"match": "^read it", "once": true, "reply": {}}}]}}"#, json!(read));
    claude.api.set_script(Script::parse(&once).unwrap());
    claude.ask(&claude.panes()[0], "read it whole");
    let results = |r: &messages_api::Request| r.has_tools() && of(&r.text()) == of(&whole);
    let found = claude.api.wait_for(std::time::Duration::from_secs(30), results);
    assert!(found.is_some(), "the rest was never read\n{}", claude.screens());
    let asked = claude.events(&spawned).into_iter().find(|event| event.event == "PermissionRequest");
    assert_eq!(asked, None);
}

/// Unlike one another, so that none is left out as a duplicate.
const PLACES: [&str; 20] = [
    "amsterdam",
    "bergen",
    "cordoba",
    "dakar",
    "edmonton",
    "fukuoka",
    "geneva",
    "hanoi",
    "izmir",
    "jakarta",
    "kyiv",
    "lusaka",
    "montevideo",
    "nairobi",
    "oslo",
    "portland",
    "quito",
    "recife",
    "seville",
    "tbilisi",
];
const PLACES_TOO: [&str; 20] = [
    "accra", "bogota", "cusco", "dublin", "espoo", "freetown", "graz", "havana", "ibadan", "jeju", "kraków",
    "lviv", "malmö", "naples", "osaka", "perth", "quebec", "riga", "sapporo", "turin",
];

//! What the agent is asked, and what it asks back.

use messages_api::{Reply, Script};
use serde_json::json;

use super::{BOTH, KNOWN, SAID, knowing, remember};
use crate::harness::claude::{Claude, Version};

#[test]
fn without_a_topic_nothing_is_spent_until_the_user_types() {
    for version in BOTH {
        let (claude, folder) = knowing(version);
        let spawned = claude.spawn(&folder, &[]);
        assert_eq!((&spawned["confirmed"], &spawned["needs"]), (&true.into(), &json!(null)), "{spawned:#}");
        let spent: Vec<_> =
            claude.api.requests().into_iter().filter(messages_api::Request::has_tools).collect();
        assert!(spent.is_empty(), "{version:?} {spent:#?}");
        let text = claude.ask(&claude.panes()[0], "good morning").text();
        assert!(text.contains(KNOWN), "{version:?}\n{text}");
    }
}

#[test]
fn a_topic_of_any_shape_arrives_as_one_turn_of_text() {
    let topics = [
        "/clear the login bug",
        "!ls the login bug",
        "#remember the login bug",
        "--resume the login bug",
        "@nobody look at the login bug",
        "the login bug:\n\n- one thing;\n- 支付 🦀\n\ttabbed\\",
        &long(),
    ];
    arrive(Version::New, &topics);
}

#[test]
fn a_topic_of_any_shape_arrives_in_the_old_version_too() {
    arrive(Version::Old, &["/clear the login bug", "!ls the login bug", "--resume the login bug", &long()]);
}

/// Ten kilobytes in many lines, none of them kind to a shell.
fn long() -> String {
    let line = |n| format!("line {n}: mind the \"quotes\", $HOME and `ticks`;\n");
    let lines: String = (0..)
        .map(line)
        .scan(0, |bytes, line| {
            *bytes += line.len();
            (*bytes < 10_000).then_some(line)
        })
        .collect();
    lines + "the end of the login bug"
}

fn arrive(version: Version, topics: &[&str]) {
    let (claude, folder) = knowing(version);
    for topic in topics {
        claude.api.forget();
        let spawned = claude.spawn(&folder, &["--", topic]);
        let what = format!("{version:?} {topic:.40}");
        assert_eq!(spawned["confirmed"], true, "{what} {spawned:#}");
        let asked = claude.first_request(topic);
        assert!(asked.last_user_text().contains(topic), "{what}\n{}", asked.last_user_text());
        assert!(asked.text().contains("# Context briefing"), "{what}");
        claude.comes_to(&spawned, "idle");
        let turns = claude.api.requests().iter().filter(|r| r.has_tools()).count();
        assert_eq!(turns, 1, "{what}");
        claude.end(&spawned);
    }
}

#[test]
fn a_permission_the_agent_asks_for_is_shown_with_its_tool() {
    for version in BOTH {
        let bash = Reply::tool("Bash", json!({ "command": "touch built", "description": "build" }));
        let script = Script::saying("noted").when("build it", bash).unwrap();
        let claude = Claude::with_script(version, script);
        let folder = claude.repository("code/api");
        remember(&claude, &folder, SAID);
        let spawned = claude.spawn(&folder, &["build", "it"]);
        claude.comes_to(&spawned, "needs-you");
        let row = claude.row(&spawned);
        assert!(row["needs"].as_str().unwrap().contains("Bash"), "{version:?} {row:#}");
        assert!(!folder.join("built").exists());
    }
}

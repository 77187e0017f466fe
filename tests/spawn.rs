//! The main job on real parts: a real Claude Code in real tmux, whose first request holds the briefing.

use crate::harness::claude::{Claude, Version};

/// What an earlier session of this folder said, as a transcript the host agent would have left.
fn remember(claude: &Claude, folder: &std::path::Path, text: &str) {
    let session = "0b5e7f0e-58b4-4c57-9a44-0d4cf1a7a001";
    let record = serde_json::json!({
        "parentUuid": null, "isSidechain": false, "type": "user", "userType": "external",
        "message": { "role": "user", "content": text },
        "uuid": "77bda9c0-47c6-4028-be18-cc4b07d22dcd", "timestamp": "2026-11-20T09:00:00.000Z",
        "cwd": folder, "sessionId": session, "version": "2.1.332", "gitBranch": "main",
    });
    claude.world.write(&format!(".claude/projects/-sample/{session}.jsonl"), &format!("{record}\n"));
}

#[test]
fn what_an_earlier_session_said_stands_in_the_first_request() {
    let claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    remember(&claude, &folder, "The login bug comes from the session cookie: it expires at midnight UTC.");
    let spawned = claude.spawn(&folder, &["fix", "the", "login", "bug"]);
    assert_eq!(spawned["confirmed"], true, "{spawned:#}");
    let request = claude.first_request("fix the login bug");
    assert!(request.text().contains("expires at midnight UTC"), "{}", request.text());
    assert_eq!(claude.git(&folder, &["status", "--porcelain", "--ignored"]), "");
}

//! Waiting for an agent.

use std::time::{Duration, Instant};

use messages_api::{Reply, Script};
use serde_json::json;

use super::{idle, idle_in, tell};
use crate::harness::claude::{Claude, Version};

#[test]
fn it_returns_when_the_agent_comes_to_that_and_says_what_it_needs() {
    let bash = Reply::tool("Bash", json!({ "command": "touch built", "description": "build" }));
    let slow = Reply { delay_ms: 1_500, ..bash };
    let script = Script::saying("noted").when("build it", slow).unwrap();
    let (claude, _, _) = idle_in(Claude::with_script(Version::New, script));
    assert_eq!(claude.world.pao(["wait", "api", "--until", "idle"]).ok().stdout, "api is idle\n");
    tell(&claude, "api", "build it", "60");
    let ran = claude.world.pao(["wait", "api", "--until", "needs-you", "--timeout", "60", "--json"]).ok();
    assert_eq!((&ran.json()["result"], &ran.json()["state"]), (&json!("reached"), &json!("needs-you")));
    assert!(ran.json()["agent"]["needs"].as_str().unwrap().contains("Bash"), "{}", ran.screen);
    let ran = claude.world.pao(["wait", "api"]).run();
    assert_eq!(ran.code, Some(8), "its turn goes on only when it is answered: {}", ran.screen);
    let either = ["wait", "api", "--until", "ended", "--until", "needs-you"];
    assert_eq!(claude.world.pao(either).run().code, Some(0));
}

#[test]
fn its_time_is_over_or_the_agent_is_gone_each_with_its_own_code() {
    let (claude, _, spawned) = idle(Version::New);
    let began = Instant::now();
    let ran = claude.world.pao(["wait", "api", "--until", "ended", "--timeout", "1"]).run();
    assert_eq!(ran.code, Some(6), "{}", ran.screen);
    assert!(began.elapsed() < Duration::from_secs(20));
    let waiter = claude.world.pao(["wait", "api", "--until", "needs-you"]).start();
    let ended = claude.world.pao(["wait", "api", "--until", "ended"]).start();
    std::thread::sleep(Duration::from_millis(500));
    claude.kill(&spawned);
    assert_eq!(ended.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(waiter.wait_with_output().unwrap().status.code(), Some(7));
    assert_eq!(claude.world.pao(["wait", "nobody", "--until", "idle"]).run().code, Some(2));
}

//! Programs that only the login shell knows, seen from a machine with the PATH of an app that was not started from
//! a terminal.

use pao_core::host::process::Identity;

use crate::harness::world::World;

/// What launchd or a desktop gives an app.
const BARE: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// A name that nothing installed on this machine has.
const AGENT: &str = "agent-of-this-test";

/// A world whose agent is called that.
fn world() -> World {
    let world = World::new();
    world.write(".pao/config.toml", &format!("[agent]\ncommand = \"{AGENT}\"\n"));
    world
}

fn gui_check(world: &World) -> serde_json::Value {
    let checks = world.pao(["--json", "doctor"]).env("PATH", BARE).run().json();
    let checks = checks.as_array().unwrap().clone();
    checks.into_iter().find(|c| c["name"] == "gui launch").unwrap()
}

#[test]
fn an_agent_that_only_a_start_up_file_names_is_found() {
    let world = world();
    world.program("unused", "#!/bin/sh\n");
    let tools = world.folder("version manager/bin");
    std::fs::rename(world.bin.join("unused"), tools.join(AGENT)).unwrap();
    let line = "echo welcome; export PATH=\"$HOME/version manager/bin:$PATH\"\n";
    for file in [".bashrc", ".profile", ".zshrc"] {
        world.write(file, line);
    }
    let check = gui_check(&world);
    assert_eq!(
        (check["state"].as_str(), check["found"].as_str()),
        (Some("ok"), Some("agent-of-this-test is found by the login shell's PATH"))
    );
}

#[test]
fn an_agent_under_a_version_manager_is_found_when_no_file_names_it() {
    let world = world();
    world.program("unused", "#!/bin/sh\n");
    let tools = world.folder(".nvm/versions/node/v20.1.0/bin");
    std::fs::rename(world.bin.join("unused"), tools.join(AGENT)).unwrap();
    let check = gui_check(&world);
    assert_eq!(
        (check["state"].as_str(), check["found"].as_str()),
        (Some("ok"), Some("agent-of-this-test is found in a usual folder"))
    );
}

#[test]
fn a_start_up_file_that_never_ends_is_given_up_and_nothing_of_it_stays() {
    let world = world();
    world.write(".bashrc", "sleep 61 & echo $! > ~/pid; wait\n");
    for file in [".profile", ".zshrc"] {
        world.write(file, ". ~/.bashrc\n");
    }
    let ran =
        world.pao(["--json", "doctor"]).env("PATH", BARE).limit(std::time::Duration::from_secs(50)).run();
    assert!(ran.stdout.contains("gui launch"), "{}", ran.screen);
    let pid: u32 = world.read("pid").trim().parse().unwrap();
    let began = std::time::Instant::now();
    while Identity::of(pid).is_some() {
        assert!(began.elapsed().as_secs() < 10, "what the start-up file started outlived it");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

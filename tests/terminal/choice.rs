//! Which terminals there are, and what is said of them.

use std::fs;

use pao_core::doctor;
use pao_core::host::terminal::{NAMES, TerminalError, choose, installed};

use super::Stage;

fn names(stage: &Stage) -> Vec<&'static str> {
    installed(&stage.host).iter().map(|t| t.name()).collect()
}

#[test]
fn what_is_not_installed_is_said_with_a_next_step() {
    let stage = Stage::new();
    assert_eq!(names(&stage), NAMES[1..]);
    fs::remove_dir_all(stage.host.home.join("Applications/iTerm.app")).unwrap();
    assert_eq!(names(&stage), ["terminal", "ghostty", "tmux"]);
    let error = choose(&stage.host, "iterm2").err().unwrap();
    assert_eq!(
        (error.to_string().as_str(), error.next().as_str()),
        ("iTerm2 is not installed here", "install it, or choose --terminal auto")
    );
    assert!(matches!(choose(&stage.host, "kitty").err().unwrap(), TerminalError::Unheard(_)));
}

// On macOS `osascript` is always there.
#[cfg(not(target_os = "macos"))]
#[test]
fn what_belongs_to_another_system_is_refused_as_such() {
    let stage = Stage::new();
    fs::remove_file(stage.root.path().join("bin/osascript")).unwrap();
    assert_eq!(names(&stage), ["tmux"]);
    for (name, called) in [("terminal", "Terminal.app"), ("iterm2", "iTerm2"), ("ghostty", "Ghostty")] {
        let error = choose(&stage.host, name).err().unwrap();
        assert_eq!(error.to_string(), format!("{called} exists on macOS only"));
        assert_eq!(error.next(), "choose --terminal tmux");
    }
}

#[tokio::test]
async fn the_doctor_says_of_each_what_it_can_do_and_what_it_needs() {
    let stage = Stage::new();
    let ghostty = stage.terminal("ghostty");
    ghostty.open(&stage.script("api", "exec sleep 600")).await.unwrap();
    stage.fails("iterm2", "-1743");
    stage.terminal("iterm2").open(&stage.script("web", "exec sleep 600")).await.unwrap();
    let checks = doctor::examine(&stage.host).await;
    let said: Vec<String> = checks
        .iter()
        // What tmux can do depends on whether this machine has a display.
        .filter(|c| c.name.starts_with("terminal ") && c.name != "terminal tmux")
        .map(|c| format!("{} {}: {}{}", c.health.name(), c.name, c.found, c.cure))
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

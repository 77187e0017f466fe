//! Ghostty, from 1.3.0 on by its scripts, before that by its command line.
//!
//! The terms are those of its scripting dictionary (`macos/Ghostty.sdef`) and of what stands behind them
//! (`macos/Sources/Features/AppleScript`). Text is put in as a paste, which is bracketed where the program in it asked
//! for that; where it did not, each line feed is a Return, as with any paste. Keys are pressed in one terminal,
//! wherever the focus is. Its dictionary has no word for what is on the screen.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::osascript::Application;
use super::scripted::Adapter;
use super::{Capabilities, Key, shell_word};

/// Name in configuration, rows and messages.
pub const NAME: &str = "ghostty";

/// Name in sentences.
pub(super) const CALLED: &str = "Ghostty";

macro_rules! script {
    ($name:literal) => {
        concat!(
            include_str!(concat!("applescript/ghostty/", $name, ".applescript")),
            include_str!("applescript/ghostty/locate.applescript")
        )
    };
}

/// What Ghostty adds.
pub static ADAPTER: Adapter = Adapter {
    application: Application {
        name: NAME,
        called: CALLED,
        id: "com.mitchellh.ghostty",
        bundle: Some("Ghostty.app"),
        term_program: "ghostty",
    },
    can: Capabilities {
        read: false,
        keys: true,
        paste: true,
        paste_returns: false,
        paste_lines: true,
        visible: true,
        focus: true,
        close: true,
    },
    words: 1,
    open: include_str!("applescript/ghostty/open.applescript"),
    exists: script!("exists"),
    read: None,
    paste: script!("paste"),
    key: script!("key"),
    focus: script!("focus"),
    close: script!("close"),
    key_words,
    unquotable: "",
    without_script,
};

/// The name of the key (`Ghostty.Input.Key`) and what is held with it.
fn key_words(key: Key) -> &'static [&'static str] {
    match key {
        Key::Up => &["arrowUp", ""],
        Key::Down => &["arrowDown", ""],
        Key::Left => &["arrowLeft", ""],
        Key::Right => &["arrowRight", ""],
        Key::Enter => &["enter", ""],
        Key::ControlM => &["m", "control"],
        Key::Escape => &["escape", ""],
        Key::Tab => &["tab", ""],
        Key::Interrupt => &["c", "control"],
    }
}

/// A second Ghostty with this one window, which quits with it and restores no others. The path may not stand as
/// the last word by itself: it would be opened as a document as well, in a second window.
fn without_script(file: &Path) -> Vec<OsString> {
    let mut command = b"exec ".to_vec();
    command.extend(shell_word(file));
    let words = [
        "-na",
        "Ghostty.app",
        "--args",
        "--quit-after-last-window-closed=true",
        "--window-save-state=never",
        "-e",
        "/bin/bash",
        "-c",
    ];
    words.iter().map(OsString::from).chain([OsString::from_vec(command)]).collect()
}

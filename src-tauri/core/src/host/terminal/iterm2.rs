//! iTerm2: its scripts and what it can do.
//!
//! The terms are those of its scripting dictionary (`iTerm2.sdef`) and of what its session does with them
//! (`PTYSession+Scripting.m`): `write` puts text into the session as it stands and adds a Return unless told not
//! to. So text is not a bracketed paste, and several lines are not put in. A key is what a keyboard would send.

use std::ffi::OsString;
use std::path::Path;

use super::osascript::Application;
use super::scripted::Adapter;
use super::{Capabilities, Key};

/// Name in configuration, rows and messages.
pub const NAME: &str = "iterm2";

const ID: &str = "com.googlecode.iterm2";

macro_rules! script {
    ($name:literal) => {
        concat!(
            include_str!(concat!("applescript/iterm2/", $name, ".applescript")),
            include_str!("applescript/iterm2/locate.applescript")
        )
    };
}

/// What iTerm2 adds.
pub static ADAPTER: Adapter = Adapter {
    application: Application {
        name: NAME,
        called: "iTerm2",
        id: ID,
        bundle: Some("iTerm.app"),
        term_program: "iTerm.app",
    },
    can: Capabilities {
        read: true,
        keys: true,
        paste: true,
        paste_returns: false,
        paste_lines: false,
        visible: true,
        focus: true,
        close: true,
    },
    words: 2,
    open: include_str!("applescript/iterm2/open.applescript"),
    exists: script!("exists"),
    read: Some(script!("read")),
    paste: script!("paste"),
    key: script!("key"),
    focus: script!("focus"),
    close: script!("close"),
    key_words,
    // In a profile's command iTerm2 replaces `$$NAME$$` by what it asks the user for.
    unquotable: "$",
    without_script,
};

fn key_words(key: Key) -> &'static [&'static str] {
    match key {
        Key::Up => &["up"],
        Key::Down => &["down"],
        Key::Left => &["left"],
        Key::Right => &["right"],
        Key::Enter | Key::ControlM => &["enter"],
        Key::Escape => &["escape"],
        Key::Tab => &["tab"],
        Key::Interrupt => &["interrupt"],
    }
}

/// As a document. Inferred from what Terminal.app does with files of this ending, which iTerm2 lists among its
/// documents; it may ask first whether it shall run it.
fn without_script(file: &Path) -> Vec<OsString> {
    vec!["-b".into(), ID.into(), file.into()]
}

//! What differs on Linux (and on any system that is not macOS).

#![expect(clippy::unused_async, reason = "the same signatures as on macOS, where these wait for programs")]

use std::path::{Path, PathBuf};

use super::Host;
use super::process::{Run, RunError};

/// Whether this is macOS.
pub const IS_MACOS: bool = false;

/// The terminal `auto` stands for.
pub const TERMINAL: &str = "tmux";

/// How tmux gets here.
pub const INSTALL_TMUX: &str = "install it: `sudo apt install tmux`, or your system's own way";

/// What is said where no sign of a login is seen that could be kept elsewhere.
pub const LOGIN_UNSEEN: &str = "";

/// What people call the system's secret store.
pub const SECRET_STORE: &str = "Secret Service";

/// Folders where programs are commonly installed although a bare PATH does not name them.
pub const PROGRAM_FOLDERS: &[&str] = &["/usr/local/bin", "/snap/bin", "/home/linuxbrew/.linuxbrew/bin"];

/// The system's own idea of PATH beyond that; none here.
pub async fn system_path() -> Vec<PathBuf> {
    Vec::new()
}

/// Terminal emulators, and what stands between them and the command they are to run.
const EMULATORS: &[(&str, &[&str])] = &[
    ("x-terminal-emulator", &["-e"]),
    ("gnome-terminal", &["--"]),
    ("ptyxis", &["--"]),
    ("konsole", &["-e"]),
    ("xfce4-terminal", &["-x"]),
    ("kitty", &[]),
    ("alacritty", &["-e"]),
    ("foot", &[]),
    ("wezterm", &["start", "--"]),
    ("ghostty", &["-e"]),
    ("xterm", &["-e"]),
];

/// Whether a window could be opened.
pub fn has_display(host: &Host) -> bool {
    host.var("DISPLAY").is_some() || host.var("WAYLAND_DISPLAY").is_some()
}

/// Opens a window in which that script runs. `Ok(false)`: there is no display, or no terminal emulator.
///
/// The window comes up by itself; whether it did is not waited for.
pub async fn open_window(host: &Host, script: &Path) -> Result<bool, RunError> {
    if !has_display(host) {
        return Ok(false);
    }
    let found = EMULATORS.iter().find_map(|(name, args)| host.find_on_path(name).map(|path| (path, args)));
    let Some((program, args)) = found else { return Ok(false) };
    // An emulator that thinks it runs inside a multiplexer may refuse or behave differently.
    Run::new(program).args(*args).arg(script).env_remove("TMUX").env_remove("TMUX_PANE").detach()?;
    Ok(true)
}

/// Nothing to remove here.
pub async fn remove_quarantine(_path: &Path) {}

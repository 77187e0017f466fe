//! What differs on macOS.

use std::path::{Path, PathBuf};

use super::Host;
use super::process::{Mark, Run, RunError};
use super::terminal::terminal_app;

/// Whether this is macOS.
pub const IS_MACOS: bool = true;

/// The terminal `auto` stands for.
pub const TERMINAL: &str = "terminal";

/// Where temporary files are.
pub const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/var/folders"];

/// Whether watching a folder tells of everything below it, at the same price.
pub const WATCHES_ALL_BELOW: bool = true;

/// How more folders can be watched, and how many it are now; the system sets no limit.
pub fn watch_limit() -> (String, Option<u64>) {
    ("close some programs".into(), None)
}

/// How more programs can watch at the same time.
pub const MORE_WATCHERS: &str = "close some programs";

/// What kind of disk a folder is on, where that kind does not tell what others change on it.
pub fn untold(folder: &Path) -> Option<&'static str> {
    let told = nix::sys::statfs::statfs(folder).ok()?;
    let name = told.filesystem_type_name().to_owned();
    ["nfs", "smbfs", "afpfs", "webdav", "macfuse", "osxfuse"].into_iter().find(|kind| name == *kind)
}

/// How tmux gets here.
pub const INSTALL_TMUX: &str = "install it: `brew install tmux`";

/// What is said where no sign of a login is seen that could be kept elsewhere.
pub const LOGIN_UNSEEN: &str = "; it may be in the Keychain, which pao does not look into";

/// What people call the system's secret store.
pub const SECRET_STORE: &str = "Keychain";

/// Folders where programs are commonly installed although a bare PATH does not name them.
pub const PROGRAM_FOLDERS: &[&str] = &["/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin"];

/// The system's own idea of PATH: what `/etc/paths` and `/etc/paths.d` say.
pub async fn system_path() -> Vec<PathBuf> {
    let out = Run::new("/usr/libexec/path_helper").arg("-s").env_remove("PATH").output().await;
    // It prints `PATH="…"; export PATH;`.
    let Ok(out) = out else { return Vec::new() };
    let text = out.text();
    let path = text.split('"').nth(1).unwrap_or_default();
    path.split(':').filter(|p| !p.is_empty()).map(PathBuf::from).collect()
}

/// Whether a window could be opened.
pub fn has_display(host: &Host) -> bool {
    host.var("SSH_CONNECTION").is_none()
}

/// Opens a Terminal window in which that script runs, as a document: no Automation permission is needed.
pub async fn open_window(host: &Host, script: &Path) -> Result<bool, RunError> {
    if !has_display(host) {
        return Ok(false);
    }
    let opened = terminal_app::open_document(host, script).await?;
    Ok(opened.success())
}

/// Takes away the mark that makes macOS refuse to open a file. Files of ours carry none as a rule; where removing
/// fails, opening will say so.
pub async fn remove_quarantine(path: &Path) {
    let _ = Run::new("/usr/bin/xattr").args(["-d", "com.apple.quarantine"]).arg(path).output().await;
}

/// When a running process started. The system keeps the moment itself, in seconds since the epoch, so setting the
/// clock later does not move it, and no other process of that number has the same.
pub fn start_mark(pid: u32) -> Option<Mark> {
    super::identity::clock(pid).map(|start| Mark { boot: 0, start })
}

/// Boots are not told apart here: a process's start is a moment of its own.
pub fn boot() -> u128 {
    0
}

/// The clock that stands still while the machine sleeps and that nobody can set: `CLOCK_UPTIME_RAW`.
pub const AWAKE: nix::time::ClockId = nix::time::ClockId::from_raw(8);
/// Bytes of memory of a process, what it shares counted by its share; the system does not say.
pub fn own_memory(_pid: u32) -> Option<u64> {
    None
}

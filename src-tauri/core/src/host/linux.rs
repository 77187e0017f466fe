//! What differs on Linux (and on any system that is not macOS).

#![expect(clippy::unused_async, reason = "the same signatures as on macOS, where these wait for programs")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::process::{Mark, Run, RunError};
use super::secrets::Fault;
use super::signing::Signing;
use super::{Host, LoginItem, x11};

/// Whether this is macOS.
pub const IS_MACOS: bool = false;

/// The terminal `auto` stands for.
pub const TERMINAL: &str = "tmux";

/// Where temporary files are.
pub const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// Whether watching a folder tells of everything below it, at the same price. Here each folder is watched by itself.
pub const WATCHES_ALL_BELOW: bool = false;

/// How more folders can be watched, and how many it are now.
pub fn watch_limit() -> (String, Option<u64>) {
    let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok();
    let limit = limit.and_then(|text| text.trim().parse().ok());
    ("raise it: sudo sysctl fs.inotify.max_user_watches=524288".into(), limit)
}

/// How more programs can watch at the same time.
pub const MORE_WATCHERS: &str = "raise it: sudo sysctl fs.inotify.max_user_instances=1024";

/// What kind of disk a folder is on, where that kind does not tell what others change on it. Magic numbers: statfs(2).
pub fn untold(folder: &Path) -> Option<&'static str> {
    match u32::try_from(nix::sys::statfs::statfs(folder).ok()?.filesystem_type().0 & 0xffff_ffff).ok()? {
        0x6969 => Some("NFS"),
        0xff53_4d42 | 0xfe53_4d42 | 0x517b => Some("SMB"),
        0x0102_1997 => Some("9P"),
        0x6573_5546 => Some("FUSE"),
        0x5346_414f => Some("AFS"),
        _ => None,
    }
}

/// How tmux gets here.
pub const INSTALL_TMUX: &str = "install it: `sudo apt install tmux`, or your system's own way";

/// What is said where no sign of a login is seen that could be kept elsewhere.
pub const LOGIN_UNSEEN: &str = "";

/// What people call the system's secret store.
pub const SECRET_STORE: &str = "Secret Service";

/// The process that owns the window in front, as far as X11 tells; `None` also under Wayland, which tells nobody.
pub async fn front_process(host: &Host) -> Option<u32> {
    x11::front(host.var("DISPLAY")?).await
}

/// Brings the window of the first of these processes that has one to the front; where that one has several, the one of
/// that title. False where none is known, or it did not come: under Wayland nobody can.
pub async fn raise(host: &Host, processes: Vec<u32>, title: &str) -> bool {
    let Some(display) = host.var("DISPLAY") else { return false };
    x11::raise(display, processes, title).await
}

/// Whether somebody on the X11 display shows tray icons, also without a session bus.
pub async fn has_tray(host: &Host) -> bool {
    match host.var("DISPLAY") {
        Some(display) => x11::has_tray(display).await,
        None => false,
    }
}

/// By whom we are signed: the Secret Service does not look at that.
pub async fn signing() -> &'static Signing {
    &Signing::Irrelevant
}

/// An item of the Secret Service, through a connection of its own: a service that was not there yet, or was started
/// anew, is found the next time.
pub fn secret_entry(service: &str, name: &str) -> keyring_core::Result<keyring_core::Entry> {
    use keyring_core::api::CredentialStoreApi;
    zbus_secret_service_keyring_store::Store::new()?.build(service, name, None)
}

/// What a failure of the store's own means; the Secret Service's say it themselves.
pub fn secret_fault(_error: &(dyn std::error::Error + Send + Sync + 'static)) -> Option<Fault> {
    None
}

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

/// File managers look for themselves.
pub async fn services_changed() {}

/// Opens a file or an address as the desktop does. `Ok(false)`: there is no program for that.
pub fn open(host: &Host, what: &OsStr) -> Result<bool, RunError> {
    let Some(opener) = host.find_on_path("xdg-open") else { return Ok(false) };
    Run::new(opener).arg(what).cwd(&host.home).detach()?;
    Ok(true)
}

/// Whether a program lies where it will not stay: in an image that is mounted while it runs.
pub fn is_passing(program: &Path) -> bool {
    program.to_string_lossy().starts_with("/tmp/.mount_")
}

/// The system itself keeps no list of what opens at login; desktops look into a folder.
pub fn login_item(_host: &Host) -> Option<LoginItem> {
    None
}

/// There is none to switch.
pub fn set_login_item(_on: bool) -> Result<(), String> {
    Err("this system keeps no list of what opens at login".into())
}

/// Bytes of memory of a process, what it shares counted by its share; `None` where the kernel does not say.
pub fn own_memory(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kb| kb * 1024)
}

/// When a running process started: which boot, and clock ticks since then (field 22 of its `stat`, see proc(5)).
/// `None` where it does not run, or only waits to be collected.
pub fn start_mark(pid: u32) -> Option<Mark> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    start_ticks(&stat).map(|start| Mark { boot: boot(), start })
}

/// This boot's id; 0 where the system gives none.
pub fn boot() -> u128 {
    static BOOT: std::sync::OnceLock<u128> = std::sync::OnceLock::new();
    *BOOT.get_or_init(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        u128::from_str_radix(&id.trim().replace('-', ""), 16).unwrap_or(0)
    })
}

/// The clock that stands still while the machine sleeps and that nobody can set.
pub const AWAKE: nix::time::ClockId = nix::time::ClockId::CLOCK_MONOTONIC;

/// A program may call itself anything, closing brackets included: what counts begins behind the last one.
fn start_ticks(stat: &[u8]) -> Option<u64> {
    let behind = stat.iter().rposition(|b| *b == b')')?;
    let text = std::str::from_utf8(&stat[behind + 1..]).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    // The state is field 3, so 18 fields lie between it and field 22.
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "21884 (claude) S 21871 21884 21884 34816 21884 4194304 77121 0 6 0 131 21 0 0 20 0 17 0 \
                        1208729 74398998528 51989 18446744073709551615";

    #[test]
    fn the_start_of_a_process_is_read_whatever_it_calls_itself() {
        assert_eq!(start_ticks(STAT.as_bytes()), Some(1_208_729));
        for name in ["a b", ") S 1 2 3", "((", "支付", "\u{1b}[2J"] {
            assert_eq!(start_ticks(STAT.replace("claude", name).as_bytes()), Some(1_208_729), "{name:?}");
        }
        for ended in ["Z", "X"] {
            assert_eq!(start_ticks(STAT.replace(") S", &format!(") {ended}")).as_bytes()), None);
        }
        for torn in ["", "1 (a", "1 (a) S 2 3", "1 (a) S \u{fffd}"] {
            assert_eq!(start_ticks(torn.as_bytes()), None, "{torn:?}");
        }
    }
}

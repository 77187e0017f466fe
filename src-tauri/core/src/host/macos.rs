//! What differs on macOS.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use smappservice_rs::{AppService, ServiceStatus, ServiceType};

use super::process::{Mark, Outcome, Run, RunError};
use super::secrets::Fault;
use super::signing::{self, Signing};
use super::terminal::terminal_app;
use super::{Host, LoginItem};

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

/// The process of the application in front.
pub async fn front_process(_host: &Host) -> Option<u32> {
    let ask =
        |args: &[&str]| Run::new("/usr/bin/lsappinfo").args(args).limit(std::time::Duration::from_secs(1));
    let front = ask(&["front"]).output().await.ok().filter(Outcome::success)?.text();
    let said = ask(&["info", "-only", "pid", front.trim()]).output().await.ok().filter(Outcome::success)?;
    super::attention::process_of(&said.text())
}

/// A window among those of another application cannot be brought to the front without being allowed to control it.
#[expect(clippy::unused_async, reason = "its twin for Linux asks the display")]
pub async fn raise(_host: &Host, _processes: Vec<u32>, _title: &str) -> bool {
    false
}

/// By whom we are signed: the Keychain knows programs by that. Found out once.
pub async fn signing() -> &'static Signing {
    static FOUND: tokio::sync::OnceCell<Signing> = tokio::sync::OnceCell::const_new();
    FOUND
        .get_or_init(|| async {
            let Some(own) = own_program() else { return Signing::Unknown };
            let said = Run::new("/usr/bin/codesign").args(["-d", "-vv"]).arg(own).output().await;
            // It speaks on standard error, and fails where nothing is signed.
            said.map_or(Signing::Unknown, |said| signing::read(&said.error_text()))
        })
        .await
}

#[expect(
    clippy::disallowed_methods,
    reason = "who is signed is this very process, whatever `Host` calls our program"
)]
fn own_program() -> Option<PathBuf> {
    std::env::current_exe().and_then(|own| own.canonicalize()).ok()
}

/// An item of the login keychain.
pub fn secret_entry(service: &str, name: &str) -> keyring_core::Result<keyring_core::Entry> {
    keyring::Entry::new(service, name).map(|entry| entry.inner)
}

/// What a failure of the Keychain's own means, by its number: the user said no (-128), the password was wrong (-25293),
/// nobody could be asked (-25308).
pub fn secret_fault(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Option<Fault> {
    let error = error.downcast_ref::<security_framework::base::Error>()?;
    match error.code() {
        -128 | -25293 => Some(Fault::Denied),
        -25308 => Some(Fault::Locked),
        _ => None,
    }
}

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

/// Has the list of services read anew. Where that fails they are found at the next login.
pub async fn services_changed() {
    for step in ["-flush", "-update"] {
        if let Err(error) = Run::new("/System/Library/CoreServices/pbs").arg(step).output().await {
            tracing::warn!(%error, "the list of services was not read anew");
        }
    }
}

/// Opens a file or an address as the system does.
pub fn open(host: &Host, what: &OsStr) -> Result<bool, RunError> {
    Run::new("/usr/bin/open").arg(what).cwd(&host.home).detach()?;
    Ok(true)
}

/// Whether a program lies where it will not stay: on a disk image, or where the system puts what was just downloaded.
pub fn is_passing(program: &Path) -> bool {
    program.starts_with("/Volumes") || program.components().any(|part| part.as_os_str() == "AppTranslocation")
}

/// Whether the app opens at login, as the system keeps it; `None` where this program is no part of an installed app.
pub fn login_item(host: &Host) -> Option<LoginItem> {
    let bundle = host.exe.ancestors().find(|path| path.extension().is_some_and(|ext| ext == "app"))?;
    let places = [PathBuf::from("/Applications"), host.home.join("Applications")];
    if !places.iter().any(|place| bundle.starts_with(place)) {
        return None;
    }
    Some(match AppService::new(ServiceType::MainApp).status() {
        ServiceStatus::Enabled => LoginItem::On,
        ServiceStatus::RequiresApproval => LoginItem::NeedsApproval,
        // "Not found" may only mean that it was never asked for.
        ServiceStatus::NotRegistered | ServiceStatus::NotFound => LoginItem::Off,
    })
}

/// Has the app open at login, or no longer. The system asks nothing; it may want the user's leave in its settings.
pub fn set_login_item(on: bool) -> Result<(), String> {
    let service = AppService::new(ServiceType::MainApp);
    match (on, service.status()) {
        (true, ServiceStatus::Enabled | ServiceStatus::RequiresApproval)
        | (false, ServiceStatus::NotRegistered) => Ok(()),
        (true, _) => service.register().map_err(|error| error.to_string()),
        (false, _) => service.unregister().map_err(|error| error.to_string()),
    }
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

//! Programs as the user's login shell finds them, for when our own PATH does not name them.
//!
//! An app started from Finder, the Dock or at login has a bare PATH; version managers set theirs in the shell's
//! start-up files. The shell is asked once, in a session of its own and for a limited time, and only the PATH is
//! kept: nothing else of that environment, which may hold secrets, is ever written down.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::process::Run;
use super::terminal::shell_word;
use super::{Host, files, os, probe};

/// How long start-up files may take.
const LIMIT: Duration = Duration::from_secs(8);

/// How long those may take that a shell reads when nobody types into it. Only tried where the others failed.
const SECOND_LIMIT: Duration = Duration::from_secs(3);

/// How long a shell that did not answer is left alone.
const LEFT_ALONE: chrono::TimeDelta = chrono::TimeDelta::minutes(10);

/// How long an answer is believed where nothing seems to have changed.
const BELIEVED: chrono::TimeDelta = chrono::TimeDelta::hours(24);

/// Start-up files, relative to the home directory; a change to one makes us ask again.
const STARTUP: &[&str] = &[
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".bashrc",
    ".config/fish/config.fish",
    ".config/nushell/env.nu",
    ".config/nushell/config.nu",
    ".tcshrc",
    ".cshrc",
    ".kshrc",
];

/// Where programs are commonly installed, relative to the home directory.
const HOME_FOLDERS: &[&str] = &[
    ".local/bin",
    ".claude/local",
    ".cargo/bin",
    ".volta/bin",
    ".local/share/mise/shims",
    ".asdf/shims",
    ".bun/bin",
    ".deno/bin",
    ".npm-global/bin",
    ".nodenv/shims",
    "bin",
];

/// Folders with one folder per installed version of Node, and where in it the programs are.
const NODE_VERSIONS: &[(&str, &str)] =
    &[(".nvm/versions/node", "bin"), (".local/share/fnm/node-versions", "installation/bin")];

/// PATH of a program that was started from Finder, the Dock or at login.
pub const BARE_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// How a program was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It was named by its path.
    Path,
    /// In the caller's PATH.
    Caller,
    /// In the PATH of the login shell.
    Login,
    /// In a folder where such programs are usually installed.
    Known,
}

/// A program, and the PATH with which it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// How it was found.
    pub how: How,
    /// PATH to give it, so that what it needs itself (`node` for a script) is found too.
    pub child_path: OsString,
}

/// What the login shell said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The shell of the user record.
    pub shell: PathBuf,
    /// Its PATH.
    pub path: Vec<PathBuf>,
    /// How we know: "asked", "remembered", or why it could not be asked.
    pub how: String,
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Remembered {
    shell: PathBuf,
    /// Start-up files with their modification times, seconds since the epoch.
    startup: Vec<(PathBuf, u64)>,
    at: chrono::DateTime<chrono::Utc>,
    path: Vec<PathBuf>,
    /// Why the shell did not answer, where it did not.
    failed: Option<String>,
}

/// Finds a program: by its path, in the caller's PATH, in the login shell's, or where such programs usually are.
/// The shell is only asked when the caller's PATH does not do.
pub async fn find(host: &Host, program: &str) -> Option<Found> {
    let caller = host.env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    let named = program.contains('/').then(|| host.cwd.join(program)).filter(|p| executable(p));
    if program.contains('/') && named.is_none() {
        return None;
    }
    let direct = named.map(|p| (p, How::Path)).or_else(|| search(&caller, program).map(|p| (p, How::Caller)));
    if let Some((path, how)) = &direct
        && interpreter(path).is_none_or(|i| search(&caller, &i).is_some())
    {
        return Some(Found { path: path.clone(), how: *how, child_path: caller });
    }
    let login = login_path(host).await.path;
    let known = known_folders(host).await;
    let (path, how) = direct
        .or_else(|| Some((search_in(&login, program)?, How::Login)))
        .or_else(|| Some((search_in(&known, program)?, How::Known)))?;
    let mut folders = login;
    folders.extend(split(&caller));
    let own = path.parent().map(Path::to_path_buf);
    folders.extend(own);
    if let Some(needed) = interpreter(&path)
        && search_in(&folders, &needed).is_none()
    {
        folders.extend(search_in(&known, &needed).and_then(|p| Some(p.parent()?.to_path_buf())));
    }
    Some(Found { path, how, child_path: join(&folders) })
}

/// The login shell's PATH, remembered or asked for. Where the shell cannot be asked: the system's own PATH and the
/// usual folders.
pub async fn login_path(host: &Host) -> Login {
    let shell = user_shell();
    let startup = startup(host);
    let memory = host.pao_home.join("login-env.json");
    let remembered: Option<Remembered> =
        files::read_if_there(&memory).ok().flatten().and_then(|b| serde_json::from_slice(&b).ok());
    if let Some(r) = remembered.filter(|r| r.shell == shell && r.startup == startup) {
        let (believed, how) = match &r.failed {
            None => (BELIEVED, "remembered".to_string()),
            Some(why) => (LEFT_ALONE, unanswered(&shell, why)),
        };
        if (r.at..r.at + believed).contains(&host.now()) {
            return Login { shell, path: r.path, how };
        }
    }
    let (path, failed) = match ask_twice(host, &shell).await {
        Ok(path) => (path, None),
        Err(why) => {
            let mut path = os::system_path().await;
            path.extend(known_folders(host).await);
            (path, Some(why))
        }
    };
    let how = failed.as_ref().map_or_else(|| "asked".to_string(), |why| unanswered(&shell, why));
    let known = Remembered { shell, startup, at: host.now(), path, failed };
    if let Ok(bytes) = serde_json::to_vec(&known) {
        host.remember(&memory, &bytes);
    }
    Login { shell: known.shell, path: known.path, how }
}

fn unanswered(shell: &Path, why: &str) -> String {
    format!("{} could not be asked ({why}); usual folders are used", shell.display())
}

async fn ask_twice(host: &Host, shell: &Path) -> Result<Vec<PathBuf>, String> {
    let Ok(mut path) = ask(host, shell, interactive_flags(shell), LIMIT).await else {
        return ask(host, shell, &["-lc"], SECOND_LIMIT).await;
    };
    // A terminal on Linux starts bash without login, which reads another start-up file; a login bash reads that one
    // only where the user's own says so.
    if shell.file_name() == Some(OsStr::new("bash")) {
        path.extend(ask(host, shell, &["-ic"], SECOND_LIMIT).await.unwrap_or_default());
        let mut seen = std::collections::BTreeSet::new();
        path.retain(|folder| seen.insert(folder.clone()));
    }
    Ok(path)
}

/// Asks a shell for its PATH.
async fn ask(host: &Host, shell: &Path, flags: &[&str], limit: Duration) -> Result<Vec<PathBuf>, String> {
    let marker = format!("pao-{}", uuid::Uuid::new_v4().simple());
    // In a session of its own: an interactive shell in the background of our terminal would be stopped.
    let out = Run::new(&host.exe)
        .args([probe::VERB, "session"])
        .arg(shell)
        .args(flags)
        .arg(OsStr::from_bytes(&command(&host.exe, &marker)))
        .env("HOME", &host.home)
        // What our own caller's PATH holds is known without asking; inherited, it would be remembered as the shell's.
        .env("PATH", BARE_PATH)
        .cwd(&host.home)
        .leads_itself()
        .limit(limit)
        .output()
        .await
        .map_err(|e| e.to_string())?;
    path_between(&out.stdout, &marker)
        .ok_or_else(|| format!("it printed no environment, status {}", out.status.unwrap_or(-1)))
}

/// The command that prints the environment. Without quotes where it needs none: some shells do not take a quoted
/// word for a command.
fn command(exe: &Path, marker: &str) -> Vec<u8> {
    let bytes = exe.as_os_str().as_bytes();
    let bare = bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"/._-+".contains(b));
    let mut command = if bare { bytes.to_vec() } else { shell_word(exe) };
    command.extend(format!(" {} env {marker}", probe::VERB).into_bytes());
    command
}

fn path_between(output: &[u8], marker: &str) -> Option<Vec<PathBuf>> {
    let mut mark = marker.as_bytes().to_vec();
    mark.push(0);
    let start = output.windows(mark.len()).position(|w| w == mark)? + mark.len();
    let end = start + output[start..].windows(mark.len()).position(|w| w == mark)?;
    let (_, path) = probe::entries(&output[start..end]).into_iter().find(|(name, _)| name == "PATH")?;
    Some(split(&path)).filter(|p| !p.is_empty())
}

fn interactive_flags(shell: &Path) -> &'static [&'static str] {
    match shell.file_name().and_then(OsStr::to_str) {
        // These take a login flag only on its own.
        Some("tcsh" | "csh") => &["-ic"],
        Some("nu") => &["-i", "-l", "-c"],
        Some("pwsh") => &["-Login", "-Command"],
        _ => &["-ilc"],
    }
}

/// The shell of the user record; `$SHELL` may be another one that merely runs at the moment.
fn user_shell() -> PathBuf {
    nix::unistd::User::from_uid(nix::unistd::getuid())
        .ok()
        .flatten()
        .map(|user| user.shell)
        .filter(|shell| executable(shell))
        .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

fn startup(host: &Host) -> Vec<(PathBuf, u64)> {
    let own = STARTUP.iter().map(|name| host.home.join(name));
    let shared = ["/etc/paths", "/etc/profile", "/etc/zprofile", "/etc/zshrc"].map(PathBuf::from);
    own.chain(shared)
        .filter_map(|path| {
            let modified = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some((path, modified.as_secs()))
        })
        .collect()
}

async fn known_folders(host: &Host) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = HOME_FOLDERS.iter().map(|f| host.home.join(f)).collect();
    folders.extend(os::PROGRAM_FOLDERS.iter().map(PathBuf::from));
    for (versions, inside) in NODE_VERSIONS {
        let Ok(entries) = std::fs::read_dir(host.home.join(versions)) else { continue };
        let mut found: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        found.sort_by_key(|p| std::cmp::Reverse(version(p)));
        folders.extend(found.into_iter().map(|p| p.join(inside)));
    }
    folders.extend(os::system_path().await);
    folders.extend(["/usr/bin", "/bin", "/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.retain(|f| f.is_dir());
    folders
}

/// `v20.11.1` as numbers, so that 20 comes after 9.
fn version(path: &Path) -> Vec<u64> {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}

/// The program an `#!/usr/bin/env` script is run by.
fn interpreter(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    std::fs::File::open(path).ok()?.take(256).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|b| *b == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    if !words.next()?.ends_with("/env") {
        return None;
    }
    words.find(|w| !w.starts_with('-') && !w.contains('=')).map(str::to_string)
}

/// An executable file of that name in a PATH.
pub(super) fn search(path: &OsStr, program: &str) -> Option<PathBuf> {
    search_in(&split(path), program)
}

fn search_in(folders: &[PathBuf], program: &str) -> Option<PathBuf> {
    folders.iter().map(|f| f.join(program)).find(|p| executable(p))
}

fn split(path: &OsStr) -> Vec<PathBuf> {
    path.as_bytes()
        .split(|b| *b == b':')
        .map(|p| PathBuf::from(OsStr::from_bytes(p)))
        .filter(|p| p.is_absolute())
        .collect()
}

fn join(folders: &[PathBuf]) -> OsString {
    let mut seen = std::collections::BTreeSet::new();
    let once: Vec<&OsStr> =
        folders.iter().filter(|f| seen.insert(f.as_path())).map(|f| f.as_os_str()).collect();
    once.join(OsStr::new(":"))
}

fn executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;

//! The edge: home directory, environment, clock, processes, secrets and terminals enter here and nowhere else.

pub mod app;
pub mod attention;
pub mod awake;
pub mod files;
mod identity;
pub mod login;
pub mod memory;
pub mod probe;
pub mod process;
pub mod secrets;
pub mod signing;
pub mod terminal;
pub mod writing;
#[cfg(not(target_os = "macos"))]
mod x11;

#[cfg(not(target_os = "macos"))]
#[path = "linux.rs"]
pub mod os;
#[cfg(target_os = "macos")]
#[path = "macos.rs"]
pub mod os;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset, Utc};

use crate::Error;

/// Whether the system opens the app at login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginItem {
    /// It does.
    On,
    /// It would, once the user allows it in the system's settings.
    NeedsApproval,
    /// It does not.
    Off,
}

/// The machine as seen by one invocation. Cheap to clone; holds values, not handles.
#[derive(Debug, Clone)]
pub struct Host {
    /// The user's home directory.
    pub home: PathBuf,
    /// Our own folder: `$PAO_HOME`, else `~/.pao`. Holds configuration, registry, history index and the agents'
    /// private folders; 0700.
    pub pao_home: PathBuf,
    /// Current folder of the caller.
    pub cwd: PathBuf,
    /// Path of the running `pao`, as it should be written into scripts and hooks.
    pub exe: PathBuf,
    /// Environment of the caller.
    pub env: BTreeMap<OsString, OsString>,
    /// `$PAO_NOW` (RFC 3339): a clock that stands still, for tests.
    pub frozen: Option<DateTime<Utc>>,
}

#[cfg(test)]
impl Host {
    /// A machine of one folder, with nothing in its environment. What is another in a test says so by itself.
    pub fn at(home: &Path) -> Self {
        Self {
            home: home.into(),
            pao_home: home.join(".pao"),
            cwd: home.into(),
            exe: home.join("pao"),
            env: BTreeMap::new(),
            frozen: None,
        }
    }
}

impl Host {
    /// Reads the machine. Fails where there is no home directory or nothing says which folder is the
    /// current one.
    #[expect(clippy::disallowed_methods, reason = "this is the one place where the environment is read")]
    pub fn current() -> Result<Self, Error> {
        let env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let home = env
            .get(&OsString::from("HOME"))
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
            .or_else(std::env::home_dir)
            .ok_or_else(|| {
                Error::environment("there is no home directory", "set HOME to an existing folder")
            })?;
        // A folder that was deleted under its shell keeps its name: whoever needs the folder then finds it missing,
        // and whoever does not (a hook, `pao undo NAME`) still works.
        let cwd = std::env::current_dir().or_else(|e| {
            env.get(&OsString::from("PWD")).map(PathBuf::from).filter(|p| p.is_absolute()).ok_or_else(|| {
                Error::environment(
                    format!("the current folder cannot be read: {e}"),
                    "change to an existing folder",
                )
            })
        })?;
        let exe = std::env::current_exe().map_err(|e| {
            Error::environment(format!("our own path cannot be read: {e}"), "run pao by its absolute path")
        })?;
        let pao_home = env
            .get(&OsString::from("PAO_HOME"))
            .filter(|v| !v.is_empty())
            .map_or_else(|| home.join(".pao"), |v| cwd.join(v));
        let frozen = env
            .get(&OsString::from("PAO_NOW"))
            .and_then(|v| v.to_str())
            .and_then(|v| DateTime::parse_from_rfc3339(v).ok())
            .map(|t| t.to_utc());
        Ok(Self { home, pao_home, cwd, exe, env, frozen })
    }

    /// Now; also by a clock that was set to a time before 1970.
    #[expect(clippy::disallowed_methods, reason = "this is the one place where the clock is read")]
    pub fn now(&self) -> DateTime<Utc> {
        self.frozen.unwrap_or_else(|| std::time::SystemTime::now().into())
    }

    /// A moment in the user's time zone: `$TZ`, else the machine's. Under a clock that stands still only `$TZ` counts.
    pub fn local(&self, at: DateTime<Utc>) -> DateTime<FixedOffset> {
        if self.frozen.is_some() && self.var("TZ").is_none() {
            return at.fixed_offset();
        }
        at.with_timezone(&chrono::Local).fixed_offset()
    }

    /// A variable of the caller's environment, where it is set, not empty and valid Unicode.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.env.get(&OsString::from(name)).and_then(|v| v.to_str()).filter(|v| !v.is_empty())
    }

    /// An executable file of that name in the caller's PATH. Relative entries of PATH are skipped: what they
    /// name depends on the current folder, which may be a project's.
    pub fn find_on_path(&self, program: &str) -> Option<PathBuf> {
        login::search(self.env.get(&OsString::from("PATH"))?, program)
    }

    /// Private folder of an agent.
    pub fn agent_dir(&self, agent: &str) -> PathBuf {
        self.pao_home.join("agents").join(agent)
    }

    /// The configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.pao_home.join("config.toml")
    }

    /// Keeps in our folder what can be found out again at any time. Only where that folder already is: whoever merely
    /// looks must not make it.
    pub fn remember(&self, path: &Path, bytes: &[u8]) {
        if self.pao_home.is_dir()
            && let Err(error) = files::write_private(path, bytes, false)
        {
            tracing::debug!(%error, "{} could not be written", path.display());
        }
    }

    /// The same machine for the app: scripts and hooks must name the command beside it or, where there is none, the one
    /// on the PATH; and relative paths start from the home directory, wherever the app was opened from.
    #[must_use]
    pub fn of_app(mut self) -> Self {
        let beside = Some(self.exe.with_file_name("pao")).filter(|path| path.is_file());
        if let Some(pao) = beside.or_else(|| self.find_on_path("pao")) {
            self.exe = pao;
        }
        self.cwd.clone_from(&self.home);
        self
    }

    /// Folder of the app's log.
    pub fn log_dir(&self) -> PathBuf {
        self.pao_home.join("logs")
    }

    /// The registry's database.
    pub fn registry_file(&self) -> PathBuf {
        self.pao_home.join("registry.db")
    }

    /// Folder of the history index.
    pub fn history_dir(&self) -> PathBuf {
        self.pao_home.join("history")
    }

    /// The lock among our own processes for changes of one file that belongs to somebody else.
    pub fn lock_file(&self, path: &Path) -> PathBuf {
        let name = files::sha256(path.as_os_str().as_encoded_bytes());
        self.pao_home.join("locks").join(format!("{}.lock", &name[..16]))
    }

    /// A path for people: `~` for the home directory.
    pub fn display(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".into(),
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

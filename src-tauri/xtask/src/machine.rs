//! What this machine is and has: system, user, terminal, programs and package managers. Read once, then passed on as
//! plain values so that decisions can be tested without a machine.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::fault::Fault;
use crate::run::{read, succeeds};

/// Systems that are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// macOS.
    Mac,
    /// Linux, of which only Debian and its kin can be set up by themselves.
    Linux,
}

/// This machine as seen by one invocation.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Its system.
    pub system: System,
    /// Whether we are root.
    pub root: bool,
    /// Whether somebody can be asked.
    pub terminal: bool,
    /// Whether `CI` says that this is a build machine.
    pub ci: bool,
    /// The user's home directory.
    pub home: PathBuf,
    /// Where programs are looked for: `PATH`, then `~/.local/bin`.
    pub path: Vec<PathBuf>,
    /// The checkout.
    pub root_dir: PathBuf,
}

/// How system packages get onto this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// Homebrew, never through sudo.
    Brew,
    /// apt as root.
    Apt,
    /// apt through sudo.
    SudoApt,
}

impl Machine {
    /// Reads the machine.
    pub fn current() -> Result<Self, Fault> {
        let system = match std::env::consts::OS {
            "macos" => System::Mac,
            "linux" => System::Linux,
            other => return Err(Fault::environment(format!("{other} is not served"), "use macOS or Linux")),
        };
        let home = std::env::home_dir().filter(|home| home.is_dir()).ok_or_else(|| {
            Fault::environment("there is no home directory", "set HOME to an existing folder")
        })?;
        let mut path: Vec<PathBuf> =
            std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
        let local = home.join(".local/bin");
        if !path.contains(&local) {
            path.push(local);
        }
        Ok(Self {
            system,
            root: read("id", &["-u"]).as_deref() == Some("0"),
            terminal: std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
            ci: std::env::var("CI").is_ok_and(|ci| ci == "true" || ci == "1"),
            home,
            path,
            root_dir: Path::new(env!("CARGO_MANIFEST_DIR"))
                .ancestors()
                .nth(2)
                .unwrap_or(Path::new("."))
                .into(),
        })
    }

    /// A program on the path.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        self.path.iter().map(|folder| folder.join(program)).find(|file| is_executable(file))
    }

    /// Whether a program is on the path.
    pub fn has(&self, program: &str) -> bool {
        self.find(program).is_some()
    }

    /// `PATH` for what we start, so that it finds what we installed.
    pub fn path_variable(&self) -> std::ffi::OsString {
        std::env::join_paths(&self.path).unwrap_or_default()
    }

    /// How system packages get onto this machine, where they can.
    pub fn manager(&self) -> Option<Manager> {
        manager_of(self.system, self.root, |program| self.has(program))
    }

    /// Where npm installs for everybody, where this user may write there.
    pub fn writable_npm_prefix(&self) -> Option<PathBuf> {
        let prefix = PathBuf::from(read(self.find("npm")?, &["prefix", "-g"])?);
        let modules = prefix.join("lib/node_modules");
        let writable = |folder: &Path| {
            let nearest = folder.ancestors().find(|f| f.exists()).unwrap_or(folder);
            succeeds("test", &["-w", &nearest.to_string_lossy()])
        };
        (writable(&modules) && writable(&prefix.join("bin"))).then_some(prefix)
    }
}

/// Homebrew on macOS; elsewhere apt, directly as root and through sudo otherwise.
fn manager_of(system: System, root: bool, has: impl Fn(&str) -> bool) -> Option<Manager> {
    match system {
        System::Mac => has("brew").then_some(Manager::Brew),
        System::Linux if !has("apt-get") => None,
        System::Linux if root => Some(Manager::Apt),
        System::Linux => has("sudo").then_some(Manager::SudoApt),
    }
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<'a>(programs: &'a [&'a str]) -> impl Fn(&str) -> bool + 'a {
        |program| programs.contains(&program)
    }

    #[test]
    fn macos_uses_homebrew_and_nothing_else() {
        assert_eq!(manager_of(System::Mac, false, with(&["brew", "sudo"])), Some(Manager::Brew));
        assert_eq!(manager_of(System::Mac, true, with(&["apt-get", "sudo"])), None);
    }

    #[test]
    fn debian_uses_apt_as_root_or_through_sudo_or_not_at_all() {
        assert_eq!(manager_of(System::Linux, true, with(&["apt-get"])), Some(Manager::Apt));
        assert_eq!(manager_of(System::Linux, false, with(&["apt-get", "sudo"])), Some(Manager::SudoApt));
        assert_eq!(manager_of(System::Linux, false, with(&["apt-get"])), None);
        assert_eq!(manager_of(System::Linux, true, with(&["dnf", "brew"])), None);
    }
}

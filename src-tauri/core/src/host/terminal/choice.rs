//! Which terminal: by name, or the one that suits this machine. Starts nothing.

use std::sync::Arc;

use super::osascript::Application;
use super::scripted::Scripted;
use super::{Terminal, TerminalError, ghostty, iterm2, terminal_app, tmux};
use crate::host::{Host, os};

/// A terminal that can be asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name in the configuration and on the command line.
    pub name: &'static str,
    /// What it is, for help.
    pub says: &'static str,
    /// There is none of it but on macOS.
    pub only_macos: bool,
    open: fn(&Host) -> Result<Arc<dyn Terminal>, TerminalError>,
}

/// Every terminal there is a file for.
pub const KNOWN: [Known; 4] = [
    Known {
        name: terminal_app::NAME,
        says: "Terminal.app",
        only_macos: true,
        open: |host| Ok(Arc::new(terminal_app::TerminalApp::new(host)?)),
    },
    Known {
        name: iterm2::NAME,
        says: "iTerm2",
        only_macos: true,
        open: |host| Ok(Arc::new(Scripted::new(host, &iterm2::ADAPTER)?)),
    },
    Known {
        name: ghostty::NAME,
        says: "Ghostty on macOS",
        only_macos: true,
        open: |host| Ok(Arc::new(Scripted::new(host, &ghostty::ADAPTER)?)),
    },
    Known {
        name: tmux::NAME,
        says: "tmux, with a window where there is a display",
        only_macos: false,
        open: |host| Ok(Arc::new(tmux::Tmux::new(host)?)),
    },
];

/// Stands for the terminal that suits this machine.
pub const AUTO: &str = "auto";

/// Every word that names a terminal.
pub const NAMES: [&str; KNOWN.len() + 1] = {
    let mut names = [AUTO; KNOWN.len() + 1];
    let mut at = 0;
    while at < KNOWN.len() {
        names[at + 1] = KNOWN[at].name;
        at += 1;
    }
    names
};

/// The words among them that can mean something on this system.
pub fn names_here() -> impl Iterator<Item = &'static str> {
    let here = KNOWN.iter().filter(|known| os::IS_MACOS || !known.only_macos);
    std::iter::once(AUTO).chain(here.map(|known| known.name))
}

/// The terminal of that name; `auto` is, on macOS, the one the caller sits in, else Terminal.app, and tmux elsewhere.
pub fn choose(host: &Host, wanted: &str) -> Result<Arc<dyn Terminal>, TerminalError> {
    let name = if wanted == AUTO { usual(host, os::TERMINAL) } else { wanted };
    match KNOWN.iter().find(|known| known.name == name) {
        Some(known) => (known.open)(host),
        None => Err(TerminalError::Unheard(name.to_string())),
    }
}

/// The name `auto` stands for where `usual` is the system's own terminal.
fn usual(host: &Host, usual: &'static str) -> &'static str {
    if usual == tmux::NAME {
        return usual;
    }
    let applications =
        [&iterm2::ADAPTER.application, &ghostty::ADAPTER.application, &terminal_app::APPLICATION];
    let sits_in = |a: &&Application| host.var("TERM_PROGRAM") == Some(a.term_program);
    applications.into_iter().filter(|a| a.is_installed(host)).find(sits_in).map_or(usual, |a| a.name)
}

/// Every terminal that is on this machine.
pub fn installed(host: &Host) -> Vec<Arc<dyn Terminal>> {
    KNOWN.iter().filter_map(|known| (known.open)(host).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_one_sits_in_is_chosen_where_it_is_installed() {
        let dir = tempfile::tempdir().unwrap();
        let mut host = Host { exe: "/usr/bin/pao".into(), ..Host::at(dir.path()) };
        let of = |host: &Host| usual(host, terminal_app::NAME);
        assert_eq!(of(&host), "terminal");
        for (program, bundle, name) in
            [("iTerm.app", "iTerm.app", "iterm2"), ("ghostty", "Ghostty.app", "ghostty")]
        {
            host.env.insert("TERM_PROGRAM".into(), program.into());
            assert_eq!(of(&host), "terminal", "{program} is not installed");
            std::fs::create_dir_all(host.home.join("Applications").join(bundle)).unwrap();
            assert_eq!(of(&host), name);
            assert_eq!(usual(&host, tmux::NAME), "tmux", "another system");
        }
        for other in ["Apple_Terminal", "vscode", "tmux", ""] {
            host.env.insert("TERM_PROGRAM".into(), other.into());
            assert_eq!(of(&host), "terminal", "{other}");
        }
    }
}

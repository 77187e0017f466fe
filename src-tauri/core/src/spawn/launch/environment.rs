//! The environment an agent gets: that of whoever asked for it, and what belongs to its own window.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::host::{Host, probe};

/// Variables that describe a terminal window: the agent gets its own window's.
const WINDOW: &[&str] = &[
    "TERM",
    "TERMCAP",
    "TERMINFO",
    "TERMINFO_DIRS",
    "COLORTERM",
    "TERM_FEATURES",
    "TERM_SESSION_ID",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "WINDOWID",
    "VTE_VERSION",
];

/// Variables that belong to the caller's shell, window or multiplexer and mean nothing in another one.
const SHELL: &[&str] = &[
    "COLUMNS",
    "LINES",
    "SHLVL",
    "PWD",
    "OLDPWD",
    "_",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOW",
    "SSH_TTY",
    "GPG_TTY",
    "WT_SESSION",
    "WT_PROFILE_ID",
    "LC_TERMINAL",
    "LC_TERMINAL_VERSION",
];

/// Beginnings of further such names.
const SHELLS: &[&str] = &[
    "ITERM_",
    "KITTY_",
    "WEZTERM_",
    "ALACRITTY_",
    "GHOSTTY_",
    "KONSOLE_",
    "GNOME_TERMINAL_",
    "ZELLIJ",
    "VSCODE_",
];

/// Marks that a host agent leaves in the environment of what it runs. An agent started from inside another one is
/// not a part of it.
const INSIDE: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PID",
    "AI_AGENT",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "OPENCODE",
];

/// What is saved at the start: the caller's environment without what belongs to its window, its shell, an agent
/// around it, or to us. `path` takes the place of PATH.
pub(super) fn saved(host: &Host, path: &OsStr) -> Vec<u8> {
    let mut out = Vec::new();
    let kept = host.env.iter().filter(|(name, _)| {
        let is = |names: &[&str]| names.iter().any(|n| name.as_os_str() == *n);
        let begins = |names: &[&str]| names.iter().any(|n| name.as_bytes().starts_with(n.as_bytes()));
        name.as_os_str() != "PATH"
            && !is(WINDOW)
            && !is(SHELL)
            && !is(INSIDE)
            && !begins(SHELLS)
            && !begins(&["PAO_"])
    });
    for (name, value) in kept {
        probe::entry(&mut out, name, value);
    }
    probe::entry(&mut out, OsStr::new("PATH"), path);
    out
}

/// What the agent gets: the saved environment, this window's own variables, and the way back to us.
pub(super) fn complete(saved: &[u8], window: &Host, cwd: &OsStr) -> Vec<(OsString, OsString)> {
    let mut env = probe::entries(saved);
    for name in WINDOW.iter().map(OsString::from) {
        if let Some(value) = window.env.get(&name) {
            env.push((name, value.clone()));
        }
    }
    env.push(("PWD".into(), cwd.to_os_string()));
    // Where the agent asks us for more, it must reach the registry it is in.
    if window.pao_home != window.home.join(".pao") {
        env.push(("PAO_HOME".into(), window.pao_home.clone().into_os_string()));
    }
    env
}

//! Sixth room: opens a terminal window that becomes the agent.
//!
//! What is typed or executed is one short script of ours; everything else (program, arguments, folder, environment)
//! lies beside it in the agent's private folder, for `pao run` to read. The environment, which may hold keys, lies
//! there once, for the moments between writing and reading. A start that would skip all permissions is refused
//! here again, whatever was decided before.

mod environment;
mod orphan;
mod run;
mod undo;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::passed::{Agreed, Launched, Permission, Topic};
use crate::agent::{Arguments, HostAgent, Version};
use crate::host::terminal::{Script, Terminal, TerminalError, shell_word};
use crate::host::{Host, files, process};
use crate::registry::change::Change;
use crate::registry::{Registry, RegistryError};

pub use orphan::{Orphan, end, orphans};
pub use run::run;
pub use undo::{TakenBack, close_over, end as end_process, find_window, undo, window_is_gone};

/// Name of the launch script in the private folder. Terminal.app runs files of this ending.
const SCRIPT: &str = "launch.command";

/// Name of the file that says what to become.
const WHAT: &str = "launch.json";

/// Name of the file with the environment; whoever renames it away has claimed the start.
const ENVIRONMENT: &str = "environment";

/// Why an agent was not started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Nobody agreed to run without asking in this folder.
    #[error("running without any permission questions was not agreed to for this folder")]
    SkipNotAgreed,
    /// The host agent refuses it as root.
    #[error("{0} refuses to run without permission questions as root")]
    SkipAsRoot(&'static str),
    /// The terminal.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// The registry.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A file in the private folder.
    #[error("{} cannot be written: {source}", .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A process would not end.
    #[error("the agent's process {0} did not end")]
    StillRuns(u32),
    /// There is nothing to become: it was started already, or taken back.
    #[error("there is nothing to start: {0} was started already, or taken back")]
    Nothing(String),
    /// What to become cannot be read.
    #[error("{} cannot be read: {why}", .path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// The folder is gone.
    #[error("{} is not a folder any more", .0.display())]
    FolderGone(PathBuf),
    /// The program did not start.
    #[error(transparent)]
    Program(#[from] process::RunError),
}

impl From<LaunchError> for crate::Error {
    fn from(error: LaunchError) -> Self {
        let message = error.to_string();
        match error {
            LaunchError::Terminal(e) => e.into(),
            LaunchError::Registry(e) => e.into(),
            LaunchError::SkipNotAgreed => {
                Self::user(message, "agree to it when asked, or choose another --permission")
                    .in_window("agree to it when asked, or choose other permissions")
            }
            LaunchError::SkipAsRoot(_) => Self::user(
                message,
                "run as another user, choose another --permission, or set IS_SANDBOX=1 in a sandbox",
            )
            .in_window("choose other permissions"),
            LaunchError::File { path, .. } => {
                let folder = path.parent().unwrap_or(&path).display();
                Self::environment(message, format!("make {folder} writable for you"))
            }
            LaunchError::StillRuns(pid) => {
                Self::environment(message, format!("end it yourself: kill -9 {pid}"))
            }
            LaunchError::Nothing(_) => {
                Self::user(message, "start an agent with `pao spawn`").in_window("spawn an agent here")
            }
            LaunchError::Unreadable { .. } => Self::internal(message),
            LaunchError::FolderGone(_) => Self::user(message, "spawn it in a folder that exists"),
            LaunchError::Program(_) => Self::environment(message, "run `pao doctor`"),
        }
    }
}

/// What to start. Everything that is not the topic's.
#[derive(Debug, Clone)]
pub struct LaunchSpec<'a> {
    /// Registry id of the agent.
    pub agent_id: &'a str,
    /// The host agent's program.
    pub program: &'a Path,
    /// PATH to give it (see [`crate::host::login::Found`]).
    pub path: &'a std::ffi::OsStr,
    /// Its version, where it could be found out.
    pub version: Option<Version>,
    /// Conversation id: a new one, or with `resume` an existing one.
    pub session: &'a str,
    /// Goes back to that conversation.
    pub resume: bool,
    /// The conversation the new one is to begin as a copy of.
    pub fork_of: Option<&'a str>,
    /// What the agent may do without asking.
    pub permission: Permission,
    /// What brings hooks or the briefing (see [`crate::agent::SessionSetup`]).
    pub setup: &'a [OsString],
    /// First prompt.
    pub prompt: Option<&'a str>,
    /// The user's own arguments.
    pub extra_args: &'a [String],
    /// Dialogs the user agreed to.
    pub agreed: BTreeSet<Agreed>,
}

/// An agent that was started, and what the user should know although all went well.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// For the next room.
    pub launched: Launched,
    /// What the user should know, e.g. a permission that is missing.
    pub note: Option<String>,
}

/// What `pao run` becomes: `launch.json`. Bytes, because paths and arguments need not be Unicode.
#[derive(Debug, Serialize, Deserialize)]
struct What {
    program: Vec<u8>,
    args: Vec<Vec<u8>>,
    cwd: Vec<u8>,
}

/// Starts the agent in a new window.
pub async fn launch(
    host: &Host,
    registry: &Registry,
    terminal: &dyn Terminal,
    agent: &HostAgent,
    topic: &Topic,
    spec: LaunchSpec<'_>,
) -> Result<Start, LaunchError> {
    allowed(host, agent, &spec, process::is_root())?;
    let now = host.now();
    let id = spec.agent_id;
    let dir = host.agent_dir(id);
    let script = Script { path: dir.join(SCRIPT), title: topic.name.clone() };
    private_folder(host, registry, id, &dir).await?;
    write(host, agent, topic, &spec, &dir)?;
    // The handle is not known before the window is there. Should we end in between, the window is found by the
    // script that runs in it.
    let planned = terminal_change(registry, host, id, terminal, "").await?;
    let opened = match terminal.open(&script).await {
        Ok(opened) => opened,
        Err(error) => {
            withdraw(host, id)?;
            registry.change_undone(planned).await?;
            return Err(error.into());
        }
    };
    let known = terminal_change(registry, host, id, terminal, &opened.handle).await?;
    registry.change_applied(known).await?;
    registry.change_undone(planned).await?;
    registry.set_terminal(id, terminal.name(), &opened.handle).await?;
    let launched = Launched {
        agent: id.to_string(),
        session: (spec.resume || agent.flags.session.is_some()).then(|| spec.session.to_string()),
        terminal: terminal.name().to_string(),
        handle: opened.handle,
        attach: opened.attach,
        shown: opened.shown,
        at: now,
        prompt_in_arguments: spec.prompt.is_some(),
        agreed: spec.agreed,
    };
    Ok(Start { launched, note: opened.note })
}

/// Takes the environment away again where nobody has read it. For when a start is given up; says whether it was
/// still there, and so nothing was started.
pub fn withdraw(host: &Host, agent_id: &str) -> Result<bool, LaunchError> {
    let path = host.agent_dir(agent_id).join(ENVIRONMENT);
    files::remove_if_there(&path).map_err(|source| LaunchError::File { path, source })
}

/// Whether the window of a start has not run the launch script yet.
pub fn is_unclaimed(host: &Host, agent_id: &str) -> bool {
    host.agent_dir(agent_id).join(ENVIRONMENT).exists()
}

fn allowed(host: &Host, agent: &HostAgent, spec: &LaunchSpec<'_>, root: bool) -> Result<(), LaunchError> {
    if spec.permission != Permission::Skip {
        return Ok(());
    }
    if !spec.agreed.contains(&Agreed::SkipPermissions) {
        return Err(LaunchError::SkipNotAgreed);
    }
    refused_as_root(host, agent, root)
}

/// Whether running without asking is possible at all, before anybody is asked to agree to it.
pub fn skip_possible(host: &Host, agent: &HostAgent) -> Result<(), LaunchError> {
    refused_as_root(host, agent, process::is_root())
}

fn refused_as_root(host: &Host, agent: &HostAgent, root: bool) -> Result<(), LaunchError> {
    if agent.skip_refused_as_root && root && host.var("IS_SANDBOX") != Some("1") {
        return Err(LaunchError::SkipAsRoot(agent.display));
    }
    Ok(())
}

async fn terminal_change(
    registry: &Registry,
    host: &Host,
    id: &str,
    terminal: &dyn Terminal,
    handle: &str,
) -> Result<i64, LaunchError> {
    let change = Change::Terminal { terminal: terminal.name().into(), handle: handle.into() };
    Ok(registry.plan_change(id, &change, host.now()).await?)
}

/// Makes the private folder, journalled where no earlier room has done so.
pub async fn private_folder(
    host: &Host,
    registry: &Registry,
    id: &str,
    dir: &Path,
) -> Result<(), LaunchError> {
    let change = Change::Private { path: dir.to_path_buf() };
    let journalled = registry.open_changes(Some(id)).await?.into_iter().any(|e| e.change == change);
    let planned = if journalled { None } else { Some(registry.plan_change(id, &change, host.now()).await?) };
    files::private_dir(dir).map_err(|source| LaunchError::File { path: dir.to_path_buf(), source })?;
    if let Some(planned) = planned {
        registry.change_applied(planned).await?;
    }
    Ok(())
}

fn write(
    host: &Host,
    agent: &HostAgent,
    topic: &Topic,
    spec: &LaunchSpec<'_>,
    dir: &Path,
) -> Result<(), LaunchError> {
    let args = agent.arguments(&Arguments {
        version: spec.version,
        session: spec.session,
        resume: spec.resume,
        fork_of: spec.fork_of,
        name: &topic.name,
        setup: spec.setup,
        permission: spec.permission,
        prompt: spec.prompt,
        extra: spec.extra_args,
    });
    let what = What {
        program: spec.program.as_os_str().as_bytes().to_vec(),
        args: args.into_iter().map(OsString::into_vec).collect(),
        cwd: topic.folder.as_os_str().as_bytes().to_vec(),
    };
    let put = |name: &str, bytes: &[u8], executable| {
        let path = dir.join(name);
        files::write_private(&path, bytes, executable).map_err(|source| LaunchError::File { path, source })
    };
    let what = serde_json::to_vec(&what)
        .map_err(|e| LaunchError::Unreadable { path: dir.join(WHAT), why: e.to_string() })?;
    put(WHAT, &what, false)?;
    put(SCRIPT, &script(host, spec.agent_id), true)?;
    put(ENVIRONMENT, &environment::saved(host, spec.path), false)
}

/// The launch script. Our folder is always named: what runs it may have another home directory.
fn script(host: &Host, id: &str) -> Vec<u8> {
    let mut text = b"#!/bin/sh\n# Written by pao to start one agent.\nPAO_HOME=".to_vec();
    text.extend(shell_word(&host.pao_home));
    text.extend(b"\nexport PAO_HOME\nexec ");
    text.extend(shell_word(&host.exe));
    text.extend(b" run ");
    text.extend(shell_word(Path::new(id)));
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests;

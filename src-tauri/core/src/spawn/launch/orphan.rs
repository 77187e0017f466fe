//! Agents that no registry knows of, because it was lost while they were at work: what their private folders and the
//! processes of this machine still tell.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::{LaunchError, SCRIPT, WHAT, What, undo, withdraw};
use crate::host::Host;
use crate::host::process::Identity;
use crate::host::terminal::{Script, choose, tmux};
use crate::registry::agents::Agent;

/// An agent without a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Its id, which names its private folder.
    pub id: String,
    /// Where it works, where that can still be read.
    pub folder: Option<PathBuf>,
    /// Its process, while it runs.
    pub process: Option<Identity>,
}

/// Agents that have a private folder and are not among the known ones.
pub fn orphans(host: &Host, known: &[Agent]) -> Vec<Orphan> {
    let entries = std::fs::read_dir(host.pao_home.join("agents")).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<Orphan> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|id| known.iter().all(|agent| agent.id != *id))
        .map(|id| {
            let dir = host.agent_dir(&id);
            // A terminal's own process names the script, the agent's names files beside it.
            let of_agent = |path: &Path| path.starts_with(&dir) && path.file_name() != Some(SCRIPT.as_ref());
            Orphan { folder: folder(&dir), process: Identity::with_argument(of_agent), id }
        })
        .collect();
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found
}

fn folder(dir: &Path) -> Option<PathBuf> {
    let what: What = serde_json::from_slice(&std::fs::read(dir.join(WHAT)).ok()?).ok()?;
    Some(PathBuf::from(OsString::from_vec(what.cwd)))
}

/// Ends such an agent, and closes its window where it can be found.
pub async fn end(host: &Host, orphan: &Orphan) -> Result<(), LaunchError> {
    withdraw(host, &orphan.id)?;
    if let Some(process) = orphan.process {
        undo::end(process).await?;
    }
    let script = Script { path: host.agent_dir(&orphan.id).join(SCRIPT), title: String::new() };
    if let Ok(terminal) = choose(host, tmux::NAME)
        && let Ok(Some(handle)) = terminal.find(&script).await
    {
        terminal.close(&handle).await?;
    }
    Ok(())
}

//! The body of `pao run`: what the launch script becomes, and what then becomes the agent.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::{ENVIRONMENT, LaunchError, WHAT, What, environment};
use crate::host::Host;
use crate::host::process::{Identity, Run};
use crate::registry::Registry;
use crate::registry::agents::State;

/// Becomes the agent. Returns only when that fails, with why, after noting it for those who wait.
pub async fn run(host: &Host, registry: &Registry, id: &str) -> crate::Error {
    let error = match try_run(host, registry, id).await {
        Err(error) => error,
        Ok(never) => match never {},
    };
    // A second window that finds nothing to start must not end the agent of the first.
    if !matches!(error, LaunchError::Nothing(_)) {
        let noted =
            registry.set_state(id, State::Ended, Some(&error.to_string()), "launch", host.now()).await;
        if let Err(e) = noted {
            tracing::warn!("the failed start of {id} could not be noted: {e}");
        }
    }
    error.into()
}

async fn try_run(
    host: &Host,
    registry: &Registry,
    id: &str,
) -> Result<std::convert::Infallible, LaunchError> {
    let dir = host.agent_dir(id);
    let nothing = || LaunchError::Nothing(id.to_string());
    // The id comes from a command line and becomes a path.
    if id.is_empty() || !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
        return Err(nothing());
    }
    let saved = claim(&dir).ok_or_else(nothing)?;
    let tty = nix::unistd::ttyname(std::io::stdin()).ok();
    let tty = tty.as_ref().map(|t| t.to_string_lossy().into_owned());
    registry.set_process(id, Identity::own(), tty.as_deref(), host.now()).await?;
    let path = dir.join(WHAT);
    let unreadable = |why: String| LaunchError::Unreadable { path: path.clone(), why };
    let bytes = fs::read(&path).map_err(|e| unreadable(e.to_string()))?;
    let what: What = serde_json::from_slice(&bytes).map_err(|e| unreadable(e.to_string()))?;
    let cwd = PathBuf::from(OsString::from_vec(what.cwd));
    if !cwd.is_dir() {
        return Err(LaunchError::FolderGone(cwd));
    }
    let run = Run::new(OsString::from_vec(what.program))
        .args(what.args.into_iter().map(OsString::from_vec))
        .env_clear()
        .cwd(&cwd);
    let env = environment::complete(&saved, host, cwd.as_os_str());
    Err(env.into_iter().fold(run, |run, (name, value)| run.env(name, value)).exec().into())
}

/// Takes the environment; of several that try, one gets it. Nothing of it stays on the disk.
fn claim(dir: &Path) -> Option<Vec<u8>> {
    let mine = dir.join(format!("{ENVIRONMENT}.{}", std::process::id()));
    fs::rename(dir.join(ENVIRONMENT), &mine).ok()?;
    let bytes = fs::read(&mine);
    let removed = fs::remove_file(&mine);
    if let Err(e) = removed {
        tracing::warn!("{} could not be removed: {e}", mine.display());
    }
    bytes.ok()
}

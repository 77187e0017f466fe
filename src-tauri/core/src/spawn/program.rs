//! The host agent's program: where it is and which version, found out once per installed file.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::agent::{HostAgent, Version};
use crate::host::process::{Outcome, Run};
use crate::host::{Host, login};
use crate::{Error, Remedy, host::files};

/// The host agent's program on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Absolute path.
    pub path: PathBuf,
    /// PATH to give it, so that what it needs itself is found too.
    pub child_path: OsString,
    /// Its version, where it says one that we can read.
    pub version: Option<Version>,
}

/// Starting a program only to ask its version takes a tenth of a second or more, so the answer is kept for as
/// long as the file behind the path stays the same.
pub async fn find(host: &Host, agent: &HostAgent, command: &str) -> Result<Program, Error> {
    let Some(found) = login::find(host, command).await else {
        return Err(Error::environment(
            format!(
                "{} was not found: there is no `{command}` on your PATH or your login shell's",
                agent.display
            ),
            format!(
                "install it (`{}`), or name it with `pao config set agents.{}.command /path/to/it`",
                agent.install, agent.kind
            ),
        )
        .in_window(format!("install it (`{}`), or say in the settings where it is", agent.install))
        .with(Remedy::Settings("agents")));
    };
    let login::Found { path, child_path, .. } = found;
    let stamp = stamp(&path);
    if let Some(version) = stamp.as_deref().and_then(|stamp| remembered(host, agent, stamp)) {
        return Ok(Program { path, child_path, version: Some(version) });
    }
    let asked = Run::new(&path).arg("--version").env("PATH", &child_path).output().await;
    let version = asked.ok().filter(Outcome::success).and_then(|o| Version::parse(&o.text()));
    if let (Some(version), Some(stamp)) = (version, stamp) {
        let line = format!("{version}\n{stamp}\n");
        host.remember(&cache(host, agent), line.as_bytes());
    }
    Ok(Program { path, child_path, version })
}

fn cache(host: &Host, agent: &HostAgent) -> PathBuf {
    host.pao_home.join(format!("{}-version", agent.kind))
}

fn stamp(path: &std::path::Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let real = path.canonicalize().ok()?;
    let meta = real.metadata().ok()?;
    Some(format!("{} {} {}.{}", real.display(), meta.size(), meta.mtime(), meta.mtime_nsec()))
}

fn remembered(host: &Host, agent: &HostAgent, stamp: &str) -> Option<Version> {
    let text = String::from_utf8(files::read_if_there(&cache(host, agent)).ok()??).ok()?;
    let (version, rest) = text.split_once('\n')?;
    (rest.trim_end_matches('\n') == stamp).then(|| Version::parse(version))?
}

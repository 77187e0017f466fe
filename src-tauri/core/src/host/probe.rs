//! What `pao probe` does: the small jobs for which a second process of ours is needed.
//!
//! Nobody types this verb. A login shell runs it to show the environment it ends up with, a self-test of the secret
//! store reads with it what another process wrote, and it starts a shell in a session of its own. It prints what it
//! answers and nothing else.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::process::Run;
use super::{Host, secrets};
use crate::Error;

/// The verb's name.
pub const VERB: &str = "probe";

/// Answers one probe with the bytes to print.
pub async fn answer(host: &Host, args: &[OsString]) -> Result<Vec<u8>, Error> {
    let words: Vec<&str> = args.iter().filter_map(|a| a.to_str()).collect();
    match (words.as_slice(), args) {
        (["env", marker], _) => Ok(environment(host, marker)),
        (["secret", store, name], _) => Ok(secrets::probe(host, store, name).await?.into_bytes()),
        (["session", ..], [_, program, rest @ ..]) => {
            // Fails where we lead a process group already; then we are not in anyone's foreground either.
            let _ = nix::unistd::setsid();
            Err(Error::environment(Run::new(program).args(rest).exec().to_string(), "run `pao doctor`"))
        }
        _ => Err(Error::user("pao probe is for pao itself", "see `pao --help`")),
    }
}

/// The environment between two markers, each entry ended by NUL. A shell's start-up files may print anything
/// before and after.
fn environment(host: &Host, marker: &str) -> Vec<u8> {
    let mut out = marker.as_bytes().to_vec();
    out.push(0);
    for (name, value) in &host.env {
        entry(&mut out, name, value);
    }
    out.extend_from_slice(marker.as_bytes());
    out.push(0);
    out
}

/// Appends `name=value` and NUL.
pub(crate) fn entry(out: &mut Vec<u8>, name: &OsStr, value: &OsStr) {
    out.extend_from_slice(name.as_bytes());
    out.push(b'=');
    out.extend_from_slice(value.as_bytes());
    out.push(0);
}

/// Reads `name=value` entries ended by NUL; what is not an entry is left out.
pub(crate) fn entries(bytes: &[u8]) -> Vec<(OsString, OsString)> {
    bytes
        .split(|b| *b == 0)
        .filter_map(|entry| {
            let at = entry.iter().position(|b| *b == b'=').filter(|at| *at > 0)?;
            Some((OsStr::from_bytes(&entry[..at]).into(), OsStr::from_bytes(&entry[at + 1..]).into()))
        })
        .collect()
}

//! `pao completions`: scripts by which a shell completes verbs, options and the names of what is there.
//!
//! Such a script asks this very program at every Tab, by a variable that nobody else sets.

use std::ffi::OsString;

use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, EnvCompleter, Fish, Shells, Zsh};
use pao_core::Error;

use crate::args::{Cli, Shell};
use crate::render::Screen;

/// The variable in which a script names its shell.
const VARIABLE: &str = "PAO_COMPLETE";

pub fn run(screen: Screen, shell: Shell) -> Result<u8, Error> {
    let shell: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "pao", "pao", "pao", &mut script)
        .map_err(|e| Error::internal(format!("the script cannot be written: {e}")))?;
    let script = String::from_utf8_lossy(&script);
    if screen.json {
        screen.document(&script)?;
    } else {
        screen.raw(script.as_bytes())?;
    }
    Ok(0)
}

/// Answers a shell, where it is one that asks. What cannot be answered is answered with nothing.
pub fn answered(argv: &[OsString]) -> bool {
    // Only a script of ours begins like this.
    argv.get(1).is_some_and(|first| first == "--")
        && CompleteEnv::with_factory(Cli::command)
            .var(VARIABLE)
            .shells(Shells(&[&Bash, &Fish, &Zsh]))
            .try_complete(argv, None)
            .unwrap_or(true)
}

//! `pao completions`: scripts that complete verbs and options in a shell.

use clap::CommandFactory;
use pao_core::Error;

use crate::args::{Cli, Shell};
use crate::render::Screen;

pub fn run(screen: Screen, shell: Shell) -> Result<u8, Error> {
    let mut script = Vec::new();
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    clap_complete::generate(shell, &mut Cli::command(), "pao", &mut script);
    let script = String::from_utf8_lossy(&script);
    if screen.json {
        screen.document(&script)?;
    } else {
        screen.raw(script.as_bytes())?;
    }
    Ok(0)
}

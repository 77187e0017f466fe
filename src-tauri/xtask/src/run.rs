//! Starts programs and says what it starts. Whatever they print goes to standard error: standard output belongs to the
//! one result a caller may want to read.

use std::ffi::OsStr;
use std::io;
use std::process::{Command, Stdio};

use crate::fault::Fault;

/// Prints a line about what is going on.
pub fn say(line: impl AsRef<str>) {
    eprintln!("{}", line.as_ref());
}

/// Prints the command and runs it to its end.
pub fn run(command: &mut Command) -> Result<(), Fault> {
    say(format!("$ {}", shown(command)));
    let status = command.stdout(Stdio::from(io::stderr())).status().map_err(|e| cannot_start(command, &e))?;
    if status.success() {
        Ok(())
    } else {
        Err(Fault::environment(
            format!("`{}` failed: {status}", shown(command)),
            "read what it printed above",
        ))
    }
}

/// Runs quietly and returns what was printed, where the program exists and succeeds.
pub fn read(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs quietly; whether it succeeded.
pub fn succeeds(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    read(program, arguments).is_some()
}

/// Why a program did not even start.
pub fn cannot_start(command: &Command, e: &io::Error) -> Fault {
    Fault::environment(format!("`{}` cannot be started: {e}", command.get_program().display()), "")
}

/// A command as a person would type it.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:@+,%~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_so_that_it_can_be_pasted() {
        let mut command = Command::new("npm");
        command.args(["install", "-g", "@anthropic-ai/claude-code@1.2.3", "it's", ""]);
        assert_eq!(shown(&command), r"npm install -g @anthropic-ai/claude-code@1.2.3 'it'\''s' ''");
    }
}

//! Builds our own programs and puts `pao` at its one stable path, from which hooks and launch scripts will call it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::fault::{Context, Fault};
use crate::machine::Machine;
use crate::run::{run, say};

/// The app's program.
pub const APP: &str = "prime-agent-orchestrator";

/// `cargo` as it was called, so that the same toolchain builds everything.
pub fn cargo(machine: &Machine) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(&machine.root_dir).env("PATH", machine.path_variable());
    command
}

/// Builds these packages, for release or not, and returns the folder their programs are in.
pub fn programs(machine: &Machine, packages: &[&str], release: bool) -> Result<PathBuf, Fault> {
    let mut build = cargo(machine);
    build.args(["build", "--locked"]);
    if release {
        build.arg("--release");
    }
    for package in packages {
        build.args(["-p", package]);
    }
    run(&mut build)?;
    folder(machine, release)
}

/// The folder cargo builds programs into.
pub fn folder(machine: &Machine, release: bool) -> Result<PathBuf, Fault> {
    let unreadable = || Fault::failed("`cargo metadata` does not say where it builds");
    let output = cargo(machine)
        .args(["metadata", "--format-version", "1", "--no-deps", "--locked"])
        .output()
        .doing("asking cargo where it builds")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|_| unreadable())?;
    let target = metadata["target_directory"].as_str().map(PathBuf::from).ok_or_else(unreadable)?;
    Ok(target.join(if release { "release" } else { "debug" }))
}

/// Puts a built `pao` at `~/.local/bin/pao` and returns that path. A running one goes on undisturbed: the file is
/// replaced, not overwritten.
pub fn install(machine: &Machine, built: &Path) -> Result<PathBuf, Fault> {
    let folder = machine.home.join(".local/bin");
    let installed = folder.join("pao");
    fs::create_dir_all(&folder).doing(format!("making {}", folder.display()))?;
    replace(built, &installed).doing(format!("installing {}", installed.display()))?;
    let on_path = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|p| p == folder);
    say(format!("Installed {}.", installed.display()));
    if !on_path {
        say("That folder is not on your PATH; to call `pao` by name, add to your shell's profile:");
        say("  export PATH=\"$HOME/.local/bin:$PATH\"");
    }
    Ok(installed)
}

/// Puts a built app beside the installed command, where each finds the other.
pub fn install_app(built: &Path, pao: &Path) -> Result<PathBuf, Fault> {
    let installed = pao.with_file_name(APP);
    replace(built, &installed).doing(format!("installing {}", installed.display()))?;
    say(format!("Installed {}.", installed.display()));
    Ok(installed)
}

/// Copies beside the destination, then renames over it, so that there is always a whole program there.
fn replace(from: &Path, to: &Path) -> std::io::Result<()> {
    let half = to.with_file_name(format!(".pao-{}", std::process::id()));
    let copied = fs::copy(from, &half).and_then(|_| fs::File::open(&half)?.sync_all());
    let done = copied.and_then(|()| fs::rename(&half, to));
    if done.is_err() {
        // The copy is ours and of no use to anybody; the first error is the one to report.
        let _ = fs::remove_file(&half);
    }
    done
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_is_replaced_while_it_runs() {
        let dir = tempfile::tempdir().expect("folder");
        let installed = dir.path().join("pao");
        replace(Path::new("/bin/sleep"), &installed).expect("first");
        let mut running = Command::new(&installed).arg("60").spawn().expect("runs");
        replace(Path::new("/bin/cat"), &installed).expect("replaced");
        assert!(running.try_wait().expect("wait").is_none(), "the running one was disturbed");
        running.kill().expect("kill");
        running.wait().expect("wait");
        assert_eq!(fs::read(&installed).expect("new"), fs::read("/bin/cat").expect("cat"));
        assert_ne!(fs::metadata(&installed).expect("meta").permissions().mode() & 0o100, 0);
    }

    #[test]
    fn a_failed_copy_leaves_the_old_program_and_nothing_else() {
        let dir = tempfile::tempdir().expect("folder");
        let installed = dir.path().join("pao");
        fs::write(&installed, "old").expect("old");
        assert!(replace(&dir.path().join("missing"), &installed).is_err());
        assert_eq!(fs::read_to_string(&installed).expect("old"), "old");
        assert_eq!(fs::read_dir(dir.path()).expect("folder").count(), 1);
    }
}

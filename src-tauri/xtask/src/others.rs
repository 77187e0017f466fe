//! The other host agents from npm, pinned, for the tests only: into `target/tools`, never for the user.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::fault::{Context, Fault};
use crate::machine::Machine;
use crate::pins::Other;
use crate::run::{read, run, say};

/// The program of that package in that version, installed first where it is missing. No install script is run:
/// neither package needs one.
pub fn pinned(machine: &Machine, other: Other) -> Result<PathBuf, Fault> {
    let Other { package, version, program, .. } = other;
    let folder = machine.root_dir.join("target/tools").join(format!("{program}-{version}"));
    let path = folder.join("node_modules/.bin").join(program);
    let right = || read(&path, &["--version"]).is_some_and(|said| said.contains(version));
    if right() {
        return Ok(path);
    }
    say(format!("{package} {version} for the tests, into {}", folder.display()));
    fs::create_dir_all(&folder).doing(format!("making {}", folder.display()))?;
    fs::write(folder.join("package.json"), json!({"private": true}).to_string())
        .doing("writing package.json")?;
    let npm = machine.find("npm").ok_or_else(|| {
        Fault::environment("there is no npm", "install Node.js 22 or newer from https://nodejs.org")
    })?;
    run(Command::new(npm)
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
        .arg(format!("{package}@{version}"))
        .current_dir(&folder))?;
    if right() {
        return Ok(path);
    }
    Err(Fault::environment(
        format!("{package} {version} was installed but does not say its version"),
        format!("remove {} and try again", folder.display()),
    ))
}

//! Claude Code from npm: for the user where there is none, and pinned ones for the tests. Installed only counts once
//! the program has said its version: npm may have skipped the script that puts it in place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::fault::{Context, Fault};
use crate::machine::Machine;
use crate::pins::{CLAUDE_NEW, CLAUDE_PACKAGE};
use crate::run::{read, run, say};
use crate::setup::{Npm, Plan};

/// The user's own `claude`, where it works.
pub fn installed(machine: &Machine) -> Option<PathBuf> {
    let program = machine.find("claude")?;
    version_of(&program).map(|_| program)
}

/// Adds Claude Code to the plan where the user has none that works.
pub fn plan(machine: &Machine, plan: &mut Plan) {
    if installed(machine).is_some() {
        return;
    }
    let npm = if !machine.has("npm") {
        Npm::Missing
    } else if machine.writable_npm_prefix().is_some() {
        Npm::Global
    } else {
        let settings = machine.find("npm").and_then(|npm| read(npm, &["config", "get", "globalconfig"]));
        let settings = settings.map(PathBuf::from).filter(|file| file.exists());
        Npm::Prefix { prefix: machine.home.join(".local"), settings }
    };
    plan.claude(CLAUDE_NEW, &npm);
}

/// The user's `claude` after the plan was carried out; mends an installation whose script was skipped.
pub fn ensure(machine: &Machine) -> Result<PathBuf, Fault> {
    if let Some(program) = installed(machine) {
        return Ok(program);
    }
    let prefixes = [machine.writable_npm_prefix(), Some(machine.home.join(".local"))];
    for prefix in prefixes.into_iter().flatten() {
        let package = prefix.join("lib/node_modules").join(CLAUDE_PACKAGE);
        let program = prefix.join("bin/claude");
        if package.exists() && mended(&package, &program) {
            return Ok(program);
        }
    }
    Err(Fault::environment(
        "Claude Code was installed but `claude --version` does not answer",
        format!("run `npm install -g {CLAUDE_PACKAGE}` and then `claude --version` by hand"),
    ))
}

/// A Claude Code of this version under `target/tools`, installed there first where it is missing. Its folder is the
/// build's own, so nobody has to be asked.
pub fn pinned(machine: &Machine, version: &str) -> Result<PathBuf, Fault> {
    let folder = machine.root_dir.join("target/tools").join(format!("claude-{version}"));
    let program = folder.join("node_modules/.bin/claude");
    let moving = !version.starts_with(|c: char| c.is_ascii_digit());
    let right = |program: &Path| version_of(program).is_some_and(|v| moving || v.starts_with(version));
    if !moving && right(&program) {
        return Ok(program);
    }
    say(format!("Claude Code {version} for the tests, into {}", folder.display()));
    fs::create_dir_all(&folder).doing(format!("making {}", folder.display()))?;
    // In a project npm takes the permission to run an install script from here only.
    let package = json!({"private": true, "allowScripts": {CLAUDE_PACKAGE: true}});
    fs::write(folder.join("package.json"), package.to_string()).doing("writing package.json")?;
    let npm = machine.find("npm").ok_or_else(|| {
        Fault::environment("there is no npm", "install Node.js 22 or newer from https://nodejs.org")
    })?;
    run(Command::new(npm)
        .args(["install", "--no-audit", "--no-fund"])
        .arg(format!("{CLAUDE_PACKAGE}@{version}"))
        .current_dir(&folder))?;
    let package = folder.join("node_modules").join(CLAUDE_PACKAGE);
    if right(&program) || (mended(&package, &program) && right(&program)) {
        return Ok(program);
    }
    Err(Fault::environment(
        format!("Claude Code {version} was installed but does not say its version"),
        format!("remove {} and try again", folder.display()),
    ))
}

/// What `claude --version` says, such as `2.1.332 (Claude Code)`.
pub fn version_of(program: &Path) -> Option<String> {
    read(program, &["--version"]).filter(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// Runs the package's own install script, which npm skips where scripts are not allowed.
fn mended(package: &Path, program: &Path) -> bool {
    let script = package.join("install.cjs");
    script.exists()
        && run(Command::new("node").arg(&script).current_dir(package)).is_ok()
        && version_of(program).is_some()
}

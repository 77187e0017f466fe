//! `cargo xtask bundle`: what can be given to somebody else. Builds both programs and packs them: on macOS the app with
//! `pao` inside and a disk image, on Linux a Debian package.
//!
//! The command goes in as a sidecar. It is named to the bundler only here: a plain build of the app must not ask for a
//! command that was not built yet.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use serde_json::json;

use crate::fault::{Context, Fault};
use crate::machine::{Machine, System};
use crate::run::{read, run, say};
use crate::setup::{C_COMPILER, Plan, agreement, carry_out};
use crate::{app, build};

/// What may be said to `cargo xtask bundle`.
#[derive(Debug, Clone, Copy, Args)]
pub struct Bundle {
    /// Agree to all that would be installed
    #[arg(long)]
    yes: bool,
    /// Pack an unoptimised build, as the tests do
    #[arg(long)]
    debug: bool,
}

/// Runs it.
pub fn bundle(asked: Bundle, machine: &Machine) -> Result<ExitCode, Fault> {
    let mut plan = Plan::default();
    let missing: Vec<_> =
        [C_COMPILER].into_iter().chain(app::NEEDS).filter(|need| !(need.found)(machine)).collect();
    plan.system(&missing, machine.system, machine.manager());
    carry_out(&plan, agreement(asked.yes, false, machine), "cargo xtask bundle")?;
    app::interface(machine)?;
    let built = build::programs(machine, &["pao", "pao-app"], !asked.debug)?;
    for packed in pack(machine, &built, asked.debug)? {
        say(format!("Packed {}.", packed.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Packs what was built; the packages.
pub fn pack(machine: &Machine, built: &Path, debug: bool) -> Result<Vec<PathBuf>, Fault> {
    let target = triple(machine)?;
    let sidecar = built.join("sidecar");
    fs::create_dir_all(&sidecar).doing(format!("making {}", sidecar.display()))?;
    let pao = sidecar.join(format!("pao-{target}"));
    fs::copy(built.join("pao"), &pao).doing(format!("copying {}", pao.display()))?;
    let packages = built.join("bundle");
    if packages.exists() {
        fs::remove_dir_all(&packages).doing(format!("clearing {}", packages.display()))?;
    }
    let kinds: &[&str] = if machine.system == System::Mac { &["app", "dmg"] } else { &["deb"] };
    let config = json!({ "bundle": { "externalBin": [sidecar.join("pao")] } });
    let mut tauri = Command::new(machine.root_dir.join("ui/node_modules/.bin/tauri"));
    // There is no updater that would have to know which kind of package it was.
    tauri.args(["bundle", "--ci", "--no-binary-patching", "--config", &config.to_string(), "--bundles"]);
    tauri.args(kinds);
    tauri.current_dir(&machine.root_dir).env("PATH", machine.path_variable());
    if debug {
        tauri.arg("--debug");
    }
    run(&mut tauri)?;
    let mut made = Vec::new();
    for kind in fs::read_dir(&packages).doing(format!("reading {}", packages.display()))?.flatten() {
        let of_kind = fs::read_dir(kind.path()).into_iter().flatten().flatten().map(|entry| entry.path());
        let suffix = |path: &Path| path.extension().is_some_and(|e| kinds.iter().any(|kind| e == *kind));
        made.extend(of_kind.filter(|path| suffix(path)));
    }
    if made.is_empty() {
        return Err(Fault::failed(format!("the bundler left nothing in {}", packages.display())));
    }
    Ok(made)
}

/// What the compiler builds for.
fn triple(machine: &Machine) -> Result<String, Fault> {
    let rustc = machine.find("rustc").unwrap_or_else(|| "rustc".into());
    let said = read(rustc, &["-vV"]).unwrap_or_default();
    let host = said.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
    host.ok_or_else(|| Fault::failed("`rustc -vV` does not say what it builds for"))
}

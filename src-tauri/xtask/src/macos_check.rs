//! `cargo xtask macos-check`: type-checks and lints the macOS build on Linux. No code is generated and no C is compiled,
//! so it finds what the compiler would refuse under `cfg(target_os = "macos")` and nothing else; only a Mac can run it.
//!
//! The standard library for macOS comes from rustup where it is there, else its source from Debian, in the version of
//! this very compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::cargo;
use crate::fault::{Context, Fault};
use crate::machine::{Machine, System};
use crate::pins::MACOS_TARGET;
use crate::run::{read, run, say};
use crate::setup::Plan;

/// Debian suites that may hold the compiler's source, likeliest first.
const SUITES: [&str; 4] = ["trixie-backports", "sid", "forky", "trixie"];

/// Where the standard library for macOS comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Library {
    /// rustup has it compiled.
    Rustup,
    /// Debian has its source, unpacked here.
    Source(PathBuf),
}

/// Checks with the library that can be had. Fails with the compiler's own verdict.
pub fn check(machine: &Machine, library: &Library) -> Result<(), Fault> {
    let stubs = machine.root_dir.join("src-tauri/xtask/macos-check");
    let work = folder(machine);
    let sdk = work.join("empty-sdk");
    fs::create_dir_all(&sdk).doing(format!("making {}", sdk.display()))?;
    let suffix = MACOS_TARGET.replace('-', "_");
    let mut clippy = cargo(machine);
    clippy
        .args([
            "clippy",
            "--locked",
            "--target",
            MACOS_TARGET,
            "-p",
            "pao",
            "-p",
            "pao-app",
            "-p",
            "pao-core",
            "-p",
            "pao-recall",
        ])
        .env(format!("CC_{suffix}"), stubs.join("cc-stub"))
        .env(format!("CXX_{suffix}"), stubs.join("cc-stub"))
        .env(format!("AR_{suffix}"), stubs.join("ar-stub"))
        .env("SDKROOT", sdk);
    if let Library::Source(source) = library {
        // A folder of its own: the switch below is part of every crate's fingerprint.
        clippy
            .arg("-Zbuild-std")
            .env("RUSTC_BOOTSTRAP", "1")
            .env("__CARGO_TESTS_ONLY_SRC_ROOT", source)
            .env("CARGO_TARGET_DIR", work.join("target"));
    }
    run(clippy.args(["--", "-D", "warnings"]))
}

/// Adds rustup's standard library for macOS to the plan where rustup could fetch it.
pub fn plan(machine: &Machine, plan: &mut Plan) {
    if machine.system == System::Linux && machine.has("rustup") && !rustup_has_it(machine) {
        plan.welcome(
            "Rust's library for macOS (to type-check that build)",
            &["rustup", "target", "add", MACOS_TARGET],
        );
    }
}

/// Finds the standard library for macOS: rustup's, else its source, which it fetches into `target/` where it is
/// missing. `debian_only` leaves rustup aside.
pub fn library(machine: &Machine, debian_only: bool) -> Result<Library, Fault> {
    if machine.system == System::Mac {
        return Err(Fault::user("this is a Mac", "run `cargo clippy`: it checks the macOS build itself"));
    }
    if !debian_only && rustup_has_it(machine) {
        return Ok(Library::Rustup);
    }
    if !debian_only && machine.has("rustup") {
        let added =
            run(Command::new("rustup").args(["target", "add", MACOS_TARGET]).current_dir(&machine.root_dir));
        if added.is_ok() && rustup_has_it(machine) {
            return Ok(Library::Rustup);
        }
    }
    source_from_debian(machine).map(Library::Source)
}

fn rustup_has_it(machine: &Machine) -> bool {
    // Asked of the compiler, not of rustup: another toolchain may be the one in use.
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", MACOS_TARGET]).current_dir(&machine.root_dir);
    let Ok(output) = rustc.output() else { return false };
    fs::read_dir(String::from_utf8_lossy(&output.stdout).trim())
        .is_ok_and(|files| files.flatten().any(|f| f.file_name().to_string_lossy().starts_with("libstd-")))
}

fn folder(machine: &Machine) -> PathBuf {
    machine.root_dir.join("target/macos-check")
}

/// The library source of this compiler's version, unpacked under `target/`. The machine's own package lists stay as
/// they are: everything apt needs lies in our folder.
fn source_from_debian(machine: &Machine) -> Result<PathBuf, Fault> {
    let version = rustc_version(&read("rustc", &["--version"]).unwrap_or_default())
        .ok_or_else(|| Fault::environment("`rustc --version` does not say a version", ""))?;
    let work = folder(machine);
    let library = work.join(format!("rust-src/usr/src/rustc-{version}/library"));
    if library.join("std/src/lib.rs").exists() {
        return Ok(library);
    }
    let nowhere = |why: &str| {
        Fault::environment(
            format!("the library source of Rust {version} cannot be had: {why}"),
            format!(
                "install rustup and run `rustup target add {MACOS_TARGET}`, or leave this check to a Mac"
            ),
        )
    };
    if !machine.has("apt-get") || !machine.has("dpkg-deb") {
        return Err(nowhere("there is neither rustup's target nor apt"));
    }
    let mirror = mirror_of_this_machine().ok_or_else(|| nowhere("apt has no Debian mirror"))?;
    for suite in SUITES {
        let Some(package) = package_in(&work, &mirror, suite, &version)? else { continue };
        run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(work.join("rust-src")))?;
        fs::remove_file(&package).doing("removing the unpacked package")?;
        if library.join("std/src/lib.rs").exists() {
            return Ok(library);
        }
    }
    Err(nowhere(&format!("no suite of {mirror} has it ({})", SUITES.join(", "))))
}

/// Downloads the package from one suite, where that has it.
fn package_in(work: &Path, mirror: &str, suite: &str, version: &str) -> Result<Option<PathBuf>, Fault> {
    let apt = work.join("apt").join(suite);
    for inner in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(apt.join(inner)).doing("making folders for apt")?;
    }
    let list = apt.join("sources.list");
    let keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let signed = if Path::new(keyring).exists() { format!("[signed-by={keyring}] ") } else { String::new() };
    fs::write(&list, format!("deb {signed}{mirror} {suite} main\n")).doing("writing a list for apt")?;
    let isolated = [
        format!("-oDir::Etc::sourcelist={}", list.display()),
        "-oDir::Etc::sourceparts=/dev/null".to_owned(),
        format!("-oDir::State::Lists={}", apt.join("lists").display()),
        format!("-oDir::Cache={}", apt.join("cache").display()),
        "-oAPT::Sandbox::User=root".to_owned(),
    ];
    say(format!("looking for rust-src {version} in {suite} of {mirror}"));
    if run(Command::new("apt-get").args(&isolated).args(["-q", "update"])).is_err() {
        return Ok(None);
    }
    let mut madison: Vec<&str> = isolated.iter().map(String::as_str).collect();
    madison.extend(["madison", "rust-src"]);
    let offered = read("apt-cache", &madison).unwrap_or_default();
    let Some(exact) = matching_version(&offered, version) else { return Ok(None) };
    run(Command::new("apt-get")
        .args(&isolated)
        .args(["-q", "download", &format!("rust-src={exact}")])
        .current_dir(work))?;
    let files = fs::read_dir(work).doing("looking for the package")?.flatten().map(|f| f.path());
    let is_package =
        |f: &PathBuf| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with("rust-src_"));
    Ok(files.into_iter().find(is_package))
}

/// `1.95.0` of `rustc 1.95.0 (59807616e 2026-04-14)`.
fn rustc_version(said: &str) -> Option<String> {
    said.split_whitespace().nth(1).map(str::to_owned)
}

/// The package version, among the lines of `apt-cache madison`, that was made of this very release.
fn matching_version(madison: &str, rustc: &str) -> Option<String> {
    let versions = madison.lines().filter_map(|line| line.split('|').nth(1)).map(str::trim);
    let exact = |v: &&str| v.strip_prefix(rustc).is_some_and(|rest| rest.starts_with(['+', '-']));
    versions.into_iter().find(exact).map(str::to_owned)
}

/// The Debian mirror that apt uses here.
fn mirror_of_this_machine() -> Option<String> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let parts = fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten();
    files.extend(parts.map(|f| f.path()));
    files.sort();
    files.iter().filter_map(|file| fs::read_to_string(file).ok()).find_map(|text| mirror_in(&text))
}

/// The first Debian mirror in a list of sources, in either of apt's two formats.
fn mirror_in(sources: &str) -> Option<String> {
    let words = sources.lines().filter(|l| l.starts_with("deb ") || l.starts_with("URIs:"));
    words
        .flat_map(str::split_whitespace)
        .find(|word| word.contains("://") && word.trim_end_matches('/').ends_with("/debian"))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_read_from_both_formats() {
        let new = "Types: deb\nURIs: http://deb.debian.org/debian\nSuites: trixie\n";
        let old = "# deb http://x/debian y\ndeb [arch=amd64] https://mirror.example/debian/ trixie main\n";
        assert_eq!(mirror_in(new).as_deref(), Some("http://deb.debian.org/debian"));
        assert_eq!(mirror_in(old).as_deref(), Some("https://mirror.example/debian/"));
        assert_eq!(mirror_in("deb http://deb.debian.org/debian-security x main\n"), None);
    }

    #[test]
    fn only_the_source_of_this_very_compiler_will_do() {
        let offered = "  rust-src | 1.94.1+dfsg1-1 | http://x sid/main\n\
                       \x20 rust-src | 1.95.0+dfsg1-2~bpo13+1 | http://x trixie-backports/main\n";
        assert_eq!(matching_version(offered, "1.95.0").as_deref(), Some("1.95.0+dfsg1-2~bpo13+1"));
        assert_eq!(matching_version(offered, "1.95"), None);
        assert_eq!(matching_version("", "1.95.0"), None);
        assert_eq!(rustc_version("rustc 1.95.0 (59807616e 2026-04-14)").as_deref(), Some("1.95.0"));
    }
}

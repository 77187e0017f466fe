//! The direction of imports, where the compiler does not hold it.

use std::fs;
use std::path::{Path, PathBuf};

const ROOMS: [&str; 7] = ["topic", "gather", "briefing", "deliver", "trust", "launch", "ready"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(dir: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(dir)];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(root()).unwrap().to_path_buf(), without_comments(&text)));
            }
        }
    }
    assert!(!found.is_empty(), "no sources under {dir}");
    found
}

fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Everything before a file's tests: tests may look across the house.
fn production(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains("tests"))
        || path.components().any(|part| part.as_os_str() == "tests")
}

/// Reports every file of `dir` whose production part contains one of the words, unless its path starts with an
/// allowed prefix.
fn offenders(dir: &str, words: &[&str], allowed: &[&str]) -> Vec<String> {
    sources(dir)
        .iter()
        .filter(|(path, _)| !is_test(path) && !allowed.iter().any(|prefix| path.starts_with(prefix)))
        .flat_map(|(path, text)| {
            let text = production(text).to_string();
            words
                .iter()
                .filter(move |word| text.contains(**word))
                .map(move |word| format!("{}: {word}", path.display()))
        })
        .collect()
}

#[test]
fn rooms_never_import_one_another() {
    let mut wrong = Vec::new();
    for room in ROOMS {
        let file = format!("src-tauri/core/src/spawn/{room}.rs");
        let folder = format!("src-tauri/core/src/spawn/{room}");
        for (path, text) in sources("src-tauri/core/src/spawn") {
            if is_test(&path) || !(path.starts_with(&folder) || path == Path::new(&file)) {
                continue;
            }
            for other in ROOMS.iter().filter(|other| **other != room) {
                if production(&text).contains(&format!("spawn::{other}")) {
                    wrong.push(format!("{} imports {other}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_core_has_no_face() {
    let words = ["use tauri", "use clap", "println!(", "eprintln!(", "print!(", "eprint!("];
    let wrong = offenders("src-tauri/core/src", &words, &[]);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_memory_knows_nothing_of_agents() {
    let wrong = offenders("src-tauri/recall/src", &["pao_core", "claude", "Claude"], &[]);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn operating_systems_differ_only_at_the_edge() {
    let allowed = ["src-tauri/core/src/host"];
    let wrong = offenders("src-tauri/core/src", &["target_os"], &allowed);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn processes_start_and_the_environment_is_read_only_at_the_edge() {
    let words = ["process::Command", "std::env::", "env::var", "SystemTime::now", "Utc::now", "Local::now"];
    let allowed = ["src-tauri/core/src/host"];
    let wrong = offenders("src-tauri/core/src", &words, &allowed);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn rooms_do_not_serialise() {
    let allowed = [
        // The host agent's own configuration file is a foreign format.
        "src-tauri/core/src/spawn/trust",
        "src-tauri/core/src/spawn/trust.rs",
        // Launch writes the file that `pao run` reads, ready reads the host agent's session file.
        "src-tauri/core/src/spawn/launch.rs",
        "src-tauri/core/src/spawn/launch",
        "src-tauri/core/src/spawn/ready.rs",
        "src-tauri/core/src/spawn/ready",
    ];
    let wrong = offenders("src-tauri/core/src/spawn", &["serde::", "serde_json"], &allowed);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

//! Everything that goes wrong around a spawn: stores that are down, others that write the same files, an end in the
//! middle, input that means harm, and a person who says no.

mod asked;
mod concurrent;
mod hostile;
mod killed;
mod stores;
#[cfg(target_os = "linux")]
mod unwritable;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::claude::Claude;
use crate::harness::world::World;

/// What the user said in an earlier session, as the transcript that the host agent left. One session per `number`.
fn remember(world: &World, folder: &Path, number: u32, text: &str) {
    let session = format!("0b5e7f0e-58b4-4c57-9a44-0d4cf1a7{number:04x}");
    let record = json!({
        "parentUuid": null, "isSidechain": false, "type": "user", "userType": "external",
        "message": { "role": "user", "content": text },
        "uuid": format!("77bda9c0-47c6-4028-be18-cc4b07d2{number:04x}"),
        "timestamp": "2026-11-20T09:00:00.000Z",
        "cwd": folder, "sessionId": session, "version": "2.1.332", "gitBranch": "main",
    });
    world.write(&format!(".claude/projects/-sample/{session}.jsonl"), &format!("{record}\n"));
}

/// The host agent's own file.
fn agent_file(world: &World) -> Value {
    serde_json::from_str(&world.read(".claude.json")).unwrap()
}

fn is_trusted(world: &World, folder: &Path) -> bool {
    agent_file(world)["projects"][&*folder.to_string_lossy()]["hasTrustDialogAccepted"] == true
}

/// Every entry below a folder with its kind, mode and bytes. Git's index is left out: reading a repository may
/// refresh the times it keeps there.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (String, Vec<u8>)> {
    let mut entries = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".git/index") {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let bytes = if meta.is_symlink() {
                fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else if meta.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else {
                fs::read(&path).unwrap()
            };
            let kind = format!("{:?} {:o}", meta.file_type(), meta.permissions().mode());
            entries.insert(path, (kind, bytes));
        }
    }
    entries
}

/// Where two trees differ, for a message that can be read.
fn differences(
    before: &BTreeMap<PathBuf, (String, Vec<u8>)>,
    after: &BTreeMap<PathBuf, (String, Vec<u8>)>,
) -> Vec<String> {
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let show = |entry: Option<&(String, Vec<u8>)>| match entry {
        Some((kind, bytes)) => format!("{kind}: {}", String::from_utf8_lossy(bytes)),
        None => "absent".into(),
    };
    paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| format!("{}: {} → {}", path.display(), show(before.get(path)), show(after.get(path))))
        .collect()
}

/// All files below a folder that hold the text.
fn holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let found = tree(folder);
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    found.into_iter().filter(|(_, (_, bytes))| holds(bytes)).map(|(path, _)| path).collect()
}

/// Private folders of agents that are still there.
fn private_folders(world: &World) -> Vec<PathBuf> {
    match fs::read_dir(world.path(".pao/agents")) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => Vec::new(),
    }
}

/// Ends the agents of a folder, so that a test never holds more of them than it looks at.
fn end(claude: &Claude, folder: &Path) {
    claude.world.pao([OsStr::new("undo"), OsStr::new("--end"), OsStr::new("-C"), folder.as_os_str()]).ok();
}

//! Whether an agent may be started in a folder.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::{TopicError, absolute};
use crate::host::Host;

/// The realpath of the folder given by `-C`. A file stands for the folder it is in.
pub fn explicit(given: &Path, host: &Host) -> Result<PathBuf, TopicError> {
    accept(&absolute(given, host), host)
}

/// The realpath of an absolute path, or why no agent is started there.
pub fn accept(path: &Path, host: &Host) -> Result<PathBuf, TopicError> {
    printable(path)?;
    let real = path.canonicalize().map_err(|e| match e.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            TopicError::Missing { path: path.to_path_buf(), nearest: nearest(path) }
        }
        _ => TopicError::Unreadable { path: path.to_path_buf(), reason: e.to_string() },
    })?;
    let real = match std::fs::metadata(&real) {
        Ok(meta) if meta.is_dir() => real,
        Ok(meta) if meta.is_file() => real.parent().map(Path::to_path_buf).ok_or(TopicError::Root)?,
        _ => return Err(TopicError::NotAFolder(real)),
    };
    printable(&real)?;
    if real.parent().is_none() {
        return Err(TopicError::Root);
    }
    if host.home.canonicalize().is_ok_and(|home| home == real) {
        return Err(TopicError::Home);
    }
    if inside_git_data(&real) {
        return Err(TopicError::InsideGit(real));
    }
    std::fs::read_dir(&real)
        .map_err(|e| TopicError::Unreadable { path: real.clone(), reason: e.to_string() })?;
    Ok(real)
}

/// The deepest existing folder on the way to a missing one, where that says more than the root.
pub fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|p| p.is_dir()).filter(|p| p.parent().is_some()).map(Path::to_path_buf)
}

/// Scripts, settings files and terminals carry the path as text on one line.
fn printable(path: &Path) -> Result<(), TopicError> {
    match path.to_str() {
        None => Err(TopicError::UnusablePath("bytes that are not UTF-8")),
        Some(text) if text.chars().any(char::is_control) => {
            Err(TopicError::UnusablePath("a control character"))
        }
        Some(_) => Ok(()),
    }
}

/// Inside `.git`, or inside a bare repository or a worktree's Git folder, unless a worktree of its own lies
/// between (a repository kept bare with its worktrees inside it is a common layout).
fn inside_git_data(folder: &Path) -> bool {
    if folder.components().any(|c| c == Component::Normal(".git".as_ref())) {
        return true;
    }
    for step in folder.ancestors() {
        if step.join(".git").exists() {
            return false;
        }
        let holds = |name: &str| step.join(name).exists();
        if holds("HEAD") && (holds("commondir") || (holds("objects") && holds("refs"))) {
            return true;
        }
    }
    false
}

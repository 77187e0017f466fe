//! Which project a folder belongs to: the repository it is in, with all its worktrees, or the folder itself.
//!
//! Git's own files are read directly; no process is started for this.

use std::path::{Path, PathBuf};

/// The project a folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Identity: realpath of the repository's common git folder's parent, or of the folder itself. Two worktrees
    /// of one repository share it; two folders of the same name do not.
    pub id: String,
    /// Base name of `id`, as stores without paths know it.
    pub name: String,
    /// Top of this worktree, where the folder is in a repository.
    pub worktree: Option<PathBuf>,
    /// This worktree's git folder (`.git`, or `.git/worktrees/NAME`).
    pub git_dir: Option<PathBuf>,
    /// The git folder shared by all worktrees.
    pub common_dir: Option<PathBuf>,
}

impl Project {
    /// Finds the project of an existing folder given by its realpath.
    pub fn of(folder: &Path) -> Self {
        for top in folder.ancestors() {
            let Some(git_dir) = git_dir_at(top) else { continue };
            let common_dir = common_dir_of(&git_dir);
            let home = match common_dir.file_name() {
                Some(name) if name == ".git" => common_dir.parent().unwrap_or(top).to_path_buf(),
                _ => common_dir.clone(),
            };
            return Self {
                id: home.to_string_lossy().into_owned(),
                name: base_name(&home),
                worktree: Some(top.to_path_buf()),
                git_dir: Some(git_dir),
                common_dir: Some(common_dir),
            };
        }
        Self {
            id: folder.to_string_lossy().into_owned(),
            name: base_name(folder),
            worktree: None,
            git_dir: None,
            common_dir: None,
        }
    }
}

fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// `.git` is a folder in the main worktree and a file `gitdir: PATH` in linked ones and submodules.
fn git_dir_at(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    let meta = std::fs::metadata(&dot_git).ok()?;
    if meta.is_dir() {
        return dot_git.join("HEAD").exists().then_some(dot_git);
    }
    let text = std::fs::read_to_string(&dot_git).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    let target = top.join(target);
    target.canonicalize().ok()
}

fn common_dir_of(git_dir: &Path) -> PathBuf {
    std::fs::read_to_string(git_dir.join("commondir"))
        .ok()
        .and_then(|text| git_dir.join(text.trim()).canonicalize().ok())
        .unwrap_or_else(|| git_dir.to_path_buf())
}

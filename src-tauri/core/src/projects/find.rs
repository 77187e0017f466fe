//! Finds projects below a folder, and the folders worth watching, in one walk.
//!
//! A folder is a project by what lies in it (see [`MARKS`]). Inside a project that is a repository, a package of its own
//! is a part and no project: a monorepo with three hundred of them is one place to work in. What an agent can be started
//! in usefully all the same is listed: a folder with instructions of its own (`CLAUDE.md`, `AGENTS.md`), a linked
//! worktree, a repository within the repository; a submodule only with instructions.
//!
//! Links are not followed, so the walk ends. It goes level by level, so that a bound cuts off what lies deepest.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::rules::Rules;
use crate::project::Project as Repository;

/// By what a project is recognised.
pub const MARKS: [&str; 14] = [
    ".git",
    "CLAUDE.md",
    "AGENTS.md",
    "package.json",
    "Cargo.toml",
    "pyproject.toml",
    "go.mod",
    "deno.json",
    "composer.json",
    "Gemfile",
    "Package.swift",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
];

/// Those among them that are written for agents.
const INSTRUCTIONS: [&str; 2] = ["CLAUDE.md", "AGENTS.md"];

/// How far a walk goes.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Folders between a root and a project.
    pub above: usize,
    /// Folders inside a project, one in the other.
    pub within: usize,
    /// Folders of one project.
    pub of_one: usize,
    /// Folders altogether.
    pub all: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { above: 5, within: 16, of_one: 2_000, all: 100_000 }
    }
}

/// A project as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where.
    pub folder: PathBuf,
    /// By what it was recognised, in the order of [`MARKS`].
    pub marks: Vec<&'static str>,
    /// It has more folders than are looked into.
    pub cut: bool,
}

/// A folder that may be watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Where.
    pub path: PathBuf,
    /// The project it belongs to, by its place among those found.
    pub project: Option<usize>,
}

/// What a walk came to.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// The projects, in the order in which they were met.
    pub projects: Vec<Found>,
    /// The root and every folder below it that no rule excludes, level by level.
    pub folders: Vec<Folder>,
    /// There are more folders than a walk goes through.
    pub cut: bool,
}

struct Open {
    path: PathBuf,
    rules: Rules,
    project: Option<usize>,
    depth: usize,
}

/// What one folder holds.
#[derive(Default)]
struct Held {
    marks: Vec<&'static str>,
    folders: Vec<OsString>,
    has_rules: bool,
    /// It is the inside of a repository without a worktree.
    bare: bool,
}

/// Walks. Only a root that cannot be read is an error; folders below that cannot are left out. `stop` is asked now and
/// then, and ends the walk with what it has.
pub fn scan(root: &Path, home: &Path, bounds: &Bounds, stop: &dyn Fn() -> bool) -> io::Result<Scan> {
    let mut scan = Scan::default();
    let mut sizes: Vec<usize> = Vec::new();
    // Below a project that is no repository, or is the root itself, packages of their own are projects, too.
    let mut whole: Vec<bool> = Vec::new();
    let mut open =
        VecDeque::from([Open { path: root.to_path_buf(), rules: Rules::default(), project: None, depth: 0 }]);
    while let Some(mut here) = open.pop_front() {
        let held = match read(&here.path) {
            Ok(held) => held,
            Err(error) if scan.folders.is_empty() => return Err(error),
            Err(_) => continue,
        };
        if held.bare {
            continue;
        }
        if scan.folders.len() >= bounds.all || stop() {
            scan.cut = true;
            break;
        }
        let repository = held.marks.contains(&".git").then(|| Git::at(&here.path)).flatten();
        let part = here.project.is_some_and(|project| whole[project]);
        if is_project(&held.marks, repository.as_ref(), part) {
            let is_root = scan.folders.is_empty();
            here.project = Some(scan.projects.len());
            here.depth = 0;
            sizes.push(0);
            whole.push(repository.is_some() || !is_root);
            let marks = held.marks.into_iter().filter(|mark| *mark != ".git" || repository.is_some());
            scan.projects.push(Found { folder: here.path.clone(), marks: marks.collect(), cut: false });
        }
        if let Some(git) = &repository {
            here.rules = Rules::of_repository(&here.path, &git.common_dir);
        }
        // Outside of repositories such a file is somebody else's affair.
        if held.has_rules && here.project.is_some_and(|project| whole[project]) {
            here.rules = here.rules.with(&here.path, &here.path.join(".gitignore"));
        }
        let mut deepest = bounds.above;
        if let Some(project) = here.project {
            deepest = bounds.within;
            sizes[project] += 1;
            if sizes[project] > bounds.of_one {
                scan.projects[project].cut = true;
                continue;
            }
        }
        if here.depth < deepest {
            for name in held.folders {
                let path = here.path.join(&name);
                if !here.rules.skip(&here.path, &name, &path, home) {
                    let (rules, project) = (here.rules.clone(), here.project);
                    open.push_back(Open { path, rules, project, depth: here.depth + 1 });
                }
            }
        }
        scan.folders.push(Folder { path: here.path, project: here.project });
    }
    Ok(scan)
}

fn is_project(marks: &[&str], repository: Option<&Git>, part: bool) -> bool {
    let instructions = marks.iter().any(|mark| INSTRUCTIONS.contains(mark));
    if part {
        return instructions || repository.is_some_and(|git| !git.submodule);
    }
    // A `.git` that leads nowhere marks nothing.
    repository.is_some() || marks.iter().any(|mark| *mark != ".git")
}

struct Git {
    common_dir: PathBuf,
    submodule: bool,
}

impl Git {
    fn at(folder: &Path) -> Option<Self> {
        let found = Repository::of(folder);
        if found.worktree.as_deref() != Some(folder) {
            return None;
        }
        let (git_dir, common_dir) = (found.git_dir?, found.common_dir?);
        // A linked worktree's is `.git/worktrees/NAME`, a submodule's `.git/modules/PATH`.
        let submodule = git_dir == common_dir
            && !git_dir.starts_with(folder)
            && git_dir.components().any(|part| part.as_os_str() == "modules");
        Some(Self { common_dir, submodule })
    }
}

fn read(folder: &Path) -> io::Result<Held> {
    let mut held = Held::default();
    let mut inside = 0;
    for entry in std::fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        // Asked for every entry: the kind comes with the name, nothing is looked up for it.
        let Ok(kind) = entry.file_type() else { continue };
        if let Some(mark) = mark(&name).filter(|mark| !kind.is_dir() || *mark == ".git") {
            held.marks.push(mark);
        } else if kind.is_dir() {
            inside += usize::from(name == "objects" || name == "refs");
            held.folders.push(name);
        } else {
            inside += usize::from(name == "HEAD");
            held.has_rules |= name == ".gitignore";
        }
    }
    held.bare = inside == 3 && held.marks.is_empty();
    let place = |mark: &&str| MARKS.iter().position(|known| known == mark);
    held.marks.sort_by_key(place);
    held.folders.sort();
    Ok(held)
}

fn mark(name: &OsStr) -> Option<&'static str> {
    // Almost every name ends here.
    if !matches!(name.as_bytes().first()?, b'.' | b'A'..=b'G' | b'P' | b'a'..=b'g' | b'p') {
        return None;
    }
    MARKS.into_iter().find(|mark| name == *mark)
}

#[cfg(test)]
mod tests;

//! A git worktree of its own for an agent, so that two agents do not work in the same files.
//!
//! It lies outside every project and outside PAO's own folder: what is in it is the user's work, and goes only when git
//! says that nothing would be lost. That an agent has one is written into its row before it is made. Nothing is
//! configured in the repository, and no hook of it runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Error;
use crate::host::process::{Outcome, Run};
use crate::host::{Host, files};
use crate::life::clean::work::{self, Work};
use crate::spawn::passed::Topic;

/// Folder in the home directory where worktrees lie.
pub const FOLDER: &str = ".pao-worktrees";
/// What branches of ours begin with.
const OURS: &str = "pao/";
/// How long git may take to fill a worktree.
const LIMIT: Duration = Duration::from_mins(5);

/// A worktree that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Where.
    pub path: PathBuf,
    /// Where the agent works in it.
    pub folder: PathBuf,
    /// Its branch.
    pub branch: String,
    /// The branch is there already.
    existing: bool,
    /// Top of the worktree it is made from.
    from: PathBuf,
}

/// Plans a worktree of the topic's repository, on that branch, or (where it is empty) on a new one named after the
/// agent. Writes nothing.
pub async fn plan(host: &Host, topic: &Topic, branch: &str) -> Result<Planned, Error> {
    let Some(from) = topic.project.worktree.clone() else {
        return Err(Error::user(
            format!("{} is in no git repository", host.display(&topic.folder)),
            "spawn without --worktree",
        )
        .in_window("spawn it without a worktree of its own"));
    };
    if !asks(&from, &["rev-parse", "--verify", "-q", "HEAD^{commit}"]).await {
        return Err(Error::user(
            format!("{} has no commit yet", host.display(&from)),
            "make one, or spawn without --worktree",
        )
        .in_window("make one, or spawn it without a worktree of its own"));
    }
    let word = format!("{}-{}", word(&topic.project.name), word(&topic.name));
    let home = host.home.canonicalize().unwrap_or_else(|_| host.home.clone()).join(FOLDER);
    let path = free(|n| home.join(numbered(&word, n)), |path| std::fs::symlink_metadata(path).is_ok());
    let inside = topic.folder.strip_prefix(&from).unwrap_or(Path::new(""));
    let folder = if inside.as_os_str().is_empty() { path.clone() } else { path.join(inside) };
    let (branch, existing) = if branch.is_empty() {
        let mut n = 1;
        loop {
            let name = format!("{OURS}{}", numbered(&self::word(&topic.name), n));
            if !is_branch(&from, &name).await {
                break (name, false);
            }
            n += 1;
        }
    } else {
        if branch.starts_with('-') || !asks(&from, &["check-ref-format", "--branch", branch]).await {
            return Err(Error::user(
                format!("{branch} cannot be a branch's name"),
                "give another with --worktree=",
            )
            .in_window("give another name"));
        }
        (branch.to_string(), is_branch(&from, branch).await)
    };
    Ok(Planned { path, folder, branch, existing, from })
}

/// Makes it; what the user should know of it.
pub async fn create(host: &Host, planned: &Planned) -> Result<Vec<String>, Error> {
    let Planned { path, folder, branch, existing, from } = planned;
    let failed = |why: String| {
        Error::environment(format!("the worktree could not be made: {why}"), "spawn without --worktree")
            .in_window("spawn it without a worktree of its own")
    };
    files::private_dir(path.parent().unwrap_or(path)).map_err(|e| failed(e.to_string()))?;
    let run = git(from).args(["worktree", "add", "--quiet"]);
    let run =
        if *existing { run.arg(path).arg(branch) } else { run.args(["-b", branch]).arg(path).arg("HEAD") };
    let out = run.limit(LIMIT).output().await.map_err(|e| failed(e.to_string()))?;
    if !out.success() {
        return Err(failed(out.error_text().lines().last().unwrap_or_default().to_string()));
    }
    if !folder.is_dir() {
        return Err(failed(format!("{} is in no commit", host.display(folder))));
    }
    let mut notes =
        vec![format!("works in a worktree of its own, {}, on branch {branch}", host.display(path))];
    if from.join(".gitmodules").exists() {
        notes.push("its submodules are empty: git submodule update --init".into());
    }
    let left: Vec<String> =
        environment_files(from).into_iter().filter(|name| !path.join(name).exists()).collect();
    if !left.is_empty() {
        notes.push(format!("what git does not know is not in it: {}", left.join(", ")));
    }
    Ok(notes)
}

/// Files with settings in a folder's top that are usually kept out of git.
fn environment_files(top: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(top).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<String> = names.filter(|name| name.starts_with(".env")).collect();
    found.sort();
    found
}

/// Takes a worktree away where git says that nothing would be lost; what became of it, and whether it is gone.
pub async fn take_back(host: &Host, path: &Path) -> (String, bool) {
    let (repository, branch) = match work::look(path, &[]).await {
        Work::Gone => return ("was gone already".into(), true),
        Work::Held(why) => return (format!("kept: the worktree {why}"), false),
        Work::Free { repository, branch, .. } => (repository, branch),
    };
    // Without --force: git looks once more.
    let out = git(&repository).args(["worktree", "remove"]).arg(path).limit(LIMIT).output().await;
    match out {
        Ok(out) if out.success() => {}
        Ok(out) => return (format!("kept: {}", out.error_text().lines().last().unwrap_or_default()), false),
        Err(e) => return (format!("kept: {e}"), false),
    }
    if let Some(branch) = branch.filter(|branch| branch.starts_with(OURS)) {
        // Small -d: a branch with commits that are nowhere else stays.
        let _ = git(&repository).args(["branch", "-q", "-d", &branch]).output().await;
    }
    let _ = std::fs::remove_dir(host.home.join(FOLDER));
    ("removed".into(), true)
}

/// Branches of ours in a repository.
pub async fn branches(repository: &Path) -> Vec<String> {
    let refs = format!("refs/heads/{OURS}");
    let out = git(repository).args(["for-each-ref", "--format=%(refname:short)", &refs]).output().await;
    let Ok(out) = out else { return Vec::new() };
    String::from_utf8_lossy(&out.stdout).lines().map(str::to_string).collect()
}

fn git(at: &Path) -> Run {
    work::git(at)
}

async fn asks(at: &Path, args: &[&str]) -> bool {
    git(at).args(args).output().await.is_ok_and(|out: Outcome| out.success())
}

async fn is_branch(at: &Path, name: &str) -> bool {
    asks(at, &["show-ref", "--verify", "-q", &format!("refs/heads/{name}")]).await
}

/// A name as part of a path and of a branch.
fn word(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "agent".into() } else { plain.to_string() }
}

fn numbered(word: &str, n: u32) -> String {
    if n == 1 { word.to_string() } else { format!("{word}-{n}") }
}

fn free(name: impl Fn(u32) -> PathBuf, taken: impl Fn(&Path) -> bool) -> PathBuf {
    let mut n = 1;
    loop {
        let path = name(n);
        if !taken(&path) {
            return path;
        }
        n += 1;
    }
}

//! Whether anything of the user's work would go with a worktree. Asks git; when in doubt, there is work in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::host::process::{Outcome, Run, RunError};
use crate::project::Project;

/// What a worktree holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// The folder is not there any more.
    Gone,
    /// It may go.
    Free {
        /// The repository's common git folder, from which it can be made again.
        repository: PathBuf,
        /// Its branch.
        branch: Option<String>,
        /// Its commit.
        head: String,
        /// Ignored folders in it that a build makes again.
        along: Vec<String>,
    },
    /// It stays, for this reason (a phrase after "the worktree").
    Held(String),
}

/// Folders that are made anew by a build or an installation.
const REBUILT: &[&str] = &[
    "target",
    "node_modules",
    "__pycache__",
    ".venv",
    "venv",
    "dist",
    "build",
    ".next",
    ".svelte-kit",
    ".gradle",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
];

/// What git keeps while something is half-done.
const HALF_DONE: &[(&str, &str)] = &[
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisection"),
];

/// Nothing of the repository's own configuration may start a program here, and no variable may name another one.
pub fn git(at: &Path) -> Run {
    let run = Run::new("git").args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    let run = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE"]
        .iter()
        .fold(run, Run::env_remove);
    run.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C").cwd(at).limit(Duration::from_secs(20))
}

async fn ask(at: &Path, args: &[&str]) -> Result<Outcome, String> {
    let out =
        git(at).args(args).output().await.map_err(|e: RunError| format!("could not be looked at: {e}"))?;
    if out.success() {
        return Ok(out);
    }
    let said = out.error_text().lines().next().unwrap_or_default().to_string();
    Err(format!("could not be looked at: git said {said:?}"))
}

/// Looks at a worktree. `ours` are files of ours in it, which go before it does.
pub async fn look(path: &Path, ours: &[&Path]) -> Work {
    if !path.is_dir() {
        return Work::Gone;
    }
    match looked(path, ours).await {
        Ok(work) => work,
        Err(why) => Work::Held(why),
    }
}

async fn looked(path: &Path, ours: &[&Path]) -> Result<Work, String> {
    let held = |why: &str| Ok(Work::Held(why.to_string()));
    let real = path.canonicalize().map_err(|e| format!("could not be looked at: {e}"))?;
    let project = Project::of(&real);
    let (Some(top), Some(own), Some(common)) = (project.worktree, project.git_dir, project.common_dir) else {
        return held("is no git worktree any more");
    };
    if top != real || own == common || !own.starts_with(common.join("worktrees")) {
        return held("is not a linked worktree of its repository");
    }
    if own.join("locked").exists() {
        return held("is locked");
    }
    if let Some((_, what)) = HALF_DONE.iter().find(|(file, _)| own.join(file).exists()) {
        return Ok(Work::Held(format!("has {what} half-done")));
    }
    if own.join("modules").exists() || submodules(&real).await? {
        return held("has submodules");
    }
    let along = match files(&real, ours).await? {
        Ok(along) => along,
        Err(why) => return Ok(Work::Held(why)),
    };
    let flagged = ask(&real, &["ls-files", "-v", "-z"]).await?;
    // Lower case: changes are not looked for. S: the file is not to be there.
    let is_flagged = |entry: &[u8]| entry.first().is_some_and(|f| f.is_ascii_lowercase() || *f == b'S');
    if flagged.stdout.split(|b| *b == 0).any(is_flagged) {
        return held("has files whose changes git was told to overlook");
    }
    let commit = match ask(&real, &["rev-parse", "--verify", "-q", "HEAD^{commit}"]).await {
        Ok(out) => out.text(),
        Err(_) => return held("has no commit yet"),
    };
    let named = git(&real).args(["symbolic-ref", "-q", "--short", "HEAD"]).output().await;
    let branch = named.ok().filter(Outcome::success).map(|out| out.text());
    let stashes = ask(&real, &["stash", "list", "--format=%gs"]).await?.text();
    let on = branch.as_deref().unwrap_or("(no branch)");
    let is_here =
        |line: &str| [format!("WIP on {on}:"), format!("On {on}:")].iter().any(|b| line.starts_with(b));
    if stashes.lines().any(is_here) {
        return held("has stashed work");
    }
    let known = ["for-each-ref", "--format=%(refname)", "--contains", &commit, "refs/heads", "refs/remotes"];
    let own_ref = branch.as_ref().map(|branch| format!("refs/heads/{branch}"));
    if !ask(&real, &known).await?.text().lines().any(|name| Some(name) != own_ref.as_deref()) {
        return held("has commits that are neither pushed nor merged");
    }
    Ok(Work::Free { repository: common, branch, head: commit, along })
}

async fn submodules(top: &Path) -> Result<bool, String> {
    let staged = ask(top, &["ls-files", "--stage", "-z"]).await?;
    Ok(staged.stdout.split(|b| *b == 0).any(|entry| entry.starts_with(b"160000 ")))
}

/// The ignored folders that can be built again, or why the files in the worktree have to stay.
async fn files(top: &Path, ours: &[&Path]) -> Result<Result<Vec<String>, String>, String> {
    let args =
        ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames"];
    let status = ask(top, &args).await?;
    let (mut changed, mut new, mut ignored, mut along) = (0, 0, Vec::new(), Vec::new());
    for entry in status.stdout.split(|b| *b == 0).filter(|entry| entry.len() > 3) {
        let name = String::from_utf8_lossy(&entry[3..]).into_owned();
        if ours.iter().any(|path| *path == top.join(name.trim_end_matches('/'))) {
            continue;
        }
        match &entry[..2] {
            b"!!" => {
                let base = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                if name.ends_with('/') && REBUILT.contains(&base) {
                    along.push(name);
                } else {
                    ignored.push(name);
                }
            }
            b"??" => new += 1,
            _ => changed += 1,
        }
    }
    let some = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    if changed > 0 {
        return Ok(Err(format!("has {}", some(changed, "changed file", "changed files"))));
    }
    if new > 0 {
        return Ok(Err(format!("has {}", some(new, "file git does not know", "files git does not know"))));
    }
    if !ignored.is_empty() {
        let shown: Vec<&str> = ignored.iter().take(3).map(String::as_str).collect();
        let more = if ignored.len() > 3 { " and more" } else { "" };
        return Ok(Err(format!("has ignored files that nothing else keeps: {}{more}", shown.join(", "))));
    }
    Ok(Ok(along))
}

/// Whether a worktree with that commit is there.
pub(super) async fn is_at(path: &Path, head: &str) -> bool {
    path.join(".git").is_file() && ask(path, &["rev-parse", "HEAD"]).await.is_ok_and(|out| out.text() == head)
}

/// Takes a worktree away; git itself refuses once more where there is work in it.
pub(super) async fn remove(repository: &Path, path: &Path) -> Result<(), String> {
    let out = git(repository).args(["worktree", "remove", "--"]).arg(path).output().await;
    settled(out)
}

/// Makes it again.
pub(super) async fn restore(
    repository: &Path,
    path: &Path,
    branch: Option<&str>,
    head: &str,
) -> Result<(), String> {
    let run = git(repository).args(["worktree", "add", "-q"]);
    let run = if branch.is_none() { run.arg("--detach") } else { run };
    settled(run.arg("--").arg(path).arg(branch.unwrap_or(head)).limit(Duration::from_mins(2)).output().await)
}

fn settled(out: Result<Outcome, RunError>) -> Result<(), String> {
    match out {
        Ok(out) if out.success() => Ok(()),
        Ok(out) => Err(format!("git said {:?}", out.error_text().lines().last().unwrap_or_default())),
        Err(e) => Err(e.to_string()),
    }
}

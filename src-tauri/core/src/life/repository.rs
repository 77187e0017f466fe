//! What git says of an agent's folder: where it stands, what is not committed, what came between two commits.
//!
//! Git is only asked, with a limit of time, and nothing of a repository's own configuration may start a program. A
//! folder without a repository, or a machine without git, is no error: there is just nothing to say.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::capture::redact::redact;
use crate::host::process::{Outcome, Run};
use crate::project::Project;

/// How long git may take to answer one question.
const LIMIT: Duration = Duration::from_secs(5);
/// Paths kept of what is not committed; more are counted.
const PATHS: usize = 200;
/// Commits and files told of what came between; more are counted.
const TOLD: usize = 40;

/// Where a repository stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// The commit; absent before the first one.
    pub head: Option<String>,
    /// The branch; absent where none is checked out.
    pub branch: Option<String>,
    /// What the branch follows.
    pub upstream: Option<String>,
    /// Commits that the upstream lacks, and that it has besides.
    pub ahead_behind: Option<(u64, u64)>,
    /// Number of paths with changes for the next commit.
    pub staged: usize,
    /// Number of paths with changes beside it.
    pub unstaged: usize,
    /// Number of paths git does not know.
    pub untracked: usize,
    /// What is not committed, path by path.
    pub dirty: Vec<Dirty>,
    /// How many further paths are not committed.
    pub more: usize,
}

/// One path that is not committed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dirty {
    /// Path from the top of the worktree.
    pub path: String,
    /// Git's two letters for it, `??` where it does not know it.
    pub status: String,
    /// Lines added and removed since the commit, where git counts them.
    pub lines: Option<(u64, u64)>,
    /// Size in bytes and time of the last change in nanoseconds; absent for one that is not there.
    pub stamp: Option<(u64, u64)>,
}

/// One commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Short id.
    pub id: String,
    /// Who made it.
    pub author: String,
    /// Its first line.
    pub subject: String,
}

/// One file and how many lines of it differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differs {
    /// Path from the top of the worktree.
    pub path: String,
    /// Lines added and removed, where git counts them.
    pub lines: Option<(u64, u64)>,
}

/// What came between two commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Between {
    /// Commits, newest first.
    pub commits: Vec<Commit>,
    /// How many further commits there are.
    pub more_commits: u64,
    /// Commits of the first that the second lacks: history was rewritten, or another branch is meant.
    pub left_behind: u64,
    /// Files that differ.
    pub files: Vec<Differs>,
    /// How many further files differ.
    pub more_files: usize,
}

fn git(folder: &Path) -> Run {
    Run::new("git")
        .args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.quotePath=false",
            "-c",
            "diff.external=",
            "--no-pager",
        ])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .cwd(folder)
        .limit(LIMIT)
}

async fn asked(run: Run) -> Option<Outcome> {
    run.output().await.ok().filter(Outcome::success)
}

/// Where the repository of that folder stands; `None` where there is none, or git does not say in time.
pub async fn standing(folder: &Path) -> Option<Standing> {
    let top = Project::of(folder).worktree?;
    let status = ["status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty"];
    let mut standing = read_status(&asked(git(&top).args(status)).await?.stdout);
    if standing.head.is_some() && !standing.dirty.is_empty() {
        let diff =
            ["diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-renames", "HEAD", "--"];
        let counted = asked(git(&top).args(diff)).await;
        let counted = counted.map(|o| read_numstat(&o.stdout)).unwrap_or_default();
        for dirty in &mut standing.dirty {
            dirty.lines = counted.iter().find(|d| d.path == dirty.path).and_then(|d| d.lines);
        }
    }
    for dirty in &mut standing.dirty {
        dirty.stamp = stamp(&top.join(&dirty.path));
        dirty.path = redact(&dirty.path).into_owned();
    }
    standing.branch = standing.branch.map(|name| redact(&name).into_owned());
    Some(standing)
}

/// Branch, and number of paths in that folder that are not committed; `None` where git does not say in that time.
///
/// It is asked of repositories nobody has agreed to yet, so nothing that a repository's own configuration names is
/// started: no filter, no monitor, and nothing is fetched.
pub async fn changed(folder: &Path, limit: Duration) -> Option<(Option<String>, usize)> {
    let project = Project::of(folder);
    let mut run = git(folder).env("GIT_NO_LAZY_FETCH", "1").limit(limit);
    for filter in filters(folder, &project, limit).await? {
        run = run.args(["-c", &filter]);
    }
    let status = ["status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty"];
    let status = asked(run.args(status).args(["--untracked-files=normal", "--", "."])).await?;
    let standing = read_status(&status.stdout);
    Some((standing.branch, standing.dirty.len() + standing.more))
}

/// Settings that take away the filters a repository itself configures; `None` where they cannot all be named.
async fn filters(folder: &Path, project: &Project, limit: Duration) -> Option<Vec<String>> {
    let may = |file: std::path::PathBuf| {
        let text = std::fs::read(file).unwrap_or_default().to_ascii_lowercase();
        ["filter", "include"].iter().any(|word| memchr::memmem::find(&text, word.as_bytes()).is_some())
    };
    let own = project.git_dir.iter().map(|dir| dir.join("config.worktree"));
    let common = project.common_dir.iter().map(|dir| dir.join("config"));
    if !own.chain(common).any(may) {
        return Some(Vec::new());
    }
    let mut names = Vec::new();
    for scope in ["--local", "--worktree"] {
        let ask = ["config", scope, "--includes", "--name-only", "-z", "--get-regexp", r"^filter\."];
        let said = git(folder).limit(limit).args(ask).output().await.ok()?;
        names.extend(String::from_utf8(said.stdout).ok()?.split('\0').map(str::to_owned));
    }
    let programs = names.iter().filter(|name| !name.is_empty());
    // An equals sign in a name would end it there.
    programs
        .map(|name| match name.rsplit_once('.')? {
            _ if name.contains('=') => None,
            (_, "required") => Some(format!("{name}=false")),
            _ => Some(format!("{name}=")),
        })
        .collect()
}

/// Whether that text is a commit's id and nothing else, so that git takes it for no option.
fn is_id(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether the repository of that folder still has that commit.
pub async fn has(folder: &Path, commit: &str) -> bool {
    is_id(commit)
        && asked(git(folder).args(["cat-file", "-e", &format!("{commit}^{{commit}}")])).await.is_some()
}

/// The commit the repository of that folder stood at before a moment, as far as its commits' dates tell.
pub async fn head_before(folder: &Path, at: DateTime<Utc>) -> Option<String> {
    let before = format!("--before={}", at.to_rfc3339());
    let found = asked(git(folder).args(["rev-list", "--max-count=1", &before, "HEAD", "--"])).await?.text();
    Some(found).filter(|id| is_id(id))
}

/// What came between two commits of the repository of that folder; `None` where one of them is gone.
pub async fn between(folder: &Path, from: &str, to: &str) -> Option<Between> {
    if !has(folder, from).await || !has(folder, to).await {
        return None;
    }
    let since = format!("{from}..{to}");
    let count = async |range: String| {
        let counted = asked(git(folder).args(["rev-list", "--count", &range, "--"])).await?;
        counted.text().parse::<u64>().ok()
    };
    let most = format!("--max-count={TOLD}");
    let log = ["log", "-z", &most, "--no-show-signature", "--format=%h%x1f%an%x1f%s", &since, "--"];
    let log = asked(git(folder).args(log)).await?;
    let commits: Vec<Commit> = log.stdout.split(|b| *b == 0).filter_map(read_commit).collect();
    let diff = ["diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-renames", from, to, "--"];
    let mut files = read_numstat(&asked(git(folder).args(diff)).await?.stdout);
    let more_files = files.len().saturating_sub(TOLD);
    files.truncate(TOLD);
    for file in &mut files {
        file.path = redact(&file.path).into_owned();
    }
    let all = count(since).await.unwrap_or(0);
    Some(Between {
        more_commits: all.saturating_sub(u64::try_from(commits.len()).unwrap_or(u64::MAX)),
        left_behind: count(format!("{to}..{from}")).await.unwrap_or(0),
        commits,
        files,
        more_files,
    })
}

/// Size and time of the last change.
fn stamp(path: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    let changed = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((meta.len(), u64::try_from(changed.as_nanos()).unwrap_or(u64::MAX)))
}

fn read_commit(record: &[u8]) -> Option<Commit> {
    let text = String::from_utf8_lossy(record);
    let mut fields = text.trim().splitn(3, '\u{1f}');
    let mut next = || fields.next().map(|field| redact(field).into_owned());
    let commit = Commit { id: next()?, author: next()?, subject: next()? };
    (!commit.id.is_empty()).then_some(commit)
}

/// `git diff --numstat -z` without renames: `ADDED TAB REMOVED TAB PATH NUL`, dashes for what is not text.
fn read_numstat(bytes: &[u8]) -> Vec<Differs> {
    let read = |record: &[u8]| {
        let mut fields = record.splitn(3, |b| *b == b'\t');
        let mut count = || std::str::from_utf8(fields.next()?).ok()?.trim().parse::<u64>().ok();
        let lines = (count(), count());
        let path = lossy(fields.next()?);
        Some(Differs { path, lines: lines.0.zip(lines.1) })
    };
    bytes.split(|b| *b == 0).filter(|record| !record.is_empty()).filter_map(read).collect()
}

fn lossy(bytes: &[u8]) -> String {
    std::ffi::OsStr::from_bytes(bytes).to_string_lossy().into_owned()
}

/// `git status --porcelain=v2 --branch -z`.
fn read_status(bytes: &[u8]) -> Standing {
    let mut standing = Standing::default();
    let mut records = bytes.split(|b| *b == 0).filter(|record| !record.is_empty());
    while let Some(record) = records.next() {
        let text = lossy(record);
        if let Some(header) = text.strip_prefix("# branch.") {
            let (key, value) = header.split_once(' ').unwrap_or((header, ""));
            match key {
                "oid" => standing.head = Some(value.to_string()).filter(|id| is_id(id)),
                "head" => standing.branch = Some(value.to_string()).filter(|name| name != "(detached)"),
                "upstream" => standing.upstream = Some(value.to_string()),
                "ab" => {
                    let mut counts = value.split(' ').map(|n| n.trim_start_matches(['+', '-']).parse().ok());
                    standing.ahead_behind = counts.next().flatten().zip(counts.next().flatten());
                }
                _ => {}
            }
            continue;
        }
        // Kind, two letters, and then a number of fields before the path that depends on the kind.
        let kind = text.chars().next().unwrap_or(' ');
        let (status, before) = match kind {
            '1' => (text.get(2..4), 8),
            '2' => {
                // The path it was renamed from is a record of its own.
                records.next();
                (text.get(2..4), 9)
            }
            'u' => (text.get(2..4), 10),
            '?' => (Some("??"), 1),
            _ => continue,
        };
        let (Some(status), Some(path)) = (status, text.splitn(before + 1, ' ').nth(before)) else { continue };
        match status.as_bytes() {
            b"??" => standing.untracked += 1,
            [staged, unstaged] => {
                standing.staged += usize::from(*staged != b'.');
                standing.unstaged += usize::from(*unstaged != b'.');
            }
            _ => continue,
        }
        if standing.dirty.len() < PATHS {
            standing.dirty.push(Dirty {
                path: path.to_string(),
                status: status.to_string(),
                ..Dirty::default()
            });
        } else {
            standing.more += 1;
        }
    }
    standing
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run(folder: &Path, args: &[&str]) {
        let git = Run::new("git").args(["-c", "user.name=An Author", "-c", "user.email=a@example.invalid"]);
        let done = git.args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").cwd(folder).output().await.unwrap();
        assert!(done.success(), "git {args:?}: {}", done.error_text());
    }

    async fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        run(dir.path(), &["init", "-q", "-b", "main"]).await;
        dir
    }

    async fn commit(folder: &Path, file: &str, text: &str, subject: &str) -> String {
        std::fs::write(folder.join(file), text).unwrap();
        run(folder, &["add", "-A"]).await;
        run(folder, &["commit", "-q", "--no-gpg-sign", "-m", subject]).await;
        standing(folder).await.unwrap().head.unwrap()
    }

    #[tokio::test]
    async fn a_folder_without_a_repository_has_no_standing() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(standing(dir.path()).await, None);
        assert_eq!(standing(Path::new("/nowhere/at-all")).await, None);
    }

    #[tokio::test]
    async fn what_is_not_committed_is_counted_and_named() {
        let dir = repository().await;
        let folder = dir.path();
        let unborn = standing(folder).await.unwrap();
        assert_eq!((unborn.head, unborn.branch.as_deref()), (None, Some("main")));
        commit(folder, "a file.txt", "one\ntwo\n", "first").await;
        std::fs::write(folder.join("a file.txt"), "one\n2\n").unwrap();
        std::fs::write(folder.join("新しい.txt"), "x").unwrap();
        std::fs::write(folder.join("staged"), "x\n").unwrap();
        run(folder, &["add", "staged"]).await;
        let standing = standing(folder).await.unwrap();
        assert_eq!((standing.staged, standing.unstaged, standing.untracked, standing.more), (1, 1, 1, 0));
        let of = |path: &str| standing.dirty.iter().find(|d| d.path == path).unwrap().clone();
        assert_eq!((&*of("a file.txt").status, of("a file.txt").lines), (".M", Some((1, 1))));
        assert_eq!((&*of("新しい.txt").status, of("新しい.txt").lines), ("??", None));
        assert_eq!(of("新しい.txt").stamp.map(|s| s.0), Some(1));
    }

    #[tokio::test]
    async fn changed_paths_are_counted_in_the_folder_and_no_program_of_the_repository_is_started() {
        let dir = repository().await;
        let folder = dir.path();
        let sub = folder.join("sub");
        std::fs::create_dir(&sub).unwrap();
        std::fs::write(sub.join("b"), "1").unwrap();
        commit(folder, "a", "1\n", "first").await;
        let limit = Duration::from_secs(5);
        assert_eq!(changed(folder, limit).await, Some((Some("main".into()), 0)));
        let touch = format!("touch '{}'; cat", folder.join("started").display());
        for (key, value) in [("filter.bad.x.clean", &*touch), ("filter.bad.x.required", "true")] {
            run(folder, &["config", key, value]).await;
        }
        run(folder, &["config", "core.fsmonitor", &touch]).await;
        std::fs::write(folder.join(".gitattributes"), "* filter=bad.x\n").unwrap();
        std::fs::write(folder.join("a"), "2\n").unwrap();
        assert_eq!(changed(folder, limit).await, Some((Some("main".into()), 2)));
        assert_eq!(changed(&sub, limit).await, Some((Some("main".into()), 0)), "only what lies in it");
        run(folder, &["config", "filter.a=b.clean", &touch]).await;
        assert_eq!(changed(folder, limit).await, None);
        assert!(!folder.join("started").exists());
        assert_eq!(changed(Path::new("/nowhere/at-all"), limit).await, None);
    }

    #[tokio::test]
    async fn between_two_commits_stand_authors_subjects_and_files() {
        let dir = repository().await;
        let folder = dir.path();
        let first = commit(folder, "a", "1\n", "first").await;
        let second = commit(folder, "b", "1\n2\n", "second: `$(touch x)`").await;
        let came = between(folder, &first, &second).await.unwrap();
        assert_eq!(came.commits.len(), 1);
        assert_eq!(
            (&*came.commits[0].author, &*came.commits[0].subject),
            ("An Author", "second: `$(touch x)`")
        );
        assert_eq!(came.files, [Differs { path: "b".into(), lines: Some((2, 0)) }]);
        assert_eq!((came.left_behind, came.more_commits), (0, 0));
        let back = between(folder, &second, &first).await.unwrap();
        assert_eq!((back.commits.len(), back.left_behind), (0, 1));
        assert_eq!(between(folder, &"0".repeat(40), &second).await, None, "that commit is gone");
        assert_eq!(between(folder, "--output=/tmp/x", &second).await, None, "no option reaches git");
    }

    #[test]
    fn a_rename_and_a_conflict_are_read() {
        let status = b"# branch.oid 1234567890\0# branch.head (detached)\0# branch.ab +2 -1\0\
            2 R. N... 100644 100644 100644 aaa bbb R100 new name\0old name\0\
            u UU N... 100644 100644 100644 100644 aaa bbb ccc both\0? x\0! ignored\0garbage\0";
        let standing = read_status(status);
        assert_eq!(standing.ahead_behind, Some((2, 1)));
        assert_eq!(standing.branch, None);
        let paths: Vec<_> = standing.dirty.iter().map(|d| (&*d.status, &*d.path)).collect();
        assert_eq!(paths, [("R.", "new name"), ("UU", "both"), ("??", "x")]);
    }
}

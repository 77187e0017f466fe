//! Both ways in real folders and real repositories.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use super::*;
use crate::agent::{CLAUDE_CODE, Reads};
use crate::host::Host;
use crate::host::process::Run;
use crate::project::Project;
use crate::registry::Registry;
use crate::registry::change::Change;
use crate::spawn::passed::Way;

const BRIEFING: &str = "# Recorded observations\n- 支付 uses port 8443\n";
/// A host agent that reads one instructions file and knows no imports.
const PLAIN: Reads = Reads { instructions: "AGENTS.md", rules: None, import: None, limit: None };
const IMPORTS: Reads = Reads { instructions: "CLAUDE.md", rules: None, import: Some("@"), limit: None };

struct World {
    dir: tempfile::TempDir,
    host: Host,
    registry: Registry,
    top: PathBuf,
}

fn noon() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc()
}

impl World {
    async fn plain() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let top = root.join("my project [1]");
        fs::create_dir(&top).unwrap();
        let host = Host {
            pao_home: root.join("pao"),
            cwd: root.clone(),
            exe: root.join("pao-exe"),
            frozen: Some(noon()),
            ..Host::at(&root.join("home"))
        };
        let registry = Registry::open(&host.registry_file()).await.unwrap();
        Self { dir, host, registry, top }
    }

    async fn repository() -> Self {
        let world = Self::plain().await;
        world.git(&["init", "-q", "-b", "main", "."]).await;
        fs::write(world.top.join("code.rs"), "fn main() {}\n").unwrap();
        world.git(&["add", "-A"]).await;
        world.git(&["commit", "-q", "-m", "first"]).await;
        world
    }

    async fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let outcome = Run::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=n@example.org"])
            .args(args)
            .cwd(folder)
            .env("HOME", self.dir.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .await
            .unwrap();
        assert!(outcome.success(), "git {args:?}: {}", outcome.error_text());
        outcome.text()
    }

    async fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.top, args).await
    }

    async fn status(&self) -> String {
        self.git(&["status", "--porcelain"]).await
    }

    async fn plan_at(
        &self,
        agent: &str,
        folder: &Path,
        way: Way,
        reads: Reads,
    ) -> Result<Plan, DeliverError> {
        let project = Project::of(folder);
        let wanted = Wanted {
            agent,
            way,
            folder,
            project: &project,
            briefing: BRIEFING,
            hook_text: "hook",
            reads,
            context: None,
        };
        plan(&self.host, &self.registry, &wanted).await
    }

    async fn deliver_at(&self, agent: &str, folder: &Path, reads: Reads) -> Result<(), DeliverError> {
        let plan = self.plan_at(agent, folder, Way::Files, reads).await?;
        apply(&self.host, &self.registry, &plan, agent, noon()).await
    }

    async fn deliver(&self, agent: &str) -> Result<(), DeliverError> {
        self.deliver_at(agent, &self.top, CLAUDE_CODE.reads).await
    }

    async fn undo_all(&self, agent: &str) -> Vec<Undone> {
        let mut undone = Vec::new();
        for entry in self.registry.open_changes(Some(agent)).await.unwrap() {
            undone.extend(undo(&self.host, &self.registry, &entry).await.unwrap());
        }
        undone
    }

    /// Every path below the project with its bytes; git's index and logs move by themselves.
    fn tree(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut tree = BTreeMap::new();
        let mut open = vec![self.top.clone()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with(".git/index") {
                    continue;
                }
                if path.is_dir() {
                    open.push(path.clone());
                    tree.insert(path, None);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    tree.insert(path, Some(bytes));
                }
            }
        }
        tree
    }
}

#[tokio::test]
async fn the_session_way_writes_into_the_private_folder_only() {
    let world = World::plain().await;
    let before = world.tree();
    let plan = world.plan_at("a1", &world.top, Way::Session, CLAUDE_CODE.reads).await.unwrap();
    assert_eq!(plan.describe(&world.host).len(), 3);
    assert!(!world.host.agent_dir("a1").exists());
    apply(&world.host, &world.registry, &plan, "a1", noon()).await.unwrap();
    let dir = world.host.agent_dir("a1");
    assert_eq!(fs::read_to_string(dir.join(BRIEFING_FILE)).unwrap(), BRIEFING);
    assert_eq!(fs::read_to_string(dir.join(HOOK_FILE)).unwrap(), "hook");
    assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(dir.join(HOOK_FILE)).unwrap().mode() & 0o777, 0o600);
    assert_eq!(world.tree(), before);
    assert_eq!(world.undo_all("a1").await, [Undone::Removed]);
    assert!(!dir.exists());
}

#[tokio::test]
async fn the_files_way_is_invisible_to_git_and_goes_without_a_trace() {
    let world = World::repository().await;
    let before = world.tree();
    world.deliver("a1").await.unwrap();
    let rule = fs::read_to_string(world.top.join(".claude/rules/pao-briefing.md")).unwrap();
    assert!(
        rule.ends_with("\n@../../CONTEXT_BRIEFING.md\n") && rule.contains("never to be obeyed"),
        "{rule}"
    );
    assert_eq!(fs::read_to_string(world.top.join(BRIEFING_FILE)).unwrap(), BRIEFING);
    assert_eq!(world.status().await, "");
    fs::write(world.top.join("new.rs"), "x").unwrap();
    world.git(&["stash", "-u", "-q"]).await;
    assert!(world.top.join(BRIEFING_FILE).exists());
    world.git(&["stash", "pop", "-q"]).await;
    fs::remove_file(world.top.join("new.rs")).unwrap();
    assert!(world.undo_all("a1").await.iter().all(|u| *u == Undone::Removed));
    // A stash leaves traces in `.git` by itself; all else, and the exclude file, is as before.
    let ours = |tree: BTreeMap<PathBuf, Option<Vec<u8>>>| -> BTreeMap<_, _> {
        let git = world.top.join(".git");
        tree.into_iter().filter(|(p, _)| !p.starts_with(&git) || p.starts_with(git.join("info"))).collect()
    };
    assert_eq!(ours(world.tree()), ours(before));
    assert!(world.registry.open_changes(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_folder_below_the_top_is_excluded_by_its_own_path() {
    let world = World::repository().await;
    let sub = world.top.join("pkg [a]*/b?");
    fs::create_dir_all(&sub).unwrap();
    world.deliver_at("a1", &sub, CLAUDE_CODE.reads).await.unwrap();
    assert!(sub.join(".claude/rules/pao-briefing.md").exists());
    assert_eq!(world.status().await, "");
    world.undo_all("a1").await;
    assert_eq!(fs::read_dir(&sub).unwrap().count(), 0);
}

#[tokio::test]
async fn worktrees_share_one_exclude_line_until_the_last_agent_is_gone() {
    let world = World::repository().await;
    let exclude = world.top.join(".git/info/exclude");
    fs::remove_file(&exclude).unwrap();
    fs::remove_dir(world.top.join(".git/info")).unwrap();
    let other = world.top.parent().unwrap().join("other");
    world.git(&["worktree", "add", "-q", other.to_str().unwrap()]).await;
    let _ = fs::remove_dir(world.top.join(".git/info"));
    world.deliver("a1").await.unwrap();
    world.deliver_at("b2", &other, CLAUDE_CODE.reads).await.unwrap();
    let text = fs::read_to_string(&exclude).unwrap();
    assert_eq!(text.matches("/CONTEXT_BRIEFING.md\n").count(), 1, "{text}");
    world.undo_all("a1").await;
    assert_eq!(world.git_in(&other, &["status", "--porcelain"]).await, "");
    assert_eq!(fs::read_to_string(&exclude).unwrap(), text);
    world.undo_all("b2").await;
    assert!(!exclude.exists() && !world.top.join(".git/info").exists());
}

#[tokio::test]
async fn a_line_the_user_already_has_stays_the_users() {
    let world = World::repository().await;
    let exclude = world.top.join(".git/info/exclude");
    fs::write(&exclude, "*.log\r\n/CONTEXT_BRIEFING.md\r\nlast").unwrap();
    world.deliver("a1").await.unwrap();
    assert_eq!(world.status().await, "");
    world.undo_all("a1").await;
    assert_eq!(fs::read(&exclude).unwrap(), b"*.log\r\n/CONTEXT_BRIEFING.md\r\nlast");
}

#[tokio::test]
async fn a_merge_that_brings_files_of_our_names_wins_and_is_kept() {
    let world = World::repository().await;
    world.git(&["checkout", "-q", "-b", "theirs"]).await;
    fs::write(world.top.join("CLAUDE.md"), "theirs\n").unwrap();
    fs::write(world.top.join(BRIEFING_FILE), "theirs\n").unwrap();
    world.git(&["add", "-A"]).await;
    world.git(&["commit", "-q", "-m", "theirs"]).await;
    world.git(&["checkout", "-q", "main"]).await;
    world.deliver("a1").await.unwrap();
    world.git(&["merge", "-q", "theirs"]).await;
    assert_eq!(world.status().await, "");
    let undone = world.undo_all("a1").await;
    assert_eq!(
        undone
            .iter()
            .filter(|u| matches!(u, Undone::Kept(why) if why.contains("changed by someone")))
            .count(),
        1
    );
    assert_eq!(fs::read_to_string(world.top.join(BRIEFING_FILE)).unwrap(), "theirs\n");
    assert_eq!(fs::read_to_string(world.top.join("CLAUDE.md")).unwrap(), "theirs\n");
    assert_eq!(world.status().await, "");
    assert!(!world.top.join(".claude").exists());
}

#[tokio::test]
async fn a_file_of_our_name_that_is_not_ours_is_never_touched() {
    for name in [BRIEFING_FILE, ".claude/rules/pao-briefing.md"] {
        let world = World::plain().await;
        fs::create_dir_all(world.top.join(".claude/rules")).unwrap();
        fs::write(world.top.join(name), "mine").unwrap();
        let before = world.tree();
        assert!(matches!(world.deliver("a1").await, Err(DeliverError::NotOurs(_))));
        assert_eq!(world.tree(), before);
    }
    let world = World::repository().await;
    fs::write(world.top.join(BRIEFING_FILE), "mine").unwrap();
    world.git(&["add", "-A"]).await;
    world.git(&["commit", "-q", "-m", "mine"]).await;
    fs::remove_file(world.top.join(BRIEFING_FILE)).unwrap();
    assert!(matches!(world.deliver("a1").await, Err(DeliverError::Tracked(_))));
}

#[tokio::test]
async fn a_second_agent_in_the_folder_is_told_whose_place_it_is() {
    let world = World::repository().await;
    world.deliver("a1").await.unwrap();
    let error = world.deliver("b2").await.unwrap_err();
    assert!(matches!(&error, DeliverError::InUse { agent, .. } if agent == "a1"));
    assert!(error.session_way_helps());
}

#[tokio::test]
async fn a_file_that_appears_between_plan_and_apply_makes_all_of_it_go_back() {
    let world = World::repository().await;
    let plan = world.plan_at("a1", &world.top, Way::Files, CLAUDE_CODE.reads).await.unwrap();
    fs::write(world.top.join(BRIEFING_FILE), "mine").unwrap();
    let before = world.tree();
    assert!(apply(&world.host, &world.registry, &plan, "a1", noon()).await.is_err());
    assert_eq!(world.tree(), before);
    assert!(world.registry.open_changes(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn links_and_things_in_the_way_are_refused_before_anything_is_written() {
    let world = World::plain().await;
    let elsewhere = world.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, world.top.join(".claude")).unwrap();
    assert!(matches!(world.deliver("a1").await, Err(DeliverError::Link(_))));
    fs::remove_file(world.top.join(".claude")).unwrap();
    fs::write(world.top.join(".claude"), "a file").unwrap();
    assert!(matches!(world.deliver("a1").await, Err(DeliverError::NotWritable { .. })));
    let inside = world.top.join(".git/hooks");
    fs::create_dir_all(&inside).unwrap();
    assert!(matches!(
        world.deliver_at("a1", &inside, CLAUDE_CODE.reads).await,
        Err(DeliverError::InsideGit(_))
    ));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(!world.top.join(BRIEFING_FILE).exists());
}

#[tokio::test]
async fn the_block_goes_through_a_link_and_leaves_it_a_link() {
    for (link, target) in [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")] {
        let world = World::repository().await;
        fs::write(world.top.join(target), "# Rules\r\nno final newline").unwrap();
        symlink(target, world.top.join(link)).unwrap();
        world.git(&["add", "-A"]).await;
        world.git(&["commit", "-q", "-m", "rules"]).await;
        world.deliver_at("a1", &world.top, IMPORTS).await.unwrap();
        let text = fs::read_to_string(world.top.join(target)).unwrap();
        assert!(text.contains("\r\n@CONTEXT_BRIEFING.md\r\n"), "{text}");
        assert!(fs::symlink_metadata(world.top.join(link)).unwrap().is_symlink());
        assert_eq!(world.status().await, format!(" M {target}"));
        world.undo_all("a1").await;
        assert_eq!(world.status().await, "");
    }
}

#[tokio::test]
async fn an_instructions_file_outside_the_project_is_refused() {
    let world = World::plain().await;
    let outside = world.dir.path().join("shared.md");
    fs::write(&outside, "shared").unwrap();
    symlink(&outside, world.top.join("AGENTS.md")).unwrap();
    assert!(matches!(world.deliver_at("a1", &world.top, PLAIN).await, Err(DeliverError::Outside { .. })));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "shared");
}

#[tokio::test]
async fn a_damaged_instructions_file_is_refused_with_its_line_and_waits_for_the_user() {
    let world = World::plain().await;
    let file = world.top.join("AGENTS.md");
    let text = "# Repo\nkeep1\n<!-- pao:briefing:begin agent=a1 -->\nold\nkeep2";
    fs::write(&file, text).unwrap();
    let error = world.deliver_at("a1", &world.top, PLAIN).await.unwrap_err().to_string();
    assert!(error.contains("AGENTS.md, line 3"), "{error}");
    world
        .registry
        .plan_change("a1", &Change::Block { path: file.clone(), created: false }, noon())
        .await
        .unwrap();
    assert!(matches!(&world.undo_all("a1").await[..], [Undone::Waiting(why)] if why.contains("line 3")));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(world.registry.open_changes(None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_instructions_file_we_made_goes_again_unless_someone_wrote_into_it() {
    let world = World::plain().await;
    world.deliver_at("a1", &world.top, PLAIN).await.unwrap();
    world.undo_all("a1").await;
    assert_eq!(fs::read_dir(&world.top).unwrap().count(), 0);
    world.deliver_at("b2", &world.top, PLAIN).await.unwrap();
    let file = world.top.join("AGENTS.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}mine\n")).unwrap();
    world.undo_all("b2").await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
}

#[tokio::test]
async fn the_sweep_takes_what_dead_agents_left_and_nothing_of_the_living() {
    let world = World::repository().await;
    let sub = world.top.join("sub");
    fs::create_dir(&sub).unwrap();
    world.deliver("dead").await.unwrap();
    world.deliver_at("live", &sub, CLAUDE_CODE.reads).await.unwrap();
    fs::write(world.top.join(BRIEFING_FILE), "the user's now").unwrap();
    let swept = sweep(&world.host, &world.registry, |agent| agent == "live").await.unwrap();
    assert!(swept.iter().all(|(entry, undone)| entry.agent == "dead" && undone.is_ok()));
    assert_eq!(fs::read_to_string(world.top.join(BRIEFING_FILE)).unwrap(), "the user's now");
    assert!(!world.top.join(".claude").exists());
    assert!(sub.join(BRIEFING_FILE).exists());
    assert_eq!(world.status().await, "?? CONTEXT_BRIEFING.md");
}

#[tokio::test]
async fn a_change_that_was_only_planned_is_undone_by_looking() {
    let world = World::plain().await;
    let path = world.top.join(BRIEFING_FILE);
    let change = Change::File { path: path.clone(), sha256: crate::host::files::sha256(BRIEFING.as_bytes()) };
    world.registry.plan_change("a1", &change, noon()).await.unwrap();
    assert_eq!(world.undo_all("a1").await, [Undone::Gone]);
    world.registry.plan_change("a1", &change, noon()).await.unwrap();
    fs::write(&path, BRIEFING).unwrap();
    assert_eq!(world.undo_all("a1").await, [Undone::Removed]);
    assert!(!path.exists());
}

#[tokio::test]
async fn what_a_killed_writer_left_half_written_goes_with_its_change_and_a_living_ones_stays() {
    let world = World::plain().await;
    let path = world.top.join(BRIEFING_FILE);
    let gone = Run::new("/bin/sh").args(["-c", "echo $$"]).output().await.unwrap().text();
    let [half, living] =
        [gone, std::process::id().to_string()].map(|pid| world.top.join(format!(".pao-{pid}-aB3xYz.tmp")));
    let [anonymous, foreign] = [".pao-aB3xYz.tmp", ".pao-7-notes.tmp"].map(|name| world.top.join(name));
    for file in [&half, &living, &anonymous, &foreign] {
        fs::write(file, "half").unwrap();
    }
    let change = Change::File { path: path.clone(), sha256: crate::host::files::sha256(BRIEFING.as_bytes()) };
    world.registry.plan_change("a1", &change, noon()).await.unwrap();
    assert_eq!(world.undo_all("a1").await, [Undone::Gone]);
    assert!(!half.exists() && living.exists() && anonymous.exists() && foreign.exists());
}

#[tokio::test]
async fn only_an_agents_own_folder_is_ever_removed_with_its_contents() {
    let world = World::plain().await;
    for path in [world.top.clone(), world.host.pao_home.clone(), world.host.pao_home.join("agents/..")] {
        world.registry.plan_change("a1", &Change::Private { path }, noon()).await.unwrap();
    }
    assert!(world.undo_all("a1").await.iter().all(|u| matches!(u, Undone::Kept(_))));
    assert!(world.top.exists() && world.host.registry_file().exists());
}

/// Lets a future run until it has been looked at `polls` times, then drops it, as Ctrl-C does.
async fn stopped_after<T>(polls: u32, work: impl Future<Output = T>) -> Option<T> {
    let mut work = Box::pin(work);
    let mut left = polls;
    std::future::poll_fn(move |context| {
        if left == 0 {
            return std::task::Poll::Ready(None);
        }
        left -= 1;
        work.as_mut().poll(context).map(Some)
    })
    .await
}

#[tokio::test]
async fn stopped_anywhere_it_leaves_only_what_undo_takes_back() {
    let world = World::repository().await;
    fs::remove_dir_all(world.top.join(".git/info")).unwrap();
    fs::write(world.top.join("CLAUDE.md"), "mine").unwrap();
    let before = world.tree();
    for reads in [CLAUDE_CODE.reads, IMPORTS] {
        let plan = world.plan_at("a1", &world.top, Way::Files, reads).await.unwrap();
        let mut polls = 0;
        loop {
            polls += 1;
            let done = stopped_after(polls, apply(&world.host, &world.registry, &plan, "a1", noon())).await;
            for (path, bytes) in world.tree() {
                let whole = bytes.is_none_or(|b| path.starts_with(world.top.join(".git")) || !b.is_empty());
                assert!(whole && path.extension().is_none_or(|e| e != "tmp"), "{}", path.display());
            }
            world.undo_all("a1").await;
            assert_eq!(world.tree(), before, "after {polls} looks");
            assert!(world.registry.open_changes(None).await.unwrap().is_empty());
            if done.is_some() {
                break;
            }
        }
        assert!(polls > 8, "it was never stopped between its steps");
    }
}

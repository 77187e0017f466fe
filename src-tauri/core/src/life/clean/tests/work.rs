//! What keeps a worktree: each kind of work in a real repository.

use super::super::work::{Work, look};
use super::*;

struct Linked {
    world: World,
    repository: PathBuf,
    path: PathBuf,
}

impl Linked {
    async fn new() -> Self {
        let world = World::new().await;
        let repository = world.repository("code/api").await;
        let path = world.root.join("trees/api-1");
        world.git(&repository, &["worktree", "add", "-q", "-b", "pao/api", path.to_str().unwrap()]).await;
        Self { world, repository, path }
    }

    async fn git(&self, args: &[&str]) -> String {
        self.world.git(&self.path, args).await
    }

    async fn commit(&self) {
        fs::write(self.path.join("new.rs"), "// new\n").unwrap();
        self.git(&["add", "-A"]).await;
        self.git(&["commit", "-q", "-m", "second"]).await;
    }

    async fn held(&self, because: &str) {
        match look(&self.path, &[]).await {
            Work::Held(why) => assert!(why.contains(because), "{why}"),
            other => panic!("{because}: {other:?}"),
        }
    }

    async fn is_free(&self) {
        let looked = look(&self.path, &[]).await;
        assert!(matches!(looked, Work::Free { .. }), "{looked:?}");
    }
}

#[tokio::test]
async fn work_of_every_kind_keeps_a_worktree() {
    let linked = Linked::new().await;
    let path = &linked.path;
    linked.is_free().await;
    fs::write(path.join("code.rs"), "fn main() { todo() }\n").unwrap();
    linked.held("1 changed file").await;
    linked.git(&["add", "-A"]).await;
    linked.held("1 changed file").await;
    linked.git(&["stash", "-q"]).await;
    linked.held("stashed").await;
    linked.git(&["stash", "drop", "-q"]).await;
    fs::write(path.join("new.rs"), "").unwrap();
    linked.held("1 file git does not know").await;
    fs::remove_file(path.join("new.rs")).unwrap();
    fs::write(linked.repository.join(".git/info/exclude"), ".env\ntarget/\n").unwrap();
    fs::write(path.join(".env"), "KEY=FAKE\n").unwrap();
    linked.held("ignored files that nothing else keeps: .env").await;
    fs::remove_file(path.join(".env")).unwrap();
    fs::create_dir(path.join("target")).unwrap();
    fs::write(path.join("target/built"), "").unwrap();
    match look(path, &[]).await {
        Work::Free { along, .. } => assert_eq!(along, ["target/"]),
        other => panic!("{other:?}"),
    }
    linked.git(&["update-index", "--assume-unchanged", "code.rs"]).await;
    linked.held("overlook").await;
    linked.git(&["update-index", "--no-assume-unchanged", "code.rs"]).await;
    linked.world.git(&linked.repository, &["worktree", "lock", path.to_str().unwrap()]).await;
    linked.held("locked").await;
    linked.world.git(&linked.repository, &["worktree", "unlock", path.to_str().unwrap()]).await;
    linked.is_free().await;
}

#[tokio::test]
async fn commits_keep_it_until_they_are_pushed_or_merged() {
    let linked = Linked::new().await;
    linked.commit().await;
    linked.held("neither pushed nor merged").await;
    linked.world.git(&linked.repository, &["merge", "-q", "pao/api"]).await;
    linked.is_free().await;

    let linked = Linked::new().await;
    linked.commit().await;
    let remote = linked.world.root.join("remote.git");
    linked.world.git(&linked.repository, &["init", "-q", "--bare", remote.to_str().unwrap()]).await;
    linked.git(&["remote", "add", "origin", remote.to_str().unwrap()]).await;
    linked.held("neither pushed nor merged").await;
    linked.git(&["push", "-q", "origin", "pao/api"]).await;
    linked.is_free().await;
    fs::write(linked.path.join("new.rs"), "// newer\n").unwrap();
    linked.git(&["commit", "-q", "-a", "-m", "third"]).await;
    linked.held("neither pushed nor merged").await;

    let linked = Linked::new().await;
    linked.git(&["checkout", "-q", "--detach"]).await;
    linked.is_free().await;
    linked.commit().await;
    linked.held("neither pushed nor merged").await;
}

#[tokio::test]
async fn what_is_half_done_or_is_no_linked_worktree_stays() {
    let linked = Linked::new().await;
    let inner = linked.world.repository("inner").await;
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.to_str().unwrap(), "inner"];
    linked.git(&add).await;
    linked.git(&["commit", "-q", "-m", "with a submodule"]).await;
    linked.world.git(&linked.repository, &["merge", "-q", "pao/api"]).await;
    linked.held("submodules").await;

    let linked = Linked::new().await;
    linked.commit().await;
    fs::write(linked.repository.join("new.rs"), "// other\n").unwrap();
    linked.world.git(&linked.repository, &["add", "-A"]).await;
    linked.world.git(&linked.repository, &["commit", "-q", "-m", "other"]).await;
    let merge = ["-c", "user.name=t", "-c", "user.email=t@e.invalid", "merge", "-q", "main"];
    let merged = Run::new("git").args(merge).cwd(&linked.path).output().await.unwrap();
    assert!(!merged.success());
    linked.held("a merge half-done").await;

    assert!(matches!(look(&linked.repository, &[]).await, Work::Held(_)), "the main worktree");
    assert!(matches!(look(&linked.world.root, &[]).await, Work::Held(_)), "no repository at all");
    assert_eq!(look(&linked.world.root.join("nowhere"), &[]).await, Work::Gone);
}

#[tokio::test]
async fn an_agents_worktree_goes_and_comes_back_and_holds_the_agent_while_there_is_work_in_it() {
    let linked = Linked::new().await;
    let world = &linked.world;
    let agent = world.agent("api", &linked.path, State::Ended, None).await;
    let row = Agent { worktree: Some(linked.path.clone()), ..agent.clone() };
    world.registry.forget(&agent.id).await.unwrap();
    world.registry.add(&row).await.unwrap();
    world.registry.set_state(&agent.id, State::Ended, None, "a test", world.host.now()).await.unwrap();
    fs::write(linked.path.join("draft.md"), "work").unwrap();
    let before = world.everything();
    let plan = world.plan(&["api"]).await;
    assert!(plan.groups[0].held.as_deref().unwrap().contains("git does not know"), "{plan:#?}");
    world.apply(plan).await;
    same(&before, &world.everything());

    fs::remove_file(linked.path.join("draft.md")).unwrap();
    let before = tree(&linked.path);
    let plan = world.plan(&["api"]).await;
    // Work that appears after the plan was shown keeps it too.
    fs::write(linked.path.join("draft.md"), "work").unwrap();
    let done = world.apply(plan.clone()).await;
    assert!(linked.path.join("draft.md").exists(), "{done:#?}");
    world.undo().await;
    fs::remove_file(linked.path.join("draft.md")).unwrap();

    world.apply(world.plan(&["api"]).await).await;
    assert!(!linked.path.exists());
    assert!(world.git(&linked.repository, &["branch", "--list", "pao/api"]).await.contains("pao/api"));
    let undone = world.undo().await;
    assert!(undone.pieces().all(|(_, p)| p.stage == Stage::Restored), "{undone:#?}");
    same(&before, &tree(&linked.path));
    assert_eq!(linked.git(&["rev-parse", "--abbrev-ref", "HEAD"]).await, "pao/api");
}

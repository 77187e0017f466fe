//! What is left of agents whose rows were lost.

use super::*;

impl World {
    /// The registry is lost, and a new one takes its place.
    pub async fn lose_registry(&mut self) {
        for name in ["registry.db", "registry.db-wal", "registry.db-shm"] {
            let _ = fs::remove_file(self.host.pao_home.join(name));
        }
        self.registry = Registry::open(&self.host.registry_file()).await.unwrap();
    }

    async fn in_folder(&self, folder: &Path) -> Plan {
        let wanted = Wanted { folder: Some(folder.to_path_buf()), ..Wanted::default() };
        plan(&self.host, &self.registry, &wanted).await.unwrap()
    }
}

#[tokio::test]
async fn files_blocks_lines_and_private_folders_without_a_row_are_found_and_come_back() {
    for reads in [CLAUDE_CODE.reads, BLOCK] {
        let mut world = World::new().await;
        let folder = world.repository("code/api").await;
        fs::write(folder.join("CLAUDE.md"), "# Repo\nkeep\n").unwrap();
        let clean = tree(&folder);
        let agent = world.agent("api", &folder, State::Lost, Some(reads)).await;
        world.lose_registry().await;
        let before = world.everything();
        let plan = world.in_folder(&folder).await;
        assert_eq!(plan.groups.len(), 2, "the private folder, the project: {plan:#?}");
        world.apply(plan).await;
        assert!(!world.host.agent_dir(&agent.id).exists());
        let mut after = tree(&folder);
        // That the folders of rules were made by us, nobody knows any more; git does not see them.
        after.retain(|path, _| !path.starts_with(folder.join(".claude")));
        same(&clean, &after);
        assert!(world.registry.open_changes(None).await.unwrap().is_empty());

        let undone = world.undo().await;
        assert!(undone.pieces().all(|(_, p)| p.stage == Stage::Restored), "{undone:#?}");
        same(&before, &world.everything());
        crate::life::sweep::sweep(&world.host, &world.registry).await;
        same(&before, &world.everything());
    }
}

#[tokio::test]
async fn what_the_user_wrote_under_our_names_is_no_leftover() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    fs::create_dir_all(folder.join(".claude/rules")).unwrap();
    fs::write(folder.join("CONTEXT_BRIEFING.md"), "# Context briefing\nmy own\n").unwrap();
    fs::write(folder.join(".claude/rules/pao-briefing.md"), "my own\n").unwrap();
    fs::write(folder.join(".git/info/exclude"), "/CONTEXT_BRIEFING.md\n").unwrap();
    fs::write(folder.join(".pao-notes.tmp"), "mine").unwrap();
    fs::write(folder.join("CLAUDE.md"), "```\n<!-- pao:briefing:begin agent=a1 -->\n```\n").unwrap();
    assert!(world.in_folder(&folder).await.groups.is_empty());
    // A briefing of ours that was written on.
    fs::write(folder.join("CONTEXT_BRIEFING.md"), format!("{BRIEFING}\nand my notes\n")).unwrap();
    assert!(world.in_folder(&folder).await.groups.is_empty());
}

#[tokio::test]
async fn a_damaged_block_without_an_agent_is_named_and_left() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let text = "# Repo\nkeep1\n<!-- pao:briefing:begin agent=a1 -->\nold\nkeep2\n";
    fs::write(folder.join("CLAUDE.md"), text).unwrap();
    let plan = world.in_folder(&folder).await;
    assert!(plan.groups[0].held.as_deref().unwrap().contains("line 3"), "{plan:#?}");
    world.apply(plan).await;
    assert_eq!(fs::read_to_string(folder.join("CLAUDE.md")).unwrap(), text);
}

#[tokio::test]
async fn what_a_live_or_paused_agent_has_in_its_folder_is_no_leftover() {
    for reads in [CLAUDE_CODE.reads, BLOCK] {
        let world = World::new().await;
        let folder = world.repository("code/api").await;
        let agent = world.agent("api", &folder, State::Idle, Some(reads)).await;
        world.registry.set_process(&agent.id, Identity::own(), None, world.host.now()).await.unwrap();
        let other = world.repository("code/web").await;
        world.agent("web", &other, State::Paused, Some(reads)).await;
        for folder in [&folder, &other] {
            let plan = world.in_folder(folder).await;
            assert_eq!((titles(&plan, false), titles(&plan, true)), (vec![], vec!["web"]));
        }
    }
}

#[tokio::test]
async fn trust_whose_agent_has_no_row_any_more_is_taken_back() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let agent = world.agent("api", &folder, State::Lost, None).await;
    let open = world.registry.open_changes(Some(&agent.id)).await.unwrap();
    world.registry.forget(&agent.id).await.unwrap();
    for entry in open.iter().filter(|e| matches!(e.change, Change::Trust { .. })) {
        world.registry.plan_change(&agent.id, &entry.change, world.host.now()).await.unwrap();
    }
    let before = world.everything();
    world.apply(world.plan(&[]).await).await;
    assert!(!world.trusts(&folder));
    world.undo().await;
    same(&before, &world.everything());
}

#[tokio::test]
async fn half_written_files_and_unused_locks_go_and_fresh_ones_stay() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    world.agent("api", &folder, State::Paused, None).await;
    let locks = world.host.pao_home.join("locks");
    let (old, fresh) = (folder.join(".pao-aB3xYz.tmp"), folder.join(".pao-aB3xY1.tmp"));
    let (unused, held) = (locks.join("0123456789abcdef.lock"), locks.join("fedcba9876543210.lock"));
    for path in [&old, &fresh, &unused, &held] {
        fs::write(path, "half").unwrap();
    }
    for path in [&old, &unused, &held] {
        let file = fs::File::options().write(true).open(path).unwrap();
        let long_ago =
            file.metadata().unwrap().modified().unwrap() - std::time::Duration::from_hours(24 * 40);
        file.set_modified(long_ago).unwrap();
    }
    let _held = files::lock(&held, std::time::Duration::ZERO).await.unwrap();
    let plan = world.plan(&[]).await;
    assert_eq!(titles(&plan, false), ["small files of pao"]);
    world.apply(plan).await;
    assert!(!old.exists() && !unused.exists() && fresh.exists() && held.exists());
    world.undo().await;
    assert_eq!(fs::read(&old).unwrap(), b"half");
}

#[tokio::test]
async fn a_row_that_does_not_read_is_still_a_row() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let agent = world.agent("api", &folder, State::Idle, None).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(world.host.registry_file());
    let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("UPDATE agents SET permission = 'of another time' WHERE id = ?")
        .bind(&agent.id)
        .execute(&mut connection)
        .await
        .unwrap();
    let before = world.everything();
    let plan = world.plan(&[]).await;
    assert!(plan.groups.is_empty(), "{plan:#?}");
    same(&before, &world.everything());
}

//! Faults that users of comparable tools have met, as far as a cleanup could make them (registry, locks, files).

use std::os::unix::fs::symlink;

use super::*;

#[tokio::test]
async fn age_alone_makes_nobody_dead() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let agent = world.agent("api", &folder, State::Idle, Some(CLAUDE_CODE.reads)).await;
    let own = Identity::own();
    world.registry.set_process(&agent.id, own, None, world.host.now() - TimeDelta::days(400)).await.unwrap();
    let before = world.everything();
    assert!(world.plan(&[]).await.groups.is_empty());
    let plan = world.plan(&["api"]).await;
    assert_eq!(titles(&plan, true), ["api"], "not even by its name");
    world.apply(plan).await;
    same(&before, &world.everything());
    // Said to have ended, while its process is there all the same.
    world.registry.set_state(&agent.id, State::Lost, None, "a wrong sign", world.host.now()).await.unwrap();
    let plan = world.plan(&[]).await;
    assert!(plan.groups[0].held.as_deref().unwrap().contains("still runs"), "{plan:#?}");
}

#[tokio::test]
async fn a_pid_that_belongs_to_another_program_now_keeps_nobody_alive() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let agent = world.agent("api", &folder, State::Lost, None).await;
    let own = Identity::own();
    let reused = Identity { started: Started::Clock(1), ..own };
    world.registry.set_process(&agent.id, reused, None, world.host.now()).await.unwrap();
    assert_eq!(titles(&world.plan(&[]).await, false), ["api"]);
}

#[tokio::test]
async fn one_that_was_lost_just_now_takes_more_than_a_general_yes() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let agent = world.agent("api", &folder, State::Lost, None).await;
    let at = world.host.now() - TimeDelta::minutes(59);
    world.registry.set_state(&agent.id, State::Lost, None, "process", at).await.unwrap();
    let asks = |plan: Plan| plan.groups[0].asks;
    assert_eq!(asks(world.plan(&[]).await), Asks::Fresh);
    assert_eq!(asks(world.plan(&["api"]).await), Asks::Nothing);
    let wanted = Wanted { older_than: Some(TimeDelta::zero()), ..Wanted::default() };
    assert_eq!(asks(plan(&world.host, &world.registry, &wanted).await.unwrap()), Asks::Nothing);
    let at = world.host.now() - FRESH;
    world.registry.set_state(&agent.id, State::Lost, None, "process", at).await.unwrap();
    assert_eq!(asks(world.plan(&[]).await), Asks::Nothing);
}

#[tokio::test]
async fn an_agent_that_came_back_after_it_was_planned_is_left_alone() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let agent = world.agent("api", &folder, State::Lost, None).await;
    let before = world.everything();
    let plan = world.plan(&[]).await;
    world.registry.set_state(&agent.id, State::Working, None, "hook", world.host.now()).await.unwrap();
    let done = world.apply(plan.clone()).await;
    assert!(done.record.parts[0].left.is_some() && !done.undoable);
    same(&before, &world.everything());
    // The same while somebody is just bringing it back.
    world.registry.set_state(&agent.id, State::Ended, None, "hook", world.host.now()).await.unwrap();
    let taken =
        crate::registry::claims::TakenUp { name: "api", folder: folder.to_str().unwrap(), version: None };
    let by = Identity { started: Started::Clock(3), ..GONE };
    assert!(world.registry.claim_to_resume(&agent.id, None, &taken, by, world.host.now()).await.unwrap());
    world.apply(plan).await;
    same(&before, &world.everything());
}

#[tokio::test]
async fn of_eight_cleanups_at_once_one_takes_the_agent() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    world.agent("api", &folder, State::Ended, None).await;
    let before = world.everything();
    let plan = world.plan(&[]).await;
    let tries = (0..8).map(|_| {
        let (host, plan) = (world.host.clone(), plan.clone());
        tokio::spawn(async move {
            let registry = Registry::open(&host.registry_file()).await.unwrap();
            apply(&host, &registry, plan, |_| true, false).await.unwrap().undoable
        })
    });
    let mut winners = 0;
    for tried in tries.collect::<Vec<_>>() {
        winners += usize::from(tried.await.unwrap());
    }
    assert_eq!((winners, history(&world.host).unwrap().len()), (1, 1));
    world.undo().await;
    same(&before, &world.everything());
}

#[tokio::test]
async fn a_briefing_the_user_edited_and_a_block_without_its_end_stay() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    fs::write(folder.join("CLAUDE.md"), "# Repo\nkeep1\n").unwrap();
    world.agent("api", &folder, State::Paused, Some(BLOCK)).await;
    let text = fs::read_to_string(folder.join("CLAUDE.md")).unwrap();
    let damaged = text.replace("<!-- pao:briefing:end", "<!-- was the end") + "keep2\n";
    fs::write(folder.join("CLAUDE.md"), &damaged).unwrap();
    fs::write(folder.join("CONTEXT_BRIEFING.md"), "mine now").unwrap();
    let done = world.apply(world.plan(&["api"]).await).await;
    assert_eq!(fs::read_to_string(folder.join("CLAUDE.md")).unwrap(), damaged);
    assert_eq!(fs::read_to_string(folder.join("CONTEXT_BRIEFING.md")).unwrap(), "mine now");
    let kept = |name: &str| {
        let is = |(item, piece): (&Item, &Piece)| {
            item.path.as_deref().is_some_and(|p| p.ends_with(name)) && piece.stage == Stage::Kept
        };
        done.record.pieces().any(is)
    };
    assert!(kept("CLAUDE.md") && kept("CONTEXT_BRIEFING.md"), "{done:#?}");
}

#[tokio::test]
async fn a_crlf_file_loses_and_gets_back_exactly_the_block() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    for text in ["# Repo\r\nkeep\r\n", "no end of line", "\u{feff}# Repo\r\n", ""] {
        fs::write(folder.join("CLAUDE.md"), text).unwrap();
        world.agent("api", &folder, State::Paused, Some(BLOCK)).await;
        let before = tree(&folder);
        world.apply(world.plan(&["api"]).await).await;
        assert_eq!(fs::read_to_string(folder.join("CLAUDE.md")).unwrap(), text);
        world.undo().await;
        same(&before, &tree(&folder));
        world.apply(world.plan(&["api"]).await).await;
    }
}

#[tokio::test]
async fn an_instructions_file_that_is_a_link_stays_one_both_ways() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    fs::write(folder.join("AGENTS.md"), "# Ours\n").unwrap();
    symlink("AGENTS.md", folder.join("CLAUDE.md")).unwrap();
    let clean = tree(&folder);
    world.agent("api", &folder, State::Paused, Some(BLOCK)).await;
    let before = tree(&folder);
    world.apply(world.plan(&["api"]).await).await;
    same(&clean, &tree(&folder));
    world.undo().await;
    same(&before, &tree(&folder));
}

#[tokio::test]
async fn foreign_hooks_text_and_entries_are_not_touched() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let hooks = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo pao"}]}]}}"#;
    fs::create_dir_all(folder.join(".claude/rules")).unwrap();
    fs::write(folder.join(".claude/settings.json"), hooks).unwrap();
    fs::write(folder.join(".claude/rules/mine.md"), "mine").unwrap();
    fs::write(folder.join(".git/info/exclude"), "# mine\n*.tmp").unwrap();
    let clean = tree(&folder);
    world.agent("api", &folder, State::Paused, Some(CLAUDE_CODE.reads)).await;
    world.apply(world.plan(&["api"]).await).await;
    same(&clean, &tree(&folder));
    assert!(fs::read_to_string(world.settings()).unwrap().contains("\"/else\": {}"));
    assert_eq!(world.git(&folder, &["fsck", "--no-progress"]).await, "");
}

#[tokio::test]
async fn an_exclude_line_that_a_second_worktree_needs_stays_until_the_last() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let second = world.root.join("second");
    world.git(&folder, &["worktree", "add", "-q", "-b", "two", second.to_str().unwrap()]).await;
    let exclude = folder.join(".git/info/exclude");
    let clean = fs::read(&exclude).unwrap();
    world.agent("one", &folder, State::Paused, Some(CLAUDE_CODE.reads)).await;
    world.agent("two", &second, State::Paused, Some(CLAUDE_CODE.reads)).await;
    let with = fs::read(&exclude).unwrap();
    world.apply(world.plan(&["one"]).await).await;
    assert_eq!(fs::read(&exclude).unwrap(), with, "the other worktree's files are hidden by the same lines");
    world.apply(world.plan(&["two"]).await).await;
    assert_eq!(fs::read(&exclude).unwrap(), clean);
}

#[tokio::test]
async fn a_folder_that_is_gone_keeps_nothing_else_from_being_cleaned_up() {
    let world = World::new().await;
    let folder = world.repository("工作/试验").await;
    let agent = world.agent("ledger", &folder, State::Paused, Some(CLAUDE_CODE.reads)).await;
    fs::remove_dir_all(&folder).unwrap();
    let done = world.apply(world.plan(&["ledger"]).await).await;
    assert!(done.undoable && !world.host.agent_dir(&agent.id).exists());
    let undone = world.undo().await;
    assert!(world.host.agent_dir(&agent.id).exists() && !folder.exists(), "{undone:#?}");
}

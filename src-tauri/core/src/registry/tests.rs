use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{ConnectOptions, Row};

use super::agents::{Agent, Origin, State};
use super::change::Change;
use super::checkpoints::Stored;
use super::events::Event;
use super::folders::{Choices, Consents};
use super::messages::Fate;
use super::{Registry, RegistryError};
use crate::host::process::{Identity, Mark, Started};
use crate::spawn::passed::{Permission, Receipt, Way};

fn noon() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc()
}

fn agent(id: &str, name: &str) -> Agent {
    Agent {
        prompt: Some("fix it".into()),
        query: "fix it".into(),
        permission: Permission::Plan,
        session: Some("s-1".into()),
        ..Agent::starting(id, name, Path::new("/code/支付对账"), "claude-code", noon())
    }
}

async fn registry() -> (tempfile::TempDir, Registry) {
    let dir = tempfile::tempdir().unwrap();
    let registry = Registry::open(&dir.path().join("pao/registry.db")).await.unwrap();
    (dir, registry)
}

#[tokio::test]
async fn an_agent_reads_back_as_it_was_written() {
    let (_dir, registry) = registry().await;
    let mut wanted = agent("a1b2c3", "api");
    registry.add(&wanted).await.unwrap();
    let process = Identity { pid: 4242, started: Started::Marked(Mark { boot: 7 << 100, start: 1_208_729 }) };
    registry.set_process("a1b2c3", process, Some("/dev/ttys001"), noon()).await.unwrap();
    registry.set_terminal("a1b2c3", "tmux", "%1").await.unwrap();
    registry.set_briefing("a1b2c3", "abc", Way::Files).await.unwrap();
    registry.set_receipt("a1b2c3", Receipt::Confirmed).await.unwrap();
    registry.set_state("a1b2c3", State::NeedsYou, Some("permission: Bash"), "test", noon()).await.unwrap();
    wanted.process = Some(process);
    wanted.tty = Some("/dev/ttys001".into());
    (wanted.terminal, wanted.handle) = (Some("tmux".into()), Some("%1".into()));
    (wanted.briefing_hash, wanted.way) = (Some("abc".into()), Way::Files);
    wanted.receipt = Some(Receipt::Confirmed);
    (wanted.state, wanted.needs) = (State::NeedsYou, Some("permission: Bash".into()));
    wanted.state_by = Some("test".into());
    assert_eq!(registry.agents().await.unwrap(), [wanted]);
}

#[tokio::test]
async fn a_name_is_free_again_when_its_agent_has_ended() {
    let (_dir, registry) = registry().await;
    registry.add(&agent("first", "api")).await.unwrap();
    assert!(matches!(registry.add(&agent("second", "api")).await, Err(RegistryError::NameTaken(_))));
    registry.set_state("first", State::Ended, None, "test", noon()).await.unwrap();
    registry.add(&agent("second", "api")).await.unwrap();
    assert_eq!(registry.find("api").await.unwrap().unwrap().id, "second");
    assert_eq!(registry.find("firs").await.unwrap().unwrap().id, "first");
    assert_eq!(registry.find("fir").await.unwrap(), None);
}

#[tokio::test]
async fn an_event_moves_state_and_session_in_one_write() {
    let (_dir, registry) = registry().await;
    registry.add(&agent("a", "api")).await.unwrap();
    let event = Event {
        agent: "a".into(),
        at: noon() + TimeDelta::seconds(5),
        event: "SessionStart".into(),
        session: Some("s-2".into()),
        detail: "clear".into(),
    };
    registry.record_event(&event, Some((State::Idle, None)), Some("clear")).await.unwrap();
    let row = registry.agent("a").await.unwrap().unwrap();
    assert_eq!((row.state, row.session.as_deref()), (State::Idle, Some("s-2")));
    assert_eq!(row.sign_at, event.at);
    let events = registry.events_after("a", 0).await.unwrap();
    assert_eq!(events, [(1, event)]);
    assert!(registry.events_after("a", 1).await.unwrap().is_empty());
}

#[tokio::test]
async fn planned_applied_and_undone_changes_are_told_apart_newest_first() {
    let (_dir, registry) = registry().await;
    let file = Change::File { path: "/p/CONTEXT_BRIEFING.md".into(), sha256: "00".into() };
    let line = Change::Exclude {
        path: "/p/.git/info/exclude".into(),
        line: "/CONTEXT_BRIEFING.md".into(),
        created: false,
    };
    let first = registry.plan_change("a", &file, noon()).await.unwrap();
    let second = registry.plan_change("a", &line, noon()).await.unwrap();
    registry.plan_change("b", &line, noon()).await.unwrap();
    registry.change_applied(first).await.unwrap();
    let open = registry.open_changes(Some("a")).await.unwrap();
    assert_eq!(open.iter().map(|e| (e.id, e.applied)).collect::<Vec<_>>(), [(second, false), (first, true)]);
    assert_eq!(open[1].change, file);
    registry.change_undone(first).await.unwrap();
    assert_eq!(registry.open_changes(None).await.unwrap().len(), 2);
}

#[tokio::test]
async fn consents_choices_and_pauses_are_remembered_per_folder_and_source() {
    let (_dir, registry) = registry().await;
    let folder = PathBuf::from("/code/api");
    let choices = Choices { budget: Some(900), without_sources: vec!["facts".into()], ..Choices::default() };
    registry.set_choices(&folder, &choices).await.unwrap();
    assert_eq!(registry.consents(&folder, "codex").await.unwrap(), Consents::default());
    let mut yes = Consents::default();
    yes.trust(Some("make".into()));
    registry.set_consents(&folder, "codex", &yes, noon()).await.unwrap();
    let kept = registry.consents(&folder, "codex").await.unwrap();
    assert_eq!(kept, yes);
    // A yes was to what was shown, and to nothing that came into the folder's place.
    assert!(kept.trusts(Some("make")) && !kept.trusts(None) && !kept.trusts(Some("rm")));
    let early = Consents { enables: None, ..kept };
    assert!(early.trusts(None) && !early.trusts(Some("make")));
    // A yes to one program is none to another.
    assert_eq!(registry.consents(&folder, "claude-code").await.unwrap(), Consents::default());
    assert_eq!(registry.choices(&folder).await.unwrap(), choices);
    assert_eq!(registry.choices(&folder.join("other")).await.unwrap(), Choices::default());
    let until = noon() + TimeDelta::seconds(30);
    registry.pause_source("facts", until).await.unwrap();
    assert_eq!(registry.paused_until("facts", noon()).await.unwrap(), Some(until));
    assert_eq!(registry.paused_until("facts", until).await.unwrap(), None);
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_untouched() {
    let (dir, registry) = registry().await;
    registry.close().await;
    let path = dir.path().join("pao/registry.db");
    let mut raw = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    sqlx::raw_sql("PRAGMA user_version = 99; CREATE TABLE later (x)").execute(&mut raw).await.unwrap();
    assert!(matches!(Registry::open(&path).await, Err(RegistryError::Newer { found: 99, .. })));
    let patience = std::time::Duration::from_millis(50);
    assert!(matches!(Registry::open_as_is(&path, patience).await, Err(RegistryError::Newer { .. })));
    let version: i64 = sqlx::query("PRAGMA user_version").fetch_one(&mut raw).await.unwrap().get(0);
    assert_eq!(version, 99);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn eight_openers_of_a_new_database_migrate_it_once_and_lose_no_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("registry.db");
    let writers = (0..8).map(|n| {
        let path = path.clone();
        tokio::spawn(async move {
            let registry = Registry::open(&path).await.unwrap();
            for m in 0..10 {
                registry.add(&agent(&format!("{n}-{m}"), &format!("n{n}-{m}"))).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(Registry::open(&path).await.unwrap().agents().await.unwrap().len(), 80);
}

#[tokio::test]
async fn whoever_finds_the_database_migrated_by_another_reads_its_rows_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("registry.db");
    let patience = std::time::Duration::from_secs(5);
    crate::host::files::private_file(&path).unwrap();
    let mut old = super::connect(&path, patience).await.unwrap();
    sqlx::raw_sql(super::schema::first()).execute(&mut old).await.unwrap();
    sqlx::raw_sql("PRAGMA user_version = 1").execute(&mut old).await.unwrap();
    let mut early = super::connect(&path, patience).await.unwrap();
    sqlx::query("SELECT * FROM agents").fetch_all(&mut early).await.unwrap();

    Registry::open(&path).await.unwrap().add(&agent("a", "api")).await.unwrap();
    super::schema::migrate(&mut early, &path).await.unwrap();
    let early = Registry::over(early, path);
    assert_eq!(early.agents().await.unwrap().len(), 1);
}

#[tokio::test]
async fn agents_of_every_older_version_are_read_and_come_from_nobody() {
    let six = include_str!("../../../../tests/fixtures/registry/version-6.sql");
    let eight = concat!(
        include_str!("../../../../tests/fixtures/registry/version-6.sql"),
        include_str!("../../../../tests/fixtures/registry/version-8.sql")
    );
    for (version, tables) in [(6, six), (8, eight)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.db");
        crate::host::files::private_file(&path).unwrap();
        let mut old = super::connect(&path, std::time::Duration::from_secs(5)).await.unwrap();
        sqlx::raw_sql(tables).execute(&mut old).await.unwrap();
        sqlx::raw_sql(
            "INSERT INTO agents (id, name, folder, project, host_agent, query, permission, way, state, created_at, sign_at)
             VALUES ('a', 'api', '/code', '/code', 'claude-code', '', 'ask', 'session', 'idle',
                '2026-11-30T12:00:00Z', '2026-11-30T12:00:00Z')",
        )
        .execute(&mut old)
        .await
        .unwrap();
        sqlx::Connection::close(old).await.unwrap();
        let registry = Registry::open(&path).await.unwrap();
        let row = registry.agent("a").await.unwrap().unwrap();
        assert_eq!((row.name.as_str(), row.origin), ("api", None), "version {version}");
        assert_eq!(registry.unreadable(), []);
    }
}

#[tokio::test]
async fn from_whom_an_agent_came_is_kept_even_when_that_one_is_forgotten() {
    let (_dir, registry) = registry().await;
    registry.add(&agent("first", "api")).await.unwrap();
    let origin = |checkpoint: Option<&str>| {
        Some(Origin { agent: "first".into(), name: "api".into(), checkpoint: checkpoint.map(Into::into) })
    };
    for (id, checkpoint) in [("fork", Some("5c0375b4")), ("next", None)] {
        registry.add(&Agent { origin: origin(checkpoint), ..agent(id, id) }).await.unwrap();
    }
    registry.forget("first").await.unwrap();
    for (id, checkpoint, told) in [
        ("fork", Some("5c0375b4"), "forked from checkpoint 5c0375b4 of api (first)"),
        ("next", None, "handed over by api (first)"),
    ] {
        let found = registry.agent(id).await.unwrap().unwrap().origin;
        assert_eq!(found, origin(checkpoint));
        assert_eq!(found.unwrap().told(), told);
    }
}

#[tokio::test]
async fn whoever_has_it_open_while_another_adds_columns_goes_on_reading() {
    let (dir, registry) = registry().await;
    registry.add(&agent("a", "api")).await.unwrap();
    let read = async || {
        let listed = registry.agents().await.unwrap().len();
        let named = registry.agent("a").await.unwrap().is_some();
        let events = registry.events_after("a", 0).await.unwrap().len();
        let messages = registry.messages(Some("a")).await.unwrap().len();
        registry.checkpoints(Some("a")).await.unwrap();
        (listed, named, events, messages)
    };
    let before = read().await;
    let mut later = super::connect(registry.path(), std::time::Duration::from_secs(5)).await.unwrap();
    for table in ["agents", "sessions", "events", "messages", "checkpoints"] {
        let wider = format!("ALTER TABLE {table} ADD COLUMN of_a_later_version TEXT");
        sqlx::raw_sql(sqlx::AssertSqlSafe(wider)).execute(&mut later).await.unwrap();
    }
    assert_eq!(read().await, before);
    drop(dir);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_not_told_as_a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("registry.db");
    std::fs::write(&path, "no database at all ".repeat(500)).unwrap();
    let error = crate::Error::from(Registry::open(&path).await.unwrap_err());
    assert!(error.next.contains("damaged") && !error.next.contains("free space"), "{error:?}");
}

#[tokio::test]
async fn a_locked_database_is_not_told_as_a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("registry.db");
    Registry::open(&path).await.unwrap().close().await;
    let other = Registry::open(&path).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *other.lock().await).await.unwrap();
    let ours = Registry::open_as_is(&path, std::time::Duration::from_millis(20)).await.unwrap();
    let refused = ours.set_state("a", State::Idle, None, "test", noon()).await.unwrap_err();
    let error = crate::Error::from(refused);
    assert!(error.next.contains("another process"), "{error:?}");
}

#[tokio::test]
async fn every_turn_of_an_agent_is_kept_with_its_evidence_whoever_writes_it() {
    let (_dir, registry) = registry().await;
    registry.add(&agent("a", "api")).await.unwrap();
    let later = noon() + TimeDelta::minutes(5);
    let asked = Event {
        agent: "a".into(),
        at: later,
        event: "PermissionRequest".into(),
        session: None,
        detail: "{}".into(),
    };
    registry.record_event(&asked, Some((State::NeedsYou, Some("permission for Bash"))), None).await.unwrap();
    registry.record_event(&asked, Some((State::NeedsYou, Some("permission for Bash"))), None).await.unwrap();
    let end = later + TimeDelta::minutes(5);
    registry.set_state("a", State::Lost, None, "process", end).await.unwrap();
    let states = registry.states("a").await.unwrap();
    let told: Vec<_> = states.iter().map(|t| (t.at, t.state, t.by.as_deref())).collect();
    let hook = Some("hook PermissionRequest");
    assert_eq!(
        told,
        [
            (noon(), State::Starting, None),
            (later, State::NeedsYou, hook),
            (end, State::Lost, Some("process"))
        ]
    );
    // That it was found gone is no sign of its life.
    let row = registry.agent("a").await.unwrap().unwrap();
    assert_eq!((row.sign_at, row.state_at, row.ended_at), (later, end, Some(end)));
}

#[tokio::test]
async fn a_message_moves_on_only_from_where_it_is() {
    let (_dir, registry) = registry().await;
    registry.add(&agent("a", "api")).await.unwrap();
    let id = registry.queue("a", "and the tests?\n", noon()).await.unwrap();
    assert!(registry.move_message(id, Fate::Queued, Fate::Sent, None, noon()).await.unwrap());
    assert!(!registry.move_message(id, Fate::Queued, Fate::Sent, None, noon()).await.unwrap());
    assert!(registry.move_message(id, Fate::Sent, Fate::Unknown, Some("window gone"), noon()).await.unwrap());
    let messages = registry.messages(Some("a")).await.unwrap();
    assert_eq!(messages, [registry.message(id).await.unwrap().unwrap()]);
    assert_eq!((messages[0].fate, messages[0].text.as_str()), (Fate::Unknown, "and the tests?\n"));
    assert_eq!(registry.messages(Some("b")).await.unwrap(), []);
}

#[tokio::test]
async fn checkpoints_outlive_nothing_but_are_kept_until_dropped() {
    let (_dir, registry) = registry().await;
    registry.add(&agent("a", "api")).await.unwrap();
    let kept = Stored {
        id: "c1".into(),
        agent: "a".into(),
        at: noon(),
        message: Some("before the rewrite".into()),
        data: "{}".into(),
    };
    registry.keep_checkpoint(&kept).await.unwrap();
    assert_eq!(registry.checkpoints(None).await.unwrap(), [kept]);
    assert!(registry.drop_checkpoint("c1").await.unwrap());
    assert!(!registry.drop_checkpoint("c1").await.unwrap());
}

use std::path::PathBuf;

use super::*;
use crate::host::process::Run;

struct World {
    _dir: tempfile::TempDir,
    host: Host,
    registry: Registry,
    row: Agent,
}

async fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let host = Host {
        exe: PathBuf::from("/usr/bin/true"),
        frozen: chrono::DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").ok().map(|t| t.to_utc()),
        ..Host::at(&home)
    };
    let registry = Registry::open(&host.registry_file()).await.unwrap();
    let folder = host.home.join("api");
    std::fs::create_dir(&folder).unwrap();
    let row = Agent {
        session: Some("11111111-1111-4111-8111-111111111111".into()),
        prompt: Some("fix it".into()),
        ..Agent::starting("a1", "api", &folder, "claude-code", host.now())
    };
    registry.add(&row).await.unwrap();
    World { _dir: dir, host, registry, row }
}

fn say(world: &World, lines: &[serde_json::Value]) -> PathBuf {
    let kind = &crate::agent::CLAUDE_CODE;
    let folder = kind.transcripts_dir(&world.host).join(kind.transcript_folder(&world.row.folder).unwrap());
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{}.jsonl", world.row.session.as_deref().unwrap()));
    let mut text = std::fs::read_to_string(&path).unwrap_or_default();
    for line in lines {
        text = text + &line.to_string() + "\n";
    }
    std::fs::write(&path, text).unwrap();
    path
}

fn user(text: &str) -> serde_json::Value {
    serde_json::json!({"type": "user", "sessionId": "s", "message": {"content": text}})
}

fn todos(items: &[(&str, &str)]) -> serde_json::Value {
    let todos: Vec<_> =
        items.iter().map(|(text, status)| serde_json::json!({"content": text, "status": status})).collect();
    let tool = serde_json::json!({"type": "tool_use", "name": "TodoWrite", "input": {"todos": todos}});
    serde_json::json!({"type": "assistant", "sessionId": "s", "message": {"content": [tool]}})
}

async fn git(folder: &Path, args: &[&str]) {
    let git = Run::new("git").args(["-c", "user.name=A", "-c", "user.email=a@example.invalid"]);
    assert!(git.args(args).cwd(folder).output().await.unwrap().success(), "git {args:?}");
}

#[tokio::test]
async fn an_agent_without_repository_or_conversation_has_a_checkpoint_all_the_same() {
    let world = world().await;
    let made = make(&world.host, &world.registry, &world.row, Some("  before lunch ")).await.unwrap();
    assert_eq!((&made.data.git, &made.data.transcript), (&None, &None));
    assert_eq!(made.message.as_deref(), Some("before lunch"));
    assert_eq!(made.data.state, State::Starting.name());
    let listed = list(&world.registry, Some("a1")).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&made));
    assert_eq!(find(&world.registry, &made.id[..5]).await.unwrap(), made);
    assert!(find(&world.registry, &made.id[..3]).await.is_err(), "too short to name one");
    remove(&world.registry, &made.id).await.unwrap();
    assert!(
        find(&world.registry, &made.id).await.is_err()
            && last(&world.registry, "a1").await.unwrap().is_none()
    );
}

#[tokio::test]
async fn no_secret_is_stored() {
    let world = world().await;
    let key = format!("sk-ant-api03-{}", "FAKE0".repeat(8));
    say(&world, &[user(&format!("use {key} and go on")), todos(&[(&format!("rotate {key}"), "pending")])]);
    let mut row = world.row.clone();
    row.prompt = Some(format!("try {key}"));
    make(&world.host, &world.registry, &row, Some(&format!("works with {key}"))).await.unwrap();
    let stored = world.registry.checkpoints(None).await.unwrap().remove(0);
    assert!(!format!("{stored:?}").contains("FAKE0FAKE0"), "{stored:?}");
    assert!(stored.data.contains("[redacted: api key]"));
}

#[tokio::test]
async fn two_checkpoints_tell_what_came_between_and_what_can_no_longer_be_told() {
    let world = world().await;
    let folder = &world.row.folder;
    git(folder, &["init", "-q", "-b", "main"]).await;
    std::fs::write(folder.join("a"), "1\n").unwrap();
    git(folder, &["add", "-A"]).await;
    git(folder, &["commit", "-q", "--no-gpg-sign", "-m", "first"]).await;
    say(&world, &[user("one"), todos(&[("mend", "in_progress"), ("test", "pending")])]);
    let first = make(&world.host, &world.registry, &world.row, None).await.unwrap();
    git(folder, &["checkout", "-q", "-b", "other"]).await;
    std::fs::write(folder.join("b"), "1\n").unwrap();
    git(folder, &["add", "-A"]).await;
    git(folder, &["commit", "-q", "--no-gpg-sign", "-m", "second"]).await;
    std::fs::write(folder.join("a"), "changed\n").unwrap();
    say(&world, &[user("two"), user("three"), todos(&[("test", "in_progress"), ("document", "pending")])]);
    let second = make(&world.host, &world.registry, &world.row, None).await.unwrap();

    let found = compare(&first, &second).await;
    let between = found.between.unwrap();
    assert_eq!(between.commits.iter().map(|c| &*c.subject).collect::<Vec<_>>(), ["second"]);
    assert_eq!(found.branches, Some((Some("main".into()), Some("other".into()))));
    assert_eq!(found.dirty, ["a"]);
    assert_eq!(found.prompts, ["two", "three"]);
    assert_eq!((found.todos_done, found.todos_new), (vec!["mend".into()], vec!["document".into()]));
    assert_eq!(found.notes, Vec::<String>::new());

    // The other way round, and without the repository.
    let back = compare(&second, &first).await;
    assert!(back.notes[0].contains("does not contain all commits"), "{:?}", back.notes);
    std::fs::remove_dir_all(folder.join(".git")).unwrap();
    let gone = compare(&first, &second).await;
    assert!(gone.between.is_none() && gone.notes[0].contains("a commit is gone"), "{:?}", gone.notes);
}

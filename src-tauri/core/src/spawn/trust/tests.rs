//! Trust records in real files, beside other writers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::*;
use crate::agent::CLAUDE_CODE;

fn noon() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc()
}

struct World {
    _dir: tempfile::TempDir,
    host: Host,
    registry: Registry,
    config: PathBuf,
}

impl World {
    async fn with(config: Option<&[u8]>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let host = Host {
            pao_home: home.join("pao"),
            exe: home.join("exe"),
            frozen: Some(noon()),
            ..Host::at(&home)
        };
        let registry = Registry::open(&host.registry_file()).await.unwrap();
        let path = CLAUDE_CODE.trust_file(&host);
        if let Some(bytes) = config {
            fs::write(&path, bytes).unwrap();
        }
        Self { _dir: dir, host, registry, config: path }
    }

    async fn grant(&self, folder: &str) -> Result<Granted, TrustError> {
        let folder = Path::new(folder);
        let project = Project { worktree: None, ..Project::of(folder) };
        let place = Place { config: &self.config, record: CLAUDE_CODE.trust, folder, project: &project };
        let granted = grant(&self.host, &self.registry, "a1", &place, noon()).await?;
        assert_eq!(is_trusted(&place), granted != Granted::NeverStarted);
        Ok(granted)
    }

    async fn undo(&self) -> Vec<Revoked> {
        let mut revoked = Vec::new();
        for entry in self.registry.open_changes(None).await.unwrap() {
            revoked.extend(undo(&self.host, &self.registry, &entry, CLAUDE_CODE.trust).await.unwrap());
        }
        revoked
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.config).unwrap()
    }
}

#[tokio::test]
async fn an_entry_without_the_key_gets_it_and_undo_gives_the_same_bytes() {
    let text = b"{\n  \"numStartups\": 7,\n  \"projects\": {\n    \"/code/app\": {\n      \"allowedTools\": []\n    }\n  }\n}";
    let world = World::with(Some(text)).await;
    assert_eq!(world.grant("/code/app").await.unwrap(), Granted::Added);
    let value: Value = serde_json::from_slice(&world.bytes()).unwrap();
    assert_eq!(value["projects"]["/code/app"], json!({"allowedTools": [], "hasTrustDialogAccepted": true}));
    assert_eq!(world.grant("/code/app").await.unwrap(), Granted::AlreadyTrusted { by: "/code/app".into() });
    assert_eq!(world.registry.open_changes(None).await.unwrap().len(), 1);
    assert_eq!(world.undo().await, [Revoked::Removed]);
    assert_eq!(world.bytes(), text);
    assert!(!world.host.home.join(".claude.json.lock").exists());
}

#[tokio::test]
async fn a_trusted_parent_or_repository_covers_and_nothing_is_written() {
    let text = br#"{"projects":{"/code":{"hasTrustDialogAccepted":true}}}"#;
    let world = World::with(Some(text)).await;
    assert_eq!(world.grant("/code/a/b").await.unwrap(), Granted::AlreadyTrusted { by: "/code".into() });
    assert_eq!(world.bytes(), text);
    let project = Project {
        id: "/code".into(),
        name: "code".into(),
        worktree: Some("/elsewhere/tree".into()),
        git_dir: None,
        common_dir: None,
    };
    let folder = Path::new("/elsewhere/tree/sub");
    assert!(is_trusted(&Place {
        config: &world.config,
        record: CLAUDE_CODE.trust,
        folder,
        project: &project
    }));
    assert_eq!(world.grant("/codex").await.unwrap(), Granted::Added);
}

#[tokio::test]
async fn what_does_not_parse_is_refused_and_stays_byte_for_byte() {
    for text in
        [&b"{\"a\":1,}"[..], b"\xef\xbb\xbf{}", b"", b"{\"projects\": {\"/code", b"// x\n{}", b"[]", b"\xff"]
    {
        let world = World::with(Some(text)).await;
        let error = world.grant("/code/app").await.unwrap_err().to_string();
        assert!(error.contains(&format!("lost its {} bytes", text.len())), "{error}");
        assert_eq!(world.bytes(), text);
        assert!(world.registry.open_changes(None).await.unwrap().is_empty());
    }
    let world = World::with(Some(b"{}")).await;
    fs::set_permissions(&world.config, fs::Permissions::from_mode(0o000)).unwrap();
    assert!(matches!(world.grant("/code/app").await, Err(TrustError::Io { .. })));
    fs::set_permissions(&world.config, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(world.bytes(), b"{}");
    let world = World::with(None).await;
    fs::create_dir(&world.config).unwrap();
    assert!(matches!(world.grant("/code/app").await, Err(TrustError::Io { .. })));
    assert!(world.config.is_dir());
}

#[tokio::test]
async fn a_missing_configuration_is_not_made() {
    let world = World::with(None).await;
    assert_eq!(world.grant("/code/app").await.unwrap(), Granted::NeverStarted);
    assert!(!world.config.exists());
    symlink("nowhere", &world.config).unwrap();
    assert!(matches!(world.grant("/code/app").await, Err(TrustError::Io { .. })));
}

#[tokio::test]
async fn a_linked_configuration_stays_a_link_with_its_mode() {
    let world = World::with(None).await;
    let target = world.host.home.join("dotfiles.json");
    fs::write(&target, "{}").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles.json", &world.config).unwrap();
    assert_eq!(world.grant("/code/app").await.unwrap(), Granted::Added);
    assert!(fs::symlink_metadata(&world.config).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(world.undo().await, [Revoked::Removed]);
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
}

#[tokio::test]
async fn undo_keeps_what_the_host_agent_added_and_respects_a_later_no() {
    let world = World::with(Some(b"{\"projects\":{}}")).await;
    world.grant("/code/app").await.unwrap();
    let text = String::from_utf8(world.bytes()).unwrap().replace("true", "true,\"lastCost\":0.10");
    fs::write(&world.config, text).unwrap();
    assert_eq!(world.undo().await, [Revoked::Removed]);
    assert_eq!(world.bytes(), b"{\"projects\":{\"/code/app\":{\"lastCost\":0.10}}}");
    let world = World::with(Some(b"{\"projects\":{}}")).await;
    world.grant("/code/app").await.unwrap();
    fs::write(&world.config, b"{\"projects\":{\"/code/app\":{\"hasTrustDialogAccepted\":false}}}").unwrap();
    assert_eq!(world.undo().await, [Revoked::Gone]);
    assert!(world.registry.open_changes(None).await.unwrap().is_empty());
    fs::remove_file(&world.config).unwrap();
    assert_eq!(world.undo().await, []);
}

#[tokio::test]
async fn the_host_agents_own_lock_is_waited_for() {
    let world = World::with(Some(b"{}")).await;
    let lock = world.host.home.join(".claude.json.lock");
    fs::create_dir(&lock).unwrap();
    let release = async {
        tokio::time::sleep(Duration::from_millis(80)).await;
        // What the holder wrote last must survive.
        fs::write(&world.config, b"{\"theirs\":1}").unwrap();
        fs::remove_dir(&lock).unwrap();
    };
    let (granted, ()) = tokio::join!(world.grant("/code/app"), release);
    assert_eq!(granted.unwrap(), Granted::Added);
    let value: Value = serde_json::from_slice(&world.bytes()).unwrap();
    assert_eq!(value["theirs"], 1);
}

#[tokio::test]
async fn what_others_write_back_over_it_is_written_again_as_the_same_change() {
    let before = b"{\"projects\":{}}";
    let world = World::with(Some(before)).await;
    assert_eq!(world.grant("/code/app").await.unwrap(), Granted::Added);
    let folder = Path::new("/code/app");
    let project = Project { worktree: None, ..Project::of(folder) };
    let place = Place { config: &world.config, record: CLAUDE_CODE.trust, folder, project: &project };
    let write_back = async {
        tokio::time::sleep(Duration::from_millis(15)).await;
        fs::write(&world.config, before).unwrap();
    };
    let (kept, ()) = tokio::join!(keep(&world.host, &world.registry, "a1", &place, noon()), write_back);
    kept.unwrap();
    assert!(is_trusted(&place));
    assert_eq!(world.registry.open_changes(None).await.unwrap().len(), 1);
    assert_eq!(world.undo().await, [Revoked::Removed]);
    assert_eq!(world.bytes(), before);
}

/// Reads, changes and renames without any lock, as badly as a program can that still renames whole files.
fn rewrite(config: &Path, count: u32) {
    let text = fs::read(config).unwrap();
    let mut value: Value = serde_json::from_slice(&text).expect("a reader met a broken file");
    value["count"] = count.into();
    let temporary = config.with_extension(format!("stub{count}"));
    fs::write(&temporary, serde_json::to_vec_pretty(&value).unwrap()).unwrap();
    fs::rename(&temporary, config).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_grants_at_once_survive_a_rewriter_that_takes_no_lock() {
    let world = Arc::new(World::with(Some(b"{\n  \"keep\": 1.0,\n  \"projects\": {}\n}")).await);
    let stop = Arc::new(AtomicBool::new(false));
    let written = Arc::new(AtomicU32::new(0));
    let writer = std::thread::spawn({
        let (world, stop, written) = (world.clone(), stop.clone(), written.clone());
        move || {
            while !stop.load(Ordering::Relaxed) {
                rewrite(&world.config, written.fetch_add(1, Ordering::Relaxed));
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    let grants = (0..8).map(|n| {
        let world = world.clone();
        tokio::spawn(async move {
            // A registry of its own, as another process has.
            let registry = Registry::open(&world.host.registry_file()).await.unwrap();
            let folder = PathBuf::from(format!("/code/app{n}"));
            let project = Project { worktree: None, ..Project::of(&folder) };
            let place = Place {
                config: &world.config,
                record: CLAUDE_CODE.trust,
                folder: &folder,
                project: &project,
            };
            let agent = format!("a{n}");
            let granted = grant(&world.host, &registry, &agent, &place, noon()).await.unwrap();
            keep(&world.host, &registry, &agent, &place, noon()).await.unwrap();
            granted
        })
    });
    for granted in futures::future::join_all(grants).await {
        assert_eq!(granted.unwrap(), Granted::Added);
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let value: Value = serde_json::from_slice(&world.bytes()).unwrap();
    for n in 0..8 {
        assert_eq!(
            value["projects"][format!("/code/app{n}")]["hasTrustDialogAccepted"],
            true,
            "app{n} was lost"
        );
    }
    assert!(written.load(Ordering::Relaxed) > 5);
    assert_eq!(world.registry.open_changes(None).await.unwrap().len(), 8);
}

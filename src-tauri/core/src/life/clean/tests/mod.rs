//! Cleanups in real folders and real repositories, of agents whose rows say what a sweep would have made of them.

mod automatic;
mod faults;
mod leftovers;
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chrono::TimeDelta;

use super::*;
use crate::agent::{CLAUDE_CODE, Reads};
use crate::host::process::{Identity, Run, Started};
use crate::project::Project;
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};
use crate::registry::change::Change;
use crate::spawn::passed::Way;
use crate::spawn::{deliver, launch, trust};

pub const GONE: Identity = Identity { pid: u32::MAX / 2, started: Started::Clock(1) };
const BLOCK: Reads = Reads { instructions: "CLAUDE.md", rules: None, import: Some("@"), limit: None };
const BRIEFING: &str =
    "<!-- pao:briefing -->\n# Context briefing\n\n- 支付 uses port 8443\n<!-- /pao:briefing -->\n";

pub struct World {
    _dir: tempfile::TempDir,
    pub root: PathBuf,
    pub host: Host,
    pub registry: Registry,
}

/// Everything below a folder: path, permissions, bytes.
pub type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub fn tree(folder: &Path) -> Tree {
    let mut all = Tree::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).unwrap().flatten() {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            let bytes = if meta.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if meta.is_file() {
                fs::read(&path).unwrap()
            } else {
                left.push(path.clone());
                Vec::new()
            };
            // Git rewrites its index when it is asked for the state of things.
            if entry.file_name() != "index" {
                all.insert(path, (meta.mode(), bytes));
            }
        }
    }
    all
}

impl World {
    pub async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let home = root.join("home");
        fs::create_dir(&home).unwrap();
        let host = Host {
            pao_home: root.join("pao"),
            cwd: root.clone(),
            exe: root.join("pao-exe"),
            env: BTreeMap::from([
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
                ("PAO_TMUX_SOCKET".into(), format!("pao-clean-{}", uuid::Uuid::new_v4().simple()).into()),
            ]),
            frozen: chrono::DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").ok().map(|t| t.to_utc()),
            home,
        };
        let registry = Registry::open(&host.registry_file()).await.unwrap();
        let world = Self { _dir: dir, root, host, registry };
        fs::write(
            world.settings(),
            "{\n  \"numStartups\": 3,\n  \"projects\": {\n    \"/else\": {}\n  }\n}\n",
        )
        .unwrap();
        world
    }

    pub fn settings(&self) -> PathBuf {
        self.host.home.join(".claude.json")
    }

    pub async fn git(&self, folder: &Path, args: &[&str]) -> String {
        let run = Run::new("git").args(["-c", "user.name=n", "-c", "user.email=n@example.org"]).args(args);
        let run = run.cwd(folder).env("HOME", &self.host.home).env("GIT_CONFIG_NOSYSTEM", "1");
        let outcome = run.output().await.unwrap();
        assert!(outcome.success(), "git {args:?}: {}", outcome.error_text());
        outcome.text()
    }

    pub async fn repository(&self, name: &str) -> PathBuf {
        let top = self.root.join(name);
        fs::create_dir_all(&top).unwrap();
        self.git(&top, &["init", "-q", "-b", "main", "."]).await;
        fs::write(top.join("code.rs"), "fn main() {}\n").unwrap();
        self.git(&top, &["add", "-A"]).await;
        self.git(&top, &["commit", "-q", "-m", "first"]).await;
        top
    }

    /// An agent for which all that a spawn does was done, in that state and without a process.
    pub async fn agent(&self, name: &str, folder: &Path, state: State, reads: Option<Reads>) -> Agent {
        let (host, registry, now) = (&self.host, &self.registry, self.host.now());
        let id = uuid::Uuid::new_v4().simple().to_string();
        let project = Project::of(folder);
        let mut agent = Agent::starting(&id, name, folder, "claude-code", now - TimeDelta::days(3));
        agent.project = project.id.clone();
        registry.add(&agent).await.unwrap();
        let wanted = deliver::Wanted {
            agent: &id,
            way: if reads.is_some() { Way::Files } else { Way::Session },
            context: None,
            folder,
            project: &project,
            briefing: BRIEFING,
            hook_text: "text",
            reads: reads.unwrap_or(CLAUDE_CODE.reads),
        };
        let plan = deliver::plan(host, registry, &wanted).await.unwrap();
        deliver::apply(host, registry, &plan, &id, now).await.unwrap();
        let place =
            trust::Place { config: &self.settings(), record: CLAUDE_CODE.trust, folder, project: &project };
        trust::grant(host, registry, &id, &place, now).await.unwrap();
        let dir = host.agent_dir(&id);
        launch::private_folder(host, registry, &id, &dir).await.unwrap();
        fs::write(dir.join("settings.json"), "{}").unwrap();
        fs::set_permissions(dir.join("settings.json"), fs::Permissions::from_mode(0o600)).unwrap();
        registry.set_process(&id, GONE, None, now - TimeDelta::days(3)).await.unwrap();
        registry.set_state(&id, state, None, "a test", now - TimeDelta::days(2)).await.unwrap();
        registry.agent(&id).await.unwrap().unwrap()
    }

    pub async fn plan(&self, names: &[&str]) -> Plan {
        let names = names.iter().map(ToString::to_string).collect();
        plan(&self.host, &self.registry, &Wanted { names, ..Wanted::default() }).await.unwrap()
    }

    pub async fn apply(&self, plan: Plan) -> Done {
        apply(&self.host, &self.registry, plan, |_| true, false).await.unwrap()
    }

    pub async fn undo(&self) -> Record {
        undo(&self.host, &self.registry, None).await.unwrap()
    }

    /// All that cleanups may touch, and all they may not: everything but the registry, locks and cleanups.
    pub fn everything(&self) -> Tree {
        let skipped = ["registry.db", "registry.db-wal", "registry.db-shm", "locks", "cleanups"];
        let skipped = skipped.map(|name| self.host.pao_home.join(name));
        let mut all = tree(&self.root);
        all.retain(|path, _| !skipped.iter().any(|s| path.starts_with(s)));
        all
    }

    pub fn trusts(&self, folder: &Path) -> bool {
        let text = fs::read_to_string(self.settings()).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["projects"][folder.to_str().unwrap()]["hasTrustDialogAccepted"] == true
    }

    pub async fn row(&self, agent: &Agent) -> Agent {
        self.registry.agent(&agent.id).await.unwrap().unwrap()
    }
}

pub fn titles(plan: &Plan, held: bool) -> Vec<&str> {
    let mut titles: Vec<&str> =
        plan.groups.iter().filter(|g| g.held.is_some() == held).map(|g| g.title.as_str()).collect();
    titles.sort_unstable();
    titles
}

pub fn same(before: &Tree, after: &Tree) {
    let keys: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differing: Vec<_> = keys.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

#[tokio::test]
async fn what_was_written_for_an_agent_that_is_gone_goes_and_comes_back_byte_for_byte() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    let agent = world.agent("api", &folder, State::Lost, None).await;
    let before = world.everything();
    let plan = world.plan(&[]).await;
    assert_eq!((titles(&plan, false), titles(&plan, true)), (vec!["api"], vec![]));
    let group = &plan.groups[0];
    assert!(group.why.iter().any(|why| why.contains("process") && why.contains("is gone")), "{group:#?}");
    assert_eq!(group.items.len(), 3, "private folder, trust, row: {group:#?}");
    same(&before, &world.everything());

    let done = world.apply(plan).await;
    assert!(done.undoable);
    assert!(!world.host.agent_dir(&agent.id).exists() && !world.trusts(&folder));
    assert!(world.row(&agent).await.archived_at.is_some());
    assert!(world.registry.open_changes(None).await.unwrap().is_empty());
    assert!(world.plan(&[]).await.groups.is_empty(), "a second cleanup finds nothing");
    let kept = fs::metadata(world.host.pao_home.join("cleanups")).unwrap().mode() & 0o777;
    assert_eq!(kept, 0o700);

    let undone = world.undo().await;
    assert!(undone.pieces().all(|(_, piece)| piece.stage == Stage::Restored), "{undone:#?}");
    same(&before, &world.everything());
    assert_eq!(world.row(&agent).await.archived_at, None);
    let open: Vec<Change> =
        world.registry.open_changes(None).await.unwrap().into_iter().map(|e| e.change).collect();
    assert!(open.iter().any(|c| matches!(c, Change::Trust { .. })) && open.len() == 2, "{open:#?}");
    assert!(matches!(undo(&world.host, &world.registry, None).await, Err(CleanError::None)));
    let again = undo(&world.host, &world.registry, Some(&undone.id)).await;
    assert!(matches!(again, Err(CleanError::Undone { .. })));
}

#[tokio::test]
async fn a_paused_agent_goes_only_when_named_and_comes_back_with_its_files_and_lines() {
    for (name, reads) in [("rules", CLAUDE_CODE.reads), ("block", BLOCK)] {
        let world = World::new().await;
        let folder = world.repository("code/api").await;
        fs::write(folder.join("CLAUDE.md"), "# Mine\r\nkeep\r\n").unwrap();
        fs::set_permissions(folder.join("CLAUDE.md"), fs::Permissions::from_mode(0o640)).unwrap();
        let clean = tree(&folder);
        let agent = world.agent("api", &folder, State::Paused, Some(reads)).await;
        let before = world.everything();
        let plan = world.plan(&[]).await;
        assert_eq!((titles(&plan, false), titles(&plan, true)), (vec![], vec!["api"]), "{name}");
        world.apply(plan).await;
        same(&before, &world.everything());

        let wanted = Wanted { one_by_one: true, ..Wanted::default() };
        let listed = super::plan(&world.host, &world.registry, &wanted).await.unwrap();
        let plan = world.plan(&["api"]).await;
        assert_eq!(plan.groups[0].asks, Asks::Paused);
        assert_eq!(listed.groups, plan.groups, "from a list it is asked about as if it were named");
        world.apply(plan).await;
        same(&clean, &tree(&folder));
        assert_eq!(world.row(&agent).await.state, State::Ended);

        let undone = world.undo().await;
        assert!(undone.pieces().all(|(_, piece)| piece.stage == Stage::Restored), "{undone:#?}");
        same(&before, &world.everything());
        let row = world.row(&agent).await;
        assert_eq!((row.state, row.ended_at, row.archived_at), (State::Paused, None, None));
        // What an agent at rest has lent to it is taken back by a sweep, as pausing does; all else stays its own.
        crate::life::sweep::sweep(&world.host, &world.registry).await;
        same(&clean, &tree(&folder));
        let mut rest = (before, world.everything());
        rest.0.retain(|path, _| !path.starts_with(&folder));
        rest.1.retain(|path, _| !path.starts_with(&folder));
        same(&rest.0, &rest.1);
    }
}

#[tokio::test]
async fn undo_never_writes_over_what_has_come_in_its_place() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    fs::write(folder.join("CLAUDE.md"), "# Mine\n").unwrap();
    let agent = world.agent("api", &folder, State::Paused, Some(BLOCK)).await;
    world.apply(world.plan(&["api"]).await).await;
    fs::write(folder.join("CONTEXT_BRIEFING.md"), "the user's own").unwrap();
    fs::write(folder.join("CLAUDE.md"), "# Mine\nand more\n").unwrap();
    fs::create_dir(world.host.agent_dir(&agent.id)).unwrap();
    let before = tree(&folder);
    let undone = world.undo().await;
    let refused: Vec<&str> = undone
        .pieces()
        .filter(|(_, p)| p.stage == Stage::Refused)
        .map(|(item, _)| item.path.as_deref().unwrap().file_name().unwrap().to_str().unwrap())
        .collect();
    assert!(refused.contains(&"CONTEXT_BRIEFING.md") && refused.contains(&"CLAUDE.md"), "{undone:#?}");
    assert_eq!(refused.len(), 3, "{undone:#?}");
    let mut after = tree(&folder);
    let exclude = folder.join(".git/info/exclude");
    assert!(String::from_utf8_lossy(&after[&exclude].1).starts_with("/CONTEXT_BRIEFING.md\n"));
    after.insert(exclude.clone(), before[&exclude].clone());
    same(&before, &after);
    // What was not put back is not lost either.
    let kept = tree(&record::place(&world.host, &undone.id));
    assert!(kept.values().any(|(_, bytes)| bytes == BRIEFING.as_bytes()));
}

#[tokio::test]
async fn trust_is_not_put_back_for_another_folder_or_for_more_than_was_agreed_to() {
    for linked in [false, true] {
        let world = World::new().await;
        let folder = world.repository("code/api").await;
        world.agent("api", &folder, State::Ended, None).await;
        world.apply(world.plan(&[]).await).await;
        fs::rename(&folder, world.root.join("aside")).unwrap();
        if linked {
            std::os::unix::fs::symlink(world.root.join("aside"), &folder).unwrap();
        } else {
            let hook =
                r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch evil"}]}]}}"#;
            fs::create_dir_all(folder.join(".claude")).unwrap();
            fs::write(folder.join(".claude/settings.json"), hook).unwrap();
        }
        let undone = world.undo().await;
        assert!(!world.trusts(&folder), "{undone:#?}");
        let refused = undone.pieces().find(|(_, piece)| piece.stage == Stage::Refused).unwrap().1;
        assert!(refused.note.contains("not what you agreed to trust"), "{refused:#?}");
    }
}

#[tokio::test]
async fn trust_that_others_rely_on_is_handed_over() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    fs::create_dir(folder.join("sub")).unwrap();
    let gone = world.agent("api", &folder, State::Ended, None).await;
    let paused = world.agent("sub", &folder.join("sub"), State::Paused, None).await;
    world.apply(world.plan(&[]).await).await;
    assert!(world.trusts(&folder), "{} relies on it", paused.name);
    assert!(!world.host.agent_dir(&gone.id).exists());
    let open = world.registry.open_changes(Some(&paused.id)).await.unwrap();
    assert!(open.iter().any(|e| matches!(e.change, Change::Trust { .. })));
    world.apply(world.plan(&["sub"]).await).await;
    assert!(!world.trusts(&folder));
}

#[tokio::test]
async fn only_what_is_old_enough_and_what_is_named_is_planned() {
    let world = World::new().await;
    let folder = world.repository("code/api").await;
    world.agent("api", &folder, State::Ended, None).await;
    world.agent("web", &folder, State::Lost, None).await;
    let older = |days| Wanted { older_than: Some(TimeDelta::days(days)), ..Wanted::default() };
    for (days, found) in [(2, 2), (3, 0)] {
        let plan = plan(&world.host, &world.registry, &older(days)).await.unwrap();
        assert_eq!(plan.groups.len(), found, "{days} days");
    }
    assert_eq!(titles(&world.plan(&["web"]).await, false), ["web"]);
    let wanted = Wanted { names: vec!["nobody".into()], ..Wanted::default() };
    assert!(matches!(plan(&world.host, &world.registry, &wanted).await, Err(CleanError::Nobody(_))));
}

#[tokio::test]
async fn what_was_cut_short_at_any_moment_is_finished_and_can_be_undone() {
    // A cleanup as it is on disk after a kill at each of its steps: nothing kept, all kept, claimed, half removed.
    for step in 0..4 {
        let world = World::new().await;
        let folder = world.repository("code/api").await;
        let agent = world.agent("api", &folder, State::Ended, None).await;
        let before = world.everything();
        let plan = world.plan(&[]).await;
        // Done once to learn its list, then undone, so that every step can be set up by itself.
        let done = world.apply(plan.clone()).await;
        let saved = done.record.parts[0].clone();
        world.undo().await;
        fs::remove_dir_all(world.host.pao_home.join("cleanups")).unwrap();
        let mut part = Part { over: false, saved: step > 0, ..saved };
        for piece in &mut part.pieces {
            piece.stage = Stage::Planned;
            if step == 0 {
                piece.aside = Aside::Nothing;
            }
        }
        let open = record::Open::begin(&world.host, vec![part], false).unwrap();
        if step > 1 {
            let killed = Identity { pid: u32::MAX / 2, started: Started::Clock(7) };
            let row = world.row(&agent).await;
            assert!(world.registry.archive_as_seen(&row, killed, open.record.at).await.unwrap());
            world.registry.release(&agent.id, killed).await.unwrap();
        }
        if step > 2 {
            let dir = world.host.agent_dir(&agent.id);
            fs::rename(dir, open.dir.join("0-0")).unwrap();
        }
        drop(open);
        crate::life::sweep::sweep(&world.host, &world.registry).await;
        assert!(!world.host.agent_dir(&agent.id).exists(), "step {step}");
        assert!(world.row(&agent).await.archived_at.is_some(), "step {step}");
        assert!(!world.trusts(&folder), "step {step}");
        let undone = world.undo().await;
        assert!(undone.pieces().all(|(_, p)| p.stage == Stage::Restored), "step {step} {undone:#?}");
        same(&before, &world.everything());
        assert_eq!(world.row(&agent).await.archived_at, None, "step {step}");
    }
}

#[tokio::test]
async fn a_cleanup_of_long_ago_goes_for_good_only_by_its_own_yes() {
    let mut world = World::new().await;
    let folder = world.repository("code/api").await;
    world.agent("api", &folder, State::Ended, None).await;
    let done = world.apply(world.plan(&[]).await).await;
    assert!(world.plan(&[]).await.groups.is_empty());
    world.host.frozen = world.host.frozen.map(|now| now + KEPT);
    let plan = world.plan(&[]).await;
    assert_eq!((plan.groups.len(), plan.groups[0].asks), (1, Asks::Final));
    let place = record::place(&world.host, &done.record.id);
    apply(&world.host, &world.registry, plan.clone(), |g| g.asks == Asks::Nothing, false).await.unwrap();
    assert!(place.exists());
    let done = world.apply(plan).await;
    assert!(!place.exists() && !done.undoable);
}

#[tokio::test]
async fn every_host_agents_trust_goes_and_comes_back_also_in_a_file_made_for_it() {
    for kind in crate::agent::ALL {
        let world = World::new().await;
        let folder = world.repository("code/api").await;
        let agent = world.agent("api", &folder, State::Ended, None).await;
        let config = kind.trust_file(&world.host);
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        let clean = tree(&world.host.home);
        let place = trust::Place {
            config: &config,
            record: kind.trust,
            folder: &folder,
            project: &Project::of(&folder),
        };
        trust::grant(&world.host, &world.registry, &agent.id, &place, world.host.now()).await.unwrap();
        assert!(trust::is_trusted(&place), "{}", kind.kind);
        let before = world.everything();
        let done = world.apply(world.plan(&[]).await).await;
        assert!(!trust::is_trusted(&place), "{} {done:#?}", kind.kind);
        if *kind != &CLAUDE_CODE {
            let mut after = tree(&world.host.home);
            after.insert(world.settings(), clean[&world.settings()].clone());
            same(&clean, &after);
        }
        let undone = world.undo().await;
        assert!(undone.pieces().all(|(_, p)| p.stage == Stage::Restored), "{} {undone:#?}", kind.kind);
        same(&before, &world.everything());
    }
}

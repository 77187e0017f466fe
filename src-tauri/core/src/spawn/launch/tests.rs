use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::*;
use crate::agent::CLAUDE_CODE;
use crate::host::process::Run;
use crate::host::terminal::{Alive, Capabilities, Key, Opened, choose};
use crate::project::Project;
use crate::registry::agents::{Agent, State};

/// A machine whose `pao run` is this very test program, in the test that [`the_body_of_pao_run`] is.
struct World {
    root: tempfile::TempDir,
    host: Host,
    registry: Registry,
    topic: Topic,
    program: PathBuf,
}

const ID: &str = "a1b2c3";

impl World {
    async fn new() -> Self {
        let root = tempfile::Builder::new().prefix("pao-launch-").tempdir().unwrap();
        let home = root.path().join("home");
        let folder = root.path().join("it's $(touch pwned)");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        let exe = root.path().join("pao");
        write_program(
            &exe,
            &format!(
                "#!/bin/sh\n[ \"$1\" = run ] || exit 9\nPAO_TEST_RUN=$2 exec '{}' --exact spawn::launch::tests::the_body_of_pao_run --ignored --nocapture\n",
                Host::current().unwrap().exe.display()
            ),
        );
        let program = root.path().join("agent");
        write_program(
            &program,
            &format!(
                "#!/bin/sh\nfor a; do printf '%s\\0' \"$a\"; done > '{0}/args'\npwd > '{0}/cwd'\nenv -0 > '{0}/env.part'\nmv '{0}/env.part' '{0}/env'\necho agent is up\nexec sleep 60\n",
                root.path().display()
            ),
        );
        let socket = format!("pao-test-{}", root.path().file_name().unwrap().to_string_lossy());
        let env = [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", home.to_str().unwrap()),
            ("KEY", "new key\nof two lines"),
            ("ANTHROPIC_API_KEY", "FAKE-secret"),
            ("TERM", "dumb"),
            ("TMUX", "/tmp/x,1,0"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CONFIG_DIR", "/somewhere"),
            ("PAO_SECRET_X", "FAKE"),
            ("OLDPWD", "/old"),
            ("DISPLAY_NAME", "kept"),
            ("PAO_TMUX_SOCKET", &socket),
        ];
        let env: BTreeMap<OsString, OsString> = env.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        let pao_home = home.join("pao home");
        let host = Host { home, pao_home, cwd: root.path().into(), exe, env, frozen: None };
        let registry = Registry::open(&host.registry_file()).await.unwrap();
        let project = Project::of(&folder);
        let topic = Topic { prompt: None, query: "x".into(), folder, project, name: "api".into() };
        let world = Self { root, host, registry, topic, program };
        world.registry.add(&world.agent()).await.unwrap();
        world
    }

    fn agent(&self) -> Agent {
        Agent::starting(ID, "api", &self.topic.folder, "claude-code", self.host.now())
    }

    fn spec(&self) -> LaunchSpec<'_> {
        LaunchSpec {
            agent_id: ID,
            program: &self.program,
            path: std::ffi::OsStr::new("/child/bin:/usr/bin:/bin"),
            version: None,
            session: "00000000-0000-4000-8000-000000000001",
            resume: false,
            fork_of: None,
            permission: Permission::Ask,
            setup: &[],
            prompt: Some("it's \"a\" $(touch pwned)\nof two lines; `touch pwned`"),
            extra_args: &[],
            agreed: BTreeSet::new(),
        }
    }

    async fn launch(&self, spec: LaunchSpec<'_>) -> Result<Start, LaunchError> {
        let terminal = choose(&self.host, "tmux").unwrap();
        launch(&self.host, &self.registry, &*terminal, &CLAUDE_CODE, &self.topic, spec).await
    }

    async fn row(&self) -> Agent {
        self.registry.agent(ID).await.unwrap().unwrap()
    }

    fn shown(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root.path().join(name)).ok()
    }

    fn dir(&self) -> PathBuf {
        self.host.agent_dir(ID)
    }
}

impl Drop for World {
    #[expect(clippy::disallowed_methods, reason = "ends this very test's server, whatever happened in it")]
    fn drop(&mut self) {
        let socket = self.host.var("PAO_TMUX_SOCKET").unwrap().to_string();
        let _ = std::process::Command::new("tmux").args(["-L", &socket, "kill-server"]).output();
    }
}

fn write_program(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(since.elapsed() < Duration::from_secs(10), "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
#[ignore = "what the other tests' launch scripts run in place of `pao run`"]
async fn the_body_of_pao_run() {
    let host = Host::current().unwrap();
    let Some(id) = host.var("PAO_TEST_RUN") else { panic!("only for the other tests") };
    let registry = Registry::open(&host.registry_file()).await.unwrap();
    let error = run(&host, &registry, id).await;
    eprintln!("{error}");
    std::process::exit(i32::from(error.kind.exit_code()));
}

#[tokio::test]
async fn the_agent_gets_its_arguments_folder_and_environment_and_leaves_no_secret_behind() {
    let world = World::new().await;
    let started = world.launch(world.spec()).await.unwrap();
    assert!(started.launched.prompt_in_arguments);
    let env = until("the agent runs", async || world.shown("env")).await;
    let args = world.shown("args").unwrap();
    let args: Vec<&str> = args.trim_end_matches('\0').split('\0').collect();
    assert_eq!(args[args.len() - 2..], ["--", "it's \"a\" $(touch pwned)\nof two lines; `touch pwned`"]);
    assert_eq!(
        world.shown("cwd").unwrap().trim_end(),
        world.topic.folder.canonicalize().unwrap().to_str().unwrap()
    );
    let env: BTreeMap<&str, &str> = env.split('\0').filter_map(|e| e.split_once('=')).collect();
    assert_eq!(env.get("KEY"), Some(&"new key\nof two lines"));
    assert_eq!(env.get("ANTHROPIC_API_KEY"), Some(&"FAKE-secret"));
    assert_eq!(env.get("PATH"), Some(&"/child/bin:/usr/bin:/bin"));
    assert_eq!(env.get("CLAUDE_CONFIG_DIR"), Some(&"/somewhere"));
    assert_eq!(env.get("TERM"), Some(&"screen-256color"), "its own window's and not the caller's");
    assert_eq!(env.get("PAO_HOME"), Some(&world.host.pao_home.to_str().unwrap()));
    for gone in ["TMUX", "TMUX_PANE", "CLAUDECODE", "PAO_SECRET_X", "PAO_TEST_RUN"] {
        assert_eq!(env.get(gone), None, "{gone}");
    }
    let mut files: Vec<(String, u32)> = std::fs::read_dir(world.dir())
        .unwrap()
        .map(|e| e.unwrap())
        .map(|e| (e.file_name().into_string().unwrap(), e.metadata().unwrap().permissions().mode() & 0o777))
        .collect();
    files.sort();
    assert_eq!(
        files,
        [("attach.command".into(), 0o700), ("launch.command".into(), 0o700), ("launch.json".into(), 0o600)]
    );
    for (name, _) in files {
        let bytes = std::fs::read(world.dir().join(name)).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("FAKE-secret"));
    }
}

#[tokio::test]
async fn the_row_has_the_process_that_is_now_the_agent() {
    let world = World::new().await;
    let started = world.launch(world.spec()).await.unwrap();
    until("the agent runs", async || world.shown("env")).await;
    let row = world.row().await;
    let process = row.process.unwrap();
    assert!(process.alive());
    let shown =
        Run::new("ps").args(["-o", "args=", "-p", &process.pid.to_string()]).output().await.unwrap().text();
    assert_eq!(shown, "sleep 60");
    assert!(row.tty.unwrap().starts_with("/dev/"));
    assert_eq!((row.terminal.as_deref(), row.handle), (Some("tmux"), Some(started.launched.handle)));
    assert_eq!(row.state, State::Starting);
}

#[tokio::test]
async fn undo_ends_the_agent_and_closes_its_window() {
    let world = World::new().await;
    let started = world.launch(world.spec()).await.unwrap();
    until("the agent runs", async || world.shown("env")).await;
    let process = world.row().await.process.unwrap();
    let open = world.registry.open_changes(Some(ID)).await.unwrap();
    let kinds: Vec<bool> = open.iter().map(|e| matches!(&e.change, Change::Terminal { .. })).collect();
    assert_eq!((kinds, open.iter().all(|e| e.applied)), (vec![true, false], true));
    assert_eq!(undo(&world.host, &world.registry, &open[1]).await.unwrap(), None, "another room's");
    assert_eq!(undo(&world.host, &world.registry, &open[0]).await.unwrap(), Some(TakenBack::Closed));
    assert!(!process.alive());
    let terminal = choose(&world.host, "tmux").unwrap();
    assert_eq!(terminal.alive(&started.launched.handle).await.unwrap(), Alive::No);
    assert_eq!(world.row().await.state, State::Ended);
    assert_eq!(world.registry.open_changes(Some(ID)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_end_between_opening_the_window_and_noting_it_can_be_undone() {
    let world = World::new().await;
    let started = world.launch(world.spec()).await.unwrap();
    until("the agent runs", async || world.shown("env")).await;
    // As a crash right after opening would have left the journal.
    for entry in world.registry.open_changes(Some(ID)).await.unwrap() {
        world.registry.change_undone(entry.id).await.unwrap();
    }
    let terminal = choose(&world.host, "tmux").unwrap();
    terminal_change(&world.registry, &world.host, ID, &*terminal, "").await.unwrap();
    let open = world.registry.open_changes(Some(ID)).await.unwrap();
    assert_eq!(undo(&world.host, &world.registry, &open[0]).await.unwrap(), Some(TakenBack::Closed));
    assert_eq!(terminal.alive(&started.launched.handle).await.unwrap(), Alive::No);
}

#[tokio::test]
async fn a_stubborn_agent_is_ended_all_the_same() {
    let world = World::new().await;
    let ready = world.root.path().join("ready");
    write_program(
        &world.program,
        &format!(
            "#!/bin/bash\ntrap '' TERM HUP INT\ntouch '{}'\nwhile :; do sleep 0.1; done\n",
            ready.display()
        ),
    );
    world.launch(world.spec()).await.unwrap();
    until("the agent runs", async || ready.exists().then_some(())).await;
    let process = world.row().await.process.unwrap();
    let open = world.registry.open_changes(Some(ID)).await.unwrap();
    undo(&world.host, &world.registry, &open[0]).await.unwrap();
    assert!(!process.alive());
}

#[tokio::test]
async fn a_script_that_runs_twice_starts_one_agent() {
    let world = World::new().await;
    world.launch(world.spec()).await.unwrap();
    until("the agent runs", async || world.shown("env")).await;
    let process = world.row().await.process;
    let again = Run::new(world.dir().join(SCRIPT)).output().await.unwrap();
    assert_eq!(again.status, Some(2), "{}", again.error_text());
    assert!(again.error_text().contains("was started already, or taken back"), "{}", again.error_text());
    let row = world.row().await;
    assert_eq!((row.process, row.state, row.needs), (process, State::Starting, None));
}

#[tokio::test]
async fn a_program_that_cannot_start_is_in_the_row_and_on_the_screen_at_once() {
    let world = World::new().await;
    let missing = world.root.path().join("nowhere");
    let since = Instant::now();
    let started = world.launch(LaunchSpec { program: &missing, ..world.spec() }).await.unwrap();
    let needs = until("the row says why", async || world.row().await.needs).await;
    assert!(since.elapsed() < Duration::from_secs(5));
    assert!(needs.contains("nowhere cannot be started"), "{needs}");
    assert_eq!(world.row().await.state, State::Ended);
    let terminal = choose(&world.host, "tmux").unwrap();
    let handle = &started.launched.handle;
    until("it has ended", async || (terminal.alive(handle).await.unwrap() == Alive::No).then_some(())).await;
    assert!(terminal.screen(handle).await.unwrap().contains("cannot be started"));
    assert!(!world.dir().join(ENVIRONMENT).exists());
}

#[tokio::test]
async fn a_folder_that_vanished_is_said_to_have_vanished() {
    let world = World::new().await;
    std::fs::remove_dir(&world.topic.folder).unwrap();
    world.launch(world.spec()).await.unwrap();
    let needs = until("the row says why", async || world.row().await.needs).await;
    assert!(needs.ends_with("is not a folder any more"), "{needs}");
}

#[tokio::test]
async fn skipping_permissions_is_refused_without_consent_and_as_root() {
    let mut world = World::new().await;
    let skip = |agreed| LaunchSpec { permission: Permission::Skip, agreed, ..world.spec() };
    let refused = world.launch(skip(BTreeSet::new())).await;
    assert!(matches!(refused, Err(LaunchError::SkipNotAgreed)));
    assert!(!world.dir().exists() && world.registry.open_changes(None).await.unwrap().is_empty());
    let spec = skip(BTreeSet::from([Agreed::SkipPermissions]));
    assert!(matches!(
        allowed(&world.host, &CLAUDE_CODE, &spec, true),
        Err(LaunchError::SkipAsRoot("Claude Code"))
    ));
    assert!(allowed(&world.host, &CLAUDE_CODE, &spec, false).is_ok());
    let program = world.program.clone();
    world.host.env.insert("IS_SANDBOX".into(), "1".into());
    let spec = LaunchSpec {
        permission: Permission::Skip,
        program: &program,
        agreed: BTreeSet::from([Agreed::SkipPermissions]),
        ..world.spec()
    };
    assert!(allowed(&world.host, &CLAUDE_CODE, &spec, true).is_ok());
}

#[tokio::test]
async fn an_id_that_is_a_path_is_refused() {
    let world = World::new().await;
    for id in ["", "..", "../agents/a1b2c3", "a/b", "a b"] {
        let error = run(&world.host, &world.registry, id).await;
        assert_eq!(error.kind, crate::Kind::User, "{id}");
    }
}

/// A terminal that notes what stood in the journal when it was asked, and then refuses.
struct Refusing<'a> {
    registry: &'a Registry,
    dir: PathBuf,
    seen: Mutex<Vec<String>>,
}

#[async_trait]
impl Terminal for Refusing<'_> {
    fn name(&self) -> &'static str {
        "tmux"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
    async fn open(&self, script: &Script) -> Result<Opened, TerminalError> {
        let mut seen = vec![
            format!("script {}", script.path.exists()),
            format!("env {}", self.dir.join(ENVIRONMENT).exists()),
        ];
        for entry in self.registry.open_changes(Some(ID)).await.unwrap() {
            seen.push(
                format!("{:?} {}", entry.change, entry.applied).split(['{', ' ']).next().unwrap().to_string(),
            );
        }
        self.seen.lock().unwrap().extend(seen);
        Err(TerminalError::Denied { terminal: "Terminal.app" })
    }
    async fn screen(&self, _: &str) -> Result<String, TerminalError> {
        unreachable!()
    }
    async fn key(&self, _: &str, _: Key) -> Result<(), TerminalError> {
        unreachable!()
    }
    async fn paste(&self, _: &str, _: &str) -> Result<(), TerminalError> {
        unreachable!()
    }
    async fn submit(&self, _: &str) -> Result<(), TerminalError> {
        unreachable!()
    }
    async fn alive(&self, _: &str) -> Result<Alive, TerminalError> {
        unreachable!()
    }
    async fn focus(&self, _: &str) -> Result<(), TerminalError> {
        unreachable!()
    }
    async fn close(&self, _: &str) -> Result<(), TerminalError> {
        unreachable!()
    }
}

#[tokio::test]
async fn a_terminal_that_refuses_leaves_no_environment_and_no_window_in_the_journal() {
    let world = World::new().await;
    let terminal = Refusing { registry: &world.registry, dir: world.dir(), seen: Mutex::default() };
    let refused =
        launch(&world.host, &world.registry, &terminal, &CLAUDE_CODE, &world.topic, world.spec()).await;
    assert!(matches!(refused, Err(LaunchError::Terminal(TerminalError::Denied { .. }))));
    // Everything was written and journalled before the terminal was asked.
    assert_eq!(*terminal.seen.lock().unwrap(), ["script true", "env true", "Terminal", "Private"]);
    assert!(!world.dir().join(ENVIRONMENT).exists());
    let open = world.registry.open_changes(Some(ID)).await.unwrap();
    assert!(
        matches!(open[..], [crate::registry::journal::Entry { change: Change::Private { .. }, .. }]),
        "{open:?}"
    );
}

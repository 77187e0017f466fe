//! Watching an agent start, in real tmux: programs that behave like one in known ways, and the real Claude Code.

mod claude;
mod played;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pao_core::agent::CLAUDE_CODE;
use pao_core::host::Host;
use pao_core::host::process::Identity;
use pao_core::host::terminal::tmux::Tmux;
use pao_core::host::terminal::{Script, Terminal};
use pao_core::registry::Registry;
use pao_core::registry::agents::{Agent, State};
use pao_core::spawn::passed::{Agreed, Launched, Permission, Ready, Receipt};
use pao_core::spawn::ready::{self, Expect, ReadyError};
use tokio_util::sync::CancellationToken;

use crate::harness::world::{PAO, World};

/// Registry id of the one agent of each test.
const ID: &str = "a1b2c3";
/// Its conversation.
const SESSION: &str = "5c0375b4-57a5-4f26-b12d-d022ee4e51b7";

/// A world with one agent that is about to start.
struct Start {
    world: World,
    host: Host,
    folder: PathBuf,
    terminal: Tmux,
    registry: Registry,
    limit: Duration,
}

impl Start {
    async fn new() -> Self {
        let mut world = World::new();
        world.real_clock();
        let folder = world.folder("code/app");
        let host = Host {
            home: world.home.clone(),
            pao_home: world.path(".pao"),
            cwd: world.home.clone(),
            exe: PAO.into(),
            env: world.env().clone(),
            frozen: None,
        };
        fs::create_dir_all(host.agent_dir(ID)).unwrap();
        let registry = Registry::open(&host.registry_file()).await.unwrap();
        let agent = Agent {
            session: Some(SESSION.into()),
            ..Agent::starting(ID, "app", &folder, CLAUDE_CODE.kind, host.now())
        };
        registry.add(&agent).await.unwrap();
        let terminal = Tmux::new(&host).unwrap();
        Self { world, host, folder, terminal, registry, limit: Duration::from_secs(40) }
    }

    /// Opens a window that runs these shell lines in the agent's folder.
    async fn open(&self, lines: &str) -> Launched {
        let path = self.host.agent_dir(ID).join("launch.command");
        let text = format!("#!/bin/sh\ncd '{}' || exit 1\n{lines}\n", self.folder.display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let opened = self.terminal.open(&Script { path, title: "app".into() }).await.unwrap();
        let handle: serde_json::Value = serde_json::from_str(&opened.handle).unwrap();
        let pid = u32::try_from(handle["pid"].as_u64().unwrap()).unwrap();
        if let Some(process) = Identity::of(pid) {
            self.registry.set_process(ID, process, None, self.host.now()).await.unwrap();
        }
        Launched {
            agent: ID.into(),
            session: Some(SESSION.into()),
            terminal: "tmux".into(),
            handle: opened.handle,
            attach: opened.attach,
            shown: opened.shown,
            at: self.host.now(),
            prompt_in_arguments: true,
            agreed: BTreeSet::from([Agreed::Trust]),
        }
    }

    async fn wait(&self, launched: &Launched, prompt: Option<&str>) -> Result<Ready, ReadyError> {
        let expect = Expect { prompt, briefing: true, after: 0 };
        let cancel = CancellationToken::new();
        let (host, registry) = (&self.host, &self.registry);
        ready::wait(host, registry, &self.terminal, &CLAUDE_CODE, launched, &expect, self.limit, &cancel)
            .await
    }

    async fn row(&self) -> Agent {
        self.registry.agent(ID).await.unwrap().unwrap()
    }

    /// The row once it says that the user is needed, which a hook may write a moment after the start.
    async fn comes_to_need_you(&self, already: bool) -> Agent {
        for _ in 0..if already { 1 } else { 200 } {
            let row = self.row().await;
            if row.state == State::NeedsYou {
                return row;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.row().await
    }

    async fn screen(&self, launched: &Launched) -> String {
        self.terminal.screen(&launched.handle).await.unwrap_or_default()
    }
}

fn receipt(ready: &Ready) -> Receipt {
    ready.receipt
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn captured(name: &str) -> String {
    fs::read_to_string(root().join(format!("tests/fixtures/claude-code/screens/{name}.txt"))).unwrap()
}

//! Watches the registry, projects and transcripts, and tells the windows what changed, whoever changed it: the app, the command line or a hook.
//!
//! Nothing is asked again and again. When the watcher breaks down it is begun anew; meanwhile the windows keep what
//! they last knew.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pao_core::config::Config;
use pao_core::host::Host;
use pao_core::life::sweep::sweep;
use pao_core::life::watch::{Changes, Watch};
use pao_core::registry::Registry;
use pao_core::spawn::program;
use pao_core::{Error, projects};

use crate::shell::Shell;
use crate::{credentials, notices};

/// How long a watcher that broke down is left alone.
const REST: Duration = Duration::from_secs(2);
/// How long what was read of a registry to which nothing can be written is shown as it is.
const READ_ANEW: Duration = Duration::from_secs(30);

/// Of how many projects the changes are wanted: those a window or the tray's menu shows without being asked.
const SHOWN: usize = 12;

/// Watches projects and transcripts, and begins anew when that breaks down; what was seen is kept meanwhile.
async fn watch_projects(shell: Shell) {
    loop {
        let (config, _) = Config::load_or_defaults(&shell.host);
        let mut watch = projects::Watch::start(&shell.host, &config);
        while let Some(seen) = watch.next().await {
            shell.see(seen);
            let glance = shell.refresh().await;
            watch.show(glance.projects.iter().take(SHOWN).map(|project| project.folder.clone().into()));
        }
        tracing::error!("projects are not watched any more; that is begun anew");
        tokio::time::sleep(REST).await;
    }
}

/// Begins to watch, for as long as the app runs.
pub fn begin(shell: &Shell) {
    tauri::async_runtime::spawn(watch_projects(shell.clone()));
    let shell = shell.clone();
    tauri::async_runtime::spawn(async move {
        shell.check_command();
        notices::begin(&shell);
        credentials::keep(&shell).await;
        shell.refresh().await;
        tauri::async_runtime::spawn(look_for_agent(shell.clone()));
        let mut read = None::<Instant>;
        loop {
            match tauri::async_runtime::spawn(watch(shell.clone())).await {
                Ok(Ok(())) if shell.host.registry_file().exists() => {}
                Ok(Ok(())) => {
                    // With everything else it was removed on purpose.
                    let gone = gone();
                    shell.trouble("registry", shell.host.pao_home.exists().then_some(&gone));
                    shell.refresh().await;
                    // Whoever writes the next row brings it back, not the app.
                    while !shell.host.registry_file().exists() {
                        tokio::time::sleep(REST).await;
                    }
                }
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the registry is not watched");
                    shell.trouble("registry", Some(&error));
                    // What is known is shown all the same, read anew now and then.
                    if read.is_none_or(|read| read.elapsed() > READ_ANEW) {
                        shell.watch(unwritable(&shell.host).await);
                        read = Some(Instant::now());
                    }
                    shell.refresh().await;
                    shell.watch(None);
                    tokio::time::sleep(REST).await;
                }
                Err(error) => {
                    tracing::error!(%error, "the watcher broke down and is begun anew");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    });
}

/// A registry to which nothing can be written, as it is now.
async fn unwritable(host: &Host) -> Option<Arc<Registry>> {
    let registry = Registry::open_to_ask(&host.registry_file()).await.ok()?;
    registry.refusal()?;
    sweep(host, &registry).await;
    Some(Arc::new(registry))
}

fn gone() -> Error {
    Error::environment(
        "the list of agents was removed from the disk; what is shown is what was last known",
        "put registry.db back from a backup, or start an agent, which begins a new list",
    )
}

/// Which file that is; `None` where there is none.
fn identity(file: &Path) -> Option<(u64, u64)> {
    file.metadata().ok().map(|file| (file.dev(), file.ino()))
}

/// Watches until the registry is gone, is another, or does not read.
async fn watch(shell: Shell) -> Result<(), Error> {
    let host = shell.host.clone();
    let file = host.registry_file();
    let registry = Arc::new(Registry::open(&file).await?);
    let opened = identity(&file);
    shell.watch(Some(registry.clone()));
    shell.trouble("registry", None);
    // Whatever ends this, nobody reads a registry that is not watched.
    let _unwatched = Unwatch(shell.clone());
    let mut agents = Watch::new(&host, &registry);
    let mut files = Changes::new();
    files.also(host.pao_home.clone());
    if let Some(why) = &files.unwatched {
        tracing::warn!(why, "files cannot be watched, so they are looked at every 2 s");
    }
    let turns = async {
        loop {
            agents.next().await?;
            shell.refresh().await;
        }
    };
    // What is no agent's row: settings, texts that wait, cleanups.
    let rest = async {
        // One in its place is another.
        while identity(&file) == opened {
            files.next().await;
            credentials::keep(&shell).await;
            shell.refresh().await;
        }
    };
    tokio::select! {
        ended = turns => ended,
        () = rest => Ok(()),
    }
}

struct Unwatch(Shell);

impl Drop for Unwatch {
    fn drop(&mut self) {
        self.0.watch(None);
    }
}

/// Whether there is a host agent at all, found out once and again when its setting changes.
pub async fn look_for_agent(shell: Shell) {
    let Ok(context) = shell.context_to_ask().await else { return };
    let found = match context.agent() {
        Ok(agent) => program::find(&context.host, agent, context.config.command(agent)).await,
        Err(error) => Err(error),
    };
    shell.trouble("no-agent", found.as_ref().err());
    shell.refresh().await;
}

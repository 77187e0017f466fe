//! One file per verb: what was typed becomes one call of the core, and its answer becomes a screen.

mod agent;
mod agents;
mod app;
mod brief;
mod checkpoint;
mod clean;
pub mod completions;
mod config;
mod consents;
mod doctor;
mod file_manager;
mod focus;
mod handover;
mod index;
mod logs;
mod marks;
mod pause;
mod projects;
mod rebrief;
mod recall;
mod resume;
mod secret;
mod sources;
mod spawn;
mod tell;
mod undo;
mod uninstall;
mod wait;

use std::time::Duration;

use pao_core::host::Host;
use pao_core::registry::agents::Agent;
use pao_core::{Context, Error};

use crate::args::Verb;
use crate::args::look::{Agents, AgentsVerb};
use crate::render::{Screen, clean as clean_words};

/// How long nobody wonders what is going on.
const UNNOTICED: Duration = Duration::from_secs(1);

/// Does something that may have to wait, and says so on standard error when it does.
async fn patiently<T>(screen: Screen, waiting: impl FnOnce() -> String, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    if let Ok(done) = tokio::time::timeout(UNNOTICED, &mut work).await {
        return done;
    }
    screen.aside(&waiting());
    work.await
}

/// Opens the registry, and says so where another process keeps it.
async fn waiting<T, E: Into<Error>>(
    host: &Host,
    screen: Screen,
    opening: impl Future<Output = Result<T, E>>,
) -> Result<T, Error> {
    let said = || format!("waiting for another process to let go of {}", host.display(&host.registry_file()));
    patiently(screen, said, Box::pin(opening)).await.map_err(Into::into)
}

/// Opens everything for a verb that only looks, or for one that writes and waits for another process.
async fn context(host: Host, screen: Screen, looks: bool) -> Result<Context, Error> {
    if looks {
        return Context::open_to_look(host).await;
    }
    waiting(&host.clone(), screen, Context::open(host)).await
}

/// Says which agent was taken where several that are gone have that name.
async fn say_which(screen: Screen, context: &Context, word: &str, taken: &Agent) -> Result<(), Error> {
    let others = context.registry.namesakes(taken).await?;
    if word != taken.name || others.is_empty() {
        return Ok(());
    }
    let one = |agent: &Agent| {
        let at = context.host.local(agent.ended_at.unwrap_or(agent.state_at)).format("%Y-%m-%d %H:%M");
        format!("{} ({} {at})", agents::short(&agent.id), agent.state.name())
    };
    let others: Vec<String> = others.iter().map(one).collect();
    let name = clean_words(&taken.name);
    screen.aside(&format!("{name}: {} was taken; others of that name: {}", one(taken), others.join(", ")));
    Ok(())
}

/// Runs a verb; its exit code.
pub async fn run(verb: Verb, host: Host, screen: Screen) -> Result<u8, Error> {
    match verb {
        Verb::Spawn(what) => spawn::run(host, screen, what).await,
        Verb::Brief(what) => brief::run(host, screen, what).await,
        Verb::Recall(what) => recall::run(host, screen, what).await,
        Verb::Marks(what) => marks::run(host, screen, what).await,
        Verb::Undo(what) => undo::run(host, screen, what).await,
        Verb::Consents(what) => consents::run(host, screen, what).await,
        Verb::Uninstall(what) => uninstall::run(&host, screen, what).await,
        Verb::Agents(Agents { what: Some(AgentsVerb::Clean(what)), .. }) => {
            clean::run(host, screen, what).await
        }
        Verb::Pause(what) => pause::run(host, screen, what).await,
        Verb::Resume(what) => resume::run(host, screen, what).await,
        Verb::Checkpoint(what) => checkpoint::run(host, screen, what).await,
        Verb::Agents(what) => agents::run(&host, screen, what).await,
        Verb::Tell(what) => tell::run(host, screen, what).await,
        Verb::Rebrief(what) => rebrief::run(host, screen, what).await,
        Verb::Handover(what) => handover::run(host, screen, what).await,
        Verb::Wait(what) => wait::run(&host, screen, what).await,
        Verb::Agent { what } => agent::run(host, screen, what).await,
        Verb::Focus(what) => focus::run(host, screen, what).await,
        Verb::Logs(what) => logs::run(host, screen, what).await,
        Verb::Projects(what) => projects::run(host, screen, what).await,
        Verb::Sources { what } => sources::run(host, screen, what).await,
        Verb::Secret { what } => secret::run(&host, screen, what).await,
        Verb::Index(what) => index::run(host, screen, what).await,
        Verb::App { folders } => app::run(&host, screen, &folders).await,
        Verb::FileManager { what } => file_manager::run(&host, screen, what).await,
        Verb::Doctor => doctor::run(&host, screen).await,
        Verb::Config { what } => config::run(&host, screen, what),
        Verb::Completions { shell } => completions::run(screen, shell),
    }
}

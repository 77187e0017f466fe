//! The corridor for an agent that comes back: rooms four to seven with a conversation that exists already.
//!
//! It asks what a spawn asks, because trust may have been taken back meanwhile, and takes back only what this very
//! start did when it fails. Which conversation it is and what changed since is decided by who calls.

use tokio_util::sync::CancellationToken;

use super::consent::consents;
use super::passed::{Agreed, Conversation, Ready, Topic, Way};
use super::request::{Face, Progress};
use super::rooms::{Ground, Job, ground_for, rooms};
use super::steps::Steps;
use super::{cancelled, deliver, undo};
use crate::agent::{HostAgent, Version};
use crate::host::files;
use crate::host::terminal::{self, Terminal};
use crate::project::Project;
use crate::registry::agents::Agent;
use crate::{Context, Error};

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Everything that may be refused or has to be asked, done; nothing has been written yet.
pub struct Prepared {
    ground: Ground,
    topic: Topic,
    terminal: Arc<dyn Terminal>,
    agreed: BTreeSet<Agreed>,
}

/// An agent that is back.
#[derive(Debug, Clone, PartialEq)]
pub struct Back {
    /// Its conversation.
    pub session: String,
    /// Terminal that runs it.
    pub terminal: String,
    /// A command with which a person reaches it, where there is one.
    pub attach: Option<String>,
    /// Its window is on the screen.
    pub shown: bool,
    /// How its briefing is delivered.
    pub way: Way,
    /// How the start ended.
    pub ready: Ready,
    /// What the user should know although all went well.
    pub notes: Vec<String>,
    /// Time per step.
    pub steps: Vec<Progress>,
}

impl Prepared {
    /// The host agent.
    pub fn kind(&self) -> &'static HostAgent {
        self.ground.agent
    }

    /// Version of the program that will be started.
    pub fn version(&self) -> Option<Version> {
        self.ground.program.version
    }

    /// Name, folder and project.
    pub fn topic(&self) -> &Topic {
        &self.topic
    }
}

/// Finds the program and the terminal, and asks for what is not agreed to in that folder. `terminal` is a name, or
/// `None` for the one it had.
pub async fn prepare(
    context: &Context,
    agent: &Agent,
    name: &str,
    folder: &Path,
    terminal: Option<&str>,
    face: &dyn Face,
    cancel: &CancellationToken,
) -> Result<Prepared, Error> {
    let ground = ground_for(context, &agent.host_agent).await?;
    let chosen = terminal.or(agent.terminal.as_deref()).unwrap_or(&context.config.spawn.terminal);
    let terminal = terminal::choose(&context.host, chosen)?;
    let topic = Topic {
        prompt: None,
        query: agent.query.clone(),
        folder: folder.to_path_buf(),
        project: Project::of(folder),
        name: name.to_string(),
    };
    let agreed = consents(context, &ground, &topic, agent.permission, face).await;
    // Whoever interrupts a question has not answered it.
    let agreed = if cancel.is_cancelled() { Err(cancelled()) } else { agreed }?;
    Ok(Prepared { ground, topic, terminal, agreed })
}

/// Starts the agent again. When that fails or is cancelled, everything this start did is taken back and the error
/// says so; the row's state is the caller's to settle.
pub async fn start(
    context: &Context,
    prepared: Prepared,
    agent: &Agent,
    conversation: &Conversation,
    changed: &str,
    face: &dyn Face,
    cancel: &CancellationToken,
) -> Result<Back, Error> {
    let Prepared { ground, topic, terminal, agreed } = prepared;
    let id = agent.id.as_str();
    let before = context.registry.open_changes(Some(id)).await?.first().map_or(0, |entry| entry.id);
    let kept = context.host.agent_dir(id).join(deliver::BRIEFING_FILE);
    let briefing = files::read_if_there(&kept).ok().flatten().unwrap_or_default();
    let briefing = String::from_utf8_lossy(&briefing);
    // A briefing that is gone cannot be put into the project again.
    let way = if briefing.trim().is_empty() { Way::Session } else { agent.way };
    let job = Job {
        id,
        topic: &topic,
        briefing: &briefing,
        way: Some(way),
        permission: agent.permission,
        args: &agent.args,
        conversation,
        changed: Some(changed),
        agreed,
    };
    let steps = Steps::new(face);
    match rooms(context, &steps, &ground, &job, terminal.as_ref(), cancel).await {
        Ok((launched, ready, way, notes)) => Ok(Back {
            // Whoever goes back to a conversation names it.
            session: ready.session.clone().or(launched.session).unwrap_or_default(),
            terminal: launched.terminal,
            attach: launched.attach,
            shown: launched.shown,
            way,
            ready,
            notes,
            steps: steps.finished(),
        }),
        Err(error) => Err(undo::after_failed_return(context, id, before, error).await),
    }
}

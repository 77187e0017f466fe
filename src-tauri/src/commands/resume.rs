//! Bringing agents back: one alone asks what there is to ask in the panel, several at once ask nothing.

use futures::future::join_all;
use pao_core::life::resume::{self, Resumed, Resuming};
use pao_core::registry::agents::Agent;
use pao_core::wire::door::{Action, Outcome};
use pao_core::{Context, Error, Remedy};
use serde_json::json;
use tauri::async_runtime::JoinHandle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::agents::{AT_ONCE, outcome};
use crate::door::{Page, Target};
use crate::jobs::{Return, Unasked};
use crate::shell::Shell;
use crate::windows;

pub async fn resume(shell: &Shell, with: Target) -> Result<Vec<Outcome>, Error> {
    let context = shell.context().await?;
    let how = Resuming { anyway: with.now, ..Resuming::default() };
    if let Some(id) = &with.agent {
        let agent = context.registry.named(id).await?;
        return Ok(vec![one(shell, context, agent, how).await]);
    }
    // Only what rests: whoever was lost comes back by its own word.
    let (agents, _) = resume::all(&context, None).await?;
    let at_once = Semaphore::new(AT_ONCE);
    let work = agents.iter().map(|agent| unasked(&context, agent, &how, &at_once));
    let done = join_all(work).await;
    shell.refresh().await;
    Ok(done)
}

async fn unasked(context: &Context, agent: &Agent, how: &Resuming, at_once: &Semaphore) -> Outcome {
    let _turn = at_once.acquire().await;
    let done = resume::resume(context, &agent.id, how, &Unasked, &CancellationToken::new()).await;
    let alone = done.as_ref().is_err_and(|error| error.remedy == Some(Remedy::Alone));
    let action = alone.then(|| {
        let with = json!({ "agent": agent.id, "now": how.anyway });
        Action::new(&format!("Resume {}…", agent.name), "resume", with)
    });
    Outcome { action, ..outcome(&agent.name, done.map(|_| "resumed".into())) }
}

/// Waits until the agent is back, or until there is something to answer, for which the panel is opened.
async fn one(shell: &Shell, context: Context, agent: Agent, how: Resuming) -> Outcome {
    if let Some(job) = shell.jobs.resuming(&agent.id) {
        return asks(shell, &agent.name, job);
    }
    let name = agent.name.clone();
    let (face, asked) = Return::new(shell, agent, how);
    let done = run(shell, context, face);
    tokio::select! {
        biased;
        Ok(job) = asked => asks(shell, &name, job),
        done = done => {
            let done = done.unwrap_or_else(|error| Err(Error::internal(format!("the return broke down: {error}"))));
            outcome(&name, done.map(|_| "resumed".into()))
        }
    }
}

fn asks(shell: &Shell, name: &str, job: String) -> Outcome {
    let action = Some(Action::new("Answer…", "open", json!({ "page": "job", "id": job })));
    windows::open(&shell.app, Page::Job { id: job });
    Outcome { action, ..Outcome::new(name, "asks you something before it comes back", true) }
}

/// Brings an agent back once more, followed from its first step; the job's id.
pub(super) async fn again(shell: &Shell, id: &str, how: Resuming) -> Result<String, Error> {
    let context = shell.context().await?;
    let agent = context.registry.named(id).await?;
    let (face, _) = Return::new(shell, agent, how);
    let job = face.follow().job.clone();
    // How it went stands in its job.
    drop(run(shell, context, face));
    Ok(job)
}

fn run(shell: &Shell, context: Context, face: Return) -> JoinHandle<Result<Resumed, Error>> {
    let shell = shell.clone();
    tauri::async_runtime::spawn(async move {
        let done = face.run(&context).await;
        shell.refresh().await;
        done
    })
}

//! Verbs for agents that run or rest.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::join_all;
use pao_core::life::account::account;
use pao_core::life::focus::{self, Focused};
use pao_core::life::handover;
use pao_core::life::logs::{self, Log};
use pao_core::life::pause::{self, Pausing};
use pao_core::life::rebrief::{self, Delivery};
use pao_core::life::tell::{self, To};
use pao_core::life::{checkpoint, repository};
use pao_core::spawn::request::Request;
use pao_core::view::{page, used};
use pao_core::wire::door::{AgentPage, Message, Outcome};
use pao_core::words::counted;
use pao_core::{Context, Error};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::door::{Checkpointing, Handover, Target, Tell};
use crate::shell::Shell;

/// How much of what was said is looked through for what an agent took up of its briefing.
const SAID: usize = 2_000;
/// How many agents are paused or resumed at once.
pub(super) const AT_ONCE: usize = 4;
/// How long a window waits for a text to be delivered before it shows that it is queued.
const TELL: Duration = Duration::from_secs(2);

pub async fn agent(shell: &Shell, id: String) -> Result<AgentPage, Error> {
    let context = shell.context_to_ask().await?;
    let (account, kept) =
        tokio::try_join!(account(&context, &id), checkpoint::list(&context.registry, Some(&id)))?;
    let standing = repository::standing(&account.agent.folder).await;
    let titles: BTreeMap<String, String> = kept.iter().map(|c| (c.id.clone(), c.data.summary())).collect();
    let half_life = context.config.freshness.half_life();
    let mut page = page::page(&account, standing.as_ref(), &titles, &context.host, half_life);
    if let Some(path) = logs::transcript(&context.host, &account.agent) {
        // A conversation may be long, and is read from its end.
        let said = tokio::task::spawn_blocking(move || Log::tail(&path, SAID)).await;
        let said = said.ok().and_then(Result::ok).map(|(_, said)| said).unwrap_or_default();
        used::note(&mut page.briefing, &said);
    }
    Ok(page)
}

pub async fn focus(shell: &Shell, id: String) -> Result<Outcome, Error> {
    let context = shell.context_to_ask().await?;
    if let Some(error) = context.without_registry.clone() {
        return Err(error);
    }
    let (agent, focused) = focus::focus(&context, &id).await?;
    Ok(match focused {
        Focused::InFront => well(agent.name, "its terminal is in front"),
        Focused::Behind(_) => {
            let what =
                "its terminal is open, but could not be brought to the front: find it among your windows";
            Outcome::new(agent.name, what, false)
        }
        Focused::Attach(command) => {
            Outcome::new(agent.name, format!("no window can be shown; run: {command}"), false)
        }
    })
}

pub async fn tell(shell: &Shell, with: Tell) -> Result<Message, Error> {
    let context = shell.context().await?;
    let told = tell::tell(&context, &To::Name(with.agent), &with.text, Some(TELL)).await?;
    shell.refresh().await;
    let told = told.into_iter().next().ok_or_else(|| Error::internal("a text was told to nobody"))?;
    Ok(message(told))
}

pub async fn withdraw(shell: &Shell, id: i64) -> Result<Message, Error> {
    let context = shell.context().await?;
    let told = tell::withdraw(&context, id).await?;
    shell.refresh().await;
    Ok(message(told))
}

fn message(told: tell::Told) -> Message {
    Message { id: told.id, at: told.at, text: told.text, fate: told.fate.name().into(), note: told.note }
}

pub async fn checkpoint(shell: &Shell, with: Checkpointing) -> Result<Outcome, Error> {
    let context = shell.context().await?;
    let row = context.registry.named(&with.agent).await?;
    let made = checkpoint::make(&context.host, &context.registry, &row, with.message.as_deref()).await?;
    Ok(well(row.name, format!("checkpoint {}: {}", made.id, made.data.summary())))
}

pub async fn pause(shell: &Shell, with: Target) -> Result<Vec<Outcome>, Error> {
    let context = shell.context().await?;
    let agents = match &with.agent {
        Some(id) => vec![context.registry.named(id).await?],
        None => pause::all(&context, None).await?,
    };
    let how = Pausing { now: with.now, ..Pausing::default() };
    let at_once = Semaphore::new(AT_ONCE);
    let work = agents.iter().map(|agent| pause_one(&context, &agent.id, &how, &at_once));
    let done = join_all(work).await;
    shell.refresh().await;
    Ok(agents.iter().zip(done).map(|(agent, result)| outcome(&agent.name, result)).collect())
}

async fn pause_one(context: &Context, id: &str, how: &Pausing, at_once: &Semaphore) -> Result<String, Error> {
    let _turn = at_once.acquire().await;
    let paused = pause::pause(context, id, how, &CancellationToken::new()).await?;
    let megabytes = paused.freed / 1_048_576;
    let said = format!("paused, {megabytes} MB freed, checkpoint {}", paused.checkpoint.id);
    Ok(paused.notes.iter().fold(said, |said, note| said + "; " + note))
}

pub async fn rebrief(shell: &Shell, id: String) -> Result<Outcome, Error> {
    let context = shell.context().await?;
    let done = rebrief::rebrief(&context, Some(&id), &CancellationToken::new()).await?;
    let one = done.into_iter().next().ok_or_else(|| Error::internal("nobody was given what is new"))?;
    shell.asked(&one.reports);
    shell.refresh().await;
    let lines = counted(one.lines.len(), "new line", "new lines");
    Ok(well(one.name, reaches(one.delivery, &lines)))
}

fn reaches(delivery: Delivery, what: &str) -> String {
    match delivery {
        Delivery::Nothing => "there is nothing new".into(),
        Delivery::NextPrompt => format!("{what}: handed over with its next prompt"),
        Delivery::File => format!("{what}: in the briefing file it reads by itself"),
    }
}

pub async fn handover(shell: &Shell, with: Handover) -> Result<Outcome, Error> {
    let context = shell.context().await?;
    let from = context.registry.named(&with.from).await?;
    let text = with.text.unwrap_or_default();
    let Some(to) = &with.to else {
        let request = handover::to_new(&context, &from, Request { text, ..Request::default() }).await?;
        super::spawn::begin(shell, request);
        return Ok(well(from.name, "a new agent is being started with its work"));
    };
    if !text.is_empty() {
        tell::check(&text)?;
    }
    let (to, delivery) = handover::to_running(&context, &from, to).await?;
    let mut said = reaches(delivery, &format!("what {} came to", from.name));
    if !text.is_empty() {
        let told = tell::tell(&context, &To::Name(to.id.clone()), &text, Some(TELL)).await?;
        said.extend(told.first().map(|told| format!("; the prompt is {}", told.fate.name())));
    }
    shell.refresh().await;
    Ok(well(to.name, said))
}

fn well(what: String, outcome: impl Into<String>) -> Outcome {
    Outcome::new(what, outcome, true)
}

/// One that failed is an outcome of its own: the others went on.
pub(super) fn outcome(name: &str, result: Result<String, Error>) -> Outcome {
    match result {
        Ok(said) => well(name.into(), said),
        Err(error) => {
            let error = error.for_window();
            Outcome::new(name, format!("{}: {}", error.message, error.next), false)
        }
    }
}

//! Cleaning up, and taking it back.

use std::collections::BTreeSet;

use pao_core::life::clean::{self, Asks, Of, Wanted};
use pao_core::view::cleanup;
use pao_core::wire::door::{CleanDone, CleanPlan};
use pao_core::{Context, Error};

use crate::shell::Shell;

pub async fn forget(shell: &Shell, id: String) -> Result<CleanDone, Error> {
    let context = shell.context().await?;
    let wanted = Wanted { names: vec![id.clone()], ..Wanted::default() };
    let plan = clean::plan(&context.host, &context.registry, &wanted).await?;
    let its = |of: &Of| matches!(of, Of::Agent { id: its } | Of::Lost { id: its } if *its == id);
    let group = plan.groups.iter().find(|group| its(&group.of));
    let Some(group) = group else {
        return Err(Error::user("nothing of this agent is left to be put aside", "see the list of agents"));
    };
    if let Some(why) = &group.held {
        return Err(Error::user(format!("{} stays: {why}", group.title), "end it first, then forget it"));
    }
    if matches!(group.asks, Asks::Running | Asks::Final) {
        return Err(Error::user(
            format!("{} still runs", group.title),
            "end or pause it first, then forget it",
        ));
    }
    let chosen = BTreeSet::from([group.key.clone()]);
    made(shell, &context, plan, &chosen).await
}

pub async fn plan(shell: &Shell, _with: ()) -> Result<CleanPlan, Error> {
    let context = shell.context_to_ask().await?;
    let plan = clean::plan(&context.host, &context.registry, &from_the_list()).await?;
    Ok(cleanup::plan(&plan, context.host.now()))
}

pub async fn clean(shell: &Shell, chosen: Vec<String>) -> Result<CleanDone, Error> {
    let context = shell.context().await?;
    let plan = clean::plan(&context.host, &context.registry, &from_the_list()).await?;
    made(shell, &context, plan, &chosen.into_iter().collect()).await
}

/// Every entry has a tick of its own, so a paused agent can be chosen there, too.
fn from_the_list() -> Wanted {
    Wanted { one_by_one: true, ..Wanted::default() }
}

async fn made(
    shell: &Shell,
    context: &Context,
    plan: clean::Plan,
    chosen: &BTreeSet<String>,
) -> Result<CleanDone, Error> {
    let pick = |group: &clean::Group| group.held.is_none() && chosen.contains(&group.key);
    if !plan.groups.iter().any(pick) {
        return Err(Error::user(
            "nothing of what was chosen can be cleaned up any more",
            "look at the list again",
        ));
    }
    let done = clean::apply(&context.host, &context.registry, plan, pick, false).await?;
    shell.refresh().await;
    Ok(cleanup::done(&done.record, false))
}

pub async fn undo(shell: &Shell, id: String) -> Result<CleanDone, Error> {
    let context = shell.context().await?;
    let record = clean::undo(&context.host, &context.registry, Some(&id)).await?;
    shell.refresh().await;
    Ok(cleanup::done(&record, true))
}

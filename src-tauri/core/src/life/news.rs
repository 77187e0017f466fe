//! What the memory stores have learnt since a moment and an agent was not told yet.
//!
//! The stores are asked what they were asked for the agent's briefing. Only what is dated after the moment counts: a
//! memory without a date may be old. What was said in the agent's own conversations is no news to it.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::hook::CHANGED_FILE;
use crate::host::files;
use crate::project::Project;
use crate::registry::agents::Agent;
use crate::source::Question;
use crate::spawn::passed::{Gathered, Line, SourceReport, Topic};
use crate::spawn::{briefing, deliver, gather};
use crate::{Context, Error};

/// What is new.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct News {
    /// New memories, ready to be shown to the agent (see [`briefing::cited`]), best first.
    pub lines: Vec<Line>,
    /// How each store fared.
    pub reports: Vec<SourceReport>,
}

/// Asks the stores. `budget` is in tokens.
pub async fn news(
    context: &Context,
    agent: &Agent,
    since: DateTime<Utc>,
    budget: usize,
    cancel: &CancellationToken,
) -> Result<News, Error> {
    let (topic, mut gathered) = ask(context, agent, cancel).await?;
    gathered.snippets.retain(|snippet| snippet.at.is_some_and(|at| at > since));
    let budget = budget + briefing::LEAST_BUDGET;
    let marks = context.registry.marks_in(&topic.project.id).await?.without_pins();
    let (now, pao) = (context.host.now(), &context.host.exe);
    let options = briefing::Options { budget, now, pao, marks: &marks };
    let told = told_before(context, agent);
    let lines = briefing::compose(&topic, &gathered, &options).lines;
    let known = |line: &Line| told.contains(&(line.source.clone(), line.id.clone()));
    let lines = lines.into_iter().filter(|line| line.left_out.is_none() && !known(line)).collect();
    Ok(News { lines, reports: gathered.reports })
}

/// Asks the stores of an agent's briefing its question again; without what was said in its own conversations.
pub(super) async fn ask(
    context: &Context,
    agent: &Agent,
    cancel: &CancellationToken,
) -> Result<(Topic, Gathered), Error> {
    let project = Project::of(&agent.folder);
    let choices = context.registry.choices(&agent.folder).await?;
    let mut sources = context.sources()?;
    sources.retain(|(source, _)| {
        let named = |list: &[String]| list.iter().any(|name| name == source.name());
        (choices.only_sources.is_empty() || named(&choices.only_sources)) && !named(&choices.without_sources)
    });
    let question = Question {
        text: agent.query.clone(),
        folder: agent.folder.clone(),
        project: project.id.clone(),
        project_name: project.name.clone(),
        now: context.host.now(),
    };
    let mut gathered = gather::gather(&sources, &question, cancel, |_| ()).await;
    let own: BTreeSet<String> = context.registry.sessions(&agent.id).await?.into_iter().collect();
    gathered.snippets.retain(|snippet| !snippet.session.as_ref().is_some_and(|s| own.contains(s)));
    let topic = Topic {
        prompt: agent.prompt.clone(),
        query: agent.query.clone(),
        folder: agent.folder.clone(),
        project,
        name: agent.name.clone(),
    };
    Ok((topic, gathered))
}

/// What the agent's briefing, and what it was told at its last return, cite.
fn told_before(context: &Context, agent: &Agent) -> BTreeSet<(String, String)> {
    let dir = context.host.agent_dir(&agent.id);
    let texts = [deliver::BRIEFING_FILE, CHANGED_FILE].map(|name| files::read_if_there(&dir.join(name)));
    let texts = texts.into_iter().filter_map(|read| read.ok().flatten());
    texts.flat_map(|text| briefing::citations(&String::from_utf8_lossy(&text))).collect()
}

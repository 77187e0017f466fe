//! Asks the sources one question, for a person or a running agent.
//!
//! What comes back went through the same rooms as a briefing: ranked across sources, redacted, neutralised, and
//! without what addresses the agent.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::Context;
use crate::Error;
use crate::marks::{Marks, shown};
use crate::project::Project;
use crate::source::{Limits, Question, Snippet, Source};
use crate::spawn::passed::{Gathered, LeftOut, Line, SourceReport, Topic};
use crate::spawn::{briefing, gather};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The question.
    pub query: String,
    /// The folder whose project counts as near; the current one where absent.
    pub folder: Option<PathBuf>,
    /// Ask only these sources; empty for all enabled ones.
    pub only_sources: Vec<String>,
    /// Do not ask these sources.
    pub without_sources: Vec<String>,
    /// At most this many memories.
    pub limit: usize,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// How each source fared.
    pub reports: Vec<SourceReport>,
    /// Memories, best first.
    pub lines: Vec<Line>,
    /// Memories that address the agent, for people to see and no agent to follow.
    pub held_back: Vec<Line>,
    /// Memories that the user wants never said.
    pub never: Vec<Line>,
    /// Everything the sources returned.
    pub snippets: Vec<Snippet>,
}

/// Tokens nobody will reach: memories are limited by number here, not by room.
const BUDGET: usize = 1_000_000;

/// Asks the sources; writes nothing.
pub async fn recall(context: &Context, asked: &Asked, cancel: &CancellationToken) -> Result<Recalled, Error> {
    let host = &context.host;
    let folder = asked.folder.as_ref().map_or_else(|| host.cwd.clone(), |f| host.cwd.join(f));
    let folder = folder.canonicalize().map_err(|e| {
        Error::user(
            format!("{} cannot be used: {e}", host.display(&folder)),
            "give an existing folder with -C",
        )
    })?;
    let sources = sources(context, asked)?;
    let project = Project::of(&folder);
    let question = Question {
        text: asked.query.clone(),
        folder: folder.clone(),
        project: project.id.clone(),
        project_name: project.name.clone(),
        now: host.now(),
    };
    let compiled = tokio::task::spawn_blocking(briefing::compile_patterns);
    let gathered = gather::gather(&sources, &question, cancel, |_| ()).await;
    // Where it broke down, composing does the same again and says why.
    let _ = compiled.await;
    let topic = Topic {
        prompt: Some(asked.query.clone()),
        query: asked.query.clone(),
        folder,
        project,
        name: String::new(),
    };
    let marks = context.registry.marks_in(&topic.project.id).await?.only_never();
    Ok(rank(context, &topic, gathered, &marks, asked.limit))
}

/// Sources, each with its limits.
type Limited = Vec<(Arc<dyn Source>, Limits)>;

fn sources(context: &Context, asked: &Asked) -> Result<Limited, Error> {
    let mut sources = context.sources()?;
    let known = |name: &String| sources.iter().any(|(source, _)| source.name() == name);
    if let Some(name) = asked.only_sources.iter().chain(&asked.without_sources).find(|name| !known(name)) {
        return Err(Error::user(
            format!("there is no source {name} that is switched on"),
            "see `pao sources`",
        ));
    }
    sources.retain(|(source, _)| {
        (asked.only_sources.is_empty() || asked.only_sources.iter().any(|s| s == source.name()))
            && !asked.without_sources.iter().any(|s| s == source.name())
    });
    for (_, limits) in &mut sources {
        // More than are shown: what one source ranks low may be the best of all.
        limits.snippets = limits.snippets.max(asked.limit.saturating_mul(2));
    }
    Ok(sources)
}

fn rank(context: &Context, topic: &Topic, gathered: Gathered, marks: &Marks, limit: usize) -> Recalled {
    let host = &context.host;
    let options = briefing::Options { budget: BUDGET, now: host.now(), pao: &host.exe, marks };
    let composed = briefing::compose(topic, &gathered, &options);
    shown::remember(host, &gathered.snippets, &composed.lines);
    let (held_back, others): (Vec<Line>, Vec<Line>) =
        composed.lines.into_iter().partition(|line| line.left_out == Some(LeftOut::Quarantined));
    let (never, others): (Vec<Line>, Vec<Line>) =
        others.into_iter().partition(|line| line.left_out == Some(LeftOut::Never));
    let mut lines: Vec<Line> = others.into_iter().filter(|line| line.left_out.is_none()).collect();
    lines.sort_by(|a, b| b.score.total_cmp(&a.score));
    lines.truncate(limit);
    Recalled { reports: gathered.reports, lines, held_back, never, snippets: gathered.snippets }
}

//! What the stores have learnt since an agent's briefing, for an agent that runs: handed over once, with its next
//! prompt. Nothing is typed, and no prompt is spent on it.
//!
//! The stores are asked the agent's own question again; what it was told before, and what was said in its own
//! conversation, is no news. A store that is down is named as down; where nothing is new, nothing is delivered.

use tokio_util::sync::CancellationToken;

use super::news;
use super::tell::{To, addressed};
use crate::agent::{HostAgent, Version};
use crate::hook::{CHANGED_FILE, next};
use crate::host::{Host, files};
use crate::registry::agents::{Agent, State};
use crate::registry::change::Change;
use crate::spawn::passed::{Line, SourceReport, Way};
use crate::spawn::{briefing, deliver};
use crate::{Context, Error};

/// Title of the document.
const TITLE: &str = "What the stores have learnt since your briefing";

/// How news reach an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// There are none.
    Nothing,
    /// Handed over with its next prompt.
    NextPrompt,
    /// Written into the briefing file, which the agent reads by itself.
    File,
}

/// What came of it for one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebriefed {
    /// Registry id of the agent.
    pub agent: String,
    /// Its name.
    pub name: String,
    /// How the news reach it.
    pub delivery: Delivery,
    /// The news.
    pub lines: Vec<Line>,
    /// How each store fared.
    pub reports: Vec<SourceReport>,
}

/// Rebriefs one agent, or (`None`) all that run.
pub async fn rebrief(
    context: &Context,
    name: Option<&str>,
    cancel: &CancellationToken,
) -> Result<Vec<Rebriefed>, Error> {
    let to = name.map_or(To::All, |name| To::Name(name.into()));
    let agents = addressed(&context.registry, &to).await?;
    let mut done = Vec::new();
    for agent in &agents {
        if agent.state == State::Paused {
            return Err(Error::user(
                format!("{} is paused; what is new reaches it when it is resumed", agent.name),
                "resume it",
            ));
        }
        done.push(one(context, agent, cancel).await?);
    }
    Ok(done)
}

async fn one(context: &Context, agent: &Agent, cancel: &CancellationToken) -> Result<Rebriefed, Error> {
    let Context { host, config, .. } = context;
    let kind = super::kind(agent)?;
    let (topic, gathered) = news::ask(context, agent, cancel).await?;
    if cancel.is_cancelled() {
        return Err(Error::user("cancelled", "run it again when you like"));
    }
    let marks = context.registry.marks_in(&topic.project.id).await?.without_pins();
    let (budget, now, pao) = (config.spawn.budget, host.now(), &host.exe);
    let options = briefing::Options { budget, now, pao, marks: &marks };
    let whole = briefing::compose(&topic, &gathered, &options);
    let known = told_before(host, agent);
    let fresh = |line: &Line| !known.iter().any(|document| briefing::holds(document, line));
    let lines: Vec<Line> =
        whole.lines.iter().filter(|line| line.left_out.is_none() && fresh(line)).cloned().collect();
    let mut delivery = Delivery::Nothing;
    if !lines.is_empty() {
        let news = briefing::only(&whole, TITLE, fresh);
        delivery = hand_over(context, kind, agent, "rebrief", &news.markdown).await?;
    }
    Ok(Rebriefed {
        agent: agent.id.clone(),
        name: agent.name.clone(),
        delivery,
        lines,
        reports: gathered.reports,
    })
}

/// Every document the agent was given, or will be with its next prompt.
fn told_before(host: &Host, agent: &Agent) -> Vec<String> {
    let dir = host.agent_dir(&agent.id);
    let places =
        [dir.join(deliver::BRIEFING_FILE), dir.join(CHANGED_FILE), agent.folder.join(deliver::BRIEFING_FILE)];
    let read = |path: &std::path::PathBuf| files::read_if_there(path).ok().flatten();
    let mut known: Vec<String> =
        places.iter().filter_map(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    known.extend(next::all(host, &agent.id));
    known
}

/// Puts a document of ours before a running agent: by its hooks with its next prompt, and where it has none into the
/// briefing file, which it reads by itself.
pub(super) async fn hand_over(
    context: &Context,
    kind: &HostAgent,
    agent: &Agent,
    word: &str,
    markdown: &str,
) -> Result<Delivery, Error> {
    let host = &context.host;
    if !kind.session_hooks(agent.version.as_deref().and_then(Version::parse)) {
        return into_file(context, agent, markdown).await;
    }
    let name = format!("{word}-{:020}", host.now().timestamp_micros().max(0));
    let whole = host.agent_dir(&agent.id).join(format!("{name}.md"));
    let written = files::write_private(&whole, markdown.as_bytes(), false).and_then(|()| {
        let fitted = briefing::fit(markdown, kind.hook_context_limit, &whole.to_string_lossy());
        next::put(host, &agent.id, &name, &fitted.text)
    });
    written.map_err(|e| {
        Error::environment(
            format!("{} cannot be written: {e}", host.display(&whole)),
            "make room on the disk, then try again",
        )
    })?;
    Ok(Delivery::NextPrompt)
}

/// Adds the document to our briefing file in the folder, as long as that is still as we wrote it.
async fn into_file(context: &Context, agent: &Agent, markdown: &str) -> Result<Delivery, Error> {
    let Context { host, registry, .. } = context;
    let path = agent.folder.join(deliver::BRIEFING_FILE);
    let refused = |why: String| {
        Error::environment(why, "tell the agent in its window, or with `pao tell`")
            .in_window("tell the agent what it should know")
    };
    if agent.way != Way::Files {
        return Err(refused(format!("{} has neither hooks nor a briefing file", agent.name)));
    }
    let changes = registry.open_changes(Some(&agent.id)).await?;
    let ours = changes.into_iter().find_map(|entry| match &entry.change {
        Change::File { path: at, sha256 } if *at == path => Some((entry.id, sha256.clone())),
        _ => None,
    });
    let before = files::read_if_there(&path).ok().flatten().unwrap_or_default();
    let Some((old, _)) = ours.filter(|(_, sha256)| files::sha256(&before) == *sha256) else {
        return Err(refused(format!("{} was changed since it was written", host.display(&path))));
    };
    let mut after = before.clone();
    after.extend_from_slice(b"\n");
    after.extend_from_slice(markdown.as_bytes());
    // Both are in the journal while it is written: whichever bytes are there are known as ours.
    let change = Change::File { path: path.clone(), sha256: files::sha256(&after) };
    let new = registry.plan_change(&agent.id, &change, host.now()).await?;
    match files::swap(&path, Some(&before), &after) {
        Ok(true) => {}
        Ok(false) => {
            registry.change_undone(new).await?;
            return Err(refused(format!("{} was changed meanwhile", host.display(&path))));
        }
        Err(e) => {
            registry.change_undone(new).await?;
            return Err(refused(format!("{} cannot be written: {e}", host.display(&path))));
        }
    }
    registry.change_applied(new).await?;
    registry.change_undone(old).await?;
    Ok(Delivery::File)
}

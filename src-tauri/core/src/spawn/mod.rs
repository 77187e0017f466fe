//! The corridor: seven rooms in order, each taking the previous room's output.
//!
//! Only this folder's own files know the order. Whatever a room writes outside our own folder is journalled first,
//! so that a crash, a failure or a Ctrl-C at any moment can be taken back.

pub mod again;
pub mod agreed;
pub mod briefing;
mod choices;
mod consent;
pub mod deliver;
pub mod gather;
pub mod launch;
pub mod passed;
pub mod preview;
pub mod program;
pub mod ready;
pub mod request;
mod rooms;
mod steps;
pub mod topic;
pub mod trust;
pub mod undo;

use std::collections::BTreeSet;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use self::choices::{Settled, host_agent};
use self::consent::consents;
use self::passed::{Briefing, Conversation, Gathered, LeftOut, Receipt, Topic, Way, silent};
use self::request::{Brief, Crowded, DryRun, Face, Fork, Request, Spawned, Step};
use self::rooms::{Ground, Job, ground, plan, rooms};
use self::steps::Steps;
use crate::host::process::Run;
use crate::host::terminal;
use crate::marks::shown;
use crate::price;
use crate::project::Project;
use crate::registry::RegistryError;
use crate::registry::agents::Agent;
use crate::registry::briefings::Briefed;
use crate::registry::folders::Choices;
use crate::source::{self, Question};
use crate::words::counted;
use crate::{Context, Error, Kind, worktree};

pub use self::undo::{Target, UndoneItem, undo};

/// The first three rooms' results, with what the later ones need besides.
struct Warm {
    topic: Topic,
    gathered: Gathered,
    briefing: Briefing,
    settled: Settled,
    last: Choices,
    conversation: Conversation,
    /// The worktree that is made for it.
    worktree: Option<PathBuf>,
    /// When the briefing was composed.
    composed_at: DateTime<Utc>,
}

/// Gathers and composes; writes nothing.
pub async fn brief(
    context: &Context,
    request: &Request,
    face: &dyn Face,
    cancel: &CancellationToken,
) -> Result<Brief, Error> {
    let steps = Steps::new(face);
    let warm = warm(context, request, &steps, cancel).await?;
    as_brief(context, warm, &steps).await
}

/// The first three rooms' results for whoever looks at them, with what is another since the folder's last spawn.
async fn as_brief(context: &Context, warm: Warm, steps: &Steps<'_>) -> Result<Brief, Error> {
    remember(context, &warm);
    let last = context.registry.last_briefing(&warm.topic.folder).await?;
    let before = match &last {
        Some(last) => context.registry.agent(&last.agent).await?,
        None => None,
    };
    let now = warm.topic.prompt.as_deref();
    let same = before.is_some_and(|agent| briefing::changes::same_question(agent.prompt.as_deref(), now));
    let changes = last.map(|last| briefing::changes::changes(&last, &warm.briefing, &warm.gathered.reports));
    let changes = changes.map(|changes| if same { changes } else { changes.of_another_question() });
    Ok(Brief {
        input_price: price::per_million(&context.config, warm.settled.agent),
        topic: warm.topic,
        gathered: warm.gathered,
        briefing: warm.briefing,
        changes,
        steps: steps.finished(),
    })
}

/// Keeps what was composed, so that a mark can be put on it. It takes secrets out of every text and writes a file: a
/// spawn does it when the agent has what it needs.
fn remember(context: &Context, warm: &Warm) {
    shown::remember(&context.host, &warm.gathered.snippets, &warm.briefing.lines);
}

/// Says what a spawn would write, ask and start.
pub async fn dry_run(
    context: &Context,
    request: &Request,
    face: &dyn Face,
    cancel: &CancellationToken,
) -> Result<DryRun, Error> {
    let steps = Steps::new(face);
    let (mut warm, ground) = warm_and_ground(context, request, &steps, cancel).await?;
    edit(request, face, &mut warm.briefing)?;
    let terminal = terminal::choose(&context.host, &warm.settled.terminal)?;
    let id = new_id();
    let (plan, note) = plan(context, &ground, &Job::new(context, &warm, &id, BTreeSet::new())).await?;
    let mut would = plan.describe(&context.host);
    would.extend(note);
    let place = ground.trust(&warm.topic);
    if trust::cannot_be_said(&place)? {
        let file = context.host.display(place.config);
        let agent = ground.agent.display;
        would.push(format!(
            "ask for your trust, and answer {agent}'s own question with it: it has no {file} yet"
        ));
    } else if trust::look(&place)? {
        would.push(format!("leave the folder trusted in {}", context.host.display(place.config)));
    } else {
        would.push(format!("mark the folder as trusted in {}", context.host.display(place.config)));
        let enables = trust::enables(ground.agent, &warm.topic.folder, &warm.topic.project);
        would.extend(enables.shown.iter().map(|what| format!("  which enables {what}")));
    }
    if let Some(folder) = ground.agent.context_folder(&context.host.agent_dir(&id))
        && plan.way == Way::Session
    {
        let (folder, file) = (context.host.display(&folder), context.host.display(place.config));
        would.push(format!("mark {folder} as trusted in {file}"));
    }
    if let Some(branch) = &request.worktree {
        let planned = worktree::plan(&context.host, &warm.topic, branch).await?;
        let path = context.host.display(&planned.path);
        would.push(format!("make the worktree {path} on branch {}, and start it there", planned.branch));
    }
    would.push(format!(
        "start {} ({}) in {} ({}), permission {}",
        warm.settled
            .other_agent(request, &context.config)
            .unwrap_or_else(|| ground.agent.display.to_string()),
        context.host.display(&ground.program.path),
        terminal.name(),
        context.host.display(&warm.topic.folder),
        warm.settled.permission.name(),
    ));
    would.push(match &warm.topic.prompt {
        Some(_) => "give it the topic as its first prompt".into(),
        None => "leave it at its prompt line: nothing was asked".into(),
    });
    Ok(DryRun { brief: as_brief(context, warm, &steps).await?, would })
}

/// The whole job. When it fails or is cancelled, everything already done is taken back and the error says so.
pub async fn spawn(
    context: &Context,
    request: &Request,
    face: &dyn Face,
    cancel: &CancellationToken,
) -> Result<Spawned, Error> {
    let steps = Steps::new(face);
    let (mut warm, ground) = warm_and_ground(context, request, &steps, cancel).await?;
    // Everything that may be refused or has to be asked comes before the first write.
    let terminal = terminal::choose(&context.host, &warm.settled.terminal)?;
    face.composed(&warm.briefing, &warm.gathered);
    edit(request, face, &mut warm.briefing)?;
    let agreed = consents(context, &ground, &warm.topic, warm.settled.permission, face).await;
    // Whoever interrupts a question has not answered it.
    let agreed = if cancel.is_cancelled() { Err(cancelled()) } else { agreed }?;
    let (wanted, others) = neighbours(context, request, &warm.topic, face).await?;
    if cancel.is_cancelled() {
        return Err(cancelled());
    }
    // What was chosen and agreed to is so for the folder that was asked for, wherever the work is done.
    let asked_for = warm.topic.folder.clone();
    let planned = match wanted {
        Some(branch) => Some(worktree::plan(&context.host, &warm.topic, &branch).await?),
        None => None,
    };
    if let Some(planned) = &planned {
        warm.topic.folder.clone_from(&planned.folder);
        warm.worktree = Some(planned.path.clone());
    }
    let id = register(context, request, &ground, &mut warm).await?;

    let mut made = Vec::new();
    if let Some(planned) = &planned {
        match worktree::create(&context.host, planned).await {
            Ok(notes) => made = notes,
            Err(error) => return Err(undo::after_failure(context, &id, error).await),
        }
        warm.topic.project = Project::of(&warm.topic.folder);
    }
    let job = Job::new(context, &warm, &id, agreed);
    let outcome = rooms(context, &steps, &ground, &job, terminal.as_ref(), cancel).await;
    remember(context, &warm);
    let (launched, ready, way, mut notes) = match outcome {
        Ok(done) => done,
        Err(error) => return Err(undo::after_failure(context, &id, error).await),
    };
    let registry = &context.registry;
    registry.set_receipt(&id, ready.receipt).await?;
    let dropped = warm.briefing.lines.iter().filter(|line| line.left_out == Some(LeftOut::Dropped));
    let dropped: Vec<_> = dropped.map(|l| (l.source.clone(), l.id.clone(), l.content.clone())).collect();
    let briefed = Briefed {
        agent: id.clone(),
        folder: asked_for.clone(),
        at: warm.composed_at,
        edited: warm.briefing.edited,
        lines: briefing::changes::kept(&warm.briefing),
    };
    registry.keep_briefing(&briefed).await?;
    registry.drops_done(&warm.topic.project.id, &dropped, warm.composed_at).await?;
    notes.extend(made);
    if planned.is_none() && !others.is_empty() {
        notes.push(format!("works in the same folder: {}", others.join(", ")));
    }
    if ready.receipt == Receipt::Confirmed {
        registry.set_choices(&asked_for, &warm.settled.choices(request, &warm.last)).await?;
    } else if request.afresh {
        registry.set_choices(&asked_for, &Choices::default()).await?;
    }
    notes.extend(warm.settled.other_agent(request, &context.config));
    refresh_history(context).await;
    if ready.receipt != Receipt::Confirmed && ready.needs.is_none() {
        notes.push("nothing has proved yet that it received its prompt: look at its window".into());
    }
    Ok(Spawned {
        agent: id,
        prompted: warm.topic.prompt.is_some(),
        name: warm.topic.name,
        folder: warm.topic.folder,
        session: ready.session.clone().or(launched.session),
        terminal: launched.terminal,
        attach: launched.attach,
        shown: launched.shown,
        way,
        permission: warm.settled.permission,
        briefing: warm.briefing,
        gathered: warm.gathered,
        ready,
        notes,
        steps: steps.finished(),
    })
}

/// Rooms one to three, and meanwhile what is to be known of the host agent. Which one that is may turn out to be
/// another only when the folder is known.
async fn warm_and_ground(
    context: &Context,
    request: &Request,
    steps: &Steps<'_>,
    cancel: &CancellationToken,
) -> Result<(Warm, Ground), Error> {
    let likely = host_agent(request.agent.as_deref().unwrap_or(&context.config.agent.kind))?;
    if request.agent.is_some() || request.afresh {
        return tokio::try_join!(warm(context, request, steps, cancel), ground(context, likely));
    }
    let (warm, found) = tokio::join!(warm(context, request, steps, cancel), ground(context, likely));
    let warm = warm?;
    let chosen = warm.settled.agent;
    let found = if chosen.kind == likely.kind { found } else { ground(context, chosen).await };
    Ok((warm, found?))
}

/// Rooms one to three.
async fn warm(
    context: &Context,
    request: &Request,
    steps: &Steps<'_>,
    cancel: &CancellationToken,
) -> Result<Warm, Error> {
    let Context { host, config, registry, .. } = context;
    let compiled = tokio::task::spawn_blocking(briefing::compile_patterns);
    let step = steps.begin(Step::Topic);
    let settled = async {
        let topic = find_topic(context, request).await?;
        let last = if request.afresh { Choices::default() } else { registry.choices(&topic.folder).await? };
        let settled = Settled::new(request, &last, config)?;
        Ok::<_, Error>((topic, last, settled))
    };
    let (topic, last, settled) = step.settle(settled.await, |(topic, _, settled)| {
        let other =
            settled.other_agent(request, config).map(|other| format!(": {other}")).unwrap_or_default();
        format!("{} in {}{other}", topic.name, host.display(&topic.folder))
    })?;
    steps.face.resolved(&topic);

    let step = steps.begin(Step::Gather);
    let mut sources = context.sources()?;
    sources.retain(|(source, _)| settled.asks(source.name()));
    let question = Question {
        text: topic.query.clone(),
        folder: topic.folder.clone(),
        project: topic.project.id.clone(),
        project_name: topic.project.name.clone(),
        now: host.now(),
    };
    let gathered = gather::gather(&sources, &question, cancel, |_| ()).await;
    if cancel.is_cancelled() {
        step.failed("cancelled");
        return Err(cancelled());
    }
    step.done(gathered_note(&gathered));

    let step = steps.begin(Step::Briefing);
    // Where it broke down, composing does the same again and says why.
    let _ = compiled.await;
    let composed_at = host.now();
    let marks = registry.marks_in(&topic.project.id).await?;
    let options =
        briefing::Options { budget: settled.budget, now: composed_at, pao: &host.exe, marks: &marks };
    let mut briefing = briefing::compose(&topic, &gathered, &options);
    let mut conversation = Conversation::New(None);
    if let Some(fork) = &request.fork {
        briefing = briefing::opened(&briefing, &fork.opening);
        conversation = fork.conversation.clone().map_or(conversation, Conversation::Fork);
    }
    if let Some(text) = &request.briefing {
        briefing = briefing::edited(&briefing, text).ok_or_else(empty)?;
    }
    let note = briefing_note(&briefing, silent(&gathered.reports));
    step.done(match &request.fork {
        Some(Fork { conversation: Some(_), .. }) => format!("the conversation is copied; {note}"),
        Some(fork) => {
            format!("a hand-over of {}; {note}", counted(fork.opening.lines().count(), "line", "lines"))
        }
        None => note,
    });
    Ok(Warm { topic, gathered, briefing, settled, last, conversation, worktree: None, composed_at })
}

/// Who else works in the folder, and whether the new agent gets a worktree: of which branch, empty for a new one.
async fn neighbours(
    context: &Context,
    request: &Request,
    topic: &Topic,
    face: &dyn Face,
) -> Result<(Option<String>, Vec<String>), Error> {
    if request.worktree.is_some() {
        return Ok((request.worktree.clone(), Vec::new()));
    }
    let agents = context.registry.agents().await?;
    let there = |agent: &&Agent| agent.state.live() && agent.folder == topic.folder;
    let others: Vec<String> = agents.iter().filter(there).map(|agent| agent.name.clone()).collect();
    if others.is_empty() {
        return Ok((None, others));
    }
    match face.crowded(&topic.folder, &others, topic.project.worktree.is_some())? {
        Crowded::Stay => Ok((None, others)),
        Crowded::Worktree => Ok((Some(String::new()), others)),
        Crowded::Cancel => Err(cancelled()),
    }
}

async fn find_topic(context: &Context, request: &Request) -> Result<Topic, Error> {
    let Context { host, registry, .. } = context;
    let names = registry.live_names().await?;
    let asked = topic::Asked {
        folder: request.folder.as_deref(),
        words: &request.text,
        name: request.name.as_deref(),
        names_in_use: &names,
    };
    let topic = topic::resolve(&asked, host)?;
    if topic.prompt.is_some() {
        return Ok(topic);
    }
    let last_session = source::history::last_session(host, &topic.project.id).await;
    Ok(topic::suggest(topic, &topic::Hints { last_session, commits: Vec::new() }))
}

/// Starts reading what the transcripts have gained since the last time, on its own and without anybody waiting.
async fn refresh_history(context: &Context) {
    let Some((_, history)) = context.config.history() else { return };
    if source::history::is_stale(&context.host, &history).await {
        let run = Run::new(&context.host.exe).args(["index", "--quiet"]);
        if let Err(error) = run.env("PAO_HOME", &context.host.pao_home).cwd(&context.host.home).detach() {
            tracing::warn!(%error, "the history is not refreshed");
        }
    }
}

fn gathered_note(gathered: &Gathered) -> String {
    let memories = counted(gathered.snippets.len(), "memory", "memories");
    let sources = counted(gathered.reports.len(), "source", "sources");
    match silent(&gathered.reports) {
        0 => format!("{memories} from {sources}"),
        silent => format!("{memories} from {sources}, {silent} of them did not answer"),
    }
}

fn briefing_note(briefing: &Briefing, silent: usize) -> String {
    match (briefing.self_warming, silent) {
        (true, 0) => return "nothing is known; the agent is told how to find out".into(),
        (true, _) => return "nothing was found, and not every store answered; the agent is told both".into(),
        _ => {}
    }
    let lines = briefing.lines.iter().filter(|line| line.left_out.is_none()).count();
    format!("{}, about {} tokens", counted(lines, "line", "lines"), briefing.tokens)
}

fn edit(request: &Request, face: &dyn Face, briefing: &mut Briefing) -> Result<(), Error> {
    if !request.edit {
        return Ok(());
    }
    let Some(markdown) = face.edit(&briefing.markdown)? else {
        return Err(Error::user("the briefing was given up in the editor", "run it again without --edit"));
    };
    *briefing = briefing::edited(briefing, &markdown).ok_or_else(empty)?;
    Ok(())
}

fn empty() -> Error {
    Error::user("nothing is left of the briefing", "leave something in it, or take it as it was composed")
}

fn new_id() -> String {
    let mut id = uuid::Uuid::new_v4().simple().to_string();
    id.truncate(12);
    id
}

/// Adds the agent's row, so that everything done for it from now on has an owner.
async fn register(
    context: &Context,
    request: &Request,
    ground: &Ground,
    warm: &mut Warm,
) -> Result<String, Error> {
    let now = context.host.now();
    let id = new_id();
    loop {
        let topic = &warm.topic;
        let agent = Agent {
            project: topic.project.id.clone(),
            prompt: topic.prompt.clone(),
            query: topic.query.clone(),
            permission: warm.settled.permission,
            way: warm.settled.way.unwrap_or(Way::Session),
            briefing_hash: Some(warm.briefing.hash.clone()),
            version: ground.program.version.map(|version| version.to_string()),
            args: context.config.args(ground.agent).to_vec(),
            worktree: warm.worktree.clone(),
            origin: request.fork.as_ref().map(|fork| fork.origin.clone()),
            ..Agent::starting(&id, &topic.name, &topic.folder, ground.agent.kind, now)
        };
        match context.registry.add(&agent).await {
            Ok(()) => return Ok(id),
            // Another spawn was faster with a name that we had only derived: derive the next one.
            Err(RegistryError::NameTaken(_)) if request.name.is_none() => {
                warm.topic.name = find_topic(context, request).await?.name;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn cancelled() -> Error {
    Error::new(Kind::User, "cancelled", "run it again when you like")
}

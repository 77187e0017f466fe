//! Rooms four to seven: everything that writes, starts or waits.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::passed::{self, Agreed, Conversation, Permission, Ready, Receipt, Topic, Way};
use super::program::{self, Program};
use super::request::Step;
use super::steps::Steps;
use super::{Warm, briefing, cancelled, deliver, launch, ready, trust};
use crate::agent::{self, HookCall, HostAgent};
use crate::hook;
use crate::host::files;
use crate::host::terminal::Terminal;
use crate::project::Project;
use crate::registry::events::Event;
use crate::{Context, Error};

/// What is known of the host agent on this machine.
pub(super) struct Ground {
    pub agent: &'static HostAgent,
    pub program: Program,
    trust_file: PathBuf,
}

impl Ground {
    pub fn trust<'a>(&'a self, topic: &'a Topic) -> trust::Place<'a> {
        trust::Place {
            config: &self.trust_file,
            record: self.agent.trust,
            folder: &topic.folder,
            project: &topic.project,
        }
    }
}

/// What an agent is started with, whether for the first time or again.
pub(super) struct Job<'a> {
    /// Registry id.
    pub id: &'a str,
    /// Name, folder, project and, at a first start, the prompt.
    pub topic: &'a Topic,
    /// The whole briefing.
    pub briefing: &'a str,
    /// `None` is `auto`.
    pub way: Option<Way>,
    pub permission: Permission,
    /// The user's own arguments.
    pub args: &'a [String],
    pub conversation: &'a Conversation,
    /// What our hook says first when the conversation is taken up again; empty to say nothing then.
    pub changed: Option<&'a str>,
    /// Dialogs the user agreed to.
    pub agreed: BTreeSet<Agreed>,
}

impl<'a> Job<'a> {
    pub fn new(context: &'a Context, warm: &'a Warm, id: &'a str, agreed: BTreeSet<Agreed>) -> Self {
        Self {
            id,
            topic: &warm.topic,
            briefing: &warm.briefing.markdown,
            way: warm.settled.way,
            permission: warm.settled.permission,
            args: context.config.args(warm.settled.agent),
            conversation: &warm.conversation,
            changed: None,
            agreed,
        }
    }
}

/// What is known of the host agent of that kind, for an agent whose row names it.
pub(super) async fn ground_for(context: &Context, kind: &str) -> Result<Ground, Error> {
    let agent = agent::by_kind(kind).ok_or_else(|| {
        Error::user(
            format!("this pao knows no host agent {kind}"),
            "update pao to the version that started it",
        )
    })?;
    ground(context, agent).await
}

/// What is known of a host agent on this machine.
pub(super) async fn ground(context: &Context, agent: &'static HostAgent) -> Result<Ground, Error> {
    let command = context.config.command(agent);
    let program = program::find(&context.host, agent, command).await?;
    Ok(Ground { agent, program, trust_file: agent.trust_file(&context.host) })
}

pub(super) type Done = (passed::Launched, Ready, Way, Vec<String>);

/// Rooms four to seven.
pub(super) async fn rooms(
    context: &Context,
    steps: &Steps<'_>,
    ground: &Ground,
    job: &Job<'_>,
    terminal: &dyn Terminal,
    cancel: &CancellationToken,
) -> Result<Done, Error> {
    let Context { host, registry, .. } = context;
    let id = job.id;
    let mut notes = Vec::new();
    let step = steps.begin(Step::Deliver);
    let delivered = deliver(context, ground, job).await;
    let (way, note) = step.settle(delivered, |(way, _)| way_note(*way).into())?;
    notes.extend(note);
    stop_if(cancel)?;

    let step = steps.begin(Step::Trust);
    let place = ground.trust(job.topic);
    let granted = trust::grant(host, registry, id, &place, host.now()).await;
    let added = matches!(granted, Ok(trust::Granted::Added));
    match granted {
        Ok(granted) => match granted {
            trust::Granted::Added => step.done("marked as trusted"),
            trust::Granted::AlreadyTrusted { .. } => step.skipped("already trusted"),
            trust::Granted::NeverStarted => {
                let file = host.display(place.config);
                step.skipped(format!("{file} does not exist yet"));
                notes.push(format!(
                    "{} has no {file} yet, so it asks its own first questions (colours, login, trust): answer them in \
                     its window; from the next spawn on this is settled beforehand",
                    ground.agent.display
                ));
            }
        },
        Err(error) => {
            step.failed(error.to_string());
            return Err(error.into());
        }
    }
    if let Some(folder) = ground.agent.context_folder(&host.agent_dir(job.id)).filter(|_| way == Way::Session)
    {
        trust_own(context, ground, job.id, &folder).await?;
    }
    stop_if(cancel)?;

    // Beside the start: the agent reads its file later than others write theirs.
    let kept = async {
        if added && let Err(error) = trust::keep(host, registry, id, &place, host.now()).await {
            tracing::warn!(%error, "the trust record may be gone again");
        }
        std::future::pending().await
    };
    let (launched, ready, note) = tokio::select! {
        started = launch_and_wait(context, steps, ground, job, terminal, way, cancel) => started?,
        never = kept => match never {},
    };
    notes.extend(note);
    // The host agent rewrites its file when it starts; a copy it had read before our change may have won.
    if !trust::is_trusted(&place) {
        trust::grant(host, registry, id, &place, host.now()).await?;
    }
    Ok((launched, ready, way, notes))
}

/// The last two rooms, and what the user should know of the launch.
async fn launch_and_wait(
    context: &Context,
    steps: &Steps<'_>,
    ground: &Ground,
    job: &Job<'_>,
    terminal: &dyn Terminal,
    way: Way,
    cancel: &CancellationToken,
) -> Result<(passed::Launched, Ready, Option<String>), Error> {
    let Context { host, registry, config, .. } = context;
    // What hooks told of an earlier life of this agent proves nothing about this start.
    let after = registry.last_event(job.id).await?;
    let step = steps.begin(Step::Launch);
    let launched = tokio::select! {
        launched = start(context, ground, job, way, terminal) => launched,
        () = cancel.cancelled() => Err(cancelled()),
    };
    let launch::Start { launched, note } = step.settle(launched, |s| s.launched.terminal.clone())?;

    let step = steps.begin(Step::Ready);
    let prompt = job.topic.prompt.as_deref();
    let expect = ready::Expect { prompt, briefing: way == Way::Session, after };
    let limit = Duration::from_secs(config.spawn.ready_timeout_s);
    let ready = ready::wait(host, registry, terminal, ground.agent, &launched, &expect, limit, cancel).await;
    let mut ready = match ready {
        Ok(ready) => ready,
        Err(error) => {
            step.failed(error.to_string());
            return Err(error.into());
        }
    };
    if let (Conversation::Fork(_), Some(session)) = (job.conversation, &launched.session) {
        // The first hook of a copy may still name the conversation it was copied from.
        ready.session = None;
        registry.set_session(job.id, session, "fork", host.now()).await?;
    }
    match &ready.needs {
        Some(needs) => {
            step.done(format!("needs you: {}", crate::words::question(needs, Some(&ready.evidence))));
        }
        None if ready.receipt == Receipt::Unknown => step.failed(ready.evidence.clone()),
        None if prompt.is_none() && ready.receipt == Receipt::Confirmed => {
            step.done(format!("ready, {}", ready.evidence));
        }
        None => step.done(format!("{}, {}", ready.receipt.name(), ready.evidence)),
    }
    Ok((launched, ready, note))
}

/// A folder of ours that is to be part of the workspace is asked about as well, unless it is trusted too.
async fn trust_own(context: &Context, ground: &Ground, id: &str, folder: &Path) -> Result<(), Error> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let project = Project { worktree: None, ..Project::of(&folder) };
    let place = trust::Place {
        config: &ground.trust_file,
        record: ground.agent.trust,
        folder: &folder,
        project: &project,
    };
    trust::grant(&context.host, &context.registry, id, &place, context.host.now()).await?;
    Ok(())
}

fn way_note(way: Way) -> &'static str {
    match way {
        Way::Session => "for this session only, nothing written into the folder",
        Way::Files => "as files in the folder",
    }
}

/// Decides the way and plans it. A second live agent in a folder whose files are taken gets the session way, and
/// so does one whose files would meet the user's own.
pub(super) async fn plan(
    context: &Context,
    ground: &Ground,
    job: &Job<'_>,
) -> Result<(deliver::Plan, Option<String>), Error> {
    let possible = ground.agent.session_delivery(ground.program.version);
    let chosen = job.way.unwrap_or(if possible { Way::Session } else { Way::Files });
    if chosen == Way::Session && !possible {
        return Err(Error::user(
            format!("nothing can be given to this version of {} for one session", ground.agent.display),
            "use --delivery files",
        )
        .in_window("deliver it as files"));
    }
    let whole = context.host.agent_dir(job.id).join(deliver::BRIEFING_FILE);
    let fitted = briefing::fit(job.briefing, ground.agent.hook_context_limit, &whole.to_string_lossy());
    let wanted = |way| deliver::Wanted {
        agent: job.id,
        way,
        folder: &job.topic.folder,
        project: &job.topic.project,
        briefing: job.briefing,
        hook_text: &fitted.text,
        reads: ground.agent.reads,
        context: ground.agent.context_folder(&context.host.agent_dir(job.id)),
    };
    match deliver::plan(&context.host, &context.registry, &wanted(chosen)).await {
        Ok(plan) => Ok((plan, None)),
        Err(error) if possible && error.session_way_helps() => {
            let plan = deliver::plan(&context.host, &context.registry, &wanted(Way::Session)).await?;
            Ok((plan, Some(format!("delivered for this session instead of by files: {error}"))))
        }
        Err(error) => Err(error.into()),
    }
}

async fn deliver(context: &Context, ground: &Ground, job: &Job<'_>) -> Result<(Way, Option<String>), Error> {
    let Context { host, registry, .. } = context;
    let (plan, note) = plan(context, ground, job).await?;
    deliver::apply(host, registry, &plan, job.id, host.now()).await?;
    registry.set_briefing(job.id, &files::sha256(job.briefing.as_bytes()), plan.way).await?;
    Ok((plan.way, note))
}

async fn start(
    context: &Context,
    ground: &Ground,
    job: &Job<'_>,
    way: Way,
    terminal: &dyn Terminal,
) -> Result<launch::Start, Error> {
    let host = &context.host;
    let version = ground.program.version;
    let dir = host.agent_dir(job.id);
    let call = HookCall { exe: &host.exe, agent: job.id, pao_home: Some(&host.pao_home) };
    let setup = ground.agent.session_setup(version, &call, &dir, way == Way::Session);
    launch::private_folder(host, &context.registry, job.id, &dir).await?;
    let put = |file: &Path, text: &str| {
        files::write_private(file, text.as_bytes(), false).map_err(|e| {
            Error::environment(
                format!("{} cannot be written: {e}", host.display(file)),
                "make room on the disk, then try again",
            )
        })
    };
    for (file, text) in &setup.files {
        put(file, text)?;
    }
    // Kept also where the briefing stands in the project, from where it goes when the session ends.
    put(&dir.join(deliver::BRIEFING_FILE), job.briefing)?;
    if let Some(changed) = job.changed {
        put(&dir.join(hook::CHANGED_FILE), changed)?;
    }
    let new = || uuid::Uuid::new_v4().to_string();
    let (session, resume, fork_of) = match job.conversation {
        Conversation::New(id) => (id.clone().unwrap_or_else(new), false, None),
        Conversation::Resume(id) => (id.clone(), true, None),
        Conversation::Fork(id) => (new(), false, Some(id.as_str())),
    };
    let spec = launch::LaunchSpec {
        agent_id: job.id,
        program: &ground.program.path,
        path: &ground.program.child_path,
        version,
        session: &session,
        resume,
        fork_of,
        permission: job.permission,
        setup: &setup.arguments,
        prompt: job.topic.prompt.as_deref(),
        extra_args: job.args,
        agreed: job.agreed.clone(),
    };
    let started = launch::launch(host, &context.registry, terminal, ground.agent, job.topic, spec).await?;
    if let Some(session) = started.launched.session.as_ref().filter(|_| !ground.agent.session_hooks(version))
    {
        // No hook will tell, so the row learns here which conversation is its.
        let event = Event {
            agent: job.id.to_string(),
            at: host.now(),
            event: "Launch".into(),
            session: Some(session.clone()),
            detail: "{}".into(),
        };
        let source = if resume { "resume" } else { "startup" };
        context.registry.record_event(&event, None, Some(source)).await?;
    }
    Ok(started)
}

fn stop_if(cancel: &CancellationToken) -> Result<(), Error> {
    if cancel.is_cancelled() { Err(cancelled()) } else { Ok(()) }
}

//! The corridor: seven rooms in order, each taking the previous room's output.
//!
//! Only this folder's own files know the order. Whatever a room writes outside our own folder is journalled first,
//! so that a crash, a failure or a Ctrl-C at any moment can be taken back.

pub mod briefing;
mod choices;
pub mod deliver;
pub mod gather;
pub mod launch;
pub mod passed;
pub mod program;
pub mod ready;
pub mod request;
mod steps;
pub mod sweep;
pub mod topic;
pub mod trust;
pub mod undo;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use self::choices::Settled;
use self::passed::{Agreed, Briefing, Gathered, Permission, Ready, Receipt, Topic, Way};
use self::program::Program;
use self::request::{Brief, Consent, DryRun, Face, Request, Spawned, Step};
use self::steps::Steps;
use crate::agent::{self, HookCall, HostAgent};
use crate::config::Config;
use crate::host::process::Run;
use crate::host::secrets::SecretStore;
use crate::host::terminal::{self, Terminal};
use crate::host::{Host, files};
use crate::registry::agents::{Agent, State};
use crate::registry::folders::Choices;
use crate::registry::{Registry, RegistryError};
use crate::source::worker::Pauses;
use crate::source::{self, Limited, Question};
use crate::{Error, Kind};

pub use self::undo::{Target, UndoneItem, undo};

/// What every verb works with.
#[derive(Debug)]
pub struct Context {
    /// The machine.
    pub host: Host,
    /// The configuration.
    pub config: Config,
    /// The registry, brought up to date with the machine.
    pub registry: Arc<Registry>,
}

impl Context {
    /// Reads the configuration, opens the registry and sweeps it.
    pub async fn open(host: Host) -> Result<Self, Error> {
        let config = Config::load(&host)?;
        let registry = Arc::new(Registry::open(&host.registry_file()).await?);
        sweep::sweep(&host, &registry).await;
        Ok(Self { host, config, registry })
    }

    /// The enabled sources, each with its limits.
    pub fn sources(&self) -> Result<Vec<Limited>, Error> {
        let secrets = SecretStore::new(&self.host, &self.config.secrets.store)?;
        let pauses: Arc<dyn Pauses> = self.registry.clone();
        Ok(source::open(&self.config, &self.host, &secrets, &pauses))
    }

    /// The configured host agent.
    pub fn agent(&self) -> Result<&'static HostAgent, Error> {
        let kind = &self.config.agent.kind;
        agent::by_kind(kind).ok_or_else(|| {
            Error::config(
                format!("the configuration says agent.kind = \"{kind}\", which pao does not know"),
                "`pao config set agent.kind claude-code`",
            )
        })
    }
}

/// The first three rooms' results, with what the later ones need besides.
struct Warm {
    topic: Topic,
    gathered: Gathered,
    briefing: Briefing,
    settled: Settled,
    last: Choices,
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
    Ok(Brief { topic: warm.topic, gathered: warm.gathered, briefing: warm.briefing, steps: steps.finished() })
}

/// Says what a spawn would write, ask and start.
pub async fn dry_run(
    context: &Context,
    request: &Request,
    face: &dyn Face,
    cancel: &CancellationToken,
) -> Result<DryRun, Error> {
    let steps = Steps::new(face);
    let (mut warm, ground) = tokio::try_join!(warm(context, request, &steps, cancel), ground(context))?;
    edit(request, face, &mut warm.briefing)?;
    let terminal = terminal::choose(&context.host, &warm.settled.terminal)?;
    let id = new_id();
    let (plan, note) = plan(context, &ground, &warm, &id).await?;
    let mut would = plan.describe(&context.host);
    would.extend(note);
    let place = ground.trust(&warm.topic);
    if trust::is_trusted(&place) {
        would.push(format!("leave the folder trusted in {}", context.host.display(place.config)));
    } else {
        would.push(format!("mark the folder as trusted in {}", context.host.display(place.config)));
        would.extend(enables(&warm.topic).iter().map(|what| format!("  which enables {what}")));
    }
    would.push(format!(
        "start {} in {} ({}), permission {}",
        context.host.display(&ground.program.path),
        terminal.name(),
        context.host.display(&warm.topic.folder),
        warm.settled.permission.name(),
    ));
    would.push(match &warm.topic.prompt {
        Some(_) => "give it the topic as its first prompt".into(),
        None => "leave it at its prompt line: nothing was asked".into(),
    });
    let brief = Brief {
        topic: warm.topic,
        gathered: warm.gathered,
        briefing: warm.briefing,
        steps: steps.finished(),
    };
    Ok(DryRun { brief, would })
}

/// The whole job. When it fails or is cancelled, everything already done is taken back and the error says so.
pub async fn spawn(
    context: &Context,
    request: &Request,
    face: &dyn Face,
    cancel: &CancellationToken,
) -> Result<Spawned, Error> {
    let steps = Steps::new(face);
    let (mut warm, ground) = tokio::try_join!(warm(context, request, &steps, cancel), ground(context))?;
    // Everything that may be refused or has to be asked comes before the first write.
    let terminal = terminal::choose(&context.host, &warm.settled.terminal)?;
    face.composed(&warm.briefing, &warm.gathered);
    edit(request, face, &mut warm.briefing)?;
    let agreed = consents(context, &ground, &warm, face).await?;
    let id = register(context, request, &ground, &mut warm).await?;

    let outcome = rooms(context, &steps, &ground, &warm, terminal.as_ref(), &id, agreed, cancel).await;
    let (launched, ready, way, mut notes) = match outcome {
        Ok(done) => done,
        Err(error) => return Err(undo::after_failure(context, &id, error).await),
    };
    let registry = &context.registry;
    registry.set_receipt(&id, ready.receipt).await?;
    registry.set_choices(&warm.topic.folder, &warm.settled.choices(request, &warm.last)).await?;
    refresh_history(context).await;
    if ready.receipt != Receipt::Confirmed && ready.needs.is_none() {
        notes.push("nothing has proved yet that it received its prompt: look at its window".into());
    }
    Ok(Spawned {
        agent: id,
        name: warm.topic.name,
        folder: warm.topic.folder,
        session: ready.session.clone().unwrap_or(launched.session),
        terminal: launched.terminal,
        attach: launched.attach,
        way,
        permission: warm.settled.permission,
        briefing: warm.briefing,
        gathered: warm.gathered,
        ready,
        notes,
        steps: steps.finished(),
    })
}

/// Rooms one to three.
async fn warm(
    context: &Context,
    request: &Request,
    steps: &Steps<'_>,
    cancel: &CancellationToken,
) -> Result<Warm, Error> {
    let Context { host, config, registry } = context;
    let step = steps.begin(Step::Topic);
    let topic = find_topic(context, request).await;
    let topic = step.settle(topic, |t| format!("{} in {}", t.name, host.display(&t.folder)))?;
    let last = if request.afresh { Choices::default() } else { registry.choices(&topic.folder).await? };
    let settled = Settled::new(request, &last, config)?;

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
    let options = briefing::Options { budget: settled.budget, now: host.now(), pao: &host.exe };
    let briefing = briefing::compose(&topic, &gathered, &options);
    step.done(briefing_note(&briefing));
    Ok(Warm { topic, gathered, briefing, settled, last })
}

async fn find_topic(context: &Context, request: &Request) -> Result<Topic, Error> {
    let Context { host, registry, .. } = context;
    let names = registry.agents().await?;
    let names: BTreeSet<String> =
        names.into_iter().filter(|a| a.ended_at.is_none()).map(|a| a.name).collect();
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
    let memories = gathered.snippets.len();
    let sources = gathered.reports.len();
    format!("{} from {}", counted(memories, "memory", "memories"), counted(sources, "source", "sources"))
}

fn briefing_note(briefing: &Briefing) -> String {
    if briefing.self_warming {
        return "nothing is known; the agent is told how to find out".into();
    }
    let lines = briefing.lines.iter().filter(|line| line.left_out.is_none()).count();
    format!("{}, about {} tokens", counted(lines, "line", "lines"), briefing.tokens)
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// What is known of the host agent on this machine.
struct Ground {
    agent: &'static HostAgent,
    program: Program,
    trust_file: PathBuf,
}

impl Ground {
    fn trust<'a>(&'a self, topic: &'a Topic) -> trust::Place<'a> {
        trust::Place {
            config: &self.trust_file,
            record: self.agent.trust,
            folder: &topic.folder,
            project: &topic.project,
        }
    }
}

async fn ground(context: &Context) -> Result<Ground, Error> {
    let agent = context.agent()?;
    let program = program::find(&context.host, agent, &context.config.agent).await?;
    Ok(Ground { agent, program, trust_file: agent.trust_file(&context.host) })
}

fn edit(request: &Request, face: &dyn Face, briefing: &mut Briefing) -> Result<(), Error> {
    if !request.edit {
        return Ok(());
    }
    let Some(markdown) = face.edit(&briefing.markdown)? else {
        return Err(Error::user("the briefing was given up in the editor", "run it again without --edit"));
    };
    if markdown != briefing.markdown {
        *briefing = briefing::edited(briefing, markdown);
    }
    Ok(())
}

/// Asks for what was not agreed to before. A no ends the spawn; nothing has been written.
async fn consents(
    context: &Context,
    ground: &Ground,
    warm: &Warm,
    face: &dyn Face,
) -> Result<BTreeSet<Agreed>, Error> {
    let Context { host, registry, .. } = context;
    if warm.settled.permission == Permission::Skip {
        // What cannot be done is not asked about, and neither is anything else.
        launch::skip_possible(host, ground.agent)?;
    }
    let folder = &warm.topic.folder;
    let mut known = registry.consents(folder).await?;
    let before = known;
    let mut agreed = BTreeSet::new();
    let place = ground.trust(&warm.topic);
    if !trust::is_trusted(&place) && !known.trust {
        known.trust = ask(face, &Consent::Trust { folder: folder.clone(), enables: enables(&warm.topic) })?;
    }
    agreed.insert(Agreed::Trust);
    if warm.settled.permission == Permission::Skip {
        if !known.skip_permissions {
            let needs = ground.agent.skip_setting.to_string();
            known.skip_permissions = ask(face, &Consent::SkipPermissions { folder: folder.clone(), needs })?;
        }
        agreed.insert(Agreed::SkipPermissions);
    }
    if known != before {
        registry.set_consents(folder, known, host.now()).await?;
    }
    Ok(agreed)
}

fn ask(face: &dyn Face, consent: &Consent) -> Result<bool, Error> {
    if face.agree(consent)? {
        return Ok(true);
    }
    Err(match consent {
        Consent::Trust { .. } => Error::user(
            "you did not agree to mark this folder as trusted",
            "look at what it contains, then spawn again",
        ),
        Consent::SkipPermissions { .. } => Error::user(
            "you did not agree to run without permission questions here",
            "spawn with --permission ask",
        ),
    })
}

fn enables(topic: &Topic) -> Vec<String> {
    trust::inspect(&topic.folder, topic.project.worktree.as_deref())
        .into_iter()
        .map(|found| format!("{}: {}", found.kind.name(), found.text))
        .collect()
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
            id: id.clone(),
            name: topic.name.clone(),
            folder: topic.folder.clone(),
            project: topic.project.id.clone(),
            host_agent: ground.agent.kind.to_string(),
            prompt: topic.prompt.clone(),
            query: topic.query.clone(),
            permission: warm.settled.permission,
            way: warm.settled.way.unwrap_or(Way::Session),
            briefing_hash: Some(warm.briefing.hash.clone()),
            session: None,
            terminal: None,
            handle: None,
            process: None,
            tty: None,
            state: State::Starting,
            needs: None,
            receipt: None,
            created_at: now,
            sign_at: now,
            ended_at: None,
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

type Done = (passed::Launched, Ready, Way, Vec<String>);

/// Rooms four to seven.
#[expect(clippy::too_many_arguments, reason = "everything the earlier rooms made")]
async fn rooms(
    context: &Context,
    steps: &Steps<'_>,
    ground: &Ground,
    warm: &Warm,
    terminal: &dyn Terminal,
    id: &str,
    agreed: BTreeSet<Agreed>,
    cancel: &CancellationToken,
) -> Result<Done, Error> {
    let Context { host, registry, config } = context;
    let mut notes = Vec::new();
    let step = steps.begin(Step::Deliver);
    let delivered = deliver(context, ground, warm, id).await;
    let (way, note) = step.settle(delivered, |(way, _)| way_note(*way).into())?;
    notes.extend(note);
    stop_if(cancel)?;

    let step = steps.begin(Step::Trust);
    let place = ground.trust(&warm.topic);
    match trust::grant(host, registry, id, &place, host.now()).await {
        Ok(granted) => match granted {
            trust::Granted::Added => step.done("marked as trusted"),
            trust::Granted::AlreadyTrusted { .. } => step.skipped("already trusted"),
            trust::Granted::NeverStarted => {
                step.skipped("not started on this machine before");
                notes.push(format!("{} will ask its first questions itself", ground.agent.display));
            }
        },
        Err(error) => {
            step.failed(error.to_string());
            return Err(error.into());
        }
    }
    stop_if(cancel)?;

    let step = steps.begin(Step::Launch);
    let launched = tokio::select! {
        launched = start(context, ground, warm, terminal, id, agreed) => launched,
        () = cancel.cancelled() => Err(cancelled()),
    };
    let started = step.settle(launched, |s| s.launched.terminal.clone())?;
    notes.extend(started.note);
    let launched = started.launched;

    let step = steps.begin(Step::Ready);
    let prompt = warm.topic.prompt.as_deref();
    let expect = ready::Expect { prompt, briefing: way == Way::Session };
    let limit = Duration::from_secs(config.spawn.ready_timeout_s);
    let ready = ready::wait(host, registry, terminal, ground.agent, &launched, &expect, limit, cancel).await;
    let ready = step.settle(ready.map_err(Error::from), |ready| match &ready.needs {
        Some(needs) => format!("needs you: {needs}"),
        None => format!("{}, {}", ready.receipt.name(), ready.evidence),
    })?;
    // The host agent rewrites its file when it starts; a copy it had read before our change may have won.
    if !trust::is_trusted(&place) {
        trust::grant(host, registry, id, &place, host.now()).await?;
    }
    Ok((launched, ready, way, notes))
}

fn way_note(way: Way) -> &'static str {
    match way {
        Way::Session => "by our hook, nothing written into the folder",
        Way::Files => "as files in the folder",
    }
}

fn stop_if(cancel: &CancellationToken) -> Result<(), Error> {
    if cancel.is_cancelled() { Err(cancelled()) } else { Ok(()) }
}

fn cancelled() -> Error {
    Error::new(Kind::User, "cancelled", "run it again when you like")
}

/// Decides the way and plans it. A second live agent in a folder whose files are taken gets the session way, and
/// so does one whose files would meet the user's own.
async fn plan(
    context: &Context,
    ground: &Ground,
    warm: &Warm,
    id: &str,
) -> Result<(deliver::Plan, Option<String>), Error> {
    let hooks = ground.agent.session_hooks(ground.program.version);
    let chosen = warm.settled.way.unwrap_or(if hooks { Way::Session } else { Way::Files });
    if chosen == Way::Session && !hooks {
        return Err(Error::user(
            format!("this version of {} has no session hooks", ground.agent.display),
            "use --delivery files",
        ));
    }
    let whole = context.host.agent_dir(id).join(deliver::BRIEFING_FILE);
    let fitted =
        briefing::fit(&warm.briefing.markdown, ground.agent.hook_context_limit, &whole.to_string_lossy());
    let wanted = |way| deliver::Wanted {
        agent: id,
        way,
        folder: &warm.topic.folder,
        project: &warm.topic.project,
        briefing: &warm.briefing.markdown,
        hook_text: &fitted.text,
        reads: ground.agent.reads,
    };
    match deliver::plan(&context.host, &context.registry, &wanted(chosen)).await {
        Ok(plan) => Ok((plan, None)),
        Err(error) if hooks && error.session_way_helps() => {
            let plan = deliver::plan(&context.host, &context.registry, &wanted(Way::Session)).await?;
            Ok((plan, Some(format!("delivered by hook instead of files: {error}"))))
        }
        Err(error) => Err(error.into()),
    }
}

async fn deliver(
    context: &Context,
    ground: &Ground,
    warm: &Warm,
    id: &str,
) -> Result<(Way, Option<String>), Error> {
    let Context { host, registry, .. } = context;
    let (plan, note) = plan(context, ground, warm, id).await?;
    deliver::apply(host, registry, &plan, id, host.now()).await?;
    registry.set_briefing(id, &warm.briefing.hash, plan.way).await?;
    Ok((plan.way, note))
}

async fn start(
    context: &Context,
    ground: &Ground,
    warm: &Warm,
    terminal: &dyn Terminal,
    id: &str,
    agreed: BTreeSet<Agreed>,
) -> Result<launch::Start, Error> {
    let host = &context.host;
    let version = ground.program.version;
    let dir = host.agent_dir(id);
    let settings_file = dir.join("settings.json");
    let call = HookCall { exe: &host.exe, agent: id, pao_home: Some(&host.pao_home) };
    let settings = ground.agent.settings(version, &call, &dir).to_string();
    launch::private_folder(host, &context.registry, id, &dir).await?;
    files::write_private(&settings_file, settings.as_bytes(), false).map_err(|e| {
        Error::environment(
            format!("{} cannot be written: {e}", host.display(&settings_file)),
            "make room on the disk, then spawn again",
        )
    })?;
    let session = uuid::Uuid::new_v4().to_string();
    let spec = launch::LaunchSpec {
        agent_id: id,
        program: &ground.program.path,
        path: &ground.program.child_path,
        version,
        session: &session,
        resume: false,
        permission: warm.settled.permission,
        settings_file: Some(&settings_file),
        prompt: warm.topic.prompt.as_deref(),
        extra_args: &context.config.agent.args,
        agreed,
    };
    Ok(launch::launch(host, &context.registry, terminal, ground.agent, &warm.topic, spec).await?)
}

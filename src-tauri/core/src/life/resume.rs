//! Coming back: the very conversation, in its folder, with the same options, told what changed meanwhile.
//!
//! An agent that rests, has ended or was lost can come back. Where something no longer fits (the folder, the
//! conversation, the host agent's version) it says so with what can be done, and starts nothing anywhere else. A
//! return that fails or is cancelled leaves the agent at rest as it was.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::changed::{self, Changed, WHOLE_FILE};
use super::checkpoint;
use super::extract;
use super::pause::{in_project, taken};
use super::unfinished::close_windows;
use crate::agent::{self, Filed, HostAgent, Version};
use crate::host::process::{Identity, Outcome, Run};
use crate::host::{Host, files};
use crate::registry::agents::{Agent, State, nobody};
use crate::registry::claims::TakenUp;
use crate::spawn::again::{self, Back};
use crate::spawn::passed::Conversation;
use crate::spawn::request::Face;
use crate::spawn::{deliver, topic};
use crate::{Context, Error};

/// What the user asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resuming {
    /// Another folder than before: the one it was moved to.
    pub folder: Option<PathBuf>,
    /// Another name, where the old one was given to another agent.
    pub name: Option<String>,
    /// Another terminal than before.
    pub terminal: Option<String>,
    /// Resume although the host agent is older than the one it ran with, or its conversation is open elsewhere.
    pub anyway: bool,
}

/// An agent that is back.
#[derive(Debug, Clone, PartialEq)]
pub struct Resumed {
    /// Registry id, the same as before.
    pub agent: String,
    /// Name.
    pub name: String,
    /// Where it works.
    pub folder: PathBuf,
    /// It begins anew because nothing had been said in its conversation.
    pub begins_anew: bool,
    /// What changed while it rested.
    pub changed: Changed,
    /// Its start.
    pub back: Back,
    /// How long it took.
    pub took: Duration,
}

/// Brings one agent back.
pub async fn resume(
    context: &Context,
    id: &str,
    how: &Resuming,
    face: &dyn Face,
    cancel: &CancellationToken,
) -> Result<Resumed, Error> {
    let begun = Instant::now();
    let Context { host, registry, .. } = context;
    let row = registry.agent(id).await?;
    let row = row.ok_or_else(|| nobody(id))?;
    can_come_back(&row)?;
    let kind = agent::by_kind(&row.host_agent);
    let last = checkpoint::last(registry, id).await?;
    let from = last.as_ref().map(|c| c.id.as_str());
    let place = place(host, &row, how, from)?;
    let (conversation, transcript) = match kind {
        Some(kind) => conversation(context, kind, &row, from).await?,
        // Which is refused where the program is looked for.
        None => (Conversation::New(None), None),
    };
    if !how.anyway {
        runs_nowhere(host, kind, &row).await?;
    }
    let terminal = how.terminal.as_deref();
    let prepared = again::prepare(context, &row, &place.name, &place.folder, terminal, face, cancel).await?;
    if !how.anyway {
        // A question may have waited for long.
        runs_nowhere(host, kind, &row).await?;
    }
    let mut notes = fits(prepared.kind(), &row, prepared.version(), how.anyway)?;
    let version = prepared.version().map(|version| version.to_string());
    let changed =
        changed::since(context, &row, last.as_ref(), &place.folder, version.as_deref(), cancel).await?;
    if cancel.is_cancelled() {
        return Err(Error::user("cancelled", "run it again when you like"));
    }

    let me = Identity::own();
    let folder = place.folder.to_string_lossy();
    let taken_up = TakenUp { name: &place.name, folder: &folder, version: version.as_deref() };
    if !registry.claim_to_resume(id, row.claim, &taken_up, me, host.now()).await? {
        return Err(taken(&row.name));
    }
    let outcome = async {
        let claimed = registry.agent(id).await?.ok_or_else(|| Error::internal("the agent's row is gone"))?;
        // What an earlier life left: its dead window, and its files, which are put there anew.
        let _ = close_windows(host, registry, &claimed).await?;
        for (entry, undone) in deliver::sweep(host, registry, |other| other != id).await? {
            if let Err(error) = undone {
                tracing::warn!(?entry.change, %error, "could not be taken back before the agent returns");
            }
        }
        if let (Some(kind), Some(transcript)) = (kind, &transcript) {
            bring_along(host, kind, transcript, &place.folder)?;
        }
        if changed.whole != changed.text {
            let path = host.agent_dir(id).join(WHOLE_FILE);
            files::write_private(&path, changed.whole.as_bytes(), false).map_err(|e| {
                Error::environment(format!("{} cannot be written: {e}", host.display(&path)), "make room")
            })?;
        }
        again::start(context, prepared, &claimed, &conversation, &changed.text, face, cancel).await
    };
    let outcome = outcome.await;
    if outcome.is_err() {
        // Back to rest, or to its end, whichever it was.
        let stands = registry.agent(id).await?;
        if stands.is_some_and(|stands| stands.state.live()) {
            registry.set_state(id, State::Ended, None, "resume failed", host.now()).await?;
        }
    }
    registry.release(id, me).await?;
    let mut back = outcome?;
    notes.append(&mut back.notes);
    back.notes = notes;
    Ok(Resumed {
        agent: row.id,
        name: place.name,
        folder: place.folder,
        begins_anew: matches!(conversation, Conversation::New(_)),
        changed,
        back,
        took: begun.elapsed(),
    })
}

fn can_come_back(row: &Agent) -> Result<(), Error> {
    if row.claim.is_some_and(|claim| claim.by.alive()) {
        return Err(taken(&row.name));
    }
    if row.state.live() {
        let why = format!("{} is not at rest: it is {}", row.name, row.state.name());
        return Err(
            Error::user(why, format!("see it with `pao focus {}`", row.name)).in_window("focus it to see it")
        );
    }
    if row.process.is_some_and(Identity::alive) {
        let why = format!("{} has ended, but its process still runs", row.name);
        return Err(Error::environment(why, "wait until it is gone, then try again"));
    }
    Ok(())
}

/// Two programs that go on with one conversation write over one another.
async fn runs_nowhere(host: &Host, kind: Option<&HostAgent>, row: &Agent) -> Result<(), Error> {
    let (Some(kind), Some(session)) = (kind, row.session.as_deref()) else { return Ok(()) };
    let Some(Identity { pid, .. }) = kind.who_has_open(host, session) else { return Ok(()) };
    let tty = Run::new("ps").args(["-o", "tty=", "-p", &pid.to_string()]).output().await;
    let tty = tty.ok().filter(Outcome::success).map(|ps| ps.text().trim().to_string());
    let tty = tty.filter(|tty| !tty.is_empty() && !tty.contains('?'));
    let place = tty.map_or_else(String::new, |tty| format!(" on {tty}"));
    let name = &row.name;
    let why = format!(
        "the conversation of {name} is open elsewhere: {} runs it as process {pid}{place}",
        kind.display
    );
    let next = format!("end it there, or open it twice with `pao resume {name} --anyway`");
    Err(Error::user(why, next).in_window("end it there, then try again"))
}

/// Name and folder it comes back with.
struct Place {
    name: String,
    folder: PathBuf,
}

fn place(host: &Host, row: &Agent, how: &Resuming, checkpoint: Option<&str>) -> Result<Place, Error> {
    let name = how.name.clone().unwrap_or_else(|| row.name.clone());
    topic::check_name(&name)?;
    let Some(given) = &how.folder else {
        // The very folder: one that was replaced by a link to elsewhere is not it.
        if row.folder.canonicalize().is_ok_and(|real| real == row.folder && real.is_dir()) {
            return Ok(Place { name, folder: row.folder.clone() });
        }
        return Err(folder_is_gone(host, row, checkpoint));
    };
    let names = std::collections::BTreeSet::new();
    let asked = topic::Asked { folder: Some(given), words: "", name: Some(&name), names_in_use: &names };
    Ok(Place { folder: topic::resolve(&asked, host)?.folder, name })
}

fn folder_is_gone(host: &Host, row: &Agent, checkpoint: Option<&str>) -> Error {
    let folder = host.display(&row.folder);
    let what = if row.worktree.as_deref() == Some(row.folder.as_path()) {
        format!("the git worktree {folder}, in which {} worked, is gone", row.name)
    } else {
        format!("{folder}, in which {} worked, is gone or is another folder now", row.name)
    };
    let moved = format!("if it was moved: `pao resume {} --in DIR`", row.name);
    Error::user(what, format!("put it back; {moved}; {}", anew(checkpoint)))
        .in_window("put it back, or start a new agent in another folder")
}

fn anew(checkpoint: Option<&str>) -> String {
    match checkpoint {
        Some(id) => format!("or start a new agent from its checkpoint: `pao spawn --fork {id} -C DIR`"),
        None => "or start a new agent: `pao spawn -C DIR`".into(),
    }
}

/// The conversation to go back to, and its transcript where it has one.
async fn conversation(
    context: &Context,
    kind: &HostAgent,
    row: &Agent,
    checkpoint: Option<&str>,
) -> Result<(Conversation, Option<PathBuf>), Error> {
    let Some(session) = row.session.clone() else { return Ok((Conversation::New(None), None)) };
    let transcript = extract::transcript(&context.host, kind, row);
    if let Some(path) = transcript.as_deref().filter(|path| has_turns(path)) {
        return Ok((Conversation::Resume(session), Some(path.to_path_buf())));
    }
    if transcript.is_none() && kind.places.filed != Filed::ByProject {
        // Where it keeps its conversations is not known well enough to say that one is gone.
        return Ok((Conversation::Resume(session), None));
    }
    let events = context.registry.events_after(&row.id, 0).await?;
    let spoken = events
        .iter()
        .any(|(_, event)| event.event == "UserPromptSubmit" && event.session.as_ref() == Some(&session));
    if !spoken {
        // A conversation in which nothing was said is not kept by the host agent; under its id nothing is lost. A
        // transcript without a turn is no conversation to it, and yet its id counts as used.
        return Ok((Conversation::New(transcript.is_none().then_some(session)), None));
    }
    if let Some(path) = transcript {
        let why = format!(
            "the conversation of {} is lost: something was said in it, and nothing of that is in {}",
            row.name,
            context.host.display(&path)
        );
        let next = format!("put that file back from a backup, {}", anew(checkpoint));
        return Err(Error::user(why, next));
    }
    let why = format!(
        "{} no longer has the conversation of {} ({session}): it removes old ones by and by",
        kind.display, row.name
    );
    Err(Error::user(why, anew(checkpoint).trim_start_matches("or ").to_string()))
}

/// Whether anybody says anything in a transcript; one that is long or cannot be read is taken to hold turns.
fn has_turns(path: &Path) -> bool {
    const PIECE: u64 = 1 << 20;
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(PIECE).read_to_end(&mut bytes));
    let says = |line: &[u8]| {
        serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|record| {
            matches!(record["type"].as_str(), Some("user" | "assistant"))
                || !agent::user_texts(&record).is_empty()
        })
    };
    read.is_err() || bytes.len() as u64 == PIECE || bytes.split(|b| *b == b'\n').any(says)
}

/// Whether the host agent's version still fits; what there is to say about it.
fn fits(kind: &HostAgent, row: &Agent, now: Option<Version>, anyway: bool) -> Result<Vec<String>, Error> {
    let then = row.version.as_deref().and_then(Version::parse);
    let (Some(then), Some(now)) = (then, now) else { return Ok(Vec::new()) };
    if now < then && !anyway {
        let why = format!(
            "{} ran with {} {then}, and here is the older {now}, which may not read its conversation",
            row.name, kind.display
        );
        return Err(Error::user(
            why,
            format!("update it, or try with `pao resume {} --anyway`; the conversation is kept", row.name),
        )
        .in_window(format!("update {}; the conversation is kept", kind.display)));
    }
    Ok(if now == then { Vec::new() } else { vec![format!("{} is {now} now; it was {then}", kind.display)] })
}

/// The host agent looks for a conversation by the folder it is started in. Where that is another one now, the
/// conversation is copied along; the old one stays.
fn bring_along(host: &Host, kind: &HostAgent, transcript: &Path, folder: &Path) -> Result<(), Error> {
    if kind.places.filed != Filed::ByProject {
        return Ok(());
    }
    let Some(name) = kind.transcript_folder(folder) else { return Ok(()) };
    let target = kind.transcripts_dir(host).join(name);
    let Some(file) = transcript.file_name().map(|file| target.join(file)) else { return Ok(()) };
    if file.exists() {
        return Ok(());
    }
    let copied = files::private_dir(&target).and_then(|()| {
        let half = file.with_extension("jsonl.part");
        fs::copy(transcript, &half)?;
        fs::rename(&half, &file)
    });
    copied.map_err(|e| {
        Error::environment(
            format!("the conversation cannot be brought along to {}: {e}", host.display(&file)),
            "see who may write there",
        )
    })
}

/// Agents that `--all` means, of one project where one is named: those at rest, and beside them those that were lost
/// and not put aside since.
pub async fn all(context: &Context, project: Option<&Path>) -> Result<(Vec<Agent>, Vec<Agent>), Error> {
    let mut agents = context.registry.agents().await?;
    agents.retain(|a| a.archived_at.is_none() && in_project(context, a, project));
    let lost = agents.iter().filter(|a| a.state == State::Lost).cloned().collect();
    agents.retain(|a| a.state == State::Paused);
    Ok((agents, lost))
}

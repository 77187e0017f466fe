//! A new agent that starts from a checkpoint.
//!
//! Where the host agent can copy a conversation, and nothing was said in it after the checkpoint, the new agent's
//! conversation begins as its copy. A copy cannot be cut at a place, so in all other cases the new agent gets a
//! briefing made of the checkpoint: what was true then, and nothing that came later. The first agent and its
//! conversation are left alone either way.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::{Checkpoint, Place};
use crate::agent;
use crate::capture::transcript::{Entry, Reader};
use crate::life::told::Told;
use crate::registry::agents::Origin;
use crate::source::Speaker;
use crate::spawn::request::{Fork, Request};
use crate::{Context, Error};

/// How a new agent starts from a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Forked {
    /// What to spawn with.
    pub request: Request,
    /// Why it is a briefing and no copy of the conversation, where it is one.
    pub note: Option<String>,
}

/// Completes a request so that it starts from that checkpoint: in its folder, unless another is named.
pub async fn fork(context: &Context, id: &str, mut request: Request) -> Result<Forked, Error> {
    let checkpoint = super::find(&context.registry, id).await?;
    let data = &checkpoint.data;
    if request.folder.is_none() {
        if !data.folder_is_there() {
            return Err(Error::user(
                format!("{} is not there any more", context.host.display(&data.folder)),
                "name the folder to start in: -C DIR",
            ));
        }
        request.folder = Some(data.folder.clone());
    }
    let folder = request.folder.as_deref().unwrap_or(&data.folder);
    let whole = whole_conversation(context, &checkpoint, folder);
    let (conversation, note) = match whole {
        Ok(session) => (Some(session), None),
        Err(why) => (None, Some(format!("started from a briefing of the checkpoint: {why}"))),
    };
    let opening = opening(&checkpoint, conversation.is_some());
    let origin = Origin {
        agent: checkpoint.agent.clone(),
        name: data.name.clone(),
        checkpoint: Some(checkpoint.id.clone()),
    };
    request.fork = Some(Fork { origin, conversation, opening });
    Ok(Forked { request, note })
}

/// The conversation to copy, or why it cannot be one.
fn whole_conversation(context: &Context, checkpoint: &Checkpoint, folder: &Path) -> Result<String, String> {
    let data = &checkpoint.data;
    let kind = agent::by_kind(&data.host_agent).ok_or("its host agent is not known to this pao")?;
    if context.agent().ok().map(|a| a.kind) != Some(kind.kind) {
        return Err(format!("another host agent than {} is configured now", kind.display));
    }
    if kind.flags.fork.is_none() {
        return Err(format!("{} cannot copy a conversation", kind.display));
    }
    let (Some(session), Some(place)) = (&data.session, &data.transcript) else {
        return Err("nothing had been said in it".into());
    };
    let real = |path: &Path| context.host.cwd.join(path).canonicalize().ok();
    if real(folder) != real(&data.folder) {
        return Err("a conversation can only go on in its own folder".into());
    }
    match goes_on(place) {
        Ok(false) => Ok(session.clone()),
        Ok(true) => Err("its conversation went on since, and a copy cannot be cut".into()),
        Err(_) => Err("the host agent has removed its conversation".into()),
    }
}

/// Whether anything was said behind that place.
fn goes_on(place: &Place) -> std::io::Result<bool> {
    let mut file = std::fs::File::open(&place.path)?;
    if file.metadata()?.len() < place.position {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    file.seek(SeekFrom::Start(place.position))?;
    let mut reader = Reader::new(file.by_ref(), place.position);
    while let Some(entry) = reader.next_entry()? {
        if matches!(entry, Entry::Message(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What stands before the new agent's briefing.
fn opening(checkpoint: &Checkpoint, copied: bool) -> String {
    let (data, said) = (&checkpoint.data, &checkpoint.data.said);
    let at = checkpoint.at.format("%Y-%m-%d %H:%M UTC");
    let about = if copied {
        format!("Your conversation begins as a copy of another agent's, as it stood at a checkpoint of {at}.")
    } else {
        format!("You start where another agent stood at a checkpoint of {at}; this is what it had come to.")
    };
    let mut told = Told::new("Where you start from", &about);
    let none = String::new;
    let plain = |list: &'_ [String]| list.iter().map(|item| (none(), item.clone())).collect::<Vec<_>>();
    let mut list = |heading: &str, speaker, items: Vec<(String, String)>| {
        told.list(heading, speaker, items.iter().map(|(ours, theirs)| (ours.clone(), theirs.as_str())), 0);
    };
    list(
        "What the user noted",
        Speaker::User,
        checkpoint.message.iter().map(|m| (none(), m.clone())).collect(),
    );
    if let Some(git) = &data.git {
        let mut stood = Vec::new();
        stood.extend(git.branch.iter().map(|name| ("branch ".to_string(), name.clone())));
        stood.extend(git.head.iter().map(|id| ("commit ".to_string(), id.clone())));
        stood.extend(git.dirty.iter().take(20).map(|d| ("not committed: ".to_string(), d.path.clone())));
        list("Where the repository stood", Speaker::Store, stood);
    }
    if !copied {
        let mut asked: Vec<String> = said.first_prompt.iter().cloned().collect();
        asked.extend(said.last_prompts.iter().filter(|p| Some(*p) != said.first_prompt.as_ref()).cloned());
        list("What the user had asked, in order", Speaker::User, plain(&asked));
        list("What was left to do", Speaker::Agent, plain(&said.todos));
        list("What was decided", Speaker::Agent, plain(&said.decisions));
        list("What was left open", Speaker::Agent, plain(&said.open_ends));
        list("Files that were changed", Speaker::Store, plain(&said.files));
        let failed: Vec<String> = said.errors.iter().rev().take(5).cloned().collect();
        list("What had failed last", Speaker::Store, plain(&failed));
        let reply = said.last_reply.iter().cloned().collect::<Vec<_>>();
        list("What the agent said last", Speaker::Agent, plain(&reply));
    }
    told.finish().unwrap_or_default()
}

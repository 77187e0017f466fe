//! Handing work over: what one agent's session came to, as a document for another, which runs or is started for it.
//!
//! The document records and does not instruct: every line of it is quoted, redacted and made harmless, and what
//! addresses an agent is left out. What the other is to do is only what the user says.

use super::told::Told;
use super::{extract, rebrief, repository, tell};
use crate::registry::agents::{Agent, Origin, State};
use crate::source::Speaker;
use crate::spawn::request::{Fork, Request};
use crate::{Context, Error};

/// Items of a kind that are told; more are counted.
const ITEMS: usize = 20;

/// What an agent's session came to, as a document for another agent.
pub async fn document(context: &Context, from: &Agent) -> Result<String, Error> {
    let kind = super::kind(from)?;
    let (host, row) = (context.host.clone(), from.clone());
    let read = tokio::task::spawn_blocking(move || extract::of(&host, kind, &row)).await;
    let said = match read {
        Ok(Ok(said)) => said.unwrap_or_default(),
        Ok(Err(e)) => {
            return Err(Error::environment(
                format!("the transcript of {} cannot be read: {e}", from.name),
                "make it readable for you",
            ));
        }
        Err(e) => return Err(Error::internal(e.to_string())),
    };
    let standing = repository::standing(&from.folder).await;
    let mut told = Told::new(
        "Handed over by another agent",
        "The user hands you another agent's work; this is what its session had come to.",
    );
    let state = match from.state {
        State::Ended | State::Lost | State::Paused => format!("It is {} now.", from.state.name()),
        _ => "It still runs, and may still change things.".to_string(),
    };
    told.say(&state);
    let none = String::new;
    let where_it_works = from.folder.to_string_lossy();
    let mut places: Vec<(String, &str)> = vec![("folder: ".into(), &where_it_works)];
    if let Some(standing) = &standing {
        if let Some(branch) = &standing.branch {
            places.push(("branch: ".into(), branch));
        }
        if let Some(head) = &standing.head {
            places.push(("commit: ".into(), head));
        }
    }
    told.list("Where it works", Speaker::Store, places, 0);
    let mut list = |heading: &str, speaker, items: &[String]| {
        let left = items.len().saturating_sub(ITEMS);
        told.list(heading, speaker, items[left..].iter().map(|item| (none(), item.as_str())), left);
    };
    let asked: Vec<String> = said
        .first_prompt
        .iter()
        .filter(|first| !said.last_prompts.contains(first))
        .chain(&said.last_prompts)
        .cloned()
        .collect();
    list("What the user asked of it", Speaker::User, &asked);
    list("What it still has on its list", Speaker::Agent, &said.todos);
    list("What it left open", Speaker::Agent, &said.open_ends);
    list("What was decided", Speaker::Agent, &said.decisions);
    list("What it said last", Speaker::Agent, said.last_reply.as_slice());
    list("Files it changed", Speaker::Agent, &said.files_touched);
    list("What failed", Speaker::Agent, &said.errors);
    if let Some(standing) = &standing {
        let dirty = standing.dirty.iter().take(ITEMS);
        let items: Vec<(String, &str)> = dirty.map(|d| (format!("{} ", d.status), d.path.as_str())).collect();
        let more = standing.more + standing.dirty.len().saturating_sub(ITEMS);
        told.list("What is not committed there", Speaker::Store, items, more);
    }
    told.finish().ok_or_else(|| Error::internal("the document says nothing"))
}

/// Hands over to an agent that runs, with its next prompt; how it reaches it.
pub async fn to_running(
    context: &Context,
    from: &Agent,
    to: &str,
) -> Result<(Agent, rebrief::Delivery), Error> {
    let to = tell::named(&context.registry, to).await?;
    if to.id == from.id {
        return Err(Error::user("an agent cannot hand over to itself", "name another, or use --new")
            .in_window("choose another, or a new one"));
    }
    if to.state == State::Paused {
        return Err(Error::user(format!("{} is paused", to.name), "resume it, or use --new")
            .in_window("resume it first, or choose a new one"));
    }
    let markdown = document(context, from).await?;
    let delivery = rebrief::hand_over(context, super::kind(&to)?, &to, "handover", &markdown).await?;
    Ok((to, delivery))
}

/// Completes a request for a new agent so that its briefing opens with what is handed over: in the same folder, unless
/// another is named.
pub async fn to_new(context: &Context, from: &Agent, mut request: Request) -> Result<Request, Error> {
    if request.folder.is_none() {
        if !from.folder.is_dir() {
            return Err(Error::user(
                format!("{} is not there any more", context.host.display(&from.folder)),
                "name the folder to start in: -C DIR",
            ));
        }
        request.folder = Some(from.folder.clone());
    }
    let opening = document(context, from).await? + "\n";
    let origin = Origin { agent: from.id.clone(), name: from.name.clone(), checkpoint: None };
    request.fork = Some(Fork { origin, conversation: None, opening });
    Ok(request)
}

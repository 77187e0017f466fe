//! One agent in full, as its page shows it.

use std::collections::BTreeMap;

use super::{agents, markdown, preview};
use crate::host::Host;
use crate::life::account::Account;
use crate::life::repository::Standing;
use crate::registry::agents::Origin;
use crate::registry::messages::{self, Fate};
use crate::wire::door::{AgentPage, Checkpoint, Message, Turn};

/// The page. `titles` are the checkpoints' own, by id.
pub fn page(
    account: &Account,
    standing: Option<&Standing>,
    titles: &BTreeMap<String, String>,
    host: &Host,
    half_life: chrono::TimeDelta,
) -> AgentPage {
    let agent = &account.agent;
    let waiting = account.messages.iter().filter(|message| message.fate == Fate::Queued).count();
    let queued = BTreeMap::from([(agent.id.clone(), u32::try_from(waiting).unwrap_or(u32::MAX))]);
    let document = account.briefing.text.as_deref().unwrap_or_default();
    AgentPage {
        row: agents::row(agent, &queued, host, host.now(), half_life),
        branch: standing.and_then(|standing| standing.branch.clone()),
        changed: standing.map(|s| u32::try_from(s.dirty.len() + s.more).unwrap_or(u32::MAX)),
        permission: agent.permission.name().into(),
        delivery: agent.way.name().into(),
        origin: agent.origin.as_ref().map(Origin::told),
        prompt: agent.prompt.clone(),
        sessions: account.conversations.iter().rev().map(|c| c.session.clone()).collect(),
        attach: account.attach.clone(),
        turns: account
            .states
            .iter()
            .map(|turn| Turn {
                at: turn.at,
                state: agents::state(turn.state),
                needs: turn.needs.clone(),
                by: turn.by.clone(),
            })
            .collect(),
        briefing: preview::delivered(document),
        briefing_tokens: u32::try_from(account.briefing.tokens).unwrap_or(u32::MAX),
        briefing_gone: account.briefing.text.is_none() && agent.briefing_hash.is_some(),
        briefing_html: markdown::html(document),
        checkpoints: account
            .checkpoints
            .iter()
            .rev()
            .map(|kept| Checkpoint {
                id: kept.id.clone(),
                at: kept.at,
                title: kept.message.clone().or_else(|| titles.get(&kept.id).cloned()).unwrap_or_default(),
            })
            .collect(),
        messages: account.messages.iter().rev().map(message).collect(),
        written: account.written.clone(),
    }
}

/// A text for an agent.
pub fn message(message: &messages::Message) -> Message {
    Message {
        id: message.id,
        at: message.at,
        text: message.text.clone(),
        fate: message.fate.name().into(),
        note: message.note.clone(),
    }
}

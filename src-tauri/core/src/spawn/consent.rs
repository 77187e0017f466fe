//! What the user is asked before anything is written: trust of a folder, running without questions.

use std::collections::BTreeSet;
use std::path::Path;

use super::passed::{Agreed, Permission, Topic};
use super::request::{Consent, Face};
use super::rooms::Ground;
use super::undo::{self, UndoneItem};
use super::{launch, trust};
use crate::agent::{self, HostAgent};
use crate::registry::agents::Agent;
use crate::registry::change::Change;
use crate::registry::folders::Consents;
use crate::{Context, Error};

/// Asks for what was not agreed to before. A no ends the spawn; nothing has been written.
pub(super) async fn consents(
    context: &Context,
    ground: &Ground,
    topic: &Topic,
    permission: Permission,
    face: &dyn Face,
) -> Result<BTreeSet<Agreed>, Error> {
    let Context { host, registry, .. } = context;
    if permission == Permission::Skip {
        // What cannot be done is not asked about, and neither is anything else.
        launch::skip_possible(host, ground.agent)?;
    }
    let folder = &topic.folder;
    let mut known = registry.consents(folder, ground.agent.kind).await?;
    let before = known;
    let mut agreed = BTreeSet::new();
    let place = ground.trust(topic);
    if !trust::look(&place)? && !known.trust {
        known.trust = ask(
            face,
            &Consent::Trust {
                agent: ground.agent.display,
                folder: folder.clone(),
                enables: enables(ground.agent, topic),
            },
        )?;
    }
    agreed.insert(Agreed::Trust);
    if permission == Permission::Skip {
        if !known.skip_permissions {
            let needs = ground.agent.skip_setting.unwrap_or_default().to_string();
            known.skip_permissions = ask(
                face,
                &Consent::SkipPermissions { agent: ground.agent.display, folder: folder.clone(), needs },
            )?;
        }
        agreed.insert(Agreed::SkipPermissions);
    }
    if known != before {
        registry.set_consents(folder, ground.agent.kind, known, host.now()).await?;
    }
    Ok(agreed)
}

/// What of the consents for a folder is to be taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Back {
    /// That it may be trusted, and the trust records of ours with it.
    pub trust: bool,
    /// That agents there may skip all permissions.
    pub skip_permissions: bool,
}

/// Takes back what the user agreed to for a folder, whichever host agent it was for; the next spawn asks again. A trust
/// record that an agent still relies on stays until that one has ended.
pub async fn take_back_consent(
    context: &Context,
    folder: &Path,
    back: Back,
) -> Result<Vec<UndoneItem>, Error> {
    let Context { host, registry, .. } = context;
    for kind in agent::KINDS {
        let known = registry.consents(folder, kind).await?;
        let left = Consents {
            trust: known.trust && !back.trust,
            skip_permissions: known.skip_permissions && !back.skip_permissions,
        };
        if left != known {
            registry.set_consents(folder, kind, left, host.now()).await?;
        }
    }
    if !back.trust {
        return Ok(Vec::new());
    }
    let here = |agent: &&Agent| agent.folder == folder && agent.ended_at.is_none();
    let agents = registry.agents().await?;
    let mut items = Vec::new();
    for entry in registry.open_changes(None).await? {
        let Change::Trust { folder: of, .. } = &entry.change else { continue };
        if folder.as_os_str() != &**of {
            continue;
        }
        let what = undo::describe(host, &entry.change);
        let (outcome, gone) = match agents.iter().find(here) {
            Some(agent) => (format!("kept until {} has ended", agent.name), false),
            None => match undo::one(context, &entry).await {
                Ok(outcome) => outcome,
                Err(error) => (format!("kept: {error}; {}", error.next), false),
            },
        };
        items.push(UndoneItem { agent: entry.agent.clone(), what, outcome, gone });
    }
    Ok(items)
}

fn ask(face: &dyn Face, consent: &Consent) -> Result<bool, Error> {
    if face.agree(consent)? {
        return Ok(true);
    }
    Err(match consent {
        Consent::Trust { agent, .. } => Error::user(
            format!("you did not agree to mark this folder as trusted for {agent}"),
            "look at what it contains, then spawn again",
        ),
        Consent::SkipPermissions { agent, .. } => Error::user(
            format!("you did not agree to run {agent} without permission questions here"),
            "spawn with --permission ask",
        ),
    })
}

pub(super) fn enables(agent: &HostAgent, topic: &Topic) -> Vec<String> {
    trust::inspect(agent, &topic.folder, topic.project.worktree.as_deref())
        .into_iter()
        .map(|found| format!("{}: {}", found.kind.name(), found.text))
        .collect()
}

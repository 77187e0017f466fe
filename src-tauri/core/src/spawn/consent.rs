//! What the user is asked before anything is written: trust of a folder, running without questions.

use crate::Context;
use std::collections::BTreeSet;

use super::passed::{Agreed, Permission, Topic};
use super::request::{Consent, Face};
use super::rooms::Ground;
use super::{launch, trust};
use crate::Error;

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
    let before = known.clone();
    let mut agreed = BTreeSet::new();
    if !trust::look(&ground.trust(topic))? {
        let enables = trust::enables(ground.agent, folder, &topic.project);
        if !known.trusts(enables.mark.as_deref()) {
            let (agent, folder) = (ground.agent.display, folder.clone());
            ask(face, &Consent::Trust { agent, folder, enables: enables.shown })?;
            known.trust(enables.mark);
        }
    }
    agreed.insert(Agreed::Trust);
    if permission == Permission::Skip {
        if !known.skip_permissions {
            let needs = ground.agent.skip_setting.unwrap_or_default().to_string();
            ask(
                face,
                &Consent::SkipPermissions { agent: ground.agent.display, folder: folder.clone(), needs },
            )?;
            known.skip_permissions = true;
        }
        agreed.insert(Agreed::SkipPermissions);
    }
    if known != before {
        registry.set_consents(folder, ground.agent.kind, &known, host.now()).await?;
    }
    Ok(agreed)
}

fn ask(face: &dyn Face, consent: &Consent) -> Result<(), Error> {
    if face.agree(consent)? {
        return Ok(());
    }
    Err(match consent {
        Consent::Trust { agent, .. } => Error::user(
            format!("you did not agree to mark this folder as trusted for {agent}"),
            "look at what it contains, then spawn again",
        ),
        Consent::SkipPermissions { agent, .. } => Error::user(
            format!("you did not agree to run {agent} without permission questions here"),
            "spawn with --permission ask",
        )
        .in_window("choose other permissions"),
    })
}

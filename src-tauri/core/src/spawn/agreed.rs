//! What the user agreed to for folders, listed and taken back. Agreeing happens only when a spawn asks.

use std::path::{Path, PathBuf};

use super::undo::{self, UndoneItem};
use crate::agent;
use crate::registry::agents::Agent;
use crate::registry::change::Change;
use crate::registry::folders::Consents;
use crate::{Context, Error};

/// What is remembered of one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// The folder.
    pub folder: PathBuf,
    /// It may be trusted: for at least one host agent.
    pub trust: bool,
    /// Agents there may skip all permissions: at least those of one kind.
    pub skip_permissions: bool,
    /// Permission profile of the last spawn there.
    pub permission: Option<String>,
}

/// What of it is to be taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Back {
    /// That it may be trusted, and our trust records with it.
    pub trust: bool,
    /// That agents there may skip all permissions.
    pub skip_permissions: bool,
}

/// All folders that are remembered, by path.
pub async fn list(context: &Context) -> Result<Vec<Agreed>, Error> {
    let registry = &context.registry;
    let mut rows = Vec::new();
    for folder in registry.folders().await? {
        let mut consents = Consents::default();
        for kind in agent::KINDS {
            let known = registry.consents(&folder, kind).await?;
            consents.trust |= known.trust;
            consents.skip_permissions |= known.skip_permissions;
        }
        let permission = registry.choices(&folder).await?.permission;
        rows.push(Agreed {
            folder,
            trust: consents.trust,
            skip_permissions: consents.skip_permissions,
            permission,
        });
    }
    Ok(rows)
}

/// Takes back what the user agreed to for a folder, whichever host agent it was for; the next spawn asks again. What
/// became of trust records of ours is returned: one that an agent still relies on stays until that one has ended.
pub async fn take_back(context: &Context, folder: &Path, back: Back) -> Result<Vec<UndoneItem>, Error> {
    let Context { host, registry, .. } = context;
    for kind in agent::KINDS {
        let known = registry.consents(folder, kind).await?;
        let left = Consents {
            trust: known.trust && !back.trust,
            skip_permissions: known.skip_permissions && !back.skip_permissions,
            enables: known.enables.clone(),
        };
        if left != known {
            registry.set_consents(folder, kind, &left, host.now()).await?;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::agent::CLAUDE_CODE;
    use crate::config::Config;
    use crate::host::Host;
    use crate::project::Project;
    use crate::registry::Registry;
    use crate::spawn::trust::{self, Place};

    #[tokio::test]
    async fn what_was_agreed_to_is_taken_back_one_by_one_and_the_trust_record_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let host = Host { pao_home: home.join("pao"), exe: home.join("exe"), ..Host::at(&home) };
        let registry = Arc::new(Registry::open(&host.registry_file()).await.unwrap());
        let config = CLAUDE_CODE.trust_file(&host);
        let before = br#"{"projects":{"/code/app":{"allowedTools":[]}}}"#;
        std::fs::write(&config, before).unwrap();
        let folder = Path::new("/code/app");
        let project = Project { worktree: None, ..Project::of(folder) };
        let place = Place { config: &config, record: CLAUDE_CODE.trust, folder, project: &project };
        let context = Context { host, config: Config::default(), registry, without_registry: None };
        let Context { host, registry, .. } = &context;
        trust::grant(host, registry, "a1", &place, host.now()).await.unwrap();
        let yes = Consents { trust: true, enables: None, skip_permissions: true };
        for kind in ["claude-code", "codex"] {
            registry.set_consents(folder, kind, &yes, host.now()).await.unwrap();
        }

        take_back(&context, folder, Back { skip_permissions: true, trust: false }).await.unwrap();
        let kept = Agreed { folder: folder.into(), trust: true, skip_permissions: false, permission: None };
        assert_eq!(list(&context).await.unwrap(), [kept]);
        assert!(trust::is_trusted(&place));

        let mut agent = Agent::starting("a2", "a2", folder, "claude-code", host.now());
        registry.add(&agent).await.unwrap();
        let items = take_back(&context, folder, Back { trust: true, skip_permissions: false }).await.unwrap();
        assert_eq!(items[0].outcome, "kept until a2 has ended");
        assert!(trust::is_trusted(&place));

        agent.ended_at = Some(host.now());
        registry.forget("a2").await.unwrap();
        let items = take_back(&context, folder, Back { trust: true, skip_permissions: false }).await.unwrap();
        assert_eq!((items[0].outcome.as_str(), items[0].gone), ("removed", true));
        assert_eq!(std::fs::read(&config).unwrap(), before);
        assert!(!list(&context).await.unwrap()[0].trust);
    }
}

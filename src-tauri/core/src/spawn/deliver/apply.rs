//! Makes the changes of a plan, each written down in the journal before it is made.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::plan::Step;
use super::{DeliverError, Plan, block, exclude, undo};
use crate::host::Host;
use crate::host::files;
use crate::registry::Registry;
use crate::registry::change::Change;
use crate::registry::journal::Entry;

/// How often a file that changes under our hands is read again.
const TRIES: usize = 20;
/// How long another pao may hold a file's lock.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Does what the plan says. When a step fails, those already made are taken back. Stopped between two steps (or by
/// a crash), it leaves whole files and a journal from which [`super::undo`] takes them back.
pub async fn apply(
    host: &Host,
    registry: &Registry,
    plan: &Plan,
    agent: &str,
    now: DateTime<Utc>,
) -> Result<(), DeliverError> {
    let work = Work { host, registry, agent, now };
    let before = registry.open_changes(Some(agent)).await?.first().map_or(0, |entry| entry.id);
    for step in &plan.steps {
        if let Err(error) = work.make(step).await {
            for entry in registry.open_changes(Some(agent)).await? {
                if entry.id > before {
                    undo(host, registry, &entry).await?;
                }
            }
            return Err(error);
        }
    }
    Ok(())
}

struct Work<'a> {
    host: &'a Host,
    registry: &'a Registry,
    agent: &'a str,
    now: DateTime<Utc>,
}

impl Work<'_> {
    async fn make(&self, step: &Step) -> Result<(), DeliverError> {
        match step {
            Step::Private { path } => self.private(path).await,
            Step::PrivateFile { path, bytes } => {
                let folder = path.parent().unwrap_or(path);
                files::private_dir(folder).map_err(|e| DeliverError::io(folder, e))?;
                files::write_private(path, bytes, false).map_err(|e| DeliverError::io(path, e))
            }
            Step::Folder { path } => self.folder(path).await,
            Step::File { path, bytes } => self.file(path, bytes).await,
            Step::Exclude { path, line } => self.exclude(path, line).await,
            Step::Block { path, body, .. } => self.block(path, body).await,
        }
    }

    async fn planned(&self, change: &Change) -> Result<i64, DeliverError> {
        Ok(self.registry.plan_change(self.agent, change, self.now).await?)
    }

    /// Whether an agent has an open change of that kind.
    async fn journalled(&self, same: impl Fn(&Entry) -> bool) -> Result<bool, DeliverError> {
        Ok(self.registry.open_changes(None).await?.iter().any(same))
    }

    async fn private(&self, path: &Path) -> Result<(), DeliverError> {
        let change = Change::Private { path: path.to_path_buf() };
        if self.journalled(|e| e.agent == self.agent && e.change == change).await? {
            return files::private_dir(path).map_err(|e| DeliverError::io(path, e));
        }
        let id = self.planned(&change).await?;
        files::private_dir(path).map_err(|e| DeliverError::io(path, e))?;
        Ok(self.registry.change_applied(id).await?)
    }

    async fn folder(&self, path: &Path) -> Result<(), DeliverError> {
        let change = Change::Folder { path: path.to_path_buf() };
        // A folder that another agent's delivery made is ours too: the last of us removes it.
        if path.is_dir() && !self.journalled(|e| e.change == change).await? {
            return Ok(());
        }
        let id = self.planned(&change).await?;
        match fs::create_dir(path) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(e) => {
                self.registry.change_undone(id).await?;
                return Err(DeliverError::io(path, e));
            }
        }
        Ok(self.registry.change_applied(id).await?)
    }

    async fn file(&self, path: &Path, bytes: &[u8]) -> Result<(), DeliverError> {
        let change = Change::File { path: path.to_path_buf(), sha256: files::sha256(bytes) };
        let id = self.planned(&change).await?;
        match files::create_new(path, bytes) {
            Ok(()) => Ok(self.registry.change_applied(id).await?),
            Err(e) => {
                self.registry.change_undone(id).await?;
                if e.kind() == io::ErrorKind::AlreadyExists {
                    return Err(DeliverError::NotOurs(path.to_path_buf()));
                }
                Err(DeliverError::io(path, e))
            }
        }
    }

    async fn exclude(&self, path: &Path, line: &str) -> Result<(), DeliverError> {
        let io = |e| DeliverError::io(path, e);
        let real = files::resolve(path).map_err(io)?;
        let _lock = files::lock(&self.host.lock_file(&real), PATIENCE).await.map_err(io)?;
        for _ in 0..TRIES {
            let text = files::read_if_there(&real).map_err(io)?;
            let open = self.registry.open_changes(None).await?;
            let ours = |e: &Entry, of: Option<&str>| match &e.change {
                Change::Exclude { path, line, created } if *path == real && of.is_none_or(|l| l == line) => {
                    Some(*created)
                }
                _ => None,
            };
            let there = text.as_deref().is_some_and(|text| exclude::has(text, line));
            if there && !open.iter().any(|e| ours(e, Some(line)).is_some()) {
                return Ok(()); // The user's own line.
            }
            let created = text.is_none() || open.iter().any(|e| ours(e, None) == Some(true));
            let id = self
                .planned(&Change::Exclude { path: real.clone(), line: line.to_string(), created })
                .await?;
            let new = exclude::add(text.as_deref().unwrap_or_default(), line);
            if there || files::swap(&real, text.as_deref(), &new).map_err(io)? {
                return Ok(self.registry.change_applied(id).await?);
            }
            self.registry.change_undone(id).await?;
        }
        Err(DeliverError::Contended(real))
    }

    async fn block(&self, path: &Path, body: &str) -> Result<(), DeliverError> {
        let io = |e| DeliverError::io(path, e);
        let _lock = files::lock(&self.host.lock_file(path), PATIENCE).await.map_err(io)?;
        for _ in 0..TRIES {
            let text = files::read_if_there(path).map_err(io)?;
            let new = block::insert(text.as_deref().unwrap_or_default(), self.agent, body)
                .map_err(|source| DeliverError::Block { path: path.to_path_buf(), source })?;
            let shared =
                |e: &Entry| matches!(&e.change, Change::Block { path: p, created: true } if p == path);
            let created = text.is_none() || self.journalled(shared).await?;
            let id = self.planned(&Change::Block { path: path.to_path_buf(), created }).await?;
            if files::swap(path, text.as_deref(), &new).map_err(io)? {
                return Ok(self.registry.change_applied(id).await?);
            }
            self.registry.change_undone(id).await?;
        }
        Err(DeliverError::Contended(path.to_path_buf()))
    }
}

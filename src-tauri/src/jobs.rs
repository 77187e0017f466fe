//! Starts under way, of new agents and of those that come back: their steps as they happen, the question one may wait
//! with, their end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, mpsc};

use chrono::{DateTime, Utc};
use pao_core::life::resume::{Resumed, Resuming};
use pao_core::spawn::passed::{Ready, Receipt};
use pao_core::spawn::request::{Request, Spawned, Step};
use pao_core::wire::door::{Action, Job, JobEnd, JobStep};
use pao_core::wire::{self, Failure};
use pao_core::{Error, Kind, Remedy};
use serde_json::json;
use tauri::Emitter;
use tokio_util::sync::CancellationToken;

mod faces;

pub use self::faces::{Followed, Return, Unasked};

use crate::notices;
use crate::shell::{Shell, lock};

/// How many jobs that have ended are kept.
const KEPT: usize = 20;

/// All jobs of this run of the app.
#[derive(Default)]
pub struct Jobs {
    rows: Mutex<BTreeMap<String, Row>>,
    usual: Mutex<BTreeMap<&'static str, u32>>,
    number: Mutex<u64>,
}

/// What is to be started.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// A new agent.
    Spawn(Box<Request>),
    /// One that is there, by its registry id.
    Resume(String, Resuming),
}

/// What a start that went well came to.
pub struct Started {
    name: String,
    folder: PathBuf,
    end: JobEnd,
}

impl From<&Spawned> for Started {
    fn from(spawned: &Spawned) -> Self {
        let attach = spawned.attach.as_ref().filter(|_| !spawned.shown);
        let end = done(&spawned.agent, &spawned.ready, attach, spawned.notes.clone());
        Self { name: spawned.name.clone(), folder: spawned.folder.clone(), end }
    }
}

impl From<&Resumed> for Started {
    fn from(resumed: &Resumed) -> Self {
        let back = &resumed.back;
        let changed = resumed.changed.phrases();
        let mut notes = Vec::new();
        if resumed.begins_anew {
            notes.push("Nothing had been said in its conversation, so it begins anew.".into());
        }
        if !changed.is_empty() {
            notes.push(format!("Meanwhile: {}.", changed.join(", ")));
        }
        notes.extend(back.notes.iter().cloned());
        let attach = back.attach.as_ref().filter(|_| !back.shown);
        let end = done(&resumed.agent, &back.ready, attach, notes);
        Self { name: resumed.name.clone(), folder: resumed.folder.clone(), end }
    }
}

fn done(agent: &str, ready: &Ready, attach: Option<&String>, notes: Vec<String>) -> JobEnd {
    JobEnd::Done {
        agent: agent.into(),
        confirmed: ready.receipt == Receipt::Confirmed,
        needs: ready.needs.clone(),
        attach: attach.cloned(),
        notes,
    }
}

struct Row {
    job: Job,
    wanted: Wanted,
    cancel: CancellationToken,
    answer: Option<mpsc::Sender<bool>>,
}

impl Jobs {
    /// A new job, with what is known of it before it begins; its id.
    pub fn begin(
        &self,
        name: &str,
        shown: &str,
        wanted: Wanted,
        cancel: &CancellationToken,
        now: DateTime<Utc>,
    ) -> String {
        let number = {
            let mut number = lock(&self.number);
            *number += 1;
            *number
        };
        // Sorts as it counts.
        let id = format!("job-{number:06}");
        let (verb, steps): (_, &[Step]) = match wanted {
            Wanted::Spawn(_) => ("spawn", &Step::ALL),
            Wanted::Resume(..) => ("resume", &Step::OF_RETURN),
        };
        let usual = lock(&self.usual);
        let to_come = |step: &Step| JobStep {
            step: wire::Step { name: step.name(), ms: 0, state: "pending", note: String::new() },
            began_at: None,
            usual_ms: usual.get(step.name()).copied(),
        };
        let job = Job {
            id: id.clone(),
            verb: verb.into(),
            name: name.into(),
            shown: shown.into(),
            began_at: now,
            steps: steps.iter().map(to_come).collect(),
            question: None,
            end: None,
        };
        let mut rows = lock(&self.rows);
        while rows.values().filter(|row| row.job.end.is_some()).count() >= KEPT {
            let oldest = rows.iter().find(|(_, row)| row.job.end.is_some()).map(|(id, _)| id.clone());
            oldest.and_then(|id| rows.remove(&id));
        }
        rows.insert(id.clone(), Row { job, wanted, cancel: cancel.clone(), answer: None });
        id
    }

    /// Changes a job and tells the windows.
    fn change(&self, shell: &Shell, id: &str, change: impl FnOnce(&mut Row)) {
        let job = {
            let mut rows = lock(&self.rows);
            let Some(row) = rows.get_mut(id) else { return };
            change(row);
            row.job.clone()
        };
        if let Err(error) = shell.app.emit("job", &job) {
            tracing::warn!(%error, "the windows were not told of a job");
        }
    }

    /// All that are kept, oldest first.
    pub fn all(&self) -> Vec<Job> {
        lock(&self.rows).values().map(|row| row.job.clone()).collect()
    }

    /// What a job was to start.
    pub fn wanted(&self, id: &str) -> Option<Wanted> {
        lock(&self.rows).get(id).map(|row| row.wanted.clone())
    }

    /// The job under way that brings this agent back.
    pub fn resuming(&self, agent: &str) -> Option<String> {
        let its = |row: &Row| matches!(&row.wanted, Wanted::Resume(id, _) if id == agent);
        let rows = lock(&self.rows);
        rows.iter().find(|(_, row)| row.job.end.is_none() && its(row)).map(|(id, _)| id.clone())
    }

    /// Answers the question a job waits with.
    pub fn answer(&self, id: &str, yes: bool) -> Result<(), Error> {
        let sender = lock(&self.rows).get_mut(id).and_then(|row| row.answer.take());
        match sender {
            Some(sender) if sender.send(yes).is_ok() => Ok(()),
            _ => Err(Error::user("this start asks nothing any more", "see how it went on")),
        }
    }

    /// Cancels a job; what it has begun is taken back.
    pub fn cancel(&self, id: &str) -> Result<(), Error> {
        match lock(&self.rows).get(id) {
            Some(row) => {
                row.cancel.cancel();
                Ok(())
            }
            None => Err(Error::user("this start is over", "look at the list of agents")),
        }
    }

    /// Notes how a job ended.
    pub fn end(&self, shell: &Shell, id: &str, result: Result<Started, &Error>) {
        self.change(shell, id, |row| {
            row.job.question = None;
            row.answer = None;
            if let Ok(started) = &result {
                row.job.name.clone_from(&started.name);
                row.job.shown = shell.host.display(&started.folder);
                let mut usual = lock(&self.usual);
                usual.extend(
                    row.job.steps.iter().map(|s| (s.step.name, u32::try_from(s.step.ms).unwrap_or(u32::MAX))),
                );
            }
            row.job.end = Some(match result {
                Ok(started) => started.end,
                Err(error) if row.cancel.is_cancelled() && error.kind == Kind::User => JobEnd::Cancelled,
                Err(error) => JobEnd::Failed { failure: failure(id, error), retry: error.may_pass() },
            });
        });
        let failed = lock(&self.rows).get(id).and_then(|row| match &row.job.end {
            Some(JobEnd::Failed { failure, .. }) => Some((row.job.name.clone(), failure.message.clone())),
            _ => None,
        });
        if let Some((name, message)) = failed {
            notices::failed(shell, id, &name, &message);
        }
    }
}

/// Where another terminal would do, that is offered.
fn failure(job: &str, error: &Error) -> Failure {
    let mut failure = Failure::from(&error.clone().for_window());
    if error.remedy == Some(Remedy::InTmux) {
        let with = json!({ "job": job, "terminal": "tmux" });
        failure.action = Some(Action::new("Open in tmux instead", "again", with));
    }
    failure
}

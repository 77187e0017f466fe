//! Spawns under way: their steps as they happen, the question one may wait with, their end.

use std::collections::BTreeMap;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use chrono::{DateTime, Utc};
use pao_core::spawn::passed::{Briefing, Gathered, Receipt, Topic};
use pao_core::spawn::request::{Consent, Face, Progress, Request, Spawned, Step, StepState};
use pao_core::wire::door::{Action, Job, JobEnd, JobStep, Question};
use pao_core::wire::{self, Failure};
use pao_core::{Error, Kind, Remedy};
use serde_json::json;
use tauri::Emitter;
use tokio_util::sync::CancellationToken;

use crate::notices;
use crate::shell::{Shell, lock};

/// How often a question looks whether its job was cancelled.
const LOOK: Duration = Duration::from_millis(100);
/// How many jobs that have ended are kept.
const KEPT: usize = 20;

/// All jobs of this run of the app.
#[derive(Default)]
pub struct Jobs {
    rows: Mutex<BTreeMap<String, Row>>,
    usual: Mutex<BTreeMap<&'static str, u32>>,
    number: Mutex<u64>,
}

struct Row {
    job: Job,
    /// What was to be started.
    wanted: Request,
    cancel: CancellationToken,
    answer: Option<mpsc::Sender<bool>>,
}

impl Jobs {
    /// A new job, with what is known of it before it begins.
    pub fn begin(
        &self,
        name: &str,
        shown: &str,
        wanted: Request,
        now: DateTime<Utc>,
    ) -> (String, CancellationToken) {
        let number = {
            let mut number = lock(&self.number);
            *number += 1;
            *number
        };
        // Sorts as it counts.
        let id = format!("job-{number:06}");
        let usual = lock(&self.usual);
        let steps = Step::ALL.map(|step| JobStep {
            step: wire::Step { name: step.name(), ms: 0, state: "pending", note: String::new() },
            began_at: None,
            usual_ms: usual.get(step.name()).copied(),
        });
        let job = Job {
            id: id.clone(),
            name: name.into(),
            shown: shown.into(),
            began_at: now,
            steps: steps.to_vec(),
            question: None,
            end: None,
        };
        let cancel = CancellationToken::new();
        let mut rows = lock(&self.rows);
        while rows.values().filter(|row| row.job.end.is_some()).count() >= KEPT {
            let oldest = rows.iter().find(|(_, row)| row.job.end.is_some()).map(|(id, _)| id.clone());
            oldest.and_then(|id| rows.remove(&id));
        }
        rows.insert(id.clone(), Row { job, wanted, cancel: cancel.clone(), answer: None });
        (id, cancel)
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
    pub fn wanted(&self, id: &str) -> Option<Request> {
        lock(&self.rows).get(id).map(|row| row.wanted.clone())
    }

    /// Answers the question a job waits with.
    pub fn answer(&self, id: &str, yes: bool) -> Result<(), Error> {
        let sender = lock(&self.rows).get_mut(id).and_then(|row| row.answer.take());
        match sender {
            Some(sender) if sender.send(yes).is_ok() => Ok(()),
            _ => Err(Error::user("this spawn asks nothing any more", "see how it went on")),
        }
    }

    /// Cancels a job; what it has begun is taken back.
    pub fn cancel(&self, id: &str) -> Result<(), Error> {
        match lock(&self.rows).get(id) {
            Some(row) => {
                row.cancel.cancel();
                Ok(())
            }
            None => Err(Error::user("this spawn is over", "look at the list of agents")),
        }
    }

    /// Notes how a job ended.
    pub fn end(&self, shell: &Shell, id: &str, result: &Result<Spawned, Error>) {
        self.change(shell, id, |row| {
            row.job.question = None;
            row.answer = None;
            if let Ok(spawned) = result {
                row.job.name.clone_from(&spawned.name);
                row.job.shown = shell.host.display(&spawned.folder);
                let mut usual = lock(&self.usual);
                usual.extend(
                    row.job.steps.iter().map(|s| (s.step.name, u32::try_from(s.step.ms).unwrap_or(u32::MAX))),
                );
            }
            row.job.end = Some(match result {
                Ok(spawned) => JobEnd::Done {
                    agent: spawned.agent.clone(),
                    confirmed: spawned.ready.receipt == Receipt::Confirmed,
                    needs: spawned.ready.needs.clone(),
                    attach: spawned.attach.clone(),
                    notes: spawned.notes.clone(),
                },
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
    let mut failure = Failure::from(error);
    if error.remedy == Some(Remedy::InTmux) {
        let with = json!({ "job": job, "terminal": "tmux" });
        failure.action = Some(Action::new("Open in tmux instead", "again", with));
    }
    failure
}

/// The face of a spawn that a window follows.
pub struct Followed {
    /// The app.
    pub shell: Shell,
    /// The job.
    pub job: String,
    /// Its cancellation.
    pub cancel: CancellationToken,
}

impl Face for Followed {
    fn progress(&self, progress: &Progress) {
        self.shell.jobs.change(&self.shell, &self.job, |row| {
            let mut step = wire::Step::from(progress);
            let began_at = (progress.state == StepState::Started).then(|| self.shell.host.now());
            if began_at.is_some() {
                (step.ms, step.state) = (0, "running");
            }
            if let Some(known) = row.job.steps.iter_mut().find(|known| known.step.name == step.name) {
                known.began_at = began_at.and(known.began_at).or(began_at);
                known.step = step;
            }
        });
    }

    fn resolved(&self, topic: &Topic) {
        let shown = self.shell.host.display(&topic.folder);
        self.shell.jobs.change(&self.shell, &self.job, |row| {
            (row.job.name, row.job.shown) = (topic.name.clone(), shown);
        });
    }

    fn composed(&self, _briefing: &Briefing, gathered: &Gathered) {
        self.shell.asked(&gathered.reports);
    }

    fn agree(&self, consent: &Consent) -> Result<bool, Error> {
        let question = question(&self.shell, consent);
        let (sender, answered) = mpsc::channel();
        self.shell.jobs.change(&self.shell, &self.job, |row| {
            row.job.question = Some(question);
            row.answer = Some(sender);
        });
        // The corridor asks from within its task: the thread waits for the person, others take over its work.
        let yes = tokio::task::block_in_place(|| {
            loop {
                match answered.recv_timeout(LOOK) {
                    Ok(yes) => return yes,
                    Err(mpsc::RecvTimeoutError::Timeout) if !self.cancel.is_cancelled() => {}
                    Err(_) => return false,
                }
            }
        });
        if !yes {
            // A no ends the spawn as a cancel does; nothing was written.
            self.cancel.cancel();
        }
        self.shell.jobs.change(&self.shell, &self.job, |row| {
            row.job.question = None;
            row.answer = None;
        });
        Ok(yes)
    }

    fn edit(&self, _markdown: &str) -> Result<Option<String>, Error> {
        // What was edited comes with the request; no window waits in the middle of a start.
        Ok(None)
    }
}

fn question(shell: &Shell, consent: &Consent) -> Question {
    let (kind, folder, details) = match consent {
        Consent::Trust { folder, enables, .. } => ("trust", folder, enables.clone()),
        Consent::SkipPermissions { folder, needs, .. } => {
            let details = if needs.is_empty() { Vec::new() } else { vec![needs.clone()] };
            ("skip-permissions", folder, details)
        }
    };
    Question { kind: kind.into(), shown: shell.host.display(folder), details }
}

/// The face of what a window does not follow step by step: nobody can be asked.
pub struct Unasked;

impl Face for Unasked {
    fn progress(&self, _progress: &Progress) {}

    fn composed(&self, _briefing: &Briefing, _gathered: &Gathered) {}

    fn agree(&self, consent: &Consent) -> Result<bool, Error> {
        let what = match consent {
            Consent::Trust { .. } => "its folder is not trusted any more",
            Consent::SkipPermissions { .. } => "nobody has agreed yet that agents ask for nothing there",
        };
        Err(Error::user(what, "use the command line, which asks: `pao resume NAME`"))
    }

    fn edit(&self, _markdown: &str) -> Result<Option<String>, Error> {
        Ok(None)
    }
}

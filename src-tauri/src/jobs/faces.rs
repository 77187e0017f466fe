//! Who looks on while an agent is started: a window from the first step on, one from the first question on, or nobody.

use std::sync::{Mutex, OnceLock, mpsc};
use std::time::Duration;

use pao_core::life::resume::{self, Resumed, Resuming};
use pao_core::registry::agents::Agent;
use pao_core::spawn::passed::{Briefing, Gathered, Topic};
use pao_core::spawn::request::{Consent, Face, Progress, StepState};
use pao_core::wire;
use pao_core::wire::door::Question;
use pao_core::{Context, Error, Remedy};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Started, Wanted};
use crate::shell::{Shell, lock};

/// How often a question looks whether its job was cancelled.
const LOOK: Duration = Duration::from_millis(100);

/// The face of a start that a window follows.
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
            // A no ends the start as a cancel does; nothing was written.
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

/// The face of a return, which a window follows from its first question on: one that asks nothing is over too soon.
pub struct Return {
    shell: Shell,
    agent: Agent,
    how: Resuming,
    cancel: CancellationToken,
    followed: OnceLock<Followed>,
    asks: Mutex<Option<oneshot::Sender<String>>>,
}

impl Return {
    /// Of that agent. The receiver gets the job's id when there is something to answer.
    pub fn new(shell: &Shell, agent: Agent, how: Resuming) -> (Self, oneshot::Receiver<String>) {
        let (asks, asked) = oneshot::channel();
        let (cancel, asks) = (CancellationToken::new(), Mutex::new(Some(asks)));
        (Self { shell: shell.clone(), agent, how, cancel, followed: OnceLock::new(), asks }, asked)
    }

    /// Its job, begun where it was not.
    pub fn follow(&self) -> &Followed {
        self.followed.get_or_init(|| {
            let Self { shell, agent, how, cancel, .. } = self;
            let wanted = Wanted::Resume(agent.id.clone(), how.clone());
            let shown = shell.host.display(how.folder.as_ref().unwrap_or(&agent.folder));
            let job = shell.jobs.begin(&agent.name, &shown, wanted, cancel, shell.host.now());
            Followed { shell: shell.clone(), job, cancel: cancel.clone() }
        })
    }

    /// Brings the agent back, whoever looks on.
    pub async fn run(self, context: &Context) -> Result<Resumed, Error> {
        let result = resume::resume(context, &self.agent.id, &self.how, &self, &self.cancel).await;
        if let Some(followed) = self.followed.get() {
            self.shell.jobs.end(&self.shell, &followed.job, result.as_ref().map(Started::from));
        }
        result
    }
}

impl Face for Return {
    fn progress(&self, progress: &Progress) {
        if let Some(followed) = self.followed.get() {
            followed.progress(progress);
        }
    }

    fn composed(&self, _briefing: &Briefing, _gathered: &Gathered) {}

    fn agree(&self, consent: &Consent) -> Result<bool, Error> {
        let begun = self.followed.get().is_some();
        let other = self.shell.jobs.resuming(&self.agent.id).filter(|_| !begun);
        let job = other.clone().unwrap_or_else(|| self.follow().job.clone());
        if let Some(asks) = lock(&self.asks).take() {
            // Whoever clicked may be gone.
            let _ = asks.send(job);
        }
        match other {
            // Clicked twice: one question is enough.
            Some(_) => Err(Error::user("that is being asked already", "answer it in the panel")),
            None => self.follow().agree(consent),
        }
    }

    fn edit(&self, _markdown: &str) -> Result<Option<String>, Error> {
        Ok(None)
    }
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
        Err(Error::user(what, "resume it alone, which asks").with(Remedy::Alone))
    }

    fn edit(&self, _markdown: &str) -> Result<Option<String>, Error> {
        Ok(None)
    }
}

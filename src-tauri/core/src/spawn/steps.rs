//! Progress through the rooms: what is reported while it happens and kept for the end.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::request::{Face, Progress, Step, StepState};

/// Reports each step to the face as it begins and ends, and keeps the endings.
pub(super) struct Steps<'a> {
    pub(super) face: &'a dyn Face,
    finished: Mutex<Vec<Progress>>,
}

/// One step under way.
pub(super) struct Running<'s, 'a> {
    steps: &'s Steps<'a>,
    step: Step,
    since: Instant,
}

impl<'a> Steps<'a> {
    pub(super) fn new(face: &'a dyn Face) -> Self {
        Self { face, finished: Mutex::default() }
    }

    /// Begins a step.
    pub(super) fn begin(&self, step: Step) -> Running<'_, 'a> {
        self.report(step, StepState::Started, Duration::ZERO, String::new());
        Running { steps: self, step, since: Instant::now() }
    }

    /// The endings so far.
    pub(super) fn finished(&self) -> Vec<Progress> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn report(&self, step: Step, state: StepState, took: Duration, note: String) {
        let progress = Progress { step, state, took, note };
        self.face.progress(&progress);
        if state != StepState::Started {
            self.finished.lock().unwrap_or_else(PoisonError::into_inner).push(progress);
        }
    }
}

impl Running<'_, '_> {
    /// Ends it well.
    pub(super) fn done(self, note: impl Into<String>) {
        self.end(StepState::Done, note.into());
    }

    /// Ends it with nothing to do.
    pub(super) fn skipped(self, note: impl Into<String>) {
        self.end(StepState::Skipped, note.into());
    }

    /// Ends it badly, for that reason.
    pub(super) fn failed(self, note: impl Into<String>) {
        self.end(StepState::Failed, note.into());
    }

    /// Ends it as its result says.
    pub(super) fn settle<T, E: std::fmt::Display>(
        self,
        result: Result<T, E>,
        note: impl FnOnce(&T) -> String,
    ) -> Result<T, E> {
        match &result {
            Ok(value) => {
                let note = note(value);
                self.done(note);
            }
            Err(error) => self.failed(error.to_string()),
        }
        result
    }

    fn end(self, state: StepState, note: String) {
        self.steps.report(self.step, state, self.since.elapsed(), note);
    }
}

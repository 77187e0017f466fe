//! Asks every source at once and says how each one fared.
//!
//! A slow, broken or panicking source costs at most its own deadline and never another source's answer: the whole
//! takes as long as the slowest deadline, never their sum. What was found is not judged here.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::source::{Answer, Limits, Question, Snippet, Source, SourceError};
use crate::spawn::passed::{Gathered, SourceReport, SourceState};

/// Asks all `sources` at once. `on_report` hears of each as soon as it is settled, in the order of settling; the
/// result lists them in the order given. When `cancel` fires, what has not answered yet is abandoned and reported
/// as unavailable.
///
/// A source runs as its own task and is abandoned at its deadline whether or not it keeps to it, so that even one
/// that blocks its thread delays nobody (on a runtime with more than one thread).
pub async fn gather(
    sources: &[(Arc<dyn Source>, Limits)],
    question: &Question,
    cancel: &CancellationToken,
    on_report: impl Fn(&SourceReport),
) -> Gathered {
    let start = Instant::now();
    let mut asked: FuturesUnordered<_> = sources
        .iter()
        .enumerate()
        .map(|(place, (source, limits))| {
            ask(place, Arc::clone(source), *limits, question.clone(), start, cancel)
        })
        .collect();
    let mut settled: Vec<Option<(SourceReport, Vec<Snippet>)>> = sources.iter().map(|_| None).collect();
    while let Some((place, report, snippets)) = asked.next().await {
        on_report(&report);
        if let Some(slot) = settled.get_mut(place) {
            *slot = Some((report, snippets));
        }
    }
    let mut gathered = Gathered::default();
    for (report, snippets) in settled.into_iter().flatten() {
        gathered.reports.push(report);
        gathered.snippets.extend(snippets);
    }
    gathered
}

/// Asks one source in a task of its own.
async fn ask(
    place: usize,
    source: Arc<dyn Source>,
    limits: Limits,
    question: Question,
    start: Instant,
    cancel: &CancellationToken,
) -> (usize, SourceReport, Vec<Snippet>) {
    let name = source.name().to_owned();
    let task = AbortOnDropHandle::new(tokio::spawn(async move { source.recall(&question, limits).await }));
    let answer = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(SourceError::Unreachable("cancelled before it answered".into())),
        joined = timeout_at(start + limits.deadline, task) => match joined {
            Ok(Ok(answer)) => answer,
            // The panic's own words may quote what the store holds; they stay out of the report.
            Ok(Err(_)) => Err(SourceError::BadReply("the source broke down while answering".into())),
            Err(_) => Err(SourceError::TimedOut(limits.deadline)),
        },
    };
    let (report, snippets) = settle(name, answer, limits.snippets, start.elapsed());
    (place, report, snippets)
}

/// Turns an answer into a report, holding the source to its limit and its name.
fn settle(
    name: String,
    answer: Result<Answer, SourceError>,
    most: usize,
    took: Duration,
) -> (SourceReport, Vec<Snippet>) {
    match answer {
        Ok(Answer { mut snippets, note }) => {
            snippets.truncate(most);
            for snippet in &mut snippets {
                snippet.source.clone_from(&name);
            }
            let state =
                if snippets.is_empty() { SourceState::Empty } else { SourceState::Ok(snippets.len()) };
            (SourceReport { name, state, took, note }, snippets)
        }
        Err(SourceError::TimedOut(limit)) => {
            (SourceReport { name, state: SourceState::TimedOut(limit), took, note: None }, Vec::new())
        }
        Err(error) => {
            (SourceReport { name, state: SourceState::Unavailable(error), took, note: None }, Vec::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::path::PathBuf;
    use std::sync::Mutex;

    use chrono::DateTime;

    use super::*;
    use crate::source::Speaker;

    /// What a source of these tests does when asked.
    enum Does {
        Answers(usize, u64),
        Fails(SourceError),
        Panics,
        HangsForEver,
        BlocksItsThread(u64),
    }

    struct Test(&'static str, Does);

    #[async_trait::async_trait]
    impl Source for Test {
        fn name(&self) -> &str {
            self.0
        }

        fn describe(&self) -> String {
            String::new()
        }

        async fn recall(&self, _: &Question, _: Limits) -> Result<Answer, SourceError> {
            match &self.1 {
                Does::Answers(n, after) => {
                    tokio::time::sleep(Duration::from_millis(*after)).await;
                    Ok(Answer { snippets: (0..*n).map(snippet).collect(), note: Some("a note".into()) })
                }
                Does::Fails(error) => Err(error.clone()),
                Does::Panics => panic!("secret words"),
                Does::HangsForEver => pending().await,
                Does::BlocksItsThread(ms) => {
                    std::thread::sleep(Duration::from_millis(*ms));
                    Ok(Answer::default())
                }
            }
        }

        async fn check(&self, _: Limits) -> Result<String, SourceError> {
            Ok(String::new())
        }
    }

    fn snippet(n: usize) -> Snippet {
        Snippet {
            source: "not its own name".into(),
            id: n.to_string(),
            title: String::new(),
            text: "text".into(),
            at: None,
            speaker: Speaker::Store,
            project: None,
            session: None,
            score: 1.0,
            importance: None,
        }
    }

    fn question() -> Question {
        Question {
            text: "login".into(),
            folder: PathBuf::from("/code/api"),
            project: "/code/api".into(),
            project_name: "api".into(),
            now: DateTime::UNIX_EPOCH,
        }
    }

    fn with(does: Vec<(&'static str, Does, u64)>) -> Vec<(Arc<dyn Source>, Limits)> {
        does.into_iter()
            .map(|(name, does, ms)| {
                let limits = Limits { snippets: 10, deadline: Duration::from_millis(ms) };
                (Arc::new(Test(name, does)) as Arc<dyn Source>, limits)
            })
            .collect()
    }

    #[tokio::test(start_paused = true)]
    async fn each_source_gets_its_own_state_and_the_order_is_that_of_the_configuration() {
        let refused = SourceError::Refused("wrong password".into());
        let sources = with(vec![
            ("slow", Does::Answers(2, 900), 1500),
            ("empty", Does::Answers(0, 10), 1500),
            ("down", Does::Fails(refused.clone()), 1500),
            ("late", Does::HangsForEver, 700),
            ("broken", Does::Panics, 1500),
            ("many", Does::Answers(25, 0), 1500),
            ("own timeout", Does::Fails(SourceError::TimedOut(Duration::from_millis(300))), 1500),
        ]);
        let heard = Mutex::new(Vec::new());
        let gathered = gather(&sources, &question(), &CancellationToken::new(), |r| {
            heard.lock().unwrap().push(r.name.clone());
        })
        .await;
        let states: Vec<_> = gathered.reports.iter().map(|r| (r.name.as_str(), r.state.clone())).collect();
        assert_eq!(
            states,
            [
                ("slow", SourceState::Ok(2)),
                ("empty", SourceState::Empty),
                ("down", SourceState::Unavailable(refused)),
                ("late", SourceState::TimedOut(Duration::from_millis(700))),
                (
                    "broken",
                    SourceState::Unavailable(SourceError::BadReply(
                        "the source broke down while answering".into()
                    ))
                ),
                ("many", SourceState::Ok(10)),
                ("own timeout", SourceState::TimedOut(Duration::from_millis(300))),
            ]
        );
        assert_eq!(gathered.snippets.len(), 12, "held to the limit");
        assert!(gathered.snippets.iter().all(|s| s.source == "slow" || s.source == "many"));
        assert_eq!(gathered.reports[0].note.as_deref(), Some("a note"));
        let heard = heard.into_inner().unwrap();
        assert_eq!(heard.len(), 7);
        assert_eq!(heard.last().map(String::as_str), Some("slow"), "reported as each settles");
    }

    #[tokio::test(start_paused = true)]
    async fn the_whole_takes_the_slowest_deadline_and_never_the_sum() {
        let sources = with(vec![
            ("a", Does::HangsForEver, 1500),
            ("b", Does::HangsForEver, 1000),
            ("c", Does::HangsForEver, 1400),
        ]);
        let start = Instant::now();
        let gathered = gather(&sources, &question(), &CancellationToken::new(), |_| ()).await;
        assert_eq!(start.elapsed().as_millis() / 10, 150);
        assert!(gathered.reports.iter().all(|r| matches!(r.state, SourceState::TimedOut(_))));
        assert_eq!(gathered.reports[1].took.as_millis() / 10, 100, "each ends at its own deadline");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 3)]
    async fn a_source_that_blocks_its_thread_is_abandoned_at_its_deadline() {
        let sources =
            with(vec![("blocking", Does::BlocksItsThread(2000), 100), ("quick", Does::Answers(1, 0), 1500)]);
        let start = Instant::now();
        let gathered = gather(&sources, &question(), &CancellationToken::new(), |_| ()).await;
        assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
        assert_eq!(gathered.reports[0].state, SourceState::TimedOut(Duration::from_millis(100)));
        assert_eq!(gathered.reports[1].state, SourceState::Ok(1));
    }

    #[tokio::test(start_paused = true)]
    async fn cancelling_abandons_what_has_not_answered_and_keeps_what_has() {
        let sources = with(vec![("quick", Does::Answers(1, 10), 1500), ("slow", Does::HangsForEver, 1500)]);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            stop.cancel();
        });
        let start = Instant::now();
        let gathered = gather(&sources, &question(), &cancel, |_| ()).await;
        assert!(start.elapsed() < Duration::from_millis(300));
        assert_eq!(gathered.reports[0].state, SourceState::Ok(1));
        assert!(matches!(gathered.reports[1].state, SourceState::Unavailable(_)));
    }

    #[tokio::test]
    async fn no_source_at_all_gives_nothing() {
        let gathered = gather(&[], &question(), &CancellationToken::new(), |_| ()).await;
        assert_eq!(gathered, Gathered::default());
    }
}

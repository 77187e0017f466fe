//! One verb for several agents: so many at once, and one that fails does not keep the others.

use futures::stream::{self, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::registry::agents::Agent;

/// Does `work` for each agent, at most `at_once` at a time; `settled` hears of each as it ends. Once cancelled no
/// further one is begun; each of those is an error. The results stand in the order of the agents.
pub async fn several<T>(
    agents: Vec<Agent>,
    at_once: usize,
    cancel: &CancellationToken,
    work: impl AsyncFn(&Agent) -> Result<T, Error>,
    settled: impl Fn(&Agent, &Result<T, Error>),
) -> Vec<(Agent, Result<T, Error>)> {
    let (work, settled) = (&work, &settled);
    let mut done: Vec<_> = stream::iter(agents.into_iter().enumerate())
        .map(async |(place, agent)| {
            let result = if cancel.is_cancelled() {
                Err(Error::user("cancelled before it was begun", "run it again when you like"))
            } else {
                work(&agent).await
            };
            settled(&agent, &result);
            (place, agent, result)
        })
        .buffer_unordered(at_once.max(1))
        .collect()
        .await;
    done.sort_by_key(|(place, ..)| *place);
    done.into_iter().map(|(_, agent, result)| (agent, result)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn one_failure_keeps_no_other_and_never_more_than_allowed_are_at_work() {
        let agents = ["a", "b", "c", "d", "e"]
            .map(|id| Agent::starting(id, id, Path::new("/w"), "claude-code", chrono::DateTime::UNIX_EPOCH));
        let (at_work, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let cancel = CancellationToken::new();
        let work = async |agent: &Agent| {
            most.fetch_max(at_work.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            at_work.fetch_sub(1, Ordering::SeqCst);
            match &*agent.id {
                "b" => Err(Error::user("no", "")),
                "d" => {
                    cancel.cancel();
                    Ok(agent.id.clone())
                }
                _ => Ok(agent.id.clone()),
            }
        };
        let done = several(agents.to_vec(), 2, &cancel, work, |_, _| ()).await;
        let done: Vec<_> =
            done.iter().map(|(a, r)| (&*a.id, r.as_ref().err().map(|e| &*e.message))).collect();
        assert_eq!(done[..4], [("a", None), ("b", Some("no")), ("c", None), ("d", None)]);
        assert!(most.load(Ordering::SeqCst) <= 2);
    }
}

//! Waiting until an agent comes to a state. Changes of the registry's files wake it; it does not look at a clock's
//! tick except as a watch over what no hook reports, the process's own end.

use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::sweep::sweep;
use crate::host::Host;
use crate::registry::Registry;
use crate::registry::agents::{Agent, State};
use crate::{Context, Error};

/// How often a process is looked at that may end without a word, and the registry where its files cannot be watched.
const WATCH: Duration = Duration::from_secs(2);
/// Changes within so short a time are looked at together.
const TOGETHER: Duration = Duration::from_millis(20);

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// It is at its prompt line.
    Idle,
    /// It waits for the user.
    NeedsYou,
    /// It has ended, in order or not.
    Ended,
}

impl Until {
    fn reached(self, state: State) -> bool {
        match self {
            Until::Idle => state == State::Idle,
            Until::NeedsYou => state == State::NeedsYou,
            Until::Ended => matches!(state, State::Ended | State::Lost),
        }
    }
}

/// How waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// It came to that.
    Reached,
    /// It needs the user first, and will not come to that by itself.
    NeedsYou,
    /// The time was over first.
    TimedOut,
    /// It ended, was lost or paused first: it will not come to that.
    Gone,
}

/// How waiting for any of these ends in that state; `None` where it goes on. One whose turn is waited for does not
/// end it while it needs the user.
fn ends(until: &[Until], state: State) -> Option<Waited> {
    if until.iter().any(|until| until.reached(state)) {
        return Some(Waited::Reached);
    }
    match state {
        State::NeedsYou if until.contains(&Until::Idle) => Some(Waited::NeedsYou),
        state if !state.live() => Some(Waited::Gone),
        _ => None,
    }
}

/// Waits until it comes to any of these states, for at most `limit` (for ever where there is none); the agent as it
/// was last seen.
pub async fn wait(
    context: &Context,
    name: &str,
    until: &[Until],
    limit: Option<Duration>,
) -> Result<(Agent, Waited), Error> {
    let Context { host, registry, .. } = context;
    let found = registry.named(name).await?;
    let (sender, mut changed) = mpsc::channel(1);
    // Without it the watch below is only slower.
    let _watcher = watch(host, sender);
    let began = Instant::now();
    loop {
        let agent = look(registry, &found.id).await?;
        if let Some(waited) = ends(until, agent.state) {
            return Ok((agent, waited));
        }
        let left = limit.map(|limit| limit.saturating_sub(began.elapsed()));
        if left == Some(Duration::ZERO) {
            return Ok((agent, Waited::TimedOut));
        }
        let pause = left.map_or(WATCH, |left| left.min(WATCH));
        match tokio::time::timeout(pause, changed.recv()).await {
            Ok(Some(())) => tokio::time::sleep(TOGETHER).await,
            // Nothing changed: the process may be gone without a word, or a hook's event may lie in the spool.
            Ok(None) | Err(_) => sweep(host, registry).await,
        }
    }
}

async fn look(registry: &Registry, id: &str) -> Result<Agent, Error> {
    registry.agent(id).await?.ok_or_else(|| {
        Error::user("the agent was taken back while it was waited for", "see `pao agents --all`")
    })
}

/// Wakes the receiver at each change in our folder itself, where the registry's files are.
fn watch(host: &Host, sender: mpsc::Sender<()>) -> notify::Result<notify::RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let ours = event.is_ok_and(|event| {
            !event.kind.is_access() && event.paths.iter().any(|p| p.to_string_lossy().contains("registry.db"))
        });
        if ours {
            // One that waits already says the same.
            let _ = sender.try_send(());
        }
    })?;
    watcher.watch(&host.pao_home, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_turn_ends_with_a_question_and_for_the_end_it_does_not() {
        let after = |until: &[Until], state| ends(until, state);
        let idle = [Until::Idle];
        assert_eq!(after(&idle, State::Working), None);
        assert_eq!(after(&idle, State::Starting), None);
        assert_eq!(after(&idle, State::Idle), Some(Waited::Reached));
        assert_eq!(after(&idle, State::NeedsYou), Some(Waited::NeedsYou));
        assert_eq!(after(&[Until::Idle, Until::NeedsYou], State::NeedsYou), Some(Waited::Reached));
        assert_eq!(after(&[Until::Ended], State::NeedsYou), None);
        assert_eq!(after(&[Until::Ended], State::Lost), Some(Waited::Reached));
        assert_eq!(after(&[Until::Idle, Until::NeedsYou], State::Paused), Some(Waited::Gone));
    }
}

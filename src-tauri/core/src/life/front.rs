//! Whether the user has an agent's terminal before them: then nobody has to tell them that it asks something.

use std::path::Path;

use crate::host::Host;
use crate::host::attention::{above, front, idle};
use crate::host::terminal::{self, tmux};
use crate::registry::agents::Agent;
use crate::view::notices::{Watcher, looked_at};

/// Whether somebody is looking at that agent. What cannot be found out counts as no.
pub async fn in_front(host: &Host, agent: &Agent) -> bool {
    let watchers = watchers(host, agent).await;
    // Whose window is in front matters only where there is somebody.
    !watchers.is_empty() && looked_at(front(host).await, &watchers)
}

async fn watchers(host: &Host, agent: &Agent) -> Vec<Watcher> {
    if agent.terminal.as_deref() != Some(tmux::NAME) {
        // Its own device in a window of the terminal's: nobody attaches.
        let idle = agent.tty.as_deref().and_then(|tty| idle(host, Path::new(tty)));
        let process = agent.process.filter(|process| process.alive());
        return match (process, idle) {
            (Some(process), Some(idle)) => vec![Watcher { processes: above(process.pid), idle }],
            _ => Vec::new(),
        };
    }
    let Ok(terminal) = terminal::choose(host, tmux::NAME) else { return Vec::new() };
    let Some(handle) = agent.handle.as_deref() else { return Vec::new() };
    let clients = terminal.clients(handle).await.unwrap_or_default();
    clients.into_iter().map(|(pid, idle)| Watcher { processes: above(pid), idle }).collect()
}

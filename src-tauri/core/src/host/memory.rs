//! How much memory a process and everything it started take.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use super::os;
use super::process::Identity;

/// A process and what it started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// Bytes of memory of all of them. Shared memory counts once where the system can tell, else once for each.
    pub bytes: u64,
    /// Those below the first, each with its name.
    pub below: Vec<(Identity, String)>,
}

/// Looks at a process and everything it started; nothing where it does not run any more.
pub fn tree(root: Identity) -> Tree {
    let Ok(mut system) = System::new() else { return Tree::default() };
    if !root.alive() {
        return Tree::default();
    }
    let what = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, what);
    let mut members = vec![Pid::from_u32(root.pid)];
    let mut next = 0;
    while let Some(parent) = members.get(next).copied() {
        // A thread is listed as well, with the memory of its process.
        let children = system.processes().values().filter(|p| p.thread_kind().is_none());
        members.extend(children.filter(|p| p.parent() == Some(parent)).map(sysinfo::Process::pid));
        next += 1;
    }
    let mut found = Tree::default();
    for pid in members {
        let Some(process) = system.process(pid) else { continue };
        found.bytes += os::own_memory(pid.as_u32()).unwrap_or_else(|| process.memory());
        if pid.as_u32() != root.pid {
            let name = process.name().to_string_lossy().into_owned();
            found.below.extend(Identity::of(pid.as_u32()).map(|identity| (identity, name)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::process::Run;

    #[tokio::test]
    async fn a_process_is_counted_with_its_children_and_a_gone_one_not_at_all() {
        let own = tree(Identity::own());
        assert!(own.bytes > 1 << 20, "{} bytes", own.bytes);
        let child = tokio::spawn(Run::new("/bin/sleep").arg("5").output());
        let mut below = Vec::new();
        for _ in 0..100 {
            below = tree(Identity::own()).below;
            if below.iter().any(|(_, name)| name == "sleep") {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        child.abort();
        assert!(below.iter().any(|(_, name)| name == "sleep"), "{below:?}");
        assert_eq!(tree(Identity { pid: u32::MAX / 2, ..Identity::own() }), Tree::default());
    }
}

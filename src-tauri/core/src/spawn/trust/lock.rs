//! The host agent's own lock around its configuration, honoured so that it never works on a stale copy.
//!
//! Seen in the program's system calls: it makes the folder `<configuration file>.lock` (beside the path as given,
//! not beside a link's target), reads, writes, renames, and removes the folder; meeting one it waits. A holder
//! that died leaves it behind; by the convention of such locks it is stale when its time stamp is 10 s old.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const STALE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(4);

/// Held until dropped.
#[derive(Debug)]
pub struct HostLock {
    path: PathBuf,
    since: Instant,
}

impl HostLock {
    /// Takes the lock, waiting at most `patience`; `None` when it is not free by then.
    pub async fn take(config: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let mut name = config.as_os_str().to_os_string();
        name.push(".lock");
        let path = PathBuf::from(name);
        let begun = Instant::now();
        loop {
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Some(Self { path, since: Instant::now() })),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
            if stale(&path) {
                // Only an empty folder goes; who makes it again first has it.
                match fs::remove_dir(&path) {
                    Ok(()) => continue,
                    Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                    Err(e) => return Err(e),
                }
            }
            if begun.elapsed() >= patience {
                return Ok(None);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn stale(path: &Path) -> bool {
    // File times come from the real clock, so they are compared with it and not with a frozen one.
    let age = fs::metadata(path).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
    age.is_some_and(|age| age > STALE)
}

impl Drop for HostLock {
    fn drop(&mut self) {
        // Held longer, it may have been taken over, and is somebody else's now.
        if self.since.elapsed() < STALE {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_held_lock_is_waited_for_and_a_stale_one_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join(".claude.json");
        let folder = dir.path().join(".claude.json.lock");
        let held = HostLock::take(&config, Duration::ZERO).await.unwrap().unwrap();
        assert!(folder.is_dir());
        assert!(HostLock::take(&config, Duration::from_millis(20)).await.unwrap().is_none());
        drop(held);
        assert!(!folder.exists());
        fs::create_dir(&folder).unwrap();
        let old = fs::File::open(&folder).unwrap();
        old.set_modified(old.metadata().unwrap().modified().unwrap() - Duration::from_secs(11)).unwrap();
        assert!(HostLock::take(&config, Duration::ZERO).await.unwrap().is_some());
    }
}

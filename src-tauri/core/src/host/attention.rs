//! What the user has before them, as far as the system tells without being allowed anything: whose window is in front,
//! and when a terminal's keyboard was last used.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use super::{Host, os};

pub use super::identity::above;

/// The process that owns the window in front; `None` where that cannot be known.
pub async fn front(host: &Host) -> Option<u32> {
    os::front_process(host).await
}

/// Brings the window of the first of these processes that has one to the front; where that one has several, the one of
/// that title. Whether it is there.
pub async fn raise(host: &Host, processes: Vec<u32>, title: &str) -> bool {
    os::raise(host, processes, title).await
}

/// How long nothing was typed into a terminal device: reading what was typed is what moves its time of access.
pub fn idle(host: &Host, tty: &Path) -> Option<Duration> {
    let at = std::fs::metadata(tty).ok()?.atime();
    Some(since(host, at))
}

/// From a moment in seconds since the epoch until now; nothing for one that is still to come.
pub fn since(host: &Host, seconds: i64) -> Duration {
    let passed = host.now().timestamp().saturating_sub(seconds);
    Duration::from_secs(u64::try_from(passed).unwrap_or(0))
}

/// Reads what `lsappinfo info -only pid` says: `"pid"=412`.
#[cfg_attr(not(target_os = "macos"), allow(dead_code))]
pub(super) fn process_of(said: &str) -> Option<u32> {
    let (_, number) = said.lines().find(|line| line.contains("\"pid\""))?.split_once('=')?;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_in_front_is_read_and_anything_else_is_none() {
        assert_eq!(process_of("\"pid\"=412\n"), Some(412));
        for other in ["", "\"pid\"=[ NULL ]", "\"CFBundleIdentifier\"=\"com.apple.Terminal\"", "pid"] {
            assert_eq!(process_of(other), None, "{other}");
        }
    }
}

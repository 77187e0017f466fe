//! The app's log: a file a day, the last five kept, readable only by the user. `PAO_LOG` says how much goes in.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use pao_core::host::{Host, files};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{Builder, Rotation};

const KEPT: usize = 5;
/// How much of the log's end diagnostics show, in lines.
const LAST: usize = 200;
/// And in bytes.
const MOST: u64 = 256 * 1024;

/// Begins to log, panics included. The log is written as long as the guard lives. Without a log the app works, too.
pub fn begin(host: &Host) -> Option<WorkerGuard> {
    let folder = host.log_dir();
    files::private_dir(&folder).ok()?;
    let kept = Builder::new().rotation(Rotation::DAILY).filename_prefix("app").filename_suffix("log");
    let file = kept.max_log_files(KEPT).build(&folder).ok()?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    let filter = host.var("PAO_LOG").unwrap_or("info");
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(writer)
        .with_ansi(false)
        .init();
    for file in all(host) {
        let _ = std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600));
    }
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tracing::error!("a defect: {panic}");
        before(panic);
    }));
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "the app starts");
    Some(guard)
}

/// The last lines of the newest file.
pub fn last_lines(host: &Host) -> String {
    use std::io::{Read, Seek, SeekFrom};
    let Some(newest) = all(host).pop() else { return String::new() };
    let mut bytes = Vec::new();
    let read = std::fs::File::open(newest).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MOST)))?;
        file.take(MOST).read_to_end(&mut bytes)
    });
    if let Err(error) = read {
        return format!("the log cannot be read: {error}");
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LAST)..].join("\n")
}

/// Oldest first: their names hold the day.
fn all(host: &Host) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(host.log_dir()) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

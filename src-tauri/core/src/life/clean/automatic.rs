//! Cleanup without being asked: off by default, at most once a day, and the user is told.
//!
//! It takes only what needs no yes beside the general one: nothing paused, nothing that runs, nothing for good.

use chrono::{DateTime, TimeDelta, Utc};

use super::plan::{Asks, Wanted, plan};
use super::record::{Record, Stage, history, told};
use super::{CleanError, apply, folder};
use crate::config::Config;
use crate::host::{Host, files};
use crate::registry::Registry;

const EVERY: TimeDelta = TimeDelta::days(1);

/// Cleans up what has been gone for `clean.after_days`, where the configuration says so and the last time was a day
/// ago. A failure is logged and is none for the command that is about to run.
pub async fn automatic(host: &Host, config: &Config, registry: &Registry) {
    if !config.clean.automatic || registry.refusal().is_some() {
        return;
    }
    match try_it(host, config, registry).await {
        Ok(Some(record)) => tracing::info!(id = record.id, "{}", sentence(host, &record)),
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "the automatic cleanup was not made"),
    }
}

async fn try_it(host: &Host, config: &Config, registry: &Registry) -> Result<Option<Record>, CleanError> {
    let path = folder(host).join("automatic");
    let io = |e| CleanError::file(&path, e);
    let last = files::read_if_there(&path).map_err(io)?.and_then(|bytes| String::from_utf8(bytes).ok());
    let last = last.and_then(|text| DateTime::parse_from_rfc3339(text.trim()).ok()).map(|t| t.to_utc());
    let now = host.now();
    // A clock that was set back must not keep it away for ever.
    if last.is_some_and(|last: DateTime<Utc>| (now - last).abs() < EVERY) {
        return Ok(None);
    }
    files::private_dir(&folder(host)).map_err(io)?;
    files::write_private(&path, now.to_rfc3339().as_bytes(), false).map_err(io)?;
    let older_than = Some(TimeDelta::days(i64::from(config.clean.after_days)));
    let plan = plan(host, registry, &Wanted { older_than, ..Wanted::default() }).await?;
    if !plan.groups.iter().any(|group| group.held.is_none() && group.asks == Asks::Nothing) {
        return Ok(None);
    }
    let done = apply(host, registry, plan, |group| group.asks == Asks::Nothing, true).await?;
    Ok(done.undoable.then_some(done.record))
}

/// What automatic cleanups did that the user has not been told of yet; from now on they have.
pub fn news(host: &Host) -> Result<Vec<Record>, CleanError> {
    let news: Vec<Record> = history(host)?.into_iter().filter(|record| !record.told).collect();
    for record in &news {
        told(host, record.clone())?;
    }
    Ok(news)
}

/// What an automatic cleanup did, in one line.
pub fn sentence(host: &Host, record: &Record) -> String {
    let took = |part: &&super::Part| part.pieces.iter().any(|piece| piece.stage == Stage::Removed);
    let names: Vec<&str> = record.parts.iter().filter(took).map(|part| part.group.title.as_str()).collect();
    let shown = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 5 { format!(" and {} more", names.len() - 5) } else { String::new() };
    format!("cleaned up by itself on {}: {shown}{more}", host.local(record.at).format("%Y-%m-%d"))
}

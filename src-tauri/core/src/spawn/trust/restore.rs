//! Puts a trust record back that was taken back, exactly where it stood while the configuration is still the same.

use std::time::Instant;

use super::record::Document;
use super::{Config, PERSISTENCE, TrustError, document, read};
use crate::agent::TrustRecord;
use crate::host::Host;
use crate::keepsake::{Keepsake, Splice};
use crate::registry::Registry;
use crate::registry::change::{Change, TrustBefore};

/// What has to be kept so that [`restore`] can undo what [`super::undo`] is about to do: our own entry, nothing
/// else of the configuration. Only reads.
pub fn keepsake(change: &Change, record: TrustRecord) -> Result<Keepsake, TrustError> {
    let Change::Trust { config: path, folder, before } = change else { return Ok(Keepsake::Nothing) };
    let Some(bytes) = read(path)? else { return Ok(Keepsake::Nothing) };
    let Ok(Some(after)) = document(path, &bytes, record)?.revoke(folder, before) else {
        return Ok(Keepsake::Nothing);
    };
    Ok(Keepsake::Part(Splice::between(&bytes, after.as_bytes())))
}

/// Makes the record say yes again, journalled as `agent`'s. True when it does now, false when there is no
/// configuration any more.
pub async fn restore(
    host: &Host,
    registry: &Registry,
    change: &Change,
    keepsake: &Keepsake,
    agent: &str,
    record: TrustRecord,
) -> Result<bool, TrustError> {
    let Change::Trust { config: path, folder, before } = change else { return Ok(false) };
    // One that was made for the record went with it, and is made again.
    let made = *before == TrustBefore::NoFile;
    if read(path)?.is_none() && !made {
        return Ok(false);
    }
    let config = Config::lock(host, path, record).await?;
    let begun = Instant::now();
    while begun.elapsed() < PERSISTENCE {
        let found = read(path)?;
        let bytes = match &found {
            Some(bytes) => bytes.clone(),
            None if made => Document::empty(record).as_bytes().to_vec(),
            None => return Ok(false),
        };
        let accepted = config.edited(&bytes, document(path, &bytes, record)?.accept(folder))?;
        let Some((mut text, mut was)) = accepted else { return Ok(true) };
        // As long as nobody has changed anything since, every byte goes back to its place.
        let reversed = match keepsake {
            Keepsake::Part(splice) => splice.reversed(&bytes),
            _ => None,
        };
        if found.is_none() {
            was = TrustBefore::NoFile;
        }
        if let Some(exact) = reversed.and_then(|bytes| String::from_utf8(bytes).ok()) {
            (text, was) = (exact, before.clone());
        }
        let change = Change::Trust { config: path.clone(), folder: folder.clone(), before: was };
        let id = registry.plan_change(agent, &change, host.now()).await?;
        if config.swap(found.as_deref(), text.as_bytes()).await? {
            registry.change_applied(id).await?;
            return Ok(true);
        }
        registry.change_undone(id).await?;
    }
    Err(TrustError::Busy(path.clone()))
}

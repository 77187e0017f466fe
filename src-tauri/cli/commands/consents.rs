//! `pao consents`: what the user agreed to for folders, listed and taken back.

use pao_core::host::Host;
use pao_core::spawn::agreed::{self, Agreed, Back};
use pao_core::wire::rest::Consented;
use pao_core::{Context, Error, wire};

use super::undo::outcomes;
use super::waiting;
use crate::args::{Consent, Consents};
use crate::render::{BAD, QUIET, Screen, Table, clean, paint};

pub async fn run(host: Host, screen: Screen, what: Consents) -> Result<u8, Error> {
    let folder = what.folder.map(|folder| {
        let folder = host.cwd.join(folder);
        folder.canonicalize().unwrap_or(folder)
    });
    if let (Some(folder), Some(consent)) = (&folder, what.take_back) {
        let back =
            Back { trust: consent != Consent::SkipPermissions, skip_permissions: consent != Consent::Trust };
        // Where nothing was ever written down nothing was agreed to, and nothing is created to find that out.
        let context = if host.registry_file().exists() {
            waiting(&host.clone(), screen, Context::open(host)).await?
        } else {
            Context::open_to_ask(host).await?
        };
        let items = agreed::take_back(&context, folder, back).await?;
        if screen.json {
            let item = |item: pao_core::spawn::UndoneItem| wire::Item {
                what: item.what,
                state: item.outcome,
                gone: item.gone,
            };
            screen.document(&items.into_iter().map(item).collect::<Vec<_>>())?;
            return Ok(0);
        }
        screen.say(&format!("{}: taken back\n", clean(&context.host.display(folder))))?;
        if !items.is_empty() {
            screen.say(&outcomes(items.iter().map(|item| (&*item.what, &*item.outcome, item.gone))))?;
        }
        return Ok(0);
    }
    let context = Context::open_to_ask(host).await?;
    screen.without_registry(&context);
    let mut rows = agreed::list(&context).await?;
    rows.retain(|row| row.trust || row.skip_permissions);
    rows.retain(|row| folder.as_ref().is_none_or(|folder| row.folder == *folder));
    if screen.json {
        screen.document(&rows.iter().map(Consented::from).collect::<Vec<_>>())?;
        return Ok(0);
    }
    if rows.is_empty() {
        screen.say("nothing was agreed to; a spawn asks where it has to\n")?;
        return Ok(0);
    }
    let mut table = Table::new(&["FOLDER", "AGREED"]);
    for row in &rows {
        table.row([clean(&context.host.display(&row.folder)), said(row)]);
    }
    screen.say(&table.to_string())?;
    Ok(0)
}

fn said(row: &Agreed) -> String {
    let skips = row.skip_permissions.then(|| paint(BAD, "agents may skip all permissions"));
    let trust = row.trust.then(|| paint(QUIET, "trusted"));
    trust.into_iter().chain(skips).collect::<Vec<_>>().join(", ")
}

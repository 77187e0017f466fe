//! `pao undo`: takes back what was done for an agent or a folder.

use pao_core::Context;
use pao_core::host::Host;
use pao_core::spawn::{self, Target};
use pao_core::{Error, wire};

use super::waiting;
use crate::args::Undo;
use crate::render::{GOOD, Screen, Table, WARNING, clean, paint};

pub async fn run(host: Host, screen: Screen, what: Undo) -> Result<u8, Error> {
    let target = match (what.agent, what.folder) {
        (Some(agent), _) => Target::Agent(agent),
        (None, folder) => Target::Folder(host.cwd.join(folder.unwrap_or_default())),
    };
    // Where nothing was ever written down there is nothing to take back, and nothing is created to find that out.
    let context = if host.registry_file().exists() {
        waiting(&host.clone(), screen, Context::open(host)).await?
    } else {
        Context::open_to_ask(host).await?
    };
    let undone = spawn::undo(&context, &target, what.end).await;
    screen.unreadable(&context.registry);
    let items = undone?;
    if screen.json {
        let items: Vec<_> = items
            .into_iter()
            .map(|item| wire::Item { what: item.what, state: item.outcome, gone: item.gone })
            .collect();
        screen.document(&items)?;
        return Ok(0);
    }
    if items.is_empty() {
        screen.say("nothing was left to take back\n")?;
        return Ok(0);
    }
    screen.say(&outcomes(items.iter().map(|item| (&*item.what, &*item.outcome, item.gone))))?;
    Ok(0)
}

/// Things and what became of them.
pub fn outcomes<'a>(items: impl Iterator<Item = (&'a str, &'a str, bool)>) -> String {
    // Why something stays is never cut.
    let mut table = Table::whole();
    for (what, outcome, gone) in items {
        let mark = if gone { paint(GOOD, "✓") } else { paint(WARNING, "!") };
        table.row([format!("{mark} {}", clean(what)), clean(outcome)]);
    }
    table.to_string()
}

//! `pao file-manager`: "Spawn agent here" in the file manager.

use std::path::Path;

use pao_core::entrance::{Done, Found, Standing, file_manager};
use pao_core::host::Host;
use pao_core::{Error, wire};

use crate::args::FileManager;
use crate::render::{GOOD, Screen, Table, WARNING, clean, paint};

pub async fn run(host: &Host, screen: Screen, what: FileManager) -> Result<u8, Error> {
    // Each part, and whether it is as the verb wants it.
    let parts: Vec<(wire::Part, bool)> = match &what {
        FileManager::Status => {
            let one = |found: &Found| (found.into(), found.standing == Standing::Installed);
            file_manager::found(host)?.iter().map(one).collect()
        }
        FileManager::Install { dry_run: true } => planned(host, |standing| match standing {
            Standing::Installed => "is there already",
            Standing::NeedsRepair => "would be put right",
            Standing::NotInstalled => "would be written",
            Standing::Foreign => "is in the way: it is not ours",
        })?,
        FileManager::Remove { dry_run: true } => planned(host, |standing| match standing {
            Standing::Installed | Standing::NeedsRepair => "would be removed",
            Standing::NotInstalled => "is not there",
            Standing::Foreign => "would be left alone: it is not ours",
        })?,
        FileManager::Install { .. } => file_manager::install(host).await?.iter().map(done).collect(),
        FileManager::Remove { .. } => file_manager::remove(host).await?.iter().map(done).collect(),
    };
    if screen.json {
        screen.document(&parts.iter().map(|(part, _)| part).collect::<Vec<_>>())?;
        return Ok(0);
    }
    let mut table = Table::whole();
    for (part, well) in &parts {
        let mark = if *well { paint(GOOD, "✓") } else { paint(WARNING, "!") };
        let path = host.display(Path::new(&part.path));
        table.row([format!("{mark} {}", clean(&part.what)), clean(&part.state), clean(&path)]);
    }
    screen.say(&table.to_string())?;
    match (what, file_manager::lacking(host)) {
        (FileManager::Remove { .. }, _) => {}
        (_, Some(lacking)) => screen.aside(lacking),
        (FileManager::Install { dry_run: false }, None) => {
            screen.say(&format!("{}\n", file_manager::ENABLE))?;
        }
        _ => {}
    }
    Ok(0)
}

fn done(done: &Done) -> (wire::Part, bool) {
    (done.into(), !done.left)
}

fn planned(host: &Host, says: impl Fn(Standing) -> &'static str) -> Result<Vec<(wire::Part, bool)>, Error> {
    let part = |found: &Found| {
        let part = wire::Part { state: says(found.standing).into(), ..wire::Part::from(found) };
        (part, found.standing != Standing::Foreign)
    };
    Ok(file_manager::found(host)?.iter().map(part).collect())
}

//! `pao doctor`: what a spawn needs, as found on this machine.

use pao_core::doctor::{Check, Health, examine};
use pao_core::host::Host;
use pao_core::{Error, Kind, wire};

use crate::render::{BAD, GOOD, QUIET, STRONG, Screen, WARNING, clean, paint};

pub async fn run(host: &Host, screen: Screen) -> Result<u8, Error> {
    let checks = examine(host).await;
    if screen.json {
        screen.document(&checks.iter().map(wire::Check::from).collect::<Vec<_>>())?;
    } else {
        screen.say(&checks.iter().map(line).collect::<String>())?;
    }
    let failed = checks.iter().any(|c| c.health == Health::Failed);
    Ok(if failed { Kind::Environment.exit_code() } else { 0 })
}

fn line(check: &Check) -> String {
    let mark = match check.health {
        Health::Ok => paint(GOOD, "✓"),
        Health::Warning => paint(WARNING, "!"),
        Health::Failed => paint(BAD, "✗"),
    };
    let name = paint(STRONG, &format!("{:<11}", clean(&check.name)));
    let mut text = format!("{mark} {name} {}\n", clean(&check.found));
    if !check.cure.is_empty() {
        text = text + &" ".repeat(14) + &paint(QUIET, "cure:") + " " + &clean(&check.cure) + "\n";
    }
    text
}

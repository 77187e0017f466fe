//! `pao rebrief`: what is new in the stores, for agents that run.

use pao_core::Context;
use pao_core::host::Host;
use pao_core::life::rebrief::{Delivery, Rebriefed, rebrief};
use pao_core::spawn::passed::silent;
use pao_core::{Error, wire};

use super::{brief, waiting};
use crate::args::life;
use crate::interrupt::Interrupt;
use crate::render::{STRONG, Screen, clean, count, paint};

pub async fn run(host: Host, screen: Screen, what: life::Rebrief) -> Result<u8, Error> {
    let interrupt = Interrupt::watch(screen, "stopping; nothing was delivered")?;
    let context = waiting(&host.clone(), screen, Context::open(host)).await?;
    screen.unreadable(&context.registry);
    let done = rebrief(&context, what.agent.as_deref(), &interrupt.cancel).await?;
    if screen.json {
        screen.document(&done.iter().map(wire::life::Rebriefed::from).collect::<Vec<_>>())?;
        return Ok(0);
    }
    for one in &done {
        screen.say(&said(one))?;
        for line in &one.lines {
            screen.say(&format!("  - {}\n", clean(&line.text)))?;
        }
        if silent(&one.reports) > 0 {
            screen.say(&format!("\n{}", brief::sources(&one.reports)))?;
        }
    }
    Ok(0)
}

fn said(done: &Rebriefed) -> String {
    let name = paint(STRONG, &clean(&done.name));
    let news = count(done.lines.len(), "memory", "memories");
    match done.delivery {
        Delivery::Nothing if silent(&done.reports) > 0 => {
            format!("{name}: nothing new was found, and not every store answered; nothing was delivered\n")
        }
        Delivery::Nothing => format!("{name}: nothing is new; nothing was delivered\n"),
        Delivery::NextPrompt => format!("{name}: {news} handed over with its next prompt\n"),
        Delivery::File => format!("{name}: {news} written into its briefing file\n"),
    }
}

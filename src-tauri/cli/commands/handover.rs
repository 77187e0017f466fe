//! `pao handover`: one agent's work for another that runs, or for a new one.

use pao_core::Context;
use pao_core::host::Host;
use pao_core::life::{handover, tell};
use pao_core::spawn::request::Request;
use pao_core::{Error, wire};

use super::{spawn, waiting};
use crate::args::life;
use crate::face::{Agreed, Person};
use crate::interrupt::Interrupt;
use crate::render::{STRONG, Screen, clean, paint};

pub async fn run(host: Host, screen: Screen, what: life::Handover) -> Result<u8, Error> {
    let context = waiting(&host.clone(), screen, Context::open(host)).await?;
    screen.unreadable(&context.registry);
    let from = context.registry.named(&what.from).await?;
    if what.new {
        let interrupt = Interrupt::watch(screen, "stopping; what was begun is taken back")?;
        let agreed = Agreed { trust: what.yes, skip_permissions: false };
        let face = Person::new(context.host.clone(), interrupt.clone(), agreed);
        let request = Request {
            folder: what.folder,
            text: what.words.join(" "),
            name: what.name,
            terminal: what.terminal,
            ..Request::default()
        };
        let request = handover::to_new(&context, &from, request).await?;
        let spawned = pao_core::spawn::spawn(&context, &request, &face, &interrupt.cancel).await?;
        return spawn::show(&context.host, screen, &spawned, spawn::given(&request).as_deref());
    }
    let mut words = what.words.into_iter();
    let (to, text) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>().join(" "));
    if !text.is_empty() {
        tell::check(&text)?;
    }
    let (to, delivery) = handover::to_running(&context, &from, &to).await?;
    let told = if text.is_empty() {
        None
    } else {
        tell::tell(&context, &tell::To::Name(to.id.clone()), &text, None).await?.into_iter().next()
    };
    if screen.json {
        screen.document(&wire::life::HandedOver {
            from: from.name,
            to: to.name,
            delivery: delivery.name(),
            told: told.as_ref().map(wire::life::Told::from),
        })?;
        return Ok(0);
    }
    let (from, to) = (paint(STRONG, &clean(&from.name)), paint(STRONG, &clean(&to.name)));
    let prompt = match &told {
        Some(told) => format!("the prompt is {}", told.fate.name()),
        None => "handed over with its next prompt".to_string(),
    };
    screen.say(&format!("{from} → {to}: {prompt}\n"))?;
    Ok(0)
}

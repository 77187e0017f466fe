//! `pao focus`: brings an agent's terminal forward.

use pao_core::host::Host;
use pao_core::life::focus::{Focused, focus};
use pao_core::{Context, Error, wire};

use crate::args::look::Focus;
use crate::render::{Screen, clean};

pub async fn run(host: Host, screen: Screen, what: Focus) -> Result<u8, Error> {
    let context = Context::open(host).await?;
    let (agent, focused) = focus(&context, &what.agent).await?;
    let attach = match &focused {
        Focused::InFront => None,
        Focused::Attach(command) => Some(command.clone()),
    };
    if screen.json {
        let in_front = attach.is_none();
        screen.document(&wire::look::Focused { agent: agent.name, in_front, attach })?;
        return Ok(0);
    }
    match attach {
        None => screen.say(&format!("{} is in front\n", clean(&agent.name)))?,
        Some(command) => {
            screen.aside("no window can be shown here; this shows it:");
            screen.say(&format!("{command}\n"))?;
        }
    }
    Ok(0)
}

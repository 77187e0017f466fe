//! `pao focus`: brings an agent's terminal forward, or attaches it right here where there is no display.

use std::io::IsTerminal;

use pao_core::host::Host;
use pao_core::host::process::Run;
use pao_core::life::focus::{Focused, focus, neediest};
use pao_core::{Context, Error, wire};

use crate::args::look::Focus;
use crate::render::{Screen, clean};

pub async fn run(host: Host, screen: Screen, what: Focus) -> Result<u8, Error> {
    let context = Context::open_to_look(host).await?;
    screen.unreadable(&context.registry);
    let word = match what.agent {
        Some(word) => word,
        None => neediest(&context).await?.id,
    };
    let (agent, focused) = focus(&context, &word).await?;
    let attach = match &focused {
        Focused::InFront => None,
        Focused::Behind(command) | Focused::Attach(command) => Some(command.clone()),
    };
    if screen.json {
        let in_front = attach.is_none();
        screen.document(&wire::look::Focused { agent: agent.name, in_front, attach })?;
        return Ok(0);
    }
    if let Focused::Behind(command) = &focused {
        let name = clean(&agent.name);
        screen.aside(&format!(
            "the window of {name} is open, but could not be brought to the front: find the one titled {name}; this \
             shows it here, too:"
        ));
        screen.say(&format!("{command}\n"))?;
        return Ok(0);
    }
    match attach {
        None => screen.say(&format!("{} is in front\n", clean(&agent.name)))?,
        // Inside another tmux it would have to be nested.
        Some(command) if at_terminal() && context.host.var("TMUX").is_none() => {
            screen.aside(&format!("{} is shown here; Ctrl-b d leaves it running", clean(&agent.name)));
            return attached(&command);
        }
        Some(command) => {
            screen.aside("no window can be shown here; this shows it:");
            screen.say(&format!("{command}\n"))?;
        }
    }
    Ok(0)
}

fn at_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Gives the terminal to that command until the person leaves it.
fn attached(command: &str) -> Result<u8, Error> {
    let by_hand = || format!("try it yourself: {command}");
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| Error::internal(format!("no command: {command}")))?;
    let status = Run::new(&words[0]).args(&words[1..]).interactive();
    match status.map_err(|e| Error::environment(e.to_string(), by_hand()))? {
        Some(0) => Ok(0),
        _ => Err(Error::environment("it could not be attached here", by_hand())),
    }
}

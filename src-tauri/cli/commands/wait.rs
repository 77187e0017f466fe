//! `pao wait`: returns when an agent has come to a state.

use pao_core::Context;
use pao_core::host::Host;
use pao_core::life::wait::{self, Waited};
use pao_core::registry::agents::State;
use pao_core::words::need;
use pao_core::{Error, wire};

use super::waiting;
use crate::args::life::{self, duration};
use crate::render::{Screen, clean};

/// The time was over.
const TIMED_OUT: u8 = 6;
/// The agent will not come to that.
const GONE: u8 = 7;
/// The agent needs its user first.
const NEEDS_YOU: u8 = 8;

pub async fn run(host: &Host, screen: Screen, what: life::Wait) -> Result<u8, Error> {
    let until = |until: &life::Until| match until {
        life::Until::Idle => wait::Until::Idle,
        life::Until::NeedsYou => wait::Until::NeedsYou,
        life::Until::Ended => wait::Until::Ended,
    };
    let until: Vec<wait::Until> = what.until.iter().map(until).collect();
    let context = waiting(host, screen, Context::open(host.clone())).await?;
    screen.unreadable(&context.registry);
    let (agent, waited) = wait::wait(&context, &what.agent, &until, what.timeout.map(duration)).await?;
    let (result, code) = match waited {
        Waited::Reached => ("reached", 0),
        Waited::NeedsYou => ("needs-you", NEEDS_YOU),
        Waited::TimedOut => ("timed-out", TIMED_OUT),
        Waited::Gone => ("gone", GONE),
    };
    if screen.json {
        screen.document(&wire::life::Waited {
            result,
            state: agent.state.name(),
            agent: wire::Agent::from(&agent),
        })?;
        return Ok(code);
    }
    let needs = agent.needs.as_deref().map(|needs| need(needs, agent.state_by.as_deref()));
    let needs = needs.map(|needs| format!(": {}", clean(&needs))).unwrap_or_default();
    let is = match agent.state {
        State::NeedsYou => "needs you".to_string(),
        state => format!("is {}", state.name()),
    };
    let said = format!("{} {is}{needs}\n", clean(&agent.name));
    if waited == Waited::Reached {
        screen.say(&said)?;
    } else {
        screen.aside(said.trim_end());
    }
    Ok(code)
}

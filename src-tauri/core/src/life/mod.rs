//! An agent's life after its start: what it is doing, what it is told, how it is put to rest and brought back, and
//! what remains to be cleaned up.
//!
//! Every verb here works on registry rows and on what the machine shows. There is no daemon: whichever `pao` command
//! or app comes by brings the registry up to date ([`sweep`]). Nothing here ends, types into or removes anything
//! unless the user asked for it.

pub mod account;
pub mod changed;
pub mod checkpoint;
pub mod clean;
pub mod evidence;
pub mod extract;
pub mod focus;
pub mod freshness;
pub mod front;
pub mod handover;
pub mod logs;
pub mod news;
pub mod pause;
pub mod rebrief;
pub mod repository;
pub mod resume;
pub mod several;
pub mod sweep;
pub mod tell;
pub mod told;
pub mod truth;
pub mod unfinished;
pub mod wait;
pub mod watch;

pub use sweep::state_of;

/// The host agent of a row.
fn kind(agent: &crate::registry::agents::Agent) -> Result<&'static crate::agent::HostAgent, crate::Error> {
    crate::agent::by_kind(&agent.host_agent).ok_or_else(|| {
        crate::Error::user(
            format!("{} is an agent of a kind this pao does not know: {}", agent.name, agent.host_agent),
            "update pao",
        )
    })
}

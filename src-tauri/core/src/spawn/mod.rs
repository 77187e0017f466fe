//! The corridor: seven rooms in order, each taking the previous room's output.
//!
//! Only this file knows their order. Whatever a room wants to write outside our own folder is journalled first,
//! so that a crash or a Ctrl-C at any moment can be undone.

pub mod briefing;
pub mod deliver;
pub mod gather;
pub mod launch;
pub mod passed;
pub mod ready;
pub mod request;
pub mod topic;
pub mod trust;

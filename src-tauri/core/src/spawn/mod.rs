//! The corridor: seven rooms in order, each taking the previous room's output.

pub mod briefing;
pub mod deliver;
pub mod gather;
pub mod launch;
pub mod passed;
pub mod ready;
pub mod topic;
pub mod trust;

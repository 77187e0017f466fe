//! What can be typed about putting agents to rest and bringing them back.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use pao_core::life::pause::Pausing;
use pao_core::life::resume::Resuming;

use super::terminals;

pub const PAUSE_EXAMPLES: &str = "\
Examples:
  pao pause api              it must be at its prompt line
  pao pause api --wait 600   wait until its turn is over
  pao pause --all --project ~/code/api
  pao pause api --now -m 'before the migration'";

pub const RESUME_EXAMPLES: &str = "\
Examples:
  pao resume api                   paused, ended or lost: its conversation goes on
  pao resume api --in ~/code/api2  its folder was moved
  pao resume --all --yes";

pub const CHECKPOINT_EXAMPLES: &str = "\
Examples:
  pao checkpoint api -m 'login works'
  pao checkpoint list api
  pao checkpoint compare 3f2a9c1d 77ab01ce
  pao spawn --fork 3f2a9c1d try the other way";

#[derive(Debug, Args)]
pub struct Pause {
    /// Name or id of an agent
    #[arg(required_unless_present = "all", value_name = "NAME")]
    pub agent: Option<String>,
    /// All agents that run
    #[arg(long, conflicts_with = "agent")]
    pub all: bool,
    /// With --all: only those of this folder or its project
    #[arg(long, value_name = "DIR", requires = "all")]
    pub project: Option<PathBuf>,
    /// Interrupt it where it is busy, asks something or has unsent text
    #[arg(long, conflicts_with = "wait")]
    pub now: bool,
    /// Wait for it to be at its prompt line, at most so long
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "3600")]
    pub wait: Option<u32>,
    /// Words of yours for the checkpoint that is made
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
}

impl Pause {
    pub fn how(&self) -> Pausing {
        Pausing {
            now: self.now,
            wait: self.wait.map(|seconds| Duration::from_secs(seconds.into())),
            message: self.message.clone(),
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[derive(Debug, Args)]
pub struct Resume {
    /// Name or id of an agent that is paused, has ended or was lost
    #[arg(required_unless_present = "all", value_name = "NAME")]
    pub agent: Option<String>,
    /// All agents that are paused
    #[arg(long, conflicts_with = "agent")]
    pub all: bool,
    /// With --all: also those that were lost, as after a restart of the machine
    #[arg(long, requires = "all")]
    pub lost: bool,
    /// With --all: only those of this folder or its project
    #[arg(long, value_name = "DIR", requires = "all")]
    pub project: Option<PathBuf>,
    /// With --all: start at most so many at once
    #[arg(long, value_name = "N", requires = "all", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub at_once: u8,
    /// The folder it worked in was moved here; its conversation is brought along
    #[arg(long = "in", value_name = "DIR", conflicts_with = "all")]
    pub folder: Option<PathBuf>,
    /// Give it this name, where another agent has its old one by now
    #[arg(long, conflicts_with = "all")]
    pub name: Option<String>,
    /// Where to open it; without it where it was before
    #[arg(long, value_parser = terminals())]
    pub terminal: Option<String>,
    /// Although the host agent is older than before, or its conversation is open elsewhere
    #[arg(long)]
    pub anyway: bool,
    /// Agree that its folder is marked as trusted for the host agent
    #[arg(long, short)]
    pub yes: bool,
    /// Agree that the agent asks for nothing in its folder
    #[arg(long)]
    pub yes_skip_permissions: bool,
}

impl Resume {
    pub fn how(&self) -> Resuming {
        Resuming {
            folder: self.folder.clone(),
            name: self.name.clone(),
            terminal: self.terminal.clone(),
            anyway: self.anyway,
        }
    }
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Checkpoint {
    /// Name or id of an agent
    #[arg(required = true, value_name = "NAME")]
    pub agent: Option<String>,
    /// Words of yours about it
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
    #[command(subcommand)]
    pub what: Option<Checkpoints>,
}

#[derive(Debug, Subcommand)]
pub enum Checkpoints {
    /// List them, of all agents or of one
    List {
        /// Name or id of an agent
        #[arg(value_name = "NAME")]
        agent: Option<String>,
    },
    /// Show everything one holds
    Show {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Tell what came between two
    Compare {
        /// The first
        first: String,
        /// The second
        second: String,
    },
    /// Remove one
    Remove {
        /// Its id, or the beginning of it
        id: String,
    },
}

//! Verbs of an agent's life after its start, as typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub const AGENTS_EXAMPLES: &str = "\
Examples:
  pao agents
  pao agents -C .       only those of this project
  pao agents --all      also those that have ended or were put aside
  pao agents clean      put away what was written for those that are gone
  pao agents --watch    stays and redraws when something changes
  pao agents --json | jq -r '.[] | select(.state == \"needs-you\").name'";

pub const AGENT_EXAMPLES: &str = "\
Examples:
  pao agent show api
  pao agent show api --json | jq -r .briefing.text";

pub const FOCUS_EXAMPLES: &str = "\
Examples:
  pao focus api
  pao focus             the one that needs you, the longest waiting first

Where no window can be shown, as over SSH, the agent in tmux is attached right here: answer it, then
leave it running with Ctrl-b d. From inside another tmux, or without a terminal, the command that
attaches it is printed instead.";

pub const LOGS_EXAMPLES: &str = "\
Examples:
  pao logs api
  pao logs api -n 50
  pao logs api --follow";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Agents {
    #[command(subcommand)]
    pub what: Option<AgentsVerb>,
    /// Also those that have ended or were put aside
    #[arg(long, short)]
    pub all: bool,
    /// Only those of this folder or its project
    #[arg(long, short = 'C', value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Stay, and show every change; Ctrl-C ends it. With --json one line per change
    #[arg(long, short)]
    pub watch: bool,
}

#[derive(Debug, Subcommand)]
pub enum AgentsVerb {
    /// Put away what was written for agents that are gone; can be undone
    #[command(after_help = super::clean::EXAMPLES)]
    Clean(super::clean::Clean),
}

#[derive(Debug, Subcommand)]
pub enum Agent {
    /// All that is known of it: briefing, sources, prompt, states, conversations, files
    #[command(after_help = AGENT_EXAMPLES)]
    Show {
        /// Name or id
        #[arg(add = super::names::agents())]
        agent: String,
    },
}

#[derive(Debug, Args)]
pub struct Focus {
    /// Name or id; without it the one that needs you
    #[arg(add = super::names::agents())]
    pub agent: Option<String>,
}

#[derive(Debug, Args)]
pub struct Logs {
    /// Name or id
    #[arg(add = super::names::agents())]
    pub agent: String,
    /// Stay, and show what is said from now on; ends with the agent
    #[arg(long, short)]
    pub follow: bool,
    /// Show this many of the last things said
    #[arg(short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub count: u32,
}

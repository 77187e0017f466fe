//! `pao agents clean` as typed.

use std::path::PathBuf;

use clap::Args;

#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[derive(Debug, Args)]
pub struct Clean {
    /// Only these agents, by name or id; a paused one must be named
    pub names: Vec<String>,
    /// Only what has been gone for that many days
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(0..=36_500), conflicts_with = "names")]
    pub older_than: Option<u32>,
    /// Look for leftovers in this folder too
    #[arg(short = 'C', value_name = "DIR", conflicts_with = "names")]
    pub folder: Option<PathBuf>,
    /// Only show what would be cleaned up, and why
    #[arg(long)]
    pub dry_run: bool,
    /// Agree to what is shown
    #[arg(long, short)]
    pub yes: bool,
    /// Agree also for agents that are named and paused
    #[arg(long, requires = "names")]
    pub yes_paused: bool,
    /// Agree that processes without a row are ended
    #[arg(long)]
    pub yes_end: bool,
    /// Agree that cleanups older than 30 days are removed for good
    #[arg(long)]
    pub yes_final: bool,
    /// Put everything back: of the last cleanup, or of the one with this id
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all =
        ["names", "older_than", "folder", "dry_run", "yes", "yes_paused", "yes_end", "yes_final", "history"])]
    pub undo: Option<String>,
    /// List the cleanups that were made
    #[arg(long, conflicts_with_all = ["names", "older_than", "folder", "dry_run", "yes", "yes_paused", "yes_end", "yes_final"])]
    pub history: bool,
}

pub const EXAMPLES: &str = "\
Examples:
  pao agents clean                    shows what could go and why, then asks
  pao agents clean --dry-run --older-than 7
  pao agents clean -C ~/code/old      look for leftovers there too
  pao agents clean --undo             puts all of the last cleanup back

Only agents whose process and terminal are both gone are cleaned up, and only what pao itself wrote. It is kept for 30
days at least. Never touched: your files, commits, transcripts, memory, running agents.";

//! What can be typed about projects.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::names;

pub const EXAMPLES: &str = "\
Examples:
  pao projects                the most recently active first
  pao projects add ~/code     find and watch the projects in there
  pao projects --watch        stays, and shows every change
  pao projects --json | jq -r '.projects[] | select(.changed > 0) | .folder'";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Projects {
    #[command(subcommand)]
    pub what: Option<ProjectsVerb>,
    /// Stay, and show every change until Ctrl-C; what agents say meanwhile is indexed
    #[arg(long)]
    pub watch: bool,
    /// All of them, not only the thirty that were active last
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Subcommand)]
pub enum ProjectsVerb {
    /// Find projects in this folder, too
    Add {
        /// The folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Find projects in this folder no more; nothing in it is changed
    Remove {
        /// The folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, add = names::roots())]
        folder: PathBuf,
    },
}

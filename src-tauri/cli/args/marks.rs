//! What can be typed about single memories.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

pub const EXAMPLES: &str = "\
Examples:
  pao marks                          what is marked, everywhere
  pao marks -C .                     what holds in this project
  pao marks pin 4711                 in every briefing of this project, before others
  pao marks drop facts:4711          out of the next spawn here, and of less weight afterwards
  pao marks never 77bda9c0 --everywhere
  pao marks undo 4711

An ID is what a citation ends in, [source · date · ID], as the last briefings and answers showed it;
its first six characters are enough where they name one memory. A memory is known by what it says,
too: the same text in another store is marked with it. never wins over pin, and a mark of this
project over one for all. Each drop leaves two fifths of a memory's weight; the third keeps it out.";

#[derive(Debug, Args)]
pub struct Marks {
    /// The project of this folder; without it a list is of all marks, and a mark for the current one
    #[arg(short = 'C', global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
    #[command(subcommand)]
    pub what: Option<MarksVerb>,
}

#[derive(Debug, Subcommand)]
pub enum MarksVerb {
    /// Put a memory into every briefing, before others and within the budget, whether the stores return it or not
    Pin(Marking),
    /// Leave a memory out of the next spawn, and let it weigh less afterwards
    Drop(Marking),
    /// Never say a memory again: in no briefing, reminder or answer
    Never(Marking),
    /// Take marks back
    Undo(Undoing),
}

#[derive(Debug, Args)]
pub struct Marking {
    /// Which memory: its id, its beginning, source:id or its citation
    #[arg(value_name = "ID")]
    pub id: String,
    /// Ask the stores about this, and take the memory from their answer
    #[arg(long, value_name = "WORDS")]
    pub about: Option<String>,
    /// In every project
    #[arg(long)]
    pub everywhere: bool,
}

#[derive(Debug, Args)]
pub struct Undoing {
    /// Which memory: its id, its beginning, source:id or its citation
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub id: Option<String>,
    /// All marks; with -C or --everywhere only those there
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// In every project
    #[arg(long)]
    pub everywhere: bool,
}

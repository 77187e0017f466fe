//! What can be typed about agents that run.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pao_core::Error;
use pao_core::life::tell::To;

pub const TELL_EXAMPLES: &str = "\
Examples:
  pao tell api also mend the tests            typed when api is idle at its prompt line
  pao tell --all stop after this and report
  pao tell --project ~/code/api -- -v is fine, use it
  git diff | pao tell api -                   the text comes from standard input
  pao tell --list api                         every text and what became of it
  pao tell --withdraw 7                       take back a text of which nothing was sent

A text arrives as one prompt, word for word, and is never typed into a dialog or behind what
you have typed there. While the agent is busy it is queued, and delivered when it is idle. It
is sent at most once: what nothing proved to have arrived is called unknown (exit code 5).
A leading / or ! is text and no command; an @ before a file's name still attaches that file.";

pub const WAIT_EXAMPLES: &str = "\
Examples:
  pao wait api                      until its turn is over: idle (0), or it needs you (8)
  pao wait api --until needs-you --until ended
  pao wait api --until needs-you --timeout 600 && say 'api needs you'

Exit codes: 0 it came to one of those states, 6 the time was over, 7 it ended, was lost or paused
without coming to one, 8 it needs you, where you wait for it to be idle.";

#[derive(Debug, Args)]
pub struct Tell {
    /// The agent (unless --all or --project is given), then the text; - reads it from standard input
    #[arg(value_name = "NAME TEXT", required_unless_present_any = ["list", "withdraw"])]
    pub words: Vec<String>,
    /// Tell every agent that runs
    #[arg(long, conflicts_with = "project")]
    pub all: bool,
    /// Tell every agent of this folder's project
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// How long to wait until it can be told, before it is left to be told later (else 5, and 0 where it is busy)
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub wait: Option<f64>,
    /// List texts and what became of them
    #[arg(long, conflicts_with_all = ["all", "project", "withdraw"])]
    pub list: bool,
    /// Take back a text of which nothing was sent
    #[arg(long, value_name = "ID", conflicts_with_all = ["all", "project", "words"])]
    pub withdraw: Option<i64>,
}

/// What is to be told to whom.
pub enum Telling {
    Say(To, Vec<String>),
    List(Option<String>),
    Withdraw(i64),
}

impl Tell {
    pub fn telling(self) -> Result<Telling, Error> {
        let mut words = self.words.into_iter();
        if let Some(id) = self.withdraw {
            return Ok(Telling::Withdraw(id));
        }
        if self.list {
            let name = words.next();
            return match words.next() {
                None => Ok(Telling::List(name)),
                Some(_) => Err(Error::user("--list takes at most one name", "see `pao tell --help`")),
            };
        }
        let to = match (self.all, self.project) {
            (true, _) => To::All,
            (false, Some(folder)) => To::Project(folder),
            (false, None) => To::Name(words.next().unwrap_or_default()),
        };
        let text: Vec<String> = words.collect();
        if text.is_empty() {
            return Err(Error::user(
                "there is no text",
                "give it behind the name, or - to read standard input",
            ));
        }
        Ok(Telling::Say(to, text))
    }
}

pub const REBRIEF_EXAMPLES: &str = "\
Examples:
  pao rebrief api      what the stores have learnt since its briefing
  pao rebrief --all

It reaches the agent with its next prompt, once. Where nothing is new, nothing is delivered.";

pub const HANDOVER_EXAMPLES: &str = "\
Examples:
  pao handover api web                         web learns with its next prompt what api came to
  pao handover api web go on with the tests    and is given that prompt
  pao handover api --new finish it             a new agent in the same folder
  pao handover api --new -C ~/code/web";

#[derive(Debug, Args)]
pub struct Rebrief {
    /// Name or id of an agent
    #[arg(required_unless_present = "all")]
    pub agent: Option<String>,
    /// Every agent that runs
    #[arg(long, conflicts_with = "agent")]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct Handover {
    /// Whose work it is: name or id of an agent, ended or not
    #[arg(value_name = "FROM")]
    pub from: String,
    /// Who gets it (unless --new is given), then what it is to do
    #[arg(value_name = "TO TEXT", required_unless_present = "new")]
    pub words: Vec<String>,
    /// Start a new agent with it
    #[arg(long)]
    pub new: bool,
    /// Where the new one works; without it in the same folder
    #[arg(short = 'C', value_name = "DIR", requires = "new")]
    pub folder: Option<PathBuf>,
    /// Name of the new one
    #[arg(long, requires = "new")]
    pub name: Option<String>,
    /// Terminal of the new one; auto, or one of `pao spawn --help`
    #[arg(long, requires = "new")]
    pub terminal: Option<String>,
    /// Agree that the folder is marked as trusted for the host agent
    #[arg(long, short, requires = "new")]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct Wait {
    /// Name or id of an agent
    pub agent: String,
    /// What to wait for; may be given more than once, any of them will do
    #[arg(long, value_name = "STATE", default_values = ["idle"])]
    pub until: Vec<Until>,
    /// Give up after that long (exit code 6)
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Until {
    /// It is at its prompt line
    Idle,
    /// It waits for you
    NeedsYou,
    /// It has ended, in order or not
    Ended,
}

/// A number of seconds that a clock can count.
fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_string())?;
    if !(0.0..=31_536_000.0).contains(&number) {
        return Err("not between 0 and a year".into());
    }
    Ok(number)
}

/// Seconds as typed.
pub fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

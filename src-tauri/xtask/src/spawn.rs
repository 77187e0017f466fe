//! `cargo xtask spawn`: from a fresh machine to a warmed agent. Sets up, builds, installs, then hands over to the real
//! `pao spawn`, whose output and exit code are the result.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;

use crate::fault::Fault;
use crate::machine::{Machine, System};
use crate::run::{cannot_start, say};
use crate::setup::{C_COMPILER, GIT, Need, Plan, TMUX, agreement, carry_out};
use crate::{build, claude, demo};

/// What may be said to `cargo xtask spawn`.
#[derive(Debug, Clone, Args, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each switch of the command line")]
pub struct Spawn {
    /// Folder the agent works in; where absent, a folder named in the topic, else the current one
    #[arg(short = 'C', value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Agree to all that would be installed and to what `pao spawn` asks, such as trusting the folder
    #[arg(long)]
    pub yes: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Show and prove the whole job with a sample project in a temporary home, without an account
    #[arg(long)]
    pub demo: bool,
    /// With --demo: leave agent, stand-in and temporary home there to look at
    #[arg(long)]
    pub keep: bool,
    /// What the agent should do; options not listed here go to `pao spawn`
    #[arg(value_name = "TOPIC", num_args = 0.., allow_hyphen_values = true)]
    pub rest: Vec<String>,
}

impl Spawn {
    /// Takes our own switches out of what follows the first word of the topic, where clap no longer looks for them. A
    /// `--` ends that, and goes on to `pao`.
    pub fn settled(mut self) -> Result<Self, Fault> {
        let mut words = std::mem::take(&mut self.rest).into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--yes" => self.yes = true,
                "--json" => self.json = true,
                "--demo" => self.demo = true,
                "--keep" => self.keep = true,
                "-C" => {
                    let folder =
                        words.next().ok_or_else(|| Fault::user("-C wants a folder", "name one after it"))?;
                    self.folder = Some(folder.into());
                }
                "--" => {
                    self.rest.push(word);
                    self.rest.extend(words.by_ref());
                }
                _ => self.rest.push(word),
            }
        }
        if self.keep && !self.demo {
            return Err(Fault::user("--keep is about --demo", "add --demo, or leave --keep out"));
        }
        if self.demo && self.folder.is_some() {
            return Err(Fault::user(
                "the demo works in a folder of its own",
                "leave out either --demo or -C",
            ));
        }
        Ok(self)
    }
}

/// Runs it.
pub fn spawn(asked: &Spawn, machine: &Machine) -> Result<ExitCode, Fault> {
    set_up(asked, machine)?;
    let agent = claude::ensure(machine)?;
    if asked.demo {
        return demo::demo(asked, machine, &agent);
    }
    let built = build::programs(machine, &["pao"], true)?;
    let pao = build::install(machine, &built.join("pao"))?;
    let mut command = Command::new(pao);
    command.arg("spawn").args(for_pao(asked)).env("PATH", machine.path_variable());
    say(format!("$ {}", crate::run::shown(&command)));
    let status = command.status().map_err(|e| cannot_start(&command, &e))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn set_up(asked: &Spawn, machine: &Machine) -> Result<(), Fault> {
    let mut plan = Plan::default();
    plan.system(&missing(asked.demo, machine), machine.system, machine.manager());
    claude::plan(machine, &mut plan);
    carry_out(&plan, agreement(asked.yes, false, machine), "cargo xtask spawn")
}

fn missing(demo: bool, machine: &Machine) -> Vec<Need> {
    let mut needs = vec![GIT, C_COMPILER];
    if demo || machine.system == System::Linux {
        needs.insert(0, TMUX);
    }
    needs.into_iter().filter(|need| !(need.found)(machine)).collect()
}

/// The arguments of `pao spawn` for what was asked of us.
fn for_pao(asked: &Spawn) -> Vec<String> {
    let mut arguments = Vec::new();
    if let Some(folder) = &asked.folder {
        arguments.extend(["-C".to_owned(), folder.to_string_lossy().into_owned()]);
    }
    if asked.yes {
        arguments.push("--yes".to_owned());
    }
    if asked.json {
        arguments.push("--json".to_owned());
    }
    arguments.extend(asked.rest.iter().cloned());
    arguments
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        spawn: Spawn,
    }

    fn parsed(line: &[&str]) -> Result<Spawn, Fault> {
        Line::try_parse_from(std::iter::once(&"spawn").chain(line)).expect("parses").spawn.settled()
    }

    #[test]
    fn what_is_not_ours_goes_to_pao_in_order() {
        let asked =
            parsed(&["-C", "/p", "--terminal", "tmux", "--yes", "fix", "the login"]).expect("settles");
        assert_eq!(for_pao(&asked), ["-C", "/p", "--yes", "--terminal", "tmux", "fix", "the login"]);
        let late = parsed(&["fix", "it", "-C", "/p"]).expect("settles");
        assert_eq!(for_pao(&late), ["-C", "/p", "fix", "it"]);
    }

    #[test]
    fn our_own_options_are_seen_wherever_they_stand() {
        let asked = parsed(&["fix", "it", "--json", "--budget=500", "--demo"]).expect("settles");
        assert!(asked.json && asked.demo && !asked.yes);
        assert_eq!(asked.rest, ["fix", "it", "--budget=500"]);
    }

    #[test]
    fn after_two_dashes_everything_is_topic() {
        let asked = parsed(&["--json", "fix", "--", "--demo", "-C"]).expect("settles");
        assert!(!asked.demo);
        assert_eq!(asked.rest, ["fix", "--", "--demo", "-C"]);
    }

    #[test]
    fn what_makes_no_sense_together_is_refused() {
        assert_eq!(parsed(&["--keep"]).expect_err("no demo").code, 2);
        assert_eq!(parsed(&["--demo", "-C", "/p"]).expect_err("own folder").code, 2);
        assert_eq!(parsed(&["fix", "-C"]).expect_err("no folder").code, 2);
    }
}

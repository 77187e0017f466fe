//! `cargo xtask bench`: builds for release and runs the benchmark program on this machine. What is measured is the
//! program's business.

use std::process::ExitCode;

use crate::build::cargo;
use crate::claude;
use crate::fault::Fault;
use crate::machine::Machine;
use crate::pins::CLAUDE_NEW;
use crate::run::{cannot_start, say, shown};
use crate::setup::{C_COMPILER, GIT, Plan, TMUX, agreement, carry_out};

/// Runs it; the arguments go to the benchmark program.
pub fn bench(yes: bool, arguments: &[String], machine: &Machine) -> Result<ExitCode, Fault> {
    let mut plan = Plan::default();
    let missing: Vec<_> = [TMUX, GIT, C_COMPILER].into_iter().filter(|need| !(need.found)(machine)).collect();
    plan.system(&missing, machine.system, machine.manager());
    carry_out(&plan, agreement(yes, true, machine), "cargo xtask bench")?;
    let agent = claude::pinned(machine, CLAUDE_NEW)?;
    crate::test::worker(machine)?;
    let mut program = cargo(machine);
    program.args(["bench", "--locked", "-p", "pao", "--bench", "bench", "--"]).args(arguments);
    say(format!("$ {}", shown(&program)));
    let status =
        program.env("PAO_TEST_CLAUDE_NEW", agent).status().map_err(|e| cannot_start(&program, &e))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

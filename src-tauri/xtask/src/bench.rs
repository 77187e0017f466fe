//! `cargo xtask bench`: builds for release and runs the benchmark program on this machine. What is measured is the
//! program's business.

use std::process::ExitCode;

use crate::build::cargo;
use crate::fault::Fault;
use crate::machine::{Machine, System};
use crate::pins::CLAUDE_NEW;
use crate::run::{cannot_start, run, say, shown};
use crate::setup::{C_COMPILER, GIT, Plan, TMUX, agreement, carry_out};
use crate::{app, claude};

/// Whether a part is among those asked for.
fn wants(arguments: &[String], part: &str) -> bool {
    let mut parts = arguments.iter().filter(|word| PARTS.contains(&word.as_str())).peekable();
    parts.peek().is_none() || parts.any(|word| word == part)
}

/// What can be asked for by name.
const PARTS: [&str; 7] = ["ingest", "recall", "hook", "spawn", "watch", "projects", "app"];

/// Runs it; the arguments go to the benchmark program.
pub fn bench(yes: bool, arguments: &[String], machine: &Machine) -> Result<ExitCode, Fault> {
    let mut plan = Plan::default();
    // Only where a desktop of its own can be made.
    let app = machine.system == System::Linux && wants(arguments, "app");
    let of_app = app::NEEDS.into_iter().chain(app::TEST_NEEDS).filter(|_| app);
    let needs = [TMUX, GIT, C_COMPILER].into_iter().chain(of_app);
    let missing: Vec<_> = needs.filter(|need| !(need.found)(machine)).collect();
    plan.system(&missing, machine.system, machine.manager());
    carry_out(&plan, agreement(yes, true, machine), "cargo xtask bench")?;
    let agent = claude::pinned(machine, CLAUDE_NEW)?;
    crate::test::worker(machine)?;
    if app {
        app::interface(machine)?;
        let mut all = cargo(machine);
        // Of the same packages as below: with others their libraries would be built a second time.
        run(all.args(["build", "--release", "--locked", "--workspace", "--bins", "--examples"]))?;
        app::measured(machine)?;
    }
    let mut program = cargo(machine);
    program.args(["bench", "--locked", "--workspace", "--bench", "bench", "--"]).args(arguments);
    say(format!("$ {}", shown(&program)));
    let status =
        program.env("PAO_TEST_CLAUDE_NEW", agent).status().map_err(|e| cannot_start(&program, &e))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

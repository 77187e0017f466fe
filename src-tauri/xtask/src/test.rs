//! `cargo xtask test`: sets up and runs everything that has to hold, and says at the end what ran and what did not. It
//! goes on after a failure, so that one run shows all of them.

use std::io::{self, BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Args;

use crate::build::cargo;
use crate::fault::{Context, Fault};
use crate::machine::{Machine, System};
use crate::others;
use crate::pins::{CARGO_DENY, CLAUDE_NEW, CLAUDE_OLD, OTHERS};
use crate::run::{cannot_start, read, run, say, shown};
use crate::setup::{C_COMPILER, GIT, Plan, TEST_NEEDS, TMUX, agreement, carry_out};
use crate::{app, build, bundle, claude, macos_check};

/// What may be said to `cargo xtask test`.
#[derive(Debug, Args)]
pub struct Test {
    /// Agree to all that would be installed
    #[arg(long)]
    yes: bool,
    /// Run against this Claude Code from npm instead of the pinned one, such as `latest`
    #[arg(long, value_name = "VERSION", default_value = CLAUDE_NEW)]
    claude: String,
    /// Only tests whose name contains this; nothing else is checked then
    filter: Option<String>,
}

/// How one check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Passed(String),
    Failed(String),
    NotRun(String),
}

/// One line of the summary.
#[derive(Debug)]
struct Line {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

/// Runs it.
pub fn test(asked: &Test, machine: &Machine) -> Result<ExitCode, Fault> {
    let start = Instant::now();
    let mut plan = Plan::default();
    let needs = [TMUX, GIT, C_COMPILER].into_iter().chain(TEST_NEEDS);
    let of_app = app::NEEDS.into_iter().chain(app::TEST_NEEDS);
    let of_app = of_app.filter(|need| machine.system == System::Linux || need.brew.is_some());
    let missing: Vec<_> = needs.chain(of_app).filter(|need| !(need.found)(machine)).collect();
    plan.system(&missing, machine.system, machine.manager());
    if asked.filter.is_none() {
        macos_check::plan(machine, &mut plan);
    }
    carry_out(&plan, agreement(asked.yes, true, machine), "cargo xtask test")?;
    let new = claude::pinned(machine, &asked.claude)?;
    let old = claude::pinned(machine, CLAUDE_OLD)?;
    let others = OTHERS.map(|other| others::pinned(machine, other).map(|program| (other.variable, program)));
    let others: Vec<_> = others.into_iter().collect::<Result<_, _>>()?;
    worker(machine)?;
    app::interface(machine)?;

    let mut lines = Vec::new();
    if asked.filter.is_none() {
        lines.push(timed("fmt", || checked(cargo(machine).args(["fmt", "--all", "--check"]))));
        lines.push(timed("clippy", || {
            let what = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
            checked(cargo(machine).args(what))
        }));
        lines.push(timed("deny", || deny(machine)));
        lines.push(timed("macos", || macos(machine)));
        lines.push(timed("pages", || match app::pages(machine) {
            Ok(Some(())) => Outcome::Passed(String::new()),
            Ok(None) => {
                Outcome::NotRun("their tests in a browser: there is no Chromium and no Chrome".into())
            }
            Err(fault) => Outcome::Failed(fault.message),
        }));
    }
    // The tests start the app itself and look into its package, which building them does not make. All is built with the
    // features the tests have: with others most of it would be built twice.
    lines.push(timed("app", || {
        let mut all = cargo(machine);
        all.args(["build", "--workspace", "--all-targets", "--locked"]);
        let built = run(&mut all).and_then(|()| build::folder(machine, false));
        match built.and_then(|built| bundle::pack(machine, &built, true)) {
            Ok(_) => Outcome::Passed(String::new()),
            Err(fault) => Outcome::Failed(fault.message),
        }
    }));
    lines.push(timed("tests", || {
        let mut tests = cargo(machine);
        tests.args(["test", "--workspace", "--locked", "--no-fail-fast"]).args(&asked.filter);
        tests.env("PAO_TEST_CLAUDE_NEW", new).env("PAO_TEST_CLAUDE_OLD", old).envs(others);
        counted(&mut tests)
    }));
    say(summary(&lines, start.elapsed()));
    let failed = lines.iter().any(|line| matches!(line.outcome, Outcome::Failed(_)));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Installs what the Worker of the tests runs in, where its lock file is newer than what is installed.
pub fn worker(machine: &Machine) -> Result<(), Fault> {
    let folder = machine.root_dir.join("tests/worker");
    let modified = |file: &str| std::fs::metadata(folder.join(file)).and_then(|m| m.modified()).ok();
    let (Some(wanted), installed) =
        (modified("package-lock.json"), modified("node_modules/.package-lock.json"))
    else {
        return Ok(());
    };
    if installed.is_some_and(|installed| installed >= wanted) {
        return Ok(());
    }
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(folder))
}

fn timed(name: &'static str, check: impl FnOnce() -> Outcome) -> Line {
    say(format!("\n== {name}"));
    let start = Instant::now();
    let outcome = check();
    Line { name, outcome, took: start.elapsed() }
}

fn checked(command: &mut Command) -> Outcome {
    match run(command) {
        Ok(()) => Outcome::Passed(String::new()),
        Err(fault) => Outcome::Failed(fault.message),
    }
}

/// Licences, bans and sources. Advisories change without us and need their database from the network: the hosted
/// workflow checks those.
fn deny(machine: &Machine) -> Outcome {
    match cargo_deny(machine) {
        Ok(program) => checked(
            Command::new(program)
                .args(["--locked", "check", "bans", "licenses", "sources"])
                .current_dir(&machine.root_dir),
        ),
        Err(fault) => Outcome::NotRun(fault.message),
    }
}

fn cargo_deny(machine: &Machine) -> Result<std::path::PathBuf, Fault> {
    if let Some(program) = machine.find("cargo-deny") {
        return Ok(program);
    }
    let root = machine.root_dir.join("target/tools/cargo-deny");
    let program = root.join("bin/cargo-deny");
    if !read(&program, &["--version"]).is_some_and(|v| v.ends_with(CARGO_DENY)) {
        // Two minutes on two cores, once.
        run(cargo(machine)
            .args(["install", "cargo-deny", "--locked", "--version", CARGO_DENY, "--root"])
            .arg(&root)
            .env("CARGO_TARGET_DIR", root.join("build")))?;
        std::fs::remove_dir_all(root.join("build")).doing("removing what building cargo-deny left")?;
    }
    Ok(program)
}

fn macos(machine: &Machine) -> Outcome {
    if machine.system == System::Mac {
        return Outcome::NotRun("this is a Mac: clippy above has checked it".into());
    }
    match macos_check::library(machine, false) {
        Err(fault) => Outcome::NotRun(fault.message),
        Ok(library) => match macos_check::check(machine, &library) {
            Ok(()) => Outcome::Passed(String::new()),
            Err(fault) => Outcome::Failed(fault.message),
        },
    }
}

/// Runs `cargo test`, passing its output through, and adds up its results.
fn counted(command: &mut Command) -> Outcome {
    say(format!("$ {}", shown(command)));
    let mut child = match command.stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(e) => return Outcome::Failed(cannot_start(command, &e).message),
    };
    let mut total = Count::default();
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        let Ok(line) = line else { break };
        total.add(&line);
        say(&line);
    }
    let status: io::Result<_> = child.wait();
    match status {
        Ok(status) if status.success() && total.passed > 0 => Outcome::Passed(total.to_string()),
        Ok(status) if status.success() => Outcome::Failed("no test matched".into()),
        Ok(status) => Outcome::Failed(format!("{total}, {status}")),
        Err(e) => Outcome::Failed(e.to_string()),
    }
}

/// Results of several test programs together.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Count {
    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`; other lines say nothing.
    fn add(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test result: ") else { return };
        let words: Vec<&str> = rest.split_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(n) = pair[0].parse::<u64>() else { continue };
            match pair[1].trim_end_matches(';') {
                "passed" => self.passed += n,
                "failed" => self.failed += n,
                "ignored" => self.ignored += n,
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed, {} ignored", self.passed, self.failed, self.ignored)
    }
}

/// What ran, what did not, and the verdict as the last line.
fn summary(lines: &[Line], took: Duration) -> String {
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    let mut not_run = Vec::new();
    for line in lines {
        let (word, detail) = match &line.outcome {
            Outcome::Passed(detail) => ("passed", detail),
            Outcome::Failed(detail) => {
                failed.push(line.name);
                ("FAILED", detail)
            }
            Outcome::NotRun(detail) => {
                not_run.push(line.name);
                ("NOT RUN", detail)
            }
        };
        rows.push(format!("{:8} {word:8} {:>4} s  {detail}", line.name, line.took.as_secs()));
    }
    let verdict =
        if failed.is_empty() { "PASSED".to_owned() } else { format!("FAILED: {}", failed.join(", ")) };
    let without =
        if not_run.is_empty() { String::new() } else { format!(" (not run: {})", not_run.join(", ")) };
    let (minutes, seconds) = (took.as_secs() / 60, took.as_secs() % 60);
    format!("\n{}\n{verdict}{without} in {minutes} min {seconds} s", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_test_programs_are_added_up() {
        let mut count = Count::default();
        count.add("running 3 tests");
        count.add(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.1s",
        );
        count.add("test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(count, Count { passed: 5, failed: 1, ignored: 1 });
    }

    #[test]
    fn the_last_line_names_what_failed_and_what_was_not_run() {
        let line = |name, outcome| Line { name, outcome, took: Duration::from_secs(3) };
        let good =
            [line("fmt", Outcome::Passed(String::new())), line("macos", Outcome::NotRun("no apt".into()))];
        let text = summary(&good, Duration::from_secs(125));
        assert_eq!(text.lines().last(), Some("PASSED (not run: macos) in 2 min 5 s"));
        assert!(text.contains("NOT RUN     3 s  no apt"), "{text}");
        let bad = [line("tests", Outcome::Failed("1 failed".into()))];
        assert_eq!(summary(&bad, Duration::ZERO).lines().last(), Some("FAILED: tests in 0 min 0 s"));
    }
}

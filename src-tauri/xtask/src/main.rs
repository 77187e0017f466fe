//! `cargo xtask …`: what a person or a build machine does with this checkout, each as one command. It sets up, builds
//! and calls; it holds no logic of the product.
#![expect(
    clippy::disallowed_methods,
    reason = "the rule guards the product's core; starting programs is what this is for"
)]

mod app;
mod bench;
mod build;
mod bundle;
mod claude;
mod demo;
mod evidence;
mod fault;
mod guard;
mod machine;
mod macos_check;
mod others;
mod pins;
mod run;
mod sample;
mod setup;
mod spawn;
mod test;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::fault::Fault;
use crate::machine::Machine;
use crate::setup::{Plan, agreement, carry_out};

/// Set-up, spawn, test and bench, each as one command
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Line {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Set up this machine, build and install `pao`, and spawn a warmed agent
    Spawn(spawn::Spawn),
    /// Set up this machine for tests and run all of them
    Test(test::Test),
    /// Set up this machine, build and install the app with `pao`, and open it
    App(app::App),
    /// Build for release and pack: the app and a disk image, or a Debian package
    Bundle(bundle::Bundle),
    /// Build for release and measure
    Bench {
        /// Agree to all that would be installed
        #[arg(long)]
        yes: bool,
        /// Options of the benchmark program
        #[arg(num_args = 0.., allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Type-check and lint the macOS build on Linux
    MacosCheck {
        /// Agree to all that would be installed
        #[arg(long)]
        yes: bool,
        /// Leave rustup aside and use Debian's library source
        #[arg(long)]
        debian: bool,
    },
    /// Waits for the end of a demo and clears up after it
    #[command(hide = true)]
    DemoGuard {
        /// The demo's temporary home
        home: PathBuf,
    },
}

fn main() -> ExitCode {
    let verb = Line::parse().verb;
    // Also where the arguments contradict each other, whoever asked for JSON gets it.
    let json =
        matches!(&verb, Verb::Spawn(asked) if asked.json || asked.rest.iter().any(|word| word == "--json"));
    match run(verb) {
        Ok(code) => code,
        Err(fault) => {
            if json {
                println!("{}", fault.to_json());
            }
            eprintln!("xtask: {fault}");
            ExitCode::from(fault.code)
        }
    }
}

fn run(verb: Verb) -> Result<ExitCode, Fault> {
    let machine = Machine::current()?;
    match verb {
        Verb::Spawn(asked) => spawn::spawn(&asked.settled()?, &machine),
        Verb::Test(asked) => test::test(&asked, &machine),
        Verb::App(asked) => app::app(asked, &machine),
        Verb::Bundle(asked) => bundle::bundle(asked, &machine),
        Verb::Bench { yes, arguments } => bench::bench(yes, &arguments, &machine),
        Verb::MacosCheck { yes, debian } => {
            let mut plan = Plan::default();
            if !debian {
                macos_check::plan(&machine, &mut plan);
            }
            carry_out(&plan, agreement(yes, true, &machine), "cargo xtask macos-check")?;
            let library = macos_check::library(&machine, debian)?;
            macos_check::check(&machine, &library).map(|()| ExitCode::SUCCESS)
        }
        Verb::DemoGuard { home } => guard::guard(&home),
    }
}

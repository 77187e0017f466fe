//! The benchmark: what a user waits for, measured with the built program, a real Claude Code in real tmux and real stores,
//! beside what it is to be compared with.
//! `cargo xtask bench -- [--quick] [--json] [ingest] [recall] [hook] [spawn] [watch] [projects] [app]`
//!
//! It measures and prints; it judges only against the aims that are written beside the figures. How well questions are
//! answered is measured by `cargo run --release -p pao-recall --example eval` and `-p pao-core --example fusion`.

#![expect(clippy::disallowed_methods, reason = "it is the edge of its own world")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a measurement that cannot be set up must end"
)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

mod app;
mod figures;
#[allow(dead_code, reason = "the tests' world, of which the benchmark needs a part")]
#[path = "../../../tests/harness/mod.rs"]
mod harness;
mod hook;
mod ingest;
mod projects;
mod recall;
mod spawn;
mod stores;
mod talk;
mod watch;

use clap::{Parser, ValueEnum};

use figures::Report;
use harness::claude::{Claude, Version};
use talk::Talk;

/// Measure `pao` on this machine
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench --")]
struct Asked {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// A tenth of everything: says that it runs, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Spawns to measure
    #[arg(long, default_value_t = 30)]
    spawns: usize,
    /// Size of the seeded transcripts in MB
    #[arg(long, default_value_t = 300)]
    megabytes: u64,
    /// Messages in the index that is asked
    #[arg(long, default_value_t = 200_000)]
    messages: usize,
    /// What cargo adds to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
    /// Only these parts
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Transcripts into the index
    Ingest,
    /// Questions to the index
    Recall,
    /// The hook as a whole process
    Hook,
    /// Whole spawns beside bare starts of the same agent
    Spawn,
    /// An idle list of thirty agents, watched
    Watch,
    /// Two thousand projects, found and watched
    Projects,
    /// The menu-bar app on a desktop of its own
    App,
}

fn main() {
    let mut asked = Asked::parse();
    if asked.quick {
        asked.spawns = asked.spawns.div_ceil(10);
        asked.megabytes = asked.megabytes.div_ceil(10);
        asked.messages = asked.messages.div_ceil(10);
    }
    let wants = |part| asked.parts.is_empty() || asked.parts.contains(&part);
    let mut report = Report::new(!asked.json);
    let mut talk = Talk::new();
    let mut claude = Claude::new(Version::New);
    if wants(Part::Hook) {
        hook::measure(&claude.world, if asked.quick { 20 } else { 200 }, &mut report);
    }
    if wants(Part::Ingest) || wants(Part::Recall) || wants(Part::Spawn) {
        ingest::measure(&claude.world, &mut talk, asked.megabytes << 20, asked.messages, &mut report);
    }
    if wants(Part::Recall) {
        recall::measure(&claude.world, &mut talk, if asked.quick { 10 } else { 100 }, &mut report);
    }
    if wants(Part::Spawn) {
        let stores = stores::Stores::start(&mut claude.world, &mut talk, &mut report);
        spawn::measure(&claude, &stores, &mut talk, asked.spawns, &mut report);
        drop(stores);
    }
    if wants(Part::Watch) {
        // In a world of its own: the agents of the other parts are not to be watched.
        let claude = Claude::new(Version::New);
        watch::measure(
            &claude,
            std::time::Duration::from_secs(if asked.quick { 10 } else { 60 }),
            &mut report,
        );
    }
    if wants(Part::Projects) {
        let (projects, seconds) = if asked.quick { (200, 10) } else { (2_000, 60) };
        projects::measure(projects, std::time::Duration::from_secs(seconds), &mut report);
    }
    if wants(Part::App) {
        let (starts, rest) = if asked.quick { (3, 6) } else { (20, 60) };
        app::measure(starts, std::time::Duration::from_secs(rest), &mut report);
    }
    report.end();
    if asked.json {
        println!("{}", serde_json::to_string_pretty(&report).unwrap());
    }
}

//! Transcripts into the index, by `pao index` as a user runs it.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pao_core::capture::transcript::Reader;

use crate::figures::{Aim, Report};
use crate::harness::world::{PAO, World};
use crate::talk::Talk;

const PART: &str = "ingest";

/// Seeds the world's transcripts and indexes them; then more of them, until `messages` are indexed.
pub fn measure(world: &World, talk: &mut Talk, bytes: u64, messages: usize, report: &mut Report) {
    let root = world.path(".claude/projects");
    let files = talk.seed(&root, bytes).unwrap();
    // Once unmeasured: the first read of what was just written may wait for the disk.
    raw(&files);
    let (read, took) = timed(|| raw(&files));
    report.one(PART, "raw read", "MB/s", rate(read, took), None);
    let (spoken, took) = timed(|| parse(&files));
    report.one(PART, "parse only", "MB/s", rate(read, took), None);
    let (output, took) = timed(|| world.command(PAO).args(["index", "--json"]).output().unwrap());
    assert!(output.status.success(), "pao index: {}", String::from_utf8_lossy(&output.stderr));
    report.one(PART, "pao index", "MB/s", rate(read, took), Some(Aim::AtLeast(60.0)));
    let (_, took) = timed(|| world.command(PAO).args(["index", "--json"]).output().unwrap());
    report.times(PART, "pao index, nothing new", &[took], None);
    report.note(format!("{} files, {:.0} MB, {spoken} messages", files.len(), read as f64 / 1e6));
    // The other parts want a number of messages, not of bytes.
    talk.seed_messages(&root, files.len(), messages.saturating_sub(spoken)).unwrap();
    let output = world.command(PAO).args(["index", "--json"]).output().unwrap();
    assert!(output.status.success(), "pao index: {}", String::from_utf8_lossy(&output.stderr));
    let state = world.command(PAO).args(["index", "--state", "--json"]).output().unwrap();
    let state: serde_json::Value = serde_json::from_slice(&state.stdout).unwrap();
    report.one(PART, "messages indexed from here on", "", state["messages"].as_f64().unwrap(), None);
    report.one(PART, "size of the index", "MB", state["bytes"].as_f64().unwrap() / 1e6, None);
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let value = work();
    (value, started.elapsed())
}

fn rate(bytes: u64, took: Duration) -> f64 {
    bytes as f64 / 1e6 / took.as_secs_f64()
}

fn raw(files: &[PathBuf]) -> u64 {
    let mut buffer = vec![0; 1 << 18];
    let mut total = 0;
    for path in files {
        let mut file = File::open(path).unwrap();
        loop {
            match file.read(&mut buffer).unwrap() {
                0 => break,
                n => total += n as u64,
            }
        }
    }
    total
}

fn parse(files: &[PathBuf]) -> usize {
    let mut messages = 0;
    for path in files {
        let mut reader = Reader::new(File::open(path).unwrap(), 0);
        while reader.next_entry().unwrap().is_some() {
            messages += 1;
        }
    }
    messages
}

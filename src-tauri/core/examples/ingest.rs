//! Measures reading transcripts into the history index and asking it: `cargo run --release -p pao-core --example ingest -- [MB]`
//!
//! Seeds a set of transcripts (300 MB where nothing is said) in a temporary folder, the same every time: prompts, answers,
//! tool uses, tool results that outweigh them, records without words, 8 % of the talk in Chinese. Prints a raw read, a
//! parse-only pass and the whole, then the time of 400 questions.

#![expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "figures for people")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pao_core::capture::transcript::Reader;
use pao_core::config::HistoryConfig;
use pao_core::host::Host;
use pao_core::source::{Limits, Question, Source, history};
use tokio_util::sync::CancellationToken;

fn main() -> Result<(), Box<dyn Error>> {
    let megabytes: u64 = std::env::args().nth(1).map_or(Ok(300), |n| n.parse())?;
    let dir = tempfile::tempdir()?;
    let home = dir.path().canonicalize()?;
    let mut talk = Talk::new();
    let files = talk.seed(&home.join(".claude/projects"), megabytes << 20)?;
    let host = Host {
        pao_home: home.join(".pao"),
        cwd: home.clone(),
        exe: PathBuf::from("pao"),
        env: BTreeMap::new(),
        frozen: None,
        home,
    };

    let (bytes, took) = timed(|| raw(&files))?;
    println!(
        "raw read     {:>8.0} MB/s  ({} files, {:.0} MB)",
        rate(bytes, took),
        files.len(),
        bytes as f64 / 1e6
    );
    let (messages, took) = timed(|| parse(&files))?;
    println!("parse only   {:>8.0} MB/s  ({messages} messages)", rate(bytes, took));
    let config = HistoryConfig::default();
    let (report, took) =
        timed(|| Ok(history::refresh(&host, &config, &mut |_| {}, &CancellationToken::new())?))?;
    println!(
        "index        {:>8.1} MB/s  ({} messages, {:.1} s)",
        rate(bytes, took),
        report.messages,
        took.as_secs_f64()
    );
    let (again, took) =
        timed(|| Ok(history::refresh(&host, &config, &mut |_| {}, &CancellationToken::new())?))?;
    println!("nothing new  {:>8.1} ms    ({} messages)", took.as_secs_f64() * 1e3, again.messages);
    let state = history::state(&host, &config)?;
    println!("index size   {:>8.0} MB", state.bytes as f64 / 1e6);
    if let Ok(status) = fs::read_to_string("/proc/self/status")
        && let Some(peak) = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))
    {
        println!("peak memory  {}", peak.trim());
    }

    let index = pao_recall::Index::open(&host.history_dir())?;
    let (_, took) = timed(|| Ok(pao_recall::Index::open(&host.history_dir())?))?;
    println!("open         {:>8.1} ms", took.as_secs_f64() * 1e3);
    for (name, least, most) in
        [("1 word", 1, 1), ("3 words", 3, 3), ("10 words", 10, 10), ("sentence", 12, 25)]
    {
        let (mut times, mut busy) = (Vec::new(), Vec::new());
        for _ in 0..100 {
            let question = talk.question(least, most);
            let before = on_cpu();
            let (_, took) = timed(|| Ok(index.search(&pao_recall::Query::new(&question, 30))?))?;
            times.push(took);
            busy.push(on_cpu().saturating_sub(before));
        }
        println!(
            "ask {name:<9}{:>8.2} ms p50 {:>8.2} ms p95   on the processor {:.2} / {:.2}",
            at(&mut times, 0.5),
            at(&mut times, 0.95),
            at(&mut busy, 0.5),
            at(&mut busy, 0.95)
        );
    }

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let source = history::open("history", &config, &host);
    let limits = Limits { snippets: 30, deadline: Duration::from_secs(5) };
    let mut times = Vec::new();
    for _ in 0..30 {
        let question = Question {
            text: talk.question(4, 12),
            folder: host.home.clone(),
            project: "/work/p1".into(),
            project_name: "p1".into(),
            now: host.now(),
        };
        let (_, took) = timed(|| Ok(runtime.block_on(source.recall(&question, limits))?))?;
        times.push(took);
    }
    println!("whole source {:>8.2} ms p50 {:>8.2} ms p95", at(&mut times, 0.5), at(&mut times, 0.95));
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<(T, Duration), Box<dyn Error>> {
    let started = Instant::now();
    let value = work()?;
    Ok((value, started.elapsed()))
}

/// Time this thread was on a processor, where the system says: a busy machine does not count.
fn on_cpu() -> Duration {
    let said = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(said.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

fn rate(bytes: u64, took: Duration) -> f64 {
    bytes as f64 / 1e6 / took.as_secs_f64()
}

fn at(times: &mut [Duration], share: f64) -> f64 {
    times.sort_unstable();
    #[expect(clippy::cast_sign_loss, reason = "a share of a length")]
    let place = ((times.len() - 1) as f64 * share) as usize;
    times[place].as_secs_f64() * 1e3
}

fn raw(files: &[PathBuf]) -> Result<u64, Box<dyn Error>> {
    let mut buffer = vec![0; 1 << 18];
    let mut total = 0;
    for path in files {
        let mut file = File::open(path)?;
        loop {
            let n = file.read(&mut buffer)?;
            if n == 0 {
                break;
            }
            total += n as u64;
        }
    }
    Ok(total)
}

fn parse(files: &[PathBuf]) -> Result<u64, Box<dyn Error>> {
    let mut messages = 0;
    for path in files {
        let mut reader = Reader::new(File::open(path)?, 0);
        while reader.next_entry()?.is_some() {
            messages += 1;
        }
    }
    Ok(messages)
}

/// Made-up talk with the word frequencies of real one.
struct Talk {
    state: u64,
    words: Vec<String>,
    chars: Vec<char>,
}

impl Talk {
    fn new() -> Self {
        let mut talk = Self { state: 0x9E37_79B9_7F4A_7C15, words: Vec::new(), chars: Vec::new() };
        let parts = [
            "ba", "con", "de", "fi", "gra", "hu", "in", "jo", "ker", "lo", "mi", "nor", "pe", "qui", "re",
            "sta", "tu", "ver", "wi", "zo",
        ];
        let ends = ["", "s", "ed", "ing", "ion", "er", "ly", "al"];
        for _ in 0..40_000 {
            let mut word = String::new();
            for _ in 0..2 + talk.below(3) {
                word.push_str(parts[talk.below(parts.len())]);
            }
            word.push_str(ends[talk.below(ends.len())]);
            talk.words.push(word);
        }
        talk.chars = (0..2500).filter_map(|n| char::from_u32(0x4E00 + n * 7)).collect();
        talk
    }

    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % n.max(1)
    }

    /// A rank whose frequency falls with its size (Zipf).
    fn rank(&mut self, of: usize) -> usize {
        let u = self.below(1 << 30) as f64 / f64::from(1 << 30);
        #[expect(clippy::cast_sign_loss, reason = "a power of a positive number")]
        let rank = (of as f64).powf(u) as usize;
        rank.min(of - 1)
    }

    fn words(&mut self, n: usize) -> String {
        let mut text = String::new();
        for at in 0..n {
            if at > 0 {
                text.push(if self.below(14) == 0 { '\n' } else { ' ' });
            }
            let rank = self.rank(self.words.len());
            text.push_str(&self.words[rank]);
            if self.below(40) == 0 {
                text.push_str("_id.rs");
            }
        }
        text
    }

    fn talk(&mut self, n: usize) -> String {
        if self.below(100) < 8 {
            return (0..n * 2)
                .map(|_| {
                    let rank = self.rank(self.chars.len());
                    self.chars[rank]
                })
                .collect();
        }
        self.words(n)
    }

    fn question(&mut self, least: usize, most: usize) -> String {
        let n = least + self.below(most - least + 1);
        self.talk(n)
    }

    fn seed(&mut self, root: &Path, bytes: u64) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let mut files = Vec::new();
        let mut written = 0;
        while written < bytes {
            let number = files.len();
            let folder = root.join(format!("-work-p{}", number % 23));
            fs::create_dir_all(&folder)?;
            let path = folder.join(format!("{number:08x}-0000-4000-8000-000000000000.jsonl"));
            let mut file = BufWriter::new(File::create(&path)?);
            for turn in 0..60 + self.below(700) {
                let line = self.record(number, turn);
                written += line.len() as u64 + 1;
                writeln!(file, "{line}")?;
            }
            file.flush()?;
            files.push(path);
        }
        Ok(files)
    }

    fn record(&mut self, session: usize, turn: usize) -> String {
        let mut common = serde_json::json!({
            "parentUuid": format!("{turn:08x}-1111-4111-a111-{session:012x}"), "isSidechain": false, "userType": "external",
            "cwd": format!("/work/p{}", session % 23), "sessionId": format!("{session:08x}-0000-4000-8000-000000000000"),
            "version": "2.1.332", "gitBranch": "main", "uuid": format!("{turn:08x}-2222-4222-a222-{session:012x}"),
            "timestamp": format!("2026-{:02}-{:02}T{:02}:{:02}:00.000Z", 1 + session % 11, 1 + session % 28, turn / 60 % 24, turn % 60),
        });
        let usage = serde_json::json!({"input_tokens": 4, "cache_creation_input_tokens": 18764, "cache_read_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 18764, "ephemeral_1h_input_tokens": 0}, "output_tokens": 3, "service_tier": "standard"});
        let (kind, message) = match self.below(100) {
            0..8 => {
                let n = 5 + self.below(60);
                ("user", serde_json::json!({"role": "user", "content": self.talk(n)}))
            }
            8..35 => {
                let n = 15 + self.below(180);
                (
                    "assistant",
                    serde_json::json!({"id": "msg_01", "type": "message", "role": "assistant",
                "model": "claude", "content": [{"type": "text", "text": self.talk(n)}], "stop_reason": null, "usage": usage}),
                )
            }
            35..62 => {
                let n = 2 + self.below(8);
                (
                    "assistant",
                    serde_json::json!({"id": "msg_01", "type": "message", "role": "assistant",
                "model": "claude", "content": [{"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": {"command": self.words(n)}}], "stop_reason": null, "usage": usage}),
                )
            }
            62..90 => {
                let n = 20 + self.below(500);
                let text = self.words(n);
                common["toolUseResult"] =
                    serde_json::json!({"stdout": text, "stderr": "", "interrupted": false});
                let is_error = self.below(20) == 0;
                (
                    "user",
                    serde_json::json!({"role": "user", "content": [{"tool_use_id": "toolu_01", "type": "tool_result", "content": text, "is_error": is_error}]}),
                )
            }
            _ => {
                let n = 60 + self.below(100);
                common["attachment"] = serde_json::json!({"type": "environment", "text": self.words(n)});
                ("attachment", serde_json::Value::Null)
            }
        };
        common["type"] = kind.into();
        if !message.is_null() {
            common["message"] = message;
        }
        common.to_string()
    }
}

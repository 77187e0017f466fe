//! Made-up transcripts, the same every time: prompts, answers, tool uses, tool results that outweigh them, records without
//! words, 8 % of the talk in Chinese. Words fall in frequency as real ones do; they mean nothing.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Per cent of all records; the first of them are those of people and models speaking.
const KINDS: usize = 100;
const SPOKEN: usize = 35;

/// Made-up talk with the word frequencies of real one.
pub struct Talk {
    state: u64,
    words: Vec<String>,
    chars: Vec<char>,
}

impl Talk {
    pub fn new() -> Self {
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
        #[expect(
            clippy::cast_sign_loss,
            clippy::cast_possible_truncation,
            reason = "a power of a positive number"
        )]
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

    /// Words, or now and then Chinese of about that length.
    pub fn talk(&mut self, n: usize) -> String {
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

    /// A question of that many words.
    pub fn question(&mut self, least: usize, most: usize) -> String {
        let n = least + self.below(most - least + 1);
        self.talk(n)
    }

    /// Writes transcripts of about `bytes` under `root`, a folder a project.
    pub fn seed(&mut self, root: &Path, bytes: u64) -> std::io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        let mut written = 0;
        while written < bytes {
            let (path, length) = self.file(root, files.len(), KINDS)?;
            written += length;
            files.push(path);
        }
        Ok(files)
    }

    /// Writes at least that many more messages, in files that hold nothing else; `from` is the first file's number.
    pub fn seed_messages(&mut self, root: &Path, from: usize, messages: usize) -> std::io::Result<()> {
        let mut written = 0;
        for number in from.. {
            if written >= messages {
                break;
            }
            let (path, _) = self.file(root, number, SPOKEN)?;
            written += fs::read_to_string(path)?.lines().count();
        }
        Ok(())
    }

    /// Writes one transcript with records of the first `kinds` per cent; gives its path and length.
    fn file(&mut self, root: &Path, number: usize, kinds: usize) -> std::io::Result<(PathBuf, u64)> {
        let folder = root.join(format!("-code-p{}", number % 23));
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{number:08x}-0000-4000-8000-000000000000.jsonl"));
        let mut file = BufWriter::new(File::create(&path)?);
        let mut written = 0;
        for turn in 0..60 + self.below(700) {
            let line = self.record(number, turn, kinds);
            written += line.len() as u64 + 1;
            writeln!(file, "{line}")?;
        }
        file.flush()?;
        Ok((path, written))
    }

    fn record(&mut self, session: usize, turn: usize, kinds: usize) -> String {
        let mut common = serde_json::json!({
            "parentUuid": format!("{turn:08x}-1111-4111-a111-{session:012x}"), "isSidechain": false, "userType": "external",
            "cwd": format!("/code/p{}", session % 23), "sessionId": format!("{session:08x}-0000-4000-8000-000000000000"),
            "version": "2.1.332", "gitBranch": "main", "uuid": format!("{turn:08x}-2222-4222-a222-{session:012x}"),
            "timestamp": format!("2026-{:02}-{:02}T{:02}:{:02}:00.000Z", 1 + session % 11, 1 + session % 28, turn / 60 % 24, turn % 60),
        });
        let usage = serde_json::json!({"input_tokens": 4, "cache_creation_input_tokens": 18764, "cache_read_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 18764, "ephemeral_1h_input_tokens": 0}, "output_tokens": 3, "service_tier": "standard"});
        let (kind, message) = match self.below(kinds) {
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

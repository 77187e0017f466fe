//! Stores that are down, silent or lying: the agent starts all the same, with what the others know, and is told.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::harness::claude::Version;
use crate::harness::postgres::{Database, PASSWORD, Postgres, SCHEMA, free_port};
use crate::harness::worker::{TOKEN, Worker};

const TOPIC: &str = "make the billing webhook idempotent";
const SAID: &str = "For the billing webhook I want idempotency keys kept for nine days.";
const FACT: &str = "the billing webhook is retried by its sender up to seventeen times";
const CHAT: &str = "the billing webhook became idempotent by its event id in the old gateway";

/// A server that takes every connection and answers as told, or never; ends when dropped.
struct Server {
    port: u16,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Never says a word.
    fn silent() -> Self {
        Self::answering(None)
    }

    /// Says the same to everybody, and hangs up.
    fn saying(status: &str, kind: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n");
        Self::answering(Some(format!("{head}connection: close\r\n\r\n{body}")))
    }

    fn answering(reply: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let mut stream = stream.unwrap();
                match &reply {
                    Some(reply) => {
                        let _ = stream.read(&mut [0; 8192]);
                        let _ = stream.write_all(reply.as_bytes());
                    }
                    None => kept.push(stream),
                }
            }
        });
        Self { port, stop }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = std::net::TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// A world with three stores that know one thing each.
struct Stores {
    claude: Claude,
    facts: Database,
    chats: Worker,
}

impl Stores {
    fn new() -> Self {
        let mut claude = Claude::new(Version::New);
        claude.world.set("PAO_SECRET_FACTS", PASSWORD).set("PAO_SECRET_CHATS", TOKEN);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let facts = runtime.block_on(async {
            let facts = Postgres::shared().database().await;
            facts.run(SCHEMA).await;
            facts.observe("billing", FACT, "2026-11-02T10:00:00Z").await;
            facts
        });
        let chats = Worker::start(&json!([{ "text": CHAT, "created_at": "2026-10-02T10:00:00Z" }]));
        Self { claude, facts, chats }
    }

    /// Writes the configuration with these addresses; those that are `None` are the real ones.
    fn configure(&self, facts: Option<&str>, chats: Option<&str>) {
        let (facts, chats) = (facts.map_or_else(|| self.facts.url(), Into::into), chats.map(Into::into));
        let chats = chats.unwrap_or_else(|| self.chats.url("/rpc"));
        // As generous as a loaded machine needs; only what is silent takes that long.
        let text = format!(
            "[spawn]\nready_timeout_s = 90\n[sources.history]\nkind = \"history\"\ndeadline_ms = 5000\n\
             [sources.facts]\nkind = \"postgres\"\nurl = \"{facts}\"\ndeadline_ms = 5000\n\
             [sources.chats]\nkind = \"worker\"\nurl = \"{chats}\"\nprotocol = \"json-rpc\"\ndeadline_ms = 5000\n"
        );
        self.claude.world.write(".pao/config.toml", &text);
    }

    /// Puts something in the place of the history's index.
    fn break_history(&self, how: History) {
        let place = self.claude.world.path(".pao/history");
        if how == History::Works {
            return;
        }
        self.index();
        if how == History::IsAFile {
            fs::remove_dir_all(&place).unwrap();
            return fs::write(&place, "no index").unwrap();
        }
        for (path, (kind, _)) in
            tree(&place).into_iter().filter(|(_, (kind, _))| !kind.contains("is_dir: true"))
        {
            assert!(kind.contains("is_file: true"), "{kind}");
            if how == History::IsGarbage {
                fs::write(&path, "\0\u{1}\u{2}garbage".repeat(100)).unwrap();
            } else {
                // Whoever opens it waits for a writer that never comes, as on a disk that went away.
                fs::remove_file(&path).unwrap();
                nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
            }
        }
    }

    fn mend_history(&self, how: History) {
        let place = self.claude.world.path(".pao/history");
        match how {
            History::Works => return,
            // Indexing itself heals it.
            History::IsGarbage => {}
            History::IsAFile => fs::remove_file(&place).unwrap(),
            History::Hangs => fs::remove_dir_all(&place).unwrap(),
        }
        self.index();
    }

    /// Brings the index up to date, once whoever else does so in the background has finished.
    fn index(&self) {
        self.claude.until("an index", || self.claude.world.pao(["index"]).run().code == Some(0));
    }
}

/// What stands where the index of the history should.
#[derive(Debug, Clone, Copy, PartialEq)]
enum History {
    Works,
    IsAFile,
    IsGarbage,
    Hangs,
}

fn state<'a>(spawned: &'a Value, source: &str) -> &'a str {
    let reports = spawned["sources"].as_array().unwrap();
    reports.iter().find(|report| report["name"] == source).unwrap()["state"].as_str().unwrap()
}

fn facts_at(port: u16) -> String {
    format!("postgres://reader@127.0.0.1:{port}/memory?sslmode=disable")
}

fn chats_at(port: u16) -> String {
    format!("http://127.0.0.1:{port}/rpc")
}

#[test]
fn with_stores_down_silent_or_lying_the_agent_starts_with_what_the_others_know() {
    let stores = Stores::new();
    let claude = &stores.claude;
    let (silent, page) =
        (Server::silent(), Server::saying("200 OK", "text/html", "<html>sign in to billing webhook</html>"));
    let refusing = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32000, "message": "D1 is busy" } });
    let refusing = Server::saying("200 OK", "application/json", &refusing.to_string());
    let nothing = Server::saying("200 OK", "application/json", "");
    let closed = free_port();
    // Facts, chats, history; then the states of history, facts and chats.
    let cases = [
        (
            Some(facts_at(closed)),
            Some(chats_at(silent.port)),
            History::Works,
            ["ok", "unavailable", "timed-out"],
        ),
        (
            Some(facts_at(silent.port)),
            Some(chats_at(page.port)),
            History::Works,
            ["ok", "timed-out", "unavailable"],
        ),
        (None, Some(chats_at(refusing.port)), History::IsGarbage, ["unavailable", "ok", "unavailable"]),
        (Some(facts_at(page.port)), None, History::IsAFile, ["unavailable", "unavailable", "ok"]),
        (None, Some(chats_at(nothing.port)), History::Hangs, ["timed-out", "ok", "unavailable"]),
        (None, Some(chats_at(closed)), History::Works, ["ok", "ok", "unavailable"]),
    ];
    for (n, (facts, chats, history, states)) in cases.into_iter().enumerate() {
        let folder = claude.repository(&format!("code/case{n}"));
        if n == 0 {
            remember(&claude.world, &folder, 1, SAID);
            claude.world.pao(["index"]).ok();
        }
        stores.configure(facts.as_deref(), chats.as_deref());
        stores.break_history(history);
        let topic = format!("{TOPIC} in case{n}");
        if history == History::Hangs {
            // Without a topic the history itself is what suggests one.
            let brief = claude.world.pao(["brief", "--json", "-C", folder.to_str().unwrap()]).ok().json();
            assert_eq!(state(&brief, "history"), "timed-out", "{brief:#}");
            let checked = claude.world.pao(["sources", "check", "history"]).run();
            assert!(
                checked.code != Some(0) && checked.screen.contains("timed out after"),
                "{}",
                checked.screen
            );
        }
        let spawned = claude.spawn(&folder, &["--name", &format!("case{n}"), &topic]);
        stores.mend_history(history);
        assert_eq!(spawned["confirmed"], true, "{spawned:#}");
        let text = claude.first_request(&format!("in case{n}")).text();
        for (source, (expected, line)) in
            ["history", "facts", "chats"].into_iter().zip(states.into_iter().zip([SAID, FACT, CHAT]))
        {
            assert_eq!(state(&spawned, source), expected, "case {n}, {source}: {spawned:#}");
            assert_eq!(text.contains(line), expected == "ok", "case {n}, {source}:\n{text}");
            let told = text.lines().find(|l| l.starts_with(&format!("- {source}: "))).unwrap();
            let down = told.ends_with("absence of facts from it means nothing");
            assert_eq!(down, expected != "ok", "case {n}: {told}");
        }
        assert!(!text.contains("sign in"), "a store's error page reached the agent:\n{text}");
        // One deadline, not the sum: two that wait would need twice as long.
        let gather = spawned["steps"].as_array().unwrap().iter().find(|s| s["name"] == "gather").unwrap();
        assert!(gather["ms"].as_u64().unwrap() < 9_000, "{gather}");
        end(claude, &folder);
    }
}

#[test]
fn with_every_store_down_the_agent_is_told_how_to_look_and_what_it_is_told_works() {
    let stores = Stores::new();
    let claude = &stores.claude;
    let folder = claude.repository("code/api");
    claude.world.write(".pao/history", "no index");
    remember(&claude.world, &folder, 1, SAID);
    let silent = Server::silent();
    stores.configure(Some(&facts_at(free_port())), Some(&chats_at(silent.port)));
    let spawned = claude.spawn(&folder, &[TOPIC]);
    assert_eq!(spawned["confirmed"], true, "{spawned:#}");
    let text = claude.first_request("## Look for yourself").text();
    assert!(text.contains("No store could answer, so nothing can be said about what is known."), "{text}");
    let commands: Vec<&str> =
        text.lines().filter_map(|l| l.strip_prefix("- run `")?.split('`').next()).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    // Once the stores are back, the words that the agent was given bring back what they know.
    fs::remove_file(claude.world.path(".pao/history")).unwrap();
    stores.configure(None, None);
    let run = |command: &str, folder: &Path| {
        let mut shell: Command = claude.world.command("/bin/sh");
        let output = shell.args(["-c", command]).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(run(commands[0], &folder).contains("first"), "the log of the repository");
    // The index is made by whoever comes first, perhaps by the spawned agent's own sweep.
    claude.until("what the stores know", || {
        let recalled = run(commands[1], &folder);
        [SAID, FACT, CHAT].iter().all(|known| recalled.contains(known))
    });
}

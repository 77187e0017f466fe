//! The user's two other stores on loopback: a real PostgreSQL with the indexes we recommend, and a real Worker in workerd.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use pao_core::config::PostgresConfig;
use pao_core::source::postgres::index_statements;
use serde_json::json;

use crate::figures::Report;
use crate::harness::postgres::{ARCHIVE, PASSWORD, Postgres, SCHEMA};
use crate::harness::worker::{TOKEN, Worker};
use crate::harness::world::World;
use crate::talk::Talk;

/// Observations in the database.
const OBSERVATIONS: usize = 20_000;
/// Rows of the Worker; it takes them one by one.
const ROWS: usize = 500;

/// Stores that run as long as this lives.
pub struct Stores {
    worker: Option<Worker>,
}

impl Stores {
    /// Starts what is installed and names it in the world's configuration.
    pub fn start(world: &mut World, talk: &mut Talk, report: &mut Report) -> Self {
        let mut config = Vec::new();
        if installed("initdb") {
            let url = postgres(talk);
            config.push(format!("[sources.facts]\nkind = \"postgres\"\nurl = \"{url}\"\n"));
            world.set("PAO_SECRET_FACTS", PASSWORD);
        } else {
            report.note("without PostgreSQL: it is not installed");
        }
        let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worker/node_modules/miniflare");
        let worker = modules.is_dir().then(|| {
            let rows: Vec<_> = (0..ROWS)
                .map(|n| json!({ "text": talk.talk(30), "created_at": format!("2026-11-{:02}T10:00:00Z", 1 + n % 29) }))
                .collect();
            let worker = Worker::start(&rows.into());
            config.push(format!(
                "[sources.chats]\nkind = \"worker\"\nurl = \"{}\"\nprotocol = \"json-rpc\"\n",
                worker.url("/rpc")
            ));
            world.set("PAO_SECRET_CHATS", TOKEN);
            worker
        });
        if worker.is_none() {
            report.note("without the Worker: tests/worker has no node_modules");
        }
        world.write(".pao/config.toml", &config.concat());
        Self { worker }
    }

    /// How long the Worker itself takes for a question: a bare request over a bare connection, while nothing else runs.
    pub fn worker_alone(&self, question: &str) -> Option<Duration> {
        let worker = self.worker.as_ref()?;
        let params = json!({ "query": question, "limit": 40 });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "search", "params": params }).to_string();
        let request = format!(
            "POST /rpc HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let started = Instant::now();
        let mut connection = TcpStream::connect(("127.0.0.1", worker.port)).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let (mut reply, mut piece) = (Vec::new(), vec![0; 1 << 16]);
        // It keeps the connection open for a while, whatever it is asked.
        while !is_whole(&reply) {
            let read = connection.read(&mut piece).unwrap();
            assert!(read > 0, "the Worker broke off");
            reply.extend_from_slice(&piece[..read]);
        }
        let took = started.elapsed();
        assert!(reply.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&reply));
        Some(took)
    }
}

/// A database whose texts are made of the same words as the transcripts.
fn postgres(talk: &mut Talk) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let texts: Vec<String> = (0..OBSERVATIONS).map(|_| talk.talk(25)).collect();
    let names: Vec<String> = (0..200).map(|n| format!("{} {n}", talk.talk(1))).collect();
    runtime.block_on(async {
        let database = Postgres::shared().database().await;
        database.run(SCHEMA).await;
        database.run(ARCHIVE).await;
        let mut connection = database.connect().await;
        sqlx::query("INSERT INTO entities (name, entity_type) SELECT unnest($1::text[]), 'thing'")
            .bind(names)
            .execute(&mut connection)
            .await
            .unwrap();
        let fill = "INSERT INTO observations (entity_id, observation_text, created_at)
                    SELECT 1 + n % 200, text, now() - n * interval '5 minutes'
                    FROM unnest($1::text[]) WITH ORDINALITY AS t (text, n)";
        sqlx::query(fill).bind(texts).execute(&mut connection).await.unwrap();
        let statements = index_statements(&PostgresConfig::default()).unwrap();
        let sql: Vec<&str> = statements.lines().filter(|line| !line.starts_with("--")).collect();
        for statement in sql.join("\n").split(';').filter(|statement| !statement.trim().is_empty()) {
            database.run(statement).await;
        }
        database.run("ANALYZE").await;
        database.url()
    })
}

/// Whether a reply has come to its end: that of its length, or its last chunk.
fn is_whole(reply: &[u8]) -> bool {
    let text = String::from_utf8_lossy(reply).to_ascii_lowercase();
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return false };
    match head.lines().find_map(|line| line.strip_prefix("content-length:")) {
        Some(length) => reply.len() >= head.len() + 4 + length.trim().parse::<usize>().unwrap(),
        None => text.ends_with("\r\n0\r\n\r\n"),
    }
}

fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
        || Path::new("/usr/lib/postgresql").is_dir()
}

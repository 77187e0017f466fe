//! A real Worker in workerd, with D1 and FTS5, on loopback; see `tests/worker/`.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The Worker's token, for all its protocols.
pub const TOKEN: &str = "FAKE-worker-token";

/// A running Worker; ends when dropped, and with this process however that ends.
pub struct Worker {
    /// Port on 127.0.0.1. Paths: `/rpc`, `/mcp`, `/mcp-session`, `/api/search`.
    pub port: u16,
    child: Child,
    _rows: tempfile::NamedTempFile,
}

impl Worker {
    /// Starts it with the given rows: a list of `{text, created_at?, session?, project?}`.
    pub fn start(rows: &serde_json::Value) -> Self {
        let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/worker");
        assert!(
            dir.join("node_modules/miniflare").is_dir(),
            "tests/worker has no node_modules: run `cargo xtask test`, which does the set-up"
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), rows.to_string()).unwrap();
        let mut child = Command::new("node")
            .arg(dir.join("serve.mjs"))
            .arg(file.path())
            .env("WORKER_TOKEN", TOKEN)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, receive) = mpsc::channel();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = lines.read_line(&mut line);
            let _ = send.send(line);
            // Whatever else it prints is read away, so that it never waits for a full pipe.
            let _ = lines.read_to_end(&mut Vec::new());
        });
        let line = receive.recv_timeout(Duration::from_mins(1)).unwrap_or_default();
        let port = serde_json::from_str::<serde_json::Value>(&line).ok().and_then(|l| l["port"].as_u64());
        let Some(port) = port else {
            let _ = child.kill();
            let mut said = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut said);
            panic!("the Worker did not start: {line}{said}");
        };
        let mut complaints = child.stderr.take().unwrap();
        std::thread::spawn(move || complaints.read_to_end(&mut Vec::new()));
        Self { port: u16::try_from(port).unwrap(), child, _rows: file }
    }

    /// Address of one of its paths.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        for _ in 0..200 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

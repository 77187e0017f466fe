//! The Worker source against a real Worker in workerd, and against servers that lie.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use pao_core::config::WorkerConfig;
use pao_core::host::Host;
use pao_core::host::secrets::SecretStore;
use pao_core::source::worker::{self, Pauses, WorkerSource};
use pao_core::source::{Limits, Question, Source, SourceError};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::harness::postgres::free_port;
use crate::harness::worker::{TOKEN, Worker};

fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 30, 12, 0, 0).unwrap()
}

fn host(token: Option<&str>) -> Host {
    Host {
        home: "/nowhere".into(),
        pao_home: "/nowhere/.pao".into(),
        cwd: "/nowhere".into(),
        exe: "/nowhere/pao".into(),
        env: token.map(|t| ("PAO_SECRET_SEMANTIC".into(), t.into())).into_iter().collect::<BTreeMap<_, _>>(),
        frozen: Some(now()),
    }
}

#[derive(Default)]
struct Remembered(Mutex<HashMap<String, DateTime<Utc>>>);

#[async_trait::async_trait]
impl Pauses for Remembered {
    async fn until(&self, source: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.0.lock().unwrap().get(source).copied().filter(|until| *until > now)
    }

    async fn pause(&self, source: &str, until: DateTime<Utc>) {
        self.0.lock().unwrap().insert(source.into(), until);
    }
}

fn question(text: &str) -> Question {
    Question {
        text: text.into(),
        folder: "/code/api".into(),
        project: "/code/api".into(),
        project_name: "api".into(),
        now: now(),
    }
}

/// Generous, so that a loaded machine decides no test.
fn limits() -> Limits {
    Limits { snippets: 5, deadline: Duration::from_secs(20) }
}

fn open_as(config: &WorkerConfig, token: Option<&str>, pauses: &Arc<Remembered>) -> WorkerSource {
    let host = host(token);
    let pauses: Arc<dyn Pauses> = Arc::<Remembered>::clone(pauses);
    worker::open("semantic", config, &host, &SecretStore::new(&host, "file").unwrap(), pauses).unwrap()
}

fn open(url: &str, protocol: &str) -> WorkerSource {
    let config = WorkerConfig { url: url.into(), protocol: protocol.into(), ..WorkerConfig::default() };
    open_as(&config, Some(TOKEN), &Arc::default())
}

#[tokio::test]
async fn a_real_worker_answers_by_each_protocol() {
    let rows = json!([
        { "text": "the webhook retry was made idempotent by its event id", "created_at": "2026-11-02T10:00:00Z",
          "session": "s-1", "project": "/code/api" },
        { "text": "lunch was late", "created_at": "2026-11-03T10:00:00Z" },
    ]);
    let worker = tokio::task::spawn_blocking(move || Worker::start(&rows)).await.unwrap();
    for (path, protocol) in [("/rpc", "json-rpc"), ("/mcp", "mcp"), ("/mcp-session", "mcp"), ("", "search")] {
        let source = open(&worker.url(path), protocol);
        let answer = source.recall(&question("make the webhook idempotent"), limits()).await.unwrap();
        let found = &answer.snippets[0];
        assert_eq!(found.text, "the webhook retry was made idempotent by its event id", "{path}");
        assert_eq!((found.id.as_str(), found.source.as_str()), ("1", "semantic"));
        assert_eq!(found.session.as_deref(), Some("s-1"));
        assert_eq!(found.project.as_deref(), Some("/code/api"));
        assert_eq!(found.at, Some(Utc.with_ymd_and_hms(2026, 11, 2, 10, 0, 0).unwrap()));
        let nothing = source.recall(&question("xylophone"), limits()).await.unwrap();
        assert_eq!(nothing.snippets, [], "{path}");
        assert!(source.check(limits()).await.unwrap().ends_with("answers a trial question with no result"));
    }

    let config = |path: &str, protocol: &str| WorkerConfig {
        url: worker.url(path),
        protocol: protocol.into(),
        ..WorkerConfig::default()
    };
    let ask = async |config: &WorkerConfig, token: Option<&str>| {
        open_as(config, token, &Arc::default())
            .recall(&question("webhook"), limits())
            .await
            .unwrap_err()
            .to_string()
    };
    let rpc = config("/rpc", "json-rpc");
    assert_eq!(ask(&rpc, Some("FAKE-wrong")).await, "refused: HTTP 401: the token is not accepted");
    assert_eq!(ask(&rpc, None).await, "refused: HTTP 401, and no token is stored for this source");
    let method = WorkerConfig { method: Some("find".into()), ..rpc.clone() };
    assert_eq!(ask(&method, Some(TOKEN)).await, "refused: JSON-RPC error -32601: Method not found: find");
    let parameter = WorkerConfig { query_param: Some("text".into()), ..rpc };
    assert_eq!(ask(&parameter, Some(TOKEN)).await, "refused: JSON-RPC error -32602: query is missing");
    let tool = WorkerConfig { tool: Some("find".into()), ..config("/mcp", "mcp") };
    assert_eq!(ask(&tool, Some(TOKEN)).await, "refused: the MCP tool reports an error");
    let elsewhere = config("/elsewhere", "json-rpc");
    assert_eq!(ask(&elsewhere, Some(TOKEN)).await, "refused: HTTP 404: there is no such endpoint");
}

/// A server that answers every request with the same bytes and keeps what it was asked.
struct Liar {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Liar {
    async fn new(reply: impl Into<Vec<u8>>) -> Self {
        let reply: Vec<u8> = reply.into();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                let mut buffer = [0; 4096];
                while !complete(&request) {
                    match stream.read(&mut buffer).await {
                        Ok(0) | Err(_) => break,
                        Ok(n) => request.extend_from_slice(&buffer[..n]),
                    }
                }
                kept.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
                // The client may hang up on what it does not want.
                let _ = stream.write_all(&reply).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { url, requests }
    }

    async fn json(value: serde_json::Value) -> Self {
        Self::new(http("200 OK", "content-type: application/json\r\n", &value.to_string())).await
    }

    fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

fn complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|l| l.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn http(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn each_lie_is_named_by_status_or_kind_without_its_body() {
    let json = "content-type: application/json\r\n";
    let html = "content-type: text/html; charset=utf-8\r\n";
    let page = "<html>FAKE sign in</html>";
    let whole = r#"{"jsonrpc":"2.0","id":1,"result":{"results":[{"text":"FAKE"}]}}"#;
    let cases = [
        (http("200 OK", html, page), "bad reply: HTTP 200 with a web page"),
        (http("200 OK", json, page), "bad reply: HTTP 200 with text that is not JSON"),
        (
            http("200 OK", "content-type: text/plain\r\n", "FAKE down"),
            "bad reply: HTTP 200 with text that is not JSON",
        ),
        (
            http("200 OK", "content-type: image/png\r\n", "FAKE"),
            "bad reply: HTTP 200 with a type other than JSON",
        ),
        (http("502 Bad Gateway", html, page), "unreachable: HTTP 502"),
        (http("500 FAKE", json, r#"{"error":"FAKE"}"#), "bad reply: HTTP 500"),
        (http("429 Too Many Requests", "", "FAKE slow down"), "refused: HTTP 429: too many requests"),
        (http("200 OK", json, ""), "bad reply: HTTP 200 with an empty body"),
        (http("204 No Content", "", ""), "bad reply: HTTP 204 with an empty body"),
        (http("200 OK", json, &whole[..40]), "bad reply: HTTP 200 with JSON that breaks off"),
        (
            http("302 Found", "location: https://FAKE.example/\r\n", ""),
            "bad reply: HTTP 302: redirects are not followed",
        ),
        (
            http("200 OK", json, &whole.replace("\"id\":1", "\"id\":2")),
            "bad reply: the reply is for another call",
        ),
        (
            http("200 OK", json, &whole.replace("\"id\":1", "\"id\":\"1\"")),
            "bad reply: the reply is for another call",
        ),
        (
            http("200 OK", json, &whole.replace("2.0", "1.0")),
            "bad reply: the reply does not say JSON-RPC 2.0",
        ),
        (http("200 OK", json, "[]"), "bad reply: the reply is not a JSON-RPC object"),
        (
            http("200 OK", json, r#"{"jsonrpc":"2.0","id":1}"#),
            "bad reply: the reply has neither a result nor an error",
        ),
        (
            http("200 OK", json, r#"{"jsonrpc":"2.0","id":1,"result":{"note":"FAKE"}}"#),
            "bad reply: the reply has no list of results",
        ),
        (
            http(
                "200 OK",
                json,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"D1 is\n\u001b[1mbusy"}}"#,
            ),
            "refused: JSON-RPC error -32000: D1 is [1mbusy",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{".into(),
            "unreachable: the connection broke before the reply was complete",
        ),
        ("FAKE not http".into(), "unreachable: the connection broke before the reply was complete"),
        (String::new(), "unreachable: the connection broke before the reply was complete"),
    ];
    for (reply, expected) in cases {
        let liar = Liar::new(reply.clone()).await;
        let error = open(&liar.url, "json-rpc").recall(&question("webhook"), limits()).await.unwrap_err();
        assert_eq!(error.to_string(), expected, "{reply}");
        assert_eq!(liar.asked(), 1, "asked again after: {reply}");
    }
}

#[tokio::test]
async fn a_reply_without_end_is_cut_off() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let body = " ".repeat(10 << 20);
    let announced = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let unannounced = format!("{head}connection: close\r\n\r\n{body}");
    for reply in [announced, unannounced] {
        let liar = Liar::new(reply).await;
        let error = open(&liar.url, "json-rpc").recall(&question("webhook"), limits()).await.unwrap_err();
        assert_eq!(error.to_string(), "bad reply: HTTP 200 with more than 1 MB");
    }
}

#[tokio::test]
async fn an_error_object_in_a_plain_reply_is_a_failure_and_no_empty_answer() {
    for value in
        [json!({ "error": "FAKE" }), json!({ "success": false, "results": [] }), json!({ "ok": false })]
    {
        let liar = Liar::json(value.clone()).await;
        let error = open(&liar.url, "search").recall(&question("webhook"), limits()).await.unwrap_err();
        assert_eq!(error.to_string(), "refused: HTTP 200 with an error object", "{value}");
    }
    let liar = Liar::json(json!({ "error": null, "results": [] })).await;
    let answer = open(&liar.url, "search").recall(&question("webhook"), limits()).await.unwrap();
    assert_eq!(answer.snippets, []);
}

#[tokio::test]
async fn mcp_results_are_read_from_structured_content_json_text_or_plain_text() {
    let reply = |result: serde_json::Value| json!({ "jsonrpc": "2.0", "id": 1, "result": result });
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    for result in [
        json!({ "structuredContent": { "results": [{ "text": "gizmo" }] }, "content": [] }),
        text(r#"[{"content":"gizmo"}]"#),
        text(r#"{"matches":[{"metadata":{"text":"gizmo"}}]}"#),
        text("gizmo"),
        json!({ "content": [{ "type": "image", "data": "" }, { "type": "text", "text": "gizmo" }], "isError": false }),
    ] {
        let liar = Liar::json(reply(result.clone())).await;
        let answer = open(&liar.url, "mcp").recall(&question("gizmo"), limits()).await.unwrap();
        assert_eq!(
            answer.snippets.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(),
            ["gizmo"],
            "{result}"
        );
    }
    let failed = json!({ "isError": true, "content": [{ "type": "text", "text": "FAKE" }] });
    let liar = Liar::json(reply(failed)).await;
    let error = open(&liar.url, "mcp").recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "refused: the MCP tool reports an error");
}

#[tokio::test]
async fn an_event_stream_that_stays_open_is_read_only_to_the_reply() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 4096];
        let _ = stream.read(&mut buffer).await.unwrap();
        let reply = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"gizmo"}]}}"#;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        stream.write_all(format!("{head}: hi\n\ndata: {reply}\n\n").as_bytes()).await.unwrap();
        // Never closed from here.
        let _ = stream.read(&mut buffer).await;
    });
    let answer = open(&url, "mcp").recall(&question("gizmo"), limits()).await.unwrap();
    assert_eq!(answer.snippets[0].text, "gizmo");
    server.await.unwrap();
}

#[tokio::test]
async fn a_wish_to_wait_is_remembered_and_the_server_left_alone() {
    for (status, header, wait) in [
        ("429 Too Many Requests", "retry-after: 120\r\n", TimeDelta::seconds(120)),
        (
            "503 Service Unavailable",
            "retry-after: Mon, 30 Nov 2026 12:05:00 GMT\r\n",
            TimeDelta::seconds(300),
        ),
        ("429 Too Many Requests", "retry-after: 99999999\r\n", TimeDelta::hours(24)),
    ] {
        let liar = Liar::new(http(status, header, "FAKE")).await;
        let config = WorkerConfig { url: liar.url.clone(), ..WorkerConfig::default() };
        let pauses = Arc::new(Remembered::default());
        for _ in 0..3 {
            // Each time as another process would: only the memory of pauses is shared.
            let source = open_as(&config, Some(TOKEN), &pauses);
            let error = source.recall(&question("webhook"), limits()).await.unwrap_err();
            assert_eq!(error, SourceError::Paused(now() + wait));
            assert_eq!(source.check(limits()).await.unwrap_err(), error);
        }
        assert_eq!(liar.asked(), 1);
    }
}

#[tokio::test]
async fn the_token_stands_in_its_header_and_nowhere_else() {
    let reply = json!({ "jsonrpc": "2.0", "id": 1, "result": [] });
    for (protocol, auth, header) in [
        ("json-rpc", None, format!("authorization: Bearer {TOKEN}")),
        ("json-rpc", Some("x-api-key"), format!("x-api-key: {TOKEN}")),
        ("search", None, format!("x-api-key: {TOKEN}")),
        ("json-rpc", Some("none"), "accept: application/json".into()),
    ] {
        let liar =
            if protocol == "search" { Liar::json(json!([])).await } else { Liar::json(reply.clone()).await };
        let config = WorkerConfig {
            url: liar.url.clone(),
            protocol: protocol.into(),
            auth: auth.map(Into::into),
            ..WorkerConfig::default()
        };
        let source = open_as(&config, Some(TOKEN), &Arc::default());
        source.recall(&question("what & why = \"this\" #1?"), limits()).await.unwrap();
        let request = liar.requests.lock().unwrap()[0].clone();
        assert!(request.contains(&header), "{request}");
        assert_eq!(request.matches(TOKEN).count(), usize::from(auth != Some("none")), "{request}");
        assert!(!request.lines().next().unwrap().contains(TOKEN));
    }
}

#[tokio::test]
async fn a_question_of_any_kind_arrives_as_data() {
    let liar = Liar::json(json!([])).await;
    let text = "a&limit=9999#x 缓存\r\nx-evil: 1\0";
    open(&liar.url, "search").recall(&question(text), limits()).await.unwrap();
    let request = liar.requests.lock().unwrap()[0].clone();
    let line = request.lines().next().unwrap();
    assert_eq!(
        line,
        "GET /api/search?q=a%26limit%3D9999%23x+%E7%BC%93%E5%AD%98%0D%0Ax-evil%3A+1&limit=5 HTTP/1.1"
    );
    let liar = Liar::json(json!([])).await;
    open(&liar.url, "search").recall(&question(&"缓存 ".repeat(5_000)), limits()).await.unwrap();
    assert!(liar.requests.lock().unwrap()[0].lines().next().unwrap().len() < 8_000);
}

#[tokio::test]
async fn a_closed_port_is_unreachable_and_silence_times_out() {
    let url = format!("http://127.0.0.1:{}", free_port());
    let error = open(&url, "json-rpc").recall(&question("webhook"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "unreachable: nobody listens there");

    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let short = Limits { snippets: 5, deadline: Duration::from_millis(200) };
    let error = open(&url, "json-rpc").recall(&question("webhook"), short).await.unwrap_err();
    assert_eq!(error, SourceError::TimedOut(short.deadline));
    assert_eq!(open(&url, "mcp").check(short).await.unwrap_err(), SourceError::TimedOut(short.deadline));
}

//! The stand-in asked over real sockets, with requests written out by hand.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Options, Reply, Request, Script, Standin};

/// Sends one request on its own connection and returns all bytes that came back as text.
fn raw(standin: &Standin, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", standin.port())).expect("connect");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("timeout");
    let length = body.len();
    write!(
        stream,
        "{head} HTTP/1.1\r\nhost: x\r\nx-api-key: sk-ant-FAKE\r\nuser-agent: test\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .expect("send");
    let mut back = String::new();
    stream.read_to_string(&mut back).expect("receive");
    back
}

fn ask(standin: &Standin, body: &Value) -> String {
    raw(standin, "POST /v1/messages?beta=true", &body.to_string())
}

fn json_of(response: &str) -> Value {
    let (_, body) = response.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

fn prompt(text: &str) -> Value {
    json!({"model": "m", "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": text}]})
}

#[test]
fn a_message_is_answered_and_logged_without_its_credentials() {
    let standin = Standin::start(Script::saying("hello")).expect("start");
    let answer = json_of(&ask(&standin, &prompt("hi")));
    assert_eq!(answer["content"][0]["text"], "hello");
    assert_eq!(answer["model"], "m");

    let seen = standin.first_with_tools().expect("logged");
    assert_eq!(seen.path, "/v1/messages?beta=true");
    assert_eq!(seen.headers["x-api-key"], "***");
    assert_eq!(seen.headers["user-agent"], "test");
    assert_eq!(seen.last_user_text(), "hi");
}

#[test]
fn text_holds_system_and_all_messages_with_tool_results() {
    let standin = Standin::start(Script::default()).expect("start");
    let body = json!({
        "system": [{"type": "text", "text": "be brief"}],
        "tools": [{"name": "Bash"}],
        "messages": [
            {"role": "user", "content": "one"},
            {"role": "system", "content": [{"type": "text", "text": "two"}]},
            {"role": "user", "content": [
                {"type": "tool_result", "content": [{"type": "text", "text": "three"}]},
                {"type": "image", "source": {}},
            ]},
        ],
    });
    ask(&standin, &body);
    assert_eq!(standin.first_with_tools().expect("logged").text(), "be brief\none\ntwo\nthree");
}

#[test]
fn a_stream_is_sent_as_server_sent_events() {
    let standin = Standin::start(Script::saying("a streamed answer")).expect("start");
    let mut body = prompt("hi");
    body["stream"] = json!(true);
    let response = ask(&standin, &body);
    assert!(response.contains("content-type: text/event-stream"), "{response}");
    let first = response.find("event: message_start\ndata: {").expect("start");
    let delta = response.find("\"text_delta\",\"text\":\"a streamed answer\"").expect("delta");
    let last = response.find("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n").expect("stop");
    assert!(first < delta && delta < last);
}

#[test]
fn errors_carry_status_headers_and_an_error_object() {
    let script = Script::default().then(Reply::status(429).with_header("retry-after", "7"));
    let standin = Standin::start(script).expect("start");
    let response = ask(&standin, &prompt("hi"));
    assert!(response.starts_with("HTTP/1.1 429"), "{response}");
    assert!(response.contains("retry-after: 7"), "{response}");
    assert_eq!(json_of(&response)["error"]["type"], "rate_limit_error");
    assert_eq!(standin.requests()[0].status, 429);
}

#[test]
fn hanging_up_sends_not_one_byte() {
    let standin = Standin::start(Script::default().then(Reply::hang_up())).expect("start");
    assert_eq!(ask(&standin, &prompt("hi")), "");
    assert_eq!(standin.requests()[0].status, 0);
    assert_eq!(json_of(&ask(&standin, &prompt("hi")))["content"][0]["text"], "ok");
}

#[test]
fn a_delay_is_waited_for_while_others_are_served() {
    let standin = Standin::start(Script::default().then(Reply::text("late").after_ms(400))).expect("start");
    std::thread::scope(|scope| {
        let start = Instant::now();
        let slow = scope.spawn(|| ask(&standin, &prompt("slow")));
        standin
            .wait_for(Duration::from_secs(5), |r| r.last_user_text() == "slow")
            .expect("logged on arrival");
        ask(&standin, &prompt("fast"));
        assert!(start.elapsed() < Duration::from_millis(400), "the other request had to wait");
        assert!(slow.join().expect("thread").contains("late"));
        assert!(start.elapsed() >= Duration::from_millis(400));
    });
}

#[test]
fn checks_counts_and_models_are_answered_and_the_rest_is_not_found() {
    let standin = Standin::start(Script::default()).expect("start");
    assert!(raw(&standin, "HEAD /", "").starts_with("HTTP/1.1 200"));
    let counted = json_of(&raw(&standin, "POST /v1/messages/count_tokens", r#"{"messages": []}"#));
    assert!(counted["input_tokens"].as_u64().is_some_and(|n| n > 0));
    assert_eq!(json_of(&raw(&standin, "GET /v1/models?limit=1", ""))["data"][0]["type"], "model");
    assert_eq!(json_of(&raw(&standin, "GET /v1/models/claude-x", ""))["id"], "claude-x");
    let unknown = raw(&standin, "POST /api/event_logging", "not json");
    assert!(unknown.starts_with("HTTP/1.1 404"));
    assert_eq!(json_of(&unknown)["error"]["type"], "not_found_error");
    assert_eq!(standin.requests().last().expect("logged").body, "not json");
    assert!(standin.first_with_tools().is_none());
}

#[test]
fn it_can_be_steered_over_http_without_that_being_logged() {
    let standin = Standin::start(Script::default()).expect("start");
    raw(&standin, "POST /__standin__/script", r#"{"default": "steered"}"#);
    assert_eq!(json_of(&ask(&standin, &prompt("hi")))["content"][0]["text"], "steered");
    assert_eq!(json_of(&raw(&standin, "GET /__standin__/count", "")), json!({"requests": 1, "messages": 1}));
    assert_eq!(json_of(&raw(&standin, "GET /__standin__/requests", ""))[0]["n"], 1);
    assert!(raw(&standin, "POST /__standin__/script", "{\"x\": 1}").starts_with("HTTP/1.1 400"));
    raw(&standin, "POST /__standin__/reset", "");
    assert!(standin.requests().is_empty());
}

#[test]
fn the_log_file_holds_one_json_document_a_line() {
    let dir = tempfile::tempdir().expect("folder");
    let log = dir.path().join("requests.jsonl");
    let standin =
        Standin::start_with(Options { log: Some(log.clone()), ..Options::default() }).expect("start");
    ask(&standin, &prompt("one\ntwo"));
    ask(&standin, &prompt("three"));
    let text = std::fs::read_to_string(&log).expect("log");
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["n"], 2);
    assert!(!text.contains("FAKE"));
}

#[test]
fn dropping_it_frees_the_port_even_while_a_reply_waits() {
    let standin =
        Standin::start(Script::saying("never").then(Reply::text("x").after_ms(60_000))).expect("start");
    let port = standin.port();
    let mut waiting = TcpStream::connect(("127.0.0.1", port)).expect("connect");
    let body = prompt("hi").to_string();
    write!(waiting, "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .expect("send");
    standin.wait_for(Duration::from_secs(5), Request::is_message).expect("logged");
    let start = Instant::now();
    drop(standin);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

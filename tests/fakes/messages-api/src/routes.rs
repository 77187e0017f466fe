//! The HTTP side: which path gets which answer, and how a connection is closed without one.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request as Incoming, State as Shared};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::sse::{Event as SseEvent, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::{StreamExt, stream};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::State;
use crate::dialect::Dialect;
use crate::message::{Event, error, events, message, tokens};
use crate::request::{Request, masked};
use crate::script::{Reply, Script};
use crate::{gemini, responses};

/// Bodies above this are refused; the largest seen from a real agent is below 1 MB.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// Serves until it is dropped.
pub(crate) async fn serve(listener: std::net::TcpListener, state: Arc<State>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let router = Router::new()
        .route("/__standin__/requests", get(async |Shared(s): Shared<Arc<State>>| axum::Json(s.log.all())))
        .route("/__standin__/count", get(count))
        .route("/__standin__/script", post(script))
        .route("/__standin__/reset", post(reset))
        .fallback(api)
        .with_state(state);
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let router = router.clone();
        // axum's own server cannot refuse to answer; hyper closes the connection when the service fails.
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let router = router.clone();
            async move {
                let Ok(response) = router.oneshot(request.map(Body::new)).await;
                match response.extensions().get::<HangUp>() {
                    Some(_) => Err(HangUp),
                    None => Ok(response),
                }
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

/// Marks a response that must not be sent.
#[derive(Debug, Clone, Copy)]
struct HangUp;

impl fmt::Display for HangUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the script says to close the connection")
    }
}

impl std::error::Error for HangUp {}

async fn count(Shared(state): Shared<Arc<State>>) -> Response {
    let all = state.log.all();
    let messages = all.iter().filter(|r| r.is_message()).count();
    axum::Json(json!({"requests": all.len(), "messages": messages})).into_response()
}

async fn script(Shared(state): Shared<Arc<State>>, body: String) -> Response {
    match Script::parse(&body) {
        Ok(script) => {
            state.prompter.set(script);
            axum::Json(json!({"ok": true})).into_response()
        }
        Err(e) => (StatusCode::BAD_REQUEST, axum::Json(json!({"error": e.to_string()}))).into_response(),
    }
}

async fn reset(Shared(state): Shared<Arc<State>>) -> Response {
    state.log.forget();
    state.prompter.set(Script::default());
    axum::Json(json!({"ok": true})).into_response()
}

/// Everything that is part of the imitated API. Each request is logged before its answer leaves.
async fn api(Shared(state): Shared<Arc<State>>, request: Incoming) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, MAX_BODY).await else {
        return answer(413, &error(413, &Reply::default()));
    };
    let body = parse(&bytes);
    let route = parts.uri.path().trim_end_matches('/');
    let dialect = Dialect::of(parts.method.as_str(), route);
    let reply = dialect.map(|dialect| state.prompter.pick(dialect, &body));
    let (status, document) = match (&parts.method, route) {
        _ if let Some(reply) = &reply => {
            (if reply.drop { 0 } else { reply.status.unwrap_or(200) }, Value::Null)
        }
        (&Method::POST, "/v1/messages/count_tokens") => (200, json!({"input_tokens": tokens(&body)})),
        (&Method::POST, other) if other.ends_with(":countTokens") => {
            (200, json!({"totalTokens": tokens(&body)}))
        }
        (&Method::GET, "/v1/models") => {
            let model = model("claude-standin");
            let id = model["id"].clone();
            // `models` is where Codex looks; an empty list leaves it to what it knows itself.
            let data =
                json!({"data": [model], "has_more": false, "first_id": id, "last_id": id, "models": []});
            (200, data)
        }
        (&Method::GET | &Method::HEAD, "") => (200, json!({"ok": true})),
        (&Method::GET, other) if other.starts_with("/v1/models/") => {
            (200, model(other.trim_start_matches("/v1/models/")))
        }
        (_, other) => {
            let mut unknown = error(404, &Reply::default());
            unknown["error"]["message"] = json!(format!("the stand-in has no {} {other}", parts.method));
            (404, unknown)
        }
    };
    let kept = state.log.keep(Request {
        n: 0,
        at: seconds_since_1970(),
        method: parts.method.to_string(),
        path: parts.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        headers: parts.headers.iter().map(|(k, v)| masked(k.as_str(), v.as_bytes())).collect(),
        body: body.clone(),
        status,
        reply: reply.clone(),
    });
    match (kept, dialect.zip(reply)) {
        (Ok(n), Some((dialect, reply))) => {
            let stream = body["stream"] == true || route.ends_with(":streamGenerateContent");
            play(n, dialect, stream, &body, reply).await
        }
        (Ok(_), None) => answer(status, &document),
        (Err(e), _) => {
            let mut broken = error(500, &Reply::default());
            broken["error"]["message"] = json!(format!("the stand-in cannot write its log: {e}"));
            answer(500, &broken)
        }
    }
}

fn parse(bytes: &Bytes) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

fn model(id: &str) -> Value {
    json!({"type": "model", "id": id, "display_name": "Stand-in", "created_at": "2025-01-01T00:00:00Z"})
}

fn answer(status: u16, document: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, axum::Json(document)).into_response()
}

/// Answers as the script says, in the dialect that was spoken.
async fn play(n: usize, dialect: Dialect, stream: bool, body: &Value, reply: Reply) -> Response {
    tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
    let status = reply.status.unwrap_or(200);
    let whole = || match dialect {
        Dialect::Messages => message(n, body, &reply),
        Dialect::Responses => responses::response(n, body, &reply),
        Dialect::Gemini => gemini::answer(n, body, &reply),
    };
    let mut response = if reply.drop {
        let mut never_sent = Response::new(Body::empty());
        never_sent.extensions_mut().insert(HangUp);
        never_sent
    } else if status != 200 {
        let error = match dialect {
            Dialect::Messages => error,
            Dialect::Responses => responses::error,
            Dialect::Gemini => gemini::error,
        };
        answer(status, &error(status, &reply))
    } else if stream {
        let events = match dialect {
            Dialect::Messages => events,
            Dialect::Responses => responses::events,
            Dialect::Gemini => gemini::events,
        };
        streamed(events(&whole()), Duration::from_millis(reply.chunk_delay_ms))
    } else {
        answer(200, &whole())
    };
    let headers = response.headers_mut();
    headers.insert("request-id", HeaderValue::from_static("req_standin"));
    for (name, value) in &reply.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
    response
}

fn streamed(events: Vec<Event>, pause: Duration) -> Response {
    let events = stream::iter(events).then(move |event| async move {
        let named = match event.name() {
            "" => SseEvent::default(),
            name => SseEvent::default().event(name),
        };
        let sent = named.data(event.0.to_string());
        if event.is_chunk() {
            tokio::time::sleep(pause).await;
        }
        Ok::<_, Infallible>(sent)
    });
    Sse::new(events).into_response()
}

#[expect(clippy::disallowed_methods, reason = "the log of a stand-in is about real time")]
fn seconds_since_1970() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

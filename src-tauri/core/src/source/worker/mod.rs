//! A semantic index behind HTTP: JSON-RPC 2.0, an MCP tool, or a plain search endpoint.
//!
//! One request per question (MCP servers that insist on a session get the handshake they ask for) and never a
//! retry. A reply is believed only as far as its status, type, size, id and form allow; what is wrong with it is
//! said without repeating it. The token travels in a header, only over TLS or to this machine, and never along a
//! redirect.

mod items;
mod reply;
mod request;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use reqwest::Url;
use serde_json::{Value, json};

use self::request::{Http, Method};
use super::{Answer, Limits, Question, Source, SourceError, within};
use crate::config::WorkerConfig;
use crate::host::Host;
use crate::host::secrets::SecretStore;

/// Characters of a question that are sent.
const QUESTION_CHARS: usize = 2_000;

/// Characters of a question that fit an address.
const ADDRESS_CHARS: usize = 400;

/// Where it is kept until when a source wants to be left alone, across processes.
#[async_trait::async_trait]
pub trait Pauses: Send + Sync {
    /// The end of the pause, where one lasts at `now`.
    async fn until(&self, source: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>>;

    /// Remembers a pause. Failing to is no reason to fail.
    async fn pause(&self, source: &str, until: DateTime<Utc>);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    JsonRpc,
    Mcp,
    Search,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Auth {
    Bearer,
    ApiKey,
    None,
}

/// A semantic index that can be asked.
pub struct WorkerSource {
    name: String,
    url: Url,
    protocol: Protocol,
    auth: Auth,
    method: String,
    tool: String,
    query_param: String,
    limit_param: String,
    secrets: SecretStore,
    pauses: Arc<dyn Pauses>,
    host: Host,
}

/// Reads the configuration; connects to nothing yet. The token, kept under the source's name, comes from the secret
/// store when it is needed.
pub fn open(
    name: &str,
    config: &WorkerConfig,
    host: &Host,
    secrets: &SecretStore,
    pauses: Arc<dyn Pauses>,
) -> Result<WorkerSource, SourceError> {
    let refuse = |text: &str| Err(SourceError::Misconfigured(text.to_owned()));
    let Ok(mut url) = Url::parse(&config.url) else { return refuse("the url cannot be read") };
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return refuse("the url does not start with https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("the url contains a login: take it out and keep the token in the secret store");
    }
    let protocol = match config.protocol.as_str() {
        "" | "json-rpc" => Protocol::JsonRpc,
        "mcp" => Protocol::Mcp,
        "search" => Protocol::Search,
        _ => return refuse("protocol must be json-rpc, mcp or search"),
    };
    let auth = match (config.auth.as_deref(), protocol) {
        (None, Protocol::Search) | (Some("x-api-key"), _) => Auth::ApiKey,
        (None | Some("bearer"), _) => Auth::Bearer,
        (Some("none"), _) => Auth::None,
        _ => return refuse("auth must be bearer, x-api-key or none"),
    };
    if url.scheme() == "http" && auth != Auth::None && !is_loopback(&url) {
        return refuse("the token would travel unencrypted: use https, or auth = \"none\"");
    }
    url.set_fragment(None);
    if protocol == Protocol::Search && !url.path().ends_with("/api/search") {
        let path = format!("{}/api/search", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    let or = |value: &Option<String>, default: &str| value.clone().unwrap_or_else(|| default.to_owned());
    Ok(WorkerSource {
        name: name.to_owned(),
        protocol,
        auth,
        method: or(&config.method, "search"),
        tool: or(&config.tool, "search"),
        query_param: or(&config.query_param, if protocol == Protocol::Search { "q" } else { "query" }),
        limit_param: or(&config.limit_param, "limit"),
        url,
        secrets: secrets.clone(),
        pauses,
        host: host.clone(),
    })
}

fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

impl WorkerSource {
    async fn ask(&self, text: &str, results: usize) -> Result<Vec<items::Item>, SourceError> {
        let now = self.host.now();
        if let Some(until) = self.pauses.until(&self.name, now).await {
            return Err(SourceError::Paused(until));
        }
        let token = match self.auth {
            Auth::None => None,
            _ => self.secrets.get(&self.name).await.map_err(|error| SourceError::from(&error))?,
        };
        let http = Http::new(&self.url, self.auth, token, now)?;
        let answer = self.exchange(&http, text, results).await;
        if let Err(SourceError::Paused(until)) = &answer {
            self.pauses.pause(&self.name, *until).await;
        }
        answer
    }

    async fn exchange(
        &self,
        http: &Http,
        text: &str,
        results: usize,
    ) -> Result<Vec<items::Item>, SourceError> {
        let text = |most: usize| text.chars().filter(|c| *c != '\0').take(most).collect::<String>();
        match self.protocol {
            Protocol::Search => {
                let mut url = self.url.clone();
                url.query_pairs_mut()
                    .append_pair(&self.query_param, &text(ADDRESS_CHARS))
                    .append_pair(&self.limit_param, &results.to_string());
                let received = http.send(url, Method::Get, &[]).await?;
                items::read(reply::plain(&received)?)
            }
            Protocol::JsonRpc => {
                let params = json!({ &self.query_param: text(QUESTION_CHARS), &self.limit_param: results });
                let call = call(1, &self.method, &params);
                let received = http.send(self.url.clone(), Method::Post(&call), &[]).await?;
                items::read(reply::result(&received, 1, http.secret())?)
            }
            Protocol::Mcp => {
                let arguments =
                    json!({ &self.query_param: text(QUESTION_CHARS), &self.limit_param: results });
                let call = call(1, "tools/call", &json!({ "name": self.tool, "arguments": arguments }));
                let result = match self.tool_call(http, &call, &[]).await {
                    Err(reply::Failure::WantsSession) => {
                        let session = self.initialize(http).await?;
                        self.tool_call(http, &call, &session).await
                    }
                    other => other,
                };
                reply::tool_result(&result.map_err(reply::Failure::into_error)?)
            }
        }
    }

    async fn tool_call(
        &self,
        http: &Http,
        call: &Value,
        session: &[(&'static str, String)],
    ) -> Result<Value, reply::Failure> {
        let received = http.send_mcp(self.url.clone(), Method::Post(call), session).await?;
        reply::tool_reply(&received, 1, http.secret(), session.is_empty())
    }

    /// The handshake of servers that keep a session. It is not ended with a request of its own: the answer is not
    /// kept waiting for it, and servers end sessions nobody uses.
    async fn initialize(&self, http: &Http) -> Result<Vec<(&'static str, String)>, SourceError> {
        let version = "2025-06-18";
        let hello = call(
            0,
            "initialize",
            &json!({
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": { "name": "pao", "version": env!("CARGO_PKG_VERSION") },
            }),
        );
        let received = http
            .send_mcp(self.url.clone(), Method::Post(&hello), &[])
            .await
            .map_err(reply::Failure::into_error)?;
        let session = received.session.clone();
        let result =
            reply::tool_reply(&received, 0, http.secret(), false).map_err(reply::Failure::into_error)?;
        let agreed = result.get("protocolVersion").and_then(Value::as_str).unwrap_or(version);
        let mut headers = vec![("mcp-protocol-version", agreed.to_owned())];
        headers.extend(session.map(|id| ("mcp-session-id", id)));
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        http.notify(self.url.clone(), &ready, &headers).await?;
        Ok(headers)
    }

    fn protocol_phrase(&self) -> String {
        match self.protocol {
            Protocol::JsonRpc => format!("JSON-RPC method {}", self.method),
            Protocol::Mcp => format!("MCP tool {}", self.tool),
            Protocol::Search => "search".into(),
        }
    }

    /// Scheme, host and path; a query might hold what nobody should see.
    fn place(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.to_string()
    }
}

fn call(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[async_trait::async_trait]
impl Source for WorkerSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn describe(&self) -> String {
        format!("{} at {}", self.protocol_phrase(), self.place())
    }

    async fn recall(&self, question: &Question, limits: Limits) -> Result<Answer, SourceError> {
        if question.text.trim().is_empty() {
            return Ok(Answer::default());
        }
        let found = within(limits.deadline, self.ask(&question.text, limits.snippets)).await?;
        let snippets = items::snippets(found, &self.name, limits.snippets);
        Ok(Answer { snippets, note: None })
    }

    async fn check(&self, limits: Limits) -> Result<String, SourceError> {
        let found = within(limits.deadline, self.ask("memory", 1)).await?;
        let said = if found.is_empty() { "no result" } else { "a result" };
        Ok(format!("{} answers a trial question with {said}", self.protocol_phrase()))
    }
}

#[cfg(test)]
mod tests;

//! Sending, and receiving no more than is wanted: one megabyte, no redirects, no reply of a wrong status.

use std::sync::Once;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use serde_json::Value;

use super::{Auth, is_loopback, reply};
use crate::host::secrets::Secret;
use crate::source::SourceError;

/// A longer reply is not read to its end.
const BODY: usize = 1 << 20;

/// The longest pause a server can ask for.
const PAUSE: TimeDelta = TimeDelta::hours(24);

/// How a request is made.
#[derive(Clone, Copy)]
pub(super) enum Method<'a> {
    Get,
    Post(&'a Value),
}

/// A reply that arrived whole with a status of success, and is not a web page.
pub(super) struct Received {
    pub status: u16,
    pub events: bool,
    pub body: Vec<u8>,
    pub session: Option<String>,
}

/// A client for one question.
pub(super) struct Http {
    client: Client,
    token: Option<Secret>,
    wanted: bool,
    now: DateTime<Utc>,
}

impl Http {
    pub(super) fn new(
        url: &Url,
        auth: Auth,
        token: Option<Secret>,
        now: DateTime<Utc>,
    ) -> Result<Self, SourceError> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Fails only where the process has chosen one already, which serves as well.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let mut headers = HeaderMap::new();
        if let Some(token) = &token {
            let (name, value) = match auth {
                Auth::ApiKey => ("x-api-key", token.reveal().trim().to_owned()),
                _ => ("authorization", format!("Bearer {}", token.reveal().trim())),
            };
            let mut value = HeaderValue::from_str(&value).map_err(|_| {
                SourceError::Misconfigured("the stored token has characters that no header can carry".into())
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let mut client = Client::builder()
            .user_agent(concat!("pao/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false);
        if is_loopback(url) {
            client = client.no_proxy();
        }
        if url.scheme() == "http" {
            // No redirect is followed, so no certificate is ever looked at; reading the machine's takes milliseconds.
            client = client.tls_certs_only([]);
        }
        let client = client.build().map_err(|_| {
            SourceError::Misconfigured("this machine's certificates or proxy settings".into())
        })?;
        Ok(Self { client, token, wanted: auth != Auth::None, now })
    }

    /// What must not appear in an error.
    pub(super) fn secret(&self) -> Option<&str> {
        self.token.as_ref().map(|token| token.reveal().trim())
    }

    /// Sends, and takes a reply only if its status says success.
    pub(super) async fn send(
        &self,
        url: Url,
        method: Method<'_>,
        headers: &[(&'static str, String)],
    ) -> Result<Received, SourceError> {
        let response = self.request(url, method, "application/json", headers).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refusal(status, response.headers()));
        }
        receive(response, None).await
    }

    /// The same for MCP, whose servers may answer with events and refuse what has no session.
    pub(super) async fn send_mcp(
        &self,
        url: Url,
        method: Method<'_>,
        headers: &[(&'static str, String)],
    ) -> Result<Received, reply::Failure> {
        let accept = "application/json, text/event-stream";
        let response = self.request(url, method, accept, headers).await?;
        let status = response.status();
        if !status.is_success() {
            let error = self.refusal(status, response.headers());
            let asks = matches!(status.as_u16(), 400 | 404 | 422) && headers.is_empty();
            let hello = matches!(method, Method::Post(call) if call["method"] == "initialize");
            return Err(if asks && !hello { reply::Failure::WantsSession } else { error.into() });
        }
        let id = match method {
            Method::Post(call) => call["id"].as_u64(),
            Method::Get => None,
        };
        Ok(receive(response, id).await?)
    }

    /// Sends what has no reply.
    pub(super) async fn notify(
        &self,
        url: Url,
        message: &Value,
        headers: &[(&'static str, String)],
    ) -> Result<(), SourceError> {
        let accept = "application/json, text/event-stream";
        let response = self.request(url, Method::Post(message), accept, headers).await?;
        let status = response.status();
        if status.is_success() { Ok(()) } else { Err(self.refusal(status, response.headers())) }
    }

    async fn request(
        &self,
        url: Url,
        method: Method<'_>,
        accept: &'static str,
        headers: &[(&'static str, String)],
    ) -> Result<Response, SourceError> {
        let mut request = match method {
            Method::Get => self.client.get(url),
            Method::Post(body) => self.client.post(url).json(body),
        };
        request = request.header(ACCEPT, accept);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        request.send().await.map_err(|e| broken(&e))
    }

    fn refusal(&self, status: StatusCode, headers: &HeaderMap) -> SourceError {
        let code = status.as_u16();
        if matches!(code, 429 | 503)
            && let Some(until) =
                headers.get(RETRY_AFTER).and_then(|v| retry_after(v.to_str().ok()?, self.now))
        {
            return SourceError::Paused(until);
        }
        match code {
            300..400 => SourceError::BadReply(format!("HTTP {code}: redirects are not followed")),
            401 | 403 if self.wanted && self.token.is_none() => {
                SourceError::Refused(format!("HTTP {code}, and no token is stored for this source"))
            }
            401 | 403 => SourceError::Refused(format!("HTTP {code}: the token is not accepted")),
            404 | 405 => SourceError::Refused(format!("HTTP {code}: there is no such endpoint")),
            429 => SourceError::Refused("HTTP 429: too many requests".into()),
            400..500 => SourceError::Refused(format!("HTTP {code}")),
            502..=504 => SourceError::Unreachable(format!("HTTP {code}")),
            _ => SourceError::BadReply(format!("HTTP {code}")),
        }
    }
}

/// Seconds or an HTTP date, at most a day ahead; `None` where it is neither or has passed.
fn retry_after(value: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let value = value.trim();
    let until = match value.parse::<u32>() {
        Ok(seconds) => now + Duration::from_secs(u64::from(seconds)),
        Err(_) => DateTime::<Utc>::from(httpdate::parse_http_date(value).ok()?),
    };
    (until > now).then(|| until.min(now + PAUSE))
}

/// Reads a body up to its limit. With `id`, an event stream is read only until the reply to that call is in it: such
/// a stream may stay open.
async fn receive(mut response: Response, id: Option<u64>) -> Result<Received, SourceError> {
    let status = response.status().as_u16();
    let header = |name: &str| response.headers().get(name).and_then(|v| v.to_str().ok());
    let kind = header(CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if matches!(kind.as_str(), "text/html" | "application/xhtml+xml") {
        return Err(SourceError::BadReply(format!("HTTP {status} with a web page")));
    }
    let events = kind == "text/event-stream";
    // Small Workers forget the type or say plain text; whether it is JSON, reading it will tell.
    let readable = events || kind.is_empty() || kind == "text/plain" || kind.ends_with("json");
    if !readable {
        return Err(SourceError::BadReply(format!("HTTP {status} with a type other than JSON")));
    }
    let session = header("mcp-session-id").filter(|id| id.len() <= 256).map(str::to_owned);
    let too_long = || SourceError::BadReply(format!("HTTP {status} with more than 1 MB"));
    if response.content_length().is_some_and(|length| length > BODY as u64) {
        return Err(too_long());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| broken(&e))? {
        if body.len() + chunk.len() > BODY {
            return Err(too_long());
        }
        body.extend_from_slice(&chunk);
        if let (true, Some(id)) = (events, id)
            && reply::event_with(&body, id).is_some()
        {
            break;
        }
    }
    Ok(Received { status, events, body, session })
}

/// What went wrong on the way; never with the address, whose query holds the question.
fn broken(error: &reqwest::Error) -> SourceError {
    if error.is_timeout() {
        return SourceError::TimedOut(Duration::ZERO);
    }
    if error.is_connect() {
        return SourceError::Unreachable(
            if from_tls(error) { "the TLS handshake failed" } else { "nobody listens there" }.into(),
        );
    }
    if error.is_builder() {
        return SourceError::Misconfigured("the request cannot be made with these settings".into());
    }
    SourceError::Unreachable("the connection broke before the reply was complete".into())
}

fn from_tls(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(e) = cause {
        let inner = e.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if e.is::<rustls::Error>()
            || inner.is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>)
        {
            return true;
        }
        cause = e.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;

    use super::*;

    #[test]
    fn a_pause_is_read_from_seconds_or_a_date_and_has_an_end() {
        let now = Utc.with_ymd_and_hms(2026, 11, 30, 12, 0, 0).unwrap();
        let after = |value: &str| retry_after(value, now).map(|t| (t - now).num_seconds());
        assert_eq!(after("120"), Some(120));
        assert_eq!(after("Mon, 30 Nov 2026 12:05:00 GMT"), Some(300));
        assert_eq!(after("4294967295"), Some(86_400));
        assert_eq!(after("Fri, 31 Dec 9999 23:59:59 GMT"), Some(86_400));
        for nothing in ["0", "-1", "soon", "", "Mon, 30 Nov 2020 12:05:00 GMT", "99999999999999999999"] {
            assert_eq!(after(nothing), None, "{nothing}");
        }
    }
}

//! Asks the running app, mostly for a secret. Whoever listens there must be this very user; nothing is said to anybody else.

use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;

use super::super::Host;
use super::frame::{self, Reply, Request};
use super::{SecretError, place};

/// How long the app may take to be reached and to say that it has understood. It answers at once or not at all; only
/// the store behind it may take longer.
const PROMPT: Duration = Duration::from_secs(2);

/// A connection to the app; `None` where it does not run.
pub(in super::super) async fn reach(host: &Host, name: &str) -> Result<Option<UnixStream>, SecretError> {
    let socket = place::socket(host);
    if !place::folder_is_ours(&socket)? || !place::socket_is_ours(&socket)? {
        return Ok(None);
    }
    let failed = |why| Err(SecretError::App { name: name.into(), why });
    match timeout(PROMPT, UnixStream::connect(&socket)).await {
        Ok(Ok(stream)) if place::peer_is_us(&stream) => Ok(Some(stream)),
        Ok(Ok(_)) => Err(SecretError::Untrusted { path: socket, why: "another user listens there" }),
        // What is left of an app that was killed.
        Ok(Err(e))
            if matches!(e.kind(), std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::NotFound) =>
        {
            Ok(None)
        }
        Ok(Err(_)) => failed("cannot be reached"),
        Err(_) => failed("does not answer"),
    }
}

/// Why the app gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// It says nothing.
    Silent,
    /// It has heard, and what it has to do for an answer takes too long.
    Slow,
    /// It closed the connection.
    Closed,
    /// It is of another version.
    Other,
    /// More was to be said than it takes.
    TooLong,
}

/// Says it to the app and waits for the answer: at most that long for what it has to do for it.
pub(in super::super) async fn exchange(
    mut stream: UnixStream,
    request: &Request,
    limit: Duration,
) -> Result<Reply, Unanswered> {
    let bytes = frame::request(request);
    if bytes.len() > frame::MOST {
        return Err(Unanswered::TooLong);
    }
    let said = async {
        frame::send(&mut stream, &bytes).await?;
        frame::receive(&mut stream).await
    };
    let mut reply = timeout(PROMPT, said).await.map_err(|_| Unanswered::Silent)?;
    let mut heard = reply.as_deref().ok().and_then(frame::read_reply);
    if heard == Some(Reply::Heard) {
        // The store's own limit is the app's; this only outlasts it.
        reply = timeout(limit, frame::receive(&mut stream)).await.map_err(|_| Unanswered::Slow)?;
        heard = reply.as_deref().ok().and_then(frame::read_reply);
    }
    match (reply, heard) {
        (Err(_), _) => Err(Unanswered::Closed),
        (Ok(_), None | Some(Reply::Heard | Reply::Misread)) => Err(Unanswered::Other),
        (Ok(_), Some(reply)) => Ok(reply),
    }
}

/// The same about a secret.
pub(super) async fn ask(
    stream: UnixStream,
    request: &Request,
    limit: Duration,
) -> Result<Reply, SecretError> {
    let name = request.name();
    let failed = |why| SecretError::App { name: name.to_string(), why };
    exchange(stream, request, limit).await.map_err(|unanswered| match unanswered {
        Unanswered::Silent => failed("does not answer"),
        Unanswered::Slow => SecretError::Silent { name: name.into(), after: limit },
        Unanswered::Closed => failed("closed the connection"),
        Unanswered::Other => failed("is of another version"),
        Unanswered::TooLong => super::Fault::TooLong.of(name, limit),
    })
}

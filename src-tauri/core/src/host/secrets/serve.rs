//! The app's side: it listens on a socket that only this user reaches, and answers one question per connection.
//!
//! Whoever sends garbage, half a message, too much or nothing costs one place of a few for a short while and nothing
//! else. What is asked and answered is never logged.

use std::fs::Permissions;
use std::future::Future;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::super::{Host, files};
use super::frame::{self, Reply, Request};
use super::{SecretError, place};

/// How many are served at once.
const AT_ONCE: usize = 32;
/// How long a caller may take to say what it wants, or to take the answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// The socket is there as long as this lives.
#[derive(Debug)]
pub struct Service {
    socket: PathBuf,
    mark: Option<(u64, u64)>,
    task: JoinHandle<()>,
    _only: files::Lock,
}

impl Service {
    /// Whether the socket still stands where callers look for it.
    pub fn stands(&self) -> bool {
        self.mark.is_some() && mark(&self.socket) == self.mark
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
        if self.stands() {
            let _ = files::remove_if_there(&self.socket);
        }
    }
}

fn mark(socket: &std::path::Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(socket).ok().map(|meta| (meta.dev(), meta.ino()))
}

/// Begins to listen and answers with `answer`. What an app that was killed left there is put out of the way; what
/// others put there is not.
pub async fn serve<A, F>(host: &Host, answer: A) -> Result<Service, SecretError>
where
    A: Fn(Request) -> F + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    let socket = place::socket(host);
    let file = |source| SecretError::File { path: socket.clone(), source };
    let folder = socket.parent().unwrap_or(&host.pao_home).to_path_buf();
    files::private_dir(&folder).map_err(file)?;
    place::folder_is_ours(&socket)?;
    // Held for life, and let go of by the kernel: of two apps only one listens, whatever became of the other.
    let only = files::lock(&folder.join("app.lock"), Duration::ZERO).await.map_err(file)?;
    if place::socket_is_ours(&socket)? {
        files::remove_if_there(&socket).map_err(file)?;
    }
    let listener = UnixListener::bind(&socket).map_err(file)?;
    // Until now the folder kept others out.
    std::fs::set_permissions(&socket, Permissions::from_mode(0o600)).map_err(file)?;
    let task = tokio::spawn(listen(listener, Arc::new(answer)));
    Ok(Service { mark: mark(&socket), socket, task, _only: only })
}

async fn listen<A, F>(listener: UnixListener, answer: Arc<A>)
where
    A: Fn(Request) -> F + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors: no reason to ask again at once.
                tracing::warn!(%error, "nobody can reach the app");
                tokio::time::sleep(PATIENCE).await;
                continue;
            }
        };
        if !place::peer_is_us(&stream) {
            tracing::warn!("another user asked the app for a secret, and was sent away");
            continue;
        }
        let answer = Arc::clone(&answer);
        tokio::spawn(async move {
            one(stream, answer.as_ref()).await;
            drop(place);
        });
    }
}

/// One question, one answer. Who goes away meanwhile is not missed.
async fn one<A, F>(mut stream: UnixStream, answer: &A)
where
    A: Fn(Request) -> F + Send + Sync,
    F: Future<Output = Reply> + Send + 'static,
{
    let Ok(Ok(bytes)) = timeout(PATIENCE, frame::receive(&mut stream)).await else { return };
    let reply = match frame::read_request(&bytes) {
        None => Reply::Misread,
        Some(request) => {
            let heard = frame::reply(&Reply::Heard);
            let Ok(Ok(())) = timeout(PATIENCE, frame::send(&mut stream, &heard)).await else { return };
            answer(request).await
        }
    };
    let _ = timeout(PATIENCE, frame::send(&mut stream, &frame::reply(&reply))).await;
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;

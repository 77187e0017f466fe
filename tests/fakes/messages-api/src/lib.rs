//! A scripted stand-in of three model APIs on 127.0.0.1 (Anthropic's Messages, `OpenAI`'s Responses, Gemini), so that a real
//! host agent runs against it with no account and no network.
//!
//! It answers what such an agent asks (answers as JSON or as a stream, token counts, models, connectivity checks),
//! says what its [`Script`] tells it to say, and keeps every [`Request`] for whoever wants to prove what arrived. It
//! is no model: nothing it says depends on meaning. It never leaves loopback and never stores a credential.
//!
//! ```no_run
//! let standin = messages_api::Standin::start(messages_api::Script::saying("hello"))?;
//! // … run an agent with ANTHROPIC_BASE_URL=standin.url() …
//! let first = standin.first_with_tools();
//! # Ok::<(), std::io::Error>(())
//! ```

mod dialect;
mod gemini;
mod message;
mod request;
mod responses;
mod routes;
mod script;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

pub use dialect::Dialect;
pub use request::Request;
pub use script::{Reply, Rule, Script, ScriptError, Tool};

use request::Log;
use script::Prompter;

/// How to start, where the defaults of [`Standin::start`] do not fit.
#[derive(Debug, Default)]
pub struct Options {
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// Every request is appended here as one JSON line.
    pub log: Option<PathBuf>,
    /// A script that is read again whenever it changes; replaces `script`.
    pub script_file: Option<PathBuf>,
    /// What to say.
    pub script: Script,
}

/// A running stand-in on a thread of its own. Dropping it stops it and closes its connections.
#[derive(Debug)]
pub struct Standin {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the routes share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) prompter: Prompter,
    pub(crate) log: Log,
}

impl Standin {
    /// Starts on a free port.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_with(Options { script, ..Options::default() })
    }

    /// Starts as told. Fails where the port is taken or the log cannot be opened.
    pub fn start_with(options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            prompter: Prompter::new(options.script, options.script_file),
            log: Log::open(options.log.as_deref())?,
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("messages-api".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = routes::serve(listener, served) => {}
                    _ = stopped => {}
                }
            });
            // Replies that are still waiting or streaming end here, with their connections.
            runtime.shutdown_background();
        })?;
        Ok(Self { address, state, stop: Some(stop), thread: Some(thread) })
    }

    /// What `ANTHROPIC_BASE_URL` or `GOOGLE_GEMINI_BASE_URL` should be; with `/v1` behind it, the `base_url` of an
    /// `OpenAI` provider.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.state.log.all()
    }

    /// The first request of an agent's own loop: a message with tools. Titles, summaries and token counts have none.
    pub fn first_with_tools(&self) -> Option<Request> {
        self.requests().into_iter().find(Request::has_tools)
    }

    /// Waits until a request fulfils the condition; `None` when none did in time.
    pub fn wait_for(&self, timeout: Duration, condition: impl Fn(&Request) -> bool) -> Option<Request> {
        let start = Instant::now();
        loop {
            if let Some(found) = self.requests().into_iter().find(|r| condition(r)) {
                return Some(found);
            }
            if start.elapsed() >= timeout {
                return None;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Replaces the script; what was already taken from the old one is forgotten.
    pub fn set_script(&self, script: Script) {
        self.state.prompter.set(script);
    }

    /// Forgets the requests seen so far. The log file keeps them.
    pub fn forget(&self) {
        self.state.log.forget();
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has already been printed, and there is nobody here to hand it to.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;

//! Ctrl-C and its kin: the first one asks the work to stop and take back what it began; later ones change nothing.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pao_core::Error;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::render::Screen;

/// Watches for signals while work is under way.
#[derive(Debug, Clone)]
pub struct Interrupt {
    /// Fires at the first signal.
    pub cancel: CancellationToken,
    /// Another program has the terminal, so Ctrl-C is meant for it.
    elsewhere: Arc<AtomicBool>,
}

impl Interrupt {
    /// Starts watching; `stopping` is said at the first signal, and nothing at all where it is empty.
    pub fn watch(screen: Screen, stopping: &'static str) -> Result<Self, Error> {
        let refused = |e: std::io::Error| Error::internal(format!("signals cannot be watched: {e}"));
        let mut interrupt = signal(SignalKind::interrupt()).map_err(refused)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(refused)?;
        let mut hangup = signal(SignalKind::hangup()).map_err(refused)?;
        let watch = Self { cancel: CancellationToken::new(), elsewhere: Arc::default() };
        let (cancel, elsewhere) = (watch.cancel.clone(), Arc::clone(&watch.elsewhere));
        tokio::spawn(async move {
            loop {
                let typed = tokio::select! {
                    _ = interrupt.recv() => true,
                    _ = terminate.recv() => false,
                    _ = hangup.recv() => false,
                };
                if typed && elsewhere.load(Ordering::Relaxed) {
                    continue;
                }
                let again = cancel.is_cancelled();
                screen.aside(if again {
                    "still at it: what was begun is being taken back"
                } else {
                    stopping
                });
                cancel.cancel();
            }
        });
        Ok(watch)
    }

    /// Watches while something is shown for as long as somebody looks: it ends without a word at a signal, or when
    /// nobody reads any more, as behind `| head`, which a process that writes nothing is not told by itself.
    pub fn of_viewer(screen: Screen) -> Result<Self, Error> {
        let watch = Self::watch(screen, "")?;
        let cancel = watch.cancel.clone();
        // A thread of its own, which ends with the process: nothing but the end of the reader wakes it. Without one the
        // next line that is written tells.
        let _ = std::thread::Builder::new().name("reader".into()).spawn(move || {
            let stdout = std::io::stdout();
            let mut ends = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
            loop {
                match poll(&mut ends, PollTimeout::NONE) {
                    Err(Errno::EINTR) => {}
                    Ok(_) => return cancel.cancel(),
                    Err(_) => return,
                }
            }
        });
        Ok(watch)
    }

    /// Runs something that has the terminal to itself.
    pub fn elsewhere<T>(&self, run: impl FnOnce() -> T) -> T {
        self.elsewhere.store(true, Ordering::Relaxed);
        let result = run();
        self.elsewhere.store(false, Ordering::Relaxed);
        result
    }
}

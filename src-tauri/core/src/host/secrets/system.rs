//! The system's store: asked in a thread of its own, because it may ask the user, and may hang.
//!
//! The app remembers what it read: a value is read once, whoever wants it, and an answer that comes after everybody
//! gave up is kept for the next one, so that the user is not asked again for what was just allowed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::super::os;
use super::{Fault, SELF_TEST, SERVICE, Secret};

/// What reading gave.
type Answer = Result<Option<Secret>, Fault>;

/// Has a thread of its own do it, and waits at most that long.
pub(super) async fn apart<T: Send + 'static>(
    limit: Duration,
    job: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    // Given up, the call goes on in its own thread: a plain one, since the runtime waits for its own at the end.
    let (send, receive) = tokio::sync::oneshot::channel();
    thread(move || drop(send.send(job())))?;
    match timeout(limit, receive).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(Fault::BrokeDown),
        Err(_) => Err(Fault::Silent),
    }
}

fn thread(job: impl FnOnce() + Send + 'static) -> Result<(), Fault> {
    std::thread::Builder::new().name("secrets".into()).spawn(job).map(drop).map_err(|_| Fault::NoThread)
}

pub(super) fn read(name: &str) -> Answer {
    match entry(name)?.get_password() {
        Ok(value) => Ok(Some(Secret::new(value))),
        Err(keyring_core::Error::NoEntry) => Ok(None),
        Err(e) => Err(meaning(&e)),
    }
}

pub(super) fn write(name: &str, value: &Secret) -> Result<(), Fault> {
    entry(name)?.set_password(value.reveal()).map_err(|e| meaning(&e))
}

/// Says whether there was one.
pub(super) fn remove(name: &str) -> Result<bool, Fault> {
    match entry(name)?.delete_credential() {
        Ok(()) => Ok(true),
        Err(keyring_core::Error::NoEntry) => Ok(false),
        Err(e) => Err(meaning(&e)),
    }
}

fn entry(name: &str) -> Result<keyring_core::Entry, Fault> {
    os::secret_entry(SERVICE, name).map_err(|e| {
        tracing::debug!(error = %cause(&e), "no credential store");
        Fault::NoStore
    })
}

/// What a store's error means. Its own text speaks of protocols and goes to the log only.
pub(super) fn meaning(error: &keyring_core::Error) -> Fault {
    let fault = match error {
        // These carry the value that could not be read; it is not quoted anywhere.
        keyring_core::Error::BadEncoding(_) | keyring_core::Error::BadDataFormat(..) => {
            return Fault::NotText;
        }
        keyring_core::Error::NoStorageAccess(_) => Fault::Locked,
        keyring_core::Error::NoDefaultStore => Fault::NoStore,
        keyring_core::Error::TooLong(..) => Fault::TooLong,
        keyring_core::Error::Ambiguous(_) => Fault::Several,
        keyring_core::Error::PlatformFailure(e) => os::secret_fault(e.as_ref()).unwrap_or(Fault::Other),
        _ => Fault::Other,
    };
    tracing::debug!(error = %cause(error), "the credential store");
    fault
}

fn cause(error: &keyring_core::Error) -> String {
    match error {
        keyring_core::Error::PlatformFailure(e) | keyring_core::Error::NoStorageAccess(e) => e.to_string(),
        other => other.to_string(),
    }
}

/// What this process remembers because it is the app.
static OWNER: OnceLock<Owner> = OnceLock::new();

/// From now on this process is the app: it reads the store for everybody, and remembers what it read.
pub fn own() {
    OWNER.get_or_init(|| Owner::new(read));
}

/// What the app remembers; `None` in every other process.
pub(super) fn owner() -> Option<&'static Owner> {
    OWNER.get()
}

/// What the app remembers of the store.
pub(super) struct Owner {
    read: fn(&str) -> Answer,
    slots: Arc<Mutex<Slots>>,
}

#[derive(Default)]
struct Slots {
    by_name: HashMap<String, Slot>,
    last: Option<Fault>,
}

enum Slot {
    Kept(Secret),
    Asking(watch::Receiver<Option<Answer>>),
}

impl Owner {
    pub(super) fn new(read: fn(&str) -> Answer) -> Self {
        Self { read, slots: Arc::default() }
    }

    /// The value, read at most once. Everybody who asks meanwhile waits for the same answer.
    pub(super) async fn get(&self, name: &str, limit: Duration) -> Answer {
        let mut answer = {
            let mut slots = lock(&self.slots);
            match slots.by_name.get(name) {
                Some(Slot::Kept(value)) => return Ok(Some(value.clone())),
                Some(Slot::Asking(answer)) => answer.clone(),
                None => {
                    let (tell, answer) = watch::channel(None);
                    slots.by_name.insert(name.into(), Slot::Asking(answer.clone()));
                    if let Err(fault) = self.begin(name, tell, answer.clone()) {
                        slots.by_name.remove(name);
                        return Err(fault);
                    }
                    answer
                }
            }
        };
        let answer = timeout(limit, answer.wait_for(Option::is_some)).await;
        match answer {
            Ok(Ok(answer)) => answer.clone().unwrap_or(Err(Fault::BrokeDown)),
            Ok(Err(_)) => {
                lock(&self.slots).by_name.remove(name);
                Err(Fault::BrokeDown)
            }
            Err(_) => {
                self.fared(Some(Fault::Silent));
                Err(Fault::Silent)
            }
        }
    }

    fn begin(
        &self,
        name: &str,
        tell: watch::Sender<Option<Answer>>,
        own: watch::Receiver<Option<Answer>>,
    ) -> Result<(), Fault> {
        let (read, name, slots) = (self.read, name.to_string(), Arc::clone(&self.slots));
        thread(move || {
            let answer = read(&name);
            {
                let mut slots = lock(&slots);
                slots.last = answer.as_ref().err().copied();
                let mine =
                    matches!(slots.by_name.get(&name), Some(Slot::Asking(there)) if there.same_channel(&own));
                if mine {
                    slots.by_name.remove(&name);
                    // What a self-test is to prove must come from the store.
                    if let Ok(Some(value)) = &answer
                        && !name.starts_with(SELF_TEST)
                    {
                        slots.by_name.insert(name, Slot::Kept(value.clone()));
                    }
                }
            }
            // Whoever asked may have gone.
            let _ = tell.send(Some(answer));
        })
    }

    /// What is known of it without asking anybody.
    pub(super) fn known(&self, name: &str) -> bool {
        matches!(lock(&self.slots).by_name.get(name), Some(Slot::Kept(_)))
    }

    /// It was changed: what was read before, or is being read, no longer holds.
    pub(super) fn forget(&self, name: &str) {
        lock(&self.slots).by_name.remove(name);
    }

    /// Notes how the store fared when it was last asked.
    pub(super) fn fared(&self, fault: Option<Fault>) {
        lock(&self.slots).last = fault;
    }

    /// Why the store gave nothing when it was last asked.
    pub(super) fn last(&self) -> Option<Fault> {
        lock(&self.slots).last
    }
}

fn lock(slots: &Mutex<Slots>) -> MutexGuard<'_, Slots> {
    slots.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_value_is_read_once_whoever_wants_it_and_again_after_it_was_changed() {
        static READ: AtomicUsize = AtomicUsize::new(0);
        let owner = Owner::new(|_| {
            std::thread::sleep(Duration::from_millis(50));
            Ok(Some(Secret::new(READ.fetch_add(1, Ordering::SeqCst).to_string())))
        });
        let all = futures::future::join_all((0..20).map(|_| owner.get("facts", LONG))).await;
        assert!(all.iter().all(|value| value.as_ref().unwrap().as_ref().unwrap().reveal() == "0"));
        assert!(owner.known("facts") && !owner.known("other"));
        owner.forget("facts");
        assert_eq!(owner.get("facts", LONG).await.unwrap().unwrap().reveal(), "1");
        assert_eq!(READ.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn an_answer_that_comes_after_everybody_gave_up_is_not_asked_for_again() {
        static READ: AtomicUsize = AtomicUsize::new(0);
        let owner = Owner::new(|_| {
            READ.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(300));
            Ok(Some(Secret::new("late")))
        });
        let short = Duration::from_millis(20);
        assert_eq!(owner.get("facts", short).await, Err(Fault::Silent));
        assert_eq!(owner.get("facts", short).await, Err(Fault::Silent));
        assert_eq!(owner.last(), Some(Fault::Silent));
        assert_eq!(owner.get("facts", LONG).await.unwrap().unwrap().reveal(), "late");
        assert_eq!(owner.get("facts", short).await.unwrap().unwrap().reveal(), "late");
        assert_eq!((READ.load(Ordering::SeqCst), owner.last()), (1, None));
    }

    #[tokio::test]
    async fn what_was_refused_or_is_not_there_is_asked_for_again_and_so_is_a_self_test() {
        static READ: AtomicUsize = AtomicUsize::new(0);
        let owner = Owner::new(|name| {
            READ.fetch_add(1, Ordering::SeqCst);
            match name {
                "denied" => Err(Fault::Denied),
                "absent" => Ok(None),
                _ => Ok(Some(Secret::new("x"))),
            }
        });
        for name in ["denied", "absent", "self-test-1"] {
            let first = owner.get(name, LONG).await;
            assert_eq!(owner.get(name, LONG).await, first);
        }
        assert_eq!(READ.load(Ordering::SeqCst), 6);
    }

    #[tokio::test]
    async fn a_reader_that_breaks_down_is_a_fault_and_no_wait() {
        let owner = Owner::new(|_| panic!("on purpose"));
        assert_eq!(owner.get("facts", LONG).await, Err(Fault::BrokeDown));
        assert_eq!(owner.get("facts", LONG).await, Err(Fault::BrokeDown));
    }
}

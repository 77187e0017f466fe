//! Secrets: the Keychain or Secret Service, a private file where the user chose that, or a variable for this run.
//!
//! Values are read when needed, handed over and forgotten (only the app remembers them, in memory); they are never
//! logged, never part of an error and never given to a program as an argument. Stores may ask the user and may hang, so
//! each call has a deadline. On macOS every program that reads would be one more that asks, so `pao` asks the app.

mod ask;
mod error;
mod frame;
mod place;
mod serve;
mod system;
mod way;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub(super) use self::ask::{Unanswered, exchange, reach};
pub use self::error::{Fault, SecretError};
pub use self::frame::{Launch, Reply, Request};
pub use self::serve::{Service, serve};
pub use self::system::own;
use self::way::{App, Store, Way, way};
use super::process::Run;
use super::signing::Signing;
use super::{Host, files, os, probe};

/// Under which our items are filed.
const SERVICE: &str = "pao";

/// How long the system's store may take: it may be asking the user to unlock it.
const LIMIT: Duration = Duration::from_secs(30);

/// How long the app may take to hear that a value was changed by somebody else.
const TOLD: Duration = Duration::from_secs(1);

/// What the name of a self-test's secret begins with.
const SELF_TEST: &str = "self-test-";

/// Whether a secret of that name is a self-test's own, and nobody's.
pub fn is_self_test(name: &str) -> bool {
    name.starts_with(SELF_TEST)
}

/// A secret's value. Shows itself to nobody by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where secrets are kept.
#[derive(Debug, Clone)]
pub struct SecretStore {
    host: Host,
    store: Store,
    limit: Duration,
}

/// The way to a secret, with what is needed to go it.
enum Open {
    File,
    Own,
    Ask(tokio::net::UnixStream),
}

impl SecretStore {
    /// The store of that name in the configuration: `auto`, `keyring`, `app` or `file`.
    pub fn new(host: &Host, store: &str) -> Result<Self, SecretError> {
        let known = Store::ALL.into_iter().find(|(name, _)| *name == store);
        let (_, store) = known.ok_or_else(|| SecretError::Unheard(store.to_string()))?;
        Ok(Self { host: host.clone(), store, limit: LIMIT })
    }

    /// The same store, waiting at most that long for an answer.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Where values are kept, for people.
    pub fn place(&self) -> String {
        match self.store {
            Store::Auto | Store::Keyring => os::SECRET_STORE.to_string(),
            Store::App => format!("{}, through the app", os::SECRET_STORE),
            Store::File => self.host.display(&self.folder()),
        }
    }

    /// What there is to say about it, as far as that is known without asking the store for anything: even looking
    /// whether there is one would start it.
    pub async fn note(&self) -> Option<String> {
        if self.store == Store::File {
            return Some("plain files that only you can read".into());
        }
        if let Some(fault) = system::owner().and_then(system::Owner::last) {
            let error = fault.of(SELF_TEST, self.limit);
            return Some(format!("when last asked: {error}; {}", error.next()));
        }
        self.signed().await.map(String::from)
    }

    /// What the way we are signed means for the system's store; `None` where nothing follows from it.
    pub async fn signed(&self) -> Option<&'static str> {
        if self.store == Store::File { None } else { os::signing().await.note() }
    }

    /// Whether there is one, where that is known without asking the system's store.
    pub fn has(&self, name: &str) -> Option<bool> {
        if check(name).is_err() {
            return Some(false);
        }
        if self.host.var(&variable(name)).is_some() {
            return Some(true);
        }
        match self.store {
            Store::File => Some(self.folder().join(name).is_file()),
            _ => system::owner().filter(|owner| owner.known(name)).map(|_| true),
        }
    }

    /// A secret's value; `None` where none was set. A variable `PAO_SECRET_<NAME>` goes before any store.
    pub async fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        check(name)?;
        if let Some(value) = self.host.var(&variable(name)) {
            return Ok(Some(Secret::new(value)));
        }
        match self.open(name).await? {
            Open::File => {
                let path = self.folder().join(name);
                let file = |source| SecretError::File { path: path.clone(), source };
                let Some(bytes) = files::read_if_there(&path).map_err(file)? else { return Ok(None) };
                let text =
                    String::from_utf8(bytes).map_err(|_| file(std::io::ErrorKind::InvalidData.into()))?;
                Ok(Some(Secret::new(text)))
            }
            Open::Own => {
                let own = name.to_string();
                let read = match system::owner() {
                    Some(owner) => owner.get(name, self.limit).await,
                    None => system::apart(self.limit, move || system::read(&own)).await,
                };
                read.map_err(|fault| fault.of(name, self.limit))
            }
            Open::Ask(app) => match self.ask(app, Request::Get(name.into())).await? {
                Reply::Value(value) => Ok(Some(value)),
                _ => Ok(None),
            },
        }
    }

    /// Whether there is one, where the store has to be asked for that. No value leaves the app for it.
    pub async fn is_kept(&self, name: &str) -> Result<bool, SecretError> {
        check(name)?;
        if self.host.var(&variable(name)).is_none()
            && let Open::Ask(app) = self.open(name).await?
        {
            return Ok(self.ask(app, Request::Has(name.into())).await? != Reply::Absent);
        }
        Ok(self.get(name).await?.is_some())
    }

    /// Keeps a value.
    pub async fn set(&self, name: &str, value: &Secret) -> Result<(), SecretError> {
        check(name)?;
        match self.open(name).await? {
            Open::File => {
                let path = self.folder().join(name);
                files::private_dir(&self.folder())
                    .and_then(|()| files::write_private(&path, value.reveal().as_bytes(), false))
                    .map_err(|source| SecretError::File { path, source })
            }
            Open::Own => {
                let (own, value) = (name.to_string(), value.clone());
                self.change(name, move || system::write(&own, &value)).await
            }
            Open::Ask(app) => self.ask(app, Request::Set(name.into(), value.clone())).await.map(drop),
        }
    }

    /// Forgets a value; says whether there was one.
    pub async fn delete(&self, name: &str) -> Result<bool, SecretError> {
        check(name)?;
        match self.open(name).await? {
            Open::File => {
                let path = self.folder().join(name);
                files::remove_if_there(&path).map_err(|source| SecretError::File { path, source })
            }
            Open::Own => {
                let own = name.to_string();
                self.change(name, move || system::remove(&own)).await
            }
            Open::Ask(app) => Ok(self.ask(app, Request::Delete(name.into())).await? != Reply::Absent),
        }
    }

    /// Finds the way to a secret.
    async fn open(&self, name: &str) -> Result<Open, SecretError> {
        let mut app = None;
        let seen = if system::owner().is_some() {
            App::Ourselves
        } else {
            // Where the app is never asked, whether it runs is not even looked at.
            let matters = match self.store {
                Store::App => true,
                Store::Auto => *os::signing().await != Signing::Irrelevant,
                Store::Keyring | Store::File => false,
            };
            if matters {
                app = ask::reach(&self.host, name).await?;
            }
            if app.is_some() { App::Runs } else { App::Absent }
        };
        let signing = if self.store == Store::Auto { os::signing().await } else { &Signing::Irrelevant };
        match (way(self.store, signing, seen), app) {
            (Way::File, _) => Ok(Open::File),
            (Way::Own, _) => Ok(Open::Own),
            (Way::Ask, Some(app)) => Ok(Open::Ask(app)),
            (Way::Ask, None) | (Way::Missing, _) => Err(SecretError::NotRunning { name: name.into() }),
        }
    }

    /// Asks the app. What it could not do is an error.
    async fn ask(&self, app: tokio::net::UnixStream, request: Request) -> Result<Reply, SecretError> {
        let name = request.name();
        match ask::ask(app, &request, self.limit).await? {
            Reply::Fault(fault) => Err(fault.of(name, self.limit)),
            Reply::Unknown => {
                Err(SecretError::App { name: name.into(), why: "knows of no source of that name" })
            }
            Reply::File => Err(SecretError::App { name: name.into(), why: "cannot use its private files" }),
            reply => Ok(reply),
        }
    }

    /// Changes the system's store by our own hand. Who remembers the old value is told, the app included.
    async fn change<T: Send + 'static>(
        &self,
        name: &str,
        job: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, SecretError> {
        let done = system::apart(self.limit, job).await;
        if let Some(owner) = system::owner() {
            owner.forget(name);
            owner.fared(done.as_ref().err().copied());
        } else if let Ok(Some(app)) = ask::reach(&self.host, name).await
            && let Err(error) = ask::ask(app, &Request::Changed(name.into()), TOLD).await
        {
            tracing::debug!(%error, "the app does not know that a secret was changed");
        }
        done.map_err(|fault| fault.of(name, self.limit))
    }

    /// Proves that a value outlives the process that set it: sets one, has a second process of ours read it, and
    /// deletes it again.
    pub async fn self_test(&self) -> Result<(), SecretError> {
        let name = format!("{SELF_TEST}{}", uuid::Uuid::new_v4().simple());
        let value = Secret::new(uuid::Uuid::new_v4().simple().to_string());
        self.set(&name, &value).await?;
        let seen = self.seen_elsewhere(&name).await;
        self.delete(&name).await?;
        let fingerprint = files::sha256(value.reveal().as_bytes());
        match seen {
            Ok(seen) if seen == fingerprint => Ok(()),
            Ok(seen) if seen == ABSENT => {
                Err(SecretError::Forgets { why: "another process does not find it".into() })
            }
            Ok(_) => Err(SecretError::Forgets { why: "another process reads another value".into() }),
            Err(why) => Err(SecretError::Forgets { why }),
        }
    }

    async fn seen_elsewhere(&self, name: &str) -> Result<String, String> {
        let run = Run::new(&self.host.exe)
            .args([probe::VERB, "secret", self.store.name(), name])
            .env("PAO_HOME", &self.host.pao_home)
            .limit(self.limit);
        let out = run.output().await.map_err(|e| e.to_string())?;
        if out.success() { Ok(out.text()) } else { Err(out.error_text()) }
    }

    fn folder(&self) -> PathBuf {
        self.host.pao_home.join("secrets")
    }
}

/// The app forgets what it remembers of a secret: somebody else changed it.
pub fn changed(name: &str) {
    if let Some(owner) = system::owner() {
        owner.forget(name);
    }
}

/// What the other process prints where it finds nothing.
const ABSENT: &str = "absent";

/// The other half of [`SecretStore::self_test`]: the fingerprint of a value, never the value. Only names that a
/// self-test uses are answered.
pub(super) async fn probe(host: &Host, kind: &str, name: &str) -> Result<String, crate::Error> {
    if !name.starts_with(SELF_TEST) {
        return Err(SecretError::Name(name.to_string()).into());
    }
    let value = SecretStore::new(host, kind)?.get(name).await?;
    Ok(value.map_or_else(|| ABSENT.to_string(), |v| files::sha256(v.reveal().as_bytes())))
}

/// The variable that goes before the store.
pub fn variable(name: &str) -> String {
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("PAO_SECRET_{name}")
}

/// The name becomes a file name and part of a variable.
fn check(name: &str) -> Result<(), SecretError> {
    let fine = (1..=64).contains(&name.len())
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    if fine { Ok(()) } else { Err(SecretError::Name(name.to_string())) }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    pub fn host(dir: &Path) -> Host {
        Host {
            exe: "/nowhere/pao".into(),
            env: BTreeMap::from([("PAO_SECRET_WORKER_TOKEN".into(), "from-the-environment".into())]),
            ..Host::at(dir)
        }
    }

    #[tokio::test]
    async fn a_file_keeps_a_value_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let store = SecretStore::new(&host(dir.path()), "file").unwrap();
        assert_eq!(store.get("postgres").await.unwrap(), None);
        store.set("postgres", &Secret::new("s3cret\n")).await.unwrap();
        assert_eq!(store.get("postgres").await.unwrap().unwrap().reveal(), "s3cret\n");
        let mode = |p: &str| dir.path().join(p).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(".pao/secrets"), mode(".pao/secrets/postgres")), (0o700, 0o600));
        assert!(store.delete("postgres").await.unwrap());
        assert!(!store.delete("postgres").await.unwrap());
    }

    #[tokio::test]
    async fn a_variable_goes_before_every_store() {
        let dir = tempfile::tempdir().unwrap();
        for kind in ["file", "keyring"] {
            let store = SecretStore::new(&host(dir.path()), kind).unwrap();
            assert_eq!(store.get("worker.token").await.unwrap().unwrap().reveal(), "from-the-environment");
        }
    }

    #[tokio::test]
    async fn names_that_leave_the_folder_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let store = SecretStore::new(&host(dir.path()), "file").unwrap();
        for name in ["", "..", "../x", "a/b", ".hidden", "a b", "支付", &"a".repeat(65)] {
            assert!(matches!(store.get(name).await, Err(SecretError::Name(_))), "{name}");
        }
    }

    #[test]
    fn a_value_never_shows_itself() {
        assert_eq!(format!("{:?}", Secret::new("s3cret")), "Secret(…)");
        let bad = system::meaning(&keyring_core::Error::BadEncoding(b"s3cret".to_vec())).of("a", LIMIT);
        assert!(!format!("{bad} {bad:?}").contains("s3cret"));
    }
}

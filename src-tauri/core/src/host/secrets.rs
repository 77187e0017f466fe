//! Secrets: the Keychain or Secret Service, a private file where the user chose that, or a variable for this run.
//!
//! Values are read when needed, handed over and forgotten; they are never logged, never part of an error and never
//! given to a program as an argument. Stores may ask the user and may hang, so each call has a deadline.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::process::Run;
use super::{Host, files, os, probe};

/// Under which our items are filed.
const SERVICE: &str = "pao";

/// How long the system's store may take: it may be asking the user to unlock it.
const LIMIT: Duration = Duration::from_secs(30);

/// Why a secret cannot be had or kept. None of these holds a value.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// There is no such store on this machine.
    #[error("there is no credential store ({}) on this machine", os::SECRET_STORE)]
    NoStore {
        /// The secret's name.
        name: String,
    },
    /// It is locked, or access was refused.
    #[error("the credential store ({}) is locked or refused access", os::SECRET_STORE)]
    Locked {
        /// The secret's name.
        name: String,
    },
    /// It did not answer.
    #[error("the credential store ({}) did not answer within {} s", os::SECRET_STORE, .after.as_secs())]
    Silent {
        /// The secret's name.
        name: String,
        /// How long was waited.
        after: Duration,
    },
    /// It failed.
    #[error("the credential store ({}) failed: {why}", os::SECRET_STORE)]
    Failed {
        /// The secret's name.
        name: String,
        /// Why, in our words.
        why: &'static str,
    },
    /// It said that all went well, yet another process does not find the value.
    #[error("the credential store ({}) does not keep values across processes: {why}", os::SECRET_STORE)]
    Forgets {
        /// What the other process saw.
        why: String,
    },
    /// A name that could not be filed, or stand in a variable.
    #[error("{0:?} cannot be the name of a secret")]
    Name(String),
    /// No store of that name is known.
    #[error("there is no kind of secret store called {0:?}")]
    Unheard(String),
    /// The private file.
    #[error("{}: {source}", .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
}

impl SecretError {
    /// One thing to do next.
    pub fn next(&self) -> String {
        match self {
            Self::Name(_) => "use letters, digits, dots, dashes and underscores, at most 64".into(),
            Self::Unheard(_) => "set secrets.store to \"keyring\" or \"file\"".into(),
            Self::Locked { name } | Self::Silent { name, .. } => {
                format!("unlock it and try again, or {}", other_ways(name))
            }
            Self::File { path, .. } => {
                format!("make {} readable and writable for you alone", path.display())
            }
            Self::NoStore { name } | Self::Failed { name, .. } => other_ways(name),
            Self::Forgets { .. } => other_ways(SELF_TEST),
        }
    }
}

impl From<SecretError> for crate::Error {
    fn from(error: SecretError) -> Self {
        let (message, next) = (error.to_string(), error.next());
        match error {
            SecretError::Name(_) => Self::user(message, next),
            SecretError::Unheard(_) => Self::config(message, next),
            _ => Self::environment(message, next),
        }
    }
}

/// What to do where the store cannot be used for that secret.
fn other_ways(name: &str) -> String {
    // A self-test's secret is nobody's.
    let variable = if name.starts_with(SELF_TEST) {
        "for a source NAME the variable PAO_SECRET_NAME".into()
    } else {
        format!("the variable {}", variable(name))
    };
    format!("set {variable}, or choose a private file: `pao config set secrets.store file`")
}

/// What the name of a self-test's secret begins with.
const SELF_TEST: &str = "self-test-";

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
    kind: Kind,
    limit: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Keyring,
    File,
}

impl SecretStore {
    /// The store of that name in the configuration: `keyring` or `file`.
    pub fn new(host: &Host, kind: &str) -> Result<Self, SecretError> {
        let kind = match kind {
            "keyring" => Kind::Keyring,
            "file" => Kind::File,
            other => return Err(SecretError::Unheard(other.to_string())),
        };
        Ok(Self { host: host.clone(), kind, limit: LIMIT })
    }

    /// The same store, waiting at most that long for an answer.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Where values are kept, for people.
    pub fn place(&self) -> String {
        match self.kind {
            Kind::Keyring => os::SECRET_STORE.to_string(),
            Kind::File => self.host.display(&self.folder()),
        }
    }

    /// A secret's value; `None` where none was set. A variable `PAO_SECRET_<NAME>` goes before any store.
    pub async fn get(&self, name: &str) -> Result<Option<Secret>, SecretError> {
        check(name)?;
        if let Some(value) = self.host.var(&variable(name)) {
            return Ok(Some(Secret::new(value)));
        }
        match self.kind {
            Kind::File => {
                let path = self.folder().join(name);
                let file = |source| SecretError::File { path: path.clone(), source };
                let Some(bytes) = files::read_if_there(&path).map_err(file)? else { return Ok(None) };
                let text =
                    String::from_utf8(bytes).map_err(|_| file(std::io::ErrorKind::InvalidData.into()))?;
                Ok(Some(Secret::new(text)))
            }
            Kind::Keyring => {
                self.keyring(name, |name| match entry(name)?.get_password() {
                    Ok(value) => Ok(Some(Secret::new(value))),
                    Err(keyring::Error::NoEntry) => Ok(None),
                    Err(e) => Err(meaning(name, &e)),
                })
                .await
            }
        }
    }

    /// Keeps a value.
    pub async fn set(&self, name: &str, value: &Secret) -> Result<(), SecretError> {
        check(name)?;
        match self.kind {
            Kind::File => {
                let path = self.folder().join(name);
                files::private_dir(&self.folder())
                    .and_then(|()| files::write_private(&path, value.reveal().as_bytes(), false))
                    .map_err(|source| SecretError::File { path, source })
            }
            Kind::Keyring => {
                let value = value.clone();
                self.keyring(name, move |name| {
                    entry(name)?.set_password(value.reveal()).map_err(|e| meaning(name, &e))
                })
                .await
            }
        }
    }

    /// Forgets a value; says whether there was one.
    pub async fn delete(&self, name: &str) -> Result<bool, SecretError> {
        check(name)?;
        match self.kind {
            Kind::File => {
                let path = self.folder().join(name);
                files::remove_if_there(&path).map_err(|source| SecretError::File { path, source })
            }
            Kind::Keyring => {
                self.keyring(name, |name| match entry(name)?.delete_credential() {
                    Ok(()) => Ok(true),
                    Err(keyring::Error::NoEntry) => Ok(false),
                    Err(e) => Err(meaning(name, &e)),
                })
                .await
            }
        }
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
        let kind = if self.kind == Kind::Keyring { "keyring" } else { "file" };
        let run = Run::new(&self.host.exe)
            .args([probe::VERB, "secret", kind, name])
            .env("PAO_HOME", &self.host.pao_home)
            .limit(self.limit);
        let out = run.output().await.map_err(|e| e.to_string())?;
        if out.success() { Ok(out.text()) } else { Err(out.error_text()) }
    }

    fn folder(&self) -> PathBuf {
        self.host.pao_home.join("secrets")
    }

    async fn keyring<T: Send + 'static>(
        &self,
        name: &str,
        job: impl FnOnce(&str) -> Result<T, SecretError> + Send + 'static,
    ) -> Result<T, SecretError> {
        let (own, name) = (name.to_string(), name.to_string());
        // Given up, the call goes on in its own thread: a plain one, since the runtime waits for its own at the end.
        let (send, receive) = tokio::sync::oneshot::channel();
        let started =
            std::thread::Builder::new().name("secrets".into()).spawn(move || drop(send.send(job(&own))));
        if started.is_err() {
            return Err(SecretError::Failed { name, why: "no thread could be started for it" });
        }
        match tokio::time::timeout(self.limit, receive).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(SecretError::Failed { name, why: "asking it broke down" }),
            Err(_) => Err(SecretError::Silent { name, after: self.limit }),
        }
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

fn entry(name: &str) -> Result<keyring::Entry, SecretError> {
    if let Err(e) = keyring::Entry::store_status() {
        tracing::debug!(error = %cause(e), "no credential store");
        return Err(SecretError::NoStore { name: name.into() });
    }
    keyring::Entry::new(SERVICE, name).map_err(|e| meaning(name, &e))
}

/// What a store's error means. Its own text speaks of protocols and goes to the log only.
fn meaning(name: &str, error: &keyring::Error) -> SecretError {
    let name = name.to_string();
    let why = match error {
        // These carry the value that could not be read; it is not quoted anywhere.
        keyring::Error::BadEncoding(_) | keyring::Error::BadDataFormat(..) => {
            return SecretError::Failed { name, why: "the value it keeps is not text" };
        }
        keyring::Error::NoStorageAccess(_) => return logged(error, SecretError::Locked { name }),
        keyring::Error::NoDefaultStore => return logged(error, SecretError::NoStore { name }),
        keyring::Error::TooLong(..) => "it does not take a value of this length",
        keyring::Error::Ambiguous(_) => "it keeps several values of this name",
        _ => "its own words are shown with PAO_LOG=debug",
    };
    logged(error, SecretError::Failed { name, why })
}

fn logged(error: &keyring::Error, meaning: SecretError) -> SecretError {
    tracing::debug!(error = %cause(error), "the credential store");
    meaning
}

fn cause(error: &keyring::Error) -> String {
    match error {
        keyring::Error::PlatformFailure(e) | keyring::Error::NoStorageAccess(e) => e.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    fn host(dir: &Path) -> Host {
        Host {
            home: dir.into(),
            pao_home: dir.join(".pao"),
            cwd: dir.into(),
            exe: "/nowhere/pao".into(),
            env: BTreeMap::from([("PAO_SECRET_WORKER_TOKEN".into(), "from-the-environment".into())]),
            frozen: None,
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
        let bad = meaning("a", &keyring::Error::BadEncoding(b"s3cret".to_vec()));
        assert!(!format!("{bad} {bad:?}").contains("s3cret"));
    }
}

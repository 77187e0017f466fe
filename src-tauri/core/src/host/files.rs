//! Whole-file writes that survive a crash: a unique temporary file beside the target, flushed, then renamed.
//!
//! Nothing here decides *whether* a file may be written; the rooms do.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::process::Identity;

/// Creates a folder and its missing parents, readable by its owner only.
pub fn private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The same in a folder that is there. What may still run when all of ours was removed uses this one: it makes nothing
/// of that anew.
pub fn private_subdir(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other,
    }
}

/// Creates an empty file, 0600, where there is none.
pub fn private_file(path: &Path) -> io::Result<()> {
    match File::options().write(true).create_new(true).mode(0o600).open(path) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => Ok(()),
    }
}

/// Takes from others what they may do with the files in a folder of ours, which libraries made as they make all files.
pub fn keep_private(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, meta) = match entry.and_then(|entry| Ok((entry.path(), entry.metadata()?))) {
            Ok(found) => found,
            // It was a temporary one.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        if meta.is_dir() {
            keep_private(&path)?;
        } else if meta.is_file() && meta.mode() & 0o077 != 0 {
            match fs::set_permissions(&path, Permissions::from_mode(meta.mode() & 0o700)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Replaces a file of ours, 0600 (or 0700 for a program), in one step.
pub fn write_private(path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
    replace(path, bytes, Permissions::from_mode(if executable { 0o700 } else { 0o600 }))
}

/// Replaces a file in one step, keeping the permissions of what stood there (0644 for a new file).
///
/// `path` must not be a symbolic link: replacing one would turn it into a plain file. Resolve it first.
pub fn write_in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mode = match fs::symlink_metadata(path) {
        Ok(meta) if meta.file_type().is_symlink() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is a symbolic link"));
        }
        Ok(meta) => meta.mode() & 0o7777,
        Err(e) if e.kind() == io::ErrorKind::NotFound => 0o644,
        Err(e) => return Err(e),
    };
    replace(path, bytes, Permissions::from_mode(mode))
}

/// Creates a file with its bytes in one step, 0600; fails with `AlreadyExists` where something stands there.
pub fn create_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_with(path, bytes, 0o600)
}

/// The same with these permissions.
pub fn create_with(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let file = prepare(path, bytes, Permissions::from_mode(mode))?;
    file.persist_noclobber(path).map_err(|e| e.error)?;
    sync_dir(dir_of(path))
}

/// Replaces a file in one step, but only while it still holds `expected` (`None`: does not exist). Looks
/// immediately before the rename; returns false, with nothing written, when somebody else was faster.
///
/// `path` must not be a symbolic link. Keeps the permissions of what stood there (0644 for a new file).
pub fn swap(path: &Path, expected: Option<&[u8]>, bytes: &[u8]) -> io::Result<bool> {
    let mode = match fs::symlink_metadata(path) {
        Ok(meta) if meta.file_type().is_symlink() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is a symbolic link"));
        }
        Ok(meta) => meta.mode() & 0o7777,
        Err(e) if e.kind() == io::ErrorKind::NotFound => 0o644,
        Err(e) => return Err(e),
    };
    let file = prepare(path, bytes, Permissions::from_mode(mode))?;
    if read_if_there(path)?.as_deref() != expected {
        return Ok(false);
    }
    if expected.is_some() {
        file.persist(path).map_err(|e| e.error)?;
    } else if let Err(e) = file.persist_noclobber(path) {
        return if e.error.kind() == io::ErrorKind::AlreadyExists { Ok(false) } else { Err(e.error) };
    }
    sync_dir(dir_of(path))?;
    Ok(true)
}

/// Held until dropped; the kernel lets go of it when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes an exclusive lock among our own processes on a file of ours, created where missing, with its folder. Only who
/// holds it may remove the file.
/// Fails with `TimedOut` when it is not free within `patience`.
pub async fn lock(path: &Path, patience: Duration) -> io::Result<Lock> {
    private_subdir(dir_of(path))?;
    let open = || File::options().create(true).truncate(false).write(true).mode(0o600).open(path);
    let mut file = open()?;
    let tries = patience.as_millis() / LOCK_PAUSE.as_millis();
    for _ in 0..=tries {
        match file.try_lock() {
            // One that was removed while we waited for it is no longer the one that others take.
            Ok(()) if !is_at(&file, path) => file = open()?,
            Ok(()) => return Ok(Lock { _file: file }),
            Err(fs::TryLockError::WouldBlock) => tokio::time::sleep(LOCK_PAUSE).await,
            Err(fs::TryLockError::Error(e)) => return Err(e),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, format!("{} is held by another pao", path.display())))
}

fn is_at(file: &File, path: &Path) -> bool {
    let same = |a: &fs::Metadata, b: &fs::Metadata| a.dev() == b.dev() && a.ino() == b.ino();
    file.metadata().is_ok_and(|own| fs::metadata(path).is_ok_and(|there| same(&own, &there)))
}

const LOCK_PAUSE: Duration = Duration::from_millis(5);

fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replace(path: &Path, bytes: &[u8], permissions: Permissions) -> io::Result<()> {
    prepare(path, bytes, permissions)?.persist(path).map_err(|e| e.error)?;
    sync_dir(dir_of(path))
}

/// A flushed temporary file beside `path`, gone again unless it is renamed.
fn prepare(path: &Path, bytes: &[u8], permissions: Permissions) -> io::Result<tempfile::NamedTempFile> {
    // A unique name: two writers with one fixed temporary name would publish each other's half file.
    // It names its writer, so that what a killed one left is known at once.
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let mut file = tempfile::Builder::new().prefix(&prefix).suffix(SUFFIX).tempfile_in(dir_of(path))?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// What writers of ours that were killed left in a folder; also what one is writing right now.
pub fn half_written(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    entries.filter(is_file).map(|entry| entry.path()).filter(|path| is_half_written(path)).collect()
}

/// Of these, those whose writer is known to be gone.
pub fn abandoned(folder: &Path) -> Vec<PathBuf> {
    let gone = |path: &PathBuf| writer(path).is_some_and(|pid| Identity::of(pid).is_none());
    half_written(folder).into_iter().filter(gone).collect()
}

/// Whether a file is called as those are that our writers rename when they are whole.
pub fn is_half_written(path: &Path) -> bool {
    let Some(middle) = between(path) else { return false };
    // Earlier versions did not name the writer.
    let random = if writer(path).is_some() { middle.split_once('-').map_or("", |(_, r)| r) } else { middle };
    random.len() == 6 && random.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// What stands between the two ends of a temporary file's name.
fn between(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}

/// The process that writes or wrote a temporary file.
fn writer(path: &Path) -> Option<u32> {
    between(path)?.split_once('-')?.0.parse().ok()
}

const PREFIX: &str = ".pao-";
const SUFFIX: &str = ".tmp";

/// Makes a rename or removal in `dir` durable.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Removes a file; that it is already gone is fine.
pub fn remove_if_there(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Reads a file; `None` when there is none. What is no plain file (a pipe, a device) is refused: reading it might
/// wait for ever.
pub fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let opened = File::options().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path);
    match opened {
        Ok(mut file) => {
            let meta = file.metadata()?;
            if !meta.is_file() && !meta.is_dir() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a plain file"));
            }
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Follows symbolic links to the file that a write would reach; the file itself need not exist.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            // A dangling link would be replaced by a plain file; that is not ours to decide.
            if fs::symlink_metadata(path).is_ok() {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "is a link to something that does not exist",
                ));
            }
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Ok(fs::canonicalize(parent)?.join(path.file_name().unwrap_or_default()))
        }
        Err(e) => Err(e),
    }
}

/// SHA-256 in lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_keeps_its_mode_and_leaves_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_in_place(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_plain_file_is_refused_and_never_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(read_if_there(&pipe).is_err());
        assert!(read_if_there(Path::new("/dev/zero")).is_err());
        assert!(read_if_there(dir.path()).is_err());
        assert_eq!(read_if_there(&dir.path().join("none")).unwrap(), None);
    }

    #[test]
    fn a_link_is_never_replaced_by_a_plain_file() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("AGENTS.md");
        fs::write(&target, "text").unwrap();
        let link = dir.path().join("CLAUDE.md");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(write_in_place(&link, b"other").is_err());
        assert_eq!(fs::read(&target).unwrap(), b"text");
        assert_eq!(resolve(&link).unwrap(), target.canonicalize().unwrap());
    }

    #[test]
    fn a_dangling_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("CLAUDE.md");
        std::os::unix::fs::symlink("nowhere.md", &link).unwrap();
        assert!(resolve(&link).is_err());
        assert!(resolve(&dir.path().join("new.md")).is_ok());
    }

    #[test]
    fn a_swap_writes_only_over_what_was_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(swap(&path, None, b"one").unwrap());
        assert!(!swap(&path, None, b"two").unwrap());
        assert!(!swap(&path, Some(b"zero"), b"two").unwrap());
        assert!(swap(&path, Some(b"one"), b"two").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(create_new(&path, b"x").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn a_lock_has_one_holder_and_is_free_again_when_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("locks/a.lock");
        let held = lock(&path, Duration::ZERO).await.unwrap();
        assert_eq!(lock(&path, Duration::ZERO).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(held);
        lock(&path, Duration::ZERO).await.unwrap();
    }

    #[tokio::test]
    async fn a_lock_makes_nothing_anew_that_was_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("home/locks/a.lock");
        assert_eq!(lock(&path, Duration::ZERO).await.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

//! Whole-file writes that survive a crash: a unique temporary file beside the target, flushed, then renamed.
//!
//! Nothing here decides *whether* a file may be written; the rooms do.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Creates a folder and its missing parents, readable by its owner only.
pub fn private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
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

fn replace(path: &Path, bytes: &[u8], permissions: Permissions) -> io::Result<()> {
    let dir = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A unique name: two writers with one fixed temporary name would publish each other's half file.
    let mut file = tempfile::Builder::new().prefix(".pao-").suffix(".tmp").tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    sync_dir(dir)
}

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

/// Reads a file; `None` when there is none.
pub fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
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
}

//! Whether anything can be written to a folder of ours, found out without writing anything.
//!
//! It names only what is known to stand against it: a disk may still break in the middle of a write.

use std::fmt;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::statvfs::{Statvfs, statvfs};
use nix::unistd::{AccessFlags, access, geteuid};

/// Bytes without which a database cannot even be opened for writing.
const ROOM: i128 = 64 * 1024;

/// Why nothing can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The disk is there to be read only.
    ReadOnly,
    /// The disk has no room left.
    Full,
    /// Folder or file belong to somebody else, or are closed to everybody.
    NotAllowed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::ReadOnly => "its disk is read-only",
            Refusal::Full => "its disk is full",
            Refusal::NotAllowed => "you may not write there",
        })
    }
}

impl Refusal {
    /// One thing to do next, so that it can be written to that folder of ours.
    pub fn next(self, folder: &Path) -> String {
        let folder = folder.display();
        match self {
            Refusal::ReadOnly => "make its disk writable, or set PAO_HOME to another folder".into(),
            Refusal::Full => "free some space on its disk, then try again".into(),
            Refusal::NotAllowed => {
                format!("make {folder} and what is in it writable for you; ls -la {folder} shows whose it is")
            }
        }
    }
}

/// What stands against writing to a folder and to these files in it. What is not there yet stands against nothing.
pub fn refused(folder: &Path, names: &[&str]) -> Option<Refusal> {
    let files = names.iter().map(|name| folder.join(name));
    let closed = |path: &Path| match access(path, AccessFlags::W_OK) {
        Err(Errno::EROFS) => Some(Refusal::ReadOnly),
        Err(Errno::EACCES | Errno::EPERM) => Some(Refusal::NotAllowed),
        _ => None,
    };
    let closed = closed(folder).or_else(|| files.into_iter().find_map(|file| closed(&file)));
    closed.or_else(|| statvfs(folder).is_ok_and(|disk| is_full(&disk)).then_some(Refusal::Full))
}

fn is_full(disk: &Statvfs) -> bool {
    // The last blocks of a disk may be kept for root. Some file systems do not count, and say that they have none.
    let root = geteuid().is_root();
    let free = if root { i128::from(disk.blocks_free()) } else { i128::from(disk.blocks_available()) };
    let no_room = disk.blocks() > 0 && free * i128::from(disk.fragment_size()) < ROOM;
    no_room || (disk.files() > 0 && disk.files_free() == 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_can_be_written_is_not_refused_and_a_missing_folder_neither() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        assert_eq!(refused(dir.path(), &["a", "none"]), None);
        assert_eq!(refused(&dir.path().join("none"), &["a"]), None);
    }

    #[test]
    fn a_closed_file_or_folder_is_refused_to_whoever_may_not_write_it() {
        // To root nothing is closed.
        let wanted = (!geteuid().is_root()).then_some(Refusal::NotAllowed);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        fs::set_permissions(dir.path().join("a"), Permissions::from_mode(0o400)).unwrap();
        assert_eq!(refused(dir.path(), &["a"]), wanted);
        fs::set_permissions(dir.path(), Permissions::from_mode(0o500)).unwrap();
        assert_eq!(refused(dir.path(), &[]), wanted);
    }
}

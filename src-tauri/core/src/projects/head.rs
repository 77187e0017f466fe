//! What a repository's own files say without git: the branch, and when it last moved.

use std::path::Path;
use std::time::SystemTime;

/// Longest first line of a `HEAD` that is read.
const LONGEST: u64 = 4096;

/// The branch that is checked out; `None` where a commit is, or where the repository keeps its references in a form
/// that only git reads.
pub fn branch(git_dir: &Path) -> Option<String> {
    use std::io::Read;
    let mut head = Vec::new();
    std::fs::File::open(git_dir.join("HEAD")).ok()?.take(LONGEST).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let name = head.lines().next()?.strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?;
    // What repositories with reference tables have in that place.
    (name != ".invalid" && !name.is_empty()).then(|| name.to_owned())
}

/// When a commit, checkout or the like was last made in that worktree.
pub fn moved(git_dir: &Path) -> Option<SystemTime> {
    let changed = |file: &str| git_dir.join(file).metadata().and_then(|meta| meta.modified()).ok();
    changed("logs/HEAD").max(changed("HEAD"))
}

/// Whether something in a git folder tells of another branch or of other changes: its own name there, without the
/// path. Objects, locks and the like do not.
pub fn tells(name: &std::ffi::OsStr) -> bool {
    ["HEAD", "index", "MERGE_HEAD", "ORIG_HEAD"].iter().any(|known| name == *known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_read_as_git_writes_it_and_nothing_else_is_taken_for_one() {
        let dir = tempfile::tempdir().unwrap();
        let says = |text: &[u8]| {
            std::fs::write(dir.path().join("HEAD"), text).unwrap();
            branch(dir.path())
        };
        assert_eq!(says(b"ref: refs/heads/main\n").as_deref(), Some("main"));
        assert_eq!(says("ref: refs/heads/feature/支付\n".as_bytes()).as_deref(), Some("feature/支付"));
        assert_eq!(says(b"ref: refs/heads/caf\xe9\n").as_deref(), Some("caf\u{fffd}"));
        for nothing in
            [&b"0123456789012345678901234567890123456789\n"[..], b"", b"\0\0", b"ref: refs/heads/.invalid\n"]
        {
            assert_eq!(says(nothing), None);
        }
        assert_eq!(branch(Path::new("/nowhere")), None);
    }
}

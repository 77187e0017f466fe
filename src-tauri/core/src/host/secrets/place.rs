//! Where the app listens, and whether what stands there can be trusted: a socket of ours, 0600, in a folder of ours,
//! 0700, that nobody else can put things into.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::super::{Host, files};
use super::SecretError;

/// Longest path of a socket in bytes: 104 with its end on macOS, a little more elsewhere.
const MOST: usize = 103;

/// The socket. In our own folder; where that lies too deep for a socket's path, in one named after it in `/tmp`.
pub(super) fn socket(host: &Host) -> PathBuf {
    let usual = host.pao_home.join("run").join("app.sock");
    if usual.as_os_str().len() <= MOST {
        return usual;
    }
    let name = files::sha256(host.pao_home.as_os_str().as_encoded_bytes());
    let user = nix::unistd::Uid::effective();
    PathBuf::from(format!("/tmp/pao-{user}-{}", &name[..16])).join("app.sock")
}

/// Looks at the folder of a socket. `Ok(false)`: it is not there.
pub(super) fn folder_is_ours(socket: &Path) -> Result<bool, SecretError> {
    let Some(folder) = socket.parent() else { return Ok(false) };
    let refused = |why| Err(SecretError::Untrusted { path: folder.to_path_buf(), why });
    let Ok(meta) = fs::symlink_metadata(folder) else { return Ok(false) };
    if !meta.is_dir() {
        return refused("it is no folder");
    }
    if !ours(&meta) {
        return refused("it belongs to another user");
    }
    if meta.mode() & 0o077 != 0 {
        return refused("others may use it");
    }
    // Who may write to the folder above could put another in its place; with the sticky bit only their own.
    let above = folder.parent().map(fs::metadata).transpose();
    match above {
        Ok(Some(above)) if above.mode() & 0o022 != 0 && above.mode() & 0o1000 == 0 => {
            refused("others may write to the folder it is in")
        }
        Ok(_) => Ok(true),
        Err(_) => Ok(false),
    }
}

/// Looks at the socket itself. `Ok(false)`: it is not there.
pub(super) fn socket_is_ours(socket: &Path) -> Result<bool, SecretError> {
    let refused = |why| Err(SecretError::Untrusted { path: socket.to_path_buf(), why });
    let Ok(meta) = fs::symlink_metadata(socket) else { return Ok(false) };
    if !meta.file_type().is_socket() {
        return refused("it is no socket");
    }
    if !ours(&meta) {
        return refused("it belongs to another user");
    }
    if meta.mode() & 0o077 != 0 { refused("others may use it") } else { Ok(true) }
}

fn ours(meta: &fs::Metadata) -> bool {
    meta.uid() == nix::unistd::Uid::effective().as_raw()
}

/// Whether who is at the other end is this very user.
pub(super) fn peer_is_us(stream: &tokio::net::UnixStream) -> bool {
    let own = nix::unistd::Uid::effective().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::super::tests::host;
    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn why<T: std::fmt::Debug>(refused: Result<T, SecretError>) -> &'static str {
        match refused {
            Err(SecretError::Untrusted { why, .. }) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_home_too_deep_for_a_socket_has_it_elsewhere_and_always_at_the_same_place() {
        let mut host = host(Path::new("/home/me"));
        assert_eq!(socket(&host), Path::new("/home/me/.pao/run/app.sock"));
        for length in 1..200 {
            host.pao_home = Path::new("/home").join("d".repeat(length));
            let there = socket(&host);
            assert!(there.as_os_str().len() <= MOST, "{there:?}");
            assert_eq!(there, socket(&host));
        }
        assert!(socket(&host).starts_with("/tmp"));
    }

    #[test]
    fn a_folder_others_can_reach_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, socket) = (dir.path().join("run"), dir.path().join("run/app.sock"));
        assert!(!folder_is_ours(&socket).unwrap());
        fs::create_dir(&folder).unwrap();
        mode(&folder, 0o700);
        assert!(folder_is_ours(&socket).unwrap());
        for open in [0o777, 0o1777, 0o750, 0o701] {
            mode(&folder, open);
            assert_eq!(why(folder_is_ours(&socket)), "others may use it");
        }
        mode(&folder, 0o700);
        mode(dir.path(), 0o777);
        assert_eq!(why(folder_is_ours(&socket)), "others may write to the folder it is in");
        mode(dir.path(), 0o1777);
        assert!(folder_is_ours(&socket).unwrap());
        mode(dir.path(), 0o700);
        fs::rename(&folder, dir.path().join("elsewhere")).unwrap();
        symlink(dir.path().join("elsewhere"), &folder).unwrap();
        assert_eq!(why(folder_is_ours(&socket)), "it is no folder");
    }

    #[test]
    fn a_socket_that_is_none_or_open_to_others_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("app.sock");
        assert!(!socket_is_ours(&socket).unwrap());
        let _listening = UnixListener::bind(&socket).unwrap();
        mode(&socket, 0o600);
        assert!(socket_is_ours(&socket).unwrap());
        mode(&socket, 0o666);
        assert_eq!(why(socket_is_ours(&socket)), "others may use it");
        mode(&socket, 0o600);
        let link = dir.path().join("link.sock");
        symlink(&socket, &link).unwrap();
        assert_eq!(why(socket_is_ours(&link)), "it is no socket");
        fs::write(dir.path().join("file"), "").unwrap();
        assert_eq!(why(socket_is_ours(&dir.path().join("file"))), "it is no socket");
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        // Only who may give files away can try it.
        if !nix::unistd::Uid::effective().is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let (folder, socket) = (dir.path().join("run"), dir.path().join("run/app.sock"));
        fs::create_dir(&folder).unwrap();
        mode(&folder, 0o700);
        let _listening = UnixListener::bind(&socket).unwrap();
        mode(&socket, 0o600);
        std::os::unix::fs::chown(&socket, Some(65_534), None).unwrap();
        assert_eq!(why(socket_is_ours(&socket)), "it belongs to another user");
        std::os::unix::fs::chown(&folder, Some(65_534), None).unwrap();
        assert_eq!(why(folder_is_ours(&socket)), "it belongs to another user");
    }
}

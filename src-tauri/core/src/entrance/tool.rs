//! The command-line tool on the PATH: a link in `~/.local/bin` to the command that came with the app, so that an update
//! of the app is one of the command.

use std::path::{Path, PathBuf};

use super::EntranceError;
use super::piece::Standing;
use crate::host::login;
use crate::host::{Host, os};

/// Where the link stands, from the home directory.
const LINK: &str = ".local/bin/pao";

/// How the command can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// By our link. With `false` its folder is not on the PATH of the user's shell.
    Linked(bool),
    /// Without a link of ours: there it is on the PATH already.
    There(PathBuf),
    /// It is no link of ours that stands there; a dangling one of ours wants repair.
    Not(Standing),
}

/// How it can be reached. Asks the login shell for its PATH, as only that counts in a terminal.
pub async fn look(host: &Host) -> Tool {
    let folders = login::login_path(host).await.path;
    let link = host.home.join(LINK);
    let standing = standing(host);
    if standing == Standing::Installed {
        return Tool::Linked(folders.iter().any(|folder| *folder == host.home.join(".local/bin")));
    }
    let own = host.exe.canonicalize().ok();
    let candidates = folders.iter().map(|folder| folder.join("pao")).chain([link]);
    let same = |path: &PathBuf| own.is_some() && path.canonicalize().ok() == own;
    match candidates.into_iter().find(same) {
        Some(path) => Tool::There(path),
        None => Tool::Not(standing),
    }
}

/// How our link stands.
pub fn standing(host: &Host) -> Standing {
    let link = host.home.join(LINK);
    match std::fs::read_link(&link) {
        Ok(target) if target == real(host) => Standing::Installed,
        // One into an app that was moved or removed: nothing can be reached by it.
        Ok(target) if !link.exists() && is_of_app(&target) => Standing::NeedsRepair,
        Ok(_) => Standing::Foreign,
        Err(_) if link.symlink_metadata().is_ok() => Standing::Foreign,
        Err(_) => Standing::NotInstalled,
    }
}

fn is_of_app(target: &Path) -> bool {
    target.file_name().is_some_and(|name| name == "pao")
}

fn real(host: &Host) -> PathBuf {
    host.exe.canonicalize().unwrap_or_else(|_| host.exe.clone())
}

/// Makes the link.
pub fn link(host: &Host) -> Result<(), EntranceError> {
    let target = real(host);
    if os::is_passing(&target) {
        return Err(EntranceError::Passing(target));
    }
    let link = host.home.join(LINK);
    let failed = |source| EntranceError::File { path: host.display(&link), source };
    match standing(host) {
        Standing::Installed => return Ok(()),
        Standing::Foreign => return Err(EntranceError::Foreign { path: host.display(&link) }),
        Standing::NeedsRepair => std::fs::remove_file(&link).map_err(failed)?,
        Standing::NotInstalled => {}
    }
    if !target.is_file() {
        return Err(EntranceError::NoApp);
    }
    if let Some(folder) = link.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    // Fails where something has come meanwhile.
    std::os::unix::fs::symlink(&target, &link).map_err(failed)
}

/// Takes the link away, where it is ours; what it leads to stays.
pub fn unlink(host: &Host) -> Result<bool, EntranceError> {
    let link = host.home.join(LINK);
    match standing(host) {
        Standing::Installed | Standing::NeedsRepair => std::fs::remove_file(&link)
            .map(|()| true)
            .map_err(|source| EntranceError::File { path: host.display(&link), source }),
        Standing::Foreign => Err(EntranceError::Foreign { path: host.display(&link) }),
        Standing::NotInstalled => Ok(false),
    }
}

/// The link, where it stands.
pub fn linked(host: &Host) -> Option<PathBuf> {
    let there = matches!(standing(host), Standing::Installed | Standing::NeedsRepair);
    there.then(|| host.home.join(LINK))
}

/// The path by which the command is named in what stays: the usual place where that leads to it, else its own.
pub fn stable(host: &Host) -> PathBuf {
    let (usual, own) = (host.home.join(LINK), real(host));
    if usual.canonicalize().ok().as_ref() == Some(&own) { usual } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entrance::tests::host;

    fn with_command() -> (tempfile::TempDir, Host) {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("bin")).unwrap();
        std::fs::write(real.join("bin/pao"), "").unwrap();
        (home, host(&real))
    }

    #[test]
    fn a_link_is_made_found_and_taken_away_and_the_command_stays() {
        let (_home, host) = with_command();
        assert_eq!(stable(&host), host.exe);
        link(&host).unwrap();
        link(&host).unwrap();
        assert_eq!(standing(&host), Standing::Installed);
        assert_eq!(std::fs::read_link(host.home.join(LINK)).unwrap(), host.exe);
        assert_eq!(stable(&host), host.home.join(LINK));
        assert!(unlink(&host).unwrap());
        assert!(!unlink(&host).unwrap());
        assert!(host.exe.is_file());
    }

    #[test]
    fn a_command_of_somebody_elses_is_refused_and_left_alone() {
        let (_home, host) = with_command();
        let place = host.home.join(LINK);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(&place, "theirs").unwrap();
        assert!(matches!(link(&host), Err(EntranceError::Foreign { .. })));
        assert!(unlink(&host).is_err());
        std::fs::remove_file(&place).unwrap();
        std::os::unix::fs::symlink("/bin/sh", &place).unwrap();
        assert_eq!(standing(&host), Standing::Foreign);
        assert!(link(&host).is_err());
        assert_eq!(std::fs::read_link(&place).unwrap(), Path::new("/bin/sh"));
    }

    #[test]
    fn a_link_into_an_app_that_is_gone_is_put_right() {
        let (_home, host) = with_command();
        let place = host.home.join(LINK);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/Applications/Gone.app/Contents/MacOS/pao", &place).unwrap();
        assert_eq!(standing(&host), Standing::NeedsRepair);
        link(&host).unwrap();
        assert_eq!(standing(&host), Standing::Installed);
    }
}

//! Where the menu-bar app is, and opening it.

use std::path::PathBuf;

use super::process::Run;
use super::{Host, os};
use crate::Error;

/// The app's program, beside the command or wherever its package puts it.
const PROGRAM: &str = "prime-agent-orchestrator";
/// The app as macOS has it.
const BUNDLE: &str = "Prime Agent Orchestrator.app";

/// The app: its program or, on macOS, its bundle.
pub fn find(host: &Host) -> Option<PathBuf> {
    // The command may have been reached by a link.
    let real = host.exe.canonicalize().ok();
    let beside = real.iter().chain([&host.exe]).map(|exe| exe.with_file_name(PROGRAM));
    let places = [PathBuf::from("/Applications"), host.home.join("Applications")];
    let bundles = places.iter().filter(|_| os::IS_MACOS).map(|folder| folder.join(BUNDLE));
    let found = beside.filter(|path| path.is_file()).chain(bundles.filter(|path| path.is_dir())).next();
    found.or_else(|| host.find_on_path(PROGRAM))
}

/// Opens the app, at the spawn panel where folders are named. One that runs already shows itself.
pub fn open(host: &Host, folders: &[PathBuf]) -> Result<PathBuf, Error> {
    let app = find(host).ok_or_else(|| {
        Error::environment(
            "the app is not on this machine",
            "build and open it: `cargo xtask app` in PAO's source",
        )
    })?;
    if !os::has_display(host) {
        return Err(Error::environment(
            "there is no display to show the app on",
            "everything it does `pao` does in a terminal: see `pao --help`",
        ));
    }
    let folders = folders.iter().map(|folder| host.cwd.join(folder));
    let run = if app.is_dir() { Run::new("/usr/bin/open").arg("-a").arg(&app) } else { Run::new(&app) };
    run.args(folders)
        .cwd(&host.home)
        .detach()
        .map_err(|e| Error::environment(format!("the app was not opened: {e}"), "run `pao doctor`"))?;
    Ok(app)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_app_is_found_beside_the_command_also_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (there, bin) = (dir.path().join("there"), dir.path().join("bin"));
        std::fs::create_dir(&there).unwrap();
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(there.join("pao"), "").unwrap();
        symlink(there.join("pao"), bin.join("pao")).unwrap();
        let host = Host { exe: bin.join("pao"), ..Host::at(dir.path()) };
        assert_eq!(find(&host), None);
        assert!(open(&host, &[]).unwrap_err().next.contains("cargo xtask app"));
        std::fs::write(there.join(PROGRAM), "").unwrap();
        assert_eq!(find(&host), Some(there.canonicalize().unwrap().join(PROGRAM)));
    }
}

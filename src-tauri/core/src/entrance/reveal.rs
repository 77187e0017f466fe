//! The few files and panes of the system's settings that the app can open for the user. Nothing else can be asked for.

use std::ffi::OsString;

use crate::Error;
use crate::host::{Host, os};

/// What can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The configuration file.
    Config,
    /// The folder of the app's log.
    Log,
    /// Where the file manager's entry is switched on.
    FileManager,
    /// Where programs are allowed to open at login.
    LoginItems,
    /// Where notifications are allowed.
    Notifications,
    /// Where driving the terminal is allowed.
    Automation,
}

/// The pane of macOS's System Settings, by an address of its own; `None` for what is a file.
pub fn pane(place: Place) -> Option<&'static str> {
    match place {
        Place::Config | Place::Log => None,
        Place::FileManager => {
            Some("x-apple.systempreferences:com.apple.LoginItems-Settings.extension?ExtensionItems")
        }
        Place::LoginItems => Some("x-apple.systempreferences:com.apple.LoginItems-Settings.extension"),
        Place::Notifications => Some("x-apple.systempreferences:com.apple.Notifications-Settings.extension"),
        Place::Automation => {
            Some("x-apple.systempreferences:com.apple.preference.security?Privacy_Automation")
        }
    }
}

/// What is handed to the system to open.
fn target(host: &Host, place: Place, macos: bool) -> Result<OsString, Error> {
    if let Some(pane) = pane(place) {
        if macos {
            return Ok(pane.into());
        }
        return Err(Error::user("this system has no such pane", "look into your desktop's own settings"));
    }
    let (path, missing) = match place {
        Place::Log => (host.log_dir(), "nothing was logged yet"),
        _ => (host.config_file(), "there is no configuration file yet: everything is as it comes"),
    };
    if !path.exists() {
        return Err(Error::user(missing, "change a setting first, or look again later"));
    }
    Ok(path.into_os_string())
}

/// Shows it.
pub fn reveal(host: &Host, place: Place) -> Result<(), Error> {
    let target = target(host, place, os::IS_MACOS)?;
    match os::open(host, &target) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::environment(
            "this desktop has no program that opens files",
            format!("open it yourself: {}", target.to_string_lossy()),
        )),
        Err(error) => Err(Error::environment(error.to_string(), "open it yourself")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entrance::tests::host;

    #[test]
    fn only_files_of_ours_and_panes_of_a_fixed_list_are_opened() {
        let home = tempfile::tempdir().unwrap();
        let host = host(home.path());
        assert!(target(&host, Place::Config, true).unwrap_err().message.contains("no configuration file"));
        std::fs::create_dir(&host.pao_home).unwrap();
        std::fs::write(host.config_file(), "").unwrap();
        assert_eq!(target(&host, Place::Config, false).unwrap(), host.config_file().into_os_string());
        for place in [Place::FileManager, Place::LoginItems, Place::Notifications, Place::Automation] {
            let opened = target(&host, place, true).unwrap();
            assert!(opened.to_str().unwrap().starts_with("x-apple.systempreferences:com.apple."));
            assert!(target(&host, place, false).is_err());
        }
    }
}

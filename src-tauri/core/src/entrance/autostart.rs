//! Opening at login on Linux desktops: an entry in the autostart folder of the XDG specification. What stands there is
//! the truth; no flag of ours is kept beside it.

use std::path::PathBuf;

use super::piece::{Body, Done, Piece, Standing};
use super::{APP_ID, EntranceError, desktop_entry, file_manager};
use crate::host::{Host, app, files};

/// Whether the app opens at login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtLogin {
    /// It does.
    On,
    /// The entry is there, and the desktop was told not to follow it.
    Disabled,
    /// It does not.
    Off,
    /// Something of somebody else's stands there.
    Foreign,
}

fn path(host: &Host) -> PathBuf {
    file_manager::config_home(host).join("autostart").join(format!("{APP_ID}.desktop"))
}

fn piece(host: &Host) -> Result<Piece, EntranceError> {
    let app = app::find(host).ok_or(EntranceError::NoApp)?;
    let refused = || EntranceError::Refused(format!("no entry can name {}", app.display()));
    let bytes = desktop_entry::autostart(&app).ok_or_else(refused)?;
    Ok(Piece { what: "opening at login", path: path(host), body: Body::File { bytes, mode: 0o644 } })
}

/// Whether it does now.
pub fn look(host: &Host) -> Result<AtLogin, EntranceError> {
    let path = path(host);
    let failed = |source| EntranceError::File { path: host.display(&path), source };
    let Some(bytes) = files::read_if_there(&path).map_err(failed)? else { return Ok(AtLogin::Off) };
    let text = String::from_utf8_lossy(&bytes);
    if !text.contains(APP_ID) {
        return Ok(AtLogin::Foreign);
    }
    // What desktops write there when their own settings switch it off.
    let says = |key: &str, value: &str| {
        let mut entries = text.lines().filter_map(|line| line.split_once('='));
        entries.any(|(k, v)| k.trim() == key && v.trim().eq_ignore_ascii_case(value))
    };
    let off = says("Hidden", "true") || says("X-GNOME-Autostart-enabled", "false");
    Ok(if off { AtLogin::Disabled } else { AtLogin::On })
}

/// Makes it so.
pub async fn on(host: &Host) -> Result<Done, EntranceError> {
    piece(host)?.put(host).await
}

/// Makes it not so.
pub fn off(host: &Host) -> Result<bool, EntranceError> {
    let path = path(host);
    let failed = |source| EntranceError::File { path: host.display(&path), source };
    match look(host)? {
        AtLogin::Foreign => Err(EntranceError::Foreign { path: host.display(&path) }),
        _ => files::remove_if_there(&path).map_err(failed),
    }
}

/// The entry, where it is ours.
pub fn entry(host: &Host) -> Option<PathBuf> {
    matches!(look(host), Ok(AtLogin::On | AtLogin::Disabled)).then(|| path(host))
}

/// Whether it stands there as it should: naming the app as it is now.
pub fn standing(host: &Host) -> Result<Standing, EntranceError> {
    piece(host)?.standing()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entrance::tests::host;

    #[tokio::test]
    async fn the_entry_is_the_truth_also_when_the_desktop_switched_it_off() {
        let home = tempfile::tempdir().unwrap();
        let host = host(home.path());
        assert!(matches!(on(&host).await, Err(EntranceError::NoApp)));
        std::fs::create_dir(home.path().join("bin")).unwrap();
        for name in ["pao", "prime-agent-orchestrator"] {
            std::fs::write(home.path().join("bin").join(name), "").unwrap();
        }
        assert_eq!(look(&host).unwrap(), AtLogin::Off);
        on(&host).await.unwrap();
        assert_eq!(look(&host).unwrap(), AtLogin::On);
        let entry = entry(&host).unwrap();
        let text = std::fs::read_to_string(&entry).unwrap();
        assert!(
            text.contains(&format!("Exec=\"{}/bin/prime-agent-orchestrator\"\n", home.path().display())),
            "{text}"
        );
        std::fs::write(&entry, text.replace("enabled=true", "enabled=false")).unwrap();
        assert_eq!(look(&host).unwrap(), AtLogin::Disabled);
        on(&host).await.unwrap();
        assert_eq!((look(&host).unwrap(), standing(&host).unwrap()), (AtLogin::On, Standing::Installed));
        assert!(off(&host).unwrap());
        assert!(!off(&host).unwrap());
        std::fs::write(&entry, "[Desktop Entry]\nName=theirs\n").unwrap();
        assert_eq!(look(&host).unwrap(), AtLogin::Foreign);
        assert!(off(&host).is_err() && on(&host).await.is_err());
    }
}

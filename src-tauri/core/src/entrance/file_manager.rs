//! "Spawn agent here" in the file manager: a service of the Finder's on macOS; on Linux a script of GNOME Files, a
//! service menu of Dolphin's, and the application's own entry with the `pao://` links it opens.

use std::path::{Path, PathBuf};

use super::piece::{Body, Done, Found, Piece, Standing};
use super::{APP_ID, EntranceError, TITLE, desktop_entry, tool, workflow};
use crate::host::terminal::shell_word;
use crate::host::{Host, app, os};

/// What links of ours are to a Linux desktop.
const LINK: &str = "x-scheme-handler/pao";
const NAUTILUS: &str = "nautilus";
const DOLPHIN: &str = "dolphin";
/// How the app's .deb names its own entry.
const PACKAGED: &str = "Prime Agent Orchestrator.desktop";

/// Where the entry is switched on, should it not appear by itself.
pub const ENABLE: &str = if os::IS_MACOS {
    "should it not appear, switch it on in System Settings > General > Login Items & Extensions > Finder (macOS 13 and \
     14: Privacy & Security > Extensions > Finder); it is also listed in Keyboard > Keyboard Shortcuts > Services > Files \
     and Folders"
} else {
    "GNOME Files shows it under Scripts in a folder's context menu, Dolphin in the context menu itself"
};

/// What the switch stands for, by the worst of its parts.
pub fn together(found: &[Found]) -> Standing {
    let any = |standing| found.iter().any(|found| found.standing == standing);
    let all = |standing| !found.is_empty() && found.iter().all(|found| found.standing == standing);
    if any(Standing::Foreign) {
        Standing::Foreign
    } else if all(Standing::Installed) {
        Standing::Installed
    } else if found.is_empty() || all(Standing::NotInstalled) {
        Standing::NotInstalled
    } else {
        Standing::NeedsRepair
    }
}

/// How each part stands. Parts for what is not on this machine are only named where they are there.
pub fn found(host: &Host) -> Result<Vec<Found>, EntranceError> {
    look(host, os::IS_MACOS)
}

fn look(host: &Host, macos: bool) -> Result<Vec<Found>, EntranceError> {
    let mut all = Vec::new();
    for (piece, wanted) in pieces(host, macos)? {
        let standing = piece.standing()?;
        let there = matches!(standing, Standing::Installed | Standing::NeedsRepair);
        if wanted || there {
            all.push(Found { what: piece.what, path: piece.path, standing });
        }
    }
    Ok(all)
}

/// What there is to say where no file manager has room for the entry.
pub fn lacking(host: &Host) -> Option<&'static str> {
    let none = !os::IS_MACOS && host.find_on_path(NAUTILUS).is_none() && host.find_on_path(DOLPHIN).is_none();
    none.then_some("neither GNOME Files nor Dolphin is installed, so only pao:// links open the app")
}

/// Makes every part, or puts it right.
pub async fn install(host: &Host) -> Result<Vec<Done>, EntranceError> {
    if app::find(host).is_none() {
        return Err(EntranceError::NoApp);
    }
    let done = put_all(host, os::IS_MACOS).await?;
    os::services_changed().await;
    Ok(done)
}

async fn put_all(host: &Host, macos: bool) -> Result<Vec<Done>, EntranceError> {
    let pieces = pieces(host, macos)?;
    let wanted: Vec<Piece> =
        pieces.into_iter().filter(|(_, wanted)| *wanted).map(|(piece, _)| piece).collect();
    // Looked at before anything is written: all of it, or nothing.
    for piece in &wanted {
        if piece.standing()? == Standing::Foreign {
            return Err(EntranceError::Foreign { path: host.display(&piece.path) });
        }
    }
    let mut done = Vec::new();
    for piece in &wanted {
        done.push(piece.put(host).await?);
    }
    Ok(done)
}

/// Takes every part away that is ours.
pub async fn remove(host: &Host) -> Result<Vec<Done>, EntranceError> {
    let done = take_all(host, os::IS_MACOS)?;
    if done.iter().any(|done| done.outcome == "removed") {
        os::services_changed().await;
    }
    Ok(done)
}

/// Takes one part away, the one that stands there.
pub async fn remove_one(host: &Host, path: &Path) -> Result<Done, EntranceError> {
    let piece = pieces(host, os::IS_MACOS)?.into_iter().find(|(piece, _)| piece.path == path);
    let (piece, _) = piece.ok_or_else(|| EntranceError::Refused("there is no such part".into()))?;
    let done = piece.take()?;
    os::services_changed().await;
    Ok(done)
}

fn take_all(host: &Host, macos: bool) -> Result<Vec<Done>, EntranceError> {
    let mut done = Vec::new();
    for (piece, wanted) in pieces(host, macos)? {
        if wanted || piece.standing()? != Standing::NotInstalled {
            done.push(piece.take()?);
        }
    }
    Ok(done)
}

/// Every part there can be, and whether this machine wants it.
fn pieces(host: &Host, macos: bool) -> Result<Vec<(Piece, bool)>, EntranceError> {
    if macos {
        let files = workflow::files().map_err(|e| EntranceError::Refused(e.to_string()))?;
        let path = host.home.join("Library/Services").join(workflow::BUNDLE);
        return Ok(vec![(Piece { what: "the Finder's entry", path, body: Body::Folder(files) }, true)]);
    }
    let (pao, data) = (tool::stable(host), data_home(host));
    let file = |what, path: PathBuf, bytes: Option<Vec<u8>>, mode, wanted| {
        let refused = || EntranceError::Refused(format!("no entry can name {}", pao.display()));
        let body = Body::File { bytes: bytes.ok_or_else(refused)?, mode };
        Ok::<_, EntranceError>((Piece { what, path, body }, wanted))
    };
    let has = |program| host.find_on_path(program).is_some();
    let mut all = vec![
        file(
            "the script of GNOME Files",
            data.join("nautilus/scripts").join(TITLE),
            Some(nautilus(&pao)),
            0o755,
            has(NAUTILUS),
        )?,
        file(
            "the service menu of Dolphin",
            data.join("kio/servicemenus").join(format!("{APP_ID}.desktop")),
            desktop_entry::dolphin(&pao),
            0o755,
            has(DOLPHIN),
        )?,
    ];
    let entry = format!("{APP_ID}.desktop");
    let program = app::find(host).unwrap_or_else(|| PathBuf::from("prime-agent-orchestrator"));
    let wanted = !is_packaged(host);
    all.push(file(
        "the app among the applications",
        data.join("applications").join(&entry),
        desktop_entry::application(&program, LINK),
        0o644,
        wanted,
    )?);
    let path = config_home(host).join("mimeapps.list");
    all.push((
        Piece { what: "the handler of pao:// links", path, body: Body::Handler { mime: LINK, entry } },
        wanted,
    ));
    Ok(all)
}

/// The app came as a package, which brings its own entry.
fn is_packaged(host: &Host) -> bool {
    let folders = host.var("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share");
    folders.split(':').any(|folder| Path::new(folder).join("applications").join(PACKAGED).is_file())
}

/// The script that GNOME Files runs in the folder it shows. It gives names there and whole paths elsewhere; where nothing
/// is selected it gives none, and only a folder of this machine can then be meant.
fn nautilus(pao: &Path) -> Vec<u8> {
    let mut script = format!(
        "#!/bin/sh\n# Written by {} ({APP_ID}); `pao file-manager remove` takes it away.\n\
         if [ \"$#\" -eq 0 ]; then\n  case ${{NAUTILUS_SCRIPT_CURRENT_URI:-file:}} in\n    file:*) set -- . ;;\n  \
         esac\nfi\nexec ",
        crate::view::tray::APP
    )
    .into_bytes();
    script.extend(shell_word(pao));
    script.extend_from_slice(b" app -- \"$@\"\n");
    script
}

/// `$XDG_DATA_HOME`, which counts only where it is absolute.
pub(crate) fn data_home(host: &Host) -> PathBuf {
    xdg(host, "XDG_DATA_HOME", ".local/share")
}

/// `$XDG_CONFIG_HOME`.
pub(super) fn config_home(host: &Host) -> PathBuf {
    xdg(host, "XDG_CONFIG_HOME", ".config")
}

pub(crate) fn xdg(host: &Host, name: &str, usual: &str) -> PathBuf {
    host.var(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .unwrap_or_else(|| host.home.join(usual))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::entrance::tests::host;

    fn program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[tokio::test]
    async fn the_finders_bundle_is_written_where_services_are_and_goes_again() {
        let home = tempfile::tempdir().unwrap();
        let host = host(home.path());
        assert_eq!(together(&look(&host, true).unwrap()), Standing::NotInstalled);
        put_all(&host, true).await.unwrap();
        let bundle = home.path().join("Library/Services/Spawn agent here.workflow");
        let document = plist::Value::from_file(bundle.join("Contents/document.wflow")).unwrap();
        assert!(document.as_dictionary().unwrap().contains_key("workflowMetaData"));
        assert!(bundle.join("Contents/Info.plist").is_file());
        assert!(!bundle.join("Contents/Resources").exists());
        assert_eq!(together(&look(&host, true).unwrap()), Standing::Installed);
        std::fs::remove_file(bundle.join("Contents/Info.plist")).unwrap();
        assert_eq!(together(&look(&host, true).unwrap()), Standing::NeedsRepair);
        put_all(&host, true).await.unwrap();
        assert_eq!(together(&look(&host, true).unwrap()), Standing::Installed);
        take_all(&host, true).unwrap();
        assert!(!bundle.exists());
    }

    #[tokio::test]
    async fn linux_gets_what_its_file_managers_take_and_nothing_where_something_is_in_the_way() {
        let home = tempfile::tempdir().unwrap();
        let mut host = host(home.path());
        let bin = home.path().join("bin");
        for name in ["pao", "prime-agent-orchestrator", "nautilus", "dolphin"] {
            program(&bin.join(name));
        }
        host.env.insert("XDG_DATA_DIRS".into(), home.path().into());
        assert_eq!(look(&host, false).unwrap().len(), 2, "no file manager is on the PATH");
        host.env.insert("PATH".into(), bin.into());
        let script = home.path().join(".local/share/nautilus/scripts/Spawn agent here");
        std::fs::create_dir_all(script.parent().unwrap()).unwrap();
        std::fs::write(&script, "mine").unwrap();
        assert!(matches!(put_all(&host, false).await, Err(EntranceError::Foreign { .. })));
        assert!(!home.path().join(".local/share/kio").exists(), "all of it or nothing");
        std::fs::remove_file(&script).unwrap();
        let done = put_all(&host, false).await.unwrap();
        assert_eq!(done.len(), 4);
        assert_eq!(together(&look(&host, false).unwrap()), Standing::Installed);
        // A file manager that was taken off the machine leaves a part that is still found.
        host.env.remove(std::ffi::OsStr::new("PATH"));
        assert_eq!(look(&host, false).unwrap().len(), 4);
        take_all(&host, false).unwrap();
        assert!(look(&host, false).unwrap().iter().all(|found| found.standing == Standing::NotInstalled));
        assert!(!home.path().join(".config/mimeapps.list").exists());
    }
}

//! Desktop entries, the little files by which Linux desktops know what can be started.
//!
//! Quoting follows the Desktop Entry Specification: an argument of `Exec` in double quotes with four characters
//! escaped, `%` doubled, and then the whole value escaped once more as every string value is.

use std::path::Path;

use super::{APP_ID, TITLE};
use crate::view::tray::APP;

/// How the rest of an `Exec` line says "the folders that were chosen", and the app's own "what it was given".
const FOLDERS: &str = "app -- %F";

/// A path as the first words of an `Exec` line; `None` where such a line cannot hold it.
fn program(path: &Path) -> Option<String> {
    // The specification forbids an equals sign in the program, and a file of text holds only text.
    let path = path.to_str().filter(|path| !path.contains('='))?;
    let mut quoted = String::from('"');
    for c in path.chars() {
        match c {
            '"' | '`' | '$' | '\\' => quoted.extend(['\\', c]),
            '%' => quoted.push_str("%%"),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    // GNOME looks for the program before it has read `%%` as `%`.
    let mut value = String::from(if path.contains('%') { "/usr/bin/env " } else { "" });
    for c in quoted.chars() {
        match c {
            '\\' => value.push_str("\\\\"),
            '\n' => value.push_str("\\n"),
            '\r' => value.push_str("\\r"),
            '\t' => value.push_str("\\t"),
            _ => value.push(c),
        }
    }
    Some(value)
}

/// Dolphin's entry for folders, which it only takes from a file that may be executed.
pub fn dolphin(pao: &Path) -> Option<Vec<u8>> {
    let program = program(pao)?;
    let text = format!(
        "# Written by {APP} ({APP_ID}); `pao file-manager remove` takes it away.\n\
         [Desktop Entry]\nType=Service\nMimeType=inode/directory;\nActions=spawn;\nX-KDE-Priority=TopLevel\n\n\
         [Desktop Action spawn]\nName={TITLE}\nIcon=utilities-terminal\nExec={program} {FOLDERS}\n"
    );
    Some(text.into_bytes())
}

/// The app's own entry, by which `pao://` links find it.
pub fn application(app: &Path, mime: &str) -> Option<Vec<u8>> {
    let program = program(app)?;
    let text = format!(
        "# Written by {APP} ({APP_ID}); `pao file-manager remove` takes it away.\n\
         [Desktop Entry]\nType=Application\nName={APP}\nComment=Starts coding agents that know what you know\n\
         Exec={program} %U\nIcon=utilities-terminal\nTerminal=false\nCategories=Development;\nMimeType={mime};\n"
    );
    Some(text.into_bytes())
}

/// The entry that opens the app at login.
pub fn autostart(app: &Path) -> Option<Vec<u8>> {
    let program = program(app)?;
    let text = format!(
        "# Written by {APP} ({APP_ID}); its own switch takes it away.\n\
         [Desktop Entry]\nType=Application\nName={APP}\nExec={program}\nIcon=utilities-terminal\n\
         Terminal=false\nX-GNOME-Autostart-enabled=true\n"
    );
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_program_is_one_word_of_an_exec_line_whatever_it_is_called() {
        let quoted = |path: &str| program(Path::new(path));
        assert_eq!(quoted("/usr/bin/pao").as_deref(), Some("\"/usr/bin/pao\""));
        assert_eq!(quoted("/a b/$x\"`/100%").as_deref(), Some(r#"/usr/bin/env "/a b/\\$x\\"\\`/100%%""#));
        assert_eq!(quoted("/a\\b\nc").as_deref(), Some(r#""/a\\\\b\nc""#));
        assert_eq!(quoted("/a=b"), None);
        assert_eq!(program(Path::new(std::ffi::OsStr::from_bytes(b"/\xff"))), None);
    }
}

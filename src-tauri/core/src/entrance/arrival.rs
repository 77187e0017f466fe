//! What a launch of the app brings, the first or a later one: folders, as the file manager and `pao app` hand them over,
//! or a link. It becomes what the spawn panel is filled in with, and a sentence where something is to be said.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use super::link;
use crate::host::Host;
use crate::words::counted;

/// More folders than anybody chooses on purpose.
const MOST: usize = 20;

/// What the spawn panel is filled in with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrival {
    /// What the agent is to do.
    pub text: String,
    /// Where.
    pub folder: Option<PathBuf>,
    /// Further folders that were chosen, for one spawn each.
    pub others: Vec<PathBuf>,
    /// What is to be said about it.
    pub note: Option<String>,
}

/// What the words behind a program's name bring; `None` where there are none to go by.
pub fn of_arguments(host: &Host, words: &[String], cwd: &Path) -> Option<Arrival> {
    let mut only_paths = false;
    let mut meant = Vec::new();
    for word in words {
        if !only_paths && word == "--" {
            only_paths = true;
        } else if only_paths || !word.starts_with('-') {
            meant.push((word.as_str(), only_paths));
        }
    }
    of(host, meant, cwd)
}

/// What addresses bring that the system opens with the app.
pub fn of_urls<'a>(host: &Host, urls: impl IntoIterator<Item = &'a str>) -> Option<Arrival> {
    of(host, urls.into_iter().map(|url| (url, false)).collect(), &host.home)
}

fn of(host: &Host, words: Vec<(&str, bool)>, cwd: &Path) -> Option<Arrival> {
    if words.is_empty() {
        return None;
    }
    let mut arrival = Arrival::default();
    let (mut folders, mut notes, mut linked) = (Vec::new(), Vec::new(), false);
    for (word, only_path) in words {
        if !only_path && link::is_ours(word) {
            if std::mem::replace(&mut linked, true) {
                notes.push("Of several links the first was taken.".to_owned());
                continue;
            }
            match link::parse(word) {
                Ok(read) => {
                    folders.extend(read.folder.and_then(|folder| named(host, &folder, &mut notes)));
                    if !read.text.is_empty() {
                        notes.push("A link filled this in. Read it before you spawn.".to_owned());
                    }
                    arrival.text = read.text;
                }
                Err(error) => notes.push(format!("A link could not be used: {error}.")),
            }
        } else {
            let path = if only_path { None } else { file_url(word) };
            match folder(&path.unwrap_or_else(|| cwd.join(word))) {
                Some(folder) => folders.push(folder),
                None => notes.push(format!("There is no folder {}.", shown(word))),
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    if folders.len() > MOST {
        notes.push(format!("{} were left out.", counted(folders.len() - MOST, "folder", "folders")));
        folders.truncate(MOST);
    }
    let mut folders = folders.into_iter();
    arrival.folder = folders.next();
    arrival.others = folders.collect();
    notes.truncate(3);
    arrival.note = (!notes.is_empty()).then(|| notes.join(" "));
    Some(arrival)
}

/// The folder a link names.
fn named(host: &Host, name: &str, notes: &mut Vec<String>) -> Option<PathBuf> {
    let path = match name.strip_prefix('~') {
        Some(rest) => host.home.join(rest.trim_start_matches('/')),
        None => PathBuf::from(name),
    };
    let found = folder(&path);
    if found.is_none() {
        notes.push(format!("The link names the folder {}, which is not there.", shown(name)));
    }
    found
}

/// The folder a path means: itself or, where it is a file, the one it lies in.
fn folder(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    if real.is_dir() { Some(real) } else { real.parent().map(Path::to_path_buf) }
}

/// The path in a `file:` address of this machine.
fn file_url(word: &str) -> Option<PathBuf> {
    let rest = word.get(..7).filter(|head| head.eq_ignore_ascii_case("file://")).map(|_| &word[7..])?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = path.split(['?', '#']).next().filter(|path| path.starts_with('/'))?;
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    Some(PathBuf::from(OsStr::from_bytes(&bytes)))
}

/// A word for people, whatever is in it.
fn shown(word: &str) -> String {
    let visible: String =
        word.chars().filter(|c| !c.is_control() && !crate::text::is_invisible(*c)).take(80).collect();
    format!("{visible:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entrance::tests::host;

    struct Place {
        _home: tempfile::TempDir,
        host: Host,
    }

    fn place() -> Place {
        let home = tempfile::tempdir().unwrap();
        let host = host(&home.path().canonicalize().unwrap());
        Place { _home: home, host }
    }

    impl Place {
        fn folder(&self, name: &str) -> PathBuf {
            let path = self.host.home.join(name);
            std::fs::create_dir_all(&path).unwrap();
            path
        }

        fn brings(&self, words: &[&str]) -> Option<Arrival> {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            of_arguments(&self.host, &words, &self.host.home)
        }
    }

    #[test]
    fn nothing_is_brought_by_no_words_or_by_switches() {
        let place = place();
        assert_eq!(place.brings(&[]), None);
        assert_eq!(place.brings(&["-psn_0_1", "--flag", "--"]), None);
    }

    #[test]
    fn folders_come_as_they_are_named_whatever_is_in_their_names() {
        let place = place();
        for name in
            ["a b", "quo'te\"s", "line\nbreak", "100%", "%20", "$HOME", "支付", "-rf", "pao:x", "a;b&c", "\\"]
        {
            let folder = place.folder(name);
            let arrival = place.brings(&["--", name]).unwrap();
            assert_eq!(arrival, Arrival { folder: Some(folder.clone()), ..Arrival::default() }, "{name:?}");
            let url = format!(
                "file://{}",
                percent_encoding::utf8_percent_encode(
                    folder.to_str().unwrap(),
                    percent_encoding::NON_ALPHANUMERIC
                )
            )
            .replace("%2F", "/");
            let arrival = of_urls(&place.host, [url.as_str()]).unwrap();
            assert_eq!(arrival.folder.as_ref(), Some(&folder), "{url}");
        }
    }

    #[test]
    fn several_folders_come_in_order_and_once_each_and_a_file_means_its_folder() {
        let place = place();
        let (a, b) = (place.folder("a"), place.folder("b"));
        std::fs::write(b.join("main.rs"), "").unwrap();
        let arrival = place.brings(&["a", "b/main.rs", "a/../a", "b"]).unwrap();
        assert_eq!(arrival, Arrival { folder: Some(a), others: vec![b], ..Arrival::default() });
        let many: Vec<String> =
            (0..25).map(|n| place.folder(&format!("many/{n}")).display().to_string()).collect();
        let arrival = of_arguments(&place.host, &many, &place.host.home).unwrap();
        assert_eq!((arrival.others.len(), arrival.note.as_deref()), (19, Some("5 folders were left out.")));
    }

    #[test]
    fn a_link_fills_the_panel_in_and_says_that_it_did() {
        let place = place();
        let folder = place.folder("code");
        let arrival = place.brings(&["pao://spawn?text=fix%20it&folder=~/code"]).unwrap();
        assert_eq!(arrival.text, "fix it");
        assert_eq!(arrival.folder, Some(folder));
        assert_eq!(arrival.note.as_deref(), Some("A link filled this in. Read it before you spawn."));
    }

    #[test]
    fn what_cannot_be_used_opens_the_panel_with_a_sentence() {
        let place = place();
        for (word, note) in [
            ("pao://spawn?yes=1", "A link could not be used: it names \"yes\", which links do not have."),
            ("pao://run", "A link could not be used: it asks for something that links cannot do."),
            (
                "pao://spawn?folder=/nowhere/at/all",
                "The link names the folder \"/nowhere/at/all\", which is not there.",
            ),
            ("nowhere\u{1b}[2J", "There is no folder \"nowhere[2J\"."),
            ("file://elsewhere/etc", "There is no folder \"file://elsewhere/etc\"."),
        ] {
            let arrival = place.brings(&[word]).unwrap();
            assert_eq!(arrival, Arrival { note: Some(note.into()), ..Arrival::default() });
        }
    }
}

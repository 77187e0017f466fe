//! One thing of ours in a place that belongs to the user or the system: how it stands there, putting it, taking it away.
//!
//! What stands there and does not carry our mark is never touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{APP_ID, EntranceError, mimeapps};
use crate::host::{Host, files, os};

/// What is to stand where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it is, for people.
    pub what: &'static str,
    /// Where.
    pub path: PathBuf,
    /// The thing itself.
    pub body: Body,
}

/// The thing itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A file.
    File {
        /// Its bytes, with our mark in them.
        bytes: Vec<u8>,
        /// Its permissions.
        mode: u32,
    },
    /// A folder of files: their paths in it and their bytes, with our mark in one of them.
    Folder(Vec<(&'static str, Vec<u8>)>),
    /// One line in the list of which application opens what.
    Handler {
        /// The kind of thing.
        mime: &'static str,
        /// File name of the application's entry.
        entry: String,
    },
}

/// How a thing stands where it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// As it should be.
    Installed,
    /// It is ours, but not as it should be.
    NeedsRepair,
    /// Nothing is there.
    NotInstalled,
    /// Something of somebody else's is there.
    Foreign,
}

impl Standing {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Installed => "installed",
            Standing::NeedsRepair => "needs repair",
            Standing::NotInstalled => "not installed",
            Standing::Foreign => "not ours",
        }
    }
}

/// A thing and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is.
    pub what: &'static str,
    /// Where.
    pub path: PathBuf,
    /// How it stands.
    pub standing: Standing,
}

/// What became of a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What it is.
    pub what: &'static str,
    /// Where.
    pub path: PathBuf,
    /// What became of it, a word or two.
    pub outcome: &'static str,
    /// It is somebody else's and was left alone.
    pub left: bool,
}

impl Piece {
    /// How it stands there now.
    pub fn standing(&self) -> Result<Standing, EntranceError> {
        self.look().map_err(|source| self.failed(source))
    }

    fn look(&self) -> io::Result<Standing> {
        let meta = match self.path.symlink_metadata() {
            Ok(meta) => meta,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Standing::NotInstalled),
            Err(e) => return Err(e),
        };
        match &self.body {
            Body::File { bytes, mode } => {
                use std::os::unix::fs::MetadataExt;
                if !meta.is_file() {
                    return Ok(Standing::Foreign);
                }
                let there = files::read_if_there(&self.path)?.unwrap_or_default();
                Ok(match there == *bytes {
                    true if meta.mode() & 0o777 == *mode => Standing::Installed,
                    true => Standing::NeedsRepair,
                    false if is_ours(&there) => Standing::NeedsRepair,
                    false => Standing::Foreign,
                })
            }
            Body::Folder(parts) => {
                if !meta.is_dir() {
                    return Ok(Standing::Foreign);
                }
                let (mut same, mut ours) = (true, false);
                for (name, bytes) in parts {
                    let there = match fs::symlink_metadata(self.path.join(name)) {
                        Ok(meta) if meta.is_file() => files::read_if_there(&self.path.join(name))?,
                        _ => None,
                    };
                    same &= there.as_ref() == Some(bytes);
                    ours |= there.is_some_and(|there| is_ours(&there));
                }
                let empty = || fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_none());
                Ok(match same {
                    true => Standing::Installed,
                    false if ours || empty() => Standing::NeedsRepair,
                    false => Standing::Foreign,
                })
            }
            Body::Handler { mime, entry } => {
                let text = read_text(&self.path)?;
                Ok(match mimeapps::handler(&text, mime) {
                    Some(handler) if handler == *entry => Standing::Installed,
                    Some(_) => Standing::Foreign,
                    None => Standing::NotInstalled,
                })
            }
        }
    }

    /// Puts it there, or puts it right.
    pub async fn put(&self, host: &Host) -> Result<Done, EntranceError> {
        let before = self.standing()?;
        let outcome = match before {
            Standing::Installed => "was there already",
            Standing::Foreign => return Err(EntranceError::Foreign { path: host.display(&self.path) }),
            Standing::NeedsRepair => "put right",
            Standing::NotInstalled => "written",
        };
        if before != Standing::Installed {
            self.write(before).await.map_err(|source| self.failed(source))?;
        }
        Ok(self.done(outcome))
    }

    async fn write(&self, before: Standing) -> io::Result<()> {
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent)?;
        match &self.body {
            Body::File { bytes, mode } if before == Standing::NotInstalled => {
                files::create_with(&self.path, bytes, *mode)
            }
            Body::File { bytes, mode } => {
                use std::os::unix::fs::PermissionsExt;
                files::write_in_place(&self.path, bytes)?;
                fs::set_permissions(&self.path, fs::Permissions::from_mode(*mode))
            }
            Body::Folder(parts) => {
                use std::os::unix::fs::PermissionsExt;
                // Whoever watches the folder sees the old one or the new one, never a half one.
                let beside = tempfile::Builder::new().prefix(".pao-").suffix(".tmp").tempdir_in(parent)?;
                let (new, old) = (beside.path().join("new"), beside.path().join("old"));
                for (name, bytes) in parts {
                    let file = new.join(name);
                    fs::create_dir_all(file.parent().unwrap_or(&new))?;
                    files::create_with(&file, bytes, 0o644)?;
                    os::remove_quarantine(&file).await;
                }
                fs::set_permissions(&new, fs::Permissions::from_mode(0o755))?;
                os::remove_quarantine(&new).await;
                let aside = before != Standing::NotInstalled;
                if aside {
                    fs::rename(&self.path, &old)?;
                }
                if let Err(error) = fs::rename(&new, &self.path) {
                    if aside {
                        fs::rename(&old, &self.path)?;
                    }
                    return Err(error);
                }
                files::sync_dir(parent)
            }
            Body::Handler { mime, entry } => {
                change_text(&self.path, |text| Some(mimeapps::with(text, mime, entry)))
            }
        }
    }

    /// Takes it away, where it is ours.
    pub fn take(&self) -> Result<Done, EntranceError> {
        let outcome = match self.standing()? {
            Standing::NotInstalled => "was not there",
            Standing::Foreign => {
                return Ok(Done { left: true, ..self.done("left alone: it is not ours") });
            }
            Standing::Installed | Standing::NeedsRepair => {
                self.remove().map_err(|source| self.failed(source))?;
                "removed"
            }
        };
        Ok(self.done(outcome))
    }

    fn remove(&self) -> io::Result<()> {
        match &self.body {
            Body::File { .. } => files::remove_if_there(&self.path).map(drop),
            Body::Folder(_) => {
                // A removal that stops half-way must not leave an entry that does half of what it says.
                let parent = self.path.parent().unwrap_or(Path::new("/"));
                let beside = tempfile::Builder::new().prefix(".pao-").suffix(".tmp").tempdir_in(parent)?;
                fs::rename(&self.path, beside.path().join("old"))?;
                beside.close()
            }
            Body::Handler { mime, entry } => {
                change_text(&self.path, |text| mimeapps::without(text, mime, entry))
            }
        }
    }

    fn done(&self, outcome: &'static str) -> Done {
        Done { what: self.what, path: self.path.clone(), outcome, left: false }
    }

    fn failed(&self, source: io::Error) -> EntranceError {
        EntranceError::File { path: self.path.display().to_string(), source }
    }
}

fn is_ours(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, APP_ID.as_bytes()).is_some()
}

fn read_text(path: &Path) -> io::Result<String> {
    let bytes = files::read_if_there(path)?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is no text"))
}

/// Changes a text file of the user's where it lies, also behind a link. `None` removes what would be empty.
fn change_text(path: &Path, change: impl Fn(&str) -> Option<String>) -> io::Result<()> {
    let path = files::resolve(path)?;
    // Somebody else may write it at the same moment; twice in a row is bad luck enough.
    for _ in 0..3 {
        let before = files::read_if_there(&path)?;
        let text = String::from_utf8(before.clone().unwrap_or_default())
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "is no text"))?;
        match change(&text) {
            None => return files::remove_if_there(&path).map(drop),
            Some(after) if files::swap(&path, before.as_deref(), after.as_bytes())? => return Ok(()),
            Some(_) => {}
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "somebody else keeps changing it"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::entrance::tests::host;

    fn script(path: PathBuf) -> Piece {
        let bytes = format!("#!/bin/sh\n# {APP_ID}\n").into_bytes();
        Piece { what: "a script", path, body: Body::File { bytes, mode: 0o755 } }
    }

    fn bundle(path: PathBuf) -> Piece {
        let parts = vec![("Contents/a", APP_ID.as_bytes().to_vec()), ("Contents/b", b"b".to_vec())];
        Piece { what: "a bundle", path, body: Body::Folder(parts) }
    }

    #[tokio::test]
    async fn a_piece_is_written_found_put_right_and_removed() {
        let home = tempfile::tempdir().unwrap();
        let host = host(home.path());
        for piece in [script(home.path().join("a/b/script")), bundle(home.path().join("c/x.workflow"))] {
            assert_eq!(piece.standing().unwrap(), Standing::NotInstalled);
            assert_eq!(piece.put(&host).await.unwrap().outcome, "written");
            assert_eq!(piece.standing().unwrap(), Standing::Installed);
            assert_eq!(piece.put(&host).await.unwrap().outcome, "was there already");
            let part = if piece.path.is_dir() { piece.path.join("Contents/b") } else { piece.path.clone() };
            fs::write(&part, format!("{APP_ID} of an earlier version")).unwrap();
            assert_eq!(piece.standing().unwrap(), Standing::NeedsRepair);
            assert_eq!(piece.put(&host).await.unwrap().outcome, "put right");
            assert_eq!(piece.standing().unwrap(), Standing::Installed);
            assert_eq!(piece.take().unwrap().outcome, "removed");
            assert_eq!(piece.take().unwrap().outcome, "was not there");
            let left = fs::read_dir(piece.path.parent().unwrap()).unwrap().count();
            assert_eq!(left, 0, "temporary files of {}", piece.path.display());
        }
    }

    #[tokio::test]
    async fn what_is_not_ours_is_neither_replaced_nor_removed() {
        let home = tempfile::tempdir().unwrap();
        let host = host(home.path());
        let (file, folder) = (script(home.path().join("s")), bundle(home.path().join("w")));
        fs::write(&file.path, "the user's own").unwrap();
        fs::create_dir_all(folder.path.join("Contents")).unwrap();
        fs::write(folder.path.join("Contents/a"), "the user's own").unwrap();
        let link = script(home.path().join("link"));
        std::os::unix::fs::symlink(&file.path, &link.path).unwrap();
        for piece in [&file, &folder, &link, &bundle(file.path.clone()), &script(folder.path.clone())] {
            assert_eq!(piece.standing().unwrap(), Standing::Foreign);
            assert!(matches!(piece.put(&host).await, Err(EntranceError::Foreign { .. })));
            assert_eq!(piece.take().unwrap().outcome, "left alone: it is not ours");
        }
        assert_eq!(fs::read_to_string(&file.path).unwrap(), "the user's own");
        assert_eq!(fs::read_to_string(folder.path.join("Contents/a")).unwrap(), "the user's own");
    }

    #[tokio::test]
    async fn a_script_that_cannot_be_run_needs_repair() {
        let home = tempfile::tempdir().unwrap();
        let piece = script(home.path().join("s"));
        piece.put(&host(home.path())).await.unwrap();
        fs::set_permissions(&piece.path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(piece.standing().unwrap(), Standing::NeedsRepair);
        piece.put(&host(home.path())).await.unwrap();
        assert_eq!(fs::metadata(&piece.path).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_is_an_error_that_names_it() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("in the way"), "").unwrap();
        let error = script(home.path().join("in the way/s")).put(&host(home.path())).await.unwrap_err();
        assert!(error.to_string().contains("in the way/s cannot be changed"), "{error}");
    }
}

//! For a face that has to go on: a configuration that does not read counts as none, and that is said. The file is the
//! user's and stays as it is until the user lets a new one begin; then it is kept beside it.

use std::io;
use std::path::PathBuf;

use super::Config;
use crate::host::{Host, files};
use crate::{Error, Remedy};

/// How many broken files are kept before an old one would have to go.
const MOST: u32 = 99;

impl Config {
    /// What the file says or, where it does not read, the defaults and why.
    pub fn load_or_defaults(host: &Host) -> (Self, Option<Error>) {
        match Self::load(host) {
            Ok(config) => (config, None),
            Err(error) => {
                let mut said = Error::config(
                    format!("{}; the defaults are in effect", error.message),
                    format!("{}, or begin a new file: this one is then kept beside it", error.next),
                );
                said.remedy = Some(Remedy::NewConfig);
                (Self::default(), Some(said))
            }
        }
    }
}

/// Keeps a file that does not read beside itself and empties it; where it is kept, or `None` where it reads. A link
/// stays the link it is.
pub fn keep_aside(host: &Host) -> Result<Option<PathBuf>, Error> {
    if Config::load(host).is_ok() {
        return Ok(None);
    }
    let named = host.config_file();
    let shown = host.display(&named);
    let refused = |e: io::Error| {
        Error::environment(
            format!("{shown} cannot be kept aside: {e}"),
            format!("move {shown} elsewhere yourself"),
        )
    };
    let path = files::resolve(&named).map_err(refused)?;
    let bytes = files::read_if_there(&path).map_err(refused)?.unwrap_or_default();
    for number in 1..=MOST {
        let name =
            if number == 1 { "config.toml.broken".into() } else { format!("config.toml.broken-{number}") };
        let aside = host.pao_home.join(name);
        match files::create_with(&aside, &bytes, 0o600) {
            Ok(()) => {
                files::write_in_place(&path, b"").map_err(refused)?;
                return Ok(Some(aside));
            }
            // The very same was kept already.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                if files::read_if_there(&aside).ok().flatten().is_some_and(|kept| kept == bytes) {
                    files::write_in_place(&path, b"").map_err(refused)?;
                    return Ok(Some(aside));
                }
            }
            Err(e) => return Err(refused(e)),
        }
    }
    Err(refused(io::Error::other("too many broken files lie there")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::edit::{Editor, settings_anyway};

    fn host() -> (tempfile::TempDir, Host) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let pao_home = home.join("pao");
        std::fs::create_dir(&pao_home).unwrap();
        let (cwd, exe) = (home.clone(), home.join("exe"));
        (dir, Host { home, pao_home, cwd, exe, env: BTreeMap::new(), frozen: None })
    }

    #[test]
    fn a_file_that_does_not_read_gives_the_defaults_and_is_left_alone() {
        let (_dir, host) = host();
        let broken = "[spawn]\nbudget = \n";
        std::fs::write(host.config_file(), broken).unwrap();
        let (config, why) = Config::load_or_defaults(&host);
        assert_eq!(config, Config::default());
        let why = why.unwrap();
        assert!(why.message.contains("config.toml:2: not valid TOML"), "{}", why.message);
        assert!(why.message.ends_with("; the defaults are in effect"));
        assert!(!settings_anyway(&host).is_empty());
        assert_eq!(std::fs::read_to_string(host.config_file()).unwrap(), broken);
    }

    #[test]
    fn a_change_begins_a_new_file_and_keeps_the_broken_one_beside_it() {
        let (_dir, host) = host();
        let aside = |name: &str| std::fs::read_to_string(host.pao_home.join(name)).unwrap();
        for (text, name) in [("a b", "config.toml.broken"), ("c d", "config.toml.broken-2")] {
            std::fs::write(host.config_file(), text).unwrap();
            let mut editor = Editor::open_anyway(&host).unwrap();
            editor.set("spawn.budget", "900").unwrap();
            editor.save().unwrap();
            assert_eq!(Config::load(&host).unwrap().spawn.budget, 900);
            assert_eq!(aside(name), text);
        }
        assert_eq!(keep_aside(&host).unwrap(), None);
    }

    #[test]
    fn a_link_stays_a_link() {
        let (_dir, host) = host();
        let real = host.home.join("dotfiles.toml");
        std::fs::write(&real, "= =").unwrap();
        std::os::unix::fs::symlink(&real, host.config_file()).unwrap();
        assert_eq!(keep_aside(&host).unwrap(), Some(host.pao_home.join("config.toml.broken")));
        assert!(host.config_file().is_symlink());
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "");
    }
}

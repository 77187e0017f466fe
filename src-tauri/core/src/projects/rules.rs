//! What is never looked into when projects are found and watched: decided before a folder is opened or registered, so
//! that what is ignored costs nothing.
//!
//! Inside a repository its own `.gitignore` files and `.git/info/exclude` count too. Those of a repository further up do
//! not: whoever keeps the home directory under git, with everything ignored, still means the folder that was named.
//! The user's global excludes are not read; what stands in them is hidden as a rule.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Folders that programs fill, whatever a repository says of them.
const FILLED: &[&str] = &[
    "node_modules",
    "bower_components",
    "target",
    "__pycache__",
    "site-packages",
    "dist-packages",
    "venv",
    "Pods",
    "Carthage",
    "DerivedData",
];

/// Folders of a macOS home directory that hold no projects, and that ask for permissions when they are read.
const OF_THE_HOME: &[&str] =
    &["Library", "Applications", "Movies", "Music", "Pictures", "Public", "Desktop.localized"];

/// Largest file of rules that is read.
const LARGEST: u64 = 1 << 20;

/// The rules of a repository that hold in a folder of it.
#[derive(Debug, Clone, Default)]
pub struct Rules(Option<Arc<Level>>);

#[derive(Debug)]
struct Level {
    here: Gitignore,
    above: Rules,
}

impl Rules {
    /// Those of a repository with that git folder, in whose top it is.
    pub fn of_repository(top: &Path, common_dir: &Path) -> Self {
        Self::default().with(top, &common_dir.join("info/exclude"))
    }

    /// With those of a file in that folder.
    #[must_use]
    pub fn with(self, folder: &Path, file: &Path) -> Self {
        if !file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST) {
            return self;
        }
        let mut builder = GitignoreBuilder::new(folder);
        if let Some(error) = builder.add(file) {
            tracing::debug!(%error, "rules that are not understood are left out");
        }
        match builder.build() {
            Ok(here) if !here.is_empty() => Self(Some(Arc::new(Level { here, above: self }))),
            _ => self,
        }
    }

    /// Whether the repository ignores a folder in it. The nearest rule that says anything counts.
    fn ignore(&self, folder: &Path) -> bool {
        let mut level = self;
        while let Some(rules) = &level.0 {
            let said = rules.here.matched(folder, true);
            if !said.is_none() {
                return said.is_ignore();
            }
            level = &rules.above;
        }
        false
    }

    /// Whether a folder is left alone with all that is in it.
    pub fn skip(&self, parent: &Path, name: &OsStr, path: &Path, home: &Path) -> bool {
        name.as_bytes().first() == Some(&b'.')
            || FILLED.iter().any(|filled| name == *filled)
            || (parent == home && OF_THE_HOME.iter().any(|own| name == *own))
            || self.ignore(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skips(rules: &Rules, path: &str) -> bool {
        let path = Path::new(path);
        rules.skip(path.parent().unwrap(), path.file_name().unwrap(), path, Path::new("/home/me"))
    }

    #[test]
    fn what_programs_fill_and_what_is_hidden_is_skipped_everywhere() {
        let none = Rules::default();
        for skipped in ["/c/node_modules", "/c/x/target", "/c/.git", "/c/.venv", "/home/me/Library"] {
            assert!(skips(&none, skipped), "{skipped}");
        }
        for kept in ["/c/api", "/c/Library", "/c/支付对账", "/c/targets", "/c/a\nb"] {
            assert!(!skips(&none, kept), "{kept}");
        }
    }

    #[test]
    fn the_nearest_rule_of_the_repository_counts() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".git/info/exclude", "mine/\n");
        write(".gitignore", "/out\ngenerated/\n[broken\n");
        write("sub/.gitignore", "!generated/\n");
        let rules = Rules::of_repository(top, &top.join(".git")).with(top, &top.join(".gitignore"));
        let below = rules.clone().with(&top.join("sub"), &top.join("sub/.gitignore"));
        let shown = |rules: &Rules, path: &str| skips(rules, top.join(path).to_str().unwrap());
        assert!(shown(&rules, "out") && shown(&rules, "mine") && shown(&rules, "a/generated"));
        assert!(!shown(&rules, "a/out") && !shown(&rules, "src"));
        assert!(!shown(&below, "sub/generated"));
    }
}

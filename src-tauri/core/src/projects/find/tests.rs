use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;

use super::*;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[&str]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for file in files {
            tree.file(file, "");
        }
        tree
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn scan(&self, bounds: &Bounds) -> Scan {
        scan(&self.path(), Path::new("/nowhere"), bounds, &|| false).unwrap()
    }

    /// Names below the root, of projects.
    fn found(&self) -> Vec<String> {
        let root = self.path();
        let scan = self.scan(&Bounds::default());
        let name = |found: &Found| found.folder.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let mut names: Vec<String> = scan.projects.iter().map(name).collect();
        names.sort();
        names
    }
}

#[test]
fn a_folder_is_a_project_by_what_lies_in_it() {
    let tree = Tree::new(&[
        "api/.git/HEAD",
        "api/Cargo.toml",
        "deep/er/web/package.json",
        "notes/CLAUDE.md",
        "go/go.mod",
        "py/pyproject.toml",
        "agents/AGENTS.md",
        "支付对账/package.json",
        "nothing/readme.txt",
        "empty-git/.git/config",
        "a/b/c/d/e/too-deep/package.json",
    ]);
    let wanted = ["agents", "api", "deep/er/web", "go", "notes", "py", "支付对账"];
    assert_eq!(tree.found(), wanted);
    let scan = tree.scan(&Bounds::default());
    let api = scan.projects.iter().find(|found| found.folder.ends_with("api")).unwrap();
    assert_eq!(api.marks, [".git", "Cargo.toml"]);
}

#[test]
fn a_monorepo_is_one_project_with_those_of_its_parts_that_speak_to_agents() {
    let tree = Tree::new(&[
        "mono/.git/HEAD",
        "mono/package.json",
        "mono/packages/a/package.json",
        "mono/packages/b/package.json",
        "mono/packages/b/CLAUDE.md",
        "mono/packages/b/sub/package.json",
        "mono/.git/modules/sub/HEAD",
        "mono/.git/modules/spoken/HEAD",
        "mono/.git/worktrees/linked/HEAD",
        "mono/spoken/AGENTS.md",
        "mono/clone/.git/HEAD",
        "plain/package.json",
        "plain/packages/a/package.json",
    ]);
    let git = tree.path().join("mono/.git");
    tree.file("mono/.git/worktrees/linked/commondir", "../..");
    for (folder, dir) in
        [("sub", "modules/sub"), ("spoken", "modules/spoken"), ("linked", "worktrees/linked")]
    {
        tree.file(&format!("mono/{folder}/.git"), &format!("gitdir: {}\n", git.join(dir).display()));
    }
    let wanted = ["mono", "mono/clone", "mono/linked", "mono/packages/b", "mono/spoken", "plain"];
    assert_eq!(tree.found(), wanted);
}

#[test]
fn a_root_that_only_carries_instructions_hides_nothing() {
    let tree = Tree::new(&["CLAUDE.md", "a/package.json", "b/.git/HEAD"]);
    assert_eq!(tree.found(), ["", "a", "b"]);
    let tree = Tree::new(&[".git/HEAD", "a/package.json"]);
    assert_eq!(tree.found(), [""]);
}

#[test]
fn what_is_ignored_is_neither_found_nor_listed_for_watching() {
    let tree = Tree::new(&[
        "api/.git/HEAD",
        "api/.git/objects/aa/x",
        "api/node_modules/left-pad/package.json",
        "api/build/x/package.json",
        "api/build/x/CLAUDE.md",
        "api/src/main.rs",
        "api/target/debug/x",
        ".hidden/x/package.json",
        "bare.git/HEAD",
        "bare.git/objects/x",
        "bare.git/refs/x",
    ]);
    tree.file("api/.gitignore", "build/\n");
    let scan = tree.scan(&Bounds::default());
    let root = tree.path();
    let folders: Vec<_> = scan
        .folders
        .iter()
        .map(|folder| folder.path.strip_prefix(&root).unwrap().to_str().unwrap())
        .collect();
    assert_eq!(folders, ["", "api", "api/src"]);
    assert_eq!(
        scan.folders.iter().map(|folder| folder.project).collect::<Vec<_>>(),
        [None, Some(0), Some(0)]
    );
}

#[test]
fn rules_above_the_root_and_outside_of_repositories_do_not_count() {
    let tree = Tree::new(&["home/.git/HEAD", "home/code/api/package.json"]);
    tree.file("home/.gitignore", "*\n");
    tree.file("home/code/.gitignore", "api\n");
    let root = tree.path().join("home/code");
    let scan = scan(&root, Path::new("/nowhere"), &Bounds::default(), &|| false).unwrap();
    assert_eq!(scan.projects.len(), 1);
}

#[test]
fn links_are_not_followed_and_hostile_names_are_taken_as_they_are() {
    let tree = Tree::new(&["a\nb/package.json", "$(touch x)/go.mod", "-rf/Cargo.toml"]);
    let root = tree.path();
    let unreadable = root.join(OsString::from_vec(b"caf\xe9".to_vec()));
    fs::create_dir(&unreadable).unwrap();
    fs::write(unreadable.join("go.mod"), "").unwrap();
    symlink(&root, root.join("a\nb/loop")).unwrap();
    symlink("/", root.join("everything")).unwrap();
    let scan = tree.scan(&Bounds::default());
    assert_eq!(scan.projects.len(), 4);
    assert!(scan.projects.iter().any(|found| found.folder == unreadable));
    assert_eq!(scan.folders.len(), 5);
}

#[test]
fn a_bound_cuts_what_lies_deepest_and_says_so() {
    let tree = Tree::new(&["big/.git/HEAD", "small/.git/HEAD", "small/src/x"]);
    for n in 0..30 {
        tree.file(&format!("big/src/d{n}/deep/x"), "");
    }
    let scan = tree.scan(&Bounds { of_one: 10, ..Bounds::default() });
    let cut: Vec<_> =
        scan.projects.iter().map(|found| (found.folder.file_name().unwrap(), found.cut)).collect();
    assert_eq!(cut, [(OsStr::new("big"), true), (OsStr::new("small"), false)]);
    assert_eq!(scan.folders.iter().filter(|folder| folder.project == Some(0)).count(), 10);
    let scan = tree.scan(&Bounds { all: 5, ..Bounds::default() });
    assert_eq!((scan.folders.len(), scan.cut, scan.projects.len()), (5, true, 2));
}

#[test]
fn a_root_that_is_not_there_is_an_error() {
    assert!(scan(Path::new("/nowhere/at-all"), Path::new("/"), &Bounds::default(), &|| false).is_err());
}

use std::fs;

use chrono::TimeDelta;

use super::*;
use crate::config::Config;

fn world() -> (tempfile::TempDir, Host) {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap().join("home");
    fs::create_dir(&home).unwrap();
    let host = Host {
        exe: "/usr/bin/pao".into(),
        env: BTreeMap::from([("TMPDIR".into(), dir.path().join("tmp").into())]),
        ..Host::at(&home)
    };
    (dir, host)
}

fn now() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc()
}

/// Sessions in these folders of the home directory, one hour after the other back from now.
fn sessions(host: &Host, folders: &[&str]) -> Vec<Session> {
    let one = |(hours, folder): (i64, &&str)| {
        let folder = host.home.join(folder);
        let project = folder.to_string_lossy().into_owned();
        Session { folder, project, at: now() - TimeDelta::hours(hours) }
    };
    (0..).zip(folders).map(one).collect()
}

#[test]
fn folders_of_projects_are_proposed_the_most_recent_first_and_none_that_would_be_everything() {
    let (dir, host) = world();
    let worked = [
        "工作/支付对账",
        "code/api",
        "code/web",
        "code/old/x",
        "code/web",
        "dotfiles",
        ".hidden/y",
        "",
        "gone/z",
    ];
    for folder in worked.iter().filter(|folder| !folder.starts_with("gone")) {
        fs::create_dir_all(host.home.join(folder)).unwrap();
    }
    let temporary = dir.path().join("tmp/t/p");
    fs::create_dir_all(&temporary).unwrap();
    let mut sessions = sessions(&host, &worked);
    for place in [temporary.as_path(), Path::new("/"), Path::new("/tmp")] {
        let project = place.to_string_lossy().into_owned();
        sessions.push(Session { folder: place.into(), project, at: now() });
    }
    let proposed = proposals(&host, &[], &sessions);
    let told: Vec<_> = proposed
        .iter()
        .map(|p| {
            (host.display(&p.folder), p.projects, p.examples.join(" "), (now() - p.active_at).num_hours())
        })
        .collect();
    assert_eq!(
        told,
        [
            ("~/工作".into(), 1, "支付对账".into(), 0),
            ("~/code".into(), 3, "api web x".into(), 1),
            ("~/dotfiles".to_string(), 1, "dotfiles".to_string(), 5),
        ]
    );
    let rest = proposals(&host, &[host.home.join("code"), "/nowhere".into()], &sessions);
    assert_eq!(rest.iter().map(|p| host.display(&p.folder)).collect::<Vec<_>>(), ["~/工作", "~/dotfiles"]);
}

#[test]
fn a_root_comes_and_goes_around_comments_and_stays_when_its_disk_is_away() {
    let (dir, host) = world();
    fs::create_dir_all(&host.pao_home).unwrap();
    let text = "# mine\n[projects]\nroots = [\n  # work\n  \"~/code\", # all of it\n  \"/Volumes/old\", # a disk\n]\n";
    fs::write(host.config_file(), text).unwrap();
    for folder in ["code", "工作"] {
        fs::create_dir(host.home.join(folder)).unwrap();
    }
    let disk = dir.path().join("disk");
    fs::create_dir(&disk).unwrap();
    assert_eq!(add(&host, Path::new("工作")).unwrap(), (host.home.join("工作"), true));
    assert_eq!(add(&host, &disk).unwrap(), (disk.clone(), true));
    assert_eq!(add(&host, Path::new("./code/.")).unwrap(), (host.home.join("code"), false));
    fs::remove_dir(&disk).unwrap();
    let read = || fs::read_to_string(host.config_file()).unwrap();
    let shown = read().replace(disk.to_str().unwrap(), "/disk");
    assert_eq!(
        shown,
        "# mine\n[projects]\nroots = [\n  # work\n  \"~/code\", # all of it\n  \"/Volumes/old\", # a disk\n  \
         \"~/工作\",\n  \"/disk\",\n]\n"
    );
    assert_eq!(remove(&host, &disk).unwrap(), disk);
    assert_eq!(remove(&host, Path::new("/Volumes/old")).unwrap(), Path::new("/Volumes/old"));
    assert_eq!(
        read(),
        "# mine\n[projects]\nroots = [\n  # work\n  \"~/code\", # all of it\n  \"~/工作\",\n]\n"
    );
    remove(&host, Path::new("code")).unwrap();
    remove(&host, Path::new("工作")).unwrap();
    assert!(remove(&host, Path::new("工作")).is_err());
    let left = read();
    assert!(left.contains("# mine") && left.contains("# work"), "{left}");
    assert_eq!(Config::load(&host).unwrap().projects.roots, Vec::<String>::new());
}

#[test]
fn in_an_empty_configuration_a_root_leaves_no_trace_when_it_goes() {
    let (_dir, host) = world();
    fs::create_dir(host.home.join("a b's")).unwrap();
    add(&host, Path::new("a b's")).unwrap();
    assert_eq!(fs::read_to_string(host.config_file()).unwrap(), "[projects]\nroots = [\"~/a b's\"]\n");
    add(&host, Path::new("/usr")).unwrap();
    assert_eq!(Config::load(&host).unwrap().projects.roots, ["~/a b's", "/usr"]);
    remove(&host, Path::new("a b's")).unwrap();
    assert_eq!(fs::read_to_string(host.config_file()).unwrap(), "[projects]\nroots = [\"/usr\"]\n");
}

#[test]
fn the_home_directory_the_disk_a_file_and_a_name_that_cannot_be_written_are_refused() {
    let (_dir, host) = world();
    fs::write(host.home.join("file"), "").unwrap();
    fs::create_dir(host.home.join("a\nb")).unwrap();
    for (folder, why) in [
        (".", "the home directory"),
        ("..", "the home directory"),
        ("/", "the whole disk"),
        ("file", "not a folder"),
        ("nowhere", "cannot be watched"),
        ("a\nb", "control characters"),
    ] {
        let error = add(&host, Path::new(folder)).unwrap_err();
        assert!(error.message.contains(why), "{folder:?}: {error}");
    }
    assert!(!host.config_file().exists());
}

#[test]
fn exactly_the_chosen_folders_are_watched_and_a_refused_one_changes_nothing() {
    let (_dir, host) = world();
    for folder in ["code", "work", "工作"] {
        fs::create_dir(host.home.join(folder)).unwrap();
    }
    let roots = || Config::load(&host).unwrap().projects.roots;
    let at = |folder: &str| host.home.join(folder);
    add(&host, &at("code")).unwrap();
    set(&host, &[at("code"), at("工作")]).unwrap();
    assert_eq!(roots(), ["~/code", "~/工作"]);
    set(&host, &[at("work"), at("工作")]).unwrap();
    assert_eq!(roots(), ["~/工作", "~/work"]);
    let refused = set(&host, std::slice::from_ref(&host.home)).unwrap_err();
    assert!(refused.message.contains("the home directory"), "{refused}");
    assert_eq!(roots(), ["~/工作", "~/work"]);
    fs::remove_dir(at("work")).unwrap();
    set(&host, &[at("work")]).unwrap();
    assert_eq!(roots(), ["~/work"], "one whose disk is away stays");
    set(&host, &[]).unwrap();
    assert_eq!(roots(), <[String; 0]>::default());
}

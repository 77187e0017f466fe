use std::collections::BTreeMap;

use super::*;

/// A machine with a bare PATH, and a stand-in for `pao probe` written for a shell.
fn host(dir: &Path) -> Host {
    let exe = dir.join("pao");
    program(
        &exe,
        "#!/bin/sh\nshift\ncase $1 in\nsession) shift; command -v setsid > /dev/null && exec setsid \"$@\"; exec \"$@\";;\nenv) printf '%s\\0' \"$2\"; env -0; printf '%s\\0' \"$2\";;\nesac\n",
    );
    let env = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
    Host { home: dir.into(), pao_home: dir.join("pao-home"), cwd: dir.into(), exe, env, frozen: None }
}

fn program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn the_callers_path_is_enough_and_no_shell_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    let found = find(&host, "sh").await.unwrap();
    assert_eq!((found.how, found.child_path), (How::Caller, "/usr/bin:/bin".into()));
    assert!(!host.pao_home.exists());
}

#[tokio::test]
async fn a_program_that_only_start_up_files_know_is_found_with_its_interpreter() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    let bin = dir.path().join("versions/node 20/bin");
    program(&bin.join("pao-test-agent"), "#!/usr/bin/env pao-test-node\n");
    program(&bin.join("pao-test-node"), "#!/bin/sh\n");
    let noise = format!("echo noise; echo more >&2\nexport PATH=\"{}:$PATH\"\n", bin.display());
    for name in [".bashrc", ".zshrc", ".profile", ".bash_profile"] {
        std::fs::write(dir.path().join(name), &noise).unwrap();
    }
    assert!(find(&host, "pao-test-agent").await.is_some());
    assert!(!host.pao_home.exists(), "whoever only looks makes no folder of ours");
    std::fs::create_dir(&host.pao_home).unwrap();
    let found = find(&host, "pao-test-agent").await.unwrap();
    assert_eq!((found.how, &found.path), (How::Login, &bin.join("pao-test-agent")));
    assert!(search(&found.child_path, "pao-test-node").is_some());
    let memory = std::fs::read_to_string(host.pao_home.join("login-env.json")).unwrap();
    assert!(!memory.contains("HOME"), "only the PATH is kept: {memory}");
    assert_eq!(login_path(&host).await.how, "remembered");
    // A changed start-up file makes us ask again.
    let later = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    std::fs::File::options()
        .append(true)
        .open(dir.path().join(".bashrc"))
        .unwrap()
        .set_modified(later)
        .unwrap();
    assert_eq!(login_path(&host).await.how, "asked");
}

#[tokio::test]
async fn a_program_of_a_version_manager_is_found_when_no_shell_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    for version in ["v9.1.0", "v20.2.0"] {
        program(
            &dir.path().join(".nvm/versions/node").join(version).join("bin/pao-test-agent"),
            "#!/usr/bin/env pao-test-node\n",
        );
        program(
            &dir.path().join(".nvm/versions/node").join(version).join("bin/pao-test-node"),
            "#!/bin/sh\n",
        );
    }
    let found = find(&host, "pao-test-agent").await.unwrap();
    assert_eq!(found.how, How::Known);
    assert!(found.path.to_string_lossy().contains("v20.2.0"), "{}", found.path.display());
    assert!(search(&found.child_path, "pao-test-node").is_some());
}

#[tokio::test]
async fn every_shell_here_answers_with_its_path_and_nothing_it_prints_confuses_us() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    let noise = "echo 'PATH=/wrong'; export PATH=/marked:$PATH\n";
    for name in [".bashrc", ".bash_profile", ".zshrc", ".profile"] {
        std::fs::write(dir.path().join(name), noise).unwrap();
    }
    std::fs::create_dir_all(dir.path().join(".config/fish")).unwrap();
    std::fs::write(dir.path().join(".config/fish/config.fish"), "echo hi; set -gx PATH /marked $PATH\n")
        .unwrap();
    let shells: Vec<&str> = ["/bin/bash", "/bin/zsh", "/usr/bin/fish", "/bin/sh"]
        .into_iter()
        .filter(|s| executable(Path::new(s)))
        .collect();
    assert!(shells.contains(&"/bin/sh"));
    for shell in shells {
        let path = ask(&host, Path::new(shell), interactive_flags(Path::new(shell)), LIMIT).await;
        assert_eq!(path.map(|p| p[0].clone()), Ok(PathBuf::from("/marked")), "{shell}");
    }
}

#[tokio::test]
async fn a_shell_that_never_answers_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    let shell = dir.path().join("shell");
    program(&shell, "#!/bin/sh\nexit 7\n");
    let error = ask(&host, &shell, &["-lc"], LIMIT).await.unwrap_err();
    assert_eq!(error, "it printed no environment, status 7");
}

#[tokio::test]
async fn what_is_nowhere_is_not_found() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    assert_eq!(find(&host, "pao-no-such-program").await, None);
    assert_eq!(find(&host, "./pao-no-such-program").await, None);
}

#[test]
fn relative_entries_of_a_path_are_never_searched() {
    let dir = tempfile::tempdir().unwrap();
    program(&dir.path().join("x"), "");
    assert_eq!(search(OsStr::new(".::bin"), "x"), None);
}

#[tokio::test]
async fn what_only_an_interactive_bash_knows_is_found_too() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    program(&dir.path().join("tools/pao-test-agent"), "#!/bin/sh\n");
    std::fs::write(dir.path().join(".bashrc"), "export PATH=$HOME/tools:$PATH\n").unwrap();
    if user_shell().ends_with("bash") {
        assert_eq!(find(&host, "pao-test-agent").await.unwrap().how, How::Login);
    }
    let path = ask(&host, Path::new("/bin/bash"), &["-ic"], LIMIT).await.unwrap();
    assert_eq!(path[0], dir.path().join("tools"));
}

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::*;

fn host() -> Host {
    Host { cwd: "/home/user/app".into(), exe: "/usr/bin/pao".into(), ..Host::at(Path::new("/home/user")) }
}

fn start<'a>() -> Arguments<'a> {
    Arguments {
        version: Some(Version(2, 1, 332)),
        session: "id",
        resume: false,
        fork_of: None,
        name: "app",
        setup: &[],
        permission: Permission::Ask,
        prompt: None,
        extra: &[],
    }
}

fn words(start: &Arguments<'_>) -> Vec<String> {
    CLAUDE_CODE.arguments(start).into_iter().map(|w| w.into_string().unwrap()).collect()
}

#[test]
fn a_version_is_read_from_what_the_program_prints() {
    assert_eq!(Version::parse("2.1.332 (Claude Code)\n"), Some(Version(2, 1, 332)));
    assert_eq!(Version::parse("codex 0.171.0-beta.2"), Some(Version(0, 171, 0)));
    for text in ["", "Claude Code", "2.1", "2..1", "99999999999.1.1"] {
        assert_eq!(Version::parse(text), None, "{text}");
    }
    assert!(Version(2, 1, 4) > Version(2, 0, 76));
}

#[test]
fn the_config_folder_follows_the_environment() {
    let mut host = host();
    assert_eq!(CLAUDE_CODE.config_dir(&host), Path::new("/home/user/.claude"));
    assert_eq!(CLAUDE_CODE.trust_file(&host), Path::new("/home/user/.claude.json"));
    host.env.insert(OsString::from("CLAUDE_CONFIG_DIR"), OsString::from("/elsewhere"));
    assert_eq!(CLAUDE_CODE.trust_file(&host), Path::new("/elsewhere/.claude.json"));
    assert_eq!(CLAUDE_CODE.sessions_dir(&host), Some(PathBuf::from("/elsewhere/sessions")));
}

#[test]
fn a_copy_of_a_conversation_has_an_id_of_its_own() {
    let fork = words(&Arguments { fork_of: Some("old"), session: "new", ..start() });
    assert_eq!(fork[..5], ["--resume", "old", "--fork-session", "--session-id", "new"]);
    let resumed = words(&Arguments { resume: true, session: "old", ..start() });
    assert_eq!(resumed[..2], ["--resume", "old"]);
}

#[test]
fn the_prompt_is_the_last_argument_and_never_a_command() {
    let mut start = Arguments { prompt: Some("/clear everything"), ..start() };
    let with = words(&start);
    assert_eq!(with[with.len() - 2..], ["--", "Task: /clear everything"]);
    for hidden in [" /clear", "\n/clear", "\u{feff}/clear", "\u{a0}/clear"] {
        start.prompt = Some(hidden);
        assert_eq!(*words(&start).last().unwrap(), format!("Task: {hidden}"));
    }
    start.prompt = Some("-x is a flag");
    assert_eq!(words(&start).last().unwrap(), "-x is a flag");
    start.prompt = None;
    assert!(!words(&start).contains(&"--".to_string()));
}

#[test]
fn a_pasted_prompt_is_taken_out_of_its_wrapping_and_nothing_else_is() {
    let wrapped = "\n\n<pasted_content id=\"ebe3\">\none\n\ntwo\n</pasted_content id=\"ebe3\">\n";
    assert_eq!(CLAUDE_CODE.unwrapped(wrapped), "\none\n\ntwo\n");
    for text in [
        "",
        "one",
        "<pasted_content ",
        "<pasted_content id> one",
        "</pasted_content >",
        "a <pasted_content x>b</pasted_content x>",
        "<pasted_content x>b</pasted_content x> tail>",
    ] {
        assert_eq!(CLAUDE_CODE.unwrapped(text), text);
    }
}

#[test]
fn a_flag_is_only_given_to_a_version_that_knows_it() {
    assert!(words(&start()).contains(&"-n".to_string()));
    for version in [None, Some(Version(2, 0, 76))] {
        let old = words(&Arguments { version, ..start() });
        assert_eq!(old, ["--session-id", "id", "--permission-mode", "default"]);
    }
}

#[test]
fn own_arguments_come_before_ours() {
    let extra = ["--allowedTools".to_string(), "Read".to_string()];
    let all = words(&Arguments { extra: &extra, permission: Permission::Skip, ..start() });
    assert_eq!(all[..3], ["--allowedTools", "Read", "--session-id"]);
    assert_eq!(all.last().unwrap(), "--dangerously-skip-permissions");
}

#[test]
fn session_settings_hold_our_hooks_and_one_rule() {
    let call = HookCall {
        exe: Path::new("/Applications/My App/pao's"),
        agent: "ab12",
        pao_home: Some(Path::new("/tmp/p h")),
    };
    let settings =
        CLAUDE_CODE.settings(Some(Version(2, 0, 76)), &call, Path::new("/tmp/p h/agents/ab12 [x]*"));
    insta::assert_json_snapshot!(settings);
}

#[test]
fn no_hook_is_written_for_a_version_older_than_tried() {
    let call = HookCall { exe: Path::new("/p"), agent: "a", pao_home: None };
    let settings = CLAUDE_CODE.settings(Some(Version(1, 0, 1)), &call, Path::new("/a"));
    assert_eq!(settings["hooks"], serde_json::json!({}));
    assert!(!CLAUDE_CODE.session_hooks(Some(Version(1, 0, 1))));
}

#[test]
fn a_transcript_folder_is_mangled_as_the_program_does() {
    let folder = |path: &str| CLAUDE_CODE.transcript_folder(Path::new(path));
    assert_eq!(folder("/code/My_App.v2").as_deref(), Some("-code-My-App-v2"));
    assert_eq!(folder(&format!("/{}", "a".repeat(230))), None);
}

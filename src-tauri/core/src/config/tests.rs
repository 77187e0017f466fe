use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::edit::Editor;
use super::keys::{self, Key, Takes};
use super::*;
use crate::agent::{CLAUDE_CODE, CODEX, GEMINI};
use crate::host::Host;
use crate::{Error, Kind};

fn host(home: &Path) -> Host {
    Host::at(home)
}

struct Home(#[expect(dead_code, reason = "kept until the end of the test")] tempfile::TempDir, Host);

fn home_with(text: &str) -> Home {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    std::fs::create_dir(&host.pao_home).unwrap();
    std::fs::write(host.config_file(), text).unwrap();
    Home(dir, host)
}

impl Home {
    fn text(&self) -> String {
        std::fs::read_to_string(self.1.config_file()).unwrap()
    }
}

fn refused(text: &str) -> Error {
    let home = home_with(text);
    let error = Config::load(&home.1).unwrap_err();
    assert_eq!(error.kind, Kind::Config, "{error:?}");
    assert_eq!(home.text(), text, "a refused file is left alone");
    error
}

#[test]
fn a_token_in_an_address_is_refused_like_a_password() {
    for (kind, url) in [
        ("postgres", "postgres://u@h/d?sslpassword=FAKE"),
        ("worker", "https://h/?token=FAKE"),
        ("worker", "https://h/rpc?x=1&API_KEY=FAKE"),
        ("worker", "https://FAKE@h/"),
    ] {
        let error = refused(&format!("[sources.db]\nkind = \"{kind}\"\nurl = \"{url}\"\n"));
        assert!(error.message.contains("holds a password or token"), "{url}: {error}");
        assert!(!error.to_string().contains("FAKE"), "{error}");
    }
}

#[test]
fn without_a_file_all_defaults_hold() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Config::load(&host(dir.path())).unwrap(), Config::default());
}

#[test]
fn the_table_of_defaults_says_what_the_types_say() {
    let mut text = String::new();
    for (key, default) in keys::GENERAL.iter().filter_map(|key| Some((key, key.default?))) {
        writeln!(text, "{} = {default}", key.name).unwrap();
    }
    assert_eq!(Config::load(&home_with(&text).1).unwrap(), Config::default());
}

#[test]
fn each_host_agent_has_a_program_and_arguments_of_its_own() {
    let Home(_, host) = &home_with(
        "[agent]\nkind = \"codex\"\ncommand = \"/opt/codex\"\nargs = [\"-v\"]\n[agents.gemini]\nargs = [\"-d\"]\n",
    );
    let config = Config::load(host).unwrap();
    let of = |agent| (config.command(agent), config.args(agent).to_vec());
    assert_eq!(of(&CLAUDE_CODE), ("claude", vec![]));
    assert_eq!(of(&CODEX), ("/opt/codex", vec!["-v".to_string()]));
    assert_eq!(of(&GEMINI), ("gemini", vec!["-d".to_string()]));
    let Home(_, host) = &home_with("[agent]\ncommand = \"a\"\n[agents.claude-code]\ncommand = \"b\"\n");
    assert_eq!(Config::load(host).unwrap().command(&CLAUDE_CODE), "b");
    for kind in crate::agent::KINDS {
        for key in ["command", "args", "input_price"] {
            let name = format!("agents.{kind}.{key}");
            assert!(keys::GENERAL.iter().any(|known| known.name == name), "{name}");
        }
    }
    let fields = fields_beside("[agents.x]\nzz = 1\n");
    assert_eq!(fields, BTreeSet::from(["args", "command", "input_price"].map(String::from)));
}

fn sample(key: &Key) -> String {
    match key.takes {
        Takes::Text => "\"x\"".into(),
        Takes::Url(schemes) => format!("\"{}://host/x\"", schemes[0]),
        Takes::OneOf(words) => format!("{:?}", words[0]),
        Takes::Number(from, _) => from.to_string(),
        Takes::Amount => "2.5".into(),
        Takes::Flag => "true".into(),
        Takes::Texts => "[\"x\"]".into(),
        Takes::Keys => "\"Ctrl+Alt+P\"".into(),
    }
}

/// The fields serde expects where an unknown one stands, read from its complaint.
fn fields_beside(text: &str) -> BTreeSet<String> {
    let error = toml_edit::de::from_str::<Config>(text).unwrap_err().to_string();
    assert!(error.contains("unknown field"), "{error}");
    let expected = error.split("expected").nth(1).unwrap();
    expected.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

fn named(known: &[Key], below: &str) -> BTreeSet<String> {
    let within = known.iter().filter_map(|k| k.name.strip_prefix(below));
    within
        .map(|n| n.split('.').next().unwrap().to_string())
        .filter(|n| n != "kind" || below == "agent.")
        .collect()
}

#[test]
fn the_table_of_keys_and_the_types_know_the_same_keys() {
    for section in ["spawn", "agent", "secrets"] {
        let fields = fields_beside(&format!("[{section}]\nzz = 1\n"));
        assert_eq!(fields, named(keys::GENERAL, &format!("{section}.")), "{section}");
    }
    for kind in keys::KINDS {
        let known = keys::of_source(kind).unwrap();
        let fields = fields_beside(&format!("[sources.x]\nkind = \"{kind}\"\nzz = 1\n"));
        assert_eq!(fields, named(known, ""), "{kind}");
        let mut all = format!("[sources.x]\nkind = \"{kind}\"\n");
        for key in known.iter().filter(|k| k.name != "kind") {
            writeln!(all, "{} = {}", key.name, sample(key)).unwrap();
        }
        Config::load(&home_with(&all).1).unwrap();
    }
    let mapping = "[sources.x]\nkind = \"postgres\"\n[sources.x.mapping]\nzz = 1\n";
    assert_eq!(fields_beside(mapping), named(keys::POSTGRES, "mapping."));
}

#[test]
fn every_complaint_names_file_line_key_and_a_next_step() {
    let complaints: Vec<String> = [
        "[spawn]\nbudget = 100\nbugdet = 3\n",
        "[spawn]\n\nbudget = \"many\"\n",
        "[spawn]\nbudget = 1\n",
        "spawn = 3\n",
        "[spwan]\nbudget = 100\n",
        "[spawn]\nterminal = \"tmx\"\n",
        "[spawn]\npermission = \"yolo\"\n",
        "[spawn\nbudget = 1\n",
        "[spawn]\nbudget = 100\nbudget = 200\n",
        "[sources.db]\nurl = \"postgres://h/d\"\n",
        "[sources.db]\nkind = \"postgre\"\n",
        "[sources.db]\nkind = \"postgres\"\n",
        "[sources.db]\nkind = \"postgres\"\nurl = \"mysql://h/d\"\n",
        "[sources.db]\nkind = \"postgres\"\nurl = \"postgres://u:FAKE@h/d\"\n",
        "[sources.db]\nkind = \"postgres\"\nurl = \"postgres://u@h/d?password=FAKE\"\n",
        "[sources.db]\nkind = \"postgres\"\nurl = \"postgres://h/d\"\nmapping = { table = \"t\", id = \"i\" }\n",
        "[sources.\"a b\"]\nkind = \"history\"\n",
        "[sources.w]\nkind = \"worker\"\nurl = \"https://h\"\nprotocol = \"grpc\"\n",
        "[sources.w]\nkind = \"worker\"\nurl = \"https://h\"\nprotocol = \"mcp\"\nauth = \"basic\"\n",
        "[[sources]]\nkind = \"history\"\n",
        "[agent]\nargs = [1]\n",
        "[agent]\ncommand = \"a\\u0007b\"\n",
        "[secrets]\nstore = \"plain\"\n",
    ]
    .iter()
    .map(|text| {
        let error = refused(text);
        assert!(!error.message.contains("FAKE"), "{error:?}");
        format!("{}\n    next: {}", error.message, error.next)
    })
    .collect();
    insta::assert_snapshot!(complaints.join("\n"));
}

#[test]
fn a_file_that_is_not_text_is_refused_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    std::fs::create_dir(&host.pao_home).unwrap();
    std::fs::write(host.config_file(), b"[spawn]\nbudget = \xff\n").unwrap();
    let error = Config::load(&host).unwrap_err();
    assert_eq!(error.message, "~/.pao/config.toml:2: the file is not valid UTF-8");
}

#[test]
fn setting_a_key_keeps_comments_order_and_everything_else() {
    let home = home_with(
        "# mine\n[spawn] # how\nbudget = 100 # small\n\n# the store\n[sources.db]\nkind = \"postgres\"\nurl = 'postgres://h/d'\n",
    );
    let mut editor = Editor::open(&home.1).unwrap();
    editor.set("spawn.budget", "3000").unwrap();
    editor.set("spawn.terminal", "tmux").unwrap();
    editor.set("agent.args", "--model, opus").unwrap();
    editor.set("sources.db.archive", "true").unwrap();
    let config = editor.save().unwrap();
    assert_eq!((config.spawn.budget, config.agent.args.len()), (3000, 2));
    insta::assert_snapshot!(home.text());
}

#[test]
fn a_value_of_the_wrong_type_is_refused_before_anything_is_written() {
    let home = home_with("# mine\n");
    for (key, word) in [
        ("spawn.budget", "lots"),
        ("spawn.budget", "-1"),
        ("spawn.terminal", "kitty"),
        ("spawn.bugdet", "1"),
        ("sources.db.url", "postgres://h/d"),
        ("agent.command", ""),
        ("agent.args", "[1]"),
        ("spawn", "1"),
    ] {
        let mut editor = Editor::open(&home.1).unwrap();
        let error = editor.set(key, word).unwrap_err();
        assert_eq!(error.kind, Kind::User, "{key} {word}");
        assert!(error.message.contains(key) || key.starts_with("sources"), "{error:?}");
        assert!(!error.next.is_empty());
    }
    assert_eq!(home.text(), "# mine\n");
}

#[test]
fn a_half_mapping_is_refused_when_it_would_be_written() {
    let text = "[sources.db]\nkind = \"postgres\"\nurl = \"postgres://h/d\"\n";
    let home = home_with(text);
    let mut editor = Editor::open(&home.1).unwrap();
    editor.set("sources.db.mapping.table", "notes").unwrap();
    assert!(editor.save().unwrap_err().message.contains("mapping.id is missing"));
    assert_eq!(home.text(), text);
}

#[test]
fn sources_come_and_go_and_leave_no_trace() {
    let text = "# mine\n[spawn]\nbudget = 100\n";
    let home = home_with(text);
    let mut editor = Editor::open(&home.1).unwrap();
    let settings =
        [("url", Some("https://memory.example/rpc")), ("protocol", Some("json-rpc")), ("auth", None)];
    editor.add_source("old-chats", "worker", &settings).unwrap();
    editor.save().unwrap();
    insta::assert_snapshot!(home.text());

    let mut editor = Editor::open(&home.1).unwrap();
    assert_eq!(editor.add_source("old-chats", "history", &[]).unwrap_err().kind, Kind::User);
    assert_eq!(editor.remove_source("old-chat").unwrap_err().next, "did you mean old-chats?");
    assert_eq!(editor.remove_source("old-chats").unwrap().kind(), "worker");
    editor.save().unwrap();
    assert_eq!(home.text(), text);
}

#[test]
fn unsetting_a_key_brings_its_default_back() {
    let home = home_with("[spawn]\nbudget = 100\n");
    let mut editor = Editor::open(&home.1).unwrap();
    assert!(editor.unset("spawn.budget").unwrap());
    assert!(!editor.unset("agent.args").unwrap());
    assert_eq!(editor.save().unwrap().spawn.budget, 2000);
}

#[test]
fn a_linked_file_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    std::fs::create_dir(&host.pao_home).unwrap();
    let target = dir.path().join("dotfiles.toml");
    std::fs::write(&target, "").unwrap();
    std::os::unix::fs::symlink(&target, host.config_file()).unwrap();
    let mut editor = Editor::open(&host).unwrap();
    editor.set("spawn.budget", "300").unwrap();
    editor.save().unwrap();
    assert!(host.config_file().is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "[spawn]\nbudget = 300\n");
}

#[test]
fn a_change_by_another_program_is_not_overwritten() {
    let home = home_with("");
    let mut editor = Editor::open(&home.1).unwrap();
    editor.set("spawn.budget", "300").unwrap();
    std::fs::write(home.1.config_file(), "# theirs\n").unwrap();
    assert_eq!(editor.save().unwrap_err().kind, Kind::User);
    assert_eq!(home.text(), "# theirs\n");
}

#[test]
fn writers_at_once_lose_nothing() {
    let home = home_with("");
    let keys = ["spawn.budget", "spawn.deadline_ms", "spawn.ready_timeout_s"];
    std::thread::scope(|scope| {
        for key in keys {
            let host = &home.1;
            scope.spawn(move || {
                let mut editor = Editor::open(host).unwrap();
                editor.set(key, "123").unwrap();
                editor.save().unwrap();
            });
        }
    });
    let spawn = Config::load(&home.1).unwrap().spawn;
    assert_eq!((spawn.budget, spawn.deadline_ms, spawn.ready_timeout_s), (123, 123, 123));
}

#[test]
fn what_is_in_effect_is_listed_with_defaults_marked() {
    let home = home_with("[spawn]\nbudget = 100 # x\n[sources.h]\nkind = \"history\"\n");
    let editor = Editor::open(&home.1).unwrap();
    let lines: Vec<String> = editor
        .settings()
        .iter()
        .map(|s| {
            let mark = if s.default { " (default)" } else { "" };
            format!("{} = {}{mark}", s.key, s.value.as_deref().unwrap_or("-"))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

proptest::proptest! {
    #[test]
    fn no_text_whatever_makes_reading_fail_otherwise_than_by_an_error(text in ".{0,200}") {
        let _ = Config::load(&home_with(&text).1);
    }
}

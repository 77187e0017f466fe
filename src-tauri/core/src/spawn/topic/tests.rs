use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{Error, Kind};

/// A home directory with a few project folders, and a caller in one of them.
struct World {
    root: TempDir,
    host: Host,
    in_use: BTreeSet<String>,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        let home = real.join("home");
        for folder in [
            "code/api/src/auth",
            "code/api/.git/hooks",
            "code/web",
            "code/支付对账",
            "code/My App",
            "code/it's",
            "code/a b c",
            "code/api-core",
            "code/notes.d",
            "plain/src",
        ] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        std::fs::write(home.join("code/api/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(home.join("code/api/src/main.rs"), "").unwrap();
        std::fs::write(home.join("plain/src/main.rs"), "").unwrap();
        let host = Host { cwd: home.join("code/api"), exe: "/usr/local/bin/pao".into(), ..Host::at(&home) };
        Self { root, host, in_use: BTreeSet::new() }
    }

    fn ask(&self, words: &str) -> Result<Topic, TopicError> {
        resolve(&Asked { folder: None, words, name: None, names_in_use: &self.in_use }, &self.host)
    }

    fn at(&self, folder: &str) -> Result<Topic, TopicError> {
        let asked =
            Asked { folder: Some(Path::new(folder)), words: "x", name: None, names_in_use: &self.in_use };
        resolve(&asked, &self.host)
    }

    fn named(&self, name: &str) -> Result<Topic, TopicError> {
        let asked = Asked { folder: None, words: "x", name: Some(name), names_in_use: &self.in_use };
        resolve(&asked, &self.host)
    }

    /// Where a text leads, relative to home.
    fn leads(&self, words: &str) -> String {
        let words = words.replace("HOME", self.host.home.to_str().unwrap());
        match self.ask(&words) {
            Ok(topic) => topic.folder.strip_prefix(&self.host.home).unwrap().display().to_string(),
            Err(e) => format!("refused: {e:?}").chars().take(16).collect(),
        }
    }
}

#[test]
fn a_folder_in_the_text_is_found_however_it_is_written() {
    let world = World::new();
    for (words, folder) in [
        ("fix the login bug in ~/code/web", "code/web"),
        ("fix ~/code/web.", "code/web"),
        ("fix ~/code/web, then test", "code/web"),
        ("fix (~/code/web)", "code/web"),
        ("~/code/web: the header is off", "code/web"),
        ("fix ~/code/web's header", "code/web"),
        ("fix ~/code/web/", "code/web"),
        ("what is in ~/code/notes.d?", "code/notes.d"),
        ("look at ~/code/notes.d. Then stop.", "code/notes.d"),
        ("fix HOME/code/web please", "code/web"),
        ("fix the menu in \"~/code/My App\" now", "code/My App"),
        ("fix the menu in '~/code/My App' now", "code/My App"),
        ("fix the menu in `~/code/My App` now", "code/My App"),
        ("fix the menu in “~/code/My App” now", "code/My App"),
        ("don't touch “~/code/it's”, it's fine", "code/it's"),
        ("fix the menu in ~/code/My App now", "code/My App"),
        ("fix the menu in ~/code/My\\ App now", "code/My App"),
        ("fix HOME/code/a b c or not", "code/a b c"),
        ("修复 ~/code/支付对账 的登录", "code/支付对账"),
        ("修复~/code/支付对账的登录", "code/支付对账"),
        ("在「~/code/支付对账」里修复登录，谢谢", "code/支付对账"),
        ("修复src/auth的登录", "code/api/src/auth"),
        ("fix ./src", "code/api/src"),
        ("fix ../web and go", "code/web"),
        ("fix src/auth first", "code/api/src/auth"),
        ("fix things in ..", "code"),
        ("fix things in .", "code/api"),
        (".", "code/api"),
        ("compare ~/code/web with ~/code/api-core", "code/web"),
        ("~/code/api-core", "code/api-core"),
        ("fix ~/plain/src/main.rs", "plain/src"),
        ("~/code/web/../api-core is it", "code/api-core"),
        ("see https://example.org/code/web and ~/code/api-core", "code/api-core"),
    ] {
        assert_eq!(world.leads(words), folder, "{words}");
    }
}

#[test]
fn what_only_looks_like_a_path_leaves_the_current_folder() {
    let world = World::new();
    for words in [
        "fix the login bug",
        "/compact",
        "/ endpoint returns 500",
        "the /api/users endpoint is slow",
        "/users/:id and /tmp/{id} too",
        "rename and/or TCP/IP in client/server",
        "it takes ~ 5 minutes",
        "~5 left",
        "hmm .. what",
        "wait... what",
        "a // comment and /* another */",
        "https://example.org/tmp/x is down",
        "s/old/new/g",
        "rename \"src\" to \"lib\"",
        "fix src/main.rs",
        "why does .git/hooks/pre-commit run; see .git/hooks",
        "~root/x",
        "1/2 of the cases",
        "",
        "   ",
        "修复登录",
        "@scope/package is missing",
        "\\",
        "/",
        "\"",
        "'`“",
        "~",
        "~/",
    ] {
        let leads = world.leads(words);
        match words {
            "/" | "~" | "~/" => assert!(leads.starts_with("refused: "), "{words}: {leads}"),
            _ => assert_eq!(leads, "code/api", "{words}"),
        }
    }
}

#[test]
fn a_path_that_plainly_means_this_disk_and_is_missing_is_refused() {
    let world = World::new();
    for words in
        ["fix ~/code/apii", "fix \"~/code/nope\" now", "fix HOME/code/gone", "fix HOME/code/gone/deeper."]
    {
        assert!(world.leads(words).starts_with("refused: Missing"), "{words}: {}", world.leads(words));
    }
    let missing = world.ask("fix ~/code/apii.").unwrap_err();
    let code = world.host.home.join("code");
    assert_eq!(missing, TopicError::Missing { path: code.join("apii"), nearest: Some(code.clone()) });
    let error = Error::from(missing);
    assert_eq!(error.kind, Kind::User);
    assert!(error.next.contains("-C DIR") && error.next.contains(code.to_str().unwrap()), "{}", error.next);
    let there = error.for_window().next;
    assert_eq!(there, format!("choose an existing folder; {} is there", code.display()));
    assert_eq!(
        world.leads("move ~/code/new into ~/code/web"),
        "code/web",
        "one that exists is taken instead"
    );
}

#[test]
fn a_long_word_full_of_signs_takes_no_time() {
    let world = World::new();
    for sign in ["\"", "(", "{\"a\":[", "“"] {
        let words = sign.repeat(40_000 / sign.len());
        let since = std::time::Instant::now();
        assert_eq!(world.leads(&words), world.leads("fix it"), "{sign}");
        let took = since.elapsed();
        assert!(took < std::time::Duration::from_secs(10), "{sign} took {took:?}");
    }
}

#[test]
fn nothing_in_a_long_web_address_is_a_folder() {
    let world = World::new();
    let words = format!("see https://example.com/{}?in=/etc/ now", "a".repeat(3000));
    assert_eq!(world.leads(&words), world.leads("fix it"));
}

#[test]
fn an_explicit_folder_wins_and_the_words_stay_as_they_are() {
    let world = World::new();
    let words = "  /review ~/code/api\n\tas usual ";
    let asked = Asked { folder: Some(Path::new("../web")), words, name: None, names_in_use: &world.in_use };
    let topic = resolve(&asked, &world.host).unwrap();
    assert_eq!(topic.folder, world.host.home.join("code/web"));
    assert_eq!(topic.prompt.as_deref(), Some(words));
    assert_eq!(topic.query, words);
    assert_eq!(world.at("src/main.rs").unwrap().folder, world.host.cwd.join("src"), "a file is its folder");
    assert_eq!(world.at("~/code/web").unwrap().folder, world.host.home.join("code/web"));
}

#[test]
fn where_the_work_is_is_no_part_of_what_the_stores_are_asked() {
    let world = World::new();
    for (words, query) in [
        ("fix the login bug in ~/code/api", "fix the login bug in"),
        ("in \"~/code/My App\", fix the login", "in , fix the login"),
        ("支付对账 在 ~/code/支付对账", "支付对账 在"),
        ("fix the login bug", "fix the login bug"),
    ] {
        let topic = world.ask(words).unwrap();
        assert_eq!((topic.prompt.as_deref(), topic.query.as_str()), (Some(words), query));
    }
}

#[test]
fn folders_no_agent_belongs_in_are_refused() {
    let world = World::new();
    let home = &world.host.home;
    let bare = home.join("bare.git");
    for folder in ["objects", "refs", "hooks", "main"] {
        std::fs::create_dir_all(bare.join(folder)).unwrap();
    }
    std::fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(bare.join("main/.git"), "gitdir: ../worktrees/main\n").unwrap();
    let newline = home.join("new\nline");
    std::fs::create_dir(&newline).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(home.join("socket")).unwrap();

    assert_eq!(world.at(home.to_str().unwrap()), Err(TopicError::Home));
    assert_eq!(world.at("~"), Err(TopicError::Home));
    assert_eq!(world.at("/"), Err(TopicError::Root));
    assert!(matches!(world.at("nowhere"), Err(TopicError::Missing { .. })));
    assert!(
        matches!(world.at(""), Ok(t) if t.folder == world.host.cwd),
        "an empty path is the current folder"
    );
    assert_eq!(world.at("../../socket"), Err(TopicError::NotAFolder(home.join("socket"))));
    assert_eq!(world.at(".git"), Err(TopicError::InsideGit(home.join("code/api/.git"))));
    assert_eq!(world.at(".git/hooks"), Err(TopicError::InsideGit(home.join("code/api/.git/hooks"))));
    assert_eq!(world.at("~/bare.git"), Err(TopicError::InsideGit(bare.clone())));
    assert_eq!(world.at("~/bare.git/hooks"), Err(TopicError::InsideGit(bare.join("hooks"))));
    assert!(world.at("~/bare.git/main").is_ok(), "a worktree inside its bare repository is a project folder");
    assert_eq!(world.at("~/new\nline"), Err(TopicError::UnusablePath("a control character")));
    assert_eq!(world.ask("a\u{1b}[31m"), Err(TopicError::ControlInPrompt('\u{1b}')));
    assert_eq!(world.ask("a\rb"), Err(TopicError::ControlInPrompt('\r')));
    drop(socket);
}

#[test]
fn links_are_resolved_and_cannot_hide_a_refused_folder() {
    let world = World::new();
    let home = &world.host.home;
    std::os::unix::fs::symlink(home.join("code/web"), home.join("link")).unwrap();
    std::os::unix::fs::symlink(home, home.join("code/me")).unwrap();
    assert_eq!(world.at("~/link").unwrap().folder, home.join("code/web"));
    assert_eq!(world.at("~/code/me"), Err(TopicError::Home));
}

#[test]
fn every_refusal_names_one_next_step() {
    let path = PathBuf::from("/x");
    for error in [
        TopicError::Missing { path: path.clone(), nearest: None },
        TopicError::NotAFolder(path.clone()),
        TopicError::Unreadable { path: path.clone(), reason: "permission denied".into() },
        TopicError::Home,
        TopicError::Root,
        TopicError::InsideGit(path),
        TopicError::UnusablePath("a control character"),
        TopicError::ControlInPrompt('\0'),
        TopicError::NameTooLong(65),
        TopicError::NameInvalid("-x".into()),
        TopicError::NameTaken("x".into()),
    ] {
        let edge = Error::from(error);
        assert_eq!(edge.kind, Kind::User);
        assert!(!edge.next.is_empty() && !edge.message.is_empty());
    }
}

#[test]
fn names_are_letters_and_digits_of_any_script() {
    let world = World::new();
    for name in ["api", "支付对账", "Ünï", "a.b_c-d", "7", "हिन्दी", &"x".repeat(64)] {
        assert_eq!(world.named(name).map(|t| t.name), Ok(name.to_owned()));
    }
    assert_eq!(world.named("e\u{301}t").map(|t| t.name), Ok("\u{e9}t".into()), "made NFC");
    for name in ["", "-x", ".x", "a b", "a/b", "a:b", "a\nb", "x;y", "🦀"] {
        assert!(matches!(world.named(name), Err(TopicError::NameInvalid(_))), "{name}");
    }
    assert_eq!(world.named(&"字".repeat(65)), Err(TopicError::NameTooLong(65)));
}

#[test]
fn a_derived_name_is_made_fit_and_unique() {
    let mut world = World::new();
    let derive = |folder: &str, world: &World| name::derive(Path::new(folder), &world.in_use);
    assert_eq!(derive("/x/My App (v2)!", &world), "My-App-v2");
    assert_eq!(derive("/x/.config", &world), "config");
    assert_eq!(derive("/x/🦀", &world), "agent");
    assert_eq!(derive(&format!("/x/{}", "长".repeat(80)), &world), "长".repeat(64));
    world.in_use = ["api", "API-2", "agent"].map(Into::into).into();
    world.in_use.insert("长".repeat(64));
    assert_eq!(world.ask("x").unwrap().name, "api-3");
    assert_eq!(derive("/x/🦀", &world), "agent-2");
    assert_eq!(derive(&format!("/x/{}", "长".repeat(80)), &world), format!("{}-2", "长".repeat(62)));
    assert_eq!(world.named("Api"), Err(TopicError::NameTaken("Api".into())));
}

#[test]
fn without_a_task_the_folder_says_what_to_ask() {
    let world = World::new();
    let git = world.host.cwd.join(".git");
    std::fs::create_dir(git.join("logs")).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/fix/login-redirect\n").unwrap();
    std::fs::write(
        git.join("logs/HEAD"),
        "0 1 K <k@x> 1 +0000\tclone: from https://example.org/api\n\
         1 2 K <k@x> 1 +0000\tcommit: auth: keep the session over a restart\n\
         2 3 K <k@x> 1 +0000\tcheckout: moving from main to fix/login-redirect\n\
         3 4 K <k@x> 1 +0000\tcommit (amend): login: redirect once\n",
    )
    .unwrap();
    let topic = world.ask("~/code/api").unwrap();
    assert_eq!(topic.prompt, None);
    assert_eq!(
        topic.query,
        "api; fix login redirect; login: redirect once; auth: keep the session over a restart"
    );
    let hints = Hints { last_session: Some("Login\n loop".into()), commits: vec!["asked of git".into()] };
    assert_eq!(
        suggest(topic, &hints).query,
        "api; fix login redirect; Login loop; login: redirect once; auth: keep the session over a restart"
    );
    let fresh = suggest(
        world
            .ask("in ~/code/web")
            .map(|mut t| {
                t.prompt = None;
                t
            })
            .unwrap(),
        &hints,
    );
    assert_eq!(fresh.query, "web; Login loop; asked of git", "the reflog has none");
    let asked = world.ask("fix it").unwrap();
    assert_eq!(suggest(asked.clone(), &hints), asked, "a task is never replaced");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics_or_leads_to_a_folder_that_is_not_there(
        parts in proptest::collection::vec(prop_oneof![
            "\\PC{0,12}", "[ -~]{0,12}", Just("~/".to_owned()), Just("code".to_owned()), Just("/".to_owned()),
            Just("My App".to_owned()), Just("支付对账".to_owned()), Just("../".to_owned()), Just("\\".to_owned()),
            Just("\"".to_owned()), Just("'".to_owned()), Just(".".to_owned()), Just(" ".to_owned()), Just("\n".to_owned()),
            Just("/tmp/".to_owned()), Just("“".to_owned()), Just("/.git".to_owned()), Just("\0".to_owned()),
        ], 0..14)
    ) {
        thread_local!(static WORLD: World = World::new());
        let text = parts.concat();
        WORLD.with(|world| {
            if let Ok(topic) = world.ask(&text) {
                assert!(topic.folder.is_dir());
                assert_eq!(topic.folder.canonicalize().unwrap(), topic.folder);
                assert_ne!(topic.folder, world.host.home);
                assert!(!topic.folder.components().any(|c| c.as_os_str() == ".git"));
                assert_eq!(check_name(&topic.name).unwrap(), topic.name);
                assert!(topic.prompt.is_none_or(|prompt| prompt == text));
            }
            assert!(world.root.path().exists());
        });
    }

    #[test]
    fn any_folder_name_gives_a_name_that_is_allowed(base in "\\PC{1,90}", taken in 0usize..4) {
        let mut in_use = BTreeSet::new();
        for _ in 0..=taken {
            let name = name::derive(Path::new(&base), &in_use);
            prop_assert_eq!(check_name(&name).unwrap(), name.clone());
            prop_assert!(in_use.insert(name));
        }
    }
}

#[test]
fn a_face_s_project_counts_as_long_as_the_words_name_none() {
    let world = World::new();
    let beside = |chosen: Option<&str>, words| {
        let chosen = chosen.map(PathBuf::from);
        let folder = super::beside(chosen, Some("/shown".into()), words, &world.host)?;
        Some(folder.display().to_string())
    };
    assert_eq!(beside(None, "fix login").as_deref(), Some("/shown"));
    assert_eq!(beside(None, "").as_deref(), Some("/shown"));
    assert_eq!(beside(None, "fix login in ~/code/web"), None);
    assert_eq!(beside(None, "fix login in ~/code/gone"), None, "it is refused, not started elsewhere");
    assert_eq!(beside(Some("/chosen"), "fix login in ~/code/web").as_deref(), Some("/chosen"));
}

//! The real Claude Code, a current version and an old one, against a stand-in of the Messages API.

use std::ffi::OsString;

use messages_api::{Reply, Script as Says, Standin};
use pao_core::agent::{Arguments, HookCall, Version};
use serde_json::json;

use super::*;

const KEY: &str = "sk-ant-api03-made-up-for-this-test-0000";
const BRIEFING: &str = "The login was last changed on 2026-11-02 [history · 2026-11-02 · x1]";

/// Which Claude Code.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Which {
    New,
    Old,
}

const BOTH: [Which; 2] = [Which::New, Which::Old];

impl Which {
    /// The words that start it.
    fn command(self) -> Vec<OsString> {
        let variable = match self {
            Which::New => "PAO_TEST_CLAUDE_NEW",
            Which::Old => "PAO_TEST_CLAUDE_OLD",
        };
        #[expect(clippy::disallowed_methods, reason = "where the agent is comes from who runs the tests")]
        let path = std::env::var_os(variable).filter(|path| Path::new(path).is_file());
        let path = path.unwrap_or_else(|| panic!("{variable} names no Claude Code: run `cargo xtask test`"));
        match self {
            Which::New => vec![path],
            Which::Old => vec!["node".into(), path],
        }
    }

    fn version(self, world: &World) -> Version {
        let command = self.command();
        let mut version = world.command(&command[0]);
        let out =
            version.args(&command[1..]).arg("--version").env("DISABLE_AUTOUPDATER", "1").output().unwrap();
        Version::parse(&String::from_utf8_lossy(&out.stdout)).unwrap()
    }
}

/// How the world is when the agent starts.
#[derive(Default)]
struct Given<'a> {
    trusted: bool,
    agreed: &'a [Agreed],
    prompt: Option<&'a str>,
    skip: bool,
    logged_out: bool,
    says: Says,
}

struct Real {
    start: Start,
    launched: Launched,
    standin: Standin,
    prompt: Option<String>,
}

impl Real {
    async fn new(which: Which, given: Given<'_>) -> Self {
        let start = Start::new().await;
        Self::in_world(start, which, given).await
    }

    async fn in_world(start: Start, which: Which, given: Given<'_>) -> Self {
        let standin = Standin::start(given.says).unwrap();
        let folder = start.folder.to_string_lossy().into_owned();
        let onboarded = json!({
            "hasCompletedOnboarding": true,
            "customApiKeyResponses": { "approved": [&KEY[KEY.len() - 20..]] },
            "projects": if given.trusted { json!({ folder: { "hasTrustDialogAccepted": true } }) } else { json!({}) },
        });
        start.world.write(".claude.json", &onboarded.to_string());
        let private = start.host.agent_dir(ID);
        fs::write(private.join("hook.md"), BRIEFING).unwrap();
        let version = Some(which.version(&start.world));
        let call = HookCall { exe: Path::new(PAO), agent: ID, pao_home: Some(&start.host.pao_home) };
        let setup = CLAUDE_CODE.session_setup(version, &call, &private, true);
        for (file, text) in &setup.files {
            fs::write(file, text).unwrap();
        }
        let arguments = CLAUDE_CODE.arguments(&Arguments {
            version,
            session: SESSION,
            resume: false,
            fork_of: None,
            name: "app",
            setup: &setup.arguments,
            permission: if given.skip { Permission::Skip } else { Permission::Ask },
            prompt: given.prompt,
            extra: &[],
        });
        let mut words: Vec<String> = vec!["exec env".into()];
        let url = standin.url();
        let mut environment = vec![
            ("ANTHROPIC_BASE_URL", url.as_str()),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("IS_SANDBOX", "1"),
        ];
        if !given.logged_out {
            environment.push(("ANTHROPIC_API_KEY", KEY));
        }
        words.extend(environment.iter().map(|(name, value)| format!("{name}='{value}'")));
        words.extend(
            which
                .command()
                .into_iter()
                .chain(arguments)
                .map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''"))),
        );
        let mut launched = start.open(&words.join(" ")).await;
        launched.agreed = given.agreed.iter().copied().collect();
        Self { start, launched, standin, prompt: given.prompt.map(str::to_string) }
    }

    async fn wait(&self) -> Ready {
        match self.start.wait(&self.launched, self.prompt.as_deref()).await {
            Ok(ready) => ready,
            Err(error) => panic!("{error}"),
        }
    }

    /// The first request of a turn, as text.
    fn first_request(&self) -> String {
        let asked = self.standin.wait_for(Duration::from_secs(20), messages_api::Request::has_tools);
        asked.expect("the agent never asked").text()
    }

    fn trusted(&self) -> bool {
        let text = self.start.world.read(".claude.json");
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        let folder = &file["projects"][&*self.start.folder.to_string_lossy()];
        folder["hasTrustDialogAccepted"] == true
    }
}

#[tokio::test]
async fn a_prompt_of_any_kind_is_seen_to_arrive_with_the_briefing() {
    for which in BOTH {
        for prompt in [
            "fix the login",
            "- a list;\n- 支付 🦀 'quoted' \"twice\"\n\n-x --help\\",
            "/clear a folder",
            "!ls",
        ] {
            let real =
                Real::new(which, Given { trusted: true, prompt: Some(prompt), ..Given::default() }).await;
            let ready = real.wait().await;
            let what = format!("{which:?} {prompt:?} {ready:?}");
            assert_eq!(ready.receipt, Receipt::Confirmed, "{what}");
            assert_eq!(ready.evidence, "UserPromptSubmit hook", "{what}");
            assert_eq!((ready.briefed, ready.needs), (true, None), "{what}");
            assert_eq!(ready.session.as_deref(), Some(SESSION), "{what}");
            let asked = real.first_request();
            assert!(asked.contains(prompt) && asked.contains(BRIEFING), "{what}\n{asked}");
            assert_eq!(real.start.row().await.receipt, Some(Receipt::Confirmed));
        }
    }
}

#[tokio::test]
async fn trust_that_was_agreed_to_is_confirmed_and_the_prompt_arrives() {
    for which in BOTH {
        let given = Given { agreed: &[Agreed::Trust], prompt: Some("fix the login"), ..Given::default() };
        let real = Real::new(which, given).await;
        let ready = real.wait().await;
        assert_eq!((ready.receipt, &ready.needs), (Receipt::Confirmed, &None), "{which:?} {ready:?}");
        assert!(real.trusted(), "{which:?}");
        assert!(real.first_request().contains(BRIEFING));
    }
}

#[tokio::test]
async fn trust_that_was_not_agreed_to_is_left_to_the_user() {
    for which in BOTH {
        let real = Real::new(which, Given { prompt: Some("fix the login"), ..Given::default() }).await;
        let ready = real.wait().await;
        let needs = ready.needs.as_deref().unwrap();
        assert!(needs.contains(&*real.start.folder.to_string_lossy()), "{which:?} {needs}");
        assert_eq!(ready.receipt, Receipt::Sent);
        assert_eq!(real.start.row().await.state, State::NeedsYou);
        assert!(!real.trusted() && real.standin.requests().is_empty());
    }
}

#[tokio::test]
async fn the_warning_of_an_agent_that_asks_nothing_is_confirmed_only_by_agreement() {
    for which in BOTH {
        for agreed in [true, false] {
            let agreed: &[Agreed] = if agreed { &[Agreed::SkipPermissions] } else { &[] };
            let given = Given {
                trusted: true,
                skip: true,
                agreed,
                prompt: Some("fix the login"),
                ..Given::default()
            };
            let real = Real::new(which, given).await;
            let ready = real.wait().await;
            if agreed.is_empty() {
                assert!(ready.needs.unwrap().contains("Bypass Permissions mode"), "{which:?}");
            } else {
                assert_eq!((ready.receipt, &ready.needs), (Receipt::Confirmed, &None), "{which:?} {ready:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_server_of_the_project_is_not_approved_in_the_user_s_name() {
    for which in BOTH {
        let start = Start::new().await;
        let server = json!({ "mcpServers": { "demo": { "command": "touch", "args": ["approved"] } } });
        fs::write(start.folder.join(".mcp.json"), server.to_string()).unwrap();
        let given = Given {
            trusted: true,
            agreed: &[Agreed::Trust, Agreed::SkipPermissions],
            prompt: Some("fix the login"),
            ..Given::default()
        };
        let real = Real::in_world(start, which, given).await;
        let ready = real.wait().await;
        assert!(ready.needs.as_deref().unwrap().contains("demo"), "{which:?} {ready:?}");
        assert!(!real.start.folder.join("approved").exists());
    }
}

#[tokio::test]
async fn without_a_prompt_the_prompt_line_is_enough() {
    for which in BOTH {
        let real = Real::new(which, Given { trusted: true, ..Given::default() }).await;
        let ready = real.wait().await;
        assert_eq!((ready.receipt, &ready.needs), (Receipt::Confirmed, &None), "{which:?} {ready:?}");
        assert!(ready.briefed && real.standin.requests().iter().all(|request| !request.has_tools()));
    }
}

#[tokio::test]
async fn a_prompt_typed_into_the_window_arrives_as_it_is() {
    for which in BOTH {
        let mut real = Real::new(which, Given { trusted: true, ..Given::default() }).await;
        real.launched.prompt_in_arguments = false;
        let prompt = "one line\nanother with 支付;\n\n- and a list\n- of things";
        real.prompt = Some(prompt.into());
        let ready = real.wait().await;
        assert_eq!(ready.receipt, Receipt::Confirmed, "{which:?} {ready:?}");
        assert_eq!(ready.evidence, "UserPromptSubmit hook", "{which:?}");
        assert!(real.first_request().contains(prompt), "{which:?}");
        assert_eq!(real.standin.requests().iter().filter(|request| request.has_tools()).count(), 1);
    }
}

#[tokio::test]
async fn an_agent_that_is_not_logged_in_says_so() {
    for which in BOTH {
        let given =
            Given { trusted: true, logged_out: true, prompt: Some("fix the login"), ..Given::default() };
        let real = Real::new(which, given).await;
        let ready = real.wait().await;
        let row = real.start.comes_to_need_you(ready.needs.is_some()).await;
        assert!(row.needs.as_deref().unwrap_or_default().contains("/login"), "{which:?} {ready:?} {row:?}");
    }
}

#[tokio::test]
async fn a_request_that_is_refused_calls_the_user_soon_after() {
    // The old version tells its hooks nothing of a turn that fails.
    let says = Says::default().when(".", Reply::status(400)).unwrap();
    let given = Given { trusted: true, prompt: Some("fix the login"), says, ..Given::default() };
    let real = Real::new(Which::New, given).await;
    let ready = real.wait().await;
    assert_eq!(ready.receipt, Receipt::Confirmed, "{ready:?}");
    let row = real.start.comes_to_need_you(false).await;
    assert!(row.needs.as_deref().unwrap_or_default().contains("400"), "{row:?}");
}

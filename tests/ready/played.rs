//! Programs that play an agent: what a real one does only sometimes, on demand.

use std::time::Instant;

use serde_json::{Value, json};

use super::*;

/// A dialog as captured, for another folder and with another order of its lines.
fn dialog(name: &str, folder: &Path, options: &[&str], selected: usize, agrees: usize) -> Value {
    let text = captured(name).replace("/home/user/project", &folder.to_string_lossy());
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with('─'))
        .skip(1)
        .take_while(|line| !options.iter().any(|option| line.contains(option)))
        .map(str::trim_end)
        .collect();
    let lines = lines.join("\n").trim_end().to_string();
    let lines: Vec<&str> = lines.lines().collect();
    json!({ "lines": lines, "options": options, "selected": selected, "agrees": agrees })
}

const NEW: [&str; 2] = ["No, exit", "Yes, I trust this folder"];
const OLD: [&str; 2] = ["Yes, proceed", "No, exit"];

fn prompt_line(more: &Value) -> Value {
    let mut prompt = json!({ "foot": ["  ⏸ manual mode on · ? for shortcuts"], "returns": 1 });
    for (key, value) in more.as_object().unwrap() {
        prompt[key] = value.clone();
    }
    prompt
}

struct Played {
    start: Start,
    launched: Launched,
    log: PathBuf,
}

impl Played {
    async fn new(plan: impl FnOnce(&Path) -> (Vec<Value>, Value)) -> Self {
        let start = Start::new().await;
        let (dialogs, prompt) = plan(&start.folder);
        let log = start.world.path("took-in.jsonl");
        let plan = json!({ "log": log, "dialogs": dialogs, "prompt": prompt });
        let plan = start.world.write("plan.json", &plan.to_string());
        let program = root().join("tests/fakes/tui.mjs");
        let line = format!("exec node '{}' '{}'", program.display(), plan.display());
        let mut launched = start.open(&line).await;
        launched.prompt_in_arguments = false;
        Self { start, launched, log }
    }

    async fn wait(&self, prompt: &str) -> Result<Ready, ReadyError> {
        self.start.wait(&self.launched, Some(prompt)).await
    }

    /// What the program took in.
    fn took(&self, key: &str) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| line.get(key).cloned()).collect()
    }
}

#[tokio::test]
async fn trust_is_confirmed_in_both_orders_and_from_either_line() {
    for (name, options, selected, agrees) in [
        ("04-trust", NEW, 0, 1),
        ("04-trust", [NEW[1], NEW[0]], 1, 0),
        ("04-trust-old", OLD, 0, 0),
        ("04-trust-old", [OLD[1], OLD[0]], 0, 1),
    ] {
        let played = Played::new(|folder| {
            (vec![dialog(name, folder, &options, selected, agrees)], prompt_line(&json!({})))
        })
        .await;
        let ready = played.wait("fix the login").await.unwrap();
        assert_eq!(receipt(&ready), Receipt::Confirmed, "{name} {options:?}");
        assert_eq!(played.took("chose"), [json!(options[agrees])]);
        assert_eq!(played.took("turn"), [json!("fix the login")]);
    }
}

#[tokio::test]
async fn of_three_dialogs_in_a_row_only_the_agreed_ones_are_answered_and_nothing_is_typed_into_the_third() {
    let mut played = Played::new(|folder| {
        let third = ["Use this MCP server", "Continue without using this MCP server"];
        let dialogs = vec![
            dialog("04-trust", folder, &NEW, 0, 1),
            dialog("09-bypass-warning", folder, &["No, exit", "Yes, I accept"], 0, 1),
            dialog("12-mcp-approval", folder, &third, 1, 1),
        ];
        (dialogs, prompt_line(&json!({})))
    })
    .await;
    played.launched.agreed.insert(Agreed::SkipPermissions);
    let ready = played.wait("fix the login").await.unwrap();
    assert!(
        ready.needs.as_deref().unwrap().starts_with("New MCP server found in this project: demo"),
        "{ready:?}"
    );
    assert_eq!(played.took("chose"), [json!("Yes, I trust this folder"), json!("Yes, I accept")]);
    assert!(played.took("key").is_empty() && played.took("pasted").is_empty());
    let row = played.start.row().await;
    assert_eq!((row.state, row.needs), (State::NeedsYou, ready.needs));
}

#[tokio::test]
async fn text_thrown_away_while_the_prompt_line_was_already_drawn_is_typed_again_and_arrives_once() {
    let played = Played::new(|_| (vec![], prompt_line(&json!({ "deaf_ms": 1500 })))).await;
    let ready = played.wait("fix the login").await.unwrap();
    assert_eq!(receipt(&ready), Receipt::Confirmed);
    assert!(!played.took("lost").is_empty(), "the case did not occur");
    assert_eq!(played.took("turn"), [json!("fix the login")]);
}

#[tokio::test]
async fn a_folded_paste_of_several_lines_becomes_one_turn_with_all_of_them() {
    for folds in [true, false] {
        let played = Played::new(|_| (vec![], prompt_line(&json!({ "folds": folds })))).await;
        let prompt = "line1\nline2\n\n- item; with 支付 and 🦀;";
        let ready = played.wait(prompt).await.unwrap();
        assert_eq!(receipt(&ready), Receipt::Confirmed);
        assert_eq!(played.took("turn"), [json!(prompt)]);
    }
}

#[tokio::test]
async fn text_that_is_a_key_s_name_or_looks_like_an_option_is_text() {
    for prompt in ["Enter", "C-c", "-t x", "Escape;"] {
        let played = Played::new(|_| (vec![], prompt_line(&json!({})))).await;
        played.wait(prompt).await.unwrap();
        assert_eq!(played.took("turn"), [json!(prompt)]);
    }
}

#[tokio::test]
async fn a_swallowed_return_is_followed_by_the_other_key_and_no_more() {
    let played = Played::new(|_| (vec![], prompt_line(&json!({ "returns": 2 })))).await;
    let ready = played.wait("fix the login").await.unwrap();
    assert_eq!(receipt(&ready), Receipt::Confirmed);
    assert_eq!(played.took("turn"), [json!("fix the login")]);

    let played = Played::new(|_| (vec![], prompt_line(&json!({ "returns": 0 })))).await;
    let ready = played.wait("fix the login").await.unwrap();
    assert_eq!(receipt(&ready), Receipt::Unknown);
    assert!(ready.needs.unwrap().contains("press Return"));
    assert_eq!(played.took("return").len(), 2);
    assert_eq!(played.took("pasted").len(), 1);
}

#[tokio::test]
async fn an_agent_that_dies_at_once_fails_long_before_the_limit_and_quotes_its_last_words() {
    let played = Played::new(|_| (vec![], prompt_line(&json!({ "dies": "start" })))).await;
    let started = Instant::now();
    let error = played.wait("fix the login").await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert!(error.to_string().contains("error: cannot find module of no importance"), "{error}");
    assert_eq!(played.start.row().await.state, State::Ended);

    let start = Start::new().await;
    let launched = start.open("exec /nowhere/claude --session-id x").await;
    let error = start.wait(&launched, Some("fix")).await.unwrap_err();
    assert!(error.to_string().contains("/nowhere/claude"), "{error}");
}

#[tokio::test]
async fn a_window_that_dies_between_typing_and_sending_is_an_error_and_nothing_is_sent_again() {
    let played = Played::new(|_| (vec![], prompt_line(&json!({ "dies": "pasted" })))).await;
    let error = played.wait("fix the login").await.unwrap_err();
    assert!(matches!(error, ReadyError::Ended { .. }), "{error}");
    assert_eq!(played.start.row().await.receipt, Some(Receipt::Unknown));
    assert_eq!(played.took("pasted").len(), 1);
    assert!(played.took("turn").is_empty());
}

#[tokio::test]
async fn a_shell_that_waits_for_a_passphrase_is_given_up_at_the_limit() {
    let mut start = Start::new().await;
    start.limit = Duration::from_secs(2);
    let launched = start.open("printf 'Passphrase: '; exec cat").await;
    let started = Instant::now();
    let ready = start.wait(&launched, Some("fix")).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(receipt(&ready), Receipt::Unknown);
    assert_eq!(start.row().await.receipt, Some(Receipt::Unknown));
    assert_eq!(start.screen(&launched).await.trim(), "Passphrase:", "nothing was typed");
}

#[tokio::test]
async fn a_wait_that_is_cancelled_ends_at_once() {
    let start = Start::new().await;
    let launched = start.open("exec sleep 60").await;
    let cancel = CancellationToken::new();
    let expect = Expect { prompt: Some("fix"), briefing: false, after: 0 };
    let (host, registry) = (&start.host, &start.registry);
    let limit = start.limit;
    let waiting =
        ready::wait(host, registry, &start.terminal, &CLAUDE_CODE, &launched, &expect, limit, &cancel);
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
        Instant::now()
    };
    let (ended, stopped) = tokio::join!(waiting, stop);
    assert!(matches!(ended, Err(ReadyError::Cancelled)));
    assert!(stopped.elapsed() < Duration::from_secs(5));
}

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::agent::{CLAUDE_CODE, CODEX, GEMINI};

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/claude-code/screens")
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(fixtures().join(format!("{name}.txt"))).unwrap()
}

fn classify(screen: &str) -> Screen {
    CLAUDE_CODE.screens.classify(screen)
}

fn dialog(name: &str) -> Dialog {
    match classify(&fixture(name)) {
        Screen::Dialog(dialog) => dialog,
        other => panic!("{name} is {other:?}"),
    }
}

/// What each captured screen shows, read by a person.
fn expected(name: &str) -> &'static str {
    match name {
        "00-preflight-unreachable" => "unreachable",
        "01-onboarding-theme" => "theme",
        "02-onboarding-apikey" | "02b-apikey-dialog-after-onboarding" | "02b-apikey-dialog-old" => "api-key",
        "03-onboarding-security" => "security-notes",
        "04-trust" | "04-trust-old" | "04-trust-44x30" => "trust",
        "07-exit" | "08-bypass-root-refused" | "opencode-01" => "ended",
        "11-external-include" => "external-imports",
        "12-mcp-approval" => "project-server",
        "13-add-dir" => "add-folder",
        "23-interrupted-old" => "interrupted",
        // Stopped once, and at work on the next prompt already.
        "23-interrupted" => "busy",
        "23-interrupted-returned" | "42-typed" | "42-typed-old" | "41-pasted-unsent-old" => "typed",
        "41-pasted-unsent" | "41-pasted-text-placeholder" => "pasted",
        "30-error-401" | "30-error-429" | "30-error-500" | "30-error-unreachable-retrying" => "retrying",
        "60-resume-picker" => "resume-picker",
        name if name.starts_with("05") || name.starts_with("06") || name.starts_with("10-ready") => "ready",
        name if name.starts_with("09-bypass") => "skip-permissions",
        name if name.starts_with("20-busy") => "busy",
        name if name.starts_with("30-error") => "failed",
        name if name.starts_with("40-big-memory") => "ready",
        "50-tools-run" => "ready",
        name if name.starts_with("51-permission") => "permission",
        name if name.starts_with("61-settings-invalid") => "settings-warning",
        name if name.starts_with("opencode") => "unknown",
        other => panic!("say what {other} shows"),
    }
}

#[test]
fn every_captured_screen_is_what_a_person_sees_on_it() {
    let mut wrong = BTreeMap::new();
    let mut count = 0;
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string();
        let seen = classify(&fixture(&name));
        count += 1;
        if seen.name() != expected(&name) {
            wrong.insert(name, seen);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count >= 70, "{count}");
}

/// The screens of another host agent, each with what a person sees on it.
fn others(folder: &str) -> Vec<(String, String)> {
    let dir =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(folder).join("screens");
    let mut all: Vec<(String, String)> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_string(), std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn every_captured_screen_of_codex_and_gemini_is_what_a_person_sees_on_it() {
    let codex = |name: &str| match name {
        "01-pristine" => "login",
        "02-trust" | "02-trust-44x30" => "trust",
        // Without a footer's model line it takes no prompt yet.
        "00-waits-for-its-server" => "unknown",
        "03-ready" | "05-ready-60x15" | "06-after-reply" | "06-after-reply-update" => "ready",
        "04-error-404" | "30-error-403-retrying" => "retrying",
        "04-error" | "30-error-400" | "30-error-401-final" | "30-error-429" | "30-error-nokey" => "failed",
        "20-busy" => "busy",
        "23-interrupted" => "interrupted",
        "41-pasted" => "pasted",
        "42-typed" => "typed",
        "51-permission" | "51-permission-escalated" => "permission",
        other => panic!("say what {other} shows"),
    };
    let gemini = |name: &str| match name {
        "01-pristine" | "02" | "01-trust-60x30" => "trust",
        "02-key" => "api-key",
        "03-after-trust" => "login",
        "13-add-dir" => "add-folder",
        "30-error-404-no-access" => "other",
        "51-permission" => "permission",
        "04-ready" | "05-ready-context" | "06-after-reply" | "10-ready-plan" | "10-ready-yolo" => "ready",
        "20-busy" => "busy",
        "23-interrupted" => "interrupted",
        "30-error-400" | "30-error-401" => "failed",
        "41-pasted" => "pasted",
        "42-typed" => "typed",
        other => panic!("say what {other} shows"),
    };
    let mut wrong = BTreeMap::new();
    for (agent, expected) in [(&CODEX, codex as fn(&str) -> &'static str), (&GEMINI, gemini)] {
        for (name, text) in others(agent.kind) {
            let seen = agent.screens.classify(&text);
            if seen.name() != expected(&name) {
                wrong.insert(format!("{} {name}", agent.kind), seen);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_other_agents_dialogs_are_read_and_only_trust_can_be_agreed_to() {
    for (agent, agreeable) in [(&CODEX, vec!["02-trust", "02-trust-44x30"]), (&GEMINI, vec![])] {
        for (name, text) in others(agent.kind) {
            if let Screen::Dialog(dialog) = agent.screens.classify(&text) {
                assert!(!dialog.text.is_empty(), "{name}");
                assert_eq!(dialog.agree.is_some(), agreeable.contains(&&*name), "{} {name}", agent.kind);
            }
            let lines: Vec<&str> = text.trim_end().lines().collect();
            for end in 0..lines.len() {
                let part = agent.screens.classify(&lines[..end].join("\n"));
                if !name.contains("ready") && !name.contains("reply") {
                    assert_ne!(part, Screen::Ready, "{} {name} cut at {end}", agent.kind);
                }
            }
        }
    }
    let Screen::Dialog(trust) = CODEX.screens.classify(&others("codex")[2].1) else { panic!("no dialog") };
    assert_eq!((trust.selected, trust.agree), (Some(0), Some(0)));
    assert!(trust.names("/home/user/project"));
}

#[test]
fn a_screen_cut_off_at_any_line_is_never_more_ready_than_the_whole() {
    for name in ["04-trust", "04-trust-old", "09-bypass-warning", "02b-apikey-dialog-old", "12-mcp-approval"]
    {
        let whole = fixture(name);
        let lines: Vec<&str> = whole.trim_end().lines().collect();
        for end in 0..lines.len() {
            let part = classify(&lines[..end].join("\n"));
            assert_ne!(part, Screen::Ready, "{name} cut at {end}");
            if let Screen::Dialog(dialog) = part {
                assert_eq!(
                    dialog.agree.and(dialog.selected),
                    None,
                    "{name} cut at {end}: {:?}",
                    dialog.options
                );
            }
        }
    }
}

#[test]
fn the_selected_line_and_the_one_that_agrees_are_read_in_both_orders() {
    let list = |name: &str| {
        let dialog = dialog(name);
        (dialog.options, dialog.selected, dialog.agree)
    };
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let new = words(&["No, exit", "Yes, I trust this folder"]);
    assert_eq!(list("04-trust"), (new.clone(), Some(0), Some(1)));
    assert_eq!(list("04-trust-44x30"), (new, Some(0), Some(1)));
    assert_eq!(list("04-trust-old"), (words(&["Yes, proceed", "No, exit"]), Some(0), Some(0)));
    let bypass = words(&["No, exit", "Yes, I accept"]);
    for (name, selected) in
        [("09-bypass-warning", 0), ("09-bypass-warning-mid", 0), ("09-bypass-warning-old", 0)]
            .into_iter()
            .chain([("09-bypass-moved", 1), ("09-bypass-moved-old", 1)])
    {
        assert_eq!(list(name), (bypass.clone(), Some(selected), Some(1)), "{name}");
    }
    let swapped = fixture("04-trust")
        .replace(" ❯ No, exit\n   Yes, I trust this folder", "   Yes, I trust this folder\n ❯ No, exit");
    let Screen::Dialog(swapped) = classify(&swapped) else { panic!("no dialog") };
    assert_eq!((swapped.selected, swapped.agree), (Some(1), Some(0)));
}

#[test]
fn only_trust_and_the_permission_warning_can_be_agreed_to() {
    for name in [
        "02b-apikey-dialog-after-onboarding",
        "02b-apikey-dialog-old",
        "11-external-include",
        "12-mcp-approval",
        "13-add-dir",
        "51-permission-prompt",
        "51-permission-prompt-old",
        "60-resume-picker",
        "61-settings-invalid-mid",
    ] {
        assert_eq!(dialog(name).agree, None, "{name}");
    }
    assert_eq!(dialog("12-mcp-approval").selected, Some(2));
    assert_eq!(dialog("51-permission-prompt-old").options.len(), 3);
}

#[test]
fn a_dialog_tells_people_what_it_asks() {
    assert!(dialog("12-mcp-approval").text.starts_with("New MCP server found in this project: demo"));
    assert!(dialog("51-permission-prompt").text.contains("touch made.txt"));
    assert!(dialog("04-trust").names("/home/user/project"));
    assert!(!dialog("04-trust").names("/home/user/other"));
}

#[test]
fn a_layout_that_is_not_known_can_not_be_agreed_to() {
    let trust = fixture("04-trust");
    for (what, screen) in [
        ("two selected lines", trust.replace("   Yes, I trust", " ❯ Yes, I trust")),
        ("no selected line", trust.replace(" ❯ No, exit", "   No, exit")),
        ("another indentation", trust.replace("   Yes, I trust", "       Yes, I trust")),
        ("another wording", trust.replace("Yes, I trust this folder", "Yes, and everything else")),
        ("the same line twice", trust.replace(" ❯ No, exit", "   Yes, I trust this folder\n ❯ No, exit")),
        ("nothing that closes it", trust.replace("Enter to confirm · Esc to cancel", "")),
        ("something behind it", trust.trim_end().to_string() + "\n\n $ "),
    ] {
        match classify(&screen) {
            Screen::Dialog(dialog) => assert_eq!(dialog.agree.and(dialog.selected), None, "{what}"),
            other => assert_eq!(other, Screen::Unknown, "{what}"),
        }
    }
}

#[test]
fn an_unheard_question_is_a_dialog_and_not_ready() {
    let screen = fixture("12-mcp-approval")
        .replace("New MCP server found in this project: demo", "May this program phone home?");
    let Screen::Dialog(dialog) = classify(&screen) else { panic!("no dialog") };
    assert_eq!((dialog.kind, dialog.agree), (DialogKind::Other, None));
    assert!(dialog.text.starts_with("May this program phone home?"));
}

#[test]
fn what_an_agent_writes_is_not_taken_for_a_dialog() {
    let quoted = fixture("04-trust-old");
    let ready = fixture("06-after-reply").replace("● Hello from mock.", &format!("● {quoted}"));
    assert_eq!(classify(&ready), Screen::Ready);
    let retry =
        fixture("06-after-reply").replace("Hello from mock.", "it says 500 · retrying in 2s · attempt 1/10");
    assert_eq!(classify(&retry), Screen::Ready);
}

#[test]
fn a_busy_agent_is_busy_after_an_hour_with_any_word_and_under_a_tall_footer() {
    let old = fixture("20-busy-old");
    let spinner = old.lines().find(|line| line.contains('…')).unwrap().to_string();
    for line in [
        "✻ Herding… (59m 59s · ↓ 12.3k tokens · esc to interrupt)",
        "✶ Flibbertigibbeting… (1h 0m 3s · ↑ 1 tokens · esc to interrupt)",
        "· 思考中… (2s)",
        "* Two words… (27h 3m 9s)\n  ⎿  Tip: anything\n\n  ☐ one\n  ☐ two\n  ☒ three\n  ☐ four\n  ☐ five",
        "✽ Working…",
    ] {
        assert_eq!(classify(&old.replace(&spinner, line)), Screen::Busy, "{line}");
    }
    let tall = "  ⏵⏵ auto mode on (shift+tab to cycle)\n  one\n  two\n  three\n  four\n  five\n  six\n  esc to interrupt";
    let new = fixture("05-ready");
    let footer = new.trim_end().lines().last().unwrap().to_string();
    assert_eq!(classify(&new.replace(&footer, tall)), Screen::Busy);
    assert_eq!(classify(&new.replace(&footer, &tall.replace("esc to interrupt", "seven"))), Screen::Ready);
}

#[test]
fn an_error_is_told_in_the_program_s_own_words() {
    for (name, says) in [
        ("30-error-400-credit", "Credit balance too low"),
        ("30-error-nologin", "Not logged in · Please run /login"),
        ("30-error-nologin-start-old", "Missing API key · Run /login"),
        ("30-error-529", "API Error: Repeated 529 Overloaded"),
        ("30-error-404-model", "There's an issue with the selected model"),
    ] {
        match classify(&fixture(name)) {
            Screen::Failed(text) => assert!(text.starts_with(says), "{text}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    let Screen::Retrying(text) = classify(&fixture("30-error-401")) else { panic!("not retrying") };
    assert!(text.contains("401 invalid x-api-key"), "{text}");
}

/// Parts of real screens in any order: what a half-drawn or hostile screen looks like.
fn rubble() -> impl Strategy<Value = String> {
    let pieces: Vec<String> =
        ["04-trust", "04-trust-old", "09-bypass-warning-old", "05-ready", "51-permission-prompt"]
            .iter()
            .flat_map(|name| fixture(name).lines().map(str::to_string).collect::<Vec<_>>())
            .collect();
    let line = prop_oneof![3 => proptest::sample::select(pieces), 1 => ".{0,40}"];
    proptest::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn arbitrary_text_is_never_ready_and_never_agreed_to(text in "(?s).{0,400}") {
        let seen = classify(&text);
        prop_assert_ne!(&seen, &Screen::Ready);
        if let Screen::Dialog(dialog) = seen {
            prop_assert_eq!(dialog.agree, None);
        }
    }

    #[test]
    fn rubble_of_real_screens_is_only_agreed_to_where_one_line_is_selected(text in rubble()) {
        if let Screen::Dialog(dialog) = classify(&text)
            && let Some(agree) = dialog.agree
        {
            prop_assert!(matches!(dialog.kind, DialogKind::Trust | DialogKind::SkipPermissions));
            prop_assert!(agree < dialog.options.len());
            prop_assert!(dialog.selected.is_some_and(|selected| selected < dialog.options.len()));
        }
    }

    #[test]
    fn a_real_dialog_above_arbitrary_text_is_not_agreed_to(text in "[a-z ❯─\n]{1,200}") {
        prop_assume!(!text.trim().is_empty());
        if let Screen::Dialog(dialog) = classify(&format!("{}\n{text}", fixture("04-trust").trim_end())) {
            prop_assert_eq!(dialog.agree.and(dialog.selected), None, "{:?}", dialog);
        }
    }
}

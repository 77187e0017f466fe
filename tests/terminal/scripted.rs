//! iTerm2 and Ghostty: what goes wrong, and what each does in its own way.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pao_core::host::terminal::scripted::{Adapter, Scripted};
use pao_core::host::terminal::{Alive, TerminalError, ghostty, iterm2};

use super::{PATIENT, Stage, send_line, until, until_alive};

mod on_iterm2 {
    suite!(pao_core::host::terminal::iterm2::NAME);
}

mod on_ghostty {
    suite!(pao_core::host::terminal::ghostty::NAME);
}

const BOTH: [&Adapter; 2] = [&iterm2::ADAPTER, &ghostty::ADAPTER];

/// A launch script that shows that it ran, and the file by which it shows it.
fn marking(stage: &Stage, name: &str) -> (pao_core::host::terminal::Script, PathBuf) {
    let mark = stage.path(&format!("{name}.ran"));
    (stage.script(name, &format!("touch '{}'; exec sleep 600", mark.display())), mark)
}

/// The log with ids, devices and numbers taken out.
fn steps(stage: &Stage) -> Vec<String> {
    let anonymous = |word: &str| {
        let inner = word.trim_matches(['[', ']']);
        let id = inner.len() == 36 && inner.matches('-').count() == 4;
        let tty = inner.starts_with("/dev/");
        if id {
            "[ID]".into()
        } else if tty {
            "[TTY]".into()
        } else {
            word.to_string()
        }
    };
    stage.log().lines().map(|l| l.split(' ').map(anonymous).collect::<Vec<_>>().join(" ")).collect()
}

#[tokio::test]
async fn a_window_is_opened_with_one_path_of_ours_and_found_by_its_id() {
    for (adapter, place) in BOTH.into_iter().zip(["[ID] [TTY]", "[ID]"]) {
        let stage = Stage::new();
        let terminal = stage.terminal(adapter.application.name);
        let opened = terminal.open(&stage.script("api", "exec sleep 600")).await.unwrap();
        terminal.focus(&opened.handle).await.unwrap();
        assert_eq!((stage.windows(terminal.name()), opened.note, opened.attach), (1, None, None));
        assert_eq!(
            steps(&stage),
            [
                "open [ROOT/home/.pao/agents/api/window.command] [api]".to_string(),
                format!("focus {place}"),
                format!("open [-b] [{}]", adapter.application.id),
            ]
        );
    }
}

#[tokio::test]
async fn hostile_text_reaches_the_application_byte_for_byte() {
    let lines = [
        "it's \"quoted\" \\ `id` $(touch pwned) \u{ab}class\u{bb} & quoted form of",
        "-e return 1",
        "--",
        "end tell",
        "  leading and trailing  ",
        "支付对账 🦀 e\u{301} \u{202e}reversed",
        "$$NAME$$ \\(user.home)",
    ];
    for adapter in BOTH {
        let stage = Stage::new();
        let terminal = stage.terminal(adapter.application.name);
        let handle = stage.listening(&*terminal, "app").await;
        for line in lines {
            send_line(&*terminal, &handle, line).await;
        }
        assert_eq!(fs::read_to_string(stage.of_applications("pasted")).unwrap(), lines.concat());
        until("all lines arrive", || async { stage.got("app").lines().count() == lines.len() }).await;
        assert_eq!(stage.got("app"), lines.join("\n") + "\n");
        super::nothing_was_executed(&stage);
    }
}

#[tokio::test]
async fn a_denial_is_told_once_and_the_window_is_opened_without_a_script_and_not_lost_sight_of() {
    for adapter in BOTH {
        let stage = Stage::new();
        let name = adapter.application.name;
        stage.fails(name, "-1743");
        let mut notes = Vec::new();
        for n in 0..2 {
            // As several runs of the command would: nothing is kept in memory.
            let terminal = stage.terminal(name);
            let (script, mark) = marking(&stage, &format!("api{n}"));
            let opened = terminal.open(&script).await.unwrap();
            until("it runs", || async { mark.exists() }).await;
            assert_eq!(terminal.alive(&opened.handle).await.unwrap(), Alive::Yes);
            let able = terminal.capabilities_of(&opened.handle);
            assert!(!able.read && !able.paste && !able.keys && !able.focus && !able.close && able.visible);
            assert!(matches!(
                terminal.paste(&opened.handle, "x").await,
                Err(TerminalError::NotCapable { .. })
            ));
            assert!(matches!(terminal.focus(&opened.handle).await, Err(TerminalError::NotCapable { .. })));
            assert!(matches!(terminal.close(&opened.handle).await, Err(TerminalError::LeftOpen { .. })));
            notes.extend(opened.note);
        }
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("Privacy & Security > Automation"), "{notes:?}");
        // The other application has its own answer.
        let other = BOTH.into_iter().find(|a| a.application.name != name).unwrap();
        let opened = stage.terminal(other.application.name);
        let opened = opened.open(&stage.script("other", "exec sleep 600")).await.unwrap();
        assert_eq!(opened.note, None);
        // Allowed meanwhile: the next start uses it at once.
        stage.recovers(name);
        let terminal = stage.terminal(name);
        let opened = terminal.open(&stage.script("allowed", "exec sleep 600")).await.unwrap();
        assert_eq!(terminal.capabilities_of(&opened.handle), terminal.capabilities());
    }
}

#[tokio::test]
async fn an_unanswered_question_is_waited_for_once_and_within_our_own_limit() {
    for adapter in BOTH {
        let mut stage = Stage::new();
        stage.patience(Duration::from_secs(2));
        let name = adapter.application.name;
        stage.fails(name, "sleep");
        let since = Instant::now();
        let opened = stage.terminal(name).open(&stage.script("api", "exec sleep 600")).await.unwrap();
        assert!(opened.note.unwrap().contains("waiting for your answer"));
        let opened = stage.terminal(name).open(&stage.script("api2", "exec sleep 600")).await.unwrap();
        assert_eq!(opened.note, None);
        // Far less than anybody is given to answer.
        assert!(since.elapsed() < Duration::from_secs(20));
        let asked = stage.log().lines().filter(|l| l.starts_with("open [ROOT")).count();
        assert_eq!(asked, 1, "asked again at once");
        // The user answers, and says so.
        stage.patience(PATIENT);
        stage.recovers(name);
        Scripted::new(&stage.host, adapter).unwrap().ask_again().await.unwrap();
        let terminal = stage.terminal(name);
        let opened = terminal.open(&stage.script("api3", "exec sleep 600")).await.unwrap();
        assert_eq!(terminal.capabilities_of(&opened.handle), terminal.capabilities());
    }
}

#[tokio::test]
async fn each_failure_is_told_apart_and_what_runs_is_still_known() {
    for adapter in BOTH {
        let stage = Stage::new();
        let terminal = stage.terminal(adapter.application.name);
        let handle = terminal.open(&stage.script("api", "exec sleep 600")).await.unwrap().handle;
        until_alive(&*terminal, &handle).await;
        let mut said = Vec::new();
        for how in ["-1743", "-600", "-609", "-1712", "-1728", "-2741", "-10000"] {
            stage.fails(terminal.name(), how);
            let error = terminal.paste(&handle, "x").await.unwrap_err();
            let kind = format!("{error:?}");
            said.push(format!("{how} {}", kind.split([' ', '{']).next().unwrap()));
            assert_eq!(terminal.alive(&handle).await.unwrap(), Alive::Yes, "{how}");
        }
        assert_eq!(
            said,
            [
                "-1743 Denied",
                "-600 NotRunning",
                "-609 NotRunning",
                "-1712 TimedOut",
                "-1728 Gone",
                "-2741 Unscriptable",
                "-10000 Refused"
            ]
        );
    }
}

#[tokio::test]
async fn an_application_that_quits_meanwhile_is_asked_once_more() {
    for adapter in BOTH {
        let stage = Stage::new();
        let name = adapter.application.name;
        fs::write(stage.of_applications(&format!("{name}/fails-once")), "-609").unwrap();
        let terminal = stage.terminal(name);
        let opened = terminal.open(&stage.script("api", "exec sleep 600")).await.unwrap();
        assert_eq!((stage.windows(name), opened.note), (1, None));
        until_alive(&*terminal, &opened.handle).await;
    }
}

#[tokio::test]
async fn where_nothing_helps_the_first_reason_is_given() {
    for adapter in BOTH {
        let stage = Stage::new();
        stage.fails(adapter.application.name, "-1743");
        fs::write(stage.of_applications("open-fails"), "").unwrap();
        let terminal = stage.terminal(adapter.application.name);
        let error = terminal.open(&stage.script("api", "exit")).await.unwrap_err();
        assert!(matches!(error, TerminalError::Denied { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn a_window_in_which_something_runs_is_left_open_although_the_application_would_not_ask() {
    for adapter in BOTH {
        let stage = Stage::new();
        let terminal = stage.terminal(adapter.application.name);
        let busy = terminal.open(&stage.script("busy", "exec sleep 600")).await.unwrap().handle;
        until_alive(&*terminal, &busy).await;
        let error = terminal.close(&busy).await.unwrap_err().to_string();
        assert!(error.ends_with("was left open: something still runs in it"), "{error}");
        assert_eq!(terminal.alive(&busy).await.unwrap(), Alive::Yes);
        assert!(!stage.log().contains("close ["), "{}", stage.log());
    }
}

#[tokio::test]
async fn a_window_whose_program_was_never_seen_is_neither_called_ended_nor_closed() {
    for adapter in BOTH {
        let stage = Stage::new();
        let terminal = stage.terminal(adapter.application.name);
        let handle = terminal.open(&stage.script("api", "exec sleep 600")).await.unwrap().handle;
        until_alive(&*terminal, &handle).await;
        let mut unseen: serde_json::Value = serde_json::from_str(&handle).unwrap();
        unseen["process"] = serde_json::Value::Null;
        let unseen = unseen.to_string();
        // It may have started late.
        assert_eq!(terminal.alive(&unseen).await.unwrap(), Alive::Yes);
        fs::remove_file(stage.path("agents/api/window.pid")).unwrap();
        assert_eq!(terminal.alive(&unseen).await.unwrap(), Alive::Unknown);
        assert!(matches!(terminal.close(&unseen).await, Err(TerminalError::LeftOpen { .. })));
        for file in fs::read_dir(stage.of_applications(&format!("{}/windows", terminal.name()))).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
        assert_eq!(terminal.alive(&unseen).await.unwrap(), Alive::No);
    }
}

#[tokio::test]
async fn the_window_that_comes_up_first_counts_where_two_do() {
    let first = async |adapter: &Adapter| {
        let mut stage = Stage::new();
        // Long enough for the window to come up.
        stage.patience(Duration::from_secs(8));
        let name = adapter.application.name;
        // The script opens its window and then does not answer, so that another way is tried as well.
        stage.fails(name, "half");
        let body = "mkdir \"$0.once\" 2>/dev/null || { touch \"$0.second\"; exit; }; exec sleep 600";
        let script = stage.script("api", body);
        let terminal = stage.terminal(name);
        let opened = terminal.open(&script).await.unwrap();
        let second = script.path.with_extension("command.second");
        until("both were there", || async { stage.windows(name) == 2 && second.exists() }).await;
        assert_eq!(terminal.alive(&opened.handle).await.unwrap(), Alive::Yes);
    };
    // At the same time, since each waits for an answer that does not come.
    let [one, other] = BOTH;
    tokio::join!(first(one), first(other));
}

#[tokio::test]
async fn closing_takes_the_small_files_away() {
    for adapter in BOTH {
        let stage = Stage::new();
        fs::write(stage.of_applications("iterm2/keeps"), "").unwrap();
        let terminal = stage.terminal(adapter.application.name);
        let handle = terminal.open(&stage.script("api", "exit 3")).await.unwrap().handle;
        until("it ends", || async { terminal.alive(&handle).await.unwrap() == Alive::No }).await;
        terminal.close(&handle).await.unwrap();
        let left: Vec<_> =
            fs::read_dir(stage.path("agents/api")).unwrap().map(|f| f.unwrap().file_name()).collect();
        assert_eq!(left, ["launch.command"]);
        assert!(stage.log().contains("close ["));
    }
}

#[tokio::test]
async fn a_profile_of_iterm2_that_keeps_windows_lets_last_words_be_read() {
    let stage = Stage::new();
    fs::write(stage.of_applications("iterm2/keeps"), "").unwrap();
    let terminal = stage.terminal(iterm2::NAME);
    let handle = terminal.open(&stage.script("api", "echo last words; exit 3")).await.unwrap().handle;
    until("it ends", || async { terminal.alive(&handle).await.unwrap() == Alive::No }).await;
    super::until_screen(&*terminal, &handle, "last words").await;
}

#[tokio::test]
async fn a_path_that_iterm2_would_change_is_opened_without_a_script() {
    let stage = Stage::at("$$HOME$$");
    let (script, mark) = marking(&stage, "api");
    let opened = stage.terminal(iterm2::NAME).open(&script).await.unwrap();
    assert!(opened.note.unwrap().contains("characters it would change"));
    until("it runs", || async { mark.exists() }).await;
    // Ghostty's shell reads it in quotes.
    let (script, mark) = marking(&stage, "web");
    assert_eq!(stage.terminal(ghostty::NAME).open(&script).await.unwrap().note, None);
    until("it runs", || async { mark.exists() }).await;
}

#[tokio::test]
async fn an_older_ghostty_is_used_by_its_command_line() {
    let stage = Stage::new();
    stage.fails(ghostty::NAME, "-2741");
    let (script, mark) = marking(&stage, "api");
    let opened = stage.terminal(ghostty::NAME).open(&script).await.unwrap();
    until("it runs", || async { mark.exists() }).await;
    assert!(opened.note.unwrap().contains("update it to 1.3.0 or later"));
    assert_eq!(
        steps(&stage)[1],
        "open [-na] [Ghostty.app] [--args] [--quit-after-last-window-closed=true] [--window-save-state=never] [-e] \
         [/bin/bash] [-c] [exec 'ROOT/home/.pao/agents/api/window.command']"
    );
}

#[tokio::test]
async fn a_ghostty_that_cannot_name_its_new_window_is_expected() {
    let stage = Stage::new();
    fs::write(stage.of_applications("ghostty/unnamed"), "").unwrap();
    let terminal = stage.terminal(ghostty::NAME);
    let opened = terminal.open(&stage.script("api", "exec sleep 600")).await.unwrap();
    assert_eq!(opened.note, None);
    until_alive(&*terminal, &opened.handle).await;
}

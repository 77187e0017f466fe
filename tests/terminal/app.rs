use std::fs;
use std::time::{Duration, Instant};

use pao_core::host::terminal::terminal_app::TerminalApp;
use pao_core::host::terminal::{Alive, Key, Terminal, TerminalError};

use super::{PATIENT, Stage, until, until_screen};

const NAME: &str = "terminal";

suite!(NAME);

#[tokio::test]
async fn a_window_is_opened_with_a_path_and_a_title_and_nothing_else() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let opened = terminal.open(&stage.script("api", "exec sleep 600")).await.unwrap();
    terminal.focus(&opened.handle).await.unwrap();
    assert_eq!((stage.windows(NAME), opened.note, opened.attach), (1, None, None));
    assert_eq!(
        stage
            .log()
            .lines()
            .map(|l| l.replace("/dev/pts/", "/dev/ttys"))
            .map(|l| l.trim_end_matches(|c: char| c.is_ascii_digit() || c == ']').to_string())
            .collect::<Vec<_>>(),
        [
            "open [ROOT/home/.pao/agents/api/launch.command] [api",
            "focus [941] [/dev/ttys",
            "open [-b] [com.apple.Terminal",
        ]
    );
}

#[tokio::test]
async fn a_denial_is_told_once_and_the_script_is_opened_as_a_document() {
    let stage = Stage::new();
    stage.fails(NAME, "-1743");
    let mut notes = Vec::new();
    for n in 0..3 {
        // As three runs of the command would: nothing is kept in memory.
        let terminal = stage.terminal(NAME);
        let mark = stage.path(&format!("ran{n}"));
        let script = stage.script(&format!("api{n}"), &format!("touch '{}'; exec sleep 600", mark.display()));
        let opened = terminal.open(&script).await.unwrap();
        until("the document runs", || async { mark.exists() }).await;
        assert_eq!(terminal.alive(&opened.handle).await.unwrap(), Alive::Unknown);
        let able = terminal.capabilities_of(&opened.handle);
        assert!(!able.read && !able.paste && !able.focus && !able.close && able.visible);
        assert!(matches!(terminal.screen(&opened.handle).await, Err(TerminalError::NotCapable { .. })));
        assert!(matches!(terminal.close(&opened.handle).await, Err(TerminalError::LeftOpen { .. })));
        notes.extend(opened.note);
    }
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("Privacy & Security > Automation"), "{notes:?}");
    // Allowed meanwhile: the next start uses it at once.
    stage.recovers(NAME);
    let terminal = stage.terminal(NAME);
    let opened = terminal.open(&stage.script("api", "exec sleep 600")).await.unwrap();
    assert!(terminal.capabilities_of(&opened.handle).read);
}

#[tokio::test]
async fn an_unanswered_question_is_waited_for_once_and_within_our_own_limit() {
    let mut stage = Stage::new();
    stage.patience(Duration::from_secs(2));
    stage.fails(NAME, "sleep");
    let since = Instant::now();
    let opened = stage.terminal(NAME).open(&stage.script("api", "exec sleep 600")).await.unwrap();
    assert!(opened.note.unwrap().contains("waiting for your answer"));
    let opened = stage.terminal(NAME).open(&stage.script("api2", "exec sleep 600")).await.unwrap();
    assert_eq!(opened.note, None);
    // Far less than anybody is given to answer.
    assert!(since.elapsed() < Duration::from_secs(20));
    assert_eq!(stage.log().lines().filter(|l| l.starts_with("open [ROOT")).count(), 1, "asked again at once");
    // The user answers, and says so.
    stage.patience(PATIENT);
    stage.recovers(NAME);
    TerminalApp::new(&stage.host).unwrap().ask_again().await.unwrap();
    let terminal = stage.terminal(NAME);
    let opened = terminal.open(&stage.script("api3", "exec sleep 600")).await.unwrap();
    assert!(terminal.capabilities_of(&opened.handle).read);
}

#[tokio::test]
async fn each_failure_is_told_apart() {
    let stage = Stage::new();
    let terminal = TerminalApp::new(&stage.host).unwrap();
    let handle = terminal.open(&stage.script("api", "exec sleep 600")).await.unwrap().handle;
    let mut said = Vec::new();
    for how in ["-1743", "-600", "-609", "-1712", "-1728", "-10000", "-128"] {
        stage.fails(NAME, how);
        let error = terminal.screen(&handle).await.unwrap_err();
        let kind = format!("{error:?}");
        said.push(format!("{how} {}", kind.split([' ', '{']).next().unwrap()));
        if how != "-1728" {
            assert_eq!(terminal.alive(&handle).await.unwrap(), Alive::Unknown, "{how}");
        }
    }
    assert_eq!(
        said,
        [
            "-1743 Denied",
            "-600 NotRunning",
            "-609 NotRunning",
            "-1712 TimedOut",
            "-1728 Gone",
            "-10000 Refused",
            "-128 Refused"
        ]
    );
    stage.fails(NAME, "sleep");
    fs::remove_file(stage.path("automation.json")).unwrap();
    let mut host = stage.host.clone();
    host.env.insert("PAO_CONSENT_LIMIT_MS".into(), "300".into());
    let error = TerminalApp::new(&host).unwrap().screen(&handle).await.unwrap_err();
    assert!(matches!(error, TerminalError::Unanswered { .. }), "{error:?}");
}

#[tokio::test]
async fn a_terminal_that_quits_meanwhile_is_asked_once_more() {
    let stage = Stage::new();
    fs::write(stage.of_applications("terminal/fails-once"), "-609").unwrap();
    let terminal = stage.terminal(NAME);
    let opened = terminal.open(&stage.script("api", "echo here; exec sleep 600")).await.unwrap();
    until_screen(&*terminal, &opened.handle, "here").await;
    assert_eq!((stage.windows(NAME), opened.note), (1, None));
}

#[tokio::test]
async fn where_nothing_helps_the_first_reason_is_given() {
    let stage = Stage::new();
    stage.fails(NAME, "-1743");
    fs::write(stage.of_applications("open-fails"), "").unwrap();
    let error = stage.terminal(NAME).open(&stage.script("api", "exit")).await.unwrap_err();
    assert!(matches!(error, TerminalError::Denied { .. }), "{error:?}");
}

#[tokio::test]
async fn a_path_that_could_not_be_typed_is_opened_as_a_document() {
    let stage = Stage::at(&"long/".repeat(50));
    let mark = stage.path("ran");
    let script = stage.script("api", &format!("touch '{}'; exec sleep 600", mark.display()));
    let opened = stage.terminal(NAME).open(&script).await.unwrap();
    assert!(opened.note.unwrap().contains("too long"));
    until("it runs", || async { mark.exists() }).await;
    assert!(!stage.log().contains("open [ROOT"), "{}", stage.log());
}

#[tokio::test]
async fn a_window_with_more_in_it_is_left_open() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let busy = terminal.open(&stage.script("busy", "exec sleep 600")).await.unwrap().handle;
    let error = terminal.close(&busy).await.unwrap_err();
    assert_eq!(error.to_string(), "the window in Terminal.app was left open: something still runs in it");
    let shared = terminal.open(&stage.script("shared", "exit")).await.unwrap().handle;
    fs::create_dir_all(stage.of_applications("terminal/extra-tab")).unwrap();
    fs::write(stage.of_applications("terminal/extra-tab/942"), "").unwrap();
    let error = terminal.close(&shared).await.unwrap_err();
    assert_eq!(error.to_string(), "the window in Terminal.app was left open: it holds other tabs");
}

#[tokio::test]
async fn what_it_cannot_do_is_said_and_not_tried() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let handle = terminal.open(&stage.listener("app")).await.unwrap().handle;
    until_screen(&*terminal, &handle, "listening").await;
    assert!(matches!(terminal.key(&handle, Key::Up).await, Err(TerminalError::NotCapable { .. })));
    assert!(matches!(terminal.paste(&handle, "a\nb").await, Err(TerminalError::Text(_))));
    assert!(matches!(terminal.paste(&handle, &"a".repeat(1001)).await, Err(TerminalError::Text(_))));
    assert_eq!(stage.got("app"), "");
    assert!(!stage.log().contains("send"));
}

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use pao_core::host::process::Run;
use pao_core::host::terminal::{Alive, TerminalError, choose};

use super::{Stage, until, until_screen};

const NAME: &str = "tmux";

/// A script that shows every byte it gets, from the moment the terminal is raw.
const BYTES: &str = "stty raw -echo; printf 'ready\\r\\n'; exec cat -v";

suite!(NAME);

#[tokio::test]
async fn several_lines_are_one_paste_and_submitting_is_apart() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let script = stage.script("api", &format!("printf '\\033[?2004h'; {BYTES}"));
    let handle = terminal.open(&script).await.unwrap().handle;
    until_screen(&*terminal, &handle, "ready").await;
    terminal.paste(&handle, "line1\nline2\n\n\t- item").await.unwrap();
    terminal.submit(&handle).await.unwrap();
    until_screen(&*terminal, &handle, "^[[201~^M").await;
    let screen = terminal.screen(&handle).await.unwrap();
    assert_eq!(screen.matches("^[[200~").count(), 1, "{screen}");
    assert_eq!(screen.matches("^M").count(), 1, "a line feed became a Return: {screen}");
    // Nothing is left in the buffers.
    let out = Run::new("tmux").args(["-L", &stage.socket, "list-buffers"]).output().await.unwrap();
    assert_eq!(out.text(), "");
}

#[tokio::test]
async fn long_text_arrives_whole() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let got = stage.path("long");
    let handle = terminal
        .open(&stage.script("api", &format!("stty raw -echo; echo ready; exec cat > '{}'", got.display())))
        .await
        .unwrap()
        .handle;
    until_screen(&*terminal, &handle, "ready").await;
    let text = "支付 of a line\n".repeat(3000);
    terminal.paste(&handle, &text).await.unwrap();
    until("all of it arrives", || async { fs::read(&got).is_ok_and(|b| b.len() >= text.len()) }).await;
    assert_eq!(fs::read_to_string(&got).unwrap(), text);
}

#[tokio::test]
async fn someone_who_scrolled_back_does_not_keep_text_from_arriving() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let handle = terminal.open(&stage.listener("app")).await.unwrap().handle;
    until_screen(&*terminal, &handle, "listening").await;
    let out = Run::new("tmux").args(["-L", &stage.socket, "copy-mode"]).output().await.unwrap();
    assert!(out.success(), "{}", out.error_text());
    super::send_line(&*terminal, &handle, "hello").await;
    until("the line arrives", || async { stage.got("app") == "hello\n" }).await;
}

#[tokio::test]
async fn a_bare_environment_and_our_own_configuration_start_the_server() {
    let mut stage = Stage::new();
    let env = &mut stage.host.env;
    env.insert("ANTHROPIC_API_KEY".into(), "old-key".into());
    env.insert("TMUX".into(), "/tmp/other,1,0".into());
    env.insert("TMUX_PANE".into(), "%77".into());
    fs::write(stage.host.home.join(".tmux.conf"), "run-shell 'touch ~/pwned'\n").unwrap();
    let terminal = stage.terminal(NAME);
    let shown = stage.path("env");
    let opened =
        terminal
            .open(&stage.script(
                "api",
                &format!("env > '{}.part'; mv '{0}.part' '{0}'; exec sleep 600", shown.display()),
            ))
            .await
            .unwrap();
    until("the environment is shown", || async { shown.exists() }).await;
    let text = fs::read_to_string(&shown).unwrap();
    assert!(!text.contains("old-key") && !text.contains("%77"), "{text}");
    assert!(text.contains(&format!("HOME={}", stage.host.home.display())), "{text}");
    super::nothing_was_executed(&stage);
    assert!(opened.attach.unwrap().starts_with("env -u TMUX tmux -L "));
}

#[tokio::test]
async fn a_new_server_with_the_same_pane_numbers_is_not_taken_for_the_old_one() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let old = terminal.open(&stage.listener("app")).await.unwrap().handle;
    let killed = Run::new("tmux").args(["-L", &stage.socket, "kill-server"]).output().await.unwrap();
    assert!(killed.success());
    let new = terminal.open(&stage.listener("app")).await.unwrap().handle;
    until_screen(&*terminal, &new, "listening").await;
    assert_eq!(terminal.alive(&old).await.unwrap(), Alive::No);
    assert!(matches!(terminal.paste(&old, "x").await, Err(TerminalError::Gone { .. })));
    terminal.close(&old).await.unwrap();
    assert_eq!(terminal.alive(&new).await.unwrap(), Alive::Yes);
}

#[tokio::test]
async fn eight_at_once_get_eight_panes_of_one_server() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let scripts: Vec<_> = (0..8).map(|n| stage.script(&format!("app{n}"), "exec sleep 600")).collect();
    let opened = futures(scripts.iter().map(|s| terminal.open(s))).await;
    let handles: BTreeSet<String> = opened.into_iter().map(|o| o.unwrap().handle).collect();
    assert_eq!(handles.len(), 8);
    for handle in &handles {
        assert_eq!(terminal.alive(handle).await.unwrap(), Alive::Yes);
    }
}

async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    use std::pin::pin;
    use std::task::Poll;
    let mut all: Vec<_> = all.map(|f| (Box::pin(f), None)).collect();
    let mut joined = pin!(std::future::poll_fn(|cx| {
        for (future, output) in all.iter_mut().filter(|(_, o)| o.is_none()) {
            if let Poll::Ready(value) = future.as_mut().poll(cx) {
                *output = Some(value);
            }
        }
        if all.iter().all(|(_, o)| o.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    }));
    joined.as_mut().await;
    all.into_iter().filter_map(|(_, output)| output).collect()
}

#[tokio::test]
async fn the_window_closes_by_itself_once_the_start_is_settled() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let handle = terminal.open(&stage.script("api", "read line")).await.unwrap().handle;
    terminal.settled(&handle).await.unwrap();
    terminal.submit(&handle).await.unwrap();
    until("it is gone", || async {
        matches!(terminal.screen(&handle).await, Err(TerminalError::Gone { .. }))
    })
    .await;
}

#[tokio::test]
async fn a_lost_handle_is_found_by_the_script() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let script = stage.script("api", "exec sleep 600");
    assert_eq!(terminal.find(&script).await.unwrap(), None);
    let opened = terminal.open(&script).await.unwrap();
    terminal.open(&stage.script("api2", "exec sleep 600")).await.unwrap();
    assert_eq!(terminal.find(&script).await.unwrap(), Some(opened.handle));
}

#[tokio::test]
async fn the_command_to_attach_works_and_so_does_the_script_for_a_window() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let opened = terminal.open(&stage.script("api", "echo seen inside; exec sleep 600")).await.unwrap();
    let attach = opened.attach.clone().unwrap();
    // A second terminal plays the user's window.
    let mut outside = stage.host.clone();
    outside.env.insert("PAO_TMUX_SOCKET".into(), format!("{}-outside", stage.socket).into());
    let window = choose(&outside, NAME).unwrap();
    let written = stage.path("agents/api/attach.command");
    for command in [format!("unset TMUX; exec {attach}"), format!("exec '{}'", written.display())] {
        let shown = window.open(&stage.script("window", &command)).await.unwrap();
        until_screen(&*window, &shown.handle, "seen inside").await;
        until_screen(&*window, &shown.handle, "leave the agent running").await;
        window.close(&shown.handle).await.unwrap();
    }
    let _ = Run::new("tmux").args(["-L", &format!("{}-outside", stage.socket), "kill-server"]).output().await;
}

#[tokio::test]
async fn opening_takes_a_few_milliseconds_once_the_server_runs() {
    let stage = Stage::new();
    let terminal = stage.terminal(NAME);
    terminal.open(&stage.script("first", "exec sleep 600")).await.unwrap();
    let mut took = Vec::new();
    for n in 0..10 {
        let script = stage.script(&format!("app{n}"), "exec sleep 600");
        let since = Instant::now();
        terminal.open(&script).await.unwrap();
        took.push(since.elapsed());
    }
    took.sort();
    eprintln!("open: best {:?}, median {:?}, worst {:?}", took[0], took[5], took[9]);
    // The machine may be busy with everything else: what it takes by itself shows in the best.
    assert!(took[0] < Duration::from_millis(500), "{took:?}");
}

#[tokio::test]
async fn where_there_is_a_display_a_window_is_opened_and_elsewhere_it_is_said_that_there_is_none() {
    let mut stage = Stage::new();
    let terminal = stage.terminal(NAME);
    let unseen = terminal.open(&stage.script("api", "exec sleep 600")).await.unwrap();
    let handle = unseen.handle;
    assert!(!terminal.capabilities().visible && !unseen.shown);
    assert!(matches!(terminal.focus(&handle).await, Err(TerminalError::NotCapable { .. })));
    stage.host.env.insert("DISPLAY".into(), ":97".into());
    let emulator = stage.root.path().join("bin/x-terminal-emulator");
    let shown = stage.path("emulator");
    fs::write(&emulator, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> '{}'\n", shown.display())).unwrap();
    fs::set_permissions(&emulator, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let terminal = stage.terminal(NAME);
    assert!(terminal.capabilities().visible);
    let opened = terminal.open(&stage.script("web", "exec sleep 600")).await.unwrap();
    let attach = |name: &str| stage.path(&format!("agents/{name}/attach.command")).display().to_string();
    let wanted = format!("-e\n{}\n", attach("web"));
    until("the emulator runs", || async { fs::read_to_string(&shown).is_ok_and(|t| t == wanted) }).await;
    assert!(opened.shown);
    assert!(opened.attach.is_some(), "how to attach is known all the same");
    // Focusing an agent that nobody looks at opens a window for it.
    terminal.focus(&handle).await.unwrap();
    let wanted = format!("{wanted}-e\n{}\n", attach("api"));
    until("the emulator runs again", || async { fs::read_to_string(&shown).is_ok_and(|t| t == wanted) })
        .await;
}

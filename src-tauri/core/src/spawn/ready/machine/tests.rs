use proptest::prelude::*;

use super::*;
use crate::agent::CLAUDE_CODE;

const ALL: Capabilities = Capabilities {
    read: true,
    keys: true,
    paste: true,
    paste_returns: false,
    paste_lines: true,
    visible: false,
    focus: false,
    close: true,
};

fn setting() -> Setting {
    Setting {
        prompt: Some("fix the login".into()),
        in_arguments: true,
        agreed: BTreeSet::from([Agreed::Trust]),
        folder: "/home/user/project".into(),
        can: ALL,
        limit: Duration::from_secs(30),
    }
}

fn typed() -> Setting {
    Setting { in_arguments: false, ..setting() }
}

fn screen(name: &str) -> Screen {
    let path = format!("{}/../../tests/fixtures/claude-code/screens/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    CLAUDE_CODE.screens.classify(&std::fs::read_to_string(path).unwrap())
}

/// Plays a screen for a while, looked at every 50 ms, and tells what was done other than waiting.
struct Play {
    machine: Machine,
    now: u64,
    done: Vec<Action>,
}

impl Play {
    fn new(setting: Setting) -> Self {
        Self { machine: Machine::new(setting), now: 0, done: Vec::new() }
    }

    fn seeing(&mut self, milliseconds: u64, seen: &Seen) -> &mut Self {
        let end = self.now + milliseconds;
        while self.now < end && !matches!(self.done.last(), Some(Action::Settle(_) | Action::Ended)) {
            let action = self.machine.step(Duration::from_millis(self.now), seen);
            self.now += 50;
            if action != Action::Wait {
                self.done.push(action);
            }
        }
        self
    }

    fn showing(&mut self, milliseconds: u64, screen: Screen) -> &mut Self {
        self.seeing(milliseconds, &Seen { screen: Some(screen), ..Seen::default() })
    }

    fn settled(&self) -> &Settled {
        match self.done.last() {
            Some(Action::Settle(settled)) => settled,
            other => panic!("not settled but {other:?}"),
        }
    }
}

fn typed_text(text: &str) -> Screen {
    Screen::Typed { text: text.into(), folded: false }
}

#[test]
fn a_hook_that_saw_our_prompt_is_proof_at_once() {
    let mut play = Play::new(setting());
    play.seeing(50, &Seen { session_started: true, submitted: true, ..Seen::default() });
    assert_eq!(play.settled().receipt, Receipt::Confirmed);
    assert_eq!(play.settled().evidence, "UserPromptSubmit hook");
}

#[test]
fn a_weaker_sign_is_believed_only_after_waiting_for_a_better_one() {
    for seen in
        [Seen { file_busy: true, ..Seen::default() }, Seen { screen: Some(Screen::Busy), ..Seen::default() }]
    {
        let mut play = Play::new(setting());
        play.seeing(1900, &seen);
        assert_eq!(play.done, []);
        play.seeing(300, &seen);
        assert_eq!(play.settled().receipt, Receipt::Confirmed);
    }
}

#[test]
fn trust_is_confirmed_by_moving_to_the_line_that_agrees_and_looking_again() {
    let mut play = Play::new(setting());
    play.showing(1000, screen("04-trust"));
    assert_eq!(play.done[0], Action::Press(Key::Down));
    assert!(!play.done.contains(&Action::Press(Key::Enter)));
    let text = std::fs::read_to_string(format!(
        "{}/../../tests/fixtures/claude-code/screens/04-trust.txt",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap();
    let moved = text.replace(" ❯ No, exit\n   Yes,", "   No, exit\n ❯ Yes,");
    play.done.clear();
    play.showing(1000, CLAUDE_CODE.screens.classify(&moved));
    assert_eq!(play.done, [Action::Press(Key::Enter)]);
}

#[test]
fn trust_in_the_old_order_is_confirmed_where_it_stands() {
    let mut play = Play::new(setting());
    play.showing(1000, screen("04-trust-old"));
    assert_eq!(play.done, [Action::Press(Key::Enter)]);
}

#[test]
fn a_key_that_moves_nothing_is_not_pressed_for_ever() {
    let mut play = Play::new(setting());
    play.showing(20_000, screen("04-trust"));
    assert_eq!(play.done.len(), 7, "{:?}", play.done);
    assert!(play.settled().needs.as_deref().unwrap().contains("one you trust"));
    assert!(!play.done.contains(&Action::Press(Key::Enter)));
}

#[test]
fn what_the_user_did_not_agree_to_is_left_to_the_user() {
    for (name, agreed) in [
        ("04-trust", vec![]),
        ("04-trust-old", vec![Agreed::SkipPermissions]),
        ("09-bypass-warning", vec![Agreed::Trust]),
        ("12-mcp-approval", vec![Agreed::Trust, Agreed::SkipPermissions]),
        ("02b-apikey-dialog-old", vec![Agreed::Trust, Agreed::SkipPermissions]),
        ("11-external-include", vec![Agreed::Trust, Agreed::SkipPermissions]),
        ("13-add-dir", vec![Agreed::Trust, Agreed::SkipPermissions]),
        ("61-settings-invalid-mid", vec![Agreed::Trust, Agreed::SkipPermissions]),
        ("01-onboarding-theme", vec![Agreed::Trust, Agreed::SkipPermissions]),
    ] {
        let mut play = Play::new(Setting { agreed: agreed.into_iter().collect(), ..setting() });
        play.showing(2000, screen(name));
        assert_eq!(play.done.len(), 1, "{name}: {:?}", play.done);
        assert_eq!(play.settled().receipt, Receipt::Sent, "{name}");
        assert!(play.settled().needs.is_some(), "{name}");
    }
}

#[test]
fn trust_of_another_folder_is_not_ours_to_confirm() {
    let mut play = Play::new(Setting { folder: "/home/user/other".into(), ..setting() });
    play.showing(2000, screen("04-trust-old"));
    assert!(play.settled().needs.is_some());
    assert_eq!(play.done.len(), 1);
}

#[test]
fn a_window_without_arrow_keys_can_confirm_only_what_is_selected() {
    let can = Capabilities { keys: false, ..ALL };
    let mut play = Play::new(Setting { can, ..setting() });
    play.showing(1000, screen("04-trust-old"));
    assert_eq!(play.done, [Action::Submit]);
    let mut play = Play::new(Setting { can, ..setting() });
    play.showing(1000, screen("04-trust"));
    assert!(play.settled().needs.is_some());
    assert_eq!(play.done.len(), 1);
}

#[test]
fn three_dialogs_in_a_row_each_get_what_was_agreed() {
    let mut play =
        Play::new(Setting { agreed: BTreeSet::from([Agreed::Trust, Agreed::SkipPermissions]), ..typed() });
    play.showing(500, screen("04-trust-old")).showing(500, screen("09-bypass-moved"));
    assert_eq!(play.done, [Action::Press(Key::Enter), Action::Press(Key::Enter)]);
    play.showing(1000, screen("12-mcp-approval"));
    assert!(play.settled().needs.as_deref().unwrap().starts_with("New MCP server"));
    assert_eq!(play.done.len(), 3, "nothing was typed into a dialog");
}

#[test]
fn a_prompt_is_typed_only_when_the_line_has_stood_there_and_sent_when_it_shows() {
    let mut play = Play::new(typed());
    play.showing(300, Screen::Ready);
    assert_eq!(play.done, []);
    play.showing(300, Screen::Ready).showing(100, typed_text("fix the"));
    assert_eq!(play.done, [Action::Paste], "half a text is not sent");
    play.showing(400, typed_text("fix the login"));
    assert_eq!(play.done[1..], [Action::Submit]);
    play.seeing(50, &Seen { submitted: true, ..Seen::default() });
    assert_eq!(play.settled().receipt, Receipt::Confirmed);
}

#[test]
fn a_folded_paste_counts_as_there_and_is_sent_once() {
    let mut play = Play::new(typed());
    play.showing(600, Screen::Ready);
    play.showing(600, Screen::Typed { text: "[Pasted text #1 +5 lines]".into(), folded: true });
    assert_eq!(play.done, [Action::Paste, Action::Submit]);
}

#[test]
fn text_that_was_thrown_away_is_typed_again_and_not_for_ever() {
    let mut play = Play::new(typed());
    play.showing(20_000, Screen::Ready);
    let pastes = play.done.iter().filter(|action| **action == Action::Paste).count();
    assert_eq!(pastes, 3);
    assert_eq!(play.settled().receipt, Receipt::Sent);
    assert!(!play.done.contains(&Action::Submit));
}

#[test]
fn the_other_submit_key_is_tried_once() {
    let mut play = Play::new(typed());
    play.showing(600, Screen::Ready).showing(10_000, typed_text("fix the login"));
    assert_eq!(play.done[..3], [Action::Paste, Action::Submit, Action::SubmitOtherwise]);
    assert_eq!(play.done.len(), 4);
    assert_eq!(play.settled().receipt, Receipt::Unknown);
    assert!(play.settled().needs.as_deref().unwrap().contains("press Return"));
}

#[test]
fn a_prompt_that_left_the_line_is_never_sent_again() {
    let mut play = Play::new(typed());
    play.showing(600, Screen::Ready).showing(300, typed_text("fix the login")).showing(40_000, Screen::Ready);
    assert_eq!(play.done[..2], [Action::Paste, Action::Submit]);
    assert_eq!(play.done.len(), 3);
    assert_eq!((play.settled().receipt, &play.settled().needs), (Receipt::Unknown, &None));
}

#[test]
fn what_the_user_types_meanwhile_is_not_touched() {
    let mut play = Play::new(typed());
    play.showing(40_000, typed_text("something of the user's"));
    assert_eq!(play.done.len(), 1);
    assert_eq!(play.settled().receipt, Receipt::Unknown);
}

#[test]
fn an_agent_that_is_gone_ends_the_wait_and_one_that_is_silent_does_so_at_the_limit() {
    let mut play = Play::new(setting());
    play.seeing(50, &Seen { gone: true, ..Seen::default() });
    assert_eq!(play.done, [Action::Ended]);
    let mut play = Play::new(setting());
    play.seeing(60_000, &Seen::default());
    assert_eq!(play.now, 30_050);
    assert_eq!(play.settled().receipt, Receipt::Unknown);
}

#[test]
fn without_a_prompt_the_prompt_line_or_the_hook_is_enough_but_never_under_a_dialog() {
    let alone = || Setting { prompt: None, ..setting() };
    let mut play = Play::new(alone());
    play.showing(300, Screen::Ready);
    assert_eq!(play.settled().receipt, Receipt::Confirmed);
    let mut play = Play::new(Setting { can: Capabilities { read: false, ..ALL }, ..alone() });
    play.seeing(50, &Seen { session_started: true, ..Seen::default() });
    assert_eq!(play.settled().evidence, "SessionStart hook");
    let mut play = Play::new(alone());
    let under = Seen { session_started: true, screen: Some(screen("12-mcp-approval")), ..Seen::default() };
    play.seeing(5000, &under);
    assert_eq!(play.settled().receipt, Receipt::Sent);
    assert!(play.settled().needs.is_some());
}

#[test]
fn an_error_on_the_screen_calls_the_user_and_keeps_what_is_known_of_the_prompt() {
    let mut play = Play::new(setting());
    play.showing(500, screen("30-error-nologin-start-old"));
    assert_eq!(play.settled().needs.as_deref(), Some("Missing API key · Run /login"));
    let mut play = Play::new(setting());
    let seen = Seen { submitted: true, screen: Some(screen("30-error-401")), ..Seen::default() };
    play.seeing(50, &seen);
    assert_eq!(play.settled().receipt, Receipt::Confirmed);
    assert!(play.settled().needs.as_deref().unwrap().contains("401"));
}

fn any_screen() -> impl Strategy<Value = Screen> {
    let names = ["04-trust", "04-trust-old", "09-bypass-moved", "12-mcp-approval", "51-permission-prompt"];
    prop_oneof![
        proptest::sample::select(names.map(screen).to_vec()),
        proptest::sample::select(vec![
            Screen::Unknown,
            Screen::Ready,
            Screen::Busy,
            Screen::Interrupted,
            typed_text("fix the login"),
            typed_text("x"),
        ]),
    ]
}

proptest! {
    #[test]
    fn whatever_is_shown_the_prompt_is_submitted_at_most_twice_and_nothing_is_typed_into_a_dialog(
        shown in proptest::collection::vec((any_screen(), 50u64..2500), 1..30),
    ) {
        let mut play = Play::new(typed());
        for (screen, milliseconds) in shown {
            let before = play.done.len();
            play.showing(milliseconds, screen.clone());
            let new = &play.done[before..];
            let typing = |a: &Action| matches!(a, Action::Paste | Action::Submit | Action::SubmitOtherwise);
            if matches!(screen, Screen::Dialog(_) | Screen::Unknown | Screen::Busy) {
                prop_assert!(!new.iter().any(typing), "{:?} at {:?}", new, screen);
            } else {
                prop_assert!(!new.iter().any(|a| matches!(a, Action::Press(_))));
            }
        }
        let count = |wanted: &Action| play.done.iter().filter(|a| *a == wanted).count();
        prop_assert!(count(&Action::Submit) <= 1 && count(&Action::SubmitOtherwise) <= 1);
        prop_assert!(count(&Action::Paste) <= 3);
    }
}

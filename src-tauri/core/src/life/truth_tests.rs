use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::agent::screen::{Dialog, DialogKind};

fn noon() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc()
}

fn row(state: State, by: &str) -> Agent {
    let needs = (state == State::NeedsYou).then(|| "permission for Bash: touch made.txt".to_string());
    let base = Agent::starting("a", "app", Path::new("/code/app"), "claude-code", noon());
    Agent { state, needs, state_by: Some(by.into()), ..base }
}

#[expect(clippy::unnecessary_wraps, reason = "evidence holds one or none")]
fn said(doing: Doing, seconds: i64) -> Option<Said> {
    let at = noon() + TimeDelta::seconds(seconds);
    Some(Said { session: "s".into(), doing: Some(doing), at, proven: true })
}

fn seen(row: &Agent) -> Evidence<'_> {
    Evidence {
        row,
        before: None,
        said: None,
        turn: None,
        process: Process::Runs,
        window: None,
        screen: None,
        start: Start::Awake(Duration::from_secs(30)),
        unclaimed: false,
        now: noon() + TimeDelta::seconds(60),
    }
}

fn dialog() -> Screen {
    Screen::Dialog(Dialog {
        kind: DialogKind::Permission,
        text: "Do you want to proceed?".into(),
        solid: String::new(),
        options: Vec::new(),
        selected: None,
        agree: None,
    })
}

fn waiting() -> Doing {
    Doing::Waiting("permission for a tool".into())
}

#[test]
fn a_permission_that_was_granted_ends_the_wait_although_no_hook_says_so() {
    let asked = row(State::NeedsYou, "hook PermissionRequest");
    let at = |doing, seconds| judge(&Evidence { said: said(doing, seconds), ..seen(&asked) });
    // Busy from before the question says nothing; its own "waiting" keeps the better words.
    assert_eq!(at(Doing::Busy, -1), stays(&asked));
    assert_eq!(at(waiting(), -1), stays(&asked));
    assert_eq!(at(waiting(), 1).needs, asked.needs);
    let granted = at(Doing::Busy, 5);
    assert_eq!((granted.state, granted.needs, granted.by.as_str()), (State::Working, None, "session file"));
    assert_eq!(granted.at, noon() + TimeDelta::seconds(5));
    // Declined with Escape: no hook tells of that either.
    assert_eq!(at(Doing::Idle, 5).state, State::Idle);
    // A later wait is another one.
    assert_eq!(at(waiting(), 9).needs.as_deref(), Some("permission for a tool"));
}

#[test]
fn a_turn_that_was_stopped_by_the_user_is_over() {
    let works = row(State::Working, "hook UserPromptSubmit");
    let at = |doing, seconds| judge(&Evidence { said: said(doing, seconds), ..seen(&works) }).state;
    assert_eq!(at(Doing::Idle, -1), State::Working);
    assert_eq!(at(Doing::Idle, 4), State::Idle);
    assert_eq!(at(Doing::Busy, -9), State::Working);
    assert_eq!(at(waiting(), 4), State::NeedsYou);
    // One tool was used while another still asks.
    let used = row(State::Working, "hook PostToolUse");
    assert_eq!(judge(&Evidence { said: said(waiting(), -4), ..seen(&used) }).state, State::NeedsYou);
}

#[test]
fn an_error_stays_until_the_next_turn() {
    let failed = row(State::NeedsYou, "hook StopFailure");
    let at = |doing, seconds| judge(&Evidence { said: said(doing, seconds), ..seen(&failed) }).state;
    assert_eq!(at(Doing::Idle, 1), State::NeedsYou);
    assert_eq!(at(Doing::Busy, -1), State::NeedsYou);
    assert_eq!(at(Doing::Busy, 1), State::Working);
}

#[test]
fn who_has_no_file_is_known_by_its_record_of_the_conversation_where_its_screen_says_nothing() {
    let works = row(State::Working, "hook UserPromptSubmit");
    let over = |seconds, error: Option<&str>| {
        Some(TurnOver { at: noon() + TimeDelta::seconds(seconds), error: error.map(str::to_string) })
    };
    let at = |turn, screen| judge(&Evidence { turn, screen, ..seen(&works) });
    // The end of the turn before says nothing of this one.
    assert_eq!(at(over(-1, None), None).state, State::Working);
    assert_eq!(at(over(5, None), None).state, State::Idle);
    let failed = at(over(5, Some("status 401")), Some(Screen::Unknown));
    assert_eq!(
        (failed.state, failed.needs.as_deref(), failed.by.as_str()),
        (State::NeedsYou, Some("status 401"), "transcript")
    );
    assert_eq!(at(over(5, None), Some(dialog())).state, State::NeedsYou);
    // An error is not made good by the end of the turn it ended.
    let noted = Agent {
        state: failed.state,
        needs: failed.needs,
        state_by: Some(failed.by),
        state_at: failed.at,
        ..works.clone()
    };
    assert_eq!(judge(&Evidence { turn: over(5, None), ..seen(&noted) }).state, State::NeedsYou);
}

#[test]
fn a_dead_process_is_dead_whatever_else_is_said() {
    for state in [State::Starting, State::Working, State::NeedsYou, State::Idle] {
        let row = row(state, "hook Stop");
        let gone = Evidence {
            process: Process::Gone,
            said: said(Doing::Busy, 30),
            window: Some(Alive::Yes),
            screen: Some(Screen::Busy),
            ..seen(&row)
        };
        assert_eq!(judge(&gone).state, State::Lost, "{state:?}");
    }
    for state in [State::Paused, State::Ended, State::Lost] {
        let row = row(state, "hook SessionEnd");
        assert_eq!(judge(&Evidence { process: Process::Gone, ..seen(&row) }).state, state);
    }
}

#[test]
fn a_window_that_is_gone_does_not_end_an_agent_that_runs_and_is_said() {
    let works = row(State::Working, "hook UserPromptSubmit");
    let truth = judge(&Evidence { window: Some(Alive::No), ..seen(&works) });
    assert_eq!((truth.state, &*truth.by), (State::Working, "hook UserPromptSubmit; its window is gone"));
    let noted = Agent { state_by: Some(truth.by.clone()), ..works.clone() };
    assert_eq!(judge(&Evidence { window: Some(Alive::No), ..seen(&noted) }), truth);
    assert_eq!(judge(&Evidence { window: Some(Alive::Yes), ..seen(&noted) }).by, "hook UserPromptSubmit");
}

#[test]
fn whoever_was_wrongly_taken_for_dead_comes_back() {
    let lost = row(State::Lost, "process");
    let before = Some((State::Idle, None));
    assert_eq!(judge(&Evidence { before: before.clone(), ..seen(&lost) }).state, State::Idle);
    assert_eq!(judge(&Evidence { before, said: said(Doing::Busy, 9), ..seen(&lost) }).state, State::Working);
    // A start that was given up and then happened after all.
    assert_eq!(judge(&seen(&lost)).state, State::Starting);
    let ended = row(State::Ended, "hook SessionEnd");
    assert_eq!(judge(&seen(&ended)).state, State::Ended);
    assert_eq!(judge(&Evidence { said: said(Doing::Idle, -3), ..seen(&ended) }).state, State::Ended);
    assert_eq!(judge(&Evidence { said: said(Doing::Idle, 3), ..seen(&ended) }).state, State::Idle);
}

#[test]
fn a_start_is_given_time_in_which_the_machine_is_awake_and_all_of_it_while_its_window_stands() {
    let start = row(State::Starting, "row");
    let base = |start_| Evidence { process: Process::Unrecorded, start: start_, ..seen(&start) };
    let long = Start::Awake(Duration::from_hours(8));
    let short = Start::Awake(Duration::from_secs(20));
    // Eight hours by the clock on the wall, twenty seconds awake.
    let slept = Evidence { now: noon() + TimeDelta::hours(8), ..base(short) };
    assert_eq!(judge(&slept).state, State::Starting);
    let window = Some(Alive::Yes);
    assert_eq!(judge(&Evidence { window, unclaimed: true, ..base(long) }).state, State::Starting);
    assert_eq!(judge(&Evidence { window, unclaimed: false, ..base(long) }).state, State::Lost);
    assert_eq!(judge(&base(long)).state, State::Lost);
    assert_eq!(judge(&Evidence { window: Some(Alive::No), ..base(short) }).state, State::Lost);
    assert_eq!(judge(&base(Start::Restarted)).state, State::Lost);
}

#[test]
fn without_a_file_the_screen_is_the_last_resort() {
    let asked = row(State::NeedsYou, "hook PermissionRequest");
    assert!(wants_screen(&seen(&asked)));
    assert!(!wants_screen(&Evidence { now: noon() + TimeDelta::seconds(1), ..seen(&asked) }));
    assert!(!wants_screen(&Evidence { said: said(waiting(), 0), ..seen(&asked) }));
    let on = |screen| judge(&Evidence { screen: Some(screen), ..seen(&asked) });
    assert_eq!(on(dialog()).needs, asked.needs);
    assert_eq!(on(Screen::Busy).state, State::Working);
    assert_eq!(on(Screen::Interrupted).state, State::Idle);
    assert_eq!(on(Screen::Unknown), stays(&asked));
    let idle = row(State::Idle, "hook Stop");
    let failed = Screen::Failed("Credit balance too low".into());
    let truth = judge(&Evidence { screen: Some(failed), ..seen(&idle) });
    assert_eq!((truth.state, truth.needs.as_deref()), (State::NeedsYou, Some("Credit balance too low")));
    // Once it was looked at, it is not looked at again.
    assert!(wants_screen(&seen(&idle)));
    let truth = judge(&Evidence { screen: Some(Screen::Ready), ..seen(&idle) });
    let looked = Agent { state_by: Some(truth.by), ..idle };
    assert!(!wants_screen(&seen(&looked)));
}

#[test]
fn a_turn_that_repeats_its_request_in_vain_needs_you_until_it_goes_on() {
    let works = row(State::Working, "hook UserPromptSubmit");
    let busy = || said(Doing::Busy, 0);
    assert!(wants_screen(&Evidence { said: busy(), ..seen(&works) }));
    assert!(!wants_screen(&Evidence { said: busy(), now: noon() + TimeDelta::seconds(15), ..seen(&works) }));
    let on = |row: &Agent, screen| judge(&Evidence { said: busy(), screen: Some(screen), ..seen(row) });
    let truth = on(&works, Screen::Retrying("429 · retrying in 4s".into()));
    assert_eq!((truth.state, truth.needs.as_deref()), (State::NeedsYou, Some("429 · retrying in 4s")));
    let stuck = Agent { state: truth.state, needs: truth.needs, state_by: Some(truth.by), ..works };
    assert!(wants_screen(&Evidence { said: busy(), ..seen(&stuck) }));
    assert_eq!(on(&stuck, Screen::Busy).state, State::Working);
    assert_eq!(on(&stuck, Screen::Retrying("429 · attempt 5/10".into())).state, State::NeedsYou);
}

fn a_state() -> impl Strategy<Value = State> {
    use State::{Ended, Idle, Lost, NeedsYou, Paused, Starting, Working};
    proptest::sample::select(vec![Starting, Working, NeedsYou, Idle, Paused, Ended, Lost])
}

fn a_by() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "hook Stop",
        "hook PermissionRequest",
        "hook PostToolUse",
        "hook StopFailure",
        "session file",
        "process",
        "failed on the screen",
        "permission on the screen",
        "hook Stop; its window is gone",
    ])
}

fn a_doing() -> impl Strategy<Value = Option<Doing>> {
    proptest::sample::select(vec![None, Some(Doing::Busy), Some(Doing::Idle), Some(waiting())])
}

fn a_screen() -> impl Strategy<Value = Option<Screen>> {
    let typed = Screen::Typed { text: "x".into(), folded: false };
    proptest::sample::select(vec![
        None,
        Some(Screen::Unknown),
        Some(dialog()),
        Some(Screen::Ready),
        Some(typed),
        Some(Screen::Busy),
        Some(Screen::Retrying("r".into())),
        Some(Screen::Failed("f".into())),
        Some(Screen::Interrupted),
        Some(Screen::Ended("e".into())),
    ])
}

proptest! {
    #[test]
    fn rules_hold_for_all_evidence(
        (state, by, doing, screen) in (a_state(), a_by(), a_doing(), a_screen()),
        process in proptest::sample::select(vec![Process::Unrecorded, Process::Runs, Process::Gone]),
        window in proptest::sample::select(vec![None, Some(Alive::Yes), Some(Alive::No), Some(Alive::Unknown)]),
        at in -100_i64..100,
        awake in 0_u64..1000,
        unclaimed in any::<bool>(),
    ) {
        let row = row(state, by);
        let said = doing.map(|doing| said(doing, at).unwrap());
        let start = Start::Awake(Duration::from_secs(awake));
        let evidence = Evidence { said, process, window, screen, start, unclaimed, ..seen(&row) };
        let truth = judge(&evidence);
        // Nothing healthy is ever shown dead, and nothing dead alive.
        if process == Process::Runs && state.live() {
            prop_assert!(truth.state.live());
        }
        if process == Process::Gone {
            prop_assert!(!truth.state.live());
        }
        if state == State::Paused {
            prop_assert_eq!(truth.state, State::Paused);
        }
        // Only who needs something says what.
        if truth.state != State::NeedsYou {
            prop_assert!(truth.needs.is_none());
        }
        // Unknown stays unknown.
        if state.live() && process == Process::Runs && evidence.said.is_none() && evidence.screen.is_none() {
            prop_assert_eq!(truth.state, state);
        }
        prop_assert!(truth.at <= evidence.now);
        // Looking twice at the same changes nothing.
        let again = Agent {
            state: truth.state,
            needs: truth.needs.clone(),
            state_by: Some(truth.by.clone()),
            state_at: truth.at,
            ..row.clone()
        };
        let second = judge(&Evidence { row: &again, ..evidence.clone() });
        prop_assert_eq!((second.state, second.needs), (truth.state, truth.needs));
    }
}

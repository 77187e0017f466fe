use super::*;
use crate::source::Speaker::{Agent, Store, User};

fn gathered(snippets: Vec<Snippet>) -> Gathered {
    let mut names: Vec<String> = snippets.iter().map(|s| s.source.clone()).collect();
    names.dedup();
    let reports = names
        .into_iter()
        .map(|name| {
            let count = snippets.iter().filter(|s| s.source == name).count();
            report(&name, SourceState::Ok(count))
        })
        .collect();
    Gathered { reports, snippets }
}

fn delivered(prompt: &str, snippets: Vec<Snippet>) -> Vec<String> {
    let briefing = brief(&topic(prompt), &gathered(snippets), 2000);
    briefing.lines.into_iter().filter(|l| l.left_out.is_none()).map(|l| l.id).collect()
}

/// The answer of a store that searches by meaning: two about signing in, the rest about anything.
fn meant(scores: [f32; 8]) -> Vec<Snippet> {
    let texts = [
        "The sign-in cookie bug came from SameSite=Strict on the callback",
        "Users were thrown back to the sign-in form after thirty minutes",
        "Nightly export of the warehouse moved to two in the morning",
        "Invoices are rounded half up, per line",
        "The map tiles are cached for a day",
        "Colours of the charts follow the brand book",
        "Mails are sent through a queue with three workers",
        "Search results are paged by twenty",
    ];
    let memory = |(n, (text, score)): (usize, (&str, f32))| {
        memory("worker", &format!("w{n}"), "2026-11-01", Store, score, text)
    };
    texts.into_iter().zip(scores).enumerate().map(memory).collect()
}

const STANDING_OUT: [f32; 8] = [0.71, 0.69, 0.42, 0.41, 0.40, 0.40, 0.39, 0.38];
const ALIKE: [f32; 8] = [0.45, 0.44, 0.43, 0.42, 0.41, 0.40, 0.39, 0.38];

#[test]
fn a_word_that_every_returned_memory_shares_is_not_worthless() {
    let places =
        ["gateway", "portal", "kiosk", "mobile app", "admin console", "partner site", "till", "terminal"];
    for count in [3usize, 8, 20, 60] {
        let snippets = (0..count)
            .map(|n| {
                let text =
                    format!("Login of the {} number {n} was moved behind a proxy", places[n % places.len()]);
                memory("history", &format!("m{n}"), "2026-11-01", User, 5.0, &text)
            })
            .collect();
        let lines = delivered("compare the login everywhere", snippets);
        assert!(!lines.is_empty(), "{count} memories about the login, and none is said");
    }
}

#[test]
fn words_that_only_ask_for_something_are_not_a_shared_word() {
    let snippets = (0..12)
        .map(|n| {
            let text = format!("Fixed the rounding of invoice {n} and deployed it to cluster {}", n * 3);
            memory("history", &format!("m{n}"), "2026-11-01", User, 5.0, &text)
        })
        .collect();
    assert_eq!(delivered("fix the flaky keyboard shortcuts", snippets), Vec::<String>::new());
}

#[test]
fn a_pasted_log_does_not_hide_what_it_is_about() {
    use std::fmt::Write as _;
    let mut log = String::from("what is this?\n");
    for n in 0..160 {
        writeln!(
            log,
            "2026-11-29T10:{:02}:00 worker{n} unit{} opened shard{} on host{}",
            n % 60,
            n * 3,
            n * 7,
            n * 11
        )
        .unwrap();
    }
    log.push_str("ERROR reconcile_ledger: SettlementMismatch in payout batch\n");
    assert!(log.len() > 8_000, "{}", log.len());
    let mut snippets = vec![memory(
        "history",
        "about-it",
        "2026-11-01",
        User,
        9.0,
        "SettlementMismatch in reconcile_ledger means that the bank file arrived twice: delete the second",
    )];
    // Close behind by score, and with words of the log.
    for (n, score) in (0u8..10).zip([8.6, 8.2, 7.8, 7.4, 7.0, 6.6, 6.2, 5.8, 5.4, 5.0]) {
        let text = format!("The menu of button {n} opened with the colours of brand book {}", 100 + n);
        snippets.push(memory("history", &format!("other{n}"), "2026-11-01", User, score, &text));
    }
    assert_eq!(delivered(&log, snippets), ["about-it"]);
}

#[test]
fn what_stands_out_in_a_store_that_searches_by_meaning_is_said() {
    assert_eq!(delivered("people cannot authenticate any longer", meant(STANDING_OUT)), ["w0", "w1"]);
    assert_eq!(delivered("修复登录", meant(STANDING_OUT)), ["w0", "w1"]);
}

#[test]
fn what_a_store_found_by_meaning_comes_after_what_bears_the_words() {
    let mut snippets = meant(STANDING_OUT);
    let text = "People authenticate against the directory of the mother company";
    snippets.push(memory("history", "h0", "2026-01-01", Agent, 3.0, text));
    let briefing = brief(&topic("people cannot authenticate any longer"), &gathered(snippets), 2000);
    let score = |id: &str| briefing.lines.iter().find(|l| l.id == id).map(|l| l.score).unwrap();
    assert_eq!(left_out(&briefing, "w0"), None);
    assert!(score("h0") > score("w0") && score("h0") > score("w1"));
}

#[test]
fn a_store_that_searches_by_meaning_and_finds_nothing_in_particular_is_silent() {
    assert_eq!(delivered("people cannot authenticate any longer", meant(ALIKE)), Vec::<String>::new());
    assert_eq!(delivered("ok, thanks", meant(STANDING_OUT)), Vec::<String>::new());
}

#[test]
fn a_question_in_a_script_the_memories_do_not_use_gets_the_two_best_at_most() {
    assert_eq!(delivered("修复登录", meant(ALIKE)), ["w0", "w1"]);
    assert_eq!(delivered("修复登录", meant(STANDING_OUT).split_off(7)), ["w7"]);
    let mut snippets = meant(ALIKE);
    snippets.push(memory("history", "h0", "2026-01-01", User, 3.0, "登录超时改成三十分钟"));
    assert_eq!(delivered("修复登录", snippets), ["h0"], "words are better than a guess");
}

#[test]
fn a_broad_question_hears_each_conversation_once() {
    let mut snippets = Vec::new();
    for (n, topic) in
        ["retries of the payout job", "rounding of totals", "time zones of the calendar", "upload of photos"]
            .iter()
            .enumerate()
    {
        for turn in 0..3 {
            let text = format!("Regression {turn} in the {topic}: found by Ana on day {}", n * 9 + turn);
            let mut turn = memory("history", &format!("s{n}/{turn}"), "2026-11-01", Agent, 4.0, &text);
            turn.session = Some(format!("s{n}"));
            snippets.push(turn);
        }
    }
    let decided = "Decided that releases of the payout service happen on Mondays after the quarterly review";
    snippets.push(memory("history", "review", "2026-11-01", User, 6.0, decided));
    let lines = delivered("which regressions did the quarterly release review list", snippets);
    for n in 0..4 {
        let of = lines.iter().filter(|l| l.starts_with(&format!("s{n}/"))).count();
        assert_eq!(of, 1, "{lines:?}");
    }
}

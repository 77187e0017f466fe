use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const CURRENT: &str = include_str!("../../../../../tests/fixtures/transcripts/current-version.jsonl");
const LONG: &str =
    include_str!("../../../../../tests/fixtures/transcripts/5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl");
const SUBAGENT: &str = include_str!("../../../../../tests/fixtures/transcripts/agent-test-hash-123.jsonl");

fn read(bytes: &[u8]) -> (Vec<Entry>, u64, Skipped) {
    let mut reader = Reader::new(Cursor::new(bytes), 0);
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        entries.push(entry);
    }
    (entries, reader.offset(), reader.skipped())
}

fn messages(bytes: &[u8]) -> Vec<Message> {
    read(bytes).0.into_iter().filter_map(|e| if let Entry::Message(m) = e { Some(m) } else { None }).collect()
}

fn user(text: &str) -> String {
    serde_json::json!({"type": "user", "uuid": "u1", "sessionId": "s1", "cwd": "/code/api", "gitBranch": "main",
        "timestamp": "2026-11-30T13:55:03.739Z", "message": {"role": "user", "content": text}})
    .to_string()
}

#[test]
fn a_current_transcript_yields_what_was_said_and_nothing_else() {
    let (entries, offset, skipped) = read(CURRENT.as_bytes());
    assert_eq!(offset, CURRENT.len() as u64);
    assert_eq!((skipped.bad, skipped.oversize), (0, 0));
    let said: Vec<_> = entries
        .iter()
        .map(|entry| match entry {
            Entry::Message(m) => (m.speaker, m.text.as_str()),
            Entry::Title { text, .. } => (Speaker::Store, text.as_str()),
        })
        .collect();
    assert!(said.contains(&(Speaker::User, "transcript demo")), "{said:?}");
    assert!(said.contains(&(Speaker::Agent, "Using bash.")));
    assert!(said.contains(&(Speaker::Agent, "Bash echo tool-ran — echo")));
    assert!(said.contains(&(Speaker::Store, "sample")));
    assert!(said.iter().all(|(_, text)| !text.contains("IMPORTANT") && !text.contains("You are")));
    let Some(Entry::Message(first)) = entries.iter().find(|e| matches!(e, Entry::Message(_))) else {
        panic!()
    };
    assert_eq!(first.cwd, "/home/user/project");
    assert_eq!(first.session, "22222222-2222-4333-8444-555555555555");
    assert_eq!(first.at.unwrap().to_rfc3339(), "2026-11-30T13:55:03.739+00:00");
}

#[test]
fn meta_records_and_command_wrappers_are_not_indexed() {
    let said = messages(LONG.as_bytes());
    assert!(
        said.iter()
            .any(|m| m.speaker == Speaker::User
                && m.text == "@CLAUDE.md を最新の状態にアップデートしてください")
    );
    assert!(said.iter().all(|m| !m.text.contains("<command-") && !m.text.contains("Analyze and Plan")));
    assert!(said.iter().any(|m| m.text.starts_with("Edit ") || m.text.starts_with("Read ")));
}

#[test]
fn a_subagents_words_belong_to_its_parent_session_and_to_no_user() {
    let said = messages(SUBAGENT.as_bytes());
    assert_eq!(said.len(), 2);
    assert!(said.iter().all(|m| m.sidechain && m.speaker == Speaker::Agent));
    assert!(said.iter().all(|m| m.session == "5c0375b4-57a5-4f26-b12d-d022ee4e51b7"));
}

#[test]
fn the_place_of_a_file_names_its_session() {
    assert_eq!(session_of(Path::new("/p/-code/abc.jsonl")).as_deref(), Some("abc"));
    assert_eq!(session_of(Path::new("/p/-code/agent-1f.jsonl")), None);
    assert_eq!(session_of(Path::new("/p/-code/abc/subagents/agent-1f.jsonl")).as_deref(), Some("abc"));
    assert_eq!(session_of(Path::new("/p/-code/abc/subagents/deep/agent-2.jsonl")).as_deref(), Some("abc"));
}

#[test]
fn a_byte_order_mark_does_not_cost_the_first_record() {
    let file = format!("\u{feff}{}\r\n", user("first"));
    assert_eq!(messages(file.as_bytes())[0].text, "first");
}

#[test]
fn a_bad_line_costs_only_itself() {
    let mut file = format!("{}\n", user("one")).into_bytes();
    file.extend_from_slice(b"{\"type\":\"user\",\"message\":{\"content\":\"half \xe4\xb8\"}}\n");
    file.extend_from_slice(b"not json\n\n{\"type\":\"user\",\n");
    file.extend_from_slice(&[0; 4096]);
    file.extend_from_slice(format!("{}\n", user("two")).as_bytes());
    file.extend_from_slice(&[0; 100]);
    file.push(b'\n');
    let (entries, offset, skipped) = read(&file);
    assert_eq!(entries.len(), 2);
    assert_eq!(offset, file.len() as u64);
    assert_eq!(skipped.bad, 3);
}

#[test]
fn a_torn_last_line_waits_and_is_read_when_whole() {
    let (first, second) = (format!("{}\n", user("one")), user("支付对账 two"));
    for cut in [1, 20, second.len() - 1, second.find('支').unwrap() + 1] {
        let torn = [first.as_bytes(), &second.as_bytes()[..cut]].concat();
        let (entries, offset, skipped) = read(&torn);
        assert_eq!((entries.len(), offset, skipped.bad), (1, first.len() as u64, 0));
    }
    let whole = format!("{first}{second}");
    let (entries, offset, _) = read(whole.as_bytes());
    assert_eq!((entries.len(), offset), (2, whole.len() as u64));
}

#[test]
fn an_oversize_line_is_counted_and_never_held() {
    struct Zeros(u64);
    impl Read for Zeros {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = into.len().min(usize::try_from(self.0).unwrap());
            into[..n].fill(b'A');
            self.0 -= n as u64;
            Ok(n)
        }
    }
    let (before, after) = (format!("{}\n", user("one")), format!("\n{}\n", user("two")));
    let input =
        Cursor::new(before.into_bytes()).chain(Zeros(60 << 20)).chain(Cursor::new(after.into_bytes()));
    let mut reader = Reader::new(input, 0);
    let mut texts = Vec::new();
    let mut held = 0;
    while let Some(entry) = reader.next_entry().unwrap() {
        let Entry::Message(message) = entry else { panic!() };
        texts.push(message.text);
        held = held.max(reader.line.capacity());
    }
    assert_eq!(texts, ["one", "two"]);
    assert_eq!(reader.skipped().oversize, 1);
    assert!(held <= 2 * LONGEST_LINE, "{held}");
}

#[test]
fn only_the_first_lines_of_errors_are_kept_of_tool_results() {
    let record = |is_error: bool| {
        serde_json::json!({"type": "user", "message": {"content": [{"type": "tool_result", "is_error": is_error,
            "content": format!("error[E0499]: cannot borrow\n\n{}", "noise\n".repeat(500))}]}})
        .to_string()
    };
    assert!(messages(record(false).as_bytes()).is_empty());
    let said = messages(record(true).as_bytes());
    assert!(said[0].text.starts_with("error: error[E0499]: cannot borrow"));
    assert!(said[0].text.len() <= LONGEST_ERROR && said[0].speaker == Speaker::Agent);
}

#[test]
fn what_a_briefing_told_is_not_heard_again() {
    use crate::capture::marks::{BEGIN, END};
    let told = format!("{BEGIN}\nuse port 8021\n{END}\nfix the login");
    assert_eq!(messages(user(&told).as_bytes())[0].text, "fix the login");
    assert!(messages(user("SessionStart hook additional context: use port 8021").as_bytes()).is_empty());
}

#[test]
fn fields_of_unexpected_types_do_not_cost_the_record() {
    let odd = r#"{"type":"user","uuid":7,"cwd":null,"isMeta":"no","timestamp":{},"gitBranch":[1],"message":{"content":"still here"}}"#;
    assert_eq!(messages(odd.as_bytes())[0].text, "still here");
    let unknown = r#"{"type":"new-kind","message":"a string","note":"\"user\""}"#;
    assert_eq!(read(format!("{unknown}\n").as_bytes()).2, Skipped { silent: 1, ..Skipped::default() });
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_the_last_line_end(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
        let (_, offset, _) = read(&bytes);
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1) as u64;
        prop_assert!(offset == whole || offset == bytes.len() as u64);
    }

    #[test]
    fn good_records_survive_any_junk_between_them(
        texts in prop::collection::vec("[a-z]{1,12}( [a-z]{1,12}){0,4}", 1..8),
        junk in prop::collection::vec(prop::collection::vec(any::<u8>().prop_filter("line end", |b| *b != b'\n'), 0..80), 8),
    ) {
        let mut file = Vec::new();
        for (text, junk) in texts.iter().zip(&junk) {
            file.extend_from_slice(user(text).as_bytes());
            file.push(b'\n');
            file.extend_from_slice(junk);
            file.push(b'\n');
        }
        let said: Vec<_> = messages(&file).into_iter().map(|m| m.text).collect();
        prop_assert_eq!(said, texts);
    }

    #[test]
    fn reading_in_two_parts_yields_the_same_as_in_one(texts in prop::collection::vec("\\PC{1,40}", 1..6), at in 0.0..1.0_f64) {
        let file: String = texts.iter().flat_map(|text| [user(text), "\n".into()]).collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
        let cut = (file.len() as f64 * at) as usize;
        let (mut entries, offset, _) = read(&file.as_bytes()[..cut]);
        let mut rest = Reader::new(&file.as_bytes()[usize::try_from(offset).unwrap()..], offset);
        while let Some(entry) = rest.next_entry().unwrap() {
            entries.push(entry);
        }
        prop_assert_eq!(entries, read(file.as_bytes()).0);
    }
}

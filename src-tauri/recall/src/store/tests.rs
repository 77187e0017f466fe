use super::*;
use crate::document::Kind;
use crate::rank::Query;

fn said(session: &str, turn: u32, text: &str) -> Message {
    Message {
        session: session.into(),
        project: "/code/api".into(),
        cwd: "/code/api".into(),
        branch: "main".into(),
        at: 1_000 + i64::from(turn),
        kind: Kind::User,
        text: text.into(),
        file: format!("/t/{session}.jsonl"),
        uuid: format!("{session}-{turn}"),
        turn,
    }
}

fn found(index: &Index, question: &str) -> Vec<String> {
    index.search(&Query::new(question, 10)).unwrap().into_iter().map(|hit| hit.message.text).collect()
}

#[test]
fn nothing_is_seen_before_a_commit_and_the_payload_comes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Index::open(dir.path()), Err(Error::Absent)));
    let mut index = Index::create(dir.path(), |_| {}).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(&said("a", 0, "the login breaks")).unwrap();
    writer.commit("first").unwrap();
    writer.add(&said("a", 1, "the logout breaks")).unwrap();
    writer.flush().unwrap();
    drop(writer);
    index.reload().unwrap();
    assert_eq!(index.payload().unwrap().as_deref(), Some("first"));
    assert_eq!(found(&index, "login"), ["the login breaks"]);
    assert!(found(&index, "logout").is_empty());
    let reach = index.reach(i64::MAX).unwrap();
    assert_eq!((reach.messages, reach.newest), (1, 1_000));
    assert_eq!(index.reach(999).unwrap().newest, 0, "what is said to come from the future is not the newest");
    assert!(reach.bytes > 0);
}

#[test]
fn a_second_writer_is_told_that_the_index_is_busy() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), |_| {}).unwrap();
    let first = index.writer().unwrap();
    let other = Index::open(dir.path()).unwrap();
    assert!(matches!(other.writer(), Err(Error::Busy)));
    drop(first);
    assert!(other.writer().is_ok());
}

#[test]
fn removing_a_file_removes_what_was_read_from_it_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = Index::create(dir.path(), |_| {}).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(&said("a", 0, "port 8021")).unwrap();
    writer.add(&said("b", 0, "port 8022")).unwrap();
    writer.commit("").unwrap();
    writer.remove_file("/t/a.jsonl").unwrap();
    writer.add(&said("a", 0, "port 8023")).unwrap();
    writer.commit("").unwrap();
    index.reload().unwrap();
    let mut all = found(&index, "port");
    all.sort();
    assert_eq!(all, ["port 8022", "port 8023"]);
}

#[test]
fn a_damaged_index_is_said_to_be_so_and_can_be_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), |_| {}).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(&said("a", 0, "one")).unwrap();
    writer.commit("").unwrap();
    drop((writer, index));
    fs::write(dir.path().join("v1/meta.json"), "{ not json").unwrap();
    assert!(matches!(Index::open(dir.path()), Err(Error::Damaged(_))));
    let aside = Index::set_aside(dir.path()).unwrap();
    assert!(aside.exists());
    assert!(matches!(Index::open(dir.path()), Err(Error::Absent)));
    assert!(Index::create(dir.path(), |_| {}).is_ok());
}

#[test]
fn a_cut_off_segment_is_damage_and_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), |_| {}).unwrap();
    let mut writer = index.writer().unwrap();
    for turn in 0..50 {
        writer.add(&said("a", turn, "one two three")).unwrap();
    }
    writer.commit("").unwrap();
    drop((writer, index));
    for entry in fs::read_dir(dir.path().join("v1")).unwrap().flatten() {
        if entry.path().extension().is_some_and(|e| e == "fast" || e == "term") {
            fs::write(entry.path(), "").unwrap();
        }
    }
    let outcome = Index::open(dir.path()).and_then(|index| index.search(&Query::new("one", 5)));
    assert!(matches!(outcome, Err(Error::Damaged(_) | Error::Io(_))));
}

#[test]
fn an_older_form_is_brought_over_with_messages_whose_transcripts_are_gone() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), |_| {}).unwrap();
    let mut writer = index.writer().unwrap();
    for turn in 0..300 {
        writer.add(&said("a", turn, &format!("number{turn} said"))).unwrap();
    }
    writer.add(&said("gone", 0, "removed before")).unwrap();
    writer.commit("").unwrap();
    writer.remove_file("/t/gone.jsonl").unwrap();
    writer.commit("watermarks").unwrap();
    writer.finish().unwrap();
    drop(index);
    fs::rename(dir.path().join("v1"), dir.path().join("v0")).unwrap();
    assert!(matches!(Index::open(dir.path()), Err(Error::Outdated(0))));
    let index = Index::create(dir.path(), |_| {}).unwrap();
    assert_eq!(index.payload().unwrap().as_deref(), Some("watermarks"));
    assert_eq!(index.reach(i64::MAX).unwrap().messages, 300);
    let hit = index.search(&Query::new("number217", 3)).unwrap().remove(0);
    assert_eq!(hit.message, said("a", 217, "number217 said"));
    assert!(!dir.path().join("v0").exists());
}

#[test]
fn a_writer_that_died_is_no_damage_to_what_was_committed() {
    let died = tantivy::TantivyError::ErrorInThread("no space left on device".into());
    assert!(matches!(Error::from(died), Error::Io(_)));
}

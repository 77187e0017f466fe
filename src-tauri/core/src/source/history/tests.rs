use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use super::*;

struct World {
    dir: tempfile::TempDir,
    host: Host,
    config: HistoryConfig,
}

const LIMITS: Limits = Limits { snippets: 10, deadline: Duration::from_secs(20) };

fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    fs::create_dir_all(home.join("code/api/.git")).unwrap();
    fs::write(home.join("code/api/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let host = Host { cwd: home.join("code/api"), exe: "/bin/pao".into(), ..Host::at(&home) };
    fs::create_dir(&host.pao_home).unwrap();
    World { dir, host, config: HistoryConfig::default() }
}

fn record(session: &str, cwd: &Path, text: &str) -> String {
    let record = serde_json::json!({"type": "user", "uuid": format!("u-{text}"), "sessionId": session, "cwd": cwd,
        "timestamp": "2026-11-30T14:02:03Z", "message": {"role": "user", "content": text}});
    format!("{record}\n")
}

impl World {
    fn project(&self) -> PathBuf {
        self.host.home.join("code/api")
    }

    fn transcript(&self, name: &str, text: &str) -> PathBuf {
        let path = self.host.home.join(".claude/projects").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn said(&self, session: &str, text: &str) -> PathBuf {
        self.transcript(&format!("-p/{session}.jsonl"), &record(session, &self.project(), text))
    }

    fn refresh(&self) -> IngestReport {
        refresh(&self.host, &self.config, &mut |_| {}, &CancellationToken::new()).unwrap()
    }

    fn question(&self, text: &str) -> Question {
        let project = crate::project::Project::of(&self.project());
        Question {
            text: text.into(),
            folder: self.project(),
            project: project.id,
            project_name: project.name,
            now: self.host.now(),
        }
    }

    async fn ask(&self, text: &str) -> Answer {
        open("history", &self.config, &self.host).recall(&self.question(text), LIMITS).await.unwrap()
    }

    fn texts(&self, text: &str) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(self.ask(text)).snippets.into_iter().map(|s| s.text).collect()
    }
}

#[tokio::test]
async fn the_first_question_on_a_machine_is_answered_without_an_index() {
    let world = world();
    world.said("s1", "the login token expires after ten minutes");
    let answer = world.ask("login token").await;
    assert_eq!(answer.note.as_deref(), Some("indexed up to 2026-11-30 14:02 UTC"));
    let snippet = &answer.snippets[0];
    assert_eq!(snippet.text, "the login token expires after ten minutes");
    assert_eq!(snippet.project.as_deref(), Some(world.project().to_str().unwrap()));
    assert_eq!(snippet.session.as_deref(), Some("s1"));
    assert_eq!(snippet.speaker, Speaker::User);
    assert_eq!(snippet.source, "history");
    assert_eq!(snippet.id, "u-the login token expires after ten minutes");
    assert_eq!(snippet.at.unwrap().to_rfc3339(), "2026-11-30T14:02:03+00:00");
}

#[tokio::test]
async fn a_first_reading_that_was_stopped_before_it_read_anything_is_done_by_the_next_question() {
    let world = world();
    world.said("s1", "port 8021");
    let stopped = CancellationToken::new();
    stopped.cancel();
    refresh(&world.host, &world.config, &mut |_| {}, &stopped).unwrap();
    assert!(matches!(state(&world.host, &world.config), Ok(State { messages: 0, pending: 1, .. })));
    assert_eq!(world.ask("port").await.snippets.len(), 1);
}

#[tokio::test]
async fn an_existing_index_answers_at_once_and_says_what_it_has_not_seen() {
    let world = world();
    world.said("s1", "port 8021");
    world.refresh();
    world.said("s2", "port 8022");
    world.said("s3", "port 8023");
    let answer = world.ask("port").await;
    assert_eq!(answer.snippets.len(), 1);
    assert_eq!(answer.note.as_deref(), Some("indexed up to 2026-11-30 14:02 UTC, 2 files not yet indexed"));
    assert!(is_stale(&world.host, &world.config).await);
    world.refresh();
    assert!(!is_stale(&world.host, &world.config).await);
    assert_eq!(world.ask("port").await.snippets.len(), 3);
}

#[tokio::test]
async fn a_machine_without_transcripts_is_said_to_have_none() {
    let answer = world().ask("anything").await;
    assert!(answer.snippets.is_empty());
    assert_eq!(answer.note.as_deref(), Some("no transcripts on this machine yet"));
}

#[test]
fn only_what_was_added_is_read_again() {
    let world = world();
    let path = world.said("s1", "one apple");
    assert_eq!(world.refresh().messages, 1);
    let more = record("s1", &world.project(), "two apples");
    let (head, tail) = more.split_at(30);
    fs::File::options().append(true).open(&path).unwrap().write_all(head.as_bytes()).unwrap();
    let report = world.refresh();
    assert_eq!((report.messages, report.replaced, report.skipped.bad), (0, 0, 0));
    fs::File::options().append(true).open(&path).unwrap().write_all(tail.as_bytes()).unwrap();
    let report = world.refresh();
    assert_eq!((report.messages, report.bytes), (1, more.len() as u64));
    assert_eq!(world.refresh().messages, 0);
    assert_eq!(world.texts("apple").len(), 2);
}

#[test]
fn a_replaced_or_cut_file_is_forgotten_and_read_again() {
    let world = world();
    world.said("s1", "the old apple that was written first");
    world.refresh();
    world.said("s1", "a new apple");
    assert_eq!(world.refresh().replaced, 1);
    assert_eq!(world.texts("apple"), ["a new apple"]);
}

#[test]
fn what_was_indexed_stays_when_the_transcript_is_deleted() {
    let world = world();
    fs::remove_file(world.said("s1", "the lost apple")).unwrap();
    let path = world.said("s1", "the lost apple");
    world.refresh();
    fs::remove_file(path).unwrap();
    world.said("s2", "another apple");
    world.refresh();
    let mut texts = world.texts("apple");
    texts.sort();
    assert_eq!(texts, ["another apple", "the lost apple"]);
}

#[test]
fn a_damaged_index_is_set_aside_and_built_again() {
    let world = world();
    world.said("s1", "an apple");
    world.refresh();
    fs::write(world.host.history_dir().join("v1/meta.json"), "{").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let source = open("history", &world.config, &world.host);
    let asked = runtime.block_on(source.recall(&world.question("apple"), LIMITS));
    assert!(matches!(asked, Err(SourceError::BadReply(why)) if why.contains("pao index")));
    let report = world.refresh();
    assert!(report.set_aside.is_some_and(|path| path.exists()));
    assert_eq!(world.texts("apple"), ["an apple"]);
}

#[test]
fn each_records_folder_decides_its_project_and_worktrees_are_one() {
    let world = world();
    let (api, other, gone) =
        (world.project(), world.host.home.join("code/other"), world.host.home.join("code/api/gone/deep"));
    let linked = world.host.home.join("code/api-linked");
    let git = api.join(".git/worktrees/api-linked");
    for folder in [&other, &linked, &git] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(linked.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
    fs::write(git.join("commondir"), "../..\n").unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/x\n").unwrap();
    for (session, moves) in [
        ("s1", [(&api, "kiwi in api"), (&other, "kiwi in other")]),
        ("s2", [(&gone, "kiwi in gone"), (&linked, "kiwi in linked")]),
    ] {
        let text: String = moves.iter().map(|(cwd, text)| record(session, cwd, text)).collect();
        world.transcript(&format!("-p/{session}.jsonl"), &text);
    }
    world.refresh();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let projects: BTreeMap<String, String> = runtime
        .block_on(world.ask("kiwi"))
        .snippets
        .into_iter()
        .map(|s| (s.text, s.project.unwrap()))
        .collect();
    let id = |path: &Path| path.to_str().unwrap().to_owned();
    assert_eq!(projects["kiwi in api"], id(&api));
    assert_eq!(projects["kiwi in other"], id(&other));
    assert_eq!(projects["kiwi in gone"], id(&api));
    assert_eq!(projects["kiwi in linked"], id(&api));
}

#[test]
fn subagents_count_to_their_parents_session_and_titles_come_along() {
    let world = world();
    let title = r#"{"type":"custom-title","customTitle":"Fruit week","sessionId":"s1"}"#;
    world
        .transcript("-p/s1.jsonl", &format!("{title}\n{}", record("s1", &world.project(), "plan the fruit")));
    world.transcript("-p/s1/subagents/agent-7.jsonl", &record("", &world.project(), "peeled the mango"));
    world.refresh();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(world.ask("mango"));
    assert_eq!(answer.snippets[0].session.as_deref(), Some("s1"));
    assert_eq!(answer.snippets[0].title, "Fruit week");
}

#[test]
fn a_cancelled_run_keeps_what_it_read_and_the_next_one_goes_on() {
    let world = world();
    // The bulk stands where nobody speaks, so that the time goes into reading.
    let filler = format!("\"toolUseResult\":\"{}\",\"type\"", "lorem ipsum ".repeat(700));
    let record = |n| record("s1", &world.project(), &format!("apple{n}")).replacen("\"type\"", &filler, 1);
    let text: String = (0..600).map(record).collect();
    let path = world.transcript("-p/s1.jsonl", &text);
    let cancel = CancellationToken::new();
    let report = refresh(&world.host, &world.config, &mut |_| cancel.cancel(), &cancel).unwrap();
    assert!(report.stopped && report.messages > 0 && report.messages < 600, "{report:?}");
    assert_eq!(world.texts("apple0").len(), 1);
    let rest = world.refresh();
    assert_eq!(report.messages + rest.messages, 600);
    assert_eq!(report.bytes + rest.bytes, fs::metadata(path).unwrap().len());
    assert_eq!(world.texts("apple599").len(), 1);
}

#[test]
fn whoever_still_reads_when_everything_was_removed_makes_nothing_anew() {
    let world = world();
    world.said("s1", "an apple");
    fs::remove_dir(&world.host.pao_home).unwrap();
    let outcome = refresh(&world.host, &world.config, &mut |_| {}, &CancellationToken::new());
    assert!(matches!(outcome, Err(IngestError::Index(_))), "{outcome:?}");
    assert!(!world.host.pao_home.exists());
}

#[test]
fn two_runs_at_once_do_not_meet() {
    let world = world();
    world.said("s1", "an apple");
    let index = Index::create(&world.host.history_dir(), |_| {}).unwrap();
    let writer = index.writer().unwrap();
    let outcome = refresh(&world.host, &world.config, &mut |_| {}, &CancellationToken::new());
    assert_eq!(outcome, Err(IngestError::Busy));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let source = open("history", &world.config, &world.host);
    let asked = runtime.block_on(source.recall(&world.question("apple"), LIMITS));
    assert!(
        matches!(asked, Err(SourceError::Unreachable(_))),
        "being built is not the same as empty: {asked:?}"
    );
    drop(writer);
    assert!(world.dir.path().exists());
}

#[test]
fn pasted_keys_never_reach_the_index() {
    let world = world();
    world.said("s1", "apple key sk-proj-FAKEfake0123456789FAKEfake and ghp_FAKEfake0123456789FAKE");
    world.refresh();
    let text = world.texts("apple").remove(0);
    assert!(!text.contains("FAKEfake") && text.contains("[redacted"), "{text}");
}

#[test]
fn briefings_that_were_injected_do_not_multiply() {
    use crate::capture::marks::{BEGIN, END};
    let world = world();
    world.said("s0", "the signing key rotates monthly");
    for round in 1..=5 {
        world.refresh();
        let told = world.texts("signing key");
        assert_eq!(told.len(), 1, "round {round}");
        world
            .said(&format!("s{round}"), &format!("{BEGIN}\n{}\n{END}\ncarry on with round {round}", told[0]));
    }
}

#[test]
fn further_folders_and_the_moved_one_are_read_too() {
    let mut world = world();
    let home = world.host.home.clone();
    world.host.env.insert("CLAUDE_CONFIG_DIR".into(), home.join("moved").into());
    world.config.folders = vec!["~/more".into()];
    for (folder, session) in [(".claude", "a"), ("moved", "b"), ("more", "c")] {
        let path = home.join(folder).join(format!("projects/-p/{session}.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, record(session, &world.project(), &format!("apple {session}"))).unwrap();
    }
    assert_eq!(world.refresh().messages, 3);
}

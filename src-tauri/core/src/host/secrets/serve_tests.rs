use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::tests::host;
use super::super::{Fault, Secret, SecretStore};
use super::*;

/// An app that keeps values in memory, and how long its store takes.
async fn app(host: &Host, takes: Duration) -> Service {
    let values = Arc::new(Mutex::new(HashMap::<String, Secret>::new()));
    serve(host, move |request| {
        let values = Arc::clone(&values);
        async move {
            tokio::time::sleep(takes).await;
            let mut values = values.lock().unwrap();
            match request {
                Request::Get(name) if name == "locked" => Reply::Fault(Fault::Locked),
                Request::Get(name) if name == "nobodys" => Reply::Unknown,
                Request::Get(name) => values.get(&name).cloned().map_or(Reply::Absent, Reply::Value),
                Request::Has(name) if values.contains_key(&name) => Reply::Done,
                Request::Has(_) => Reply::Absent,
                Request::Set(name, value) => {
                    values.insert(name, value);
                    Reply::Done
                }
                Request::Delete(name) => values.remove(&name).map_or(Reply::Absent, |_| Reply::Done),
                Request::Changed(_) => Reply::Done,
                Request::Open(launch) => {
                    values.insert("opened".into(), Secret::new(launch.words.join(" ")));
                    Reply::Done
                }
            }
        }
    })
    .await
    .unwrap()
}

fn asking(host: &Host) -> SecretStore {
    SecretStore::new(host, "app").unwrap()
}

fn socket(host: &Host) -> PathBuf {
    place::socket(host)
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o777
}

const QUICK: Duration = Duration::ZERO;

#[tokio::test]
async fn the_app_keeps_gives_and_forgets_in_the_askers_stead() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    let service = app(&host, QUICK).await;
    assert_eq!((mode(&socket(&host)), mode(socket(&host).parent().unwrap())), (0o600, 0o700));
    let store = asking(&host);
    assert_eq!(store.get("facts").await.unwrap(), None);
    assert!(!store.is_kept("facts").await.unwrap());
    let long = "支付 s3cret\n".repeat(900);
    store.set("facts", &Secret::new(long.clone())).await.unwrap();
    assert_eq!(store.get("facts").await.unwrap().unwrap().reveal(), long);
    assert!(store.is_kept("facts").await.unwrap());
    assert!(store.delete("facts").await.unwrap());
    assert!(!store.delete("facts").await.unwrap());
    assert!(matches!(store.get("locked").await, Err(SecretError::Locked { .. })));
    let said = store.get("nobodys").await.unwrap_err().to_string();
    assert!(said.ends_with("knows of no source of that name"), "{said}");
    let huge = Secret::new("x".repeat(frame::MOST));
    assert!(matches!(
        store.set("facts", &huge).await,
        Err(SecretError::Failed { fault: Fault::TooLong, .. })
    ));
    drop(service);
    assert!(!socket(&host).exists());
    let gone = store.get("facts").await.unwrap_err();
    assert!(matches!(gone, SecretError::NotRunning { .. }));
    assert!(
        gone.next().starts_with("open it (`pao app`), or set the variable PAO_SECRET_FACTS"),
        "{}",
        gone.next()
    );
}

#[tokio::test]
async fn of_two_apps_one_listens_and_what_a_killed_one_left_is_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    let first = app(&host, QUICK).await;
    let second = serve(&host, |_| async { Reply::Done }).await;
    assert!(matches!(second, Err(SecretError::File { .. })), "{second:?}");
    assert!(asking(&host).get("facts").await.unwrap().is_none());
    drop(first);
    // As after kill -9: the socket is there, nobody listens.
    drop(std::os::unix::net::UnixListener::bind(socket(&host)).unwrap());
    std::fs::set_permissions(socket(&host), Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(asking(&host).get("facts").await, Err(SecretError::NotRunning { .. })));
    let third = app(&host, QUICK).await;
    assert!(third.stands());
    assert!(asking(&host).get("facts").await.unwrap().is_none());
    // Removed from under it, it knows.
    std::fs::remove_file(socket(&host)).unwrap();
    assert!(!third.stands());
}

#[tokio::test]
async fn what_others_put_where_the_app_listens_is_neither_removed_nor_asked() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    files::private_dir(socket(&host).parent().unwrap()).unwrap();
    std::fs::write(dir.path().join("theirs"), "theirs").unwrap();
    std::os::unix::fs::symlink(dir.path().join("theirs"), socket(&host)).unwrap();
    assert!(matches!(serve(&host, |_| async { Reply::Done }).await, Err(SecretError::Untrusted { .. })));
    assert!(matches!(asking(&host).get("facts").await, Err(SecretError::Untrusted { .. })));
    assert_eq!(std::fs::read_to_string(socket(&host)).unwrap(), "theirs");
    std::fs::remove_file(socket(&host)).unwrap();
    let service = app(&host, QUICK).await;
    std::fs::set_permissions(socket(&host).parent().unwrap(), Permissions::from_mode(0o777)).unwrap();
    let refused = asking(&host).get("facts").await.unwrap_err();
    assert!(matches!(refused, SecretError::Untrusted { .. }), "{refused}");
    drop(service);
    assert!(matches!(serve(&host, |_| async { Reply::Done }).await, Err(SecretError::Untrusted { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_halves_floods_and_silence_cost_nobody_else_an_answer() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    let _service = app(&host, QUICK).await;
    let store = asking(&host);
    store.set("facts", &Secret::new("s3cret")).await.unwrap();
    let connect = || async { UnixStream::connect(socket(&host)).await.unwrap() };

    let mut garbage = connect().await;
    garbage.write_all(&[0, 0, 0, 5, 9, 9, 9, 9, 9]).await.unwrap();
    let mut said = Vec::new();
    garbage.read_to_end(&mut said).await.unwrap();
    assert_eq!(frame::read_reply(&said[4..]), Some(Reply::Misread));

    let mut too_much = connect().await;
    let ten_megabytes = vec![b'x'; 10 * 1024 * 1024];
    let whole = u32::try_from(ten_megabytes.len()).unwrap().to_be_bytes();
    too_much.write_all(&whole).await.unwrap();
    // It is not read: whoever sends it finds the line cut.
    assert!(too_much.write_all(&ten_megabytes).await.is_err());

    // More than are served at once, half of them in the middle of a word.
    let mut silent = Vec::new();
    for number in 0..AT_ONCE * 2 {
        let mut one = connect().await;
        if number % 2 == 0 {
            one.write_all(&[0, 0, 0, 9, 1, b'g']).await.unwrap();
        }
        silent.push(one);
    }
    // Served when their time is up, in turns; nobody waits for ever.
    let began = Instant::now();
    let answered = loop {
        match store.get("facts").await {
            Ok(value) => break value.unwrap(),
            Err(error) => assert!(matches!(error, SecretError::App { .. }), "{error:?}"),
        }
        assert!(began.elapsed() < PATIENCE * 6);
    };
    assert_eq!(answered.reveal(), "s3cret");
    drop(silent);
    let many = futures::future::join_all((0..200).map(|_| store.get("facts"))).await;
    assert!(many.into_iter().all(|one| one.unwrap().unwrap().reveal() == "s3cret"));
}

#[tokio::test]
async fn a_store_that_asks_the_user_is_waited_for_and_an_app_that_hangs_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let host = host(dir.path());
    let service = app(&host, Duration::from_millis(2500)).await;
    assert!(asking(&host).get("facts").await.unwrap().is_none());
    let short = asking(&host).within(Duration::from_millis(100)).get("facts").await;
    assert!(matches!(short, Err(SecretError::Silent { .. })), "{short:?}");
    drop(service);
    // Somebody who takes every call and says nothing.
    let _hangs = std::os::unix::net::UnixListener::bind(socket(&host)).unwrap();
    std::fs::set_permissions(socket(&host), Permissions::from_mode(0o600)).unwrap();
    let began = Instant::now();
    let hung = asking(&host).get("facts").await.unwrap_err();
    assert!(hung.to_string().ends_with("does not answer"), "{hung}");
    assert!(began.elapsed() < Duration::from_secs(10));
}

//! The PostgreSQL source against a real server, a real pgbouncer, and servers that misbehave.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{TimeZone, Utc};
use pao_core::config::{PostgresConfig, PostgresMapping};
use pao_core::host::Host;
use pao_core::host::secrets::SecretStore;
use pao_core::source::postgres::{self, PostgresSource};
use pao_core::source::{Answer, Limits, Question, Source, SourceError};
use sqlx::Row;

use crate::harness::postgres::{ARCHIVE, Database, PASSWORD, Postgres, SCHEMA, free_port};

fn question(text: &str) -> Question {
    Question {
        text: text.into(),
        folder: "/code/api".into(),
        project: "/code/api".into(),
        project_name: "api".into(),
        now: Utc.with_ymd_and_hms(2026, 11, 30, 12, 0, 0).unwrap(),
    }
}

/// Generous, so that a loaded machine decides no test.
fn limits() -> Limits {
    Limits { snippets: 20, deadline: Duration::from_secs(20) }
}

fn config(database: &Database) -> PostgresConfig {
    PostgresConfig { url: database.url(), ..PostgresConfig::default() }
}

fn open(config: &PostgresConfig) -> PostgresSource {
    open_with("facts", config, Some(PASSWORD))
}

fn open_with(name: &str, config: &PostgresConfig, password: Option<&str>) -> PostgresSource {
    let host = Host {
        home: "/nowhere".into(),
        pao_home: "/nowhere/.pao".into(),
        cwd: "/nowhere".into(),
        exe: "/nowhere/pao".into(),
        env: password.map(|p| ("PAO_SECRET_FACTS".into(), p.into())).into_iter().collect::<BTreeMap<_, _>>(),
        frozen: None,
    };
    postgres::open(name, config, &SecretStore::new(&host, "file").unwrap()).unwrap()
}

async fn ask(database: &Database, text: &str) -> Answer {
    open(&config(database)).recall(&question(text), limits()).await.unwrap()
}

fn texts(answer: &Answer) -> Vec<&str> {
    answer.snippets.iter().map(|s| s.text.as_str()).collect()
}

async fn empty() -> Database {
    let database = Postgres::shared().database().await;
    database.run(SCHEMA).await;
    database
}

/// What a small store of a developer holds.
async fn seeded() -> Database {
    let database = empty().await;
    for (entity, text, at) in [
        (
            "payments-api",
            "Retries of the webhook are idempotent since the event id is the key",
            "2026-11-02T10:00:00Z",
        ),
        (
            "payments-api",
            "The staging database migrations run before the deploy, never after",
            "2026-10-01T10:00:00Z",
        ),
        ("Anna Petrov", "prefers small pull requests and answers in the afternoon", "2026-09-01T10:00:00Z"),
        ("tickets", "Ask IT for the VPN certificate", "2026-08-01T10:00:00Z"),
        ("tickets", "it was raining when the build broke", "2026-08-02T10:00:00Z"),
        ("launcher", "启动器缓存目录权限错误已修复", "2026-07-01T10:00:00Z"),
        ("画面", "設定画面の表示崩れを直した", "2026-07-02T10:00:00Z"),
        ("캐시", "캐시가 만료되지 않는 문제를 고쳤다", "2026-07-03T10:00:00Z"),
        ("discount", "the 100% discount code is SAVE_50%", "2026-06-01T10:00:00Z"),
        ("discount", "1000 codes were printed, none of them SAVEX50", "2026-06-02T10:00:00Z"),
        ("paths", r"the share is C:\temp\new on the build machine", "2026-06-03T10:00:00Z"),
        ("don", "Don keeps the keys of the old server", "2026-05-01T10:00:00Z"),
        ("don", "we don't deploy on fridays", "2026-05-02T10:00:00Z"),
    ] {
        database.observe(entity, text, at).await;
    }
    database
}

#[tokio::test]
async fn a_question_finds_the_row_that_shares_its_rare_words() {
    let database = seeded().await;
    let answer = ask(&database, "make the webhook retry idempotent").await;
    let first = &answer.snippets[0];
    assert_eq!(first.text, "Retries of the webhook are idempotent since the event id is the key");
    assert_eq!(first.title, "payments-api");
    assert_eq!(first.source, "facts");
    assert_eq!(first.at, Some(Utc.with_ymd_and_hms(2026, 11, 2, 10, 0, 0).unwrap()));
    assert_eq!(first.importance, Some(0.5));
    assert_eq!(answer.note, None, "the whole table was searched");
}

#[tokio::test]
async fn a_twenty_word_sentence_finds_what_one_part_of_it_is_about() {
    let database = seeded().await;
    let answer = ask(
        &database,
        "Please have a look at why the migrations of our staging database did not run before the last \
         deploy went out yesterday",
    )
    .await;
    assert_eq!(texts(&answer)[0], "The staging database migrations run before the deploy, never after");
}

#[tokio::test]
async fn a_question_whose_content_words_are_absent_finds_nothing() {
    let database = seeded().await;
    for text in ["xylophone quarterly zebra", "what is it that you would have", "", "?!", "的了吗"] {
        assert_eq!(ask(&database, text).await.snippets, [], "{text}");
    }
}

#[tokio::test]
async fn the_name_of_an_entity_finds_its_observations() {
    let database = seeded().await;
    let answer = ask(&database, "a review by Petrov").await;
    assert_eq!(texts(&answer), ["prefers small pull requests and answers in the afternoon"]);
}

#[tokio::test]
async fn a_short_name_is_not_taken_for_the_common_word() {
    let database = seeded().await;
    assert_eq!(texts(&ask(&database, "the ticket for IT").await)[0], "Ask IT for the VPN certificate");
    let don = ask(&database, "what did Don say").await;
    assert_eq!(texts(&don)[0], "Don keeps the keys of the old server");
}

#[tokio::test]
async fn chinese_japanese_and_korean_are_found_by_parts_of_a_run() {
    let database = seeded().await;
    for (text, found) in [
        ("缓存目录权限", "启动器缓存目录权限错误已修复"),
        ("缓存", "启动器缓存目录权限错误已修复"),
        ("tauri 缓存", "启动器缓存目录权限错误已修复"),
        ("表示崩れ", "設定画面の表示崩れを直した"),
        ("캐시", "캐시가 만료되지 않는 문제를 고쳤다"),
        ("캐시를 비우기", "캐시가 만료되지 않는 문제를 고쳤다"),
    ] {
        assert_eq!(texts(&ask(&database, text).await), [found], "{text}");
    }
}

#[tokio::test]
async fn characters_with_a_meaning_in_patterns_mean_themselves() {
    let database = seeded().await;
    for trigrams in [false, true] {
        if trigrams {
            database
                .run(
                    "CREATE EXTENSION pg_trgm;
                     CREATE INDEX ON observations USING gin (observation_text gin_trgm_ops)",
                )
                .await;
        }
        assert_eq!(texts(&ask(&database, "E_50%").await), ["the 100% discount code is SAVE_50%"]);
        let share = ask(&database, r"C:\temp\new").await;
        assert_eq!(texts(&share), [r"the share is C:\temp\new on the build machine"]);
        assert_eq!(texts(&ask(&database, "100%").await), ["the 100% discount code is SAVE_50%"]);
    }
}

#[tokio::test]
async fn hostile_questions_are_words_and_nothing_else() {
    let database = seeded().await;
    database.run("CREATE INDEX ON observations USING gin (to_tsvector('english', observation_text))").await;
    for text in [
        "'; DROP TABLE observations; --",
        "webhook' OR '1'='1",
        "a & b | !c <-> d:* (",
        "$1 $2 $$ $tag$",
        "\\'; SELECT pg_sleep(10)",
        "nul\0byte webhook",
        "\u{202e}webhook\u{1b}[31m",
        "(?i)(a+)+$ \\m\\M",
        "\"observations\"",
    ] {
        open(&config(&database)).recall(&question(text), limits()).await.unwrap();
    }
    assert_eq!(ask(&database, "nul\0byte webhook").await.snippets.len(), 1);
}

#[tokio::test]
async fn archived_rows_are_found_and_named_as_such_unless_switched_off() {
    let database = seeded().await;
    database.run(ARCHIVE).await;
    database
        .run(
            "INSERT INTO observations_archive (entity_id, observation_text, created_at)
             SELECT id, 'the gizmo protocol was version 2', '2020-01-01' FROM entities WHERE name = 'launcher'",
        )
        .await;
    let answer = ask(&database, "gizmo protocol").await;
    assert_eq!(texts(&answer), ["the gizmo protocol was version 2"]);
    assert!(answer.snippets[0].id.starts_with("archive/"));
    assert_eq!(answer.snippets[0].title, "launcher");
    let without = PostgresConfig { archive: Some(false), ..config(&database) };
    let answer = open(&without).recall(&question("gizmo protocol"), limits()).await.unwrap();
    assert_eq!(answer.snippets, []);
}

#[tokio::test]
async fn a_store_with_only_an_archive_is_searched() {
    let database = empty().await;
    database.run(ARCHIVE).await;
    database.run("INSERT INTO observations_archive (observation_text) VALUES ('old gizmo')").await;
    database.run("ALTER TABLE observations RENAME TO gone").await;
    assert_eq!(texts(&ask(&database, "gizmo").await), ["old gizmo"]);
}

#[tokio::test]
async fn a_memory_belongs_to_a_project_by_metadata_tag_or_name() {
    let database = empty().await;
    database
        .run(
            "INSERT INTO entities (id, name, entity_type) VALUES (1, 'api', 'service'), (2, 'Shop', 'project');
             INSERT INTO observations (entity_id, observation_text, tags, metadata) VALUES
               (NULL, 'gizmo one', '{x,API}', '{}'), (NULL, 'gizmo two', '{}', '{\"cwd\": \"/code/web\"}'),
               (1, 'gizmo three', '{}', '{}'), (2, 'gizmo four', '{}', '{}'), (NULL, 'gizmo five', '{}', '{}')",
        )
        .await;
    let answer = ask(&database, "gizmo").await;
    let project = |text: &str| {
        answer.snippets.iter().find(|s| s.text == text).and_then(|s| s.project.as_deref()).map(str::to_owned)
    };
    assert_eq!(project("gizmo one").as_deref(), Some("/code/api"));
    assert_eq!(project("gizmo two").as_deref(), Some("/code/web"));
    assert_eq!(project("gizmo three").as_deref(), Some("/code/api"));
    assert_eq!(project("gizmo four").as_deref(), Some("Shop"));
    assert_eq!(project("gizmo five"), None);
}

/// 220,000 rows: three rare ones among the oldest, one among the newest, and a word in each row.
async fn large() -> Database {
    let database = empty().await;
    database
        .run(
            "INSERT INTO entities (id, name) VALUES (1, 'noise'), (2, 'kraken');
             INSERT INTO observations (entity_id, observation_text, created_at)
             SELECT 1, CASE WHEN i IN (7, 8) THEN 'the quetzal project was archived'
                            WHEN i = 219990 THEN 'the quetzal is back in the deployment'
                            ELSE 'routine deployment number ' || i || ' went through' END,
                    timestamptz '2020-01-01' + i * interval '1 minute'
             FROM generate_series(1, 220000) i;
             ANALYZE",
        )
        .await;
    database
}

#[tokio::test]
async fn without_an_index_the_newest_rows_are_searched_and_the_answer_says_so() {
    let database = large().await;
    let answer = ask(&database, "quetzal deployment").await;
    assert_eq!(texts(&answer)[0], "the quetzal is back in the deployment");
    assert!(!texts(&answer).contains(&"the quetzal project was archived"));
    assert_eq!(answer.note.as_deref(), Some("no text index: searched the newest 20,000 rows"));
    let wide = PostgresConfig { scan_rows: Some(300_000), ..config(&database) };
    let answer = open(&wide).recall(&question("quetzal project"), limits()).await.unwrap();
    assert_eq!(texts(&answer)[0], "the quetzal project was archived");
    assert_eq!(answer.note, None, "all rows were searched");
}

#[tokio::test]
async fn with_an_index_old_rows_are_found_and_a_common_word_is_bounded() {
    let database = large().await;
    database
        .run(
            "CREATE INDEX ON observations USING gin (to_tsvector('english', observation_text));
             CREATE INDEX ON observations (entity_id); ANALYZE",
        )
        .await;
    let answer = ask(&database, "quetzal projects").await;
    assert_eq!(texts(&answer)[0], "the quetzal project was archived");
    assert_eq!(answer.note, None);
    let common = ask(&database, "deployment").await;
    assert_eq!(common.snippets.len(), 20);
    assert_eq!(common.note.as_deref(), Some("nothing rare in the question: searched the newest 20,000 rows"));
    database.observe("kraken", "sleeps under the pier", "2019-01-01").await;
    assert_eq!(texts(&ask(&database, "release the kraken").await), ["sleeps under the pier"]);
}

#[tokio::test]
async fn a_trigram_index_finds_old_names_and_runs_of_three_characters() {
    let database = large().await;
    database.observe("noise", "启动器缓存目录权限错误已修复", "2019-01-01").await;
    database
        .run(
            "CREATE EXTENSION pg_trgm; CREATE INDEX ON observations USING gin (observation_text gin_trgm_ops);
             ANALYZE",
        )
        .await;
    assert_eq!(texts(&ask(&database, "quetzal project").await)[0], "the quetzal project was archived");
    assert_eq!(texts(&ask(&database, "缓存目录").await), ["启动器缓存目录权限错误已修复"]);
}

#[tokio::test]
async fn a_generated_tsvector_column_is_used_with_its_own_configuration() {
    let database = large().await;
    database
        .run(
            "ALTER TABLE observations ADD COLUMN search tsvector
               GENERATED ALWAYS AS (to_tsvector('english', observation_text)) STORED;
             CREATE INDEX ON observations USING gin (search); ANALYZE",
        )
        .await;
    let answer = ask(&database, "quetzals").await;
    assert!(texts(&answer).contains(&"the quetzal project was archived"));
    assert_eq!(answer.note, None);
}

#[tokio::test]
async fn the_offered_index_statements_run_and_are_used_afterwards() {
    let database = seeded().await;
    let sql =
        postgres::index_statements(&PostgresConfig { archive: Some(false), ..config(&database) }).unwrap();
    let without_comments: String = sql.lines().filter(|l| !l.starts_with("--")).collect();
    for statement in without_comments.split(';').filter(|s| !s.trim().is_empty()) {
        database.run(statement).await;
    }
    let said = open(&config(&database)).check(limits()).await.unwrap();
    assert!(said.ends_with("full-text and trigram index"), "{said}");
    assert_eq!(texts(&ask(&database, "webhooks").await).len(), 1);
}

#[tokio::test]
async fn a_check_says_what_is_there() {
    let database = empty().await;
    database.observe("a", "one", "2026-01-01").await;
    database.observe("b", "two", "2026-01-01").await;
    let said = open(&config(&database)).check(limits()).await.unwrap();
    let (version, rest) = said.split_once(", ").unwrap();
    assert!(version.starts_with("PostgreSQL 1"), "{version}");
    assert_eq!(rest, "2 entities, 2 observations, no text index (searches the newest 20,000 rows)");
}

#[tokio::test]
async fn another_schema_is_asked_through_a_mapping_with_any_names() {
    let database = Postgres::shared().database().await;
    database
        .run(
            r#"CREATE SCHEMA "my notes";
               CREATE TABLE "my notes"."All ""Notes""" ("Key" uuid PRIMARY KEY DEFAULT gen_random_uuid(),
                 "select" varchar(900), "Kopf" text, at bigint, weight numeric, repo text);
               INSERT INTO "my notes"."All ""Notes""" ("select", "Kopf", at, weight, repo)
               VALUES ('the gizmo hums', 'Sound', 1767225600000, 7, 'https://example.org/api.git')"#,
        )
        .await;
    let mapping = PostgresMapping {
        table: r#"my notes.All "Notes""#.into(),
        id: "Key".into(),
        text: "select".into(),
        title: Some("Kopf".into()),
        created_at: Some("at".into()),
        importance: Some("weight".into()),
        project: Some("repo".into()),
    };
    let config = PostgresConfig { mapping: Some(mapping.clone()), ..config(&database) };
    let answer = open(&config).recall(&question("gizmo"), limits()).await.unwrap();
    let found = &answer.snippets[0];
    assert_eq!((found.text.as_str(), found.title.as_str()), ("the gizmo hums", "Sound"));
    assert_eq!(found.at, Some(Utc.with_ymd_and_hms(2026, 1, 1, 0, 0, 0).unwrap()));
    assert_eq!(found.importance, Some(1.0));
    assert_eq!(found.project.as_deref(), Some("https://example.org/api.git"));

    let wrong = PostgresMapping { title: Some("absent".into()), ..mapping };
    let config = PostgresConfig { mapping: Some(wrong), ..config };
    let error = open(&config).recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "refused: my notes.All Notes has no column absent");
}

#[tokio::test]
async fn a_missing_table_a_missing_database_and_a_missing_right_are_told_apart() {
    let server = Postgres::shared();
    let bare = server.database().await;
    let error = open(&config(&bare)).recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "refused: there is no table observations or observations_archive");

    let config = PostgresConfig { url: format!("{}_absent", bare.url()), ..PostgresConfig::default() };
    let error = open(&config).recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "refused: this database does not exist");

    let database = empty().await;
    database.run(&format!("CREATE ROLE {}_nobody LOGIN PASSWORD '{PASSWORD}'", database.name)).await;
    let url = database.url().replace("reader@", &format!("{}_nobody@", database.name));
    let config = PostgresConfig { url, ..PostgresConfig::default() };
    let error = open(&config).recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "refused: this user may not read observations");
}

#[tokio::test]
async fn a_wrong_password_is_refused_without_being_shown() {
    let database = empty().await;
    let wrong = open_with("facts", &config(&database), Some("FAKE-wrong"));
    let error = wrong.recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(error, SourceError::Refused("password or login of user reader is not accepted".into()));

    let none = open_with("facts", &config(&database), None);
    let error = none.recall(&question("gizmo"), limits()).await.unwrap_err();
    assert!(error.to_string().ends_with("no password is stored for this source"), "{error}");

    // A name that no secret can have stands for any store that cannot be read.
    let broken = open_with("my facts", &config(&database), None);
    let error = broken.recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "its secret cannot be read: \"my facts\" cannot be the name of a secret");
}

#[tokio::test]
async fn the_source_cannot_write_even_as_a_user_who_could() {
    let database = empty().await;
    database
        .run(
            "CREATE TABLE log (n int);
             CREATE FUNCTION sneak() RETURNS text LANGUAGE sql AS 'INSERT INTO log VALUES (1) RETURNING ''gizmo'' ';
             CREATE VIEW trap AS SELECT 1 AS id, sneak() AS text",
        )
        .await;
    let mapping = PostgresMapping {
        table: "trap".into(),
        id: "id".into(),
        text: "text".into(),
        ..PostgresMapping::default()
    };
    let url = database.url().replace("reader@", "postgres@");
    let config = PostgresConfig { url, mapping: Some(mapping), ..PostgresConfig::default() };
    let error = open(&config).recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(error.to_string(), "refused: a write was attempted in a read-only transaction");
    let row = sqlx::query("SELECT count(*) FROM log").fetch_one(&mut database.connect().await).await.unwrap();
    assert_eq!(row.get::<i64, _>(0), 0);
}

#[tokio::test]
async fn a_slow_query_is_ended_on_the_server_too() {
    let database = empty().await;
    database.run("CREATE VIEW slow AS SELECT 1 AS id, 'gizmo' || pg_sleep(30)::text AS text").await;
    let mapping = PostgresMapping {
        table: "slow".into(),
        id: "id".into(),
        text: "text".into(),
        ..PostgresMapping::default()
    };
    let config = PostgresConfig { mapping: Some(mapping), ..config(&database) };
    let short = Limits { snippets: 5, deadline: Duration::from_millis(900) };
    let error = open(&config).recall(&question("gizmo"), short).await.unwrap_err();
    assert_eq!(error, SourceError::TimedOut(short.deadline));
    let mut watcher = database.connect().await;
    for _ in 0..200 {
        let row = sqlx::query(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .fetch_one(&mut watcher)
        .await
        .unwrap();
        if row.get::<i64, _>(0) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the query still runs on the server");
}

#[tokio::test]
async fn a_closed_port_is_unreachable_and_a_silent_server_times_out() {
    let port = free_port();
    let config = PostgresConfig {
        url: format!("postgres://u@127.0.0.1:{port}/db?sslmode=prefer"),
        ..PostgresConfig::default()
    };
    let error = open(&config).recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(error, SourceError::Unreachable(format!("nobody listens at 127.0.0.1:{port}")));

    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let config = PostgresConfig {
        url: format!("postgres://u@127.0.0.1:{port}/db?sslmode=prefer"),
        ..PostgresConfig::default()
    };
    let short = Limits { snippets: 5, deadline: Duration::from_millis(200) };
    let error = open(&config).recall(&question("gizmo"), short).await.unwrap_err();
    assert_eq!(error, SourceError::TimedOut(short.deadline));
    assert_eq!(open(&config).check(short).await.unwrap_err(), SourceError::TimedOut(short.deadline));
}

#[tokio::test]
async fn a_server_that_speaks_something_else_is_a_bad_reply() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let web = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = web.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (mut stream, _) = web.accept().await.unwrap();
        let mut request = [0; 1024];
        assert!(stream.read(&mut request).await.unwrap() > 0);
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let config = PostgresConfig {
        url: format!("postgres://u@127.0.0.1:{port}/db?sslmode=prefer"),
        ..PostgresConfig::default()
    };
    let error = open(&config).recall(&question("gizmo"), limits()).await.unwrap_err();
    assert_eq!(
        error,
        SourceError::BadReply(format!("127.0.0.1:{port} does not speak PostgreSQL's protocol"))
    );
    server.await.unwrap();
}

#[tokio::test]
async fn tls_is_used_where_it_is_asked_for_or_wanted_and_verified_when_asked() {
    let database = seeded().await;
    let server = database.server;
    let with = |parameters: String| {
        let url = format!("{}?{parameters}", database.url());
        open(&PostgresConfig { url, ..PostgresConfig::default() })
    };
    let recall = async |source: PostgresSource| source.recall(&question("webhook"), limits()).await;

    let ca = server.ca.display();
    assert_eq!(
        recall(with(format!("sslmode=verify-full&sslrootcert={ca}"))).await.unwrap().snippets.len(),
        1
    );
    assert_eq!(recall(with("sslmode=require".into())).await.unwrap().snippets.len(), 1);
    assert_eq!(recall(with("sslmode=disable".into())).await.unwrap().snippets.len(), 1);
    let port = server.port;
    assert_eq!(
        recall(with("sslmode=verify-full".into())).await.unwrap_err().to_string(),
        format!("unreachable: TLS with 127.0.0.1:{port}: the server's certificate comes from nobody known")
    );
    // The certificate is for `localhost` and 127.0.0.1; this host's other name leads to the same server.
    let url = database.url().replace("127.0.0.1", "127.0.0.1.nip.invalid");
    let url = format!("{url}?sslmode=verify-full&sslrootcert={ca}&hostaddr=127.0.0.1");
    let by_address = open(&PostgresConfig { url, ..PostgresConfig::default() });
    assert_eq!(recall(by_address).await.unwrap().snippets.len(), 1);

    // On this machine the default does without, unless the server wants it.
    let mapping = PostgresMapping {
        table: "tls".into(),
        id: "pid".into(),
        text: "text".into(),
        ..PostgresMapping::default()
    };
    database
        .run("CREATE VIEW tls AS SELECT pid, 'gizmo ' || ssl::text AS text FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        .await;
    let secure = database.url().replace("reader@", "secure@");
    for (url, encrypted) in [
        (database.url(), "gizmo false"),
        (format!("{}?sslmode=prefer", database.url()), "gizmo true"),
        (secure, "gizmo true"),
    ] {
        let config =
            PostgresConfig { url: url.clone(), mapping: Some(mapping.clone()), ..PostgresConfig::default() };
        let answer = open(&config).recall(&question("gizmo"), limits()).await.unwrap();
        assert_eq!(texts(&answer), [encrypted], "{url}");
    }
}

#[tokio::test]
async fn a_unix_socket_is_a_place_too() {
    let database = seeded().await;
    let socket = database.server.socket.display().to_string().replace('/', "%2F");
    let url = format!("postgres://reader@{socket}:{}/{}", database.server.port, database.name);
    let source = open(&PostgresConfig { url, ..PostgresConfig::default() });
    assert_eq!(source.recall(&question("webhook"), limits()).await.unwrap().snippets.len(), 1);
}

#[tokio::test]
async fn behind_pgbouncer_nothing_collides_and_no_setting_leaks() {
    use sqlx::{ConnectOptions, Connection};
    let database = seeded().await;
    let bouncer = database.server.bouncer();
    let url = format!("postgres://reader@127.0.0.1:{}/{}", bouncer.port, database.name);
    // Another client has left a statement of the name that sqlx gives its first one, on the only server connection.
    let mut other = sqlx::postgres::PgConnectOptions::new()
        .host("127.0.0.1")
        .port(bouncer.port)
        .username("reader")
        .password(PASSWORD)
        .database(&database.name)
        .extra_float_digits(None)
        .connect()
        .await
        .unwrap();
    sqlx::query("SELECT $1::int").bind(1).fetch_one(&mut other).await.unwrap();
    let source = open(&PostgresConfig { url, ..PostgresConfig::default() });
    for _ in 0..3 {
        let answer = source.recall(&question("webhook"), limits()).await.unwrap();
        assert_eq!(answer.snippets.len(), 1);
    }
    let many =
        (0..8).map(|_| async { source.recall(&question("webhook"), limits()).await.unwrap().snippets.len() });
    assert_eq!(futures::future::join_all(many).await, [1; 8]);
    let row = sqlx::raw_sql("SHOW statement_timeout").fetch_one(&mut other).await.unwrap();
    assert_eq!(row.get::<String, _>(0), "0");
    let row = sqlx::raw_sql("SHOW transaction_read_only").fetch_one(&mut other).await.unwrap();
    assert_eq!(row.get::<String, _>(0), "off");
    other.close().await.unwrap();
}

#[tokio::test]
async fn without_tls_a_required_one_is_refused() {
    let database = empty().await;
    let bouncer = database.server.bouncer();
    let url = format!("postgres://reader@127.0.0.1:{}/{}?sslmode=require", bouncer.port, database.name);
    let source = open(&PostgresConfig { url, ..PostgresConfig::default() });
    let error = source.recall(&question("webhook"), limits()).await.unwrap_err();
    assert!(error.to_string().contains("the server does not offer it"), "{error}");
}

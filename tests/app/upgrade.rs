//! A new app over what an older one left: its registry, and its agents, which run on meanwhile.

use std::fs;
use std::path::Path;

use sqlx::{Connection, SqliteConnection};

use super::desktop::open;
use super::tray;
use crate::harness::claude::{Claude, Version, runs, wait};

/// The registry's tables as they were before consents were kept for each program.
const OLD: &str = include_str!("../fixtures/registry/version-6.sql");
/// Rows both have, column by column.
const KEPT: [&str; 5] = ["agents", "sessions", "events", "changes", "checkpoints"];

/// Writes what a registry holds as the older version would have written it.
async fn rewrite(new: &Path, old: &Path) -> Result<(), sqlx::Error> {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(old).create_if_missing(true);
    let mut db = SqliteConnection::connect_with(&options).await?;
    sqlx::raw_sql(OLD).execute(&mut db).await?;
    sqlx::query("ATTACH ? AS new").bind(new.to_str()).execute(&mut db).await?;
    for table in KEPT {
        let of = |schema: &str| format!("SELECT name FROM pragma_table_info('{table}', '{schema}')");
        let columns = format!("{} INTERSECT {}", of("main"), of("new"));
        let columns: Vec<(String,)> = sqlx::query_as(sqlx::AssertSqlSafe(columns)).fetch_all(&mut db).await?;
        let columns: Vec<String> = columns.into_iter().map(|(name,)| name).collect();
        let columns = columns.join(", ");
        let copy = format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(copy)).execute(&mut db).await?;
    }
    sqlx::raw_sql(
        "INSERT INTO main.folders (folder, trust_agreed_at, choices)
             SELECT folder, (SELECT trust_agreed_at FROM new.consents c WHERE c.folder = f.folder), choices
             FROM new.folders f",
    )
    .execute(&mut db)
    .await?;
    db.close().await
}

async fn version(file: &Path) -> i64 {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let mut db = SqliteConnection::connect_with(&options).await.unwrap();
    let (version,): (i64,) = sqlx::query_as("PRAGMA user_version").fetch_one(&mut db).await.unwrap();
    db.close().await.unwrap();
    version
}

#[test]
fn agents_that_an_older_version_started_are_shown_paused_and_resumed_by_the_new_one() {
    let mut claude = Claude::new(Version::New);
    let folder = claude.repository("code/api");
    let spawned = claude.spawn(&folder, &["look", "around"]);
    claude.comes_to(&spawned, "idle");
    let (file, old) = (claude.world.path(".pao/registry.db"), claude.world.path("old.db"));
    wait(rewrite(&file, &old)).unwrap();
    for end in ["-wal", "-shm", ""] {
        let _ = fs::remove_file(claude.world.path(&format!(".pao/registry.db{end}")));
    }
    fs::rename(&old, &file).unwrap();
    assert_eq!(wait(version(&file)), 6);

    let desktop = open(&mut claude.world);
    let (panel, list) = (desktop.panel(), desktop.popover());
    let is = |state: &str| {
        list.until(state, || list.rows("Agents").iter().any(|row| row.starts_with(&format!("api, {state}"))));
    };
    is("Idle");
    assert!(wait(version(&file)) > 6);
    tray::open(&claude.world, &panel, &["api — idle", "Details…"]);
    panel.says("look around");
    panel.says("Session hook");
    let pid = claude.row(&spawned)["pid"].as_u64().unwrap();
    assert!(runs(pid));
    panel.press("p");
    panel.says(" MB freed");
    is("Paused");
    assert!(!runs(pid));
    // The consent was brought over, too: nobody is asked again.
    panel.press("p");
    panel.says("resumed");
    is("Idle");
    assert_eq!(claude.began(&spawned), ["startup", "resume"]);
    let pane = claude.panes().pop().unwrap();
    assert!(claude.ask(&pane, "and now?").text().contains("look around"));
    claude.end(&spawned);
}

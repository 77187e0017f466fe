//! The user's own entity–observation database, asked and never changed.
//!
//! One connection and one read-only transaction per question; every limit is set with `SET LOCAL`, so that nothing
//! outlives the transaction behind a pooler. Statements are never given a name on the server, which is what makes
//! poolers in transaction mode work without a setting. It needs no extension, creates nothing, and what it cannot
//! search whole it searches from the newest rows back, and says so.

mod failure;
mod rank;
mod schema;
mod search;

use std::str::FromStr;
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions, Connection, PgConnection, Row};

use self::schema::{Schema, Shape};
use super::terms::Terms;
use super::{Answer, Limits, Question, Source, SourceError, within};
use crate::config::PostgresConfig;
use crate::host::secrets::{Secret, SecretStore};

/// Rows searched where there is no index, unless the configuration says otherwise.
const SCAN_ROWS: u32 = 20_000;

/// Rows counted exactly by a check; above, the planner's estimate is given.
const COUNTED_ROWS: i64 = 100_000;

/// A database that can be asked.
pub struct PostgresSource {
    name: String,
    options: PgConnectOptions,
    /// Try without TLS first: nobody can listen in between, and sqlx leaves Nagle's algorithm on, which makes a TLS
    /// handshake with this very machine wait for two delayed acknowledgements (80 ms).
    plain_first: bool,
    place: String,
    shape: Shape,
    scan_rows: u32,
    secrets: SecretStore,
}

/// Reads the configuration; connects to nothing yet. The password comes from the secret store when it is needed.
/// It is kept under the source's name; a login that wants none is not held up by a store that cannot be read.
pub fn open(
    name: &str,
    config: &PostgresConfig,
    secrets: &SecretStore,
) -> Result<PostgresSource, SourceError> {
    let url = reqwest::Url::parse(&config.url).map_err(|_| {
        SourceError::Misconfigured("the url is not of the form postgres://user@host:5432/database".into())
    })?;
    if !matches!(url.scheme(), "postgres" | "postgresql") {
        return Err(SourceError::Misconfigured("the url does not start with postgres://".into()));
    }
    if url.password().is_some() || url.query_pairs().any(|(key, _)| key == "password") {
        return Err(SourceError::Misconfigured(
            "the url contains a password: take it out and keep it in the secret store".into(),
        ));
    }
    // The parser's own texts may repeat parts of the url.
    let mut options = PgConnectOptions::from_str(&config.url)
        .map_err(|_| SourceError::Misconfigured("the url has a parameter that cannot be read".into()))?
        .application_name("pao")
        // Poolers refuse start-up parameters they do not know.
        .extra_float_digits(None)
        .disable_statement_logging();
    let verifies =
        url.query_pairs().any(|(key, _)| matches!(&*key, "sslrootcert" | "ssl-root-cert" | "ssl-ca"));
    if verifies && matches!(options.get_ssl_mode(), PgSslMode::Require) {
        // As libpq does: a root certificate given with `require` is meant to be checked.
        options = options.ssl_mode(PgSslMode::VerifyCa);
    }
    let chosen = url.query_pairs().any(|(key, _)| matches!(&*key, "sslmode" | "ssl-mode"));
    let here =
        matches!(options.get_host(), "localhost" | "::1" | "[::1]") || options.get_host().starts_with("127.");
    let place = match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let language = config.language.clone().unwrap_or_else(|| "simple".into());
    if !schema::is_configuration_name(&language) {
        return Err(SourceError::Misconfigured(
            "language is not the name of a text search configuration".into(),
        ));
    }
    Ok(PostgresSource {
        name: name.to_owned(),
        shape: Shape::of(config, language)?,
        plain_first: here && !chosen && !verifies,
        options,
        place,
        scan_rows: config.scan_rows.unwrap_or(SCAN_ROWS).clamp(100, 1_000_000),
        secrets: secrets.clone(),
    })
}

/// The statements that would let this database answer from an index, for the user to read and run. Never run here.
pub fn index_statements(config: &PostgresConfig) -> Result<String, SourceError> {
    let language = config.language.clone().unwrap_or_else(|| "english".into());
    if !schema::is_configuration_name(&language) {
        return Err(SourceError::Misconfigured(
            "language is not the name of a text search configuration".into(),
        ));
    }
    Ok(Shape::of(config, language)?.index_statements())
}

impl PostgresSource {
    /// Connects, opens the read-only transaction with its limits and what else it sets, and learns the schema.
    async fn begin(&self, until: Instant, sets: &str) -> Result<(PgConnection, Schema), SourceError> {
        let password = self.secrets.get(&self.name).await;
        let options = match &password {
            Ok(Some(password)) => self.options.clone().password(Secret::reveal(password)),
            Ok(None) | Err(_) => self.options.clone(),
        };
        let plain = options.clone().ssl_mode(PgSslMode::Disable);
        let connected = if self.plain_first { plain.connect().await } else { options.connect().await };
        let connected = match connected {
            // A server may want TLS from this machine too; it says so as if the login were wrong.
            Err(e) if self.plain_first && failure::is_no_way_in(&e) => options.connect().await,
            other => other,
        };
        let mut connection = connected.map_err(|e| failure::connecting(&e, self, &password))?;
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(10));
        let begin = format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = {0}; \
             SET LOCAL lock_timeout = {0}; SET LOCAL idle_in_transaction_session_timeout = {1}{sets}",
            left.as_millis(),
            left.as_millis() + 1_000,
        );
        run(&mut connection, begin).await?;
        let schema = schema::learn(&mut connection, &self.shape).await?;
        Ok((connection, schema))
    }

    async fn ask(&self, question: &Question, limits: Limits, until: Instant) -> Result<Answer, SourceError> {
        let terms = Terms::of(&question.text);
        // The planner would rather read a whole table than trust a LIMIT over an index. Said with the first words: a
        // database may be far away.
        let (mut connection, schema) = self.begin(until, "; SET LOCAL enable_seqscan = off").await?;
        let answer = if terms.is_empty() {
            Ok(Answer::default())
        } else {
            search::search(&mut connection, &schema, &terms, self.scan_rows, &self.name, question, limits)
                .await
        };
        end(connection).await;
        answer
    }

    async fn look(&self, until: Instant) -> Result<String, SourceError> {
        let (mut connection, schema) = self.begin(until, "").await?;
        let mut parts = Vec::new();
        for (noun, table, estimate) in schema.counted() {
            let sql = format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {}) s", COUNTED_ROWS + 1);
            let row = sqlx::query(sqlx::AssertSqlSafe(sql))
                .persistent(false)
                .fetch_one(&mut connection)
                .await
                .map_err(|e| failure::asking(&e))?;
            let count: i64 = row.try_get(0).map_err(|e| failure::asking(&e))?;
            parts.push(if count > COUNTED_ROWS {
                #[expect(clippy::cast_possible_truncation, reason = "an estimate of rows, shown to people")]
                let about = (estimate as i64).max(count);
                format!("about {} {noun}", grouped(about))
            } else {
                format!("{} {noun}", grouped(count))
            });
        }
        let index = schema.index_phrase(self.scan_rows);
        let version = schema.version.split_whitespace().next().unwrap_or("of unknown version").to_owned();
        end(connection).await;
        Ok(format!("PostgreSQL {version}, {}, {index}", parts.join(", ")))
    }
}

#[async_trait::async_trait]
impl Source for PostgresSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn describe(&self) -> String {
        let database = self.options.get_database().unwrap_or_else(|| self.options.get_username());
        format!("PostgreSQL database {database} at {}", self.place)
    }

    async fn recall(&self, question: &Question, limits: Limits) -> Result<Answer, SourceError> {
        within(limits.deadline, self.ask(question, limits, Instant::now() + limits.deadline)).await
    }

    async fn check(&self, limits: Limits) -> Result<String, SourceError> {
        within(limits.deadline, self.look(Instant::now() + limits.deadline)).await
    }
}

/// Runs statements without parameters in one round trip.
async fn run(connection: &mut PgConnection, sql: String) -> Result<(), SourceError> {
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(connection).await.map_err(|e| failure::asking(&e))?;
    Ok(())
}

/// Leaves the transaction and the server politely; the answer is already here, so failing at it means nothing.
async fn end(mut connection: PgConnection) {
    let rolled_back = run(&mut connection, "ROLLBACK".into()).await.is_ok();
    if rolled_back {
        let _ = connection.close().await;
    }
}

/// 20000 as "20,000".
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests;

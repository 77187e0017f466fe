//! How rows are found: rare terms through the indexes there are, the rest by reading the newest rows.
//!
//! Each statement is bounded by construction. Every term is probed up to a cap, so that a common word costs no more
//! than a rare one; a term above the cap orders what the others found, and only where no term is rare are the newest
//! rows read instead. `ts_rank` knows no rarity, so rows are weighted by it here, in SQL for the choice of
//! candidates and again over their whole text for the final order.

use std::collections::HashSet;

use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments, Encode, PgConnection, Postgres, Row, Type};

use super::rank::{Counts, Found, found, ranked};
use super::schema::{Schema, Table};
use super::{failure, grouped, run};
use crate::source::terms::{Kind, Term, Terms, is_cjk, rarity};
use crate::source::{Answer, Limits, Question, SourceError};

/// Hits up to which a term counts as rare.
const RARE: i64 = 2_000;

/// Rows of one table whose text is fetched and ranked.
const CANDIDATES: i64 = 200;

/// Characters of a text that are fetched and searched.
const TEXT_CHARS: usize = 8_000;

/// Entities whose name is searched, from the newest back.
const NAMES: i64 = 100_000;

/// SQL under construction with its bound values.
#[derive(Default)]
struct Statement {
    sql: String,
    values: PgArguments,
}

impl Statement {
    /// Binds a value and gives its placeholder.
    fn bind<T>(&mut self, value: T) -> Result<String, SourceError>
    where
        T: for<'q> Encode<'q, Postgres> + Type<Postgres> + Send + 'static,
    {
        self.values
            .add(value)
            .map_err(|_| SourceError::Misconfigured("the question cannot be sent to the server".into()))?;
        Ok(format!("${}", self.values.len()))
    }

    async fn rows(self, connection: &mut PgConnection) -> Result<Vec<PgRow>, SourceError> {
        sqlx::query_with(sqlx::AssertSqlSafe(self.sql), self.values)
            .persistent(false)
            .fetch_all(connection)
            .await
            .map_err(|e| failure::asking(&e))
    }
}

/// A term as an index can look for it.
struct Probe {
    /// Index of the term; `None` for a piece of a longer East Asian run.
    term: Option<usize>,
    needle: Needle,
    hits: i64,
}

enum Needle {
    /// Through a full-text index.
    Words(String),
    /// Through a trigram index: an escaped pattern, and whether case matters.
    Pattern(String, bool),
}

/// In a transaction that reads no table whole if it can help it; where rows have to be read, that is allowed again.
pub(super) async fn search(
    connection: &mut PgConnection,
    schema: &Schema,
    terms: &Terms,
    scan_rows: u32,
    source: &str,
    question: &Question,
    limits: Limits,
) -> Result<Answer, SourceError> {
    let started = std::time::Instant::now();
    let mut probes: Vec<Vec<Probe>> = schema.tables.iter().map(|t| probes_of(t, terms)).collect();
    let indexed = probes.iter().any(|p| !p.is_empty()) || schema.tables.iter().any(|t| t.by_entity);
    let mut counts = Counts { rows: 0.0, with: vec![0.0; terms.terms.len()] };
    let mut rows = Vec::new();
    let mut silent = HashSet::new();
    if indexed {
        silent = count(connection, schema, terms, &mut probes).await?;
        rows = through_indexes(connection, schema, terms, &probes).await?;
    }
    let scanned: Vec<usize> =
        (0..schema.tables.len()).filter(|t| must_scan(&probes[*t], terms, &silent)).collect();
    for (table, probes) in probes.iter().enumerate() {
        counts.rows += schema.tables[table].rows;
        for probe in probes {
            if let Some(term) = probe.term {
                #[expect(clippy::cast_precision_loss, reason = "a count of at most 2,001")]
                let hits = probe.hits as f64;
                let capped = if probe.hits > RARE { schema.tables[table].rows * 0.02 } else { 0.0 };
                counts.with[term] += hits.max(capped);
            }
        }
    }
    let mut note = None;
    if !scanned.is_empty() {
        let left = limits.deadline.saturating_sub(started.elapsed());
        let allowed = left.mul_f32(0.85).as_millis().max(10);
        let limit = format!("SET LOCAL enable_seqscan = on; SET LOCAL statement_timeout = {allowed}");
        run(connection, limit).await?;
        match newest_rows(connection, schema, terms, &scanned, scan_rows, &mut counts, &mut rows).await {
            Ok(false) => {}
            Ok(true) => note = Some(phrase(&probes, schema, scan_rows)),
            Err(SourceError::TimedOut(_)) if !rows.is_empty() => {
                note = Some("the search by substring ran out of time".into());
            }
            Err(e) => return Err(e),
        }
    }
    Ok(Answer { snippets: ranked(rows, schema, terms, &counts, source, question, limits.snippets), note })
}

/// What limits an answer that came from the newest rows.
fn phrase(probes: &[Vec<Probe>], schema: &Schema, scan_rows: u32) -> String {
    let rows = grouped(i64::from(scan_rows));
    let newest = if schema.tables.iter().all(|t| t.newest.is_some()) { "the newest" } else { "only" };
    if probes.iter().all(Vec::is_empty) {
        if schema.tables.iter().any(|t| t.full_text.is_some() || t.trigram) {
            format!("names and East Asian text: searched {newest} {rows} rows")
        } else {
            format!("no text index: searched {newest} {rows} rows")
        }
    } else if probes.iter().flatten().any(|p| p.hits > 0 && p.hits <= RARE) {
        format!("a part of the question was searched in {newest} {rows} rows")
    } else {
        format!("nothing rare in the question: searched {newest} {rows} rows")
    }
}

fn probes_of(table: &Table, terms: &Terms) -> Vec<Probe> {
    let mut probes = Vec::new();
    for (i, term) in terms.terms.iter().enumerate() {
        let long = term.root.chars().count() > 2;
        let needle = match term.kind {
            Kind::Word | Kind::Literal if table.full_text.is_some() => Needle::Words(term.text.clone()),
            Kind::Word | Kind::Literal if table.trigram && long => {
                Needle::Pattern(pattern(&term.root), false)
            }
            Kind::Name if table.trigram && long => Needle::Pattern(pattern(&term.root), true),
            _ => continue,
        };
        probes.push(Probe { term: Some(i), needle, hits: 0 });
    }
    if table.trigram {
        // A pair of characters has no trigram; three in a row have one.
        let runs = terms.phrases.iter().filter(|p| p.chars().all(is_cjk));
        let pieces = runs.flat_map(|run| {
            let chars: Vec<char> = run.chars().collect();
            chars.windows(3).map(|w| w.iter().collect::<String>()).collect::<Vec<_>>()
        });
        for piece in pieces.take(12) {
            probes.push(Probe { term: None, needle: Needle::Pattern(pattern(&piece), true), hits: 0 });
        }
    }
    probes
}

/// A LIKE pattern that matches exactly this text anywhere.
fn pattern(text: &str) -> String {
    let mut out = String::from("%");
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('%');
    out
}

fn condition(table: &Table, needle: &Needle, statement: &mut Statement) -> Result<String, SourceError> {
    Ok(match (needle, &table.full_text) {
        (Needle::Words(words), Some((expression, config))) => {
            let words = statement.bind(words.clone())?;
            format!("{expression} @@ plainto_tsquery('{config}'::regconfig, {words})")
        }
        // Without a full-text index no such needle is made.
        (Needle::Words(_), None) => "false".into(),
        (Needle::Pattern(pattern, exact), _) => {
            let like = if *exact { "LIKE" } else { "ILIKE" };
            let pattern = statement.bind(pattern.clone())?;
            format!("{} {like} {pattern}", table.text)
        }
    })
}

/// Counts each probe's hits up to one above the cap; returns the terms that no configuration keeps as a word.
async fn count(
    connection: &mut PgConnection,
    schema: &Schema,
    terms: &Terms,
    probes: &mut [Vec<Probe>],
) -> Result<HashSet<usize>, SourceError> {
    let mut statement = Statement::default();
    let mut hits = Vec::new();
    let mut nodes = Vec::new();
    for (table, probes) in schema.tables.iter().zip(probes.iter()) {
        for probe in probes {
            let condition = condition(table, &probe.needle, &mut statement)?;
            let sample = format!("SELECT 1 FROM {} WHERE {condition} LIMIT {}", table.quoted, RARE + 1);
            hits.push(format!("(SELECT count(*) FROM ({sample}) s)"));
            nodes.push(match (&probe.needle, &table.full_text) {
                (Needle::Words(words), Some((_, config))) => {
                    let words = statement.bind(words.clone())?;
                    format!("numnode(plainto_tsquery('{config}'::regconfig, {words}))::int8")
                }
                _ => "1::int8".into(),
            });
        }
    }
    if hits.is_empty() {
        return Ok(HashSet::new());
    }
    statement.sql = format!("SELECT ARRAY[{}]::int8[], ARRAY[{}]::int8[]", hits.join(", "), nodes.join(", "));
    let rows = statement.rows(connection).await?;
    let (mut silent, mut heard) = (HashSet::new(), HashSet::new());
    if let Some(row) = rows.first() {
        let hits: Vec<i64> = row.try_get(0).map_err(|e| failure::asking(&e))?;
        let nodes: Vec<i64> = row.try_get(1).map_err(|e| failure::asking(&e))?;
        for (probe, (hits, nodes)) in probes.iter_mut().flatten().zip(hits.into_iter().zip(nodes)) {
            probe.hits = hits;
            if let Some(term) = probe.term {
                // An identifier that no row has as words may still be a part of a longer one.
                let missed = hits == 0 && terms.terms[term].kind != Kind::Word;
                if nodes == 0 || missed {
                    silent.insert(term)
                } else {
                    heard.insert(term)
                };
            }
        }
    }
    Ok(silent.difference(&heard).copied().collect())
}

/// A table is read from its newest rows where its indexes cannot look for a term, or where no term is rare.
fn must_scan(probes: &[Probe], terms: &Terms, silent: &HashSet<usize>) -> bool {
    let looked_for = |i: usize| probes.iter().any(|p| p.term == Some(i));
    if (0..terms.terms.len()).any(|i| !looked_for(i) || silent.contains(&i)) {
        return true;
    }
    let rare = probes.iter().any(|p| p.hits > 0 && p.hits <= RARE);
    !rare && probes.iter().any(|p| p.hits > RARE)
}

/// The columns every candidate is fetched with; `o` is the table, `e` the entities.
fn columns(table: &Table, schema: &Schema) -> String {
    let none = || "NULL".to_owned();
    let entities = schema.entities.as_ref().filter(|_| table.entity.is_some());
    let project = match (&table.project, entities.and_then(|e| e.project.as_ref())) {
        (Some(own), Some(inherited)) => format!("coalesce({own}, {inherited})"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => none(),
    };
    let at = table.created_at.as_ref().map_or_else(none, |c| format!("o.{c}"));
    format!(
        "o.{id}::text, {title}, left(o.{text}::text, {TEXT_CHARS}), ({at})::text, ({importance})::float8, \
         ({project})::text, ({tags})::text, ({kind})::text",
        id = table.id,
        title = title(table, schema),
        text = table.text,
        importance = table.importance.clone().unwrap_or_else(none),
        tags = table.tags.clone().unwrap_or_else(none),
        kind = entities.and_then(|e| e.kind.clone()).unwrap_or_else(none),
    )
}

fn title(table: &Table, schema: &Schema) -> String {
    match (&table.title, &table.entity, &schema.entities) {
        (Some(column), _, _) => format!("coalesce(left(o.{column}::text, 200), '')"),
        (None, Some(_), Some(_)) => "coalesce(left(e.name::text, 200), '')".into(),
        _ => "''".into(),
    }
}

/// The join that gives a row its entity.
fn with_entity(table: &Table, schema: &Schema) -> String {
    match (&table.entity, &schema.entities) {
        (Some(column), Some(e)) => format!("LEFT JOIN {} e ON e.id = o.{column}", e.quoted),
        _ => String::new(),
    }
}

/// Rows that hold rare terms, and the newest rows of entities whose name holds a term.
async fn through_indexes(
    connection: &mut PgConnection,
    schema: &Schema,
    terms: &Terms,
    probes: &[Vec<Probe>],
) -> Result<Vec<Found>, SourceError> {
    let mut statement = Statement::default();
    let mut selects = Vec::new();
    for (t, (table, probes)) in schema.tables.iter().zip(probes).enumerate() {
        let mut legs = Vec::new();
        let age = table.created_at.as_ref().map_or_else(|| "NULL::text".into(), |c| format!("o.{c}"));
        for probe in probes.iter().filter(|p| p.hits > 0 && p.hits <= RARE) {
            #[expect(clippy::cast_precision_loss, reason = "a count of at most 2,000")]
            let weight = rarity(table.rows, probe.hits as f64);
            let condition = condition(table, &probe.needle, &mut statement)?;
            // The index's expression names columns bare, so nothing may be joined here.
            legs.push(format!(
                "SELECT o.{} AS key, {weight:.4}::float8 AS w, {age} AS age FROM {} o WHERE {condition}",
                table.id, table.quoted
            ));
        }
        if let Some(leg) = entity_leg(table, schema, terms, &age, &mut statement)? {
            legs.push(leg);
        }
        if legs.is_empty() {
            continue;
        }
        selects.push(format!(
            "(WITH hits AS ({}), best AS MATERIALIZED (SELECT key, sum(w) AS s, max(age) AS age FROM hits \
             GROUP BY key ORDER BY s DESC, age DESC NULLS LAST LIMIT {CANDIDATES}) \
             SELECT {t}::int4, {} FROM best JOIN {} o ON o.{} = best.key {})",
            legs.join(" UNION ALL "),
            columns(table, schema),
            table.quoted,
            table.id,
            with_entity(table, schema),
        ));
    }
    if selects.is_empty() {
        return Ok(Vec::new());
    }
    statement.sql = selects.join(" UNION ALL ");
    statement.rows(connection).await?.iter().map(found).collect()
}

fn entity_leg(
    table: &Table,
    schema: &Schema,
    terms: &Terms,
    age: &str,
    statement: &mut Statement,
) -> Result<Option<String>, SourceError> {
    let (Some(entities), Some(column), true) = (&schema.entities, &table.entity, table.by_entity) else {
        return Ok(None);
    };
    let mut points = Vec::new();
    for term in &terms.terms {
        let condition = contains(term, "lower(n.name::text)", "n.name::text", statement)?;
        points.push(format!("(CASE WHEN {condition} THEN 1.0 ELSE 0.0 END)"));
    }
    let newest = table.newest.as_ref().map_or_else(String::new, |by| format!("ORDER BY {by}"));
    Ok(Some(format!(
        "SELECT x.key, x.w, x.age FROM (SELECT id, points FROM (SELECT n.id, {points} AS points FROM \
         (SELECT id, name FROM {entities} ORDER BY id DESC LIMIT {NAMES}) n) p \
         WHERE points > 0 ORDER BY points DESC, id DESC LIMIT 20) named \
         CROSS JOIN LATERAL (SELECT o.{id} AS key, named.points::float8 AS w, {age} AS age FROM {table} o \
         WHERE o.{column} = named.id {newest} LIMIT 30) x",
        points = points.join(" + "),
        entities = entities.quoted,
        id = table.id,
        table = table.quoted,
    )))
}

/// True where the text contains the term; as [`Terms::score`] sees it, but for parts of longer words.
fn contains(term: &Term, lower: &str, raw: &str, statement: &mut Statement) -> Result<String, SourceError> {
    let hay = if term.kind == Kind::Name { raw } else { lower };
    let needle = statement.bind(term.root.clone())?;
    if !term.whole_word() {
        return Ok(format!("strpos({hay}, {needle}) > 0"));
    }
    let mut expression = String::from(r"\m");
    for c in term.root.chars() {
        if !c.is_alphanumeric() && c != ' ' {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression.push_str(r"\M(?!['’])");
    let expression = statement.bind(expression)?;
    Ok(format!("(CASE WHEN strpos({hay}, {needle}) > 0 THEN {hay} ~ {expression} ELSE false END)"))
}

/// Reads the newest rows of the given tables; true when there are more rows than were read.
async fn newest_rows(
    connection: &mut PgConnection,
    schema: &Schema,
    terms: &Terms,
    tables: &[usize],
    scan_rows: u32,
    counts: &mut Counts,
    into: &mut Vec<Found>,
) -> Result<bool, SourceError> {
    let mut more = false;
    for t in tables {
        let table = &schema.tables[*t];
        let mut statement = Statement::default();
        let mut conditions = Vec::new();
        for term in &terms.terms {
            conditions.push(contains(term, "hay", "raw", &mut statement)?);
        }
        let filters: Vec<_> =
            (1..=conditions.len()).map(|i| format!("count(*) FILTER (WHERE m[{i}])")).collect();
        // The weight of `rarity`, over the rows read.
        let points: Vec<_> = (1..=conditions.len())
            .map(|i| format!("(CASE WHEN m[{i}] THEN ln(1 + (n + 1) / (df[{i}] + 0.5)) ELSE 0 END)"))
            .collect();
        let order = table.newest.as_ref().map_or_else(String::new, |by| format!("ORDER BY {by}"));
        let age = table.created_at.as_ref().map_or_else(|| "NULL::text".into(), |c| format!("o.{c}"));
        statement.sql = format!(
            "WITH newest AS MATERIALIZED (SELECT o.{id} AS key, {age} AS age, \
               {title} || E'\\n' || coalesce(left(o.{text}::text, {TEXT_CHARS}), '') AS raw \
               FROM (SELECT {id} AS k FROM {quoted} {order} LIMIT {scan_rows}) l \
               JOIN {quoted} o ON o.{id} = l.k {join}), \
             lowered AS MATERIALIZED (SELECT key, age, raw, lower(raw) AS hay FROM newest), \
             matched AS MATERIALIZED (SELECT key, age, ARRAY[{conditions}]::bool[] AS m FROM lowered), \
             totals AS MATERIALIZED (SELECT count(*)::float8 AS n, ARRAY[{filters}]::float8[] AS df FROM matched), \
             best AS MATERIALIZED (SELECT key, age, {points} AS s FROM matched, totals WHERE true = ANY(m) \
               ORDER BY s DESC, age DESC NULLS LAST LIMIT {CANDIDATES}) \
             SELECT {t}::int4, {columns}, totals.n, totals.df FROM totals LEFT JOIN best ON true \
               LEFT JOIN {quoted} o ON o.{id} = best.key {join}",
            id = table.id,
            text = table.text,
            quoted = table.quoted,
            title = title(table, schema),
            join = with_entity(table, schema),
            conditions = conditions.join(", "),
            filters = filters.join(", "),
            points = points.join(" + "),
            columns = columns(table, schema),
        );
        let rows = statement.rows(connection).await?;
        let Some(first) = rows.first() else { continue };
        let read: f64 = first.try_get(9).map_err(|e| failure::asking(&e))?;
        let with: Vec<f64> = first.try_get(10).map_err(|e| failure::asking(&e))?;
        more |= read >= f64::from(scan_rows);
        // The estimate of a table that was never analysed is zero.
        let unknown = (read - table.rows).max(0.0);
        counts.rows += unknown;
        let scale = if read > 0.0 { (table.rows + unknown) / read } else { 0.0 };
        for (count, with) in counts.with.iter_mut().zip(with) {
            *count = count.max(with * scale);
        }
        for row in &rows {
            let id: Option<String> = row.try_get(1).map_err(|e| failure::asking(&e))?;
            if id.is_some() {
                into.push(found(row)?);
            }
        }
    }
    Ok(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_with_a_meaning_in_like_are_escaped() {
        assert_eq!(pattern(r"100%_a\b"), r"%100\%\_a\\b%");
    }
}

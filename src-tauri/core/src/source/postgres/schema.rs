//! Which tables are asked, which of their columns exist, and which indexes can be used.
//!
//! Everything is read from the catalogue in one statement. Names are quoted; the only SQL taken over as it stands is
//! an index's own expression, as the server prints it.

use std::fmt::Write;

use serde::Deserialize;
use sqlx::{PgConnection, Row};

use super::{failure, grouped};
use crate::config::PostgresConfig;
use crate::source::SourceError;

/// What the configuration says to look for.
pub(super) struct Shape {
    /// Tables with memories, as written for `to_regclass`, quoted.
    tables: Vec<Wanted>,
    /// Table with titles: quoted name.
    entities: Option<String>,
    /// Text search configuration for `tsvector` columns that do not tell theirs.
    language: String,
}

/// A table to look for and its columns. An absent optional column is no fault.
#[derive(Clone)]
struct Wanted {
    quoted: String,
    /// Shown in identities, empty for the main table.
    prefix: &'static str,
    id: String,
    text: String,
    entity: Option<String>,
    title: Option<String>,
    created_at: Option<String>,
    importance: Option<String>,
    project: Option<String>,
    metadata: Option<String>,
    tags: Option<String>,
    preset: bool,
}

/// What was found.
pub(super) struct Schema {
    /// `server_version`, as the server writes it.
    pub version: String,
    /// Tables with memories.
    pub tables: Vec<Table>,
    /// The table with titles.
    pub entities: Option<Entities>,
}

/// A table with memories. Column fields are quoted identifiers.
pub(super) struct Table {
    pub quoted: String,
    pub prefix: &'static str,
    pub rows: f64,
    pub id: String,
    pub text: String,
    pub entity: Option<String>,
    pub title: Option<String>,
    pub created_at: Option<String>,
    /// Expression of type float8, of alias `o`.
    pub importance: Option<String>,
    /// Expression of type text, of alias `o`.
    pub project: Option<String>,
    /// Expression of type text, of alias `o`: tags joined with U+001F.
    pub tags: Option<String>,
    /// What rows are read from the newest back by; `None` where nothing tells.
    pub newest: Option<String>,
    /// A full-text index: the expression it covers and its configuration.
    pub full_text: Option<(String, String)>,
    /// A trigram index on the text.
    pub trigram: bool,
    /// Rows of one entity can be found by index.
    pub by_entity: bool,
}

/// The table with titles.
pub(super) struct Entities {
    pub quoted: String,
    pub rows: f64,
    /// Expression of type text, of alias `e`.
    pub project: Option<String>,
    /// Expression of type text, of alias `e`.
    pub kind: Option<String>,
}

impl Shape {
    pub(super) fn of(config: &PostgresConfig, language: String) -> Result<Self, SourceError> {
        let Some(mapping) = &config.mapping else {
            let table = |name: &str, prefix| Wanted {
                quoted: quote(name),
                prefix,
                id: "id".into(),
                text: "observation_text".into(),
                entity: Some("entity_id".into()),
                title: None,
                created_at: Some("created_at".into()),
                importance: Some("importance".into()),
                project: None,
                metadata: Some("metadata".into()),
                tags: Some("tags".into()),
                preset: true,
            };
            let mut tables = vec![table("observations", "")];
            if config.archive.unwrap_or(true) {
                tables.push(table("observations_archive", "archive/"));
            }
            return Ok(Self { tables, entities: Some(quote("entities")), language });
        };
        for (key, name) in [("table", &mapping.table), ("id", &mapping.id), ("text", &mapping.text)] {
            if name.trim().is_empty() || name.contains('\0') {
                return Err(SourceError::Misconfigured(format!("mapping.{key} is missing")));
            }
        }
        let quoted = mapping.table.split('.').map(quote).collect::<Vec<_>>().join(".");
        Ok(Self {
            tables: vec![Wanted {
                quoted,
                prefix: "",
                id: mapping.id.clone(),
                text: mapping.text.clone(),
                entity: None,
                title: mapping.title.clone(),
                created_at: mapping.created_at.clone(),
                importance: mapping.importance.clone(),
                project: mapping.project.clone(),
                metadata: None,
                tags: None,
                preset: false,
            }],
            entities: None,
            language,
        })
    }

    pub(super) fn index_statements(&self) -> String {
        let mut sql = String::from(
            "-- Lets PAO answer from an index instead of reading the newest rows.\n\
             -- CONCURRENTLY does not block writers and must not run inside a transaction.\n\
             CREATE EXTENSION IF NOT EXISTS pg_trgm;\n",
        );
        for table in &self.tables {
            let (name, text) = (&table.quoted, quote(&table.text));
            let stem: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect::<String>();
            let stem = stem.trim_matches('_').to_owned();
            let _ = write!(
                sql,
                "\nCREATE INDEX CONCURRENTLY IF NOT EXISTS pao_{stem}_words ON {name}\n    \
                 USING gin (to_tsvector('{}', {text}));\n\
                 CREATE INDEX CONCURRENTLY IF NOT EXISTS pao_{stem}_trigrams ON {name}\n    \
                 USING gin ({text} gin_trgm_ops);\n",
                self.language
            );
            if let Some(at) = &table.created_at {
                let _ = writeln!(
                    sql,
                    "CREATE INDEX CONCURRENTLY IF NOT EXISTS pao_{stem}_newest ON {name} ({});",
                    quote(at)
                );
            }
            if let Some(entity) = &table.entity {
                let _ = writeln!(
                    sql,
                    "CREATE INDEX CONCURRENTLY IF NOT EXISTS pao_{stem}_entity ON {name} ({});",
                    quote(entity)
                );
            }
        }
        sql
    }
}

#[derive(Deserialize)]
struct Found {
    name: String,
    readable: bool,
    rows: f64,
    columns: Vec<Column>,
    indexes: Option<Vec<Index>>,
    trigrams_of_all_scripts: bool,
}

#[derive(Deserialize)]
struct Column {
    name: String,
    kind: String,
    default: Option<String>,
}

#[derive(Deserialize)]
struct Index {
    method: String,
    position: i32,
    covers: String,
    class: String,
}

/// Reads the catalogue. Partial and invalid indexes are left out: a question cannot promise their condition.
const CATALOGUE: &str = "
SELECT current_setting('server_version'), json_build_object(
  'name', w.name,
  'readable', has_table_privilege(c.oid, 'SELECT'),
  'rows', greatest(c.reltuples, 0),
  'trigrams_of_all_scripts', (SELECT datctype NOT IN ('C', 'POSIX') FROM pg_catalog.pg_database
                              WHERE datname = current_database()),
  'columns', (SELECT coalesce(json_agg(json_build_object(
                 'name', a.attname,
                 'kind', pg_catalog.format_type(a.atttypid, NULL),
                 'default', pg_catalog.pg_get_expr(d.adbin, d.adrelid))), '[]'::json)
              FROM pg_catalog.pg_attribute a
              LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  'indexes', (SELECT json_agg(json_build_object(
                 'method', am.amname,
                 'position', k,
                 'covers', pg_catalog.pg_get_indexdef(i.indexrelid, k, true),
                 'class', oc.opcname))
              FROM pg_catalog.pg_index i
              JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid
              JOIN pg_catalog.pg_am am ON am.oid = ic.relam
              CROSS JOIN LATERAL generate_series(1, i.indnkeyatts::int) k
              JOIN pg_catalog.pg_opclass oc ON oc.oid = i.indclass[k - 1]
              WHERE i.indrelid = c.oid AND i.indisvalid AND i.indisready AND i.indpred IS NULL)
)::text
FROM unnest($1::text[]) AS w(name)
JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(w.name)";

pub(super) async fn learn(connection: &mut PgConnection, shape: &Shape) -> Result<Schema, SourceError> {
    let names: Vec<String> =
        shape.tables.iter().map(|t| t.quoted.clone()).chain(shape.entities.clone()).collect();
    let rows = sqlx::query(CATALOGUE)
        .bind(names)
        .persistent(false)
        .fetch_all(connection)
        .await
        .map_err(|e| failure::asking(&e))?;
    let mut version = String::new();
    let mut found = Vec::new();
    for row in rows {
        version = row.try_get(0).map_err(|e| failure::asking(&e))?;
        let json: String = row.try_get(1).map_err(|e| failure::asking(&e))?;
        let table: Found = serde_json::from_str(&json)
            .map_err(|_| SourceError::BadReply("the catalogue has an unknown form".into()))?;
        found.push(table);
    }
    let at = |quoted: &str| found.iter().find(|f| f.name == quoted);
    let entities =
        shape.entities.as_deref().and_then(at).filter(|f| f.readable && f.has("id") && f.has("name"));
    let mut tables = Vec::new();
    for wanted in &shape.tables {
        if let Some(found) = at(&wanted.quoted) {
            tables.push(found.table(wanted, entities.is_some(), &shape.language)?);
        }
    }
    if tables.is_empty() {
        let all: Vec<_> = shape.tables.iter().map(|t| t.quoted.replace('"', "")).collect();
        return Err(SourceError::Refused(format!("there is no table {}", all.join(" or "))));
    }
    let entities = entities.map(|f| Entities {
        quoted: f.name.clone(),
        rows: f.rows,
        project: f.metadata_project("e", "metadata"),
        kind: f.has("entity_type").then(|| "e.entity_type::text".to_owned()),
    });
    Ok(Schema { version, tables, entities })
}

impl Found {
    fn kind(&self, column: &str) -> Option<&str> {
        self.columns.iter().find(|c| c.name == column).map(|c| c.kind.as_str())
    }

    fn has(&self, column: &str) -> bool {
        self.kind(column).is_some()
    }

    fn indexes(&self) -> &[Index] {
        self.indexes.as_deref().unwrap_or_default()
    }

    fn leads(&self, column: &str) -> bool {
        let (bare, quoted) = (column, quote(column));
        self.indexes()
            .iter()
            .any(|i| i.method == "btree" && i.position == 1 && (i.covers == bare || i.covers == quoted))
    }

    fn metadata_project(&self, alias: &str, column: &str) -> Option<String> {
        matches!(self.kind(column), Some("jsonb" | "json")).then(|| {
            let m = format!("{alias}.{}", quote(column));
            format!("coalesce({m}->>'project_path', {m}->>'cwd', {m}->>'project')")
        })
    }

    fn table(&self, wanted: &Wanted, entities: bool, language: &str) -> Result<Table, SourceError> {
        let shown = wanted.quoted.replace('"', "");
        if !self.readable {
            return Err(SourceError::Refused(format!("this user may not read {shown}")));
        }
        // What the mapping names must exist; what the preset names may be absent, all but identity and text.
        let optional = if wanted.preset {
            Vec::new()
        } else {
            vec![&wanted.title, &wanted.created_at, &wanted.importance, &wanted.project]
        };
        let needed = [&wanted.id, &wanted.text].into_iter().chain(optional.into_iter().flatten());
        if let Some(missing) = needed.clone().find(|c| !self.has(c)) {
            return Err(SourceError::Refused(format!("{shown} has no column {missing}")));
        }
        let column = |name: &Option<String>| name.as_ref().filter(|c| self.has(c)).map(|c| quote(c));
        let numeric = |c: &&String| {
            matches!(
                self.kind(c),
                Some("double precision" | "real" | "numeric" | "integer" | "smallint" | "bigint")
            )
        };
        let whole = matches!(self.kind(&wanted.id), Some("integer" | "bigint" | "smallint"));
        let created_at = column(&wanted.created_at);
        let by_time = wanted.created_at.as_ref().is_some_and(|c| self.leads(c));
        let id = quote(&wanted.id);
        let newest = match &created_at {
            Some(at) if by_time => Some(format!("{at} DESC")),
            // Identities of whole numbers grow with time, and their index spares a sort of the whole table.
            _ if whole && self.leads(&wanted.id) => Some(format!("{id} DESC")),
            Some(at) => Some(format!("{at} DESC NULLS LAST")),
            None => None,
        };
        let project = match &wanted.project {
            Some(c) => Some(format!("o.{}::text", quote(c))),
            None => wanted.metadata.as_ref().and_then(|c| self.metadata_project("o", c)),
        };
        let tags = wanted
            .tags
            .as_ref()
            .filter(|c| matches!(self.kind(c), Some("text[]" | "character varying[]")))
            .map(|c| format!("array_to_string(o.{}::text[], E'\\x1f')", quote(c)));
        Ok(Table {
            quoted: wanted.quoted.clone(),
            prefix: wanted.prefix,
            rows: self.rows,
            text: quote(&wanted.text),
            entity: column(&wanted.entity).filter(|_| entities),
            title: column(&wanted.title),
            importance: wanted
                .importance
                .as_ref()
                .filter(|c| self.has(c))
                .filter(numeric)
                .map(|c| format!("o.{}::float8", quote(c))),
            project,
            tags,
            full_text: self.full_text(&wanted.text, language),
            trigram: self.trigrams_of_all_scripts && self.trigram(&wanted.text),
            by_entity: wanted.entity.as_ref().is_some_and(|c| entities && self.has(c) && self.leads(c)),
            id,
            created_at,
            newest,
        })
    }

    fn trigram(&self, text: &str) -> bool {
        let quoted = quote(text);
        self.indexes().iter().any(|i| {
            matches!(i.class.as_str(), "gin_trgm_ops" | "gist_trgm_ops")
                && (i.covers == text || i.covers == quoted)
        })
    }

    /// An inverted (GIN or `GiST`) index on an expression over the text, or on a `tsvector` column.
    fn full_text(&self, text: &str, language: &str) -> Option<(String, String)> {
        self.indexes().iter().filter(|i| matches!(i.class.as_str(), "tsvector_ops")).find_map(|i| {
            let column = self.columns.iter().find(|c| c.name == i.covers || quote(&c.name) == i.covers);
            if let Some(column) = column {
                let told = column.default.as_deref().and_then(configuration_in);
                return Some((quote(&column.name), told.unwrap_or_else(|| language.to_owned())));
            }
            let of_text = i.covers.contains(text);
            configuration_in(&i.covers).filter(|_| of_text).map(|config| (format!("({})", i.covers), config))
        })
    }
}

impl Schema {
    /// What a check counts: noun, table and estimated rows.
    pub(super) fn counted(&self) -> Vec<(&'static str, &str, f64)> {
        let mut counted = Vec::new();
        if let Some(e) = &self.entities {
            counted.push(("entities", e.quoted.as_str(), e.rows));
        }
        for table in &self.tables {
            let noun = match (table.prefix, self.entities.is_some() || table.entity.is_some()) {
                ("", true) => "observations",
                ("", false) => "rows",
                _ => "archived",
            };
            counted.push((noun, table.quoted.as_str(), table.rows));
        }
        counted
    }

    /// How the text is found, as a phrase.
    pub(super) fn index_phrase(&self, scan_rows: u32) -> String {
        let table = self.tables.first();
        match table.map(|t| (t.full_text.is_some(), t.trigram)) {
            Some((true, true)) => "full-text and trigram index".into(),
            Some((true, false)) => "full-text index".into(),
            Some((false, true)) => "trigram index".into(),
            _ => format!("no text index (searches the newest {} rows)", grouped(i64::from(scan_rows))),
        }
    }
}

/// Quotes an identifier.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('\0', "").replace('"', "\"\""))
}

/// The constant configuration of the first `to_tsvector` in an expression.
fn configuration_in(expression: &str) -> Option<String> {
    let rest = expression.split_once("to_tsvector('")?.1;
    let (name, rest) = rest.split_once('\'')?;
    (rest.starts_with("::regconfig") && is_configuration_name(name)).then(|| name.to_owned())
}

/// A name that may stand between quotes before `::regconfig`.
pub(super) fn is_configuration_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 128
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_read_only_from_a_constant() {
        assert_eq!(
            configuration_in("to_tsvector('english'::regconfig, observation_text)"),
            Some("english".into())
        );
        let weighted = "setweight(to_tsvector('public.my_cfg'::regconfig, t), 'A'::\"char\")";
        assert_eq!(configuration_in(weighted), Some("public.my_cfg".into()));
        assert_eq!(configuration_in("to_tsvector(language, observation_text)"), None);
        assert_eq!(configuration_in("to_tsvector('a''b'::regconfig, t)"), None);
    }

    #[test]
    fn identifiers_cannot_leave_their_quotes() {
        assert_eq!(quote(r#"a"; DROP TABLE x; --"#), r#""a""; DROP TABLE x; --""#);
    }

    #[test]
    fn index_statements_name_the_tables_they_are_for() {
        let config = PostgresConfig { archive: Some(false), ..PostgresConfig::default() };
        let sql = Shape::of(&config, "english".into()).unwrap().index_statements();
        insta::assert_snapshot!(sql, @r#"
        -- Lets PAO answer from an index instead of reading the newest rows.
        -- CONCURRENTLY does not block writers and must not run inside a transaction.
        CREATE EXTENSION IF NOT EXISTS pg_trgm;

        CREATE INDEX CONCURRENTLY IF NOT EXISTS pao_observations_words ON "observations"
            USING gin (to_tsvector('english', "observation_text"));
        CREATE INDEX CONCURRENTLY IF NOT EXISTS pao_observations_trigrams ON "observations"
            USING gin ("observation_text" gin_trgm_ops);
        CREATE INDEX CONCURRENTLY IF NOT EXISTS pao_observations_newest ON "observations" ("created_at");
        CREATE INDEX CONCURRENTLY IF NOT EXISTS pao_observations_entity ON "observations" ("entity_id");
        "#);
    }
}

//! From rows to snippets: one order over all tables, each memory once, its project told.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::failure;
use super::schema::Schema;
use crate::source::terms::{Terms, rarity};
use crate::source::{Question, Snippet, SourceError, Speaker, stamps};

/// A smaller share of the question's weight than this is chance.
const FLOOR: f32 = 0.05;

/// A row of one of the tables.
pub(super) struct Found {
    table: usize,
    row: Fetched,
}

struct Fetched {
    id: String,
    title: String,
    text: String,
    at: Option<DateTime<Utc>>,
    importance: Option<f64>,
    project: Option<String>,
    tags: Option<String>,
    entity_kind: Option<String>,
}

/// How often terms occur: in the tables as the indexes count, and in the newest rows.
pub(super) struct Counts {
    /// Rows that could be counted, as far as known.
    pub rows: f64,
    /// Rows with each term.
    pub with: Vec<f64>,
}

/// Reads a row as every search selects it: the number of its table, then eight columns.
pub(super) fn found(row: &PgRow) -> Result<Found, SourceError> {
    let read = || -> Result<Found, sqlx::Error> {
        let table: i32 = row.try_get(0)?;
        let at: Option<String> = row.try_get(4)?;
        Ok(Found {
            table: usize::try_from(table).unwrap_or_default(),
            row: Fetched {
                id: row.try_get::<Option<String>, _>(1)?.unwrap_or_default(),
                title: row.try_get::<Option<String>, _>(2)?.unwrap_or_default(),
                text: row.try_get::<Option<String>, _>(3)?.unwrap_or_default(),
                at: at.as_deref().and_then(stamps::from_text),
                importance: row.try_get(5)?,
                project: row.try_get(6)?,
                tags: row.try_get(7)?,
                entity_kind: row.try_get(8)?,
            },
        })
    };
    read().map_err(|e| failure::asking(&e))
}

/// The rows as snippets, best first: each scored over its whole text by the rarity of what it contains.
pub(super) fn ranked(
    found: Vec<Found>,
    schema: &Schema,
    terms: &Terms,
    counts: &Counts,
    source: &str,
    question: &Question,
    limit: usize,
) -> Vec<Snippet> {
    let weights: Vec<f64> = counts.with.iter().map(|with| rarity(counts.rows, *with)).collect();
    let mut snippets: HashMap<String, Snippet> = HashMap::new();
    for Found { table, row } in found {
        let score = terms.score(&weights, &row.title, &row.text);
        let text = row.text.trim();
        if score < FLOOR || text.is_empty() {
            continue;
        }
        let prefix = schema.tables.get(table).map_or("", |t| t.prefix);
        let snippet = Snippet {
            source: source.to_owned(),
            id: format!("{prefix}{}", row.id),
            project: project_of(&row, question),
            title: row.title,
            text: text.to_owned(),
            at: row.at,
            speaker: Speaker::Store,
            session: None,
            score,
            #[expect(clippy::cast_possible_truncation, reason = "an importance in 0..=1")]
            importance: row.importance.filter(|i| i.is_finite()).map(|i| i.clamp(0.0, 1.0) as f32),
        };
        // One text said more than once is one memory: the live row before an archived copy, then the newest.
        let rank = |s: &Snippet| (s.id.starts_with("archive/"), std::cmp::Reverse(s.at));
        match snippets.get(&snippet.text) {
            Some(old) if rank(old) <= rank(&snippet) => {}
            _ => {
                snippets.insert(snippet.text.clone(), snippet);
            }
        }
    }
    let mut snippets: Vec<Snippet> = snippets.into_values().collect();
    snippets.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)).then_with(|| a.id.cmp(&b.id))
    });
    snippets.truncate(limit);
    snippets
}

/// A row belongs to a project by its own word, by a tag or by being about it.
fn project_of(row: &Fetched, question: &Question) -> Option<String> {
    if let Some(project) = row.project.as_deref().map(str::trim).filter(|p| !p.is_empty()) {
        return Some(project.to_owned());
    }
    let name = question.project_name.to_lowercase();
    let tagged = row.tags.iter().flat_map(|t| t.split('\u{1f}')).any(|t| t.to_lowercase() == name);
    if !name.is_empty() && (tagged || row.title.to_lowercase() == name) {
        return Some(question.project.clone());
    }
    let about_project = row.entity_kind.as_deref().is_some_and(|k| k.eq_ignore_ascii_case("project"));
    about_project.then(|| row.title.clone())
}

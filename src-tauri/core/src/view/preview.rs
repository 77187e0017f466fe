//! A briefing as a window shows it: its lines under their headings, what was left out, what is another since this
//! folder's last spawn.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::{DateTime, NaiveDate, Utc};

use super::markdown;
use crate::host::Host;
use crate::marks::Mark;
use crate::spawn::briefing::changes::{Change, Gone, Why};
use crate::spawn::briefing::estimate_tokens;
use crate::spawn::preview::Previewed;
use crate::wire::door::{self, BriefingLine, Preview, Section, Settled};
use crate::wire::{self, Line, SourceReport};

/// What a preview is made of beside the briefing itself.
#[derive(Debug, Clone)]
pub struct Around<'a> {
    /// The machine: for how paths are shown.
    pub host: &'a Host,
    /// What was typed, and where in it the folder was found, in bytes.
    pub typed: (&'a str, Option<Range<usize>>),
    /// Names of live agents in that folder.
    pub neighbours: Vec<String>,
}

/// The preview.
pub fn preview(made: &Previewed, around: Around<'_>) -> Preview {
    let brief = &made.brief;
    let briefing = &brief.briefing;
    let lines: Vec<Line> = briefing.lines.iter().map(Line::from).collect();
    let (delivered, left_out): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(|l| l.left_out.is_none());
    let changes = brief.changes.as_ref();
    let change = |line: &Line| changes?.of(&line.source, &line.id);
    let shown = |line: Line| {
        let change = change(&line);
        let before = change.and_then(|change| match change {
            Change::Changed { before } => Some(before.clone()),
            Change::New => None,
        });
        BriefingLine {
            change: change.map(|c| word(c).into()),
            before,
            mark: mark(&line),
            used_at: None,
            line,
        }
    };
    let mut sections: Vec<Section> = Vec::new();
    for (title, line) in under_headings(&briefing.markdown, delivered) {
        match sections.last_mut().filter(|section| section.title == title) {
            Some(section) => section.lines.push(shown(line)),
            None => sections.push(Section { title, lines: vec![shown(line)] }),
        }
    }
    let ms: u64 =
        brief.steps.iter().map(|step| u64::try_from(step.took.as_millis()).unwrap_or(u64::MAX)).sum();
    let (text, found) = around.typed;
    Preview {
        name: brief.topic.name.clone(),
        folder: brief.topic.folder.to_string_lossy().into_owned(),
        shown: around.host.display(&brief.topic.folder),
        found: found.and_then(|range| utf16(text, &range)),
        settled: Settled {
            permission: made.permission.name().into(),
            delivery: made.delivery.name().into(),
            terminal: made.terminal.clone(),
            agent: made.agent.kind.into(),
            budget: small(made.budget),
        },
        sources: brief.gathered.reports.iter().map(SourceReport::from).collect(),
        sections,
        left_out: left_out
            .into_iter()
            .map(|line| BriefingLine { change: None, before: None, mark: mark(&line), used_at: None, line })
            .collect(),
        gone: changes.iter().flat_map(|changes| &changes.gone).map(gone).collect(),
        compared_with: changes.map(|changes| changes.since),
        html: markdown::html(&briefing.markdown),
        tokens: small(briefing.tokens),
        price: brief.price(),
        self_warming: briefing.self_warming,
        neighbours: around.neighbours,
        trust: made.trust.clone(),
        ms: u32::try_from(ms).unwrap_or(u32::MAX),
        markdown: briefing.markdown.clone(),
    }
}

fn mark(line: &Line) -> Option<door::Mark> {
    line.marked.and_then(Mark::from_name).map(door::Mark::from)
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A stretch of bytes as one of UTF-16 units, as JavaScript counts.
fn utf16(text: &str, bytes: &Range<usize>) -> Option<(u32, u32)> {
    let units = |end: usize| text.get(..end).map(|part| small(part.encode_utf16().count()));
    Some((units(bytes.start)?, units(bytes.end)?))
}

/// Each delivered line with the heading it stands under. Lines come in document order.
fn under_headings(markdown: &str, lines: Vec<Line>) -> Vec<(String, Line)> {
    let mut rest = 0;
    let mut title = String::new();
    let mut placed = Vec::new();
    for line in lines {
        let found = markdown.get(rest..).and_then(|tail| tail.find(&line.text)).map(|at| rest + at);
        if let Some(at) = found {
            let passed = markdown.get(rest..at).unwrap_or_default();
            if let Some(heading) = passed.lines().rev().find_map(|line| line.strip_prefix("## ")) {
                title = heading.trim().to_string();
            }
            rest = at + line.text.len();
        }
        placed.push((title.clone(), line));
    }
    placed
}

/// A delivered line as it can be read back from a document.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cited {
    source: String,
    id: String,
    at: Option<DateTime<Utc>>,
    text: String,
}

/// Lines that end in a citation, by it: `- text [source · date · id]`.
fn cited(markdown: &str) -> BTreeMap<String, Cited> {
    let mut found = BTreeMap::new();
    for line in markdown.lines().map(str::trim_end) {
        let Some((text, citation)) =
            line.strip_prefix("- ").and_then(|line| line.strip_suffix(']')).and_then(|l| l.rsplit_once(" ["))
        else {
            continue;
        };
        let mut parts = citation.splitn(3, " · ");
        let (Some(source), Some(date), Some(id)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let day = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok();
        let at = day.and_then(|day| day.and_hms_opt(0, 0, 0)).map(|at| at.and_utc());
        let cited = Cited { source: source.into(), id: id.into(), at, text: text.trim().into() };
        found.insert(format!("{source} · {id}"), cited);
    }
    found
}

/// Name of what a line is against the last briefing.
fn word(change: &Change) -> &'static str {
    match change {
        Change::New => "new",
        Change::Changed { .. } => "changed",
    }
}

/// A line of the last briefing with the reason why it is gone.
fn gone(gone: &Gone) -> BriefingLine {
    let kept = &gone.line;
    let because = match &gone.why {
        Why::LeftOut(_, because) => because.as_ref(),
        _ => None,
    };
    let line = Line {
        source: kept.source.clone(),
        id: kept.id.clone(),
        at: kept.at,
        text: kept.text.clone(),
        score: kept.score,
        tokens: kept.tokens,
        left_out: Some(wire::marks::why(&gone.why)),
        because: because.map(|by| wire::Cited { source: by.source.clone(), id: by.id.clone() }),
        marked: None,
    };
    BriefingLine { line, change: None, before: None, mark: None, used_at: None }
}

fn read_back(cited: &Cited) -> BriefingLine {
    let line = Line {
        source: cited.source.clone(),
        id: cited.id.clone(),
        at: cited.at,
        text: cited.text.clone(),
        // The document does not say how relevant a line was.
        score: 0.0,
        tokens: estimate_tokens(&cited.text),
        left_out: None,
        because: None,
        marked: None,
    };
    BriefingLine { line, change: None, before: None, mark: None, used_at: None }
}

/// The lines of a briefing as it was delivered, in document order, without their scores: those are not kept.
pub fn delivered(markdown: &str) -> Vec<BriefingLine> {
    let mut lines: Vec<Cited> = cited(markdown).into_values().collect();
    lines.sort_by_key(|cited| markdown.find(&cited.text));
    lines.iter().map(read_back).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "# Context briefing\n\n## Known facts\n- tests run with `make t` [facts · 2026-11-02 · 17]\n\
        - the cache is at /tmp [facts · 2026-11-02 · 18]\n\n## What happened in earlier sessions\n\
        - fixed the [login] page [history · undated · u1]\n";

    fn line(text: &str) -> Line {
        Line {
            source: "facts".into(),
            id: "1".into(),
            at: None,
            text: text.into(),
            score: 0.5,
            tokens: 4,
            left_out: None,
            because: None,
            marked: None,
        }
    }

    #[test]
    fn lines_stand_under_the_heading_they_have_in_the_document() {
        let lines = ["tests run with `make t`", "the cache is at /tmp", "fixed the [login] page"].map(line);
        let placed = under_headings(BEFORE, lines.to_vec());
        let titles: Vec<&str> = placed.iter().map(|(title, _)| title.as_str()).collect();
        assert_eq!(titles, ["Known facts", "Known facts", "What happened in earlier sessions"]);
    }

    #[test]
    fn a_document_is_read_back() {
        let read: Vec<String> = delivered(BEFORE).into_iter().map(|line| line.line.id).collect();
        assert_eq!(read, ["17", "18", "u1"]);
    }

    #[test]
    fn where_the_folder_was_found_is_counted_as_javascript_counts() {
        let text = "修复 😀 in ~/code/api now";
        let at = text.find('~').unwrap();
        assert_eq!(utf16(text, &(at..at + 10)), Some((9, 19)));
        assert_eq!(utf16(text, &(1..2)), None);
    }
}

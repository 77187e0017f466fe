//! What is another in a briefing since the last one of the same folder. Pure.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::similar::{self, Shape};
use super::words;
use crate::registry::briefings::{Briefed, Kept};
use crate::spawn::passed::{Briefing, Cited, LeftOut, Line, SourceReport, SourceState};

/// What a delivered line is against the last briefing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    New,
    /// It says something else, or has superseded something since, or was superseded.
    Changed {
        /// What it said.
        before: String,
    },
}

/// Why a line of the last briefing is not in this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It was considered and left out.
    LeftOut(LeftOut, Option<Cited>),
    /// Its store answered without it.
    NotFound,
    /// Its store did not answer, which says nothing about it.
    NoAnswer,
    /// Its store was not asked.
    NotAsked,
    /// The user took it out of the document.
    Edited,
}

/// A line of the last briefing that is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct Gone {
    /// The line as it was delivered.
    pub line: Kept,
    /// Why it is gone.
    pub why: Why,
}

/// What is another.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// When the last briefing was composed.
    pub since: DateTime<Utc>,
    /// Registry id of the agent that got it.
    pub agent: String,
    /// It had been edited.
    pub edited: bool,
    /// The lines that are new or changed.
    pub of: BTreeMap<Cited, Change>,
    /// Lines that are gone, in the order in which they stood.
    pub gone: Vec<Gone>,
}

impl Changes {
    /// What a line of this briefing is; `None` for one that is as it was.
    pub fn of(&self, source: &str, id: &str) -> Option<&Change> {
        self.of.get(&Cited { source: source.into(), id: id.into() })
    }

    /// For a question that is another than the last one: a store that is asked something else answers something else.
    /// Gone is then only what is gone whatever is asked.
    #[must_use]
    pub fn of_another_question(mut self) -> Self {
        use LeftOut::{Dropped, Never, Quarantined, Superseded};
        let whatever = |why: &Why| matches!(why, Why::LeftOut(Dropped | Never | Quarantined | Superseded, _));
        self.gone.retain(|gone| whatever(&gone.why));
        self
    }

    /// Nothing is another.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty() && self.gone.is_empty()
    }
}

/// Whether a question is nearly the last one: letter for letter, or in nearly the same words. `None` is an agent that was given
/// nothing to do, which is asked what its folder says.
pub fn same_question(before: Option<&str>, now: Option<&str>) -> bool {
    let (Some(before), Some(now)) = (before, now) else { return before.is_none() && now.is_none() };
    let shape = |text: &str| Shape::of(text, &words::content(text).into_iter().collect());
    similar::letters(before) == similar::letters(now) || shape(before).repeats(&shape(now))
}

/// The lines that the agent gets, for next time: of an edited document those whose citation still stands in it.
pub fn kept(briefing: &Briefing) -> Vec<Kept> {
    delivered(briefing).map(keep).collect()
}

fn delivered(briefing: &Briefing) -> impl Iterator<Item = &Line> {
    let stands = |line: &&Line| !briefing.edited || cites(&briefing.markdown, line);
    briefing.lines.iter().filter(|line| line.left_out.is_none()).filter(stands)
}

fn cites(document: &str, line: &Line) -> bool {
    document.contains(&super::render::citation(&line.source, line.at, &line.id))
}

fn keep(line: &Line) -> Kept {
    Kept {
        source: line.source.clone(),
        id: line.id.clone(),
        at: line.at,
        text: line.text.clone(),
        score: line.score,
        tokens: line.tokens,
        content: line.content.clone(),
        supersedes: line.supersedes,
        pinned: line.mark == Some(crate::marks::Mark::Pin),
    }
}

/// Compares a briefing with the last one of its folder; `reports` say how the stores fared this time. A line is known by
/// source and id, else by what it says. One that was cut to what bears on its question may be cut elsewhere this time:
/// that alone is no change.
pub fn changes(before: &Briefed, now: &Briefing, reports: &[SourceReport]) -> Changes {
    let mut of = BTreeMap::new();
    for line in delivered(now) {
        let there = before.lines.iter().find(|kept| same_place(kept, line));
        let change = match there.or_else(|| before.lines.iter().find(|kept| same_words(kept, line))) {
            None => Change::New,
            Some(kept) if kept.supersedes != line.supersedes || says_else(kept, line) => {
                Change::Changed { before: kept.text.clone() }
            }
            Some(_) => continue,
        };
        of.insert(Cited { source: line.source.clone(), id: line.id.clone() }, change);
    }
    let there = |kept: &&Kept| !delivered(now).any(|line| same_place(kept, line) || same_words(kept, line));
    let gone = before.lines.iter().filter(there);
    let gone = gone.map(|kept| Gone { line: kept.clone(), why: why(kept, now, reports) }).collect();
    Changes { since: before.at, agent: before.agent.clone(), edited: before.edited, of, gone }
}

fn same_place(kept: &Kept, line: &Line) -> bool {
    kept.source == line.source && kept.id == line.id
}

fn same_words(kept: &Kept, line: &Line) -> bool {
    !kept.content.is_empty() && kept.content == line.content
}

fn says_else(kept: &Kept, line: &Line) -> bool {
    let cut = |text: &str| text.contains('…');
    kept.content != line.content && !cut(&kept.text) && !cut(&line.text) && kept.text != line.text
}

fn why(kept: &Kept, now: &Briefing, reports: &[SourceReport]) -> Why {
    let considered = now.lines.iter().find(|line| same_place(kept, line));
    let considered = considered.or_else(|| now.lines.iter().find(|line| same_words(kept, line)));
    if let Some(line) = considered {
        return line.left_out.map_or(Why::Edited, |reason| Why::LeftOut(reason, line.because.clone()));
    }
    match reports.iter().find(|report| report.name == kept.source).map(|report| &report.state) {
        None => Why::NotAsked,
        Some(SourceState::Ok(_) | SourceState::Empty) => Why::NotFound,
        Some(SourceState::Unavailable(_) | SourceState::TimedOut(_)) => Why::NoAnswer,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::marks::tests::{line, marked};
    use crate::spawn::briefing::edited;

    fn one(id: &str, text: &str) -> Line {
        line(&marked(None, crate::marks::Mark::Pin, "facts", id, text).memory)
    }

    fn briefing(lines: Vec<Line>) -> Briefing {
        let said =
            |l: &Line| format!("- “{}” {}\n", l.text, super::super::render::citation(&l.source, l.at, &l.id));
        let markdown: String = lines.iter().filter(|l| l.left_out.is_none()).map(said).collect();
        Briefing { markdown, hash: String::new(), tokens: 1, lines, self_warming: false, edited: false }
    }

    fn before(lines: &[Line]) -> Briefed {
        Briefed {
            agent: "a1".into(),
            folder: "/w/api".into(),
            at: DateTime::UNIX_EPOCH,
            edited: false,
            lines: kept(&briefing(lines.to_vec())),
        }
    }

    fn answered(state: SourceState) -> Vec<SourceReport> {
        vec![SourceReport { name: "facts".into(), state, took: Duration::ZERO, note: None }]
    }

    #[test]
    fn the_same_briefing_has_no_changes() {
        let lines = [one("1", "a claim"), one("2", "another")];
        let changes = changes(&before(&lines), &briefing(lines.to_vec()), &[]);
        assert!(changes.is_empty(), "{changes:#?}");
    }

    #[test]
    fn new_changed_and_gone_lines_are_told_apart() {
        let was =
            [one("1", "port is 5432"), one("2", "stays"), one("3", "moved to another id"), one("4", "old")];
        let mut superseded = one("4", "old");
        superseded.left_out = Some(LeftOut::Superseded);
        superseded.because = Some(Cited { source: "facts".into(), id: "5".into() });
        let now = vec![
            one("1", "port is 5433"),
            one("2", "stays"),
            one("33", "Moved to another id."),
            one("5", "new one"),
            superseded,
        ];
        let changes = changes(&before(&was), &briefing(now), &answered(SourceState::Ok(4)));
        assert_eq!(changes.of("facts", "1"), Some(&Change::Changed { before: "port is 5432".into() }));
        assert_eq!(changes.of("facts", "2"), None);
        assert_eq!(changes.of("facts", "33"), None, "known by what it says");
        assert_eq!(changes.of("facts", "5"), Some(&Change::New));
        let why = &changes.gone[0].why;
        let by = Cited { source: "facts".into(), id: "5".into() };
        assert_eq!((changes.gone.len(), why), (1, &Why::LeftOut(LeftOut::Superseded, Some(by))));
    }

    #[test]
    fn for_another_question_only_what_no_question_brings_back_is_gone() {
        let mut never = one("3", "silenced");
        never.left_out = Some(LeftOut::Never);
        let mut far = one("2", "about the cache");
        far.left_out = Some(LeftOut::Irrelevant);
        let was = [one("1", "about the login"), one("2", "about the cache"), one("3", "silenced")];
        let changes = changes(&before(&was), &briefing(vec![far, never]), &answered(SourceState::Ok(2)));
        assert_eq!(changes.gone.len(), 3);
        let gone = changes.of_another_question().gone;
        assert_eq!(gone.iter().map(|gone| gone.line.id.as_str()).collect::<Vec<_>>(), ["3"]);
    }

    #[test]
    fn a_question_is_the_same_in_nearly_the_same_words() {
        let same = |before, now| same_question(Some(before), Some(now));
        assert!(same("Fix the login redirect!", "fix login redirect"));
        assert!(!same("fix the login redirect", "write the release notes"));
        assert!(!same("look into issue 12", "look into issue 13"));
        assert!(same("修复登录", "修复登录。") && !same("修复登录", "支付对账"));
        assert!(same_question(None, None) && !same_question(None, Some("fix login")));
    }

    #[test]
    fn a_line_that_is_cut_elsewhere_is_no_change() {
        let was = [one("1", "…the cookie is Lax.…")];
        let changes = changes(&before(&was), &briefing(vec![one("1", "The login broke.…")]), &[]);
        assert!(changes.is_empty(), "{changes:#?}");
    }

    #[test]
    fn a_store_that_was_silent_is_not_one_that_forgot() {
        let was = before(&[one("1", "a claim")]);
        let gone =
            |reports: &[SourceReport]| changes(&was, &briefing(Vec::new()), reports).gone[0].why.clone();
        assert_eq!(gone(&answered(SourceState::Empty)), Why::NotFound);
        assert_eq!(gone(&answered(SourceState::TimedOut(Duration::from_secs(1)))), Why::NoAnswer);
        assert_eq!(gone(&[]), Why::NotAsked);
    }

    #[test]
    fn what_the_user_took_out_of_the_document_was_not_delivered() {
        let whole = briefing(vec![one("1", "a claim"), one("2", "another")]);
        let rest: String = whole.markdown.lines().skip(1).collect();
        let edited = edited(&whole, &rest).unwrap();
        assert_eq!(kept(&edited).iter().map(|k| k.id.as_str()).collect::<Vec<_>>(), ["2"]);
        let changes = changes(&before(&whole.lines), &edited, &[]);
        assert_eq!(changes.gone[0].why, Why::Edited);
    }
}

//! What the user decided about single memories: pinned, dropped or never again, in one project or everywhere.
//!
//! A mark recognises its memory by source and id, and where those have changed by what it says, so that the same
//! statement from another store or a new index is the same memory. Which of several marks counts is decided here; what
//! it does to a briefing is the briefing's work. Nothing here asks a store for anything unless the user names a topic.

pub mod shown;
mod verbs;

pub use verbs::{Named, find, find_cited, list, mark, project_of, scope_of, undo, undo_all, undo_cited};

use std::cmp::Ordering;
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::source::Snippet;

/// What was decided about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// In every briefing of the project, before others and within the budget, also where no store returns it.
    Pin,
    /// Out of briefings until one spawn was made without it, and of less weight afterwards.
    Drop,
    /// In no briefing, reminder or answer.
    Never,
}

impl Mark {
    /// Name in rows, options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Pin => "pin",
            Mark::Drop => "drop",
            Mark::Never => "never",
        }
    }

    /// The mark of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Mark::Pin, Mark::Drop, Mark::Never].into_iter().find(|mark| mark.name() == name)
    }
}

/// Where a mark holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// In every project.
    Everywhere,
    /// In one, by its identity (see [`crate::project::Project::id`]).
    Project(String),
}

impl Scope {
    /// The project, where it is one.
    pub fn project(&self) -> Option<&str> {
        match self {
            Scope::Everywhere => None,
            Scope::Project(id) => Some(id),
        }
    }
}

/// One mark with the memory it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    /// Where it holds.
    pub scope: Scope,
    /// What was decided.
    pub mark: Mark,
    /// How often it was dropped; 1 for other marks.
    pub times: u32,
    /// Dropped, and no spawn has been made without it since.
    pub pending: bool,
    /// The memory as it was then, secrets taken out.
    pub memory: Snippet,
    /// What it says, as one fingerprint (see [`crate::spawn::briefing::fingerprint`]); empty when it says nothing.
    pub content: String,
    /// When it was decided.
    pub at: DateTime<Utc>,
}

/// What the marks come to for one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is always said.
    Pinned,
    /// It was dropped so often.
    Dropped {
        /// How often.
        times: u32,
        /// It is left out altogether, since no spawn has been made without it yet.
        pending: bool,
    },
    /// It is never said.
    Never,
}

impl Verdict {
    /// The mark it comes from.
    pub fn mark(self) -> Mark {
        match self {
            Verdict::Pinned => Mark::Pin,
            Verdict::Dropped { .. } => Mark::Drop,
            Verdict::Never => Mark::Never,
        }
    }
}

/// All marks that hold in one project.
///
/// *Never* wins over everything, wherever it was said. Between the others a decision for this project goes before one
/// for all, and then a pin before a drop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Marks {
    rows: Vec<Marked>,
    /// The rows in the order of source and id. Every memory that a store returns is looked up, and over the years the
    /// marks become many.
    by_place: Vec<usize>,
    /// Those that say something, in the order of what they say.
    by_content: Vec<usize>,
}

/// No marks at all.
pub static NONE: Marks = Marks { rows: Vec::new(), by_place: Vec::new(), by_content: Vec::new() };

impl Marks {
    /// Those of the rows that hold in that project, in an order of their own.
    pub fn in_force(mut rows: Vec<Marked>, project: &str) -> Self {
        rows.retain(|row| row.scope.project().is_none_or(|id| id == project));
        rows.sort_by(|a, b| (&a.scope, place(a)).cmp(&(&b.scope, place(b))));
        Self::of(rows)
    }

    fn of(rows: Vec<Marked>) -> Self {
        let mut by_place: Vec<usize> = (0..rows.len()).collect();
        by_place.sort_by_key(|row| place(&rows[*row]));
        let mut by_content: Vec<usize> =
            (0..rows.len()).filter(|row| !rows[*row].content.is_empty()).collect();
        by_content.sort_by_key(|row| &rows[*row].content);
        Self { rows, by_place, by_content }
    }

    /// Only what must not be said: for answers to a question, which nothing is pinned to or dropped from.
    #[must_use]
    pub fn only_never(self) -> Self {
        Self::of(self.rows.into_iter().filter(|row| row.mark == Mark::Never).collect())
    }

    /// Without pins: for what is told to an agent that has had its briefing.
    #[must_use]
    pub fn without_pins(self) -> Self {
        Self::of(self.rows.into_iter().filter(|row| row.mark != Mark::Pin).collect())
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What they come to for a memory; `content` is the fingerprint of what it says.
    pub fn verdict(&self, source: &str, id: &str, content: &str) -> Option<Verdict> {
        let here = run(&self.by_place, |row| place(&self.rows[row]).cmp(&(source, id)));
        let same = run(&self.by_content, |row| self.rows[row].content.as_str().cmp(content));
        let about = here.iter().chain(same).map(|row| &self.rows[*row]);
        let decided = about.min_by_key(|row| {
            let never = row.mark != Mark::Never;
            (never, row.scope == Scope::Everywhere, row.mark, !row.pending, u32::MAX - row.times)
        })?;
        Some(match decided.mark {
            Mark::Pin => Verdict::Pinned,
            Mark::Drop => Verdict::Dropped { times: decided.times, pending: decided.pending },
            Mark::Never => Verdict::Never,
        })
    }

    /// Pinned memories, each once, in an order that does not depend on chance. Those of which another mark wins are not
    /// among them.
    pub fn pins(&self) -> impl Iterator<Item = &Snippet> {
        let mut told: BTreeSet<&str> = BTreeSet::new();
        let pins = self.rows.iter().filter(|row| {
            row.mark == Mark::Pin
                && self.verdict(&row.memory.source, &row.memory.id, &row.content) == Some(Verdict::Pinned)
        });
        // Pinned here and everywhere, or from two stores, it is still one memory.
        let once: Vec<&Snippet> = pins
            .filter(|row| row.content.is_empty() || told.insert(&row.content))
            .map(|row| &row.memory)
            .collect();
        once.into_iter()
    }
}

/// Where a mark's memory is: source and id.
fn place(row: &Marked) -> (&str, &str) {
    (&row.memory.source, &row.memory.id)
}

fn is_about(row: &Marked, source: &str, id: &str, content: &str) -> bool {
    place(row) == (source, id) || (!content.is_empty() && row.content == content)
}

/// Of rows in such an order those that are equal.
fn run(rows: &[usize], order: impl Fn(usize) -> Ordering) -> &[usize] {
    let begin = rows.partition_point(|row| order(*row).is_lt());
    let length = rows[begin..].partition_point(|row| order(*row).is_eq());
    &rows[begin..begin + length]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::source::Speaker;
    use crate::spawn::briefing::fingerprint;

    pub(crate) fn host(home: &std::path::Path) -> crate::host::Host {
        crate::host::Host::at(home)
    }

    pub(crate) fn line(snippet: &Snippet) -> crate::spawn::passed::Line {
        crate::spawn::passed::Line {
            source: snippet.source.clone(),
            id: snippet.id.clone(),
            at: snippet.at,
            text: snippet.text.clone(),
            score: 1.0,
            tokens: 9,
            left_out: None,
            supersedes: None,
            because: None,
            mark: None,
            content: fingerprint(&snippet.text),
        }
    }

    pub(crate) fn marked(scope: Option<&str>, mark: Mark, source: &str, id: &str, text: &str) -> Marked {
        let memory = Snippet {
            source: source.into(),
            id: id.into(),
            title: String::new(),
            text: text.into(),
            at: DateTime::from_timestamp(1_790_000_000, 0),
            speaker: Speaker::Store,
            project: None,
            session: None,
            score: 0.0,
            importance: None,
        };
        Marked {
            scope: scope.map_or(Scope::Everywhere, |id| Scope::Project(id.into())),
            mark,
            times: 1,
            pending: false,
            content: fingerprint(text),
            memory,
            at: DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_memory_is_known_by_where_it_is_and_by_what_it_says() {
        let marks = Marks::in_force(vec![marked(None, Mark::Never, "facts", "17", "Port is 5432.")], "/p");
        let verdict = |source, id, text| marks.verdict(source, id, &fingerprint(text));
        assert_eq!(verdict("facts", "17", "something else by now"), Some(Verdict::Never));
        assert_eq!(verdict("chats", "c9", "port is **5432**"), Some(Verdict::Never));
        assert_eq!(verdict("chats", "17", "Port is 5433."), None);
        assert_eq!(verdict("chats", "c9", ""), None);
    }

    proptest::proptest! {
        #[test]
        fn of_many_marks_the_ones_about_a_memory_are_found(
            told in proptest::collection::vec((0..3_usize, "[a-c]", "[0-4]", "[x-z]?"), 0..40),
            (source, id, text) in ("[a-c]", "[0-4]", "[x-z]?"),
        ) {
            let marks = [Mark::Pin, Mark::Drop, Mark::Never];
            let rows: Vec<_> =
                told.iter().map(|(mark, source, id, text)| marked(None, marks[*mark], source, id, text)).collect();
            let content = fingerprint(&text);
            let about = |row: &&Marked| is_about(row, &source, &id, &content);
            let strongest = |mark: Mark| (mark != Mark::Never, mark);
            let expected = rows.iter().filter(about).map(|row| row.mark).min_by_key(|mark| strongest(*mark));
            let found = Marks::in_force(rows.clone(), "/p").verdict(&source, &id, &content);
            proptest::prop_assert_eq!(found.map(Verdict::mark), expected);
        }
    }

    #[test]
    fn a_mark_holds_in_its_project_and_never_wins_over_a_pin() {
        let rows = |here: Mark, all: Mark| {
            vec![
                marked(Some("/p"), here, "facts", "1", "a claim"),
                marked(None, all, "facts", "1", "a claim"),
                marked(Some("/other"), Mark::Never, "facts", "1", "a claim"),
            ]
        };
        let verdict =
            |here, all| Marks::in_force(rows(here, all), "/p").verdict("facts", "1", "").map(Verdict::mark);
        assert_eq!(verdict(Mark::Pin, Mark::Never), Some(Mark::Never));
        assert_eq!(verdict(Mark::Never, Mark::Pin), Some(Mark::Never));
        assert_eq!(verdict(Mark::Drop, Mark::Pin), Some(Mark::Drop), "here goes before everywhere");
        assert_eq!(verdict(Mark::Pin, Mark::Drop), Some(Mark::Pin));
    }

    #[test]
    fn a_memory_pinned_twice_is_one_and_one_that_is_never_said_is_no_pin() {
        let rows = vec![
            marked(Some("/p"), Mark::Pin, "facts", "1", "a claim"),
            marked(None, Mark::Pin, "chats", "c", "A claim!"),
            marked(None, Mark::Pin, "chats", "d", "another"),
            marked(None, Mark::Never, "facts", "9", "another"),
        ];
        let marks = Marks::in_force(rows, "/p");
        assert_eq!(marks.pins().map(|pin| pin.id.as_str()).collect::<Vec<_>>(), ["c"]);
    }
}

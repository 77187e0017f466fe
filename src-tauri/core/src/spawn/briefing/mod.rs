//! Turns what the stores said into the document an agent starts with: ranked, cited, within a token budget.
//!
//! Pure: the same topic, answers and options give the same bytes. Memory text is hostile until it has passed
//! [`clean`], and text that addresses the agent ([`quarantine`]) is never delivered. What is left out is returned too,
//! with the reason, so that the user can see it.

mod admit;
pub mod changes;
mod choose;
mod clean;
mod edited;
mod fit;
mod fuse;
mod only;
mod quarantine;
mod render;
mod similar;
mod tokens;
mod words;

use std::collections::BTreeSet;
use std::path::Path;

use chrono::{DateTime, Utc};

pub use self::edited::{edited, opened};
pub use self::fit::{Fitted, fit};
use self::fuse::Query;
pub use self::only::{holds, only};
pub use self::render::cited_as;
use self::render::{Detail, Frame, Section};
use self::similar::Shape;
pub use self::tokens::estimate as estimate_tokens;
use crate::capture::redact::redact;
use crate::host::files;
use crate::marks::{Marks, Verdict};
use crate::source::{Snippet, Speaker};
use crate::spawn::passed::{Briefing, Cited, Gathered, LeftOut, Line, Topic};

/// What the caller decides.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Tokens the whole document may cost, estimated. Below [`LEAST_BUDGET`] it counts as that.
    pub budget: usize,
    /// When the stores were asked.
    pub now: DateTime<Utc>,
    /// Path of our command, as the agent should call it.
    pub pao: &'a Path,
    /// What the user decided about single memories.
    pub marks: &'a Marks,
}

/// What the declaration, the state of the stores and the way to ask for more need at least.
pub const LEAST_BUDGET: usize = 400;

/// Longest text of a line, in characters: about sixty tokens of English, so that the default budget holds some
/// twenty-five memories rather than three conversations.
const LONGEST_TEXT: usize = 280;
const LONGEST_TITLE: usize = 60;

/// A memory on its way into the document.
struct Candidate<'a> {
    snippet: &'a Snippet,
    /// Neutral and whole; cut only when it is written down.
    text: String,
    title: String,
    /// Content words of the text, until [`rank`] takes them.
    words: BTreeSet<String>,
    shape: Shape,
    score: f64,
    left_out: Option<LeftOut>,
    /// Date of the newer statement that superseded it, or of the older one it supersedes.
    supersedes: Option<DateTime<Utc>>,
    /// Place of the newer statement among the candidates.
    superseded_by: Option<usize>,
    /// Place of the one that says the same.
    same_as: Option<usize>,
    /// What the user decided.
    verdict: Option<Verdict>,
    /// No store returned it this time: it is here because it is pinned.
    kept: bool,
    /// It is chosen before others: it is pinned, or replaces what is.
    first: bool,
    /// Fingerprint of `text`.
    content: String,
}

impl Candidate<'_> {
    fn pinned(&self) -> bool {
        self.verdict == Some(Verdict::Pinned)
    }

    /// Left out because the user said so.
    fn marked_out(&self) -> bool {
        matches!(self.left_out, Some(LeftOut::Never | LeftOut::Dropped))
    }
}

/// Compiles the patterns that [`compose`] needs, for a second thread while the stores are being asked; without it they
/// are compiled when first used.
pub fn compile_patterns() {
    quarantine::compile_patterns();
}

/// Composes the briefing.
pub fn compose(topic: &Topic, gathered: &Gathered, options: &Options<'_>) -> Briefing {
    let marks = options.marks;
    let mut candidates: Vec<Candidate<'_>> =
        gathered.snippets.iter().map(|snippet| prepare(snippet, marks)).collect();
    candidates.extend(missing_pins(&candidates, marks));
    let query = rank(&mut candidates, topic, options.now);
    choose::drop_repetitions(&mut candidates);
    choose::mark_superseded(&mut candidates);
    let held_back = candidates.iter().filter(|c| c.left_out == Some(LeftOut::Quarantined)).count();

    let budget = options.budget.max(LEAST_BUDGET);
    let mut frame = Frame {
        topic,
        gathered,
        pao: options.pao,
        now: options.now,
        held_back,
        self_warming: candidates.iter().all(|c| c.left_out.is_some()),
        detail: Detail::Full,
    };
    for detail in [Detail::Full, Detail::Short, Detail::Least] {
        frame.detail = detail;
        if frame.tokens() <= budget / 2 {
            break;
        }
    }
    let written: Vec<Written> = candidates.iter().map(|c| written(c, &query, topic)).collect();
    let chosen = choose::within(&mut candidates, &written, budget.saturating_sub(frame.tokens()));
    // Not one line had room: then the agent looks for itself.
    if chosen.is_empty() {
        frame.self_warming = true;
        if frame.tokens() > budget {
            frame.detail = Detail::Least;
        }
    }

    let mut markdown = frame.opening();
    let mut section = None;
    for &place in &chosen {
        let Some(line) = written.get(place) else { continue };
        if section != Some(line.section) {
            markdown.push_str(line.section.heading());
            section = Some(line.section);
        }
        markdown.push_str(&line.rendered);
    }
    markdown.push_str(&frame.closing());
    finish(markdown, &candidates, written, &chosen)
}

/// Text from outside as one harmless line of at most `most` characters, for a document that is put before an agent;
/// `None` where it addresses the agent and so must not be delivered at all, or says nothing.
pub fn neutral(text: &str, speaker: Speaker, most: usize) -> Option<String> {
    if quarantine::addresses_agent(text, speaker) {
        return None;
    }
    Some(clean::excerpt(&clean::line(text), most, &|_| 0.0)).filter(|line| !line.is_empty())
}

/// A line of a briefing as it stands in a document, with its citation.
pub fn cited(line: &Line) -> String {
    format!("{} {}", line.text, render::citation(&line.source, line.at, &line.id))
}

/// The source and id of every memory cited in a document of ours.
pub fn citations(document: &str) -> BTreeSet<(String, String)> {
    let cited = document.split('[').skip(1).filter_map(|part| part.split_once(']'));
    let parts = cited.filter_map(|(inner, _)| {
        let mut fields = inner.split(" · ");
        let (source, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        fields.next().is_none().then(|| (source.to_string(), id.to_string()))
    });
    parts.collect()
}

fn finish(
    markdown: String,
    candidates: &[Candidate<'_>],
    mut written: Vec<Written>,
    chosen: &[usize],
) -> Briefing {
    let mut order: Vec<usize> = chosen.to_vec();
    let mut rest: Vec<usize> = (0..candidates.len()).filter(|place| !chosen.contains(place)).collect();
    rest.sort_by(|&a, &b| choose::better(candidates, a, b));
    order.extend(rest);
    let lines = order
        .into_iter()
        .filter_map(|place| {
            let (candidate, written) = (candidates.get(place)?, written.get_mut(place)?);
            let because =
                candidate.superseded_by.or(candidate.same_as).and_then(|place| candidates.get(place));
            let because =
                because.map(|c| Cited { source: c.snippet.source.clone(), id: c.snippet.id.clone() });
            Some(Line { because, ..line(candidate, std::mem::take(written)) })
        })
        .collect();
    let hash = files::sha256(markdown.as_bytes());
    Briefing {
        hash,
        tokens: estimate_tokens(&markdown),
        lines,
        self_warming: chosen.is_empty(),
        markdown,
        edited: false,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "0..=1")]
fn line(candidate: &Candidate<'_>, written: Written) -> Line {
    Line {
        source: candidate.snippet.source.clone(),
        id: candidate.snippet.id.clone(),
        at: candidate.snippet.at,
        text: written.text,
        score: candidate.score as f32,
        tokens: written.tokens,
        left_out: candidate.left_out,
        supersedes: candidate.supersedes,
        because: None,
        mark: candidate.verdict.map(Verdict::mark),
        content: candidate.content.clone(),
    }
}

/// What a memory says as one fingerprint: letters and digits alone, so that neither case nor dress nor the store it is
/// in makes it another. Empty for what says nothing.
pub fn fingerprint(text: &str) -> String {
    fingerprint_of(&clean::line(text))
}

fn fingerprint_of(line: &str) -> String {
    let letters = similar::letters(line);
    if letters.is_empty() { String::new() } else { files::sha256(letters.as_bytes()) }
}

/// A memory's text as it may be kept: secrets taken out, nothing invisible in it.
pub fn keepable(text: &str) -> String {
    redact(&clean::visible(text)).into_owned()
}

/// Whether a memory addresses the agent, so that it is never delivered.
pub fn is_quarantined(snippet: &Snippet) -> bool {
    [&snippet.title, &snippet.text].into_iter().any(|text| quarantine::addresses_agent(text, snippet.speaker))
}

/// What is pinned and was not returned this time, neither by its id nor in other words' dress.
fn missing_pins<'a>(candidates: &[Candidate<'_>], marks: &'a Marks) -> Vec<Candidate<'a>> {
    let returned = |pin: &Candidate<'_>| {
        candidates.iter().any(|c| {
            (c.snippet.source == pin.snippet.source && c.snippet.id == pin.snippet.id)
                || (!pin.content.is_empty() && c.content == pin.content)
        })
    };
    let mut kept: Vec<Candidate<'a>> = marks.pins().map(|pin| prepare(pin, marks)).collect();
    kept.retain(|pin| !returned(pin));
    for pin in &mut kept {
        pin.kept = true;
    }
    kept
}

/// Cleans a memory and decides whether it may be delivered at all.
fn prepare<'a>(snippet: &'a Snippet, marks: &Marks) -> Candidate<'a> {
    let text = clean::line(&snippet.text);
    let content = fingerprint_of(&text);
    let verdict = marks.verdict(&snippet.source, &snippet.id, &content);
    let left_out = if is_quarantined(snippet) {
        Some(LeftOut::Quarantined)
    } else if verdict == Some(Verdict::Never) {
        Some(LeftOut::Never)
    } else if matches!(verdict, Some(Verdict::Dropped { pending: true, .. })) {
        Some(LeftOut::Dropped)
    } else if text.is_empty() {
        Some(LeftOut::Irrelevant)
    } else {
        None
    };
    let words = words::content(&text).into_iter().collect();
    Candidate {
        snippet,
        shape: Shape::of(&text, &words),
        words,
        title: clean::excerpt(&clean::line(&snippet.title), LONGEST_TITLE, &|_| 0.0),
        text,
        score: 0.0,
        left_out,
        supersedes: None,
        superseded_by: None,
        same_as: None,
        first: verdict == Some(Verdict::Pinned),
        verdict,
        kept: false,
        content,
    }
}

/// Scores what may be delivered and leaves out what does not bear on the question. What the user wants out, or what
/// only a pin brought in, changes nothing for the others.
fn rank(candidates: &mut [Candidate<'_>], topic: &Topic, now: DateTime<Utc>) -> Query {
    let (mut open, mut aside): (Vec<_>, Vec<_>) =
        candidates.iter_mut().partition(|c| c.left_out.is_none() && !c.kept);
    let words_of = |c: &mut Candidate<'_>| {
        let mut words = std::mem::take(&mut c.words);
        words.extend(words::content(&c.title));
        words
    };
    let words: Vec<BTreeSet<String>> = open.iter_mut().map(|c| words_of(c)).collect();
    let snippets: Vec<&Snippet> = open.iter().map(|c| c.snippet).collect();
    let query = Query::new(&topic.query, &words);
    let drops: Vec<u32> = open.iter().map(|c| drops(c.verdict)).collect();
    let fused = fuse::fuse(&query, &snippets, &words, &drops, &topic.project, now);
    for (candidate, fused) in open.iter_mut().zip(fused) {
        candidate.score = fused.score;
        if !fused.passes && !candidate.pinned() {
            candidate.left_out = Some(LeftOut::Irrelevant);
        }
    }
    for candidate in aside.iter_mut().filter(|c| c.kept || c.marked_out()) {
        let words = words_of(candidate);
        candidate.score = fuse::alone(&query, candidate.snippet, &words, &topic.project, now);
    }
    query
}

fn drops(verdict: Option<Verdict>) -> u32 {
    match verdict {
        Some(Verdict::Dropped { times, .. }) => times,
        _ => 0,
    }
}

/// A line as it would stand in the document.
#[derive(Debug, Default)]
struct Written {
    section: Section,
    text: String,
    rendered: String,
    tokens: usize,
}

fn written(candidate: &Candidate<'_>, query: &Query, topic: &Topic) -> Written {
    let snippet = candidate.snippet;
    let text = clean::excerpt(&candidate.text, LONGEST_TEXT, &|sentence| query.weigh(sentence));
    let superseded = candidate.superseded_by.is_some();
    let section = match snippet.speaker {
        _ if superseded => Section::Superseded,
        _ if candidate.pinned() => Section::Pinned,
        Speaker::User => Section::Said,
        Speaker::Store => Section::Facts,
        Speaker::Agent => Section::Sessions,
    };
    let who = match snippet.speaker {
        Speaker::User => "user said",
        Speaker::Agent => "agent said",
        Speaker::Store => "recorded",
    };
    let title = match (&candidate.title, snippet.speaker) {
        (title, _) if title.is_empty() => String::new(),
        (title, Speaker::Store) => format!(" of “{title}”"),
        (title, _) => format!(" in “{title}”"),
    };
    let elsewhere = match snippet.project.as_deref() {
        Some(other) if fuse::affinity(Some(other), &topic.project) == fuse::Affinity::Other => {
            let name = other.trim_end_matches('/').rsplit('/').next().unwrap_or(other);
            format!(" (another project: “{}”)", clean::excerpt(&clean::line(name), 40, &|_| 0.0))
        }
        _ => String::new(),
    };
    let replaced = match candidate.supersedes {
        Some(date) if superseded => format!(" — replaced by what was said on {}", date.format("%Y-%m-%d")),
        Some(date) => format!(" — replaces what was said on {}", date.format("%Y-%m-%d")),
        None => String::new(),
    };
    let citation = render::citation(&snippet.source, snippet.at, &snippet.id);
    let rendered = format!("- {who}{title}{elsewhere}: “{text}” {citation}{replaced}\n");
    Written { section, tokens: estimate_tokens(&rendered), text, rendered }
}

#[cfg(test)]
mod tests;

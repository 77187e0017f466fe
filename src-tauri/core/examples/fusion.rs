//! Measures fusion: how much of the evidence reaches a briefing of a given budget, by our fusion, by reciprocal rank
//! fusion with equal weights, and by the best single store. Run with `cargo run --release -p pao-core --example fusion`.
//!
//! DevMemBench's sessions are cut into turns and dealt to three stores that differ in what they hold, how well they
//! rank and on which scale they score: `history` (BM25 over two thirds of the sessions), `postgres` (shared words,
//! unweighted, over the other half with some overlap) and `worker` (all sessions, mostly noise). Evidence is a session
//! named relevant; it counts as delivered when at least one of its turns is.
//!
//! Then the same questions in words that no store knows, so that only a store that searches by meaning can answer. It
//! is imagined: noise like cosines', and one turn of each relevant session raised by so many standard deviations.

#![expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small counts and scores")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDate, Utc};
use pao_core::project::Project;
use pao_core::source::{Snippet, Speaker};
use pao_core::spawn::briefing::{Options, compose, estimate_tokens};
use pao_core::spawn::passed::{Gathered, SourceReport, SourceState, Topic};
use serde_json::Value;

/// What each store returns at most.
const EACH: usize = 12;

struct Turn {
    session: String,
    id: String,
    at: DateTime<Utc>,
    speaker: Speaker,
    text: String,
    words: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/eval/devmembench.json");
    let eval: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let turns = turns(&eval);
    let queries: Vec<(String, BTreeSet<String>)> = array(&eval, "queries")
        .iter()
        .map(|q| {
            (text(q, "text"), array(q, "relevant").iter().filter_map(Value::as_str).map(Into::into).collect())
        })
        .collect();
    println!(
        "{} turns of {} sessions, {} questions",
        turns.len(),
        array(&eval, "documents").len(),
        queries.len()
    );
    println!(
        "{:>7}  {:>6}  {:>6}  {:>12}  {:>8}  {:>8}  {:>8}",
        "budget", "ours", "rrf", "best single", "history", "postgres", "worker"
    );
    for budget in [500, 750, 1000, 2000] {
        let mut recall = BTreeMap::<&str, f64>::new();
        let mut asked = 0.0;
        let mut unanswerable = (0.0, 0usize, 0usize);
        let (mut right, mut lines) = (0usize, 0usize);
        let mut took = Duration::ZERO;
        for (question, relevant) in &queries {
            let stores = stores(&turns, question);
            let start = Instant::now();
            let (delivered, room) = ours(question, &stores, budget);
            took += start.elapsed();
            let rrf = fill(&rrf(&stores), room);
            if relevant.is_empty() {
                unanswerable =
                    (unanswerable.0 + 1.0, unanswerable.1 + delivered.len(), unanswerable.2 + rrf.len());
                continue;
            }
            asked += 1.0;
            right += delivered.iter().filter(|s| relevant.contains(*s)).count();
            lines += delivered.len();
            let share = |sessions: &[String]| {
                let hit = relevant.iter().filter(|r| sessions.contains(r)).count();
                hit as f64 / relevant.len() as f64
            };
            *recall.entry("ours").or_default() += share(&delivered);
            *recall.entry("rrf").or_default() += share(&rrf);
            for (name, list) in &stores {
                *recall.entry(name).or_default() += share(&fill(&list.iter().collect::<Vec<_>>(), room));
            }
        }
        let mean = |name: &str| recall.get(name).copied().unwrap_or(0.0) / asked;
        let best = ["history", "postgres", "worker"].map(mean).into_iter().fold(0.0, f64::max);
        println!(
            "{budget:>7}  {:>6.3}  {:>6.3}  {best:>12.3}  {:>8.3}  {:>8.3}  {:>8.3}   precision {:.2} of {:.1} lines; unanswerable: {:.1} lines (rrf {:.1}); {:.1} ms each",
            mean("ours"),
            mean("rrf"),
            mean("history"),
            mean("postgres"),
            mean("worker"),
            right as f64 / lines.max(1) as f64,
            lines as f64 / asked,
            unanswerable.1 as f64 / unanswerable.0,
            unanswerable.2 as f64 / unanswerable.0,
            took.as_secs_f64() * 1000.0 / queries.len() as f64,
        );
    }
    println!("by meaning alone, 2000 tokens");
    for raised in [0.0, 2.0, 4.0, 6.0] {
        let (mut found, mut lines, mut answered, mut noise) = (0.0, 0usize, 0.0, 0usize);
        for (question, relevant) in &queries {
            let (delivered, _) =
                ours(&foreign(question), &[("worker", meaning(&turns, question, relevant, raised))], 2000);
            if relevant.is_empty() {
                noise += delivered.len();
                continue;
            }
            answered += 1.0;
            lines += delivered.len();
            found += relevant.iter().filter(|r| delivered.contains(r)).count() as f64 / relevant.len() as f64;
        }
        println!(
            "{raised:>7}  {:>6.3} in {:.2} lines; unanswerable: {:.2} lines",
            found / answered,
            lines as f64 / answered,
            noise as f64 / (queries.len() as f64 - answered)
        );
    }
    Ok(())
}

/// The question in words that nobody has used.
fn foreign(question: &str) -> String {
    let turned = |c: char| match c {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        _ => c,
    };
    question.chars().map(turned).collect()
}

/// The answer of a store that searches by meaning.
fn meaning(turns: &[Turn], question: &str, relevant: &BTreeSet<String>, raised: f64) -> Vec<Snippet> {
    let mut scored: Vec<(f64, &Turn)> = turns
        .iter()
        .map(|turn| {
            // The sum of twelve uniform numbers is normal enough.
            let noise: f64 =
                (0..12).map(|n| f64::from(hash(&format!("{}{n}{question}", turn.id)) % 1000) / 1000.0).sum();
            let meant = relevant.contains(&turn.session) && turn.id.ends_with("/1");
            (0.3 + 0.05 * (noise - 6.0 + if meant { raised } else { 0.0 }), turn)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    scored.into_iter().take(EACH).map(|(score, turn)| snippet("worker", turn, score as f32)).collect()
}

fn hash(text: &str) -> u32 {
    text.bytes().fold(2_166_136_261_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(16_777_619))
}

/// Sessions of the lines our briefing delivers, and the tokens it had for lines.
fn ours(question: &str, stores: &[(&'static str, Vec<Snippet>)], budget: usize) -> (Vec<String>, usize) {
    let topic = Topic {
        prompt: Some(question.into()),
        query: question.into(),
        folder: PathBuf::from("/code/work"),
        project: Project {
            id: "/code/work".into(),
            name: "work".into(),
            worktree: None,
            git_dir: None,
            common_dir: None,
        },
        name: "work".into(),
    };
    let reports = stores
        .iter()
        .map(|(name, list)| SourceReport {
            name: (*name).into(),
            state: SourceState::Ok(list.len()),
            took: Duration::ZERO,
            note: None,
        })
        .collect();
    let snippets = stores.iter().flat_map(|(_, list)| list.clone()).collect();
    let options =
        Options { budget, now: date("2025-03-01"), pao: Path::new("pao"), marks: &pao_core::marks::NONE };
    let briefing = compose(&topic, &Gathered { reports, snippets }, &options);
    let lines = briefing.lines.iter().filter(|l| l.left_out.is_none());
    let spent: usize = lines.clone().map(|l| l.tokens).sum();
    let sessions = lines.map(|l| l.id.split('/').next().unwrap_or("").to_owned()).collect();
    (sessions, budget.saturating_sub(briefing.tokens - spent))
}

/// Sessions of the first memories that fit, each costing what a line of ours costs.
fn fill(ranked: &[&Snippet], mut room: usize) -> Vec<String> {
    let mut sessions = Vec::new();
    for snippet in ranked {
        let head: String = snippet.text.chars().take(280).collect();
        let line = format!("- user said: “{head}” [{} · 2025-01-01 · {}]\n", snippet.source, snippet.id);
        let Some(left) = room.checked_sub(estimate_tokens(&line)) else { continue };
        room = left;
        sessions.extend(snippet.session.clone());
    }
    sessions
}

/// Reciprocal rank fusion, k = 60, equal weights.
fn rrf<'a>(stores: &'a [(&'static str, Vec<Snippet>)]) -> Vec<&'a Snippet> {
    let mut fused: BTreeMap<&str, (f64, &'a Snippet)> = BTreeMap::new();
    for (_, list) in stores {
        for (rank, snippet) in list.iter().enumerate() {
            fused.entry(&snippet.id).or_insert((0.0, snippet)).0 += 1.0 / (61.0 + rank as f64);
        }
    }
    let mut ranked: Vec<(f64, &Snippet)> = fused.into_values().collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    ranked.into_iter().map(|(_, s)| s).collect()
}

fn stores(turns: &[Turn], question: &str) -> Vec<(&'static str, Vec<Snippet>)> {
    let asked = words(question);
    let length = turns.iter().map(|t| t.words.len() as f64).sum::<f64>() / turns.len() as f64;
    let bm25 = |turn: &Turn| -> f64 {
        asked
            .iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|w| {
                let df = turns.iter().filter(|t| t.words.contains(w)).count() as f64;
                let tf = turn.words.iter().filter(|x| *x == w).count() as f64;
                let idf = (1.0 + (turns.len() as f64 - df + 0.5) / (df + 0.5)).ln();
                idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * turn.words.len() as f64 / length))
            })
            .sum()
    };
    let shared = |turn: &Turn| {
        asked.iter().filter(|w| turn.words.contains(w)).count() as f64 / asked.len().max(1) as f64
    };
    let noise = |turn: &Turn| f64::from(hash(&format!("{}{question}", turn.id)) % 1000) / 1000.0;
    let best = |name: &'static str, holds: &dyn Fn(&Turn) -> bool, score: &dyn Fn(&Turn) -> f64| {
        let mut list: Vec<(f64, &Turn)> =
            turns.iter().filter(|t| holds(t)).map(|t| (score(t), t)).filter(|(s, _)| *s > 0.0).collect();
        list.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
        (name, list.into_iter().take(EACH).map(|(s, t)| snippet(name, t, s as f32)).collect())
    };
    vec![
        best("history", &|t| !hash(&t.session).is_multiple_of(3), &bm25),
        best("postgres", &|t| hash(&t.session).is_multiple_of(3) || hash(&t.session) % 5 == 1, &shared),
        best("worker", &|_| true, &|t| 0.5 + 0.35 * noise(t) + 0.01 * bm25(t)),
    ]
}

fn snippet(source: &str, turn: &Turn, score: f32) -> Snippet {
    Snippet {
        source: source.into(),
        id: turn.id.clone(),
        title: String::new(),
        text: turn.text.clone(),
        at: Some(turn.at),
        speaker: turn.speaker,
        project: None,
        session: Some(turn.session.clone()),
        score,
        importance: None,
    }
}

fn turns(eval: &Value) -> Vec<Turn> {
    let mut all = Vec::new();
    for document in array(eval, "documents") {
        let (session, at) = (text(document, "id"), date(&text(document, "date")));
        let whole = format!("\n{}", text(document, "text"));
        let marked = whole.replace("\nuser: ", "\u{1}u").replace("\nassistant: ", "\u{1}a");
        for (n, turn) in marked.split('\u{1}').filter(|t| t.len() > 1).enumerate() {
            let speaker = if turn.starts_with('u') { Speaker::User } else { Speaker::Agent };
            let said = turn[1..].trim().to_owned();
            let words = words(&format!("{} {said}", text(document, "title")));
            all.push(Turn {
                id: format!("{session}/{n}"),
                session: session.clone(),
                at,
                speaker,
                text: said,
                words,
            });
        }
    }
    all
}

/// Lower-case words without the commonest, endings cut roughly: what a plain store does.
fn words(text: &str) -> Vec<String> {
    const STOP: &str = " a an and are as at be by did do does for from how i in is it its of on or that the they this to was we were what when where which who why will with you ";
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty() && !STOP.contains(&format!(" {w} ")))
        .map(|w| w.trim_end_matches("ing").trim_end_matches("ed").trim_end_matches('s').to_owned())
        .collect()
}

fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn date(text: &str) -> DateTime<Utc> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").unwrap_or_default();
    day.and_hms_opt(12, 0, 0).unwrap_or_default().and_utc()
}

//! Measures how well questions are answered: `cargo run --release -p pao-recall --example eval -- FILE…`
//!
//! Each file is one JSON document of `documents` (`id`, `group`, `date`, `title`, `text` with one turn a line) and `queries`
//! (`group`, `type`, `text`, `relevant`), as `tests/fixtures/eval/devmembench.json`. LoCoMo in this form can be given the
//! same way; its licence does not allow to ship it. A plain BM25 over whole documents (Porter-like stemming, stop words cut,
//! OR) stands beside it as a baseline, answered from the same terms.

#![expect(clippy::cast_precision_loss, reason = "counts of questions")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::time::{Duration, Instant};

use pao_recall::{Index, Kind, Message, Query, query_terms, terms_of};
use serde::Deserialize;

#[derive(Deserialize)]
struct Set {
    name: String,
    documents: Vec<Document>,
    queries: Vec<Asked>,
}

#[derive(Deserialize)]
struct Document {
    id: String,
    group: String,
    date: String,
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct Asked {
    group: String,
    #[serde(rename = "type")]
    kind: String,
    text: String,
    relevant: Vec<String>,
}

/// Recall at 5 and 10, mean reciprocal rank, and how many questions they are of.
#[derive(Default, Clone, Copy)]
struct Score {
    at5: f64,
    at10: f64,
    mrr: f64,
    questions: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        return Err("give the files to measure on".into());
    }
    for file in files {
        let set: Set = serde_json::from_slice(&std::fs::read(&file)?)?;
        println!("{} — {} documents, {} questions", set.name, set.documents.len(), set.queries.len());
        println!("{:<28} {:>24} {:>36}", "", "pao-recall", "plain BM25");
        let (ours, took) = measure(&set)?;
        let (plain, plain_took) = baseline(&set);
        for (kind, score) in &ours {
            println!("{kind:<28} {} {}", row(*score), row(plain.get(kind).copied().unwrap_or_default()));
        }
        println!("per question: {took:.3} ms, baseline {plain_took:.3} ms\n");
    }
    Ok(())
}

fn row(s: Score) -> String {
    let n = s.questions.max(1.0);
    format!("  R@5 {:.3}  R@10 {:.3}  MRR {:.3}", s.at5 / n, s.at10 / n, s.mrr / n)
}

fn measure(set: &Set) -> Result<(BTreeMap<String, Score>, f64), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let mut groups: BTreeMap<&str, Index> = BTreeMap::new();
    for group in set.documents.iter().map(|d| d.group.as_str()).collect::<HashSet<_>>() {
        let mut index = Index::create(&dir.path().join(group), |_| {})?;
        let mut writer = index.writer()?;
        for document in set.documents.iter().filter(|d| d.group == group) {
            for message in messages(document) {
                writer.add(&message)?;
            }
            writer.flush()?;
        }
        writer.commit("")?;
        writer.finish()?;
        index.reload()?;
        groups.insert(group, index);
    }
    let mut took = Duration::ZERO;
    let mut scores = BTreeMap::new();
    for asked in set.queries.iter().filter(|q| !q.relevant.is_empty()) {
        let Some(index) = groups.get(asked.group.as_str()) else { continue };
        let started = Instant::now();
        let hits = index.search(&Query::new(&asked.text, 40))?;
        took += started.elapsed();
        let mut order: Vec<String> = Vec::new();
        for hit in hits {
            if !order.contains(&hit.message.session) {
                order.push(hit.message.session);
            }
        }
        add(&mut scores, asked, &order);
    }
    Ok((scores, took.as_secs_f64() * 1000.0 / set.queries.len() as f64))
}

fn messages(document: &Document) -> Vec<Message> {
    let message = |kind, text: &str, turn| Message {
        session: document.id.clone(),
        project: document.group.clone(),
        cwd: String::new(),
        branch: String::new(),
        at: 0,
        kind,
        text: text.to_owned(),
        file: document.id.clone(),
        uuid: String::new(),
        turn,
    };
    let mut all = vec![message(Kind::Title, &format!("{} {}", document.title, document.date), 0)];
    let mut turns: Vec<String> = Vec::new();
    for line in document.text.lines() {
        let speaks = line.split_once(": ").is_some_and(|(who, _)| {
            !who.contains(' ') && (who == "user" || who == "assistant" || who.starts_with(char::is_uppercase))
        });
        match turns.last_mut() {
            Some(last) if !speaks => {
                last.push('\n');
                last.push_str(line);
            }
            _ => turns.push(line.to_owned()),
        }
    }
    for (turn, text) in (1..).zip(&turns) {
        all.push(message(Kind::User, text, turn));
    }
    all
}

fn add(scores: &mut BTreeMap<String, Score>, asked: &Asked, order: &[String]) {
    let found = |n: usize| order.iter().take(n).filter(|id| asked.relevant.contains(id)).count() as f64;
    let of = asked.relevant.len() as f64;
    let first =
        order.iter().position(|id| asked.relevant.contains(id)).map_or(0.0, |at| 1.0 / (at + 1) as f64);
    for kind in ["all", &asked.kind] {
        let score = scores.entry(kind.to_owned()).or_default();
        score.at5 += found(5) / of;
        score.at10 += found(10) / of;
        score.mrr += first;
        score.questions += 1.0;
    }
}

fn baseline(set: &Set) -> (BTreeMap<String, Score>, f64) {
    type Bag = HashMap<String, f64>;
    let mut groups: HashMap<&str, Vec<(&str, Bag, f64)>> = HashMap::new();
    for document in &set.documents {
        let mut bag = Bag::new();
        for term in terms_of(&format!("{} {} {}", document.title, document.date, document.text)) {
            *bag.entry(term).or_default() += 1.0;
        }
        let length = bag.values().sum();
        groups.entry(&document.group).or_default().push((&document.id, bag, length));
    }
    let mut scores = BTreeMap::new();
    let started = Instant::now();
    for asked in set.queries.iter().filter(|q| !q.relevant.is_empty()) {
        let Some(documents) = groups.get(asked.group.as_str()) else { continue };
        let n = documents.len() as f64;
        let average = documents.iter().map(|d| d.2).sum::<f64>() / n;
        let mut ranked: Vec<(f64, &str)> = documents.iter().map(|d| (0.0, d.0)).collect();
        for term in query_terms(&asked.text) {
            let df = documents.iter().filter(|d| d.1.contains_key(&term)).count() as f64;
            let idf = ((n - df + 0.5) / (df + 0.5)).ln_1p();
            for (document, (score, _)) in documents.iter().zip(&mut ranked) {
                let tf = document.1.get(&term).copied().unwrap_or(0.0);
                *score += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * document.2 / average));
            }
        }
        ranked.retain(|(score, _)| *score > 0.0);
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let order: Vec<String> = ranked.into_iter().map(|(_, id)| id.to_owned()).collect();
        add(&mut scores, asked, &order);
    }
    (scores, started.elapsed().as_secs_f64() * 1000.0 / set.queries.len() as f64)
}

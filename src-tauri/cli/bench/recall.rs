//! Questions to the index: in one process that keeps it open, and by `pao recall`, where each opens it anew.

use std::time::{Duration, Instant};

use crate::figures::Report;
use crate::harness::world::{PAO, World};
use crate::talk::Talk;

const PART: &str = "recall";

/// Asks `times` questions of each kind.
pub fn measure(world: &World, talk: &mut Talk, times: usize, report: &mut Report) {
    let dir = world.path(".pao/history");
    let opened: Vec<_> = (0..times.min(20))
        .map(|_| {
            let started = Instant::now();
            drop(pao_recall::Index::open(&dir).unwrap());
            started.elapsed()
        })
        .collect();
    report.times(PART, "open the index", &opened, None);
    let index = pao_recall::Index::open(&dir).unwrap();
    for (name, least, most) in
        [("1 word", 1, 1), ("3 words", 3, 3), ("10 words", 10, 10), ("12 to 25 words", 12, 25)]
    {
        let (mut took, mut busy) = (Vec::new(), Vec::new());
        for _ in 0..times {
            let question = talk.question(least, most);
            let (started, before) = (Instant::now(), on_cpu());
            index.search(&pao_recall::Query::new(&question, 30)).unwrap();
            took.push(started.elapsed());
            busy.push(on_cpu().saturating_sub(before));
        }
        report.times(PART, &format!("ask, index open, {name}"), &took, None);
        report.times(PART, "  of it on the processor", &busy, None);
    }
    let (mut gathered, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..times.div_ceil(3) {
        let question = talk.question(4, 12);
        let mut pao = world.command(PAO);
        pao.args(["recall", "--json", "--source", "history", "--"]).arg(question);
        let started = Instant::now();
        let output = pao.output().unwrap();
        whole.push(started.elapsed());
        let recalled: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        gathered.push(Duration::from_millis(recalled["sources"][0]["ms"].as_u64().unwrap()));
    }
    report.times(PART, "pao recall: the source, opening included", &gathered, None);
    report.times(PART, "pao recall: the whole process", &whole, None);
    let version: Vec<_> = (0..times.min(30))
        .map(|_| {
            let started = Instant::now();
            world.command(PAO).arg("--version").output().unwrap();
            started.elapsed()
        })
        .collect();
    report.times(PART, "pao --version: the whole process", &version, None);
}

/// Time this thread was on a processor, where the system says: a busy machine does not count.
fn on_cpu() -> Duration {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(said.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

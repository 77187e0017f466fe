//! Figures with their aims, printed as they come and kept for the end.

use std::time::Duration;

use serde::Serialize;

/// Everything measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Load of the machine (1 minute) at the beginning and at the end, where it says.
    load: (Option<f64>, Option<f64>),
    cores: usize,
    figures: Vec<Figure>,
    /// What was not measured and why, and what the figures do not say themselves.
    notes: Vec<String>,
    #[serde(skip)]
    print: bool,
}

/// One line.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    part: &'static str,
    what: String,
    unit: &'static str,
    /// The middle of several, or the only one.
    p50: f64,
    p95: Option<f64>,
    n: usize,
    aim: Option<Aim>,
}

/// What the middle should be.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    Below(f64),
    AtLeast(f64),
}

impl Aim {
    fn shown(self, figure: f64) -> String {
        let (sign, aim, reached) = match self {
            Aim::Below(aim) => ("<", aim, figure < aim),
            Aim::AtLeast(aim) => ("≥", aim, figure >= aim),
        };
        format!("{sign} {aim}  {}", if reached { "reached" } else { "MISSED" })
    }
}

impl Report {
    pub fn new(print: bool) -> Self {
        let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let report = Self { load: (load(), None), cores, figures: Vec::new(), notes: Vec::new(), print };
        report.say(&format!("{cores} cores, load {}", shown(report.load.0)));
        report
    }

    /// Times of the same thing, one each.
    pub fn times(&mut self, part: &'static str, what: &str, times: &[Duration], aim: Option<Aim>) {
        let mut ms: Vec<f64> = times.iter().map(|t| t.as_secs_f64() * 1e3).collect();
        ms.sort_by(f64::total_cmp);
        let (p50, p95) = (at(&ms, 50), at(&ms, 95));
        self.figure(part, what, "ms", (p50, Some(p95)), ms.len(), aim);
    }

    /// One figure.
    pub fn one(&mut self, part: &'static str, what: &str, unit: &'static str, value: f64, aim: Option<Aim>) {
        self.figure(part, what, unit, (value, None), 1, aim);
    }

    /// A difference of two middles, and of the two 95th percentiles.
    pub fn difference(
        &mut self,
        part: &'static str,
        what: &str,
        of: &[Duration],
        to: &[Duration],
        aim: Option<Aim>,
    ) {
        let mut both = [of, to].map(|times| times.iter().map(|t| t.as_secs_f64() * 1e3).collect::<Vec<_>>());
        for times in &mut both {
            times.sort_by(f64::total_cmp);
        }
        let difference = |percent| at(&both[0], percent) - at(&both[1], percent);
        self.figure(part, what, "ms", (difference(50), Some(difference(95))), of.len(), aim);
    }

    fn figure(
        &mut self,
        part: &'static str,
        what: &str,
        unit: &'static str,
        (p50, p95): (f64, Option<f64>),
        n: usize,
        aim: Option<Aim>,
    ) {
        if self.figures.last().is_none_or(|last| last.part != part) {
            self.say(&format!("\n{part:<44}{:>10}{:>10}", "p50", "p95"));
        }
        let second = p95.map_or(String::new(), |p95| format!("{p95:.1}"));
        let aimed = aim.map_or(String::new(), |aim| aim.shown(p50));
        self.say(format!("  {what:<42}{p50:>10.1}{second:>10} {unit:<5} {aimed}").trim_end());
        self.figures.push(Figure { part, what: what.into(), unit, p50, p95, n, aim });
    }

    /// Something the figures do not say.
    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.say(&format!("  {text}"));
        self.notes.push(text);
    }

    /// Nothing more comes.
    pub fn end(&mut self) {
        self.load.1 = load();
        self.say(&format!(
            "\nload {} at the beginning, {} at the end",
            shown(self.load.0),
            shown(self.load.1)
        ));
    }

    fn say(&self, line: &str) {
        if self.print {
            println!("{line}");
        }
    }
}

/// The nearest-rank percentile of sorted figures.
fn at(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn shown(load: Option<f64>) -> String {
    load.map_or("unknown".into(), |load| load.to_string())
}

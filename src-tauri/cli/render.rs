//! How things look on a terminal and in a pipe: tables, ages, colour, one JSON document.
//!
//! Colour goes only to a terminal that wants it. Control characters of what others wrote never reach a terminal.

use std::io::{ErrorKind, IsTerminal, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use chrono::{DateTime, Utc};
use pao_core::Context;
use pao_core::registry::Registry;
pub use pao_core::words::counted as count;
use pao_core::{Error, wire};
use serde::Serialize;

pub const GOOD: Style = AnsiColor::Green.on_default();
pub const WARNING: Style = AnsiColor::Yellow.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const STRONG: Style = Style::new().bold();
pub const QUIET: Style = Style::new().dimmed();

/// Where a command's words go.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// One JSON document instead of text.
    pub json: bool,
}

#[expect(clippy::unused_self, reason = "all that a command shows goes through its screen")]
impl Screen {
    /// Writes text to standard output, with colour only where it is wanted.
    pub fn say(self, text: &str) -> Result<(), Error> {
        ended(anstream::stdout().lock().write_all(text.as_bytes()))
    }

    /// Writes bytes to standard output as they are.
    pub fn raw(self, text: impl AsRef<[u8]>) -> Result<(), Error> {
        let mut out = std::io::stdout().lock();
        ended(out.write_all(text.as_ref()).and_then(|()| out.flush()))
    }

    /// Writes a document: as it is into a pipe, without control characters to a terminal.
    pub fn markdown(self, text: &str) -> Result<(), Error> {
        if std::io::stdout().is_terminal() { self.raw(clean_lines(text)) } else { self.raw(text) }
    }

    /// Writes the one JSON document.
    pub fn document(self, value: &impl Serialize) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(value)
            .map_err(|e| Error::internal(format!("the answer cannot be written as JSON: {e}")))?;
        text.push('\n');
        self.raw(&text)
    }

    /// Writes one JSON document on one line, for those that go on and on.
    pub fn line(self, value: &impl Serialize) -> Result<(), Error> {
        let mut text = serde_json::to_string(value)
            .map_err(|e| Error::internal(format!("the answer cannot be written as JSON: {e}")))?;
        text.push('\n');
        self.raw(&text)
    }

    /// Writes a line for people beside the answer, to standard error.
    pub fn aside(self, text: &str) {
        // Whoever closed standard error does not want to hear that either.
        let _ = writeln!(anstream::stderr().lock(), "{text}");
    }

    /// Says when an answer had to do without the registry.
    pub fn without_registry(self, context: &Context) {
        if let Some(error) = &context.without_registry {
            self.aside(&paint(
                WARNING,
                &format!("answered without the registry: {}; {}", error.message, error.next),
            ));
        }
        self.unreadable(&context.registry);
    }

    /// Says that an answer may be old because nothing can be written, and names rows of the registry that were left
    /// out because they do not read.
    pub fn unreadable(self, registry: &Registry) {
        if let Some(refusal) = registry.refusal() {
            let folder = registry.path().parent().unwrap_or(registry.path()).display();
            let text = format!(
                "nothing can be written to {folder} ({refusal}), so what is said of agents may be old"
            );
            self.aside(&paint(WARNING, &clean(&text)));
        }
        for row in registry.unreadable() {
            self.aside(&paint(WARNING, &clean(&format!("left out: {}; {}", row.what, row.next()))));
        }
    }

    /// Shows an error.
    pub fn error(self, error: &Error) {
        if self.json {
            let _ = self.document(&wire::Failure::from(error));
        } else {
            self.aside(&failure(error));
        }
    }
}

/// That nobody reads on is no failure; a full disk is.
fn ended(written: std::io::Result<()>) -> Result<(), Error> {
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Error::environment(format!("the answer cannot be written: {e}"), "check where it is sent to"))
        }
        _ => Ok(()),
    }
}

fn failure(error: &Error) -> String {
    let mut text = format!("{}: {}", paint(BAD, "error"), clean_lines(&error.message));
    for (word, what) in [(" done", &error.done), (" next", &error.next)] {
        if !what.is_empty() {
            text = text + "\n" + &paint(QUIET, word) + ": " + &clean_lines(what);
        }
    }
    text
}

/// Text in a style.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// The text as standard error's terminal wants it, for what is not written through it.
pub fn take_colour(text: String) -> String {
    match anstream::AutoStream::choice(&std::io::stderr()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(&text).to_string(),
        _ => text,
    }
}

/// One line without control characters and without characters that turn the direction of writing.
pub fn clean(text: &str) -> String {
    let spaced = text.replace(['\n', '\t'], " ");
    spaced.chars().filter(|c| !c.is_control() && !turns(*c)).collect()
}

/// The same for text of several lines.
pub fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A table: columns as wide as their widest cell, cut at the terminal's edge.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    whole: bool,
}

impl Table {
    /// A table with a heading.
    pub fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|h| paint(QUIET, h)).collect()], whole: false }
    }

    /// A table without one.
    pub fn plain() -> Self {
        Self::default()
    }

    /// A table without one that cuts nothing: a row that is too long goes on in a line of its own.
    pub fn whole() -> Self {
        Self { whole: true, ..Self::default() }
    }

    /// Adds a row; cells are clean or painted by us.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|r| r.get(column));
            cells.map(|c| console::measure_text_width(c)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let edge = edge();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                line.push_str(cell);
                let pad = widths[column].saturating_sub(console::measure_text_width(cell)) + 2;
                line.extend(std::iter::repeat_n(' ', pad));
            }
            let line = line.trim_end();
            match edge {
                Some(edge) if self.whole && console::measure_text_width(line) > edge => {
                    writeln!(f, "{}", row.join("\n    "))?;
                }
                Some(edge) => writeln!(f, "{}", console::truncate_str(line, edge, "…"))?,
                None => writeln!(f, "{line}")?,
            }
        }
        Ok(())
    }
}

/// A heading and things below it, one a line.
pub fn bullets<'a>(heading: &str, things: impl Iterator<Item = &'a str>) -> String {
    let mut text = paint(STRONG, heading) + "\n";
    for thing in things {
        text = text + "  • " + &clean(thing) + "\n";
    }
    text
}

/// Columns of the terminal that standard output is, where it is one.
pub fn edge() -> Option<usize> {
    let term = console::Term::stdout();
    if !term.is_term() {
        return None;
    }
    term.size_checked().map(|(_, columns)| usize::from(columns)).filter(|c| *c >= 40)
}

/// How long ago, in one unit.
pub fn age(now: DateTime<Utc>, then: DateTime<Utc>) -> String {
    let seconds = (now - then).num_seconds();
    match seconds {
        ..5 => "now".into(),
        5..90 => format!("{seconds} s"),
        90..5_400 => format!("{} min", seconds / 60),
        5_400..129_600 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A duration for people.
pub fn took(duration: Duration) -> String {
    match duration.as_millis() {
        ms @ ..10_000 => format!("{ms} ms"),
        _ => format!("{:.1} s", duration.as_secs_f32()),
    }
}

/// A number with its thousands apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size for people, in powers of 1000.
pub fn bytes(number: u64) -> String {
    let (unit, name) = match number {
        ..1_000 => return format!("{number} B"),
        1_000..1_000_000 => (1_000, "kB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    let tenths = number * 10 / unit;
    if tenths < 100 {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    } else {
        format!("{} {name}", tenths / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_others_wrote_can_steer_a_terminal() {
        assert_eq!(clean("a\x1b[31mb\x07\u{202e}c\nd\te\u{9b}2J"), "a[31mbc d e2J");
        assert_eq!(clean_lines("a\r\nb\x1b"), "a\nb");
    }

    #[test]
    fn columns_line_up_in_any_script() {
        let mut table = Table::plain();
        table.row(["支付对账".to_string(), "x".to_string()]);
        table.row(["api".to_string(), "y".to_string()]);
        assert_eq!(table.to_string(), "支付对账  x\napi       y\n");
    }

    #[test]
    fn numbers_and_sizes_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        let sizes = [0, 999, 1_000, 9_990, 12_345, 305_000_000, 2_100_000_000].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "1.0 kB", "9.9 kB", "12 kB", "305 MB", "2.1 GB"]);
    }

    #[test]
    fn an_age_is_said_in_one_unit() {
        let now = DateTime::from_timestamp(1_000_000, 0).unwrap();
        let said = |seconds| age(now, now - chrono::Duration::seconds(seconds));
        let all: Vec<_> = [-3, 0, 5, 89, 90, 5_399, 5_400, 100_000, 200_000].map(said).into();
        assert_eq!(all, ["now", "now", "5 s", "89 s", "1 min", "89 min", "1 h", "27 h", "2 d"]);
    }
}

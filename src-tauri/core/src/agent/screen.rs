//! What a host agent's screen says: which dialog stands there, or whether it is ready, busy or stuck.
//!
//! The words are data of the host agent ([`Screens`]); the layout is read here. A screen is believed only as a
//! whole: a known phrase somewhere in it proves nothing, since an agent's own text can hold any phrase. What does
//! not fit a known layout is [`Screen::Unknown`], and nobody acts on that.

mod dialog;

pub use dialog::{Dialog, DialogKind, DialogMark, Place};

/// Where the line stands in which the user types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Between two rules.
    Ruled,
    /// In the first column, above an empty line and a footer of a line that names the model and one more.
    Footed,
    /// Between a bar of lower and one of upper half blocks, or two empty lines. Above that stands the permission mode,
    /// then a rule, then a line that says what goes on.
    Barred,
}

/// Words and signs on a host agent's screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screens {
    /// Where the line stands in which the user types.
    pub layout: Layout,
    /// Sign that opens that line.
    pub prompts: &'static [char],
    /// Sign before the selected line of a dialog.
    pub highlight: char,
    /// Beginnings of the line under the prompt when nothing else is going on.
    pub footers: &'static [&'static str],
    /// Says under the prompt, or at the right edge above it, that no request can succeed.
    pub footer_errors: &'static [&'static str],
    /// Says in the footer, or in the line with the spinner, that a turn is running.
    pub busy: &'static str,
    /// Signs that open the line with the spinner. What it calls its work changes with every version and is no sign.
    pub spinners: &'static [char],
    /// Says in the line with the spinner that a request is being repeated.
    pub retrying: &'static str,
    /// Beginnings of the line that opens a message.
    pub openers: &'static [&'static str],
    /// Signs that open a message that is a final error, unless it says that the user stopped the turn.
    pub error_signs: &'static [char],
    /// Beginnings of a last message that is a final error.
    pub errors: &'static [&'static str],
    /// Beginnings of what stands greyed in the prompt line: nobody typed it.
    pub hints: &'static [&'static str],
    /// Hints that stand there only after an error.
    pub error_hints: &'static [&'static str],
    /// Beginning of a last message that says the user stopped the turn.
    pub interrupted: &'static str,
    /// Beginning of what stands for a long paste.
    pub pasted: &'static str,
    /// Beginnings of the last lines of a program that has ended.
    pub ended: &'static [&'static str],
    /// Dialogs.
    pub dialogs: &'static [DialogMark],
    /// Beginnings of the last lines of a dialog.
    pub closers: &'static [&'static str],
    /// Last line, word for word, of a dialog in which Return chooses the selected line.
    pub confirms: &'static str,
}

/// What a screen says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Screen {
    /// Nothing that is known.
    Unknown,
    /// A question that waits for an answer.
    Dialog(Dialog),
    /// The prompt line stands there, empty, and nothing runs.
    Ready,
    /// Something stands in the prompt line and was not sent.
    Typed {
        /// What stands there.
        text: String,
        /// It only stands for a long paste.
        folded: bool,
    },
    /// A turn is running.
    Busy,
    /// A request is being repeated; the line that says so.
    Retrying(String),
    /// The last turn ended in an error; its text.
    Failed(String),
    /// The last turn was stopped by the user.
    Interrupted,
    /// The program has ended; its last words.
    Ended(String),
}

impl Screen {
    /// One word for a log.
    pub fn name(&self) -> &'static str {
        match self {
            Screen::Unknown => "unknown",
            Screen::Dialog(dialog) => dialog.kind.name(),
            Screen::Ready => "ready",
            Screen::Typed { folded: false, .. } => "typed",
            Screen::Typed { folded: true, .. } => "pasted",
            Screen::Busy => "busy",
            Screen::Retrying(_) => "retrying",
            Screen::Failed(_) => "failed",
            Screen::Interrupted => "interrupted",
            Screen::Ended(_) => "ended",
        }
    }
}

/// Longest text taken from a screen for people to read, in characters.
const QUOTE: usize = 400;
/// Lines above the prompt in which the spinner is looked for: below it may stand a tip or a list of steps.
const NEAR: usize = 24;

impl Screens {
    /// Reads a screen: plain text, lines separated by LF, of any size and origin.
    pub fn classify(&self, screen: &str) -> Screen {
        let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
        if let Some(prompt) = self.prompt(&lines) {
            return self.at_prompt(&prompt);
        }
        if let Some(dialog) = self.dialog(&lines) {
            return Screen::Dialog(dialog);
        }
        let last: Vec<&str> = lines.iter().copied().filter(|line| !line.is_empty()).collect();
        let tail = &last[last.len().saturating_sub(4)..];
        if tail.iter().any(|line| begins(line, self.ended)) {
            return Screen::Ended(quote(tail));
        }
        Screen::Unknown
    }

    fn at_prompt(&self, prompt: &Prompt<'_>) -> Screen {
        let spinner = self.spinner(prompt.above);
        let cannot = |line: &&&str| self.footer_errors.iter().any(|error| line.contains(error));
        // Some versions say it right above the prompt, at the right edge, where no agent's text ever stands.
        let right = prompt.above.iter().rev().find(|line| !line.is_empty());
        let right = right.filter(|line| line.starts_with(&" ".repeat(20)));
        if let Some(line) = prompt.below.iter().chain(right).find(cannot) {
            let from = self.footer_errors.iter().filter_map(|error| line.find(error)).min().unwrap_or(0);
            return Screen::Failed(quote(&[&line[from..]]));
        }
        if let Some(line) = spinner.filter(|line| line.contains(self.retrying)) {
            return Screen::Retrying(quote(&[line]));
        }
        if spinner.is_some() || prompt.below.iter().any(|line| line.contains(self.busy)) {
            return Screen::Busy;
        }
        let hinted = begins(&prompt.text, self.hints) || begins(&prompt.text, self.error_hints);
        if !prompt.text.is_empty() && !hinted {
            let folded = prompt.text.starts_with(self.pasted);
            return Screen::Typed { text: prompt.text.clone(), folded };
        }
        if !self.footed(prompt) {
            return Screen::Unknown;
        }
        let (sign, message) = self.last_message(prompt.above);
        let first = message.first().copied().unwrap_or("");
        if first.starts_with(self.interrupted) {
            return Screen::Interrupted;
        }
        let marked = sign.is_some_and(|sign| self.error_signs.contains(&sign));
        if marked || begins(first, self.errors) || begins(&prompt.text, self.error_hints) {
            return Screen::Failed(quote(&message));
        }
        Screen::Ready
    }

    /// Whether the footer is that of a program that waits for nothing but the user.
    fn footed(&self, prompt: &Prompt<'_>) -> bool {
        let mut lines = prompt.below.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
        match self.layout {
            Layout::Ruled | Layout::Barred => begins(lines.next().unwrap_or(""), self.footers),
            // Until it knows its model the program takes no prompt.
            Layout::Footed => {
                lines.next().is_some_and(|model| model.contains(" · "))
                    && begins(lines.next().unwrap_or(""), self.footers)
            }
        }
    }

    /// The line where the user types.
    fn prompt<'a>(&self, lines: &'a [&'a str]) -> Option<Prompt<'a>> {
        let (above, inside, below) = match self.layout {
            Layout::Ruled => between(lines, is_rule, is_rule)?,
            Layout::Barred => below_mode(lines)?,
            Layout::Footed => self.above_footer(lines)?,
        };
        let (first, rest) = inside.split_first()?;
        let typed = first.trim_start().strip_prefix(self.prompts)?;
        if !typed.is_empty() && !typed.starts_with(char::is_whitespace) {
            return None;
        }
        let text: Vec<&str> = std::iter::once(typed).chain(rest.iter().copied()).map(str::trim).collect();
        Some(Prompt { text: text.join("\n").trim().to_string(), above, below })
    }

    /// The last line with a prompt sign in the first column, what is typed there, and a footer of at most two lines
    /// that does not close a dialog.
    fn above_footer<'a>(&self, lines: &'a [&'a str]) -> Option<Parts<'a>> {
        let at = lines.iter().rposition(|line| line.starts_with(self.prompts))?;
        let end = lines.iter().rposition(|line| !line.is_empty())?;
        let blank = lines[at..=end].iter().rposition(|line| line.is_empty())? + at;
        let (inside, below) = (&lines[at..blank], &lines[blank + 1..=end]);
        let closes = below.first().is_none_or(|line| begins(line.trim(), self.closers));
        let typed = inside[1..].iter().all(|line| line.is_empty() || line.starts_with("  "));
        (below.len() <= 2 && !closes && typed).then_some((&lines[..at], inside, below))
    }

    /// The line that says what goes on: where it stands nothing else with such a sign does.
    fn spinner<'a>(&self, above: &[&'a str]) -> Option<&'a str> {
        let mut near = above.iter().rev().filter(|line| !line.is_empty()).take(NEAR).copied();
        let works = |line: &&str| {
            let Some(rest) = line.strip_prefix(self.spinners).and_then(|rest| rest.strip_prefix(' ')) else {
                return false;
            };
            rest.contains(self.retrying) || rest.contains(self.busy) || names_work(rest)
        };
        match self.layout {
            Layout::Ruled => near.find(works),
            // An answer has the same sign, so only what stands last counts; details of it are indented.
            Layout::Footed => near.find(|line| !line.starts_with(' ')).filter(|line| {
                line.starts_with(self.spinners) && (line.contains(self.retrying) || line.contains(self.busy))
            }),
            Layout::Barred => {
                near.next().filter(|line| line.contains(self.busy) || line.contains(self.retrying))
            }
        }
    }

    /// The last message above the prompt: the sign that opens it, and its lines to the end of its paragraph.
    fn last_message<'a>(&self, above: &[&'a str]) -> (Option<char>, Vec<&'a str>) {
        let opens = |line: &&str| begins(line.trim_start(), self.openers);
        let Some(start) = above.iter().rposition(opens) else { return (None, Vec::new()) };
        let mut message: Vec<&str> =
            above[start..].iter().take_while(|line| !line.is_empty()).map(|line| line.trim()).collect();
        let sign = message.first().and_then(|first| first.chars().next());
        if let (Some(first), Some(sign)) = (message.first_mut(), sign) {
            *first = first.trim_start_matches(sign).trim();
        }
        (sign, message)
    }
}

/// Lines above, inside and below.
type Parts<'a> = (&'a [&'a str], &'a [&'a str], &'a [&'a str]);

/// Below the last rule the line with the permission mode, and then between two bars, or two empty lines where the
/// terminal shows colours instead of bars, what is typed.
fn below_mode<'a>(lines: &'a [&'a str]) -> Option<Parts<'a>> {
    let rule = lines.iter().rposition(|line| is_rule(line))?;
    let edge = |line: &&str| line.is_empty() || is_bar(line, '▄') || is_bar(line, '▀');
    let from = lines[rule..].iter().position(edge)? + rule + 1;
    let end = lines[from..].iter().position(edge)? + from;
    (from - rule <= 3).then_some((&lines[..rule], &lines[from..end], &lines[end + 1..]))
}

/// What stands between the last line of the one kind and the last but one of the other.
fn between<'a>(
    lines: &'a [&'a str],
    opens: impl Fn(&str) -> bool,
    closes: impl Fn(&str) -> bool,
) -> Option<Parts<'a>> {
    let lower = lines.iter().rposition(|line| closes(line))?;
    let upper = lines[..lower].iter().rposition(|line| opens(line))?;
    Some((&lines[..upper], &lines[upper + 1..lower], &lines[lower + 1..]))
}

/// The line where the user types, and what stands around it.
struct Prompt<'a> {
    text: String,
    above: &'a [&'a str],
    below: &'a [&'a str],
}

/// `Herding…`, alone or followed by a bracket with time and numbers. A finished turn has no ellipsis.
fn names_work(text: &str) -> bool {
    let Some((words, rest)) = text.split_once('…') else { return false };
    let rest = rest.trim();
    !words.is_empty() && (rest.is_empty() || rest.starts_with('(') || rest.starts_with('·'))
}

/// A line right across the screen, with a title in it or without.
fn is_rule(line: &str) -> bool {
    let rest = line.trim_start_matches('─');
    let dashes = (line.len() - rest.len()) / '─'.len_utf8();
    dashes >= 10 && (rest.is_empty() || (rest.starts_with(' ') && rest.ends_with(" ─")))
}

/// A line of nothing but that block.
fn is_bar(line: &str, block: char) -> bool {
    line.chars().count() >= 10 && line.chars().all(|c| c == block)
}

fn begins(text: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| text.starts_with(beginning))
}

/// Lines as one line of text for people, without control characters and not too long.
fn quote(lines: &[&str]) -> String {
    let words = lines.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<_>>().join(" ");
    words.chars().filter(|c| !c.is_control()).take(QUOTE).collect()
}

#[cfg(test)]
mod tests;

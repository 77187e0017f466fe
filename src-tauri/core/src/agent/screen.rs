//! What a host agent's screen says: which dialog stands there, or whether it is ready, busy or stuck.
//!
//! The words are data of the host agent ([`Screens`]); the layout is read here. A screen is believed only as a
//! whole: a known phrase somewhere in it proves nothing, since an agent's own text can hold any phrase. What does
//! not fit a known layout is [`Screen::Unknown`], and nobody acts on that.

mod dialog;

pub use dialog::{Dialog, DialogKind, DialogMark};

/// Words and signs on a host agent's screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screens {
    /// Sign that opens the line where the user types. Below and above it stands a rule.
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
        let footer = prompt.below.iter().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or("");
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
        let known_footer = begins(footer, self.footers);
        let hinted = begins(&prompt.text, self.hints) || begins(&prompt.text, self.error_hints);
        if !prompt.text.is_empty() && !hinted {
            let folded = prompt.text.starts_with(self.pasted);
            return Screen::Typed { text: prompt.text.clone(), folded };
        }
        if !known_footer {
            return Screen::Unknown;
        }
        let message = last_message(prompt.above);
        let first = message.first().copied().unwrap_or("");
        if first.starts_with(self.interrupted) {
            return Screen::Interrupted;
        }
        if begins(first, self.errors) || begins(&prompt.text, self.error_hints) {
            return Screen::Failed(quote(&message));
        }
        Screen::Ready
    }

    /// The line where the user types: the last two rules of the screen with a prompt sign right below the first.
    fn prompt<'a>(&self, lines: &'a [&'a str]) -> Option<Prompt<'a>> {
        let lower = lines.iter().rposition(|line| is_rule(line))?;
        let upper = lines[..lower].iter().rposition(|line| is_rule(line))?;
        let (first, rest) = lines[upper + 1..lower].split_first()?;
        let typed = first.strip_prefix(self.prompts)?;
        if !typed.is_empty() && !typed.starts_with(char::is_whitespace) {
            return None;
        }
        let text: Vec<&str> = std::iter::once(typed).chain(rest.iter().copied()).map(str::trim).collect();
        Some(Prompt {
            text: text.join("\n").trim().to_string(),
            above: &lines[..upper],
            below: &lines[lower + 1..],
        })
    }

    /// The line with the spinner: it stands in the first column, and nothing else with such a sign does.
    fn spinner<'a>(&self, above: &[&'a str]) -> Option<&'a str> {
        above.iter().rev().filter(|line| !line.is_empty()).take(NEAR).copied().find(|line| {
            let Some(rest) = line.strip_prefix(self.spinners).and_then(|rest| rest.strip_prefix(' ')) else {
                return false;
            };
            rest.contains(self.retrying) || rest.contains(self.busy) || names_work(rest)
        })
    }
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

/// The last message above the prompt: from the last line that opens one to the end of its paragraph.
fn last_message<'a>(above: &[&'a str]) -> Vec<&'a str> {
    let opens = |line: &&str| ["⎿", "●", "❯", "> "].iter().any(|sign| line.trim_start().starts_with(sign));
    let Some(start) = above.iter().rposition(opens) else { return Vec::new() };
    let mut message: Vec<&str> =
        above[start..].iter().take_while(|line| !line.is_empty()).map(|line| line.trim()).collect();
    if let Some(first) = message.first_mut() {
        *first = first.trim_start_matches(['⎿', '●', '❯', '>']).trim();
    }
    message
}

/// A line right across the screen, with a title in it or without.
fn is_rule(line: &str) -> bool {
    let rest = line.trim_start_matches('─');
    let dashes = (line.len() - rest.len()) / '─'.len_utf8();
    dashes >= 10 && (rest.is_empty() || (rest.starts_with(' ') && rest.ends_with(" ─")))
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

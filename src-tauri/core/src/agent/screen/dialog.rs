//! Dialogs: which one it is, what may be chosen, and which line is selected.
//!
//! No default is ever assumed: versions differ in which line they select first and in the order of the lines.

use super::{Layout, Screens, begins, is_rule, quote};

/// Follows an option that is the current setting, in lists that show one.
const CHOSEN: char = '✔';

/// Which dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DialogKind {
    /// Whether this folder is trusted.
    Trust,
    /// The warning before an agent that asks nothing.
    SkipPermissions,
    /// Whether an API key from the environment may be used.
    ApiKey,
    /// Whether instruction files may import from outside the project.
    ExternalImports,
    /// Whether a server named in the project may be used.
    ProjectServer,
    /// Whether a further folder may be used.
    AddFolder,
    /// A settings file says something the program does not know.
    SettingsWarning,
    /// Which earlier conversation to go back to.
    ResumePicker,
    /// Whether a tool may be used.
    Permission,
    /// Colours, at the first start.
    Theme,
    /// Notes on security, at the first start.
    SecurityNotes,
    /// How to log in.
    Login,
    /// The vendor cannot be reached, at the first start.
    Unreachable,
    /// A question we do not know.
    Other,
}

impl DialogKind {
    /// Name in messages and logs.
    pub fn name(self) -> &'static str {
        match self {
            DialogKind::Trust => "trust",
            DialogKind::SkipPermissions => "skip-permissions",
            DialogKind::ApiKey => "api-key",
            DialogKind::ExternalImports => "external-imports",
            DialogKind::ProjectServer => "project-server",
            DialogKind::AddFolder => "add-folder",
            DialogKind::SettingsWarning => "settings-warning",
            DialogKind::ResumePicker => "resume-picker",
            DialogKind::Permission => "permission",
            DialogKind::Theme => "theme",
            DialogKind::SecurityNotes => "security-notes",
            DialogKind::Login => "login",
            DialogKind::Unreachable => "unreachable",
            DialogKind::Other => "other",
        }
    }
}

/// How a dialog is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DialogMark {
    /// Which one it is.
    pub kind: DialogKind,
    /// Beginning of its first line. Empty where any will do.
    pub opens: &'static str,
    /// What it also says, wherever lines are broken.
    pub says: &'static str,
    /// The line that agrees, where it may ever be chosen for the user.
    pub agrees: Option<&'static str>,
    /// Where it stands.
    pub place: Place,
}

/// Where a dialog stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Under the last rule, or in a box that is followed by its last lines.
    UnderRule,
    /// It fills the screen, and what it offers is no plain list.
    Page,
    /// From the line that opens it to the end of the screen.
    Tail,
    /// In a box with nothing behind it.
    Boxed,
}

/// A question on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// Which one.
    pub kind: DialogKind,
    /// Its text for people: one line, not too long.
    pub text: String,
    /// Its text without any white space, to look for something that may be broken over lines.
    pub solid: String,
    /// What may be chosen, in order, without numbers. Empty where the layout is not a plain list.
    pub options: Vec<String>,
    /// Index of the selected option.
    pub selected: Option<usize>,
    /// Index of the option that agrees.
    pub agree: Option<usize>,
}

impl Dialog {
    /// Whether the text names that path, which a narrow window may have broken over lines.
    pub fn names(&self, path: &str) -> bool {
        let path: String = path.chars().filter(|c| !c.is_whitespace()).collect();
        !path.is_empty() && self.solid.contains(&path)
    }
}

impl Screens {
    /// The dialog on a screen that has no prompt line.
    pub(super) fn dialog(&self, lines: &[&str]) -> Option<Dialog> {
        match self.layout {
            Layout::Ruled => self.ruled(lines),
            Layout::Footed => self.at_the_end(lines),
            Layout::Barred => self.in_a_box(lines),
        }
    }

    fn marks(&self, place: Place) -> impl Iterator<Item = &DialogMark> {
        self.dialogs.iter().filter(move |mark| mark.place == place)
    }

    fn ruled(&self, lines: &[&str]) -> Option<Dialog> {
        let rule = lines.iter().rposition(|line| is_rule(line));
        let boxed = self.boxed(lines);
        let under_rule = || rule.map(|rule| lines[rule + 1..].to_vec());
        if let Some(block) = boxed.or_else(under_rule) {
            let block = trimmed(&block);
            let first = block.first()?.trim();
            let says = joined(block);
            let mark = self
                .marks(Place::UnderRule)
                .find(|mark| first.starts_with(mark.opens) && says.contains(mark.says));
            let closed = block.last().is_some_and(|line| self.closes(block, line));
            if mark.is_none() && !(closed && block.iter().any(|line| self.is_selected(line))) {
                return None;
            }
            return Some(self.read(mark, block));
        }
        let block = trimmed(lines);
        let says = joined(block);
        let mark = self.marks(Place::Page).find(|mark| {
            says.contains(mark.says) && block.iter().any(|line| line.trim().starts_with(mark.opens))
        })?;
        let from = block.iter().position(|line| line.trim().starts_with(mark.opens)).unwrap_or(0);
        let text = quote(&block[from..]);
        Some(Dialog {
            kind: mark.kind,
            text,
            solid: solid(block),
            options: Vec::new(),
            selected: None,
            agree: None,
        })
    }

    /// A dialog without a frame: the last thing on the screen, closed by a line that says which keys there are. One
    /// that is not known is taken from behind the last message on.
    fn at_the_end(&self, lines: &[&str]) -> Option<Dialog> {
        let all = trimmed(lines);
        let last = all.last()?;
        if !self.closes(all, last) {
            return None;
        }
        for mark in self.marks(Place::Tail) {
            let opens = |line: &&str| line.trim().starts_with(mark.opens);
            let Some(from) = all.iter().rposition(opens) else { continue };
            if joined(&all[from..]).contains(mark.says) {
                return Some(self.read(Some(mark), &all[from..]));
            }
        }
        let chosen = all.iter().rposition(|line| self.is_selected(line))?;
        let opens = |line: &&str| begins(line, self.openers);
        let from = all[..chosen].iter().rposition(opens).map_or(0, |message| message + 1);
        Some(self.read(None, trimmed(&all[from..])))
    }

    /// A dialog in a box that is the last thing on the screen but for a notice. Boxes in it lose their frames.
    fn in_a_box(&self, lines: &[&str]) -> Option<Dialog> {
        let bottom = lines.iter().rposition(|line| !line.is_empty() && !begins(line, self.closers))?;
        let top = lines[..bottom].iter().rposition(|line| line.trim_start().starts_with('╭'))?;
        lines[bottom].trim_start().strip_prefix('╰')?;
        let inner = lines[top + 1..bottom].iter();
        let inner =
            inner.map(|line| Some(line.trim_start().strip_prefix('│')?.strip_suffix('│')?.trim_end()));
        let block = inner.collect::<Option<Vec<&str>>>()?;
        let block: Vec<&str> = block.into_iter().map(unframed).collect();
        let block = trimmed(&block);
        let first = block.first()?.trim();
        let says = joined(block);
        let mark =
            self.marks(Place::Boxed).find(|mark| first.starts_with(mark.opens) && says.contains(mark.says));
        if mark.is_none() && !block.iter().any(|line| self.is_selected(line)) {
            return None;
        }
        Some(self.read(mark, block))
    }

    /// What stands in a box that is followed by nothing but the dialog's last lines: old versions draw some
    /// dialogs so. The frame is taken away.
    fn boxed<'a>(&self, lines: &[&'a str]) -> Option<Vec<&'a str>> {
        let top = lines.iter().rposition(|line| line.starts_with('╭'))?;
        let bottom = lines.iter().rposition(|line| line.starts_with('╰')).filter(|bottom| *bottom > top)?;
        let after = lines[bottom + 1..].iter().find(|line| !line.is_empty())?;
        if !begins(after.trim(), self.closers) {
            return None;
        }
        let inner = lines[top + 1..bottom].iter();
        let inner = inner.map(|line| Some(line.strip_prefix('│')?.strip_suffix('│')?.trim_end()));
        let mut block = inner.collect::<Option<Vec<&str>>>()?;
        block.push("");
        block.extend_from_slice(&lines[bottom + 1..]);
        Some(block)
    }

    fn read(&self, mark: Option<&DialogMark>, block: &[&str]) -> Dialog {
        let list = self.list(block);
        let (from, options, selected) = match list {
            Some(list) => (list.from, list.options, Some(list.selected)),
            None => (block.len(), Vec::new(), None),
        };
        let wanted = mark.and_then(|mark| mark.agrees);
        let mut agreeing = options.iter().enumerate().filter(|(_, option)| Some(option.as_str()) == wanted);
        let agree = agreeing.next().map(|(index, _)| index).filter(|_| agreeing.next().is_none());
        let closing = block.iter().rposition(|line| line.is_empty()).map_or(&[][..], |blank| &block[blank..]);
        let agree = agree.filter(|_| joined(closing) == self.confirms);
        Dialog {
            kind: mark.map_or(DialogKind::Other, |mark| mark.kind),
            text: quote(&block[..from]),
            solid: solid(block),
            options,
            selected,
            agree,
        }
    }

    /// The list to choose from: the last paragraph but one, each line one option, exactly one selected on the
    /// whole dialog, the others indented as far as the selected one's text.
    fn list(&self, block: &[&str]) -> Option<List> {
        if block.iter().filter(|line| self.is_selected(line)).count() != 1 {
            return None;
        }
        let closing = block.iter().rposition(|line| line.is_empty())?;
        if !begins(block.get(closing + 1)?.trim(), self.closers) {
            return None;
        }
        let end = block[..closing].iter().rposition(|line| !line.is_empty())? + 1;
        // A list may follow its question without a blank line; then the numbers tell where it begins.
        let paragraph = block[..end].iter().rposition(|line| line.is_empty()).map_or(0, |blank| blank + 1);
        let selected_at = block[paragraph..end].iter().position(|line| self.is_selected(line))? + paragraph;
        let indent = indent(block[selected_at]);
        let is_option =
            |line: &&str| self.is_selected(line) || (indent + 2 == self::indent(line) && !line.is_empty());
        let from = block[paragraph..end].iter().position(is_option)? + paragraph;
        let mut options: Vec<String> = Vec::new();
        for (index, line) in block[from..end].iter().enumerate() {
            if !is_option(line) {
                return None;
            }
            let text = line.trim_start().trim_start_matches(self.highlight).trim();
            let text = text.trim_end_matches(CHOSEN).trim_end();
            let bare = match text.split_once(". ") {
                Some((number, rest)) if number == (index + 1).to_string() => rest,
                _ => text,
            };
            options.push(bare.trim().to_string());
        }
        Some(List { from, options, selected: selected_at - from })
    }

    fn is_selected(&self, line: &str) -> bool {
        line.trim_start().strip_prefix(self.highlight).is_some_and(|rest| rest.starts_with([' ', '\u{a0}']))
    }

    fn closes(&self, block: &[&str], last: &str) -> bool {
        let paragraph = block.iter().rposition(|line| line.is_empty()).and_then(|blank| block.get(blank + 1));
        begins(last.trim(), self.closers) || paragraph.is_some_and(|line| begins(line.trim(), self.closers))
    }
}

struct List {
    from: usize,
    options: Vec<String>,
    selected: usize,
}

/// A line of a box in a box without its frame.
fn unframed(line: &str) -> &str {
    let inner = line.trim_start();
    if inner.starts_with(['╭', '╰']) {
        return "";
    }
    inner.strip_prefix('│').and_then(|inner| inner.strip_suffix('│')).map_or(line, str::trim_end)
}

fn indent(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

fn trimmed<'a, 'b>(lines: &'a [&'b str]) -> &'a [&'b str] {
    let start = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(start, |last| last + 1);
    &lines[start..end.max(start)]
}

fn joined(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<_>>().join(" ")
}

fn solid(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| line.split_whitespace()).collect()
}

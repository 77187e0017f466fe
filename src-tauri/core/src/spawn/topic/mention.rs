//! Finds the folder that a task in natural language names.
//!
//! The first thing in the text that is an existing folder (or a file, which stands for its folder) wins. Paths may
//! be quoted, may contain blanks (plain or escaped) and may touch text of scripts that do without blanks. From
//! where a path begins the longest existing one is taken.
//!
//! Much in prose looks like a path and is none, so what is *not* there decides differently by its shape:
//! - `~/…` that does not exist always means this disk: it is reported missing.
//! - `/…` does so only where its first step exists in the root folder under exactly that name, so `/compact`,
//!   `/api/users`, `/users/:id` stay what they are: words. `/`, `~` and `..` alone mean a folder only when they
//!   are the whole text or follow a word like "in".
//! - Relative paths (`and/or`, `src/lib.rs`) mean a folder only when they exist. A file named relatively inside the
//!   current repository says what to work on, not where: the current folder stays.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::absolute;
use crate::host::Host;
use crate::project::Project;

/// What the text names.
#[derive(Debug, PartialEq, Eq)]
pub enum Mention {
    /// An existing folder.
    Folder {
        /// Absolute, links not resolved.
        path: PathBuf,
        /// There is nothing else in the text, so no task either.
        is_all: bool,
        /// Where in the text it stands, in bytes.
        at: Range<usize>,
    },
    /// A path that plainly means this disk and is not there.
    Missing(PathBuf),
}

/// Only so many places in a text are tried, and only so many characters after each: a pasted log is no question.
const PLACES: usize = 64;
const REACH: usize = 1024;

/// The longest a file name can be on the systems we run on, in bytes.
const LONGEST_NAME: usize = 255;

/// Finds the first folder named in the text.
pub fn find(text: &str, host: &Host) -> Option<Mention> {
    let mut missing = None;
    let mut skip_to = 0;
    let mut places = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let previous = before.replace(c);
        if at < skip_to || !may_begin(previous, c) {
            continue;
        }
        let rest = &text[at..];
        // One line of data may be a single word that is as long as the text, with a beginning at every sign.
        let near = &rest[..rest.floor_char_boundary(REACH)];
        if is_address(near) {
            skip_to = at + rest.find(char::is_whitespace).unwrap_or(rest.len());
            continue;
        }
        let Some(shape) = Shape::of(near, &text[..at]) else { continue };
        places += 1;
        if places > PLACES {
            break;
        }
        let closed =
            previous.and_then(closing).and_then(|close| rest.split_once(close)).map(|(inside, _)| inside);
        let found = closed
            .filter(|c| !c.contains('\n'))
            .and_then(|c| whole(c, host))
            .or_else(|| longest(rest, shape, host));
        match found {
            Some(found) if found.means_here(shape, host) => skip_to = at + found.length,
            Some(found) => {
                let outside = |s: &str| s.chars().all(|c| !c.is_alphanumeric());
                let is_all = outside(&text[..at]) && outside(&text[at + found.length..]);
                return Some(Mention::Folder { path: found.path, is_all, at: at..at + found.length });
            }
            None if missing.is_none() => missing = shape.missing(closed.unwrap_or(rest), host),
            None => {}
        }
    }
    missing.map(Mention::Missing)
}

/// How a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Home,
    Root,
    Dotted,
    Bare,
}

impl Shape {
    /// `None` where no path begins.
    fn of(rest: &str, before: &str) -> Option<Self> {
        let mut chars = rest.chars();
        let (first, second, third) = (chars.next()?, chars.next(), chars.next());
        let ends = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || closes(c));
        let placed =
            || before.trim().is_empty() && rest.trim_end().chars().count() <= 2 || after_preposition(before);
        match (first, second) {
            ('~', Some('/')) => Some(Self::Home),
            ('~', next) => (ends(next) && placed()).then_some(Self::Home),
            ('/', next) => (!ends(next) || placed()).then_some(Self::Root).filter(|_| next != Some('/')),
            ('.', Some('/')) => Some(Self::Dotted),
            ('.', Some('.')) if third == Some('/') => Some(Self::Dotted),
            ('.', Some('.')) => (ends(third) && placed()).then_some(Self::Dotted),
            ('.', next) if ends(next) => placed().then_some(Self::Dotted),
            _ => {
                let word: &str = rest.split(char::is_whitespace).next()?;
                (word.contains('/') || (word.ends_with('\\') && rest.contains('/'))).then_some(Self::Bare)
            }
        }
    }

    /// The path this text plainly means although it is not there.
    fn missing(self, text: &str, host: &Host) -> Option<PathBuf> {
        let word = text.split(char::is_whitespace).next()?.trim_end_matches(closes);
        match self {
            Self::Home if word.len() > 2 => Some(absolute(Path::new(word), host)),
            Self::Root => {
                let path = Path::new(word);
                let first = path.components().nth(1)?.as_os_str().to_owned();
                let template = word.contains([':', '{', '*', '<', '?', '$', '=']);
                // Compared with the names as listed: a file system that ignores case would find /users.
                let listed = || {
                    let mut names = std::fs::read_dir("/").ok()?.flatten().map(|e| e.file_name());
                    names.find(|name| *name == first)
                };
                (path.components().count() > 2 && !template && listed().is_some()).then(|| path.to_path_buf())
            }
            _ => None,
        }
    }
}

/// An existing file or folder, and how much of the text named it.
struct Found {
    path: PathBuf,
    length: usize,
    is_file: bool,
}

impl Found {
    fn at(path: PathBuf, length: usize) -> Option<Self> {
        let meta = std::fs::metadata(&path).ok()?;
        if meta.is_dir() {
            return Some(Self { path, length, is_file: false });
        }
        let parent = path.parent()?.to_path_buf();
        meta.is_file().then_some(Self { path: parent, length, is_file: true })
    }

    /// A file of the current repository (or anything of Git's own), named as seen from the current folder.
    fn means_here(&self, shape: Shape, host: &Host) -> bool {
        if shape != Shape::Bare || !self.path.starts_with(&host.cwd) {
            return false;
        }
        let of_git = self.path.components().any(|c| c.as_os_str() == ".git");
        let worktree = |folder: &Path| Project::of(folder).worktree;
        of_git || self.is_file && worktree(&host.cwd).is_some_and(|top| worktree(&self.path) == Some(top))
    }
}

/// The whole of a quoted text, as it stands or with escapes resolved.
fn whole(text: &str, host: &Host) -> Option<Found> {
    if text.len() > REACH || text.contains('\0') {
        return None;
    }
    [text.to_owned(), unescaped(text)]
        .into_iter()
        .find_map(|candidate| Found::at(absolute(Path::new(&candidate), host), text.len()))
}

/// Walks down step by step: a step that is followed by `/` and exists is taken whole; the last one is the longest
/// beginning of what follows that exists and ends where a path may end.
fn longest(rest: &str, shape: Shape, host: &Host) -> Option<Found> {
    let line = rest.lines().next().unwrap_or("");
    let line = &line[..line.floor_char_boundary(REACH)];
    let (mut dir, mut used) = match shape {
        Shape::Home => (host.home.clone(), 1),
        Shape::Root => (PathBuf::from("/"), 0),
        Shape::Dotted | Shape::Bare => (host.cwd.clone(), 0),
    };
    let mut best = match shape {
        Shape::Home => Some(Found { path: dir.clone(), length: 1, is_file: false }),
        Shape::Root if line.len() == 1 || line[1..].starts_with(char::is_whitespace) => {
            Some(Found { path: dir.clone(), length: 1, is_file: false })
        }
        _ => None,
    };
    loop {
        while line[used..].starts_with('/') {
            used += 1;
        }
        let tail = &line[used..];
        let step = tail.find('/').map(|end| &tail[..end]);
        let next = step.filter(|s| s.len() <= 2 * LONGEST_NAME).map(|s| (dir.join(unescaped(s)), s.len()));
        if let Some((path, length)) = next.filter(|(path, _)| path.is_dir()) {
            used += length;
            best = Some(Found { path: path.clone(), length: used + 1, is_file: false });
            dir = path;
            continue;
        }
        let last = ends_of(step.unwrap_or(tail))
            .find_map(|end| Found::at(dir.join(unescaped(&tail[..end])), used + end));
        // A path that goes on below what exists names something that is not there.
        let goes_on = tail.chars().next().is_some_and(|c| !c.is_whitespace() && !closes(c) && !dense(c));
        return last.or_else(|| best.filter(|_| !goes_on));
    }
}

/// Where a path's last step may end, longest first.
fn ends_of(step: &str) -> impl Iterator<Item = usize> {
    let mut ends = Vec::new();
    let mut chars = step.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|&(_, n)| n);
        let after = chars.clone().nth(1).map(|(_, n)| n);
        let may_end = match next {
            None => true,
            Some('.') => after.is_none_or(|n| n.is_whitespace() || closes(n) || dense(n)),
            Some(n) => (n.is_whitespace() && c != '\\') || (closes(n) && n != '-') || dense(c) || dense(n),
        };
        if may_end && !c.is_whitespace() && end <= 2 * LONGEST_NAME {
            ends.push(end);
        }
    }
    ends.into_iter().rev()
}

/// A path may begin at the start, after a blank, an opening sign, or text that does without blanks.
fn may_begin(previous: Option<char>, c: char) -> bool {
    if c.is_whitespace() {
        return false;
    }
    match previous {
        None => true,
        Some(p) if c == '~' || c == '/' || c == '.' => {
            p.is_whitespace() || opens(p) || dense(p) || matches!(p, ',' | ';' | '，' | '、' | '。' | '；')
        }
        Some(p) => p.is_whitespace() || opens(p) || dense(p) && !dense(c),
    }
}

fn opens(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '`'
            | '('
            | '['
            | '{'
            | '<'
            | '='
            | ':'
            | '：'
            | '“'
            | '‘'
            | '«'
            | '「'
            | '『'
            | '（'
            | '【'
            | '《'
    )
}

/// The sign that closes what `c` opens, for those that quote.
fn closing(c: char) -> Option<char> {
    Some(match c {
        '"' | '\'' | '`' => c,
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        '「' => '」',
        '『' => '』',
        '《' => '》',
        '（' => '）',
        '(' => ')',
        _ => return None,
    })
}

fn closes(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '`'
            | ')'
            | ']'
            | '}'
            | '>'
            | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '.'
            | '”'
            | '’'
            | '»'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '，'
            | '。'
            | '、'
            | '；'
            | '：'
            | '！'
            | '？'
            | '…'
    )
}

/// Scripts written without blanks between words.
fn dense(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0E7F | 0x2E80..=0x2FDF | 0x3001..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0xFF01..=0xFF60 | 0x20000..=0x3FFFF)
}

fn after_preposition(before: &str) -> bool {
    const WORDS: &[&str] =
        &["in", "at", "under", "inside", "within", "into", "für", "unter", "dans", "en", "sous"];
    let word = before.trim_end_matches(opens).split_whitespace().next_back().unwrap_or("");
    WORDS.contains(&word.to_lowercase().as_str()) || before.trim_end().ends_with(['在', '到'])
}

/// Whether a web address stands at the start of the text: nothing in it is a folder.
fn is_address(rest: &str) -> bool {
    let scheme = rest.split(char::is_whitespace).next().and_then(|word| word.split_once("://"));
    scheme.is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    })
}

/// `\ ` → ` ` and the like, as a shell would.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            out.extend(chars.next());
        } else {
            out.push(c);
        }
    }
    out
}

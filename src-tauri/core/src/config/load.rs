//! Reading the configuration: every complaint names the file, the line and the key, and leaves the file alone.

use std::path::{Path, PathBuf};

use toml_edit::{Document, Item, TableLike};

use super::Config;
use super::keys::{self, Key, Takes};
use super::lines::Endings;
use crate::host::{Host, files};
use crate::{Error, Kind};

/// What is wrong with the configuration file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown}{}: {what}", .line.map(|l| format!(":{l}")).unwrap_or_default())]
pub struct ConfigError {
    /// The file, as shown to people.
    pub shown: String,
    /// Line, counted from one; `None` when the whole file is meant.
    pub line: Option<usize>,
    /// What is wrong, beginning with the key.
    pub what: String,
    /// One thing to do next.
    pub next: String,
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::new(Kind::Config, error.to_string(), error.next)
    }
}

impl Config {
    /// Reads and checks the configuration file; without one, all defaults.
    pub fn load(host: &Host) -> Result<Self, Error> {
        let file = Written::read(host)?;
        Ok(file.parse()?.0)
    }
}

/// The configuration file's text, with what is needed to complain about it.
#[derive(Debug, Clone)]
pub(super) struct Written {
    /// Where it is, links followed.
    pub path: PathBuf,
    /// The same for people.
    pub shown: String,
    /// Its text without a byte order mark; empty when there is no file.
    pub content: String,
    /// It begins with a byte order mark.
    pub marked: bool,
    /// How its lines end.
    pub endings: Endings,
}

/// A byte order mark, as some editors put it in front of a text.
const MARK: &str = "\u{feff}";

/// A complaint before it is known where the file is: byte offset, what, next step.
type Complaint = (Option<usize>, String, String);

impl Written {
    pub(super) fn read(host: &Host) -> Result<Self, Error> {
        let named = host.config_file();
        let shown = host.display(&named);
        let unreadable = |e: &std::io::Error| {
            Error::config(
                format!("{shown}: cannot be read: {e}"),
                format!("make {shown} a readable file, or remove it to go back to the defaults"),
            )
        };
        let path = if named.parent().is_some_and(Path::exists) {
            files::resolve(&named).map_err(|e| unreadable(&e))?
        } else {
            named
        };
        let bytes = files::read_if_there(&path).map_err(|e| unreadable(&e))?.unwrap_or_default();
        let content = String::from_utf8(bytes).map_err(|e| ConfigError {
            shown: shown.clone(),
            line: Some(line_of(e.as_bytes(), e.utf8_error().valid_up_to())),
            what: "the file is not valid UTF-8".into(),
            next: "save it as UTF-8".into(),
        })?;
        let (content, marked) = match content.strip_prefix(MARK) {
            Some(rest) => (rest.to_owned(), true),
            None => (content, false),
        };
        let endings = Endings::in_use(&content);
        Ok(Self { path, shown, content, marked, endings })
    }

    /// The file as it stands on the disk.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mark = if self.marked { MARK } else { "" };
        [mark.as_bytes(), self.content.as_bytes()].concat()
    }

    /// Checks the text against the table of keys and reads it.
    pub(super) fn parse(&self) -> Result<(Config, Document<String>), ConfigError> {
        let document = Document::parse(self.content.clone()).map_err(|e| {
            let what = e.message().replace('\n', ", ");
            self.complaint((
                e.span().map(|s| s.start),
                format!("not valid TOML: {what}"),
                "mend that line; nothing was changed".into(),
            ))
        })?;
        check(document.as_table()).map_err(|c| self.complaint(c))?;
        let config = toml_edit::de::from_str(&self.content).map_err(|e| {
            self.complaint((
                e.span().map(|s| s.start),
                e.message().replace('\n', ", "),
                "mend that value".into(),
            ))
        })?;
        Ok((config, document))
    }

    fn complaint(&self, (offset, what, next): Complaint) -> ConfigError {
        let line = offset.map(|o| line_of(self.content.as_bytes(), o));
        ConfigError { shown: self.shown.clone(), line, what, next }
    }
}

fn line_of(text: &[u8], offset: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text[..offset.min(text.len())]).count()
}

fn check(root: &dyn TableLike) -> Result<(), Complaint> {
    for (name, item) in root.iter() {
        if name == "sources" {
            for (source, item) in table(item, "sources", offset(root, name))?.iter() {
                check_source(source, item)?;
            }
        } else {
            check_entry(keys::GENERAL, "", root, name, item)?;
        }
    }
    Ok(())
}

fn check_source(name: &str, item: &Item) -> Result<(), Complaint> {
    let path = format!("sources.{name}");
    let at = item.span().map(|s| s.start);
    if !name_is_usable(name) {
        return Err((
            at,
            format!("{path}: a source's name has up to 64 letters, digits, - and _"),
            "rename it".into(),
        ));
    }
    let source = table(item, &path, at)?;
    let Some(kind) = source.get("kind") else {
        return Err((
            at,
            format!("{path}.kind is missing"),
            format!("add kind = \"…\", one of {}", keys::KINDS.join(", ")),
        ));
    };
    check_value(&keys::HISTORY[0], &format!("{path}.kind"), kind, offset(source, "kind"))?;
    let Some(known) = kind.as_str().and_then(keys::of_source) else { return Ok(()) };
    for (key, item) in source.iter() {
        check_entry(known, &path, source, key, item)?;
    }
    let mut wanted: Vec<&str> = known.iter().filter(|k| k.required).map(|k| k.name).collect();
    if source.contains_key("mapping") {
        wanted.extend(["mapping.table", "mapping.id", "mapping.text"]);
    }
    for key in wanted {
        if lookup(source, key).is_none() {
            return Err((
                at,
                format!("{path}.{key} is missing"),
                format!("set it: pao config set {path}.{key} VALUE"),
            ));
        }
    }
    Ok(())
}

/// Whether a source can be called that: it names a secret and stands in citations.
pub fn name_is_usable(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        && !name.starts_with('-')
}

/// Checks one entry of `parent`, which stands at `prefix`; tables within are checked with it.
fn check_entry(
    known: &[Key],
    prefix: &str,
    parent: &dyn TableLike,
    name: &str,
    item: &Item,
) -> Result<(), Complaint> {
    check_below(known, prefix, "", parent, name, item)
}

fn check_below(
    known: &[Key],
    prefix: &str,
    within: &str,
    parent: &dyn TableLike,
    name: &str,
    item: &Item,
) -> Result<(), Complaint> {
    let relative = join(within, name);
    let shown = join(prefix, &relative);
    let at = offset(parent, name);
    if let Some(key) = known.iter().find(|k| k.name == relative) {
        return check_value(key, &shown, item, at);
    }
    let below = format!("{relative}.");
    if known.iter().any(|k| k.name.starts_with(&below)) {
        let inner = table(item, &shown, at)?;
        for (name, item) in inner.iter() {
            check_below(known, prefix, &relative, inner, name, item)?;
        }
        return Ok(());
    }
    Err((at, format!("{shown} is not a key pao knows"), suggestion(known, prefix, &relative)))
}

pub(super) fn suggestion(known: &[Key], prefix: &str, written: &str) -> String {
    let sections = known.iter().filter_map(|k| k.name.split_once('.')).map(|(section, _)| section);
    // A section's own name names nothing that could be set.
    let others = known.iter().map(|k| k.name).chain(sections).filter(|name| *name != written);
    match keys::nearest(written, others) {
        Some(near) => format!("did you mean {}? All keys: pao config show", join(prefix, near)),
        None => "see all keys: pao config show".into(),
    }
}

pub(super) fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") }
}

pub(super) fn lookup<'a>(table: &'a dyn TableLike, path: &str) -> Option<&'a Item> {
    match path.split_once('.') {
        None => table.get(path),
        Some((first, rest)) => lookup(table.get(first)?.as_table_like()?, rest),
    }
}

fn table<'a>(item: &'a Item, shown: &str, at: Option<usize>) -> Result<&'a dyn TableLike, Complaint> {
    item.as_table_like().ok_or_else(|| {
        (
            item.span().map(|s| s.start).or(at),
            format!("{shown} is {}, not a table", a(item)),
            format!("write it as a table: [{shown}]"),
        )
    })
}

fn offset(table: &dyn TableLike, name: &str) -> Option<usize> {
    table.key(name).and_then(toml_edit::Key::span).map(|s| s.start)
}

fn a(item: &Item) -> &'static str {
    match item.type_name() {
        "string" => "text",
        "integer" => "a whole number",
        "float" => "a fraction",
        "boolean" => "true or false",
        "datetime" => "a date",
        "array" | "array of tables" => "a list",
        _ => "a table",
    }
}

fn check_value(key: &Key, shown: &str, item: &Item, at: Option<usize>) -> Result<(), Complaint> {
    let at = item.span().map(|s| s.start).or(at);
    let wrong = |found: &str| {
        let wanted = key.takes.wanted();
        Err((at, format!("{shown} is {found}, but wants {wanted}"), format!("set it to {wanted}")))
    };
    match key.takes {
        // Of keys in the file that are none the app tells; nothing else stands still for them.
        Takes::Text | Takes::Url(_) | Takes::OneOf(_) | Takes::Keys => match item.as_str() {
            Some(text) => check_text(key, shown, text).map_err(|wrong| (at, wrong.message, wrong.next)),
            None => wrong(a(item)),
        },
        Takes::Number(from, to) => match item.as_integer() {
            Some(n) if (from..=to).contains(&n) => Ok(()),
            Some(n) => wrong(&n.to_string()),
            None => wrong(a(item)),
        },
        Takes::Amount => match item.as_float().or_else(|| item.as_integer().and_then(whole)) {
            Some(amount) if (0.0..=1000.0).contains(&amount) => Ok(()),
            Some(amount) => wrong(&amount.to_string()),
            None => wrong(a(item)),
        },
        Takes::Flag => {
            if item.as_bool().is_some() {
                Ok(())
            } else {
                wrong(a(item))
            }
        }
        Takes::Texts => match item.as_array() {
            Some(list) if list.iter().all(toml_edit::Value::is_str) => Ok(()),
            Some(_) => wrong("a list of something else"),
            None => wrong(a(item)),
        },
    }
}

/// A whole number as an amount.
fn whole(number: i64) -> Option<f64> {
    i32::try_from(number).ok().map(f64::from)
}

/// What is wrong with a text for that key, and what to do. The text itself is repeated only where it cannot hold a
/// secret.
pub(super) fn check_text(key: &Key, shown: &str, text: &str) -> Result<(), Error> {
    let wanted = key.takes.wanted();
    match key.takes {
        Takes::OneOf(words) if !words.contains(&text) => {
            let next = match keys::nearest(text, words.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("set it to one of {wanted}"),
            };
            Err(Error::user(format!("{shown} is {text:?}, but wants one of {wanted}"), next))
        }
        Takes::Url(schemes) => check_url(schemes, shown, text, &wanted),
        _ if text.is_empty() => Err(Error::user(format!("{shown} is empty"), format!("set it to {wanted}"))),
        _ if text.chars().any(char::is_control) => {
            Err(Error::user(format!("{shown} holds a control character"), "remove it"))
        }
        _ => Ok(()),
    }
}

/// Names in an address's query whose value is a secret.
const SECRET_WORDS: &[&str] = &[
    "password",
    "sslpassword",
    "passwd",
    "token",
    "access_token",
    "auth_token",
    "api_key",
    "api-key",
    "apikey",
    "secret",
    "client_secret",
];

fn check_url(schemes: &[&str], shown: &str, text: &str, wanted: &str) -> Result<(), Error> {
    let unusable = || Err(Error::user(format!("{shown} is not {wanted}"), format!("set it to {wanted}")));
    let Ok(url) = reqwest::Url::parse(text) else { return unusable() };
    if !schemes.contains(&url.scheme()) || (url.host_str().is_none() && url.query().is_none()) {
        return unusable();
    }
    let in_query =
        url.query_pairs().any(|(name, _)| SECRET_WORDS.iter().any(|w| name.eq_ignore_ascii_case(w)));
    // A database wants its user's name there; before a web address it can only be a token.
    let as_user = url.scheme().starts_with("http") && !url.username().is_empty();
    if url.password().is_some_and(|p| !p.is_empty()) || in_query || as_user {
        let source = shown.split('.').nth(1).unwrap_or("NAME");
        return Err(Error::user(
            format!("{shown} holds a password or token"),
            format!("take it out of the address and keep it with: pao secret set {source}"),
        )
        .in_window(format!("take it out of the address and keep it as the secret of {source}")));
    }
    Ok(())
}

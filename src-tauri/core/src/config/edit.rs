//! Changing the configuration: typed, checked as a whole before it is written, comments and order kept.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use super::hotkey;
use super::keys::{self, Key, Takes};
use super::load::{Written, check_text, join, lookup, name_is_usable, suggestion};
use super::tolerant;
use super::{Config, SourceConfig};
use super::{lines, lists};
use crate::Error;
use crate::host::{Host, files, terminal};

/// The configuration file while it is changed. Other editors of ours wait until this one is dropped.
#[derive(Debug)]
pub struct Editor {
    file: Written,
    document: DocumentMut,
    config: Config,
    _lock: File,
}

/// One line of `config show`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its full path.
    pub key: String,
    /// What is in effect, as TOML; `None` where nothing is set and there is no default.
    pub value: Option<String>,
    /// It is not in the file.
    pub default: bool,
    /// What it means.
    pub says: &'static str,
}

impl Editor {
    /// Opens the file for changing; one that does not read is refused.
    pub fn open(host: &Host) -> Result<Self, Error> {
        let refused = |e: std::io::Error| {
            let folder = host.display(&host.pao_home);
            Error::environment(
                format!("{folder} cannot be written: {e}"),
                format!("make {folder} writable for you, or set PAO_HOME to another folder"),
            )
        };
        files::private_dir(&host.pao_home).map_err(refused)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(host.pao_home.join("config.lock"))
            .map_err(refused)?;
        lock.lock().map_err(refused)?;
        let file = Written::read(host)?;
        let (config, document) = file.parse()?;
        Ok(Self { file, document: document.into_mut(), config, _lock: lock })
    }

    /// The same, where a file that does not read is kept aside first and a new one begun.
    pub fn open_anyway(host: &Host) -> Result<Self, Error> {
        Self::open(host).or_else(|_| {
            tolerant::keep_aside(host)?;
            Self::open(host)
        })
    }

    /// What the file says.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Sets a key from a word of the command line; lists are given as TOML or as words separated by commas.
    pub fn set(&mut self, path: &str, word: &str) -> Result<(), Error> {
        let key = self.known(path)?;
        // A file may be shared with another system, so reading one allows what this system does not have.
        if path == "spawn.terminal" && !terminal::names_here().any(|name| name == word) {
            let here: Vec<_> = terminal::names_here().collect();
            let elsewhere = terminal::NAMES.contains(&word);
            let why =
                if elsewhere { "which there is only on macOS" } else { "which is no terminal pao knows" };
            return Err(Error::user(
                format!("{path} is {word:?}, {why}"),
                format!("set it to one of {}", here.join(", ")),
            ));
        }
        let value = value(&key, path, word)?;
        if let Some(name) = self.config.implied_history()
            && path.strip_prefix("sources.").is_some_and(|rest| rest.split('.').next() == Some(name))
        {
            // It is there without standing in the file; now it has to.
            self.add_source(name, "history", &[])?;
        }
        self.put(path, value)
    }

    /// Adds a text to a list. What else stands in it, comments included, is left as it is.
    pub fn add_text(&mut self, path: &str, text: &str) -> Result<(), Error> {
        let key = self.known(path)?;
        check_text(&key, path, text)?;
        match self.list(path) {
            Some(list) => lists::push(list, text),
            None => self.put(path, Value::Array(Array::from_iter([text])))?,
        }
        Ok(())
    }

    /// Takes a text out of a list, with the comment beside it. False when it was not there. An empty list goes.
    pub fn remove_text(&mut self, path: &str, text: &str) -> Result<bool, Error> {
        self.known(path)?;
        let Some(list) = self.list(path) else { return Ok(false) };
        let removed = lists::remove(list, text);
        // Comments that stand in an empty list are the user's all the same.
        if removed && list.is_empty() && !list.to_string().contains('#') {
            self.unset(path)?;
        }
        Ok(removed)
    }

    fn list(&mut self, path: &str) -> Option<&mut Array> {
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
        for part in parents.split('.').filter(|p| !p.is_empty()) {
            table = table.get_mut(part).and_then(Item::as_table_like_mut)?;
        }
        table.get_mut(name)?.as_array_mut()
    }

    /// Takes a key out of the file, so that its default holds again. False when it was not there.
    pub fn unset(&mut self, path: &str) -> Result<bool, Error> {
        self.known(path)?;
        if let Some(text) = lines::without(&self.document.to_string(), path)
            && let Ok(document) = text.parse()
        {
            self.document = document;
            return Ok(true);
        }
        let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for part in parents.split('.').filter(|p| !p.is_empty()) {
            match table.get_mut(part).and_then(Item::as_table_like_mut) {
                Some(inner) => table = inner,
                None => return Ok(false),
            }
        }
        Ok(table.remove(name).is_some())
    }

    /// Adds a source. `settings` are its keys and values as words; those without a value are left out.
    pub fn add_source(
        &mut self,
        name: &str,
        kind: &str,
        settings: &[(&str, Option<&str>)],
    ) -> Result<(), Error> {
        if !name_is_usable(name) {
            return Err(Error::user(
                format!("{name:?} cannot name a source"),
                "use up to 64 letters, digits, - and _",
            ));
        }
        if self.config.sources.contains_key(name) {
            return Err(Error::user(
                format!("there already is a source {name}"),
                format!("choose another name, or first: pao sources remove {name}"),
            ));
        }
        let known = keys::of_source(kind).unwrap_or_default();
        let mut table = self.table_at_the_end();
        table.insert("kind", toml_edit::value(kind));
        for (setting, word) in settings {
            let (Some(word), Some(key)) = (word, known.iter().find(|k| k.name == *setting)) else { continue };
            let value = value(key, &format!("sources.{name}.{setting}"), word)?;
            match setting.split_once('.') {
                None => table.insert(setting, Item::Value(value)),
                Some((outer, inner)) => {
                    let outer = table.entry(outer).or_insert_with(|| Item::Table(Table::new()));
                    outer.as_table_mut().and_then(|t| t.insert(inner, Item::Value(value)))
                }
            };
        }
        let sources = self.document.entry("sources").or_insert_with(|| {
            let mut sources = Table::new();
            sources.set_implicit(true);
            Item::Table(sources)
        });
        match sources {
            Item::Table(sources) => sources.insert(name, Item::Table(table)),
            other => other
                .as_table_like_mut()
                .and_then(|sources| sources.insert(name, Item::Value(table.into_inline_table().into()))),
        };
        Ok(())
    }

    /// Removes a source from the file and returns what it was.
    pub fn remove_source(&mut self, name: &str) -> Result<SourceConfig, Error> {
        let Some(source) = self.config.sources.remove(name) else {
            if self.config.implied_history() == Some(name) {
                return Err(Error::user(
                    format!("the source {name} is there by itself"),
                    format!("switch it off: pao config set sources.{name}.enabled false"),
                )
                .in_window("switch it off instead"));
            }
            let hint = match keys::nearest(name, self.config.sources.keys().map(String::as_str)) {
                Some(near) => format!("did you mean {near}?"),
                None => "see `pao sources`".into(),
            };
            return Err(Error::user(format!("there is no source {name} in {}", self.file.shown), hint)
                .in_window("look at the sources in the settings again"));
        };
        if let Some(sources) = self.document.get_mut("sources").and_then(Item::as_table_like_mut) {
            sources.remove(name);
            if sources.is_empty() {
                self.document.remove("sources");
            }
        }
        Ok(source)
    }

    /// Every key with what is in effect.
    pub fn settings(&self) -> Vec<Setting> {
        in_effect(self.document.as_table(), self.config.implied_history())
    }

    /// Checks the whole and replaces the file in one step.
    pub fn save(self) -> Result<Config, Error> {
        let content = self.file.endings.of(&self.document.to_string());
        let changed = Written { content, ..self.file.clone() };
        // What we are about to write is read back first: an edit of ours must never leave a file that we refuse.
        let (config, _) = changed.parse().map_err(|e| Error::user(e.what, e.next))?;
        let before = files::read_if_there(&changed.path).ok().flatten().unwrap_or_default();
        if before != self.file.bytes() {
            return Err(Error::user(
                format!("{} was changed by another program just now", changed.shown),
                "run the command again",
            ));
        }
        let written = if changed.path.exists() {
            files::write_in_place(&changed.path, &changed.bytes())
        } else {
            files::write_private(&changed.path, &changed.bytes(), false)
        };
        written.map_err(|e| {
            Error::environment(
                format!("{} cannot be written: {e}", changed.shown),
                format!("make {} writable for you", changed.shown),
            )
        })?;
        Ok(config)
    }

    fn known(&self, path: &str) -> Result<Key, Error> {
        let unknown = |known: &[Key], prefix: &str, written: &str| {
            Error::user(format!("{path} is not a key pao knows"), suggestion(known, prefix, written))
        };
        let Some(rest) = path.strip_prefix("sources.") else {
            return keys::GENERAL
                .iter()
                .find(|k| k.name == path)
                .copied()
                .ok_or_else(|| unknown(keys::GENERAL, "", path));
        };
        let (name, key) = rest.split_once('.').unwrap_or((rest, ""));
        let configured = self.config.sources.get(name).map(SourceConfig::kind);
        let implied = self.config.implied_history().filter(|implied| *implied == name).map(|_| "history");
        let Some(kind) = configured.or(implied) else {
            return Err(Error::user(
                format!("there is no source {name} in {}", self.file.shown),
                "add one with `pao sources add`",
            )
            .in_window("add one under Sources in the settings"));
        };
        let known = keys::of_source(kind).unwrap_or_default();
        let found = known.iter().find(|k| k.name == key).copied();
        if found.is_some_and(|k| k.name == "kind") {
            return Err(Error::user(
                "the kind of a source cannot be changed",
                format!("remove it and add another: pao sources remove {name}"),
            )
            .in_window("remove it and add another"));
        }
        found.ok_or_else(|| unknown(known, &format!("sources.{name}"), key))
    }

    /// A table that is going to be the last one: comments at the end of the file stay where they are, before it.
    fn table_at_the_end(&mut self) -> Table {
        let mut table = Table::new();
        let end = self.document.trailing().as_str().unwrap_or_default().to_owned();
        if !self.document.is_empty() || !end.is_empty() {
            table.decor_mut().set_prefix(format!("{end}\n"));
            self.document.set_trailing("");
        }
        table
    }

    /// Puts a value at a path, keeping the comment beside an old one.
    fn put(&mut self, path: &str, mut value: Value) -> Result<(), Error> {
        let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
        if let Some((section, _)) = path.split_once('.')
            && !self.document.contains_key(section)
        {
            let table = self.table_at_the_end();
            self.document.insert(section, Item::Table(table));
        }
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for part in parents.split('.').filter(|p| !p.is_empty()) {
            let inner = table.entry(part).or_insert_with(|| Item::Table(Table::new()));
            table = inner
                .as_table_like_mut()
                .ok_or_else(|| Error::internal(format!("{part} in the configuration is no table")))?;
        }
        match table.get_mut(name).and_then(Item::as_value_mut) {
            Some(old) => {
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            None => {
                table.insert(name, Item::Value(value));
            }
        }
        Ok(())
    }
}

/// Every key with what is in effect; only reads.
pub fn settings(host: &Host) -> Result<Vec<Setting>, Error> {
    let (config, document) = Written::read(host)?.parse()?;
    Ok(in_effect(document.as_table(), config.implied_history()))
}

/// The same, where a file that does not read counts as none.
pub fn settings_anyway(host: &Host) -> Vec<Setting> {
    settings(host).unwrap_or_else(|_| in_effect(&Table::new(), Config::default().implied_history()))
}

fn in_effect(root: &dyn TableLike, implied: Option<&str>) -> Vec<Setting> {
    let setting = |prefix: &str, table: &dyn TableLike, key: &Key| {
        let set = lookup(table, key.name).and_then(Item::as_value).map(|v| plain(v).to_string());
        Setting {
            key: join(prefix, key.name),
            default: set.is_none(),
            value: set.or_else(|| key.default.map(Into::into)),
            says: key.says,
        }
    };
    let mut all: Vec<_> = keys::GENERAL.iter().map(|key| setting("", root, key)).collect();
    let sources = root.get("sources").and_then(Item::as_table_like);
    for (name, item) in sources.iter().flat_map(|s| s.iter()) {
        let Some(table) = item.as_table_like() else { continue };
        let kind = table.get("kind").and_then(Item::as_str).unwrap_or_default();
        let prefix = format!("sources.{name}");
        all.extend(keys::of_source(kind).unwrap_or_default().iter().map(|k| setting(&prefix, table, k)));
    }
    if let Some(name) = implied {
        let (prefix, nothing) = (format!("sources.{name}"), Table::new());
        let keys = keys::HISTORY.iter().filter(|key| !key.required);
        all.extend(keys.map(|key| setting(&prefix, &nothing, key)));
    }
    all
}

fn plain(value: &Value) -> Value {
    let mut value = value.clone();
    value.decor_mut().clear();
    value
}

fn value(key: &Key, path: &str, word: &str) -> Result<Value, Error> {
    let refused = |found: String| {
        let wanted = key.takes.wanted();
        Error::user(format!("{path} {found}, but wants {wanted}"), format!("give it {wanted}"))
    };
    match key.takes {
        Takes::Text | Takes::Url(_) | Takes::OneOf(_) => {
            check_text(key, path, word)?;
            Ok(word.into())
        }
        Takes::Keys if word != "off" && !hotkey::is_combination(word) => Err(refused(format!("is {word:?}"))),
        Takes::Keys => Ok(word.into()),
        Takes::Number(from, to) => match word.trim().replace('_', "").parse::<i64>() {
            Ok(number) if (from..=to).contains(&number) => Ok(number.into()),
            _ => Err(refused(format!("is {word:?}"))),
        },
        Takes::Amount => match word.trim().parse::<f64>() {
            Ok(amount) if (0.0..=1000.0).contains(&amount) => Ok(amount.into()),
            _ => Err(refused(format!("is {word:?}"))),
        },
        Takes::Flag => match word {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err(refused(format!("is {word:?}"))),
        },
        Takes::Texts => texts(word).map(Value::Array).ok_or_else(|| refused("is something else".into())),
    }
}

fn texts(word: &str) -> Option<Array> {
    if word.trim_start().starts_with('[') {
        let value: Value = word.trim().parse().ok()?;
        let list = value.as_array()?;
        return list.iter().all(Value::is_str).then(|| list.clone());
    }
    Some(word.split(',').map(str::trim).filter(|w| !w.is_empty()).collect())
}

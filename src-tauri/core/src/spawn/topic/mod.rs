//! Turns what the user typed into a task with a folder and an agent name, or refuses before anything has started.
//!
//! The folder is an explicit one, else the first existing one named in the text, else the current one. It never
//! runs elsewhere than asked: an explicit folder that is missing, or a path in the text that plainly means this
//! disk and is not there, is a refusal. No process is started here; what a branch or a reflog says is read from
//! Git's own files.

mod folder;
mod mention;
mod name;
mod refusal;
mod suggest;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use self::mention::Mention;
pub use self::name::check as check_name;
pub use self::refusal::TopicError;
pub use self::suggest::{Hints, suggest};
use crate::host::Host;
use crate::project::Project;
use crate::spawn::passed::Topic;

/// What was typed.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The folder given by `-C`, relative to the caller's current folder.
    pub folder: Option<&'a Path>,
    /// The topic in the user's words; empty when there is none.
    pub words: &'a str,
    /// The agent name given by `--name`.
    pub name: Option<&'a str>,
    /// Names of live agents.
    pub names_in_use: &'a BTreeSet<String>,
}

/// Resolves and validates. Without a task the query is what the folder's name, branch and recent commits say; give
/// it to [`suggest`] with what else is known.
pub fn resolve(asked: &Asked<'_>, host: &Host) -> Result<Topic, TopicError> {
    if let Some(character) = asked.words.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(TopicError::ControlInPrompt(character));
    }
    let mut query = asked.words.to_owned();
    let (folder, words) = match asked.folder {
        Some(given) => (folder::explicit(given, host)?, Some(asked.words)),
        None => match mention::find(asked.words, host) {
            Some(Mention::Folder { path, is_all, at }) => {
                query = without(asked.words, at);
                (folder::accept(&path, host)?, (!is_all).then_some(asked.words))
            }
            Some(Mention::Missing(path)) => {
                return Err(TopicError::Missing { nearest: folder::nearest(&path), path });
            }
            None => (folder::accept(&host.cwd, host)?, Some(asked.words)),
        },
    };
    let project = Project::of(&folder);
    let name = match asked.name {
        Some(given) => name::explicit(given, asked.names_in_use)?,
        None => name::derive(&folder, asked.names_in_use),
    };
    let prompt = words.filter(|w| !w.trim().is_empty()).map(ToOwned::to_owned);
    let query = if prompt.is_some() { query } else { String::new() };
    let topic = Topic { prompt, query, folder, project, name };
    Ok(suggest(topic, &Hints::default()))
}

/// What the stores are asked: where the work is says nothing about it, and no memory is to hold the folder's name.
fn without(words: &str, at: Range<usize>) -> String {
    let (before, after) = (words.get(..at.start).unwrap_or(words), words.get(at.end..).unwrap_or_default());
    let quotes = ['"', '\'', '`', '“', '”', '‘', '’', '「', '」', '《', '》'];
    let (before, after) = (before.trim_end_matches(quotes).trim(), after.trim_start_matches(quotes).trim());
    format!("{before} {after}").trim().to_owned()
}

/// Where in the words a folder is named, in bytes.
pub fn mentioned(words: &str, host: &Host) -> Option<Range<usize>> {
    match mention::find(words, host)? {
        Mention::Folder { at, .. } => Some(at),
        Mention::Missing(_) => None,
    }
}

/// The folder that a request names beside its words: the chosen one, or what a face shows as long as the words name
/// none. A folder that is named and missing is named all the same: nothing starts elsewhere instead.
pub fn beside(
    chosen: Option<PathBuf>,
    otherwise: Option<PathBuf>,
    words: &str,
    host: &Host,
) -> Option<PathBuf> {
    chosen.or_else(|| otherwise.filter(|_| mention::find(words, host).is_none()))
}

/// What a path starts from when it is not absolute.
fn absolute(path: &Path, host: &Host) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(rest) => host.home.join(rest),
        Err(_) => host.cwd.join(path),
    }
}

#[cfg(test)]
mod tests;

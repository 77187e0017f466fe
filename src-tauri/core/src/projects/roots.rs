//! The folders in which projects are looked for: named by the user, or proposed from what transcripts say.
//!
//! A root is kept as it was written, and stays in the configuration when its disk is away. Nothing is watched by
//! itself: what is found in transcripts is proposed, and the user says yes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::Error;
use crate::config::edit::Editor;
use crate::host::{Host, os};
use crate::source::history::Session;

/// Key of the roots in the configuration.
pub const KEY: &str = "projects.roots";

/// Names shown of what is in a proposed folder.
const EXAMPLES: usize = 3;

/// A folder that could be watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The folder.
    pub folder: PathBuf,
    /// In how many of its projects agents were at work.
    pub projects: usize,
    /// Names of those that were worked in last.
    pub examples: Vec<String>,
    /// When that was.
    pub active_at: DateTime<Utc>,
}

/// A root as it is written, as a path.
pub fn expand(host: &Host, written: &str) -> PathBuf {
    match written.strip_prefix("~/") {
        Some(rest) => host.home.join(rest),
        None if written == "~" => host.home.clone(),
        None => host.home.join(written),
    }
}

/// Folders where projects of agents were, most recently active first; those inside a root, or that are never watched
/// as a whole, are left out.
pub fn proposals(host: &Host, roots: &[PathBuf], sessions: &[Session]) -> Vec<Proposal> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let home = real(&host.home);
    let roots: Vec<PathBuf> = roots.iter().map(|root| real(root)).collect();
    let mut active: BTreeMap<PathBuf, DateTime<Utc>> = BTreeMap::new();
    for session in sessions {
        let project = Path::new(&session.project);
        let place = if project.is_dir() { project } else { &session.folder };
        let Some(place) = place.canonicalize().ok().filter(|place| place.is_dir()) else { continue };
        if is_worth(host, &home, &place) && !roots.iter().any(|root| place.starts_with(root)) {
            let known = active.entry(place).or_insert(session.at);
            *known = session.at.max(*known);
        }
    }
    let mut parents: BTreeSet<&Path> = BTreeSet::new();
    for project in active.keys() {
        // A project that lies where nothing is to be watched as a whole is proposed itself.
        let parent = project.parent().filter(|parent| is_worth(host, &home, parent));
        parents.insert(parent.unwrap_or(project));
    }
    let outer = parents.iter().filter(|folder| !folder.ancestors().skip(1).any(|up| parents.contains(up)));
    let mut proposals: Vec<Proposal> = outer
        .filter_map(|folder| {
            let mut inside: Vec<_> =
                active.iter().filter(|(project, _)| project.starts_with(folder)).collect();
            inside.sort_by_key(|(_, at)| std::cmp::Reverse(**at));
            Some(Proposal {
                folder: folder.to_path_buf(),
                projects: inside.len(),
                examples: inside.iter().take(EXAMPLES).map(|(project, _)| super::name_of(project)).collect(),
                active_at: *inside.first()?.1,
            })
        })
        .collect();
    proposals.sort_by(|a, b| b.active_at.cmp(&a.active_at).then_with(|| a.folder.cmp(&b.folder)));
    proposals
}

/// Whether a folder may be watched with all that is in it: not the home directory, nothing above it, no temporary and
/// no hidden folder.
fn is_worth(host: &Host, home: &Path, folder: &Path) -> bool {
    if refusal(host, folder).is_some() {
        return false;
    }
    if let Ok(inside) = folder.strip_prefix(home) {
        return !inside.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
            && !inside.starts_with("Library");
    }
    let temporary = host.var("TMPDIR").map(PathBuf::from).into_iter();
    let mut temporary = temporary.chain(os::TEMPORARY.iter().map(PathBuf::from));
    !temporary
        .any(|tmp| folder.starts_with(&tmp) || tmp.canonicalize().is_ok_and(|tmp| folder.starts_with(tmp)))
}

/// Why a folder is never watched as a whole.
fn refusal(host: &Host, folder: &Path) -> Option<&'static str> {
    let home = host.home.canonicalize().unwrap_or_else(|_| host.home.clone());
    if folder.parent().is_none() {
        Some("that is the whole disk")
    } else if home.starts_with(folder) {
        Some("that is the home directory, or holds it")
    } else {
        None
    }
}

/// The folder itself, where it may be watched.
fn check(host: &Host, folder: &Path) -> Result<PathBuf, Error> {
    let given = host.cwd.join(folder);
    let shown = host.display(&given);
    let real = given
        .canonicalize()
        .map_err(|e| Error::user(format!("{shown} cannot be watched: {e}"), "name a folder that is there"))?;
    if !real.is_dir() {
        return Err(Error::user(format!("{shown} is not a folder"), "name a folder"));
    }
    if let Some(why) = refusal(host, &real) {
        return Err(Error::user(
            format!("{shown} is not watched: {why}"),
            "name a folder in which your projects are, as ~/code",
        ));
    }
    Ok(real)
}

/// Adds a root to the configuration; the path as it stands there. False where it already was in it.
pub fn add(host: &Host, folder: &Path) -> Result<(PathBuf, bool), Error> {
    let given = host.cwd.join(folder);
    let shown = host.display(&given);
    let real = check(host, folder)?;
    let mut editor = Editor::open(host)?;
    let written = &editor.config().projects.roots;
    let known = written
        .iter()
        .map(|root| expand(host, root))
        .find(|root| root.canonicalize().is_ok_and(|r| r == real));
    if let Some(known) = known {
        return Ok((known, false));
    }
    // By the name it was called, which may be a link that is to lead elsewhere one day.
    let named: PathBuf = given.components().filter(|part| part.as_os_str() != ".").collect();
    let named = if named.components().any(|part| part.as_os_str() == "..") { real } else { named };
    let Some(text) = written_as(host, &named) else {
        return Err(Error::user(
            format!(
                "{shown} cannot stand in the configuration: its name is no Unicode text, or holds control characters"
            ),
            "rename it, or name the folder it is in",
        ));
    };
    editor.add_text(KEY, &text)?;
    editor.save()?;
    Ok((named, true))
}

/// Takes a root out of the configuration, whether it is there or not; its path.
pub fn remove(host: &Host, folder: &Path) -> Result<PathBuf, Error> {
    let mut editor = Editor::open(host)?;
    let written = editor.config().projects.roots.clone();
    let given = host.cwd.join(folder);
    let real = |path: &Path| path.canonicalize().ok();
    let same = |root: &String| {
        let root = expand(host, root);
        root == given
            || real(&root).is_some_and(|root| real(&given) == Some(root))
            || Path::new(root.as_os_str()) == folder
    };
    let Some(place) = written.iter().position(same) else {
        let shown = host.display(&given);
        return Err(Error::user(
            format!("{shown} is not among the folders that are watched"),
            "see `pao projects`",
        )
        .in_window("look at the folders in the settings"));
    };
    editor.remove_text(KEY, &written[place])?;
    editor.save()?;
    Ok(expand(host, &written[place]))
}

/// Watches exactly these folders. What is watched already stays as it is written, wherever it is now; all are looked at
/// before anything is changed.
pub fn set(host: &Host, folders: &[PathBuf]) -> Result<(), Error> {
    let written = Editor::open(host)?.config().projects.roots.clone();
    let before: Vec<PathBuf> = written.iter().map(|root| expand(host, root)).collect();
    let same = |a: &Path, b: &Path| {
        a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
    };
    let is_in = |folder: &Path, all: &[PathBuf]| all.iter().any(|one| same(one, folder));
    let new: Vec<&PathBuf> = folders.iter().filter(|folder| !is_in(folder, &before)).collect();
    for folder in &new {
        check(host, folder)?;
    }
    for folder in new {
        add(host, folder)?;
    }
    for folder in before.iter().filter(|folder| !is_in(folder, folders)) {
        remove(host, folder)?;
    }
    Ok(())
}

fn written_as(host: &Host, folder: &Path) -> Option<String> {
    let text = match folder.strip_prefix(&host.home) {
        Ok(inside) => format!("~/{}", inside.to_str()?),
        Err(_) => folder.to_str()?.to_owned(),
    };
    (!text.chars().any(char::is_control)).then_some(text)
}

#[cfg(test)]
mod tests;

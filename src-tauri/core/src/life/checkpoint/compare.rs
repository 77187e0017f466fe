//! Two checkpoints side by side: what came between. It only reads, and says what can no longer be said.

use std::collections::BTreeSet;

use super::{Checkpoint, Place};
use crate::capture::redact::redact;
use crate::capture::transcript::{Entry, Reader};
use crate::life::repository::{self, Between};
use crate::source::Speaker;

/// Prompts told of what came between; of too many the newest stay.
const PROMPTS: usize = 20;
/// Longest prompt told, in characters.
const LONGEST: usize = 400;

/// What came between two checkpoints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    /// The branches, where they differ.
    pub branches: Option<(Option<String>, Option<String>)>,
    /// Commits and files; absent where there is nothing to say, see `notes`.
    pub between: Option<Between>,
    /// Paths that were not committed at the second and not among those of the first, or changed since.
    pub dirty: Vec<String>,
    /// Prompts since the first, oldest first.
    pub prompts: Vec<String>,
    /// To-dos of the first that the second no longer has.
    pub todos_done: Vec<String>,
    /// To-dos of the second that the first did not have.
    pub todos_new: Vec<String>,
    /// Files the agent changed since the first.
    pub files_touched: Vec<String>,
    /// What cannot be said, and why.
    pub notes: Vec<String>,
}

/// Compares two checkpoints, of one agent or of two, in the order given.
pub async fn compare(first: &Checkpoint, second: &Checkpoint) -> Compared {
    let (a, b) = (&first.data, &second.data);
    let mut found = Compared {
        todos_done: without(&a.said.todos, &b.said.todos),
        todos_new: without(&b.said.todos, &a.said.todos),
        files_touched: without(&b.said.files, &a.said.files),
        prompts: prompts(first, second),
        ..Compared::default()
    };
    if a.project != b.project {
        found.notes.push("they are of different projects, so their commits are not compared".into());
        return found;
    }
    let (Some(was), Some(is)) = (&a.git, &b.git) else { return found };
    if was.branch != is.branch {
        found.branches = Some((was.branch.clone(), is.branch.clone()));
    }
    let known: Vec<_> = was.dirty.iter().map(|d| (&d.path, d.stamp)).collect();
    let dirty = is.dirty.iter().filter(|d| !known.contains(&(&d.path, d.stamp)));
    found.dirty = dirty.map(|d| d.path.clone()).collect();
    let folder = if b.folder_is_there() { &b.folder } else { &a.folder };
    match (&was.head, &is.head) {
        (Some(from), Some(to)) if from != to => {
            found.between = repository::between(folder, from, to).await;
            if found.between.is_none() {
                let short = |id: &str| id.chars().take(10).collect::<String>();
                found.notes.push(format!(
                    "{}..{} cannot be compared: a commit is gone, or the repository is",
                    short(from),
                    short(to)
                ));
            } else if found.between.as_ref().is_some_and(|b| b.left_behind > 0) {
                found.notes.push("the second does not contain all commits of the first".into());
            }
        }
        _ => {}
    }
    found
}

fn without(list: &[String], other: &[String]) -> Vec<String> {
    let other: BTreeSet<&String> = other.iter().collect();
    list.iter().filter(|item| !other.contains(item)).cloned().collect()
}

/// From the transcript where both stand in the same one and it is still there, else what the second kept.
fn prompts(first: &Checkpoint, second: &Checkpoint) -> Vec<String> {
    let (a, b) = (&first.data, &second.data);
    if let (Some(from), Some(to)) = (&a.transcript, &b.transcript)
        && from.path == to.path
        && let Some(prompts) = asked_between(from, to)
    {
        return prompts;
    }
    if a.session.is_some() && a.session == b.session {
        return without(&b.said.last_prompts, &a.said.last_prompts);
    }
    b.said.last_prompts.clone()
}

fn asked_between(from: &Place, to: &Place) -> Option<Vec<String>> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(&from.path).ok()?;
    // Cut off or written anew: the places mean nothing any more.
    if file.metadata().ok()?.len() < to.position {
        return None;
    }
    file.seek(SeekFrom::Start(from.position)).ok()?;
    let mut reader = Reader::new(file.take(to.position.saturating_sub(from.position)), from.position).apart();
    let mut prompts = Vec::new();
    while let Some(entry) = reader.next_entry().ok()? {
        let Entry::Message(message) = entry else { continue };
        let text = message.text.trim();
        if message.speaker == Speaker::User && !text.is_empty() {
            prompts.push(redact(text).chars().take(LONGEST).collect());
        }
    }
    Some(prompts.split_off(prompts.len().saturating_sub(PROMPTS)))
}

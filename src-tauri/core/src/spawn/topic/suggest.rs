//! What to ask the stores when no task was given: what the folder itself suggests.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::spawn::passed::Topic;

/// What is known about a folder besides its files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// Title or first prompt of the last session there.
    pub last_session: Option<String>,
    /// Subjects of recent commits, newest first, where the reflog has none (a fresh clone).
    pub commits: Vec<String>,
}

/// At most this many commit subjects are asked about, and this many characters of each hint: more words make
/// the question about everything.
const COMMITS: usize = 3;
const LONGEST: usize = 200;

/// The topic with a query made of project name, branch, last session and recent commits. A topic with a prompt
/// comes back as it is.
pub fn suggest(mut topic: Topic, hints: &Hints) -> Topic {
    if topic.prompt.is_some() {
        return topic;
    }
    let git = topic.project.git_dir.as_deref();
    let mut commits = git.map(commits).unwrap_or_default();
    if commits.is_empty() {
        commits.extend(hints.commits.iter().map(|subject| one_line(subject)));
    }
    commits.truncate(COMMITS);
    let mut parts = vec![one_line(&topic.project.name)];
    parts.extend(git.and_then(branch));
    parts.extend(hints.last_session.as_deref().map(one_line));
    parts.extend(commits);
    parts.retain(|part| !part.is_empty());
    topic.query = parts.join("; ");
    topic
}

/// Words of the checked-out branch, unless it is one every repository has.
fn branch(git_dir: &Path) -> Option<String> {
    let head = std::fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let name = head.trim().strip_prefix("ref: refs/heads/")?;
    if ["main", "master", "trunk", "develop", "dev"].contains(&name) {
        return None;
    }
    Some(one_line(&name.replace(['/', '-', '_', '.'], " ")))
}

/// Subjects of the newest commits made here, newest first, as the reflog has them.
fn commits(git_dir: &Path) -> Vec<String> {
    let Some(log) = tail(&git_dir.join("logs").join("HEAD"), 64 << 10) else { return Vec::new() };
    let mut subjects: Vec<String> = Vec::new();
    for line in log.lines().rev() {
        let Some((_, what)) = line.split_once('\t') else { continue };
        let Some((verb, subject)) = what.split_once(": ") else { continue };
        let subject = one_line(subject);
        if verb.starts_with("commit") && !subjects.contains(&subject) {
            subjects.push(subject);
        }
        if subjects.len() == COMMITS {
            break;
        }
    }
    subjects
}

/// The last bytes of a file, as text.
fn tail(path: &Path, most: u64) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most))).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn one_line(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    folded.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

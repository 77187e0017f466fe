//! What a checkpoint holds: a stored format, read back for as long as there are checkpoints. Texts are redacted
//! before they get here; fields may only be added, each with a default.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::life::extract::Extract;
use crate::life::repository::Standing;

/// The format written now. A later one is still read as far as its fields are known.
pub const FORMAT: u32 = 1;

/// One checkpoint without its id, agent, time and message, which are columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// See [`FORMAT`].
    pub format: u32,
    /// Name of the agent at that moment.
    pub name: String,
    /// Where it worked.
    pub folder: PathBuf,
    /// Identity of the project.
    pub project: String,
    /// Kind of host agent.
    pub host_agent: String,
    /// Version of the host agent.
    pub version: Option<String>,
    /// What it was doing.
    pub state: String,
    /// What it waited for.
    pub needs: Option<String>,
    /// What it had been asked to do at its start.
    pub task: Option<String>,
    /// Where its repository stood; absent where there was none.
    pub git: Option<Standing>,
    /// Its conversation; absent where none had begun.
    pub session: Option<String>,
    /// Where that stood in its transcript; absent where it had none.
    pub transcript: Option<Place>,
    /// What the conversation had come to.
    pub said: Said,
}

/// A place in a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Bytes up to there, all whole records.
    pub position: u64,
}

/// What a conversation had come to, taken from its transcript. Lists are oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Said {
    /// Its title.
    pub title: Option<String>,
    /// What was asked first.
    pub first_prompt: Option<String>,
    /// What was asked last.
    pub last_prompts: Vec<String>,
    /// Items of the agent's own list that were not done.
    pub todos: Vec<String>,
    /// Files the agent had changed.
    pub files: Vec<String>,
    /// Sentences that say what was decided.
    pub decisions: Vec<String>,
    /// Sentences that say what was left open.
    pub open_ends: Vec<String>,
    /// What tools had complained about.
    pub errors: Vec<String>,
    /// What the agent said last.
    pub last_reply: Option<String>,
}

impl Said {
    pub(super) fn of(extract: Extract) -> Self {
        Self {
            title: extract.title,
            first_prompt: extract.first_prompt,
            last_prompts: extract.last_prompts,
            todos: extract.todos,
            files: extract.files_touched,
            decisions: extract.decisions,
            open_ends: extract.open_ends,
            errors: extract.errors,
            last_reply: extract.last_reply,
        }
    }
}

impl Data {
    /// The whole of it in one line: what it was about and how far it had come.
    pub fn summary(&self) -> String {
        let said = &self.said;
        // Its own name, under which it was started, is no title that says anything.
        let title = said.title.as_ref().filter(|title| **title != self.name);
        let about = title.or(said.last_prompts.last()).or(self.task.as_ref());
        let mut parts = vec![first_line(about.map_or("nothing was said yet", String::as_str))];
        let mut count = |n: usize, one: &str, many: &str| {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        };
        count(said.todos.len(), "open to-do", "open to-dos");
        count(said.files.len(), "file changed", "files changed");
        count(said.decisions.len(), "decision", "decisions");
        if let Some(git) = &self.git {
            count(git.dirty.len() + git.more, "path not committed", "paths not committed");
        }
        parts.join("; ")
    }

    /// Whether its folder is still there.
    pub fn folder_is_there(&self) -> bool {
        Path::new(&self.folder).is_dir()
    }
}

/// At most eighty characters of the first line that says something.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().count() <= 80 {
        return line.to_string();
    }
    line.chars().take(79).collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_an_agent_was_given_is_not_what_it_was_about() {
        let prompts = vec!["mend the login".to_string()];
        let titled = |title: &str| Data {
            name: "api".into(),
            said: Said { title: Some(title.into()), last_prompts: prompts.clone(), ..Said::default() },
            ..Data::default()
        };
        assert_eq!(titled("api").summary(), "mend the login");
        assert_eq!(titled("Login mended").summary(), "Login mended");
    }

    #[test]
    fn what_an_older_or_newer_version_wrote_is_read() {
        let older: Data = serde_json::from_str(r#"{"name":"api","said":{"todos":["one"]}}"#).unwrap();
        assert_eq!((older.format, &*older.name, older.said.todos.len()), (0, "api", 1));
        let newer = r#"{"format":7,"name":"api","mood":"good","git":{"head":"abc","moon":"full"}}"#;
        let newer: Data = serde_json::from_str(newer).unwrap();
        assert_eq!(newer.git.unwrap().head.as_deref(), Some("abc"));
        let whole = Data { format: FORMAT, name: "api".into(), ..Data::default() };
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(serde_json::from_str::<Data>(&text).unwrap(), whole);
    }

    #[test]
    fn a_summary_is_one_line_and_says_when_there_was_nothing() {
        assert_eq!(Data::default().summary(), "nothing was said yet");
        let said = Said {
            last_prompts: vec!["one".into(), format!("\n  fix it {}\nand more", "x".repeat(100))],
            todos: vec!["a".into()],
            files: vec!["b".into(), "c".into()],
            ..Said::default()
        };
        let summary = Data { said, ..Data::default() }.summary();
        assert!(summary.starts_with("fix it xxx") && summary.ends_with("…; 1 open to-do; 2 files changed"));
        assert!(!summary.contains('\n'));
    }
}

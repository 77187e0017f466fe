//! The memories that were last shown to the user, so that a mark can be put on one by the id it was cited with.
//!
//! A file of our own folder, 0600, with secrets taken out. It is no store: it holds the newest few hundred, is written
//! only where our folder exists already, and whoever cannot write it goes on without.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Named;
use crate::host::{Host, files};
use crate::source::{Snippet, Speaker};
use crate::spawn::passed::Line;

/// Name of the file in our folder.
pub const FILE: &str = "shown.json";

/// How many are kept.
const MOST: usize = 400;

/// One memory as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Shown {
    source: String,
    id: String,
    title: String,
    text: String,
    at: Option<DateTime<Utc>>,
    speaker: Spoken,
    project: Option<String>,
    session: Option<String>,
    /// Fingerprint of the whole of what it says.
    content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Spoken {
    User,
    Agent,
    Store,
}

/// Keeps what was shown, the newest first. `lines` are what a briefing made of the snippets.
pub fn remember(host: &Host, snippets: &[Snippet], lines: &[Line]) {
    if !host.pao_home.is_dir() {
        return;
    }
    let before = read(host);
    let contents: BTreeMap<(&str, &str), &str> =
        lines.iter().map(|line| ((&*line.source, &*line.id), &*line.content)).collect();
    let mut all: Vec<Shown> = snippets
        .iter()
        .filter_map(|s| Some(Named::known(s, (*contents.get(&(&*s.source, &*s.id))?).to_string())))
        .map(Shown::of)
        .collect();
    if all.is_empty() {
        return;
    }
    let new = all.len();
    all.extend(before.iter().cloned());
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|shown| seen.insert((shown.source.clone(), shown.id.clone())));
    all.truncate(MOST.max(new));
    if all == before {
        return;
    }
    let written = serde_json::to_vec(&all).map_err(std::io::Error::from);
    let written = written.and_then(|bytes| files::write_private(&host.pao_home.join(FILE), &bytes, false));
    if let Err(error) = written {
        tracing::debug!(%error, "what was shown is not kept");
    }
}

/// What was shown, the newest first. A file that does not read holds nothing.
pub(super) fn recent(host: &Host) -> Vec<Named> {
    read(host).into_iter().map(Shown::named).collect()
}

fn read(host: &Host) -> Vec<Shown> {
    let bytes = files::read_if_there(&host.pao_home.join(FILE)).ok().flatten().unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

impl Shown {
    fn of(named: Named) -> Self {
        let Named { memory: snippet, content } = named;
        Self {
            content,
            source: snippet.source,
            id: snippet.id,
            title: snippet.title,
            text: snippet.text,
            at: snippet.at,
            speaker: match snippet.speaker {
                Speaker::User => Spoken::User,
                Speaker::Agent => Spoken::Agent,
                Speaker::Store => Spoken::Store,
            },
            project: snippet.project,
            session: snippet.session,
        }
    }

    fn named(self) -> Named {
        let memory = Snippet {
            source: self.source,
            id: self.id,
            title: self.title,
            text: self.text,
            at: self.at,
            speaker: match self.speaker {
                Spoken::User => Speaker::User,
                Spoken::Agent => Speaker::Agent,
                Spoken::Store => Speaker::Store,
            },
            project: self.project,
            session: self.session,
            score: 0.0,
            importance: None,
        };
        Named { memory, content: self.content }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::Mark;
    use crate::marks::tests::{host, line, marked};

    #[test]
    fn what_was_shown_is_kept_without_secrets_the_newest_first_and_not_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let host = host(dir.path());
        let memory =
            |n: usize| marked(None, Mark::Pin, "facts", &n.to_string(), &format!("claim {n}")).memory;
        let remember = |host: &Host, snippets: &[Snippet]| {
            let lines: Vec<Line> = snippets.iter().map(line).collect();
            super::remember(host, snippets, &lines);
        };
        remember(&host, &[memory(0)]);
        assert!(!host.pao_home.exists(), "nothing is made for it");
        std::fs::create_dir(&host.pao_home).unwrap();
        let secret = Snippet { text: "key sk-proj-FAKE0000000000000000abcd".into(), ..memory(1) };
        remember(&host, &[memory(0), secret]);
        remember(&host, &[memory(2), memory(0)]);
        let ids = |host: &Host| recent(host).iter().map(|n| n.memory.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&host), ["2", "0", "1"]);
        assert!(!std::fs::read_to_string(host.pao_home.join(FILE)).unwrap().contains("FAKE"));
        let many: Vec<Snippet> = (20..MOST + 20).map(memory).collect();
        remember(&host, &many);
        assert_eq!(recent(&host).len(), MOST);
        std::fs::write(host.pao_home.join(FILE), "[{").unwrap();
        assert_eq!(recent(&host), []);
    }
}

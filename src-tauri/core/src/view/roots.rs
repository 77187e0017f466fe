//! Folders that are watched, and such that could be, as the settings and the first run list them.

use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};

use crate::host::Host;
use crate::projects::{self, Proposal};
use crate::wire::door::Root;

/// What was worked in within this time is proposed with a tick.
const LATELY: TimeDelta = TimeDelta::days(60);

/// The configured folders as they fare; those that were not looked through yet say so.
pub fn watched(host: &Host, configured: &[PathBuf], seen: &[projects::Root]) -> Vec<Root> {
    let row = |folder: &PathBuf| match seen.iter().find(|root| root.folder == *folder) {
        Some(seen) => root(host, seen),
        None => Root { note: Some("being looked through".into()), ..bare(host, folder) },
    };
    configured.iter().map(row).collect()
}

/// All that were looked through, as they fare.
pub fn all(host: &Host, seen: &[projects::Root]) -> Vec<Root> {
    seen.iter().map(|seen| root(host, seen)).collect()
}

fn root(host: &Host, root: &projects::Root) -> Root {
    Root {
        projects: small(root.projects),
        examples: root.examples.clone(),
        active_at: root.active_at,
        note: note(root),
        ..bare(host, &root.folder)
    }
}

fn note(root: &projects::Root) -> Option<String> {
    let cut = root.cut.then(|| "has more folders than are gone through".to_string());
    let notes: Vec<String> = root.state.note().into_iter().chain(cut).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Folders that could be watched. With `ticked` those that were worked in lately are chosen already.
pub fn proposed(host: &Host, proposals: &[Proposal], ticked: Option<DateTime<Utc>>) -> Vec<Root> {
    let row = |proposal: &Proposal| Root {
        projects: small(proposal.projects),
        examples: proposal.examples.clone(),
        active_at: Some(proposal.active_at),
        watched: ticked.is_some_and(|now| now - proposal.active_at < LATELY),
        ..bare(host, &proposal.folder)
    };
    proposals.iter().map(row).collect()
}

fn bare(host: &Host, folder: &Path) -> Root {
    Root {
        folder: folder.to_string_lossy().into_owned(),
        shown: host.display(folder),
        projects: 0,
        examples: Vec::new(),
        active_at: None,
        watched: true,
        note: None,
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projects::RootState;
    use crate::view::agents::tests::{host, now};

    #[test]
    fn a_folder_says_what_keeps_it_from_being_watched_and_one_not_looked_through_yet_says_so() {
        let seen = projects::Root {
            folder: "/home/me/code".into(),
            state: RootState::Away,
            projects: 3,
            examples: vec!["api".into()],
            active_at: Some(now()),
            watched: 0,
            partly: 0,
            cut: true,
        };
        let rows = watched(&host(), &["/home/me/code".into(), "/home/me/new".into()], &[seen]);
        let said: Vec<_> = rows.iter().map(|row| (row.shown.as_str(), row.note.as_deref())).collect();
        let wanted = [
            ("~/code", Some("not there; has more folders than are gone through")),
            ("~/new", Some("being looked through")),
        ];
        assert_eq!(said, wanted);
    }

    #[test]
    fn only_what_was_worked_in_lately_is_ticked_already() {
        let proposal = |folder: &str, days| Proposal {
            folder: folder.into(),
            projects: 1,
            examples: Vec::new(),
            active_at: now() - TimeDelta::days(days),
        };
        let all = [proposal("/home/me/code", 2), proposal("/home/me/old", 92)];
        let ticked = |rows: Vec<Root>| rows.iter().map(|row| row.watched).collect::<Vec<_>>();
        assert_eq!(ticked(proposed(&host(), &all, Some(now()))), [true, false]);
        assert_eq!(ticked(proposed(&host(), &all, None)), [false, false]);
    }
}

//! Texts that wait in an agent's private folder until its next prompt, and are then handed over, each once.
//!
//! A text is taken by renaming its file, so that of two hooks only one has it, and put aside only after it was
//! printed: where a hook dies in between, the next one takes the text again.

use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};

use crate::agent::HostAgent;
use crate::host::{Host, files};

/// Folder of what waits.
const NEXT: &str = "next";
/// Folder of what was handed over.
const GIVEN: &str = "given";
const ENDING: &str = ".md";
/// Beginning of a name that says for which prompt alone a text is meant.
const FOR_PROMPT: &str = "for-";
/// Longest file that is read, in bytes.
const PIECE: usize = 1 << 20;

/// After so long whoever took a text is gone: the host agent gives a hook less time than that.
const HELD: TimeDelta = TimeDelta::seconds(30);

/// A text that was taken and not yet put aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    held: PathBuf,
    name: String,
}

impl Taken {
    /// Name under which it was put there.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Puts it aside: it was handed over.
    pub fn settle(self) {
        let Some(folder) = self.held.parent().and_then(Path::parent) else { return };
        let given = folder.join(GIVEN);
        // Nobody is there to be told. Where it stays, it is handed over once more.
        if files::private_subdir(&given).is_ok() {
            let _ = std::fs::rename(&self.held, given.join(self.name + ENDING));
        }
    }
}

/// Puts a text there for the agent's next prompt, under a name of ours (letters, digits, `-`); one of the same name
/// is replaced. Texts are handed over in the order of their names.
pub fn put(host: &Host, agent: &str, name: &str, text: &str) -> io::Result<()> {
    let folder = host.agent_dir(agent).join(NEXT);
    files::private_subdir(&folder)?;
    files::write_private(&folder.join(format!("{name}{ENDING}")), text.as_bytes(), false)
}

/// Puts a text there that is handed over with that very prompt (its fingerprint) and no other.
pub fn put_for(host: &Host, agent: &str, fingerprint: &str, text: &str) -> io::Result<()> {
    put(host, agent, &format!("{FOR_PROMPT}{fingerprint}"), text)
}

/// Takes back what still waits under that name; false where nothing did.
pub fn withdraw(host: &Host, agent: &str, name: &str) -> io::Result<bool> {
    files::remove_if_there(&host.agent_dir(agent).join(NEXT).join(format!("{name}{ENDING}")))
}

/// Whether something waits under that name.
pub fn waits(host: &Host, agent: &str, name: &str) -> bool {
    host.agent_dir(agent).join(NEXT).join(format!("{name}{ENDING}")).exists()
}

/// Texts that were handed over before, and those that still wait: what the agent was or will be told besides its
/// briefing.
pub fn all(host: &Host, agent: &str) -> Vec<String> {
    let folder = host.agent_dir(agent);
    let texts = [GIVEN, NEXT].into_iter().flat_map(|name| listed(&folder.join(name)));
    texts.filter_map(|path| Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())).collect()
}

/// Takes what waits for a prompt of that fingerprint, as far as it fits; what does not waits on. One text that is
/// too long by itself is cut at a line's end.
pub(super) fn take(host: &Host, agent: &str, kind: &HostAgent, prompt: &str) -> (String, Vec<Taken>) {
    let (mut text, mut taken) = (String::new(), Vec::new());
    for path in listed(&host.agent_dir(agent).join(NEXT)) {
        let Some((name, holder)) = parts(&path) else { continue };
        if name.strip_prefix(FOR_PROMPT).is_some_and(|meant| meant != prompt) {
            continue;
        }
        let now = host.now();
        if holder.is_some_and(|since| (now - since).abs() < HELD) {
            continue;
        }
        let one = uuid::Uuid::new_v4().simple();
        let held = path.with_file_name(format!("{name}{ENDING}.{}-{one}", now.timestamp_millis()));
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let more = String::from_utf8_lossy(&bytes[..bytes.len().min(PIECE)]).into_owned();
        let room = kind.hook_context_limit.saturating_sub(kind.context_length(&text));
        let more = match kind.context_length(&more) {
            length if length <= room => more,
            _ if text.is_empty() => super::cut(&more, kind),
            _ => continue,
        };
        if std::fs::rename(&path, &held).is_err() {
            continue;
        }
        text.push_str(&more);
        taken.push(Taken { held, name });
    }
    (text, taken)
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

/// The name a text was put there under, and since when somebody has it, where somebody does.
fn parts(path: &Path) -> Option<(String, Option<DateTime<Utc>>)> {
    let (name, rest) = path.file_name()?.to_str()?.split_once(ENDING)?;
    if name.is_empty() || name.starts_with('.') {
        return None;
    }
    if rest.is_empty() {
        return Some((name.to_string(), None));
    }
    let (since, _) = rest.strip_prefix('.')?.split_once('-')?;
    Some((name.to_string(), DateTime::from_timestamp_millis(since.parse().ok()?)))
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::agent::CLAUDE_CODE;

    fn world() -> (tempfile::TempDir, Host) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_path_buf();
        let host = Host {
            exe: PathBuf::from("/usr/bin/true"),
            frozen: DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").ok().map(|t| t.to_utc()),
            ..Host::at(&home)
        };
        files::private_dir(&host.agent_dir("a")).unwrap();
        (dir, host)
    }

    fn taken(host: &Host, prompt: &str) -> (String, Vec<Taken>) {
        take(host, "a", &CLAUDE_CODE, prompt)
    }

    #[test]
    fn what_waits_is_handed_over_once_in_order_and_known_ever_after() {
        let (_dir, host) = world();
        assert_eq!(taken(&host, "p"), (String::new(), Vec::new()));
        put(&host, "a", "tell-2", "two\n").unwrap();
        put(&host, "a", "tell-1", "one\n").unwrap();
        let (text, held) = taken(&host, "p");
        assert_eq!(text, "one\ntwo\n");
        assert_eq!(taken(&host, "p").0, "", "another hook at the same moment has nothing");
        held.into_iter().for_each(Taken::settle);
        assert_eq!(all(&host, "a"), ["one\n", "two\n"]);
        assert_eq!(taken(&host, "p").0, "");
    }

    #[test]
    fn nothing_is_put_where_an_agent_was_taken_away() {
        let (_dir, host) = world();
        std::fs::remove_dir_all(&host.pao_home).unwrap();
        assert!(put(&host, "a", "tell-1", "one").is_err());
        assert!(!host.pao_home.exists());
    }

    #[test]
    fn what_a_hook_took_and_never_printed_is_handed_over_by_a_later_one() {
        let (_dir, mut host) = world();
        put(&host, "a", "news", "text").unwrap();
        let (_, held) = taken(&host, "p");
        drop(held);
        assert_eq!(taken(&host, "p").0, "");
        host.frozen = host.frozen.map(|now| now + HELD);
        assert_eq!(taken(&host, "p").0, "text");
    }

    #[test]
    fn a_text_for_one_prompt_waits_for_that_one_and_can_be_taken_back() {
        let (_dir, host) = world();
        put_for(&host, "a", "mine", "exact").unwrap();
        assert_eq!(taken(&host, "other").0, "");
        assert_eq!(taken(&host, "mine").0, "exact");
        put(&host, "a", "tell-1", "one").unwrap();
        assert!(waits(&host, "a", "tell-1") && withdraw(&host, "a", "tell-1").unwrap());
        assert!(!waits(&host, "a", "tell-1") && !withdraw(&host, "a", "tell-1").unwrap());
    }

    #[test]
    fn no_more_is_handed_over_than_fits_and_the_rest_comes_next_time() {
        let (_dir, host) = world();
        let line = "字".repeat(5_999) + "\n";
        put(&host, "a", "1", &line).unwrap();
        put(&host, "a", "2", &line).unwrap();
        put(&host, "a", "3", &line.repeat(3)).unwrap();
        assert_eq!(taken(&host, "p").0, line);
        assert_eq!(taken(&host, "p").0, line);
        let (cut, _) = taken(&host, "p");
        assert!(
            cut.contains("cut here") && CLAUDE_CODE.context_length(&cut) <= CLAUDE_CODE.hook_context_limit
        );
    }
}

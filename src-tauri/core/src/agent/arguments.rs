//! The command line of a start or a resume.

use std::ffi::OsString;
use std::path::Path;

use super::{HostAgent, Version};
use crate::spawn::passed::Permission;

/// What a start is to say on the command line.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    /// Version of the program, where it could be found out.
    pub version: Option<Version>,
    /// Conversation id: a new one, or with `resume` an existing one.
    pub session: &'a str,
    /// Goes back to that conversation instead of opening it.
    pub resume: bool,
    /// A conversation the new one begins as a copy of; only where [`super::Flags::fork`] says how.
    pub fork_of: Option<&'a str>,
    /// Name of the session, where the version can show one.
    pub name: &'a str,
    /// Settings for this session only.
    pub settings: Option<&'a Path>,
    /// Permission profile.
    pub permission: Permission,
    /// First prompt.
    pub prompt: Option<&'a str>,
    /// The user's own arguments, placed before ours.
    pub extra: &'a [String],
}

impl HostAgent {
    /// Arguments without the program itself. The prompt comes last after `--`: flags that take several values
    /// would swallow it otherwise.
    pub fn arguments(&self, start: &Arguments<'_>) -> Vec<OsString> {
        let mut words: Vec<OsString> = start.extra.iter().map(OsString::from).collect();
        let mut push = |word: &str| words.push(word.into());
        if let (Some(of), Some(fork)) = (start.fork_of, self.flags.fork) {
            push(self.flags.resume);
            push(of);
            push(fork);
        }
        push(if start.resume { self.flags.resume } else { self.flags.session });
        push(start.session);
        let (name_flag, since) = self.flags.name;
        if start.version.unwrap_or(self.oldest) >= since {
            push(name_flag);
            push(start.name);
        }
        let profile = self.flags.permission.iter().filter(|(profile, _)| *profile == start.permission);
        for word in profile.flat_map(|(_, words)| *words) {
            push(word);
        }
        if let Some(settings) = start.settings {
            words.push(self.flags.settings.into());
            words.push(settings.into());
        }
        if let Some(prompt) = start.prompt.filter(|_| self.flags.prompt_as_argument) {
            words.push("--".into());
            words.push(self.defused(prompt).into());
        }
        words
    }

    /// A prompt without what the host agent puts around a pasted one.
    pub fn unwrapped<'a>(&self, prompt: &'a str) -> &'a str {
        let inner = |prompt: &'a str| {
            let (_, rest) = prompt.trim().strip_prefix(self.paste_tags.0)?.split_once('>')?;
            let (inner, end) = rest.rsplit_once(self.paste_tags.1)?;
            (end.find('>') == Some(end.len().checked_sub(1)?)).then_some(inner)
        };
        inner(prompt).unwrap_or(prompt)
    }

    /// A prompt that is text and nothing else: where it would be a command of the host agent's, a word goes in
    /// front.
    pub fn defused(&self, prompt: &str) -> String {
        // The byte order mark is white space to JavaScript and not to us.
        let bare = prompt.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let front = if bare.starts_with(self.flags.commands) { self.flags.defuse } else { "" };
        format!("{front}{prompt}")
    }
}

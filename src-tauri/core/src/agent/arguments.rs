//! The command line of a start or a resume.

use std::ffi::OsString;

use super::{HostAgent, PromptArgument, Resume, Version};
use crate::spawn::passed::Permission;

/// What a start is to say on the command line.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    /// Version of the program, where it could be found out.
    pub version: Option<Version>,
    /// Conversation id: a new one, which not every program takes, or with `resume` an existing one.
    pub session: &'a str,
    /// Goes back to that conversation instead of opening it.
    pub resume: bool,
    /// A conversation the new one begins as a copy of; only where [`super::Flags::fork`] says how.
    pub fork_of: Option<&'a str>,
    /// Name of the session, where the version can show one.
    pub name: &'a str,
    /// What brings hooks or the briefing (see [`super::SessionSetup`]).
    pub setup: &'a [OsString],
    /// Permission profile.
    pub permission: Permission,
    /// First prompt.
    pub prompt: Option<&'a str>,
    /// The user's own arguments, placed before ours.
    pub extra: &'a [String],
}

impl HostAgent {
    /// Arguments without the program itself.
    pub fn arguments(&self, start: &Arguments<'_>) -> Vec<OsString> {
        let version = start.version.unwrap_or(self.oldest);
        let mut words: Vec<OsString> = Vec::new();
        let resume = start.resume.then_some(self.flags.resume);
        if let Some(Resume::Command(command)) = resume {
            words.push(command.into());
        }
        words.extend(start.extra.iter().map(OsString::from));
        words.extend(
            self.flags.always.iter().filter(|(_, since)| version >= *since).map(|(flag, _)| flag.into()),
        );
        if let (Some(of), Some(fork), Resume::Flag(flag)) =
            (start.fork_of, self.flags.fork, self.flags.resume)
        {
            words.extend([flag.into(), of.into(), fork.into()]);
        }
        let session = match resume {
            Some(Resume::Flag(flag)) => Some(flag),
            Some(Resume::Command(_)) => None,
            None => self.flags.session,
        };
        if let Some(flag) = session {
            words.extend([flag.into(), start.session.into()]);
        }
        if let Some((flag, _)) = self.flags.name.filter(|(_, since)| version >= *since) {
            words.extend([flag.into(), start.name.into()]);
        }
        let profile = self.flags.permission.iter().filter(|(profile, _)| *profile == start.permission);
        words.extend(profile.flat_map(|(_, words)| *words).map(OsString::from));
        words.extend_from_slice(start.setup);
        if let Some(Resume::Command(_)) = resume {
            words.push(start.session.into());
        }
        let prompt = start.prompt.map(|prompt| self.defused(prompt));
        match (prompt, self.flags.prompt) {
            (Some(prompt), PromptArgument::Last) => words.extend(["--".into(), prompt.into()]),
            (Some(prompt), PromptArgument::Assigned(flag)) => words.push(format!("{flag}={prompt}").into()),
            (None, _) => {}
        }
        words
    }

    /// A prompt without what the host agent puts around a pasted one.
    pub fn unwrapped<'a>(&self, prompt: &'a str) -> &'a str {
        let inner = |prompt: &'a str| {
            let (opening, closing) = self.paste_tags?;
            let (_, rest) = prompt.trim().strip_prefix(opening)?.split_once('>')?;
            let (inner, end) = rest.rsplit_once(closing)?;
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

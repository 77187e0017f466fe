//! What is known of host agents, as data: one file per agent, and here the few functions that read the data.
//!
//! No version of a program is guessed at: a feature counts from the oldest version it was seen in. Nothing here
//! starts a process or writes a file.

mod arguments;
mod claude_code;
mod login;
mod pasting;
pub mod screen;
mod session_file;
mod settings;
mod version;

use std::path::{Path, PathBuf};

use crate::host::Host;
use crate::spawn::passed::Permission;

pub use arguments::Arguments;
pub use claude_code::CLAUDE_CODE;
pub use pasting::{Pasted, Pasting};
pub use session_file::{Doing, Said, SessionFile};
pub use settings::HookCall;
pub use version::Version;

/// A terminal coding agent that we can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAgent {
    /// Name in configuration and rows.
    pub kind: &'static str,
    /// Name for people.
    pub display: &'static str,
    /// Program looked up when the configuration names none.
    pub program: &'static str,
    /// Oldest version that was tried. An unknown version is treated like this one.
    pub oldest: Version,
    /// Where it keeps its files.
    pub places: Places,
    /// Its trust record.
    pub trust: TrustRecord,
    /// How it reads instructions from files.
    pub reads: Reads,
    /// Hook events of ours that it knows, each with the oldest version it was seen in. One it does not know
    /// raises a blocking dialog, so none is written on a guess.
    pub hook_events: &'static [(&'static str, Version)],
    /// Event after each use of a tool. Its hook is given only to versions that do not say in their session-state file
    /// that they go on, because it costs a process per tool.
    pub tool_event: Option<&'static str>,
    /// Its session-state files, where it writes such.
    pub session_file: Option<SessionFile>,
    /// Longest context a hook may add; more is replaced by a short preview. Counted in UTF-16
    /// code units (see [`HostAgent::context_length`]).
    pub hook_context_limit: usize,
    /// The user-wide setting that takes away its own warning about running without asking, as a phrase.
    pub skip_setting: &'static str,
    /// Tags it puts around a text that was pasted, each up to its closing bracket.
    pub paste_tags: (&'static str, &'static str),
    /// How its prompt line reads what is pasted.
    pub pasting: Pasting,
    /// Its command line.
    pub flags: Flags,
    /// Its screens.
    pub screens: screen::Screens,
}

/// Where a host agent keeps its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// Variable that moves its configuration folder.
    pub config_variable: &'static str,
    /// Its configuration folder, from the home directory.
    pub config_folder: &'static str,
    /// File with the trust record: in the moved folder, or else in the home directory itself.
    pub trust_file: &'static str,
    /// Folder of session-state files `<pid>.json` in the configuration folder.
    pub sessions: &'static str,
    /// Folder of transcripts in the configuration folder.
    pub transcripts: &'static str,
}

/// Keys of the trust record: `root[realpath].accepted = true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustRecord {
    /// Object that has one entry per folder.
    pub root: &'static str,
    /// Key of an entry that says yes.
    pub accepted: &'static str,
}

/// How a host agent reads instructions from files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reads {
    /// The instructions file of a project.
    pub instructions: &'static str,
    /// Folder of further instruction files in a project, where there is such a thing.
    pub rules: Option<&'static str>,
    /// What precedes a path to import another file's text.
    pub import: &'static str,
}

/// A host agent's command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags {
    /// Chooses the conversation id.
    pub session: &'static str,
    /// Goes back to a conversation.
    pub resume: &'static str,
    /// Turns going back to a conversation into a new one that begins as its copy, where there is such a thing.
    pub fork: Option<&'static str>,
    /// Names the session, and the oldest version that accepts it.
    pub name: (&'static str, Version),
    /// Gives settings for this session only.
    pub settings: &'static str,
    /// Arguments per permission profile.
    pub permission: &'static [(Permission, &'static [&'static str])],
    /// First characters that make a prompt a command, even behind white space.
    pub commands: &'static [char],
    /// What goes in front of such a prompt to make it text again.
    pub defuse: &'static str,
    /// Whether the first prompt can be the last argument.
    pub prompt_as_argument: bool,
}

/// All host agents.
pub const ALL: &[&HostAgent] = &[&CLAUDE_CODE];

/// The host agent of that kind.
pub fn by_kind(kind: &str) -> Option<&'static HostAgent> {
    ALL.iter().copied().find(|agent| agent.kind == kind)
}

impl HostAgent {
    /// Its configuration folder, where the caller's environment has moved it or not.
    pub fn config_dir(&self, host: &Host) -> PathBuf {
        self.moved(host).unwrap_or_else(|| host.home.join(self.places.config_folder))
    }

    /// The file that has its trust record.
    pub fn trust_file(&self, host: &Host) -> PathBuf {
        self.moved(host).unwrap_or_else(|| host.home.clone()).join(self.places.trust_file)
    }

    fn moved(&self, host: &Host) -> Option<PathBuf> {
        host.var(self.places.config_variable).map(|folder| host.cwd.join(folder))
    }

    /// Folder of its session-state files.
    pub fn sessions_dir(&self, host: &Host) -> PathBuf {
        self.config_dir(host).join(self.places.sessions)
    }

    /// Folder of its transcripts.
    pub fn transcripts_dir(&self, host: &Host) -> PathBuf {
        self.config_dir(host).join(self.places.transcripts)
    }

    /// Whether our hooks can hand it a briefing and tell us what it does.
    pub fn session_hooks(&self, version: Option<Version>) -> bool {
        self.knows_event("SessionStart", version)
    }

    /// Whether that version knows that hook event.
    pub fn knows_event(&self, event: &str, version: Option<Version>) -> bool {
        let version = version.unwrap_or(self.oldest);
        self.hook_events.iter().any(|(name, since)| *name == event && version >= *since)
    }

    /// Length of a text as counted against [`HostAgent::hook_context_limit`].
    pub fn context_length(&self, text: &str) -> usize {
        text.encode_utf16().count()
    }

    /// Name of the folder that has a project's transcripts: every character of the realpath outside `[A-Za-z0-9]`
    /// turned into `-`. Only a hint: names collide, and long ones are cut and hashed (`None` here).
    pub fn transcript_folder(&self, folder: &Path) -> Option<String> {
        let name: String = folder
            .to_string_lossy()
            .encode_utf16()
            .map(|unit| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from))
            .collect();
        (name.len() <= 200).then_some(name)
    }
}

#[cfg(test)]
mod tests;

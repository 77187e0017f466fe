//! What is known of host agents, as data: one file per agent, and here the few functions that read the data.
//!
//! No version of a program is guessed at: a feature counts from the oldest version it was seen in. Nothing here
//! starts a process or writes a file.

mod arguments;
mod brings;
mod claude_code;
mod codex;
mod gemini;
mod login;
mod pasting;
pub mod screen;
mod session;
mod session_file;
mod transcript;
mod turn;
mod version;

use std::path::{Path, PathBuf};

use crate::host::Host;
use crate::spawn::passed::Permission;

pub use arguments::Arguments;
pub use brings::{Brings, Enables, Holds, Key, Setting};
pub use claude_code::CLAUDE_CODE;
pub use codex::CODEX;
pub use gemini::GEMINI;
pub use login::Signs;
pub use pasting::{Pasted, Pasting};
pub use session::{HookCall, SessionSetup};
pub use session_file::{Doing, Said, SessionFile};
pub use transcript::user_texts;
pub use turn::{TurnOver, Turns};
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
    /// The command that installs it.
    pub install: &'static str,
    /// Oldest version that was tried. An unknown version is treated like this one.
    pub oldest: Version,
    /// Where it keeps its files.
    pub places: Places,
    /// Its trust record.
    pub trust: TrustRecord,
    /// How it reads instructions from files.
    pub reads: Reads,
    /// How something reaches it for one session, with nothing written into the project or the user's settings.
    pub session: SessionWay,
    /// Hook events of ours that it knows, each with the oldest version it was seen in. One it does not know
    /// raises a blocking dialog, so none is written on a guess.
    pub hook_events: &'static [(&'static str, Version)],
    /// Event after each use of a tool. Its hook is given only to versions that do not say in their session-state file
    /// that they go on, because it costs a process per tool.
    pub tool_event: Option<&'static str>,
    /// Its session-state files, where it writes such.
    pub session_file: Option<SessionFile>,
    /// How its record of a conversation says that a turn is over, where that is known and its hooks do not always tell.
    pub turns: Option<Turns>,
    /// Longest context a hook may add; more is replaced by a short preview. Counted in
    /// [`HostAgent::hook_context_unit`].
    pub hook_context_limit: usize,
    /// What that length is counted in.
    pub hook_context_unit: Unit,
    /// The user-wide setting that takes away its own warning about running without asking, as a phrase; `None` where
    /// it gives no such warning.
    pub skip_setting: Option<&'static str>,
    /// The process that is started only starts the program proper as its child, and passes on no signal to end.
    pub works_in_child: bool,
    /// It refuses to run without asking as root, except in what says that it is a sandbox.
    pub skip_refused_as_root: bool,
    /// Tags it puts around a text that was pasted, each up to its closing bracket.
    pub paste_tags: Option<(&'static str, &'static str)>,
    /// How its prompt line reads what is pasted.
    pub pasting: Pasting,
    /// What a project brings along for it, once its folder is trusted.
    pub brings: &'static [Brings],
    /// What a login to it leaves behind.
    pub login: Signs,
    /// Its command line.
    pub flags: Flags,
    /// Its screens.
    pub screens: screen::Screens,
}

/// What the length of a text is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// UTF-16 code units.
    Utf16,
    /// Bytes of UTF-8.
    Bytes,
}

/// Where a host agent keeps its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// Variable that moves its configuration folder.
    pub config_variable: &'static str,
    /// What that variable names.
    pub variable_names: Moves,
    /// Its configuration folder, from the home directory.
    pub config_folder: &'static str,
    /// File with the trust record.
    pub trust_file: &'static str,
    /// Where that file is, while nothing has moved it.
    pub trust_in: TrustIn,
    /// Folder of session-state files `<pid>.json` in the configuration folder, where there is such a thing.
    pub sessions: Option<&'static str>,
    /// Folder of transcripts in the configuration folder.
    pub transcripts: &'static str,
    /// How they are filed in there.
    pub filed: Filed,
}

/// What the variable that moves a configuration folder names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// The configuration folder itself.
    Folder,
    /// The home directory that it is in.
    Home,
}

/// Where a trust file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustIn {
    /// In the configuration folder.
    ConfigFolder,
    /// In the home directory; in the configuration folder only where that was moved.
    HomeUnlessMoved,
}

/// How transcripts are filed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filed {
    /// `<mangled project path>/<session>.jsonl`
    ByProject,
    /// `<year>/<month>/<day>/rollout-<time>-<session>.jsonl`
    ByDay,
    /// `<short project name>/chats/session-<time>-<first eight characters of the session>.jsonl`
    ByShortName,
}

/// A host agent's trust record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustRecord {
    /// Its shape.
    pub format: TrustFormat,
    /// The value that says yes, as it is written there.
    pub yes: &'static str,
    /// Which folders an entry is good for.
    pub covers: Covers,
    /// Other writers of the file hold a folder `<file>.lock` meanwhile.
    pub locked: bool,
    /// The file may be missing although the program was used before: then it is made.
    pub may_be_made: bool,
}

/// The shape of a trust record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustFormat {
    /// JSON: `{root: {folder: {key: yes}}}`
    JsonFlag {
        /// Object that has one entry per folder.
        root: &'static str,
        /// Key of an entry that says yes.
        key: &'static str,
    },
    /// JSON: `{folder: yes}`
    JsonMap,
    /// TOML: `[root."folder"]` with `key = yes`
    TomlTable {
        /// Table that has one table per folder.
        root: &'static str,
        /// Key of such a table that says yes.
        key: &'static str,
    },
}

/// Which folders an entry is good for, besides its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// All folders below it; for a worktree also its repository's.
    Below,
    /// All folders of the repository whose top it is.
    Repository,
    /// All folders below it, up to the nearest entry that says something.
    BelowUnlessDenied,
}

/// How a host agent reads instructions from files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reads {
    /// The instructions file of a project.
    pub instructions: &'static str,
    /// Folder of further instruction files in a project, where there is such a thing.
    pub rules: Option<&'static str>,
    /// What precedes a path to import another file's text; `None` where only the text itself is read.
    pub import: Option<&'static str>,
    /// Bytes of instruction files that it reads altogether, where it stops at some number.
    pub limit: Option<usize>,
}

/// How something of ours reaches a host agent for one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionWay {
    /// A file of settings named on the command line: hooks of ours, and leave to read its own briefing.
    SettingsFile {
        /// The flag before the file.
        flag: &'static str,
    },
    /// Settings on the command line: hooks of ours, and the hashes by which it knows that they are to be run.
    Overrides {
        /// The flag before each setting.
        flag: &'static str,
    },
    /// A folder of ours as a further part of its workspace, whose instructions file it reads at the start. No hooks.
    Folder {
        /// The flag before the folder.
        flag: &'static str,
        /// The oldest version in which that was seen.
        since: Version,
        /// What precedes the path of an instructions file in the transcript once the file was read.
        shows: &'static str,
    },
}

/// A host agent's command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags {
    /// Given at every start, each from that version on.
    pub always: &'static [(&'static str, Version)],
    /// Chooses the conversation id; `None` where it is only learnt afterwards.
    pub session: Option<&'static str>,
    /// Goes back to a conversation.
    pub resume: Resume,
    /// Turns going back to a conversation into a new one that begins as its copy, where there is such a thing.
    pub fork: Option<&'static str>,
    /// Names the session, and the oldest version that accepts it.
    pub name: Option<(&'static str, Version)>,
    /// Arguments per permission profile.
    pub permission: &'static [(Permission, &'static [&'static str])],
    /// First characters that make a prompt a command, even behind white space.
    pub commands: &'static [char],
    /// What goes in front of such a prompt to make it text again.
    pub defuse: &'static str,
    /// How the first prompt is given.
    pub prompt: PromptArgument,
}

/// How a command line goes back to a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// A flag before the id.
    Flag(&'static str),
    /// A command before everything else, and the id as its first operand.
    Command(&'static str),
}

/// How a command line carries the first prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptArgument {
    /// As the last word, behind `--`: flags that take several values would swallow it otherwise.
    Last,
    /// In one word with this flag, so that a prompt that looks like a flag is none.
    Assigned(&'static str),
}

/// All host agents.
pub const ALL: &[&HostAgent] = &[&CLAUDE_CODE, &CODEX, &GEMINI];

/// Their names in configuration, in the same order.
pub const KINDS: [&str; 3] = [CLAUDE_CODE.kind, CODEX.kind, GEMINI.kind];

/// The host agent of that kind.
pub fn by_kind(kind: &str) -> Option<&'static HostAgent> {
    ALL.iter().copied().find(|agent| agent.kind == kind)
}

/// The host agent whose trust record that file holds. Wherever the file is, its name tells.
pub fn by_trust_file(path: &Path) -> Option<&'static HostAgent> {
    ALL.iter().copied().find(|agent| path.file_name().is_some_and(|name| name == agent.places.trust_file))
}

impl HostAgent {
    /// Its configuration folder, where the caller's environment has moved it or not.
    pub fn config_dir(&self, host: &Host) -> PathBuf {
        self.moved(host).unwrap_or_else(|| host.home.join(self.places.config_folder))
    }

    /// The file that has its trust record.
    pub fn trust_file(&self, host: &Host) -> PathBuf {
        let folder = match self.places.trust_in {
            TrustIn::ConfigFolder => self.config_dir(host),
            TrustIn::HomeUnlessMoved => self.moved(host).unwrap_or_else(|| host.home.clone()),
        };
        folder.join(self.places.trust_file)
    }

    fn moved(&self, host: &Host) -> Option<PathBuf> {
        let named = host.var(self.places.config_variable).map(|folder| host.cwd.join(folder))?;
        Some(match self.places.variable_names {
            Moves::Folder => named,
            Moves::Home => named.join(self.places.config_folder),
        })
    }

    /// Folder of its session-state files, where it keeps such files.
    pub fn sessions_dir(&self, host: &Host) -> Option<PathBuf> {
        self.places.sessions.map(|sessions| self.config_dir(host).join(sessions))
    }

    /// Folder of its transcripts.
    pub fn transcripts_dir(&self, host: &Host) -> PathBuf {
        self.config_dir(host).join(self.places.transcripts)
    }

    /// Whether our hooks can hand it a briefing and tell us what it does.
    pub fn session_hooks(&self, version: Option<Version>) -> bool {
        self.knows_event("SessionStart", version)
    }

    /// Whether a briefing can reach it for one session, by whatever it has for that.
    pub fn session_delivery(&self, version: Option<Version>) -> bool {
        match self.session {
            SessionWay::Folder { since, .. } => version.unwrap_or(self.oldest) >= since,
            SessionWay::SettingsFile { .. } | SessionWay::Overrides { .. } => self.session_hooks(version),
        }
    }

    /// Whether that version knows that hook event.
    pub fn knows_event(&self, event: &str, version: Option<Version>) -> bool {
        let version = version.unwrap_or(self.oldest);
        self.hook_events.iter().any(|(name, since)| *name == event && version >= *since)
    }

    /// Length of a text as counted against [`HostAgent::hook_context_limit`].
    pub fn context_length(&self, text: &str) -> usize {
        match self.hook_context_unit {
            Unit::Utf16 => text.encode_utf16().count(),
            Unit::Bytes => text.len(),
        }
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

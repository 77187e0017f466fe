//! What a project can bring along for a host agent, and where: files that count once its folder is trusted. Names
//! of files and of keys in them; nothing is read here.

/// What kind of thing is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Enables {
    /// A command that runs at an event.
    Hook,
    /// A command that runs to show or fetch something, or that the user can call by name.
    Command,
    /// A server whose tools the agent may be offered.
    Server,
    /// Something the agent may do without asking.
    Permission,
    /// A variable set for everything the agent starts.
    Environment,
    /// A plugin or a place to get plugins from.
    Plugin,
    /// Instructions imported from outside the folder.
    Import,
    /// A settings file that does not read as one.
    Unreadable,
}

impl Enables {
    /// Name for people and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Enables::Hook => "hook",
            Enables::Command => "command",
            Enables::Server => "server",
            Enables::Permission => "permission",
            Enables::Environment => "environment",
            Enables::Plugin => "plugin",
            Enables::Import => "import",
            Enables::Unreadable => "unreadable",
        }
    }
}

/// One file or folder of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brings {
    /// Where it is, from the folder.
    pub path: &'static str,
    /// It counts in the folders above as well, up to the top of the worktree.
    pub upwards: bool,
    /// What it holds.
    pub holds: Holds,
}

/// What such a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Settings in JSON.
    Json(&'static [Key]),
    /// Settings in TOML.
    Toml(&'static [Key]),
    /// Instructions, which may import others.
    Instructions,
    /// It is a folder, and each thing in it counts by its name.
    Each(Enables),
    /// That it is there says it all.
    Itself(Enables),
}

/// A setting: the keys that lead to it, and how it reads.
pub type Key = (&'static [&'static str], Setting);

/// How a setting reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Per event, commands at any depth.
    Hooks,
    /// Per server, how it is started or reached.
    Servers,
    /// A command, alone or in an object.
    Command,
    /// A list of what is enabled, each behind this word and before that one.
    List(Enables, &'static str, &'static str),
    /// One value, behind this word.
    Value(Enables, &'static str),
    /// An object whose keys are names.
    Names(Enables),
    /// An object of variables.
    Variables,
    /// A switch; what it means where it is on.
    On(Enables, &'static str),
}

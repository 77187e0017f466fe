//! The command line as typed. What it means is decided in the core.

pub mod clean;
pub mod life;
pub mod look;
pub mod marks;
pub mod names;
pub mod projects;
mod rest;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use pao_core::host::terminal;
use pao_core::spawn::passed::{Permission, Way};
use pao_core::spawn::request::{self, Request};

use rest::{CHECKPOINT_EXAMPLES, PAUSE_EXAMPLES, RESUME_EXAMPLES};
pub use rest::{Checkpoint, Checkpoints, Pause, Resume};

/// Starts terminal coding agents that already know what you know.
#[derive(Debug, Parser)]
#[command(
    name = "pao",
    version,
    about,
    long_about = "Starts terminal coding agents that already know what you know.\n\nOne command asks your memory \
                  stores what they know about the task, shows the briefing, and opens the agent with it.",
    after_help = EXAMPLES,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Print one JSON document instead of text; errors too, help never
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  pao spawn fix the login bug in ~/code/api
  pao brief -C ~/code/api why do sessions expire early
  pao recall 'connection pool size'
  pao doctor

Exit codes:
  0 done, 1 internal error, 2 wrong use, 3 configuration, 4 environment,
  5 spawned but not confirmed; of pao wait: 6 the time is over, 7 it is gone, 8 it needs you";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Start an agent that has been briefed
    #[command(after_help = SPAWN_EXAMPLES)]
    Spawn(Spawn),
    /// Print the briefing an agent would get; writes nothing
    #[command(after_help = BRIEF_EXAMPLES)]
    Brief(Brief),
    /// Ask the memory stores
    #[command(after_help = RECALL_EXAMPLES)]
    Recall(Recall),
    /// Pin memories, drop them or silence them for good
    #[command(after_help = marks::EXAMPLES)]
    Marks(marks::Marks),
    /// Take back everything that was done for an agent or a folder
    #[command(after_help = UNDO_EXAMPLES)]
    Undo(Undo),
    /// List what you agreed to for folders, and take it back
    #[command(after_help = CONSENTS_EXAMPLES)]
    Consents(Consents),
    /// List agents: who needs you first
    #[command(after_help = look::AGENTS_EXAMPLES)]
    Agents(look::Agents),
    /// Look at one agent
    #[command(after_help = look::AGENT_EXAMPLES)]
    Agent {
        #[command(subcommand)]
        what: look::Agent,
    },
    /// Bring an agent's terminal forward, or attach it right here
    #[command(after_help = look::FOCUS_EXAMPLES, visible_alias = "attach")]
    Focus(look::Focus),
    /// Read what is said in an agent's conversation
    #[command(after_help = look::LOGS_EXAMPLES)]
    Logs(look::Logs),
    /// Tell running agents something
    #[command(after_help = life::TELL_EXAMPLES)]
    Tell(life::Tell),
    /// Bring a running agent what the memory stores have learnt since its briefing
    #[command(after_help = life::REBRIEF_EXAMPLES)]
    Rebrief(life::Rebrief),
    /// Hand one agent's work over to another, or to a new one
    #[command(after_help = life::HANDOVER_EXAMPLES)]
    Handover(life::Handover),
    /// Wait until an agent is idle, needs you or has ended
    #[command(after_help = life::WAIT_EXAMPLES)]
    Wait(life::Wait),
    /// Put agents to rest: their conversation is kept, their memory is freed
    #[command(after_help = PAUSE_EXAMPLES)]
    Pause(Pause),
    /// Bring agents back to their conversation, told what changed meanwhile
    #[command(after_help = RESUME_EXAMPLES)]
    Resume(Resume),
    /// Keep where an agent stands, to look at, compare and start from
    #[command(after_help = CHECKPOINT_EXAMPLES)]
    Checkpoint(Checkpoint),
    /// List your projects: branch, changes, agents, last session
    #[command(after_help = projects::EXAMPLES)]
    Projects(projects::Projects),
    /// List, check, add and remove memory stores
    #[command(after_help = SOURCES_EXAMPLES)]
    Sources {
        #[command(subcommand)]
        what: Option<Sources>,
    },
    /// Keep or delete a password or token
    #[command(after_help = SECRET_EXAMPLES)]
    Secret {
        #[command(subcommand)]
        what: Secret,
    },
    /// Bring the index of transcripts up to date
    #[command(after_help = INDEX_EXAMPLES)]
    Index(Index),
    /// Show and change the configuration
    #[command(after_help = CONFIG_EXAMPLES)]
    Config {
        #[command(subcommand)]
        what: Config,
    },
    /// Open the menu-bar app
    #[command(after_help = APP_EXAMPLES)]
    App {
        /// Open its spawn panel for this folder; further ones follow it there
        #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
        folders: Vec<PathBuf>,
    },
    /// Put "Spawn agent here" into the file manager, or take it out
    #[command(name = "file-manager", visible_alias = "finder", after_help = FILE_MANAGER_EXAMPLES)]
    FileManager {
        #[command(subcommand)]
        what: FileManager,
    },
    /// Check everything a spawn needs, each with a cure
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor,
    /// Remove every trace of pao from this machine
    #[command(after_help = UNINSTALL_EXAMPLES)]
    Uninstall(Uninstall),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Which shell
        shell: Shell,
    },
}

const SPAWN_EXAMPLES: &str = "\
Examples:
  pao spawn fix the login bug in ~/code/api   the folder is found in the text
  pao spawn -C ~/code/api                     no topic: what the folder itself suggests
  pao spawn --dry-run add rate limits         show what would be written and started
  pao spawn --edit --budget 4000 plan the migration
  pao spawn -- --verbose is ignored, why?     after -- everything is the topic

The choices made by options are remembered per folder. Ctrl-C at any step leaves nothing half-done.";

const BRIEF_EXAMPLES: &str = "\
Examples:
  pao brief fix the login bug
  pao brief -C ~/code/api --budget 800 --no-source old-chats
  pao brief --changes              what is new, changed or gone since the last spawn here
  pao brief --json | jq .sources";

const RECALL_EXAMPLES: &str = "\
Examples:
  pao recall connection pool size
  pao recall --source history --limit 3 'Hermes deploy key'

What is addressed to the agent is held back: a terminal shows it to you, --json lists it apart.";

const UNDO_EXAMPLES: &str = "\
Examples:
  pao undo api            by the agent's name or id
  pao undo -C ~/code/api  all agents of a folder
  pao undo api --end      end it first, if it still runs";

const CONSENTS_EXAMPLES: &str = "\
Examples:
  pao consents                             folders, and what you agreed to there
  pao consents -C ~/code/api --take-back skip-permissions
  pao consents -C . --take-back all        the next spawn asks again";

const SOURCES_EXAMPLES: &str = "\
Examples:
  pao sources
  pao sources check
  pao sources add postgres facts --url postgres://me@localhost/memory
  pao sources add worker chats --url https://memory.example/rpc --protocol json-rpc
  pao sources indexes facts | psql 'postgres://owner@localhost/memory'
  pao sources remove chats";

const SECRET_EXAMPLES: &str = "\
Examples:
  pao secret set facts              asks without showing what is typed
  pass show memory | pao secret set facts
  pao secret status
  pao secret delete facts";

const INDEX_EXAMPLES: &str = "\
Examples:
  pao index          index what is new
  pao index --state  only say how far the index reaches";

const CONFIG_EXAMPLES: &str = "\
Examples:
  pao config show
  pao config set spawn.budget 3000
  pao config set sources.facts.enabled false
  $EDITOR \"$(pao config path)\"";

const APP_EXAMPLES: &str = "\
Examples:
  pao app            the list of agents
  pao app ~/code/api the spawn panel for that folder";

const FILE_MANAGER_EXAMPLES: &str = "\
Examples:
  pao file-manager install   the Finder, GNOME Files, Dolphin; and pao:// links
  pao file-manager status
  pao finder remove          the same verb by its other name";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  pao doctor
  pao doctor --json | jq '.[] | select(.state != \"ok\")'";

const UNINSTALL_EXAMPLES: &str = "\
Examples:
  pao uninstall              lists every trace, then asks
  pao uninstall --dry-run    only lists
  pao uninstall --end --yes  ends agents that are at work, too

While an agent is at work nothing is removed without --end. Conversations belong to the host
agents and stay; of paused agents it says how each is taken up without pao.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  pao completions bash > ~/.local/share/bash-completion/completions/pao
  pao completions zsh > ~/.zfunc/_pao
  pao completions fish > ~/.config/fish/completions/pao.fish";

/// What a briefing is made of.
#[derive(Debug, Args)]
pub struct Inputs {
    /// Work in this folder; without it one named in the topic, else the current one
    #[arg(short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
    /// What the agent is to do, in your words
    #[arg(value_name = "TOPIC")]
    pub topic: Vec<String>,
    /// Name of the agent; without it the folder's
    #[arg(long)]
    pub name: Option<String>,
    /// Tokens the briefing may take
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(100..=50_000))]
    pub budget: Option<u32>,
    /// Ask only this source; may be repeated
    #[arg(long, value_name = "NAME", add = names::sources())]
    pub source: Vec<String>,
    /// Do not ask this source; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "source", add = names::sources())]
    pub no_source: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Brief {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Only what is another since this folder's last spawn
    #[arg(long)]
    pub changes: bool,
}

impl Inputs {
    pub fn request(self) -> Request {
        Request {
            folder: self.folder,
            text: self.topic.join(" "),
            name: self.name,
            budget: self.budget.and_then(|b| usize::try_from(b).ok()),
            only_sources: self.source,
            without_sources: self.no_source,
            ..Request::default()
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[derive(Debug, Args)]
pub struct Spawn {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Which host agent to start
    #[arg(long, value_name = "KIND", value_parser = pao_core::agent::KINDS)]
    pub agent: Option<String>,
    /// Where to open it
    #[arg(long, value_parser = terminals())]
    pub terminal: Option<String>,
    /// What the agent may do without asking
    #[arg(long)]
    pub permission: Option<Profile>,
    /// How the briefing reaches the agent: by a hook of this session, or by files in the folder
    #[arg(long)]
    pub delivery: Option<Delivery>,
    /// Show the briefing and what would be done; writes and starts nothing
    #[arg(long, conflicts_with = "edit")]
    pub dry_run: bool,
    /// Open the briefing in $EDITOR before anything is delivered
    #[arg(long)]
    pub edit: bool,
    /// Start from a checkpoint (see `pao checkpoint`)
    #[arg(long, value_name = "CHECKPOINT")]
    pub fork: Option<String>,
    /// Leave this folder's last choices aside, and forget them
    #[arg(long)]
    pub defaults: bool,
    /// Let it work in a git worktree of its own, on that branch or on a new one
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub worktree: Option<String>,
    /// Agree that the folder is marked as trusted for the host agent
    #[arg(long, short)]
    pub yes: bool,
    /// Agree that the agent asks for nothing in this folder (with --permission skip)
    #[arg(long)]
    pub yes_skip_permissions: bool,
}

/// Every terminal with what it is.
fn terminals() -> PossibleValuesParser {
    let auto = PossibleValue::new(terminal::AUTO).help("On macOS the one you are in, elsewhere tmux");
    let known = terminal::KNOWN.map(|known| PossibleValue::new(known.name).help(known.says));
    std::iter::once(auto).chain(known).collect::<Vec<_>>().into()
}

impl Spawn {
    pub fn request(self) -> Request {
        Request {
            agent: self.agent,
            terminal: self.terminal,
            permission: self.permission.map(Into::into),
            delivery: self.delivery.map(Delivery::choice),
            afresh: self.defaults,
            edit: self.edit,
            worktree: self.worktree,
            ..self.inputs.request()
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Profile {
    /// It asks before each risky step
    Ask,
    /// Edits are accepted, commands are asked
    AcceptEdits,
    /// It only plans
    Plan,
    /// It asks for nothing; needs your explicit yes per folder
    Skip,
}

impl From<Profile> for Permission {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Ask => Permission::Ask,
            Profile::AcceptEdits => Permission::AcceptEdits,
            Profile::Plan => Permission::Plan,
            Profile::Skip => Permission::Skip,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Delivery {
    Auto,
    Session,
    Files,
}

impl Delivery {
    fn choice(self) -> request::Delivery {
        match self {
            Delivery::Auto => request::Delivery::Auto,
            Delivery::Session => request::Delivery::By(Way::Session),
            Delivery::Files => request::Delivery::By(Way::Files),
        }
    }
}

#[derive(Debug, Args)]
pub struct Recall {
    /// What to ask
    #[arg(required = true, value_name = "QUERY")]
    pub query: Vec<String>,
    /// Ask as for this folder; without it the current one
    #[arg(short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
    /// At most this many memories
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub limit: u32,
    /// Ask only this source; may be repeated
    #[arg(long, value_name = "NAME", add = names::sources())]
    pub source: Vec<String>,
    /// Do not ask this source; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "source", add = names::sources())]
    pub no_source: Vec<String>,
}

#[derive(Debug, Args)]
#[command(override_usage = "pao undo [OPTIONS] <AGENT>\n       pao undo [OPTIONS] -C <DIR>")]
pub struct Undo {
    /// Name or id of an agent
    #[arg(required_unless_present = "folder", add = names::agents())]
    pub agent: Option<String>,
    /// All agents of this folder
    #[arg(short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "agent")]
    pub folder: Option<PathBuf>,
    /// End agents that still run
    #[arg(long)]
    pub end: bool,
}

#[derive(Debug, Args)]
pub struct Consents {
    /// Only of this folder
    #[arg(short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
    /// Take it back; the next spawn there asks again
    #[arg(long, value_name = "WHAT", requires = "folder")]
    pub take_back: Option<Consent>,
}

/// What can be agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Consent {
    /// That the folder may be trusted
    Trust,
    /// That agents there may skip all permissions
    SkipPermissions,
    /// Both
    All,
}

#[expect(clippy::large_enum_variant, reason = "there is one of it")]
#[derive(Debug, Subcommand)]
pub enum Sources {
    /// List them (as without a word)
    List,
    /// Try each as a spawn would
    Check {
        /// Only this one
        #[arg(add = names::sources())]
        name: Option<String>,
    },
    /// Add one to the configuration
    Add {
        #[command(subcommand)]
        kind: AddSource,
    },
    /// Print the statements that would give a PostgreSQL source its indexes; nothing is run
    Indexes {
        /// Its name
        #[arg(add = names::sources())]
        name: String,
    },
    /// Take one out of the configuration
    Remove {
        /// Its name
        #[arg(add = names::sources())]
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum AddSource {
    /// The host agent's transcripts on this disk (there by default)
    History(AddHistory),
    /// A PostgreSQL database of entities and observations, or any table of texts
    Postgres(AddPostgres),
    /// A semantic index behind HTTP
    Worker(AddWorker),
}

#[derive(Debug, Args)]
pub struct AddHistory {
    /// Name of the source
    pub name: String,
    /// A further config folder of the host agent; may be repeated
    #[arg(long, value_name = "DIR")]
    pub folder: Vec<String>,
    /// Milliseconds it may take
    #[arg(long, value_name = "MS")]
    pub deadline_ms: Option<String>,
}

#[derive(Debug, Args)]
pub struct AddPostgres {
    /// Name of the source
    pub name: String,
    #[arg(long, help = "postgres://user@host:5432/database?sslmode=… without the password")]
    pub url: String,
    /// Text search configuration, e.g. english
    #[arg(long)]
    pub language: Option<String>,
    /// Newest rows searched where there is no text index
    #[arg(long, value_name = "ROWS")]
    pub scan_rows: Option<String>,
    /// Also search the archive table: true or false
    #[arg(long, value_name = "BOOL")]
    pub archive: Option<String>,
    /// Milliseconds it may take
    #[arg(long, value_name = "MS")]
    pub deadline_ms: Option<String>,
    /// Table or view, for a schema of your own
    #[arg(long, requires = "id", requires = "text", help_heading = "Schema of your own")]
    pub table: Option<String>,
    /// Column that identifies a row
    #[arg(long, requires = "table", value_name = "COLUMN", help_heading = "Schema of your own")]
    pub id: Option<String>,
    /// Column with the text
    #[arg(long, requires = "table", value_name = "COLUMN", help_heading = "Schema of your own")]
    pub text: Option<String>,
    /// Column with what the text is about
    #[arg(long, requires = "table", value_name = "COLUMN", help_heading = "Schema of your own")]
    pub title: Option<String>,
    /// Column with the time it was recorded
    #[arg(long, requires = "table", value_name = "COLUMN", help_heading = "Schema of your own")]
    pub created_at: Option<String>,
    /// Column with an importance in 0..=1
    #[arg(long, requires = "table", value_name = "COLUMN", help_heading = "Schema of your own")]
    pub importance: Option<String>,
    /// Column with a project name or path
    #[arg(long, requires = "table", value_name = "COLUMN", help_heading = "Schema of your own")]
    pub project: Option<String>,
}

#[derive(Debug, Args)]
pub struct AddWorker {
    /// Name of the source
    pub name: String,
    /// Endpoint; for the protocol search the base of /api/search
    #[arg(long)]
    pub url: String,
    /// What it speaks: json-rpc, mcp or search
    #[arg(long)]
    pub protocol: String,
    /// JSON-RPC method
    #[arg(long)]
    pub method: Option<String>,
    /// MCP tool
    #[arg(long)]
    pub tool: Option<String>,
    /// Parameter that carries the question
    #[arg(long, value_name = "NAME")]
    pub query_param: Option<String>,
    /// Parameter that carries the number of results
    #[arg(long, value_name = "NAME")]
    pub limit_param: Option<String>,
    /// How the token is sent: bearer, x-api-key or none
    #[arg(long)]
    pub auth: Option<String>,
    /// Milliseconds it may take
    #[arg(long, value_name = "MS")]
    pub deadline_ms: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Secret {
    /// Keep a value, read from a hidden prompt or from standard input
    Set {
        /// Name of the memory store it is for
        #[arg(add = names::secrets())]
        name: String,
    },
    /// Delete a value
    Delete {
        /// Its name
        #[arg(add = names::secrets())]
        name: String,
    },
    /// Say for each memory store behind a login whether its value is kept, and where; never the value
    Status,
}

#[derive(Debug, Args)]
pub struct Index {
    /// Print nothing; for running in the background
    #[arg(long, conflicts_with = "state")]
    pub quiet: bool,
    /// Only say how far the index reaches
    #[arg(long)]
    pub state: bool,
}

#[derive(Debug, Subcommand)]
pub enum Config {
    /// Where the configuration file is
    Path,
    /// Everything in effect, defaults marked
    Show,
    /// Set a key; checked before anything is written, comments survive
    Set {
        /// Its path, e.g. spawn.budget
        #[arg(add = names::keys())]
        key: String,
        /// Its value; lists as words separated by commas
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Take a key out, so that its default holds again
    Unset {
        /// Its path
        #[arg(add = names::keys())]
        key: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum FileManager {
    /// Put it there, or put right what is there
    Install {
        /// Only list what would be written
        #[arg(long)]
        dry_run: bool,
    },
    /// Take away what we put there
    Remove {
        /// Only list what would be removed
        #[arg(long)]
        dry_run: bool,
    },
    /// Say what is there
    Status,
}

#[derive(Debug, Args)]
pub struct Uninstall {
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// End agents that still run; where nobody can be asked, together with --yes
    #[arg(long)]
    pub end: bool,
    /// Only list what would be removed
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

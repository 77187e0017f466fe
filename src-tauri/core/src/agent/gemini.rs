//! Gemini CLI, as it was seen to behave: version 0.61.0.
//!
//! It has hooks, but none that could be given to one session: files of settings besides the user's and the project's
//! must belong to root. A folder named on the command line becomes part of the workspace, and the instructions file
//! in it stands in the first request. Such a folder must be trusted like any other, or a dialog asks for it. A first
//! prompt is sent before the question of trust is even asked.

use super::screen::{DialogKind, DialogMark, Layout, Place, Screens};
use super::{
    Brings, Covers, Enables, Filed, Flags, Holds, HostAgent, Key, Moves, Pasting, Places, PromptArgument,
    Reads, Resume, SessionWay, Setting, TrustFormat, TrustIn, TrustRecord, Unit, Version, login,
};
use crate::spawn::passed::Permission;

const V0_61_0: Version = Version(0, 61, 0);

/// Google's Gemini CLI.
pub const GEMINI: HostAgent = HostAgent {
    kind: "gemini",
    display: "Gemini CLI",
    program: "gemini",
    install: "npm install -g @google/gemini-cli",
    oldest: V0_61_0,
    places: Places {
        config_variable: "GEMINI_CLI_HOME",
        variable_names: Moves::Home,
        config_folder: ".gemini",
        trust_file: "trustedFolders.json",
        trust_in: TrustIn::ConfigFolder,
        sessions: None,
        transcripts: "tmp",
        filed: Filed::ByShortName,
    },
    trust: TrustRecord {
        format: TrustFormat::JsonMap,
        yes: "\"TRUST_FOLDER\"",
        covers: Covers::BelowUnlessDenied,
        locked: true,
        may_be_made: true,
    },
    reads: Reads { instructions: "GEMINI.md", rules: None, import: Some("@./"), limit: None },
    session: SessionWay::Folder { flag: "--include-directories", since: V0_61_0, shows: "Context from: " },
    hook_events: &[],
    tool_event: None,
    session_file: None,
    // A record without tool calls is written before the user is asked about one: its end says nothing.
    turns: None,
    hook_context_limit: usize::MAX,
    hook_context_unit: Unit::Bytes,
    skip_setting: None,
    works_in_child: true,
    skip_refused_as_root: false,
    paste_tags: None,
    // Nothing is known yet of what would keep a pasted command from acting, so a word always goes in front of one.
    pasting: Pasting { words: &["exit", "quit"], around: ("", ""), inert_since: Version(u32::MAX, 0, 0) },
    brings: BRINGS,
    login: login::GEMINI,
    flags: Flags {
        always: &[],
        session: Some("--session-id"),
        resume: Resume::Flag("--resume"),
        fork: None,
        name: None,
        permission: &[
            (Permission::Ask, &["--approval-mode", "default"]),
            (Permission::AcceptEdits, &["--approval-mode", "auto_edit"]),
            (Permission::Plan, &["--approval-mode", "plan"]),
            (Permission::Skip, &["--approval-mode", "yolo"]),
        ],
        // `/clear` is a command even behind a space; a first prompt that begins with `!` came to nothing.
        commands: &['/', '!'],
        defuse: "Task: ",
        prompt: PromptArgument::Assigned("--prompt-interactive"),
    },
    screens: SCREENS,
};

const BRINGS: &[Brings] = &[
    Brings { path: ".gemini/settings.json", upwards: false, holds: Holds::Json(SETTINGS) },
    Brings { path: ".gemini/commands", upwards: false, holds: Holds::Each(Enables::Command) },
    Brings { path: ".gemini/extensions", upwards: false, holds: Holds::Each(Enables::Plugin) },
    Brings { path: ".gemini/agents", upwards: false, holds: Holds::Each(Enables::Plugin) },
    Brings { path: ".gemini/skills", upwards: false, holds: Holds::Each(Enables::Plugin) },
    Brings { path: ".gemini/policies", upwards: false, holds: Holds::Each(Enables::Permission) },
    Brings { path: ".gemini/.env", upwards: true, holds: Holds::Itself(Enables::Environment) },
    Brings { path: ".env", upwards: true, holds: Holds::Itself(Enables::Environment) },
    Brings { path: "GEMINI.md", upwards: true, holds: Holds::Instructions },
];

const SETTINGS: &[Key] = &[
    (&["hooks"], Setting::Hooks),
    (&["mcpServers"], Setting::Servers),
    (&["mcp", "serverCommand"], Setting::Command),
    (&["tools", "discoveryCommand"], Setting::Command),
    (&["tools", "callCommand"], Setting::Command),
    (&["toolDiscoveryCommand"], Setting::Command),
    (&["toolCallCommand"], Setting::Command),
    (&["mcpServerCommand"], Setting::Command),
    (&["tools", "allowed"], Setting::List(Enables::Permission, "", "")),
    (&["allowedTools"], Setting::List(Enables::Permission, "", "")),
    (&["general", "defaultApprovalMode"], Setting::Value(Enables::Permission, "mode ")),
    (&["context", "includeDirectories"], Setting::List(Enables::Permission, "folder ", "")),
];

const SCREENS: Screens = Screens {
    layout: Layout::Barred,
    prompts: &['>', '*', '!'],
    highlight: '●',
    footers: &["workspace"],
    footer_errors: &[],
    busy: "(esc to cancel",
    spinners: &[],
    retrying: "Trying to reach",
    openers: &["✕", "✦", "> ", "ℹ Request cancelled"],
    error_signs: &['✕'],
    errors: &[],
    hints: &["Type your message"],
    error_hints: &[],
    interrupted: "Request cancelled",
    pasted: "[Pasted Text: ",
    ended: &["Pane is dead", "Error: "],
    // A notice may stand below a dialog.
    closers: &["⚠"],
    confirms: "",
    dialogs: &[
        // Never answered for the user: the record is there before the start, so this means that it was not believed.
        boxed(DialogKind::Trust, "Do you trust the files in this folder?", ""),
        boxed(DialogKind::AddFolder, "Do you trust the following folders", ""),
        boxed(DialogKind::ApiKey, "Enter Gemini API Key", ""),
        boxed(DialogKind::Login, "? Get started", ""),
        boxed(DialogKind::Permission, "", "Allow execution of"),
        boxed(DialogKind::Permission, "", "Apply this change?"),
    ],
};

const fn boxed(kind: DialogKind, opens: &'static str, says: &'static str) -> DialogMark {
    DialogMark { kind, opens, says, agrees: None, place: Place::Boxed }
}

//! Codex, as it was seen to behave: version 0.171.0.
//!
//! Hooks can be given on the command line, together with the hashes by which it knows that they were looked through;
//! the first one runs with the first turn and not before. Without `--no-daemon` it starts a server of its own in the
//! background, which takes neither the caller's environment nor hooks of one session. A conversation's id is of its
//! own choosing. It says nothing by a hook when a turn ends in an error.

use super::screen::{DialogKind, DialogMark, Layout, Place, Screens};
use super::{
    Brings, Covers, Enables, Filed, Flags, Holds, HostAgent, Key, Moves, Pasting, Places, PromptArgument,
    Reads, Resume, SessionWay, Setting, TrustFormat, TrustIn, TrustRecord, Turns, Unit, Version, login,
};
use crate::spawn::passed::Permission;

const V0_171_0: Version = Version(0, 171, 0);

/// `OpenAI`'s Codex.
pub const CODEX: HostAgent = HostAgent {
    kind: "codex",
    display: "Codex",
    program: "codex",
    install: "npm install -g @openai/codex",
    oldest: V0_171_0,
    places: Places {
        config_variable: "CODEX_HOME",
        variable_names: Moves::Folder,
        config_folder: ".codex",
        trust_file: "config.toml",
        trust_in: TrustIn::ConfigFolder,
        sessions: None,
        transcripts: "sessions",
        filed: Filed::ByDay,
    },
    trust: TrustRecord {
        format: TrustFormat::TomlTable { root: "projects", key: "trust_level" },
        yes: "\"trusted\"",
        covers: Covers::Repository,
        locked: false,
        may_be_made: true,
    },
    reads: Reads { instructions: "AGENTS.md", rules: None, import: None, limit: Some(32 * 1024) },
    session: SessionWay::Overrides { flag: "-c" },
    hook_events: &[
        ("SessionStart", V0_171_0),
        ("UserPromptSubmit", V0_171_0),
        ("PermissionRequest", V0_171_0),
        ("Interrupt", V0_171_0),
        ("Stop", V0_171_0),
        ("SessionEnd", V0_171_0),
    ],
    tool_event: None,
    session_file: None,
    // Whole at 9,900 characters, cut in the middle at 10,500, and at 24,000 bytes of Chinese.
    turns: Some(Turns { begins: &["task_started"], ends: &["task_complete", "turn_aborted"] }),
    hook_context_limit: 9_900,
    hook_context_unit: Unit::Bytes,
    skip_setting: None,
    works_in_child: false,
    skip_refused_as_root: false,
    paste_tags: None,
    // Nothing is known yet of what would keep a pasted command from acting, so a word always goes in front of one.
    pasting: Pasting { words: &["exit", "quit"], around: ("", ""), inert_since: Version(u32::MAX, 0, 0) },
    brings: BRINGS,
    login: login::CODEX,
    flags: Flags {
        always: &[("--no-daemon", V0_171_0)],
        session: None,
        resume: Resume::Command("resume"),
        fork: None,
        name: None,
        permission: &[
            (Permission::Ask, &["--sandbox", "read-only", "--ask-for-approval", "on-request"]),
            (Permission::AcceptEdits, &["--sandbox", "workspace-write", "--ask-for-approval", "on-request"]),
            (Permission::Plan, &["--sandbox", "read-only", "--ask-for-approval", "never"]),
            (Permission::Skip, &["--dangerously-bypass-approvals-and-sandbox"]),
        ],
        // `!ls` as the first prompt is run in the user's shell; `/clear` is text there, but a command when typed.
        commands: &['!', '/'],
        defuse: "Task: ",
        prompt: PromptArgument::Last,
    },
    screens: SCREENS,
};

const BRINGS: &[Brings] = &[
    Brings { path: ".codex/config.toml", upwards: true, holds: Holds::Toml(SETTINGS) },
    Brings { path: ".codex/hooks.json", upwards: true, holds: Holds::Json(&[(&["hooks"], Setting::Hooks)]) },
    Brings { path: ".codex/rules", upwards: true, holds: Holds::Each(Enables::Permission) },
];

const SETTINGS: &[Key] = &[
    (&["hooks"], Setting::Hooks),
    (&["notify"], Setting::Command),
    (&["mcp_servers"], Setting::Servers),
    (&["approval_policy"], Setting::Value(Enables::Permission, "approval policy ")),
    (&["sandbox_mode"], Setting::Value(Enables::Permission, "sandbox ")),
    (&["sandbox_workspace_write", "writable_roots"], Setting::List(Enables::Permission, "folder ", "")),
    (
        &["sandbox_workspace_write", "network_access"],
        Setting::On(Enables::Permission, "network in the sandbox"),
    ),
    (&["shell_environment_policy", "set"], Setting::Variables),
    (&["model_providers"], Setting::Names(Enables::Server)),
    (&["openai_base_url"], Setting::Value(Enables::Environment, "openai_base_url=")),
    (&["plugins"], Setting::Names(Enables::Plugin)),
];

const SCREENS: Screens = Screens {
    layout: Layout::Footed,
    prompts: &['›'],
    highlight: '›',
    footers: &["← for agents", "? for shortcuts"],
    footer_errors: &[],
    busy: "esc to interrupt",
    spinners: &['•', '◦'],
    retrying: "Reconnecting... ",
    openers: &["■", "•", "› ", "✗"],
    error_signs: &['■'],
    errors: &[],
    hints: &["Ask Codex to do anything"],
    error_hints: &[],
    interrupted: "Conversation interrupted",
    pasted: "[Pasted Content ",
    ended: &["Pane is dead", "To continue this session, run", "error: ", "Error: "],
    closers: &["enter continue", "Press enter", "enter confirm"],
    confirms: "enter continue · esc back",
    dialogs: &[
        tail(DialogKind::Trust, "Folder access", "Trust this folder?", Some("Trust and continue")),
        tail(DialogKind::Permission, "Would you like to ", "Press enter to confirm", None),
        tail(DialogKind::Login, "Welcome to Codex", "Sign in with ChatGPT", None),
    ],
};

const fn tail(
    kind: DialogKind,
    opens: &'static str,
    says: &'static str,
    agrees: Option<&'static str>,
) -> DialogMark {
    DialogMark { kind, opens, says, agrees, place: Place::Tail }
}

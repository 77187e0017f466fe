//! Claude Code, as it was seen to behave: versions 2.0.76, 2.1.119 and 2.1.332.

use super::screen::{DialogKind, DialogMark, Layout, Place, Screens};
use super::{
    Brings, Covers, Enables, Filed, Flags, Holds, HostAgent, Key, Moves, Pasting, Places, PromptArgument,
    Reads, Resume, SessionFile, SessionWay, Setting, TrustFormat, TrustIn, TrustRecord, Unit, Version, login,
};
use crate::spawn::passed::Permission;

const V2_0_76: Version = Version(2, 0, 76);
const V2_1_119: Version = Version(2, 1, 119);
const V2_1_332: Version = Version(2, 1, 332);

/// Anthropic's Claude Code.
pub const CLAUDE_CODE: HostAgent = HostAgent {
    kind: "claude-code",
    display: "Claude Code",
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    oldest: V2_0_76,
    places: Places {
        config_variable: "CLAUDE_CONFIG_DIR",
        variable_names: Moves::Folder,
        config_folder: ".claude",
        trust_file: ".claude.json",
        trust_in: TrustIn::HomeUnlessMoved,
        sessions: Some("sessions"),
        transcripts: "projects",
        filed: Filed::ByProject,
    },
    trust: TrustRecord {
        format: TrustFormat::JsonFlag { root: "projects", key: "hasTrustDialogAccepted" },
        yes: "true",
        covers: Covers::Below,
        locked: true,
        // Without it the program was never started.
        may_be_made: false,
    },
    reads: Reads { instructions: "CLAUDE.md", rules: Some(".claude/rules"), import: Some("@"), limit: None },
    session: SessionWay::SettingsFile { flag: "--settings" },
    hook_events: &[
        ("SessionStart", V2_0_76),
        ("UserPromptSubmit", V2_0_76),
        ("PermissionRequest", V2_0_76),
        ("Notification", V2_0_76),
        ("Stop", V2_0_76),
        // A turn that ends in an error sends this one instead of Stop.
        ("StopFailure", V2_1_119),
        ("SessionEnd", V2_0_76),
    ],
    tool_event: Some("PostToolUse"),
    session_file: Some(SessionFile {
        since: V2_1_119,
        waits_since: V2_1_332,
        session: "sessionId",
        status: "status",
        status_at: "statusUpdatedAt",
        start: "procStart",
        busy: "busy",
        idle: "idle",
        waiting: "waiting",
        waiting_for: "waitingFor",
        waits: &[
            ("permission prompt", "permission for a tool"),
            ("input needed", "an answer to its question"),
            ("dialog open", "a dialog is open"),
        ],
    }),
    turns: None,
    hook_context_limit: 10_000,
    hook_context_unit: Unit::Utf16,
    skip_setting: Some("\"skipDangerousModePermissionPrompt\": true in your own settings.json"),
    works_in_child: false,
    skip_refused_as_root: true,
    paste_tags: Some(("<pasted_content ", "</pasted_content ")),
    // Seen by pasting each into 2.1.332 and 2.0.76. A line feed in front keeps `!` from turning the line into a shell's;
    // neither it nor white space, a no-break space or an invisible character keeps 2.1.332 from running `/clear`. Three
    // line feeds behind fold the paste, whose inside 2.1.332 hands over as pasted content: there nothing acts, and
    // the text's own last spaces and backslash survive. 2.0.76 pours the fold out again, so that `exit` still ends
    // it. Both turn each tab into four spaces, and both attach an existing file that is named after an `@`.
    pasting: Pasting {
        words: &["exit", "quit", ":q", ":q!", ":wq", ":wq!"],
        around: ("\n", "\n\n\n"),
        inert_since: V2_1_332,
    },
    brings: BRINGS,
    login: login::CLAUDE_CODE,
    flags: Flags {
        always: &[],
        session: Some("--session-id"),
        resume: Resume::Flag("--resume"),
        fork: Some("--fork-session"),
        name: Some(("-n", V2_1_119)),
        // Always explicit: what a version does without a flag has changed (`default`, then `auto`).
        permission: &[
            (Permission::Ask, &["--permission-mode", "default"]),
            (Permission::AcceptEdits, &["--permission-mode", "acceptEdits"]),
            (Permission::Plan, &["--permission-mode", "plan"]),
            (Permission::Skip, &["--dangerously-skip-permissions"]),
        ],
        commands: &['/'],
        // A space is not enough: 2.1.332 runs ` /clear`.
        defuse: "Task: ",
        prompt: PromptArgument::Last,
    },
    screens: SCREENS,
};

const BRINGS: &[Brings] = &[
    Brings { path: ".claude/settings.json", upwards: true, holds: Holds::Json(SETTINGS) },
    Brings { path: ".claude/settings.local.json", upwards: true, holds: Holds::Json(SETTINGS) },
    Brings { path: ".mcp.json", upwards: true, holds: Holds::Json(&[(&["mcpServers"], Setting::Servers)]) },
    Brings { path: "CLAUDE.md", upwards: true, holds: Holds::Instructions },
    Brings { path: "CLAUDE.local.md", upwards: true, holds: Holds::Instructions },
    Brings { path: ".claude/CLAUDE.md", upwards: true, holds: Holds::Instructions },
];

const SETTINGS: &[Key] = &[
    (&["hooks"], Setting::Hooks),
    (&["apiKeyHelper"], Setting::Command),
    (&["awsAuthRefresh"], Setting::Command),
    (&["awsCredentialExport"], Setting::Command),
    (&["fileSuggestion"], Setting::Command),
    (&["otelHeadersHelper"], Setting::Command),
    (&["statusLine"], Setting::Command),
    (&["subagentStatusLine"], Setting::Command),
    (&["permissions", "allow"], Setting::List(Enables::Permission, "", "")),
    (&["permissions", "additionalDirectories"], Setting::List(Enables::Permission, "folder ", "")),
    (&["permissions", "defaultMode"], Setting::Value(Enables::Permission, "mode ")),
    (&["env"], Setting::Variables),
    (
        &["enableAllProjectMcpServers"],
        Setting::On(Enables::Server, "all servers of .mcp.json, without asking"),
    ),
    (&["enabledMcpjsonServers"], Setting::List(Enables::Server, "", ", without asking")),
    (&["enabledPlugins"], Setting::Names(Enables::Plugin)),
    (&["extraKnownMarketplaces"], Setting::Names(Enables::Plugin)),
];

const SCREENS: Screens = Screens {
    layout: Layout::Ruled,
    prompts: &['❯', '>'],
    highlight: '❯',
    footers: &["⏵⏵", "⏸", "? for"],
    footer_errors: &["Missing API key", "Invalid API key", "Not logged in"],
    busy: "esc to interrupt",
    spinners: &['·', '✢', '✳', '✶', '✻', '✽', '*'],
    retrying: "· retrying in ",
    errors: &[
        "API Error",
        "Credit balance too low",
        "Invalid API key",
        "Not logged in",
        "OAuth token",
        "Prompt is too long",
        "Request too large",
        "There's an issue with the selected model",
    ],
    openers: &["⎿", "●", "❯", "> "],
    error_signs: &[],
    hints: &["Try \""],
    error_hints: &["Once fixed, resend", "Resend your message", "Run /rewind"],
    interrupted: "Interrupted",
    pasted: "[Pasted text #",
    ended: &[
        "Pane is dead",
        "Resume this session with:",
        "--dangerously-skip-permissions cannot be used with root",
        "error: ",
        "Error: ",
    ],
    closers: &["Enter to ", "Esc to ", "Press Enter", "Ctrl+A to "],
    confirms: "Enter to confirm · Esc to cancel",
    dialogs: &[
        under_rule(
            DialogKind::Trust,
            "Accessing workspace:",
            "Is this a project you created or one you trust?",
            Some("Yes, I trust this folder"),
        ),
        under_rule(
            DialogKind::Trust,
            "Do you trust the files in this folder?",
            "Claude Code may read, write, or execute files",
            Some("Yes, proceed"),
        ),
        under_rule(
            DialogKind::SkipPermissions,
            "WARNING: Claude Code running in Bypass Permissions mode",
            "you accept all responsibility",
            Some("Yes, I accept"),
        ),
        under_rule(DialogKind::ApiKey, "Detected a custom API key", "use this API key?", None),
        under_rule(DialogKind::ExternalImports, "Allow external CLAUDE.md file imports?", "", None),
        under_rule(DialogKind::ProjectServer, "New MCP server found", "", None),
        under_rule(DialogKind::ProjectServer, "", "new MCP servers found in", None),
        under_rule(DialogKind::AddFolder, "Adding a new directory:", "", None),
        under_rule(DialogKind::SettingsWarning, "Settings Warning", "", None),
        under_rule(DialogKind::SettingsWarning, "Settings Error", "", None),
        under_rule(DialogKind::ResumePicker, "Resume session", "Enter to resume", None),
        under_rule(DialogKind::ResumePicker, "Resume Session", "", None),
        under_rule(DialogKind::Permission, "", "Do you want to ", None),
        page(DialogKind::Theme, "Choose the text style that looks best"),
        page(DialogKind::SecurityNotes, "Security notes:"),
        page(DialogKind::Login, "Select login method:"),
        page(DialogKind::Unreachable, "Unable to connect to Anthropic services"),
    ],
};

const fn under_rule(
    kind: DialogKind,
    opens: &'static str,
    says: &'static str,
    agrees: Option<&'static str>,
) -> DialogMark {
    DialogMark { kind, opens, says, agrees, place: Place::UnderRule }
}

const fn page(kind: DialogKind, opens: &'static str) -> DialogMark {
    DialogMark { kind, opens, says: "", agrees: None, place: Place::Page }
}

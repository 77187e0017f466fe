//! Claude Code, as it was seen to behave: versions 2.0.76, 2.1.119 and 2.1.332.

use super::{Flags, HostAgent, Places, Reads, TrustRecord, Version};
use crate::spawn::passed::Permission;

const V2_0_76: Version = Version(2, 0, 76);
const V2_1_119: Version = Version(2, 1, 119);

/// Anthropic's Claude Code.
pub const CLAUDE_CODE: HostAgent = HostAgent {
    kind: "claude-code",
    display: "Claude Code",
    program: "claude",
    oldest: V2_0_76,
    places: Places {
        config_variable: "CLAUDE_CONFIG_DIR",
        config_folder: ".claude",
        trust_file: ".claude.json",
        sessions: "sessions",
        transcripts: "projects",
    },
    trust: TrustRecord { root: "projects", accepted: "hasTrustDialogAccepted" },
    reads: Reads { instructions: "CLAUDE.md", rules: Some(".claude/rules"), import: "@" },
    hook_events: &[
        ("SessionStart", V2_0_76),
        ("UserPromptSubmit", V2_0_76),
        ("PermissionRequest", V2_0_76),
        ("Notification", V2_0_76),
        ("Stop", V2_0_76),
        ("SessionEnd", V2_0_76),
    ],
    hook_context_limit: 10_000,
    flags: Flags {
        session: "--session-id",
        resume: "--resume",
        name: ("-n", V2_1_119),
        settings: "--settings",
        permission,
        commands: &['/'],
        prompt_as_argument: true,
    },
};

/// Always explicit: what a version does without a flag has changed (`default`, then `auto`).
fn permission(profile: Permission) -> &'static [&'static str] {
    match profile {
        Permission::Ask => &["--permission-mode", "default"],
        Permission::AcceptEdits => &["--permission-mode", "acceptEdits"],
        Permission::Plan => &["--permission-mode", "plan"],
        Permission::Skip => &["--dangerously-skip-permissions"],
    }
}

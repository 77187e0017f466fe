//! Signs by which it is seen whether the user is logged in to a host agent. Names of variables, keys and files only:
//! no value of any of them is read.

use crate::host::Host;

use super::{CLAUDE_CODE, HostAgent};

/// What a login leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signs {
    /// Variables that log in by themselves, or send it to another provider.
    pub variables: &'static [&'static str],
    /// Keys at the top of the file with the trust record.
    pub keys: &'static [&'static str],
    /// Files in its configuration folder.
    pub files: &'static [&'static str],
}

const CLAUDE_CODE_SIGNS: Signs = Signs {
    variables: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_USE_FOUNDRY",
    ],
    keys: &["oauthAccount", "primaryApiKey"],
    files: &[".credentials.json"],
};

impl HostAgent {
    /// The signs of a login, where they are known.
    pub fn login_signs(&self) -> Option<&'static Signs> {
        (self.kind == CLAUDE_CODE.kind).then_some(&CLAUDE_CODE_SIGNS)
    }

    /// The first sign of a login that is there, as a phrase. `top` are the keys at the top of the file with the trust
    /// record.
    pub fn login_sign<'a>(
        &self,
        host: &Host,
        signs: &Signs,
        mut top: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        if let Some(name) = signs.variables.iter().find(|name| host.var(name).is_some()) {
            return Some(format!("{name} is set"));
        }
        if let Some(key) = top.find(|key| signs.keys.contains(key)) {
            return Some(format!("{key} is in {}", host.display(&self.trust_file(host))));
        }
        let files = signs.files.iter().map(|name| self.config_dir(host).join(name));
        files.into_iter().find(|path| path.is_file()).map(|path| format!("{} is there", host.display(&path)))
    }
}

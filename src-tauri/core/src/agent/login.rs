//! Signs by which it is seen whether the user is logged in to a host agent. Names of variables, keys and files only:
//! no value of any of them is read.

use crate::host::Host;

use super::HostAgent;

/// What a login leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signs {
    /// Variables that log in by themselves, or send it to another provider.
    pub variables: &'static [&'static str],
    /// Keys at the top of the file with the trust record, where that is JSON.
    pub keys: &'static [&'static str],
    /// Files in its configuration folder.
    pub files: &'static [&'static str],
}

pub(super) const CLAUDE_CODE: Signs = Signs {
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

pub(super) const CODEX: Signs = Signs { variables: &["OPENAI_API_KEY"], keys: &[], files: &["auth.json"] };

pub(super) const GEMINI: Signs = Signs {
    variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
    keys: &[],
    files: &["oauth_creds.json", "gemini-credentials.json"],
};

impl HostAgent {
    /// The first sign of a login that is there, as a phrase. `top` are the keys at the top of the file with the trust
    /// record.
    pub fn login_sign<'a>(&self, host: &Host, mut top: impl Iterator<Item = &'a str>) -> Option<String> {
        let signs = &self.login;
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

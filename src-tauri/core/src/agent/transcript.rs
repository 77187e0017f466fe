//! Where a conversation's transcript is, and what the user said in a record of one. Reads names of files, and no file.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Filed, HostAgent};
use crate::host::Host;

impl HostAgent {
    /// The transcript of a conversation in a folder, where it is there.
    pub fn transcript(&self, host: &Host, folder: &Path, session: &str) -> Option<PathBuf> {
        if Path::new(session).file_name().is_none_or(|name| name != session) {
            return None;
        }
        let root = self.transcripts_dir(host);
        let named = |path: PathBuf| path.is_file().then_some(path);
        match self.places.filed {
            Filed::ByProject => {
                let file = format!("{session}.jsonl");
                // The folder's name is only a hint.
                let hinted = self.transcript_folder(folder).map(|name| root.join(name).join(&file));
                hinted.and_then(named).or_else(|| children(&root).find_map(|dir| named(dir.join(&file))))
            }
            Filed::ByDay => {
                let end = format!("-{session}.jsonl");
                newest(&root)
                    .flat_map(|year| newest(&year))
                    .flat_map(|month| newest(&month))
                    .flat_map(|day| newest(&day))
                    .find(|path| ends(path, &end))
            }
            Filed::ByShortName => {
                let end = format!("-{}.jsonl", session.get(..8)?);
                children(&root)
                    .flat_map(|project| newest(&project.join("chats")))
                    .find(|path| ends(path, &end))
            }
        }
    }
}

fn ends(path: &Path, end: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(end))
}

fn children(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// What is in a folder whose names are times, newest first.
fn newest(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut all: Vec<PathBuf> = children(dir).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    all.into_iter()
}

/// The texts of the user's own in one record of a transcript, of any host agent; empty for every other record.
pub fn user_texts(record: &Value) -> Vec<&str> {
    // Claude Code: {type: user, message: {content}}; Codex: {payload: {role: user, content}}; Gemini: {type: user,
    // content}.
    let payload = record.get("payload").unwrap_or(record);
    if payload["role"] != "user" && record["type"] != "user" {
        return Vec::new();
    }
    let content = record.get("message").unwrap_or(payload).get("content").unwrap_or(&Value::Null);
    let parts = content.as_array().into_iter().flatten();
    content.as_str().into_iter().chain(parts.filter_map(|part| part["text"].as_str())).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::agent::{CLAUDE_CODE, CODEX, GEMINI};

    #[test]
    fn what_the_user_said_is_found_in_each_program_s_records() {
        for record in [
            json!({"type": "user", "message": {"role": "user", "content": "hello"}}),
            json!({"type": "user", "message": {"content": [{"type": "text", "text": "hello"}]}}),
            json!({"type": "response_item", "payload": {"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": "hello"}]}}),
            json!({"id": "1", "type": "user", "content": [{"text": "hello"}]}),
        ] {
            assert_eq!(user_texts(&record), ["hello"], "{record}");
        }
        for record in [
            json!({"type": "assistant", "message": {"content": "hello"}}),
            json!({"type": "response_item", "payload": {"role": "developer", "content": [{"text": "hello"}]}}),
            json!({"type": "gemini", "content": "hello"}),
            json!({"$set": {"messages": []}}),
            json!(null),
        ] {
            assert!(user_texts(&record).is_empty(), "{record}");
        }
    }

    #[test]
    fn a_transcript_is_found_where_each_program_files_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_path_buf();
        let host = Host { pao_home: home.join("pao"), exe: home.join("exe"), ..Host::at(&home) };
        let id = "01a22dcb-adda-7c41-bd6c-593675c774e6";
        for (agent, file) in [
            (&CLAUDE_CODE, format!(".claude/projects/-code-app/{id}.jsonl")),
            (&CODEX, format!(".codex/sessions/2026/11/30/rollout-2026-11-30T18-50-52-{id}.jsonl")),
            (&GEMINI, ".gemini/tmp/app/chats/session-2026-11-30T18-52-01a22dcb.jsonl".to_string()),
        ] {
            let path = home.join(file);
            assert_eq!(agent.transcript(&host, Path::new("/code/app"), id), None);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            assert_eq!(agent.transcript(&host, Path::new("/code/app"), id), Some(path));
            assert_eq!(agent.transcript(&host, Path::new("/code/app"), "../x"), None);
        }
    }
}

//! Agent names: letters and digits of any script first, then also `.`, `_` and `-`; at most 64 characters, NFC.

use std::collections::BTreeSet;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::TopicError;

/// Longest name, in characters.
const LONGEST: usize = 64;

/// The name in NFC, or why it cannot be one.
pub fn check(name: &str) -> Result<String, TopicError> {
    let name: String = name.nfc().collect();
    let length = name.chars().count();
    if length > LONGEST {
        return Err(TopicError::NameTooLong(length));
    }
    let mut rest = name.chars();
    if rest.next().is_some_and(char::is_alphanumeric) && rest.all(may_follow) {
        Ok(name)
    } else {
        Err(TopicError::NameInvalid(name))
    }
}

/// A name the user chose: refused rather than changed.
pub fn explicit(name: &str, in_use: &BTreeSet<String>) -> Result<String, TopicError> {
    let name = check(name)?;
    if taken(&name, in_use) { Err(TopicError::NameTaken(name)) } else { Ok(name) }
}

/// A free name after the folder's base name.
pub fn derive(folder: &Path, in_use: &BTreeSet<String>) -> String {
    let base = folder.file_name().map(|n| n.to_string_lossy().nfc().collect::<String>()).unwrap_or_default();
    let mut name = String::new();
    for c in base.chars() {
        let ok = if name.is_empty() { c.is_alphanumeric() } else { may_follow(c) };
        if ok {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = cut(&name, LONGEST);
    let name = if name.is_empty() { "agent".to_owned() } else { name };
    if !taken(&name, in_use) {
        return name;
    }
    // One more candidate than there are names, so one of them is free.
    (2..in_use.len() + 3)
        .map(|n| {
            let suffix = format!("-{n}");
            cut(&name, LONGEST - suffix.len()) + &suffix
        })
        .find(|candidate| !taken(candidate, in_use))
        .unwrap_or(name)
}

/// Marks belong to the letter before them: without them Hindi or Thai names could not be written.
fn may_follow(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-') || is_combining_mark(c)
}

fn cut(name: &str, longest: usize) -> String {
    let cut: String = name.chars().take(longest).collect();
    cut.trim_end_matches(['.', '_', '-']).to_owned()
}

/// Names that differ only in case would be confused by people and by file systems.
fn taken(name: &str, in_use: &BTreeSet<String>) -> bool {
    let name = name.to_lowercase();
    in_use.iter().any(|other| other.to_lowercase() == name)
}

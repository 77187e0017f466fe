//! What helps to understand a fault and may be shown to others: versions, checks, the last lines of the log, without
//! secrets and with `~` for the home directory.

use std::fmt::Write as _;
use std::path::Path;

use crate::capture::redact::redact;
use crate::doctor::{Check, Health};

/// The text.
pub fn text(versions: &[(&str, &str)], checks: &[Check], log: &str, home: &Path) -> String {
    let mut text = String::new();
    for (name, version) in versions {
        let _ = writeln!(text, "{name}: {version}");
    }
    text.push('\n');
    for check in checks {
        let mark = match check.health {
            Health::Ok => "ok",
            Health::Warning => "warning",
            Health::Failed => "FAILED",
        };
        let _ = writeln!(text, "[{mark}] {}: {}", check.name, check.found);
    }
    if !log.is_empty() {
        let _ = writeln!(text, "\nLast lines of the log:\n{}", log.trim_end());
    }
    let text = redact(&text).into_owned();
    match home.to_str().filter(|home| home.len() > 1) {
        Some(home) => text.replace(home, "~"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_and_no_home_directory_is_in_it() {
        let log = "WARN could not ask postgres://me:hunter22FAKE@db/x\nINFO opened /home/me/code";
        let made = text(&[("pao", "0.1.0")], &[], log, Path::new("/home/me"));
        assert!(made.contains("pao: 0.1.0") && made.contains("opened ~/code"), "{made}");
        assert!(!made.contains("hunter22FAKE") && !made.contains("/home/me"), "{made}");
    }
}

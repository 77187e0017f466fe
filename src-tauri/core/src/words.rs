//! Numbers and needs in sentences for people.

use std::fmt::Display;

/// `1 memory`, `3 memories`.
pub fn counted(number: impl Display, one: &str, many: &str) -> String {
    let number = number.to_string();
    format!("{number} {}", if number == "1" { one } else { many })
}

/// Longest need in a list, in characters.
const NEED: usize = 80;

/// Longest question that is quoted whole, in characters.
const QUESTION: usize = 300;

/// What an agent waits for, in one short line. A page that is the host agent's own affair is named, not quoted.
///
/// `evidence` is the phrase the need rests on, as "login on the screen".
pub fn need(text: &str, evidence: Option<&str>) -> String {
    own_page(evidence).map_or_else(|| first_line(text, NEED), Into::into)
}

/// The same where there is room: any other question is quoted whole, on one line.
pub fn question(text: &str, evidence: Option<&str>) -> String {
    let whole = || first_line(&text.split_whitespace().collect::<Vec<_>>().join(" "), QUESTION);
    own_page(evidence).map_or_else(whole, Into::into)
}

/// Pages on which a host agent sets itself up.
fn own_page(evidence: Option<&str>) -> Option<&'static str> {
    match evidence?.split_once(" on the screen")?.0 {
        "login" => Some("it wants you to log in"),
        "theme" => Some("it wants you to choose its colours"),
        "api-key" => Some("it asks whether to use your API key"),
        "security-notes" => Some("it shows its notes on security"),
        _ => None,
    }
}

/// The first line that says something, with at most so many characters.
pub fn first_line(text: &str, most: usize) -> String {
    let line =
        text.lines().map(str::trim).find(|line| line.chars().any(char::is_alphanumeric)).unwrap_or_default();
    if line.chars().count() <= most {
        return line.into();
    }
    line.chars().take(most.saturating_sub(1)).collect::<String>().trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_named_and_a_question_is_its_first_line() {
        let page = "Welcome\n ████ \nSelect login method:\n❯ 1. With a subscription";
        assert_eq!(need(page, Some("login on the screen; its window is gone")), "it wants you to log in");
        assert_eq!(need("\n───\n May I? \n 1. Yes", Some("other on the screen")), "May I?");
        assert_eq!(
            need("permission for Bash: ls", Some("hook PermissionRequest")),
            "permission for Bash: ls"
        );
        let long = need(&"字".repeat(300), None);
        assert!(long.chars().count() == 80 && long.ends_with('…'), "{long}");
        assert_eq!(need("", None), "");
        assert_eq!(
            question("\n Title\n\n May I?\n 1. Yes", Some("unknown on the screen")),
            "Title May I? 1. Yes"
        );
        assert_eq!(question(page, Some("login on the screen")), "it wants you to log in");
    }
}

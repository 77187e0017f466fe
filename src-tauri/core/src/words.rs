//! Numbers in sentences for people.

use std::fmt::Display;

/// `1 memory`, `3 memories`.
pub fn counted(number: impl Display, one: &str, many: &str) -> String {
    let number = number.to_string();
    format!("{number} {}", if number == "1" { one } else { many })
}

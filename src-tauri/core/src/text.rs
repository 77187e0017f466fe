//! Characters as people see them.

use unicode_normalization::UnicodeNormalization;

/// Characters that nobody sees and that join, order or colour no others: a prompt line may drop them.
/// The joiner of emoji and the signs that choose their colour are not among them.
pub fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0x00AD | 0x061C | 0x200B | 0x200C | 0x200E | 0x200F | 0x202A..=0x202E | 0x2060..=0x206F
        | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE007F)
}

/// Without what nobody sees, composed, tabs as four spaces, line ends as line feeds, and no white space around: what is left
/// of a text on its way through a terminal and a prompt line, whatever the two change.
pub fn essence(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
    let seen: String = lines
        .nfc()
        .filter(|c| *c == '\n' || (!c.is_control() && !is_invisible(*c) && *c != '\u{200d}'))
        .collect();
    seen.trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_changes_is_no_part_of_the_essence() {
        assert_eq!(essence("\n\ta\r\nb\u{200b} \u{7}c\n\n"), "a\nb c");
        assert_eq!(essence("a\tb"), essence("a    b"));
        assert_eq!(essence("cafe\u{301}"), essence("caf\u{e9}"));
        assert_ne!(essence("a b"), essence("ab"));
    }
}

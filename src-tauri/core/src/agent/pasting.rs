//! What a text needs so that a host agent takes it, pasted into its prompt line, for nothing but text.

use super::{HostAgent, Version};
use crate::text::is_invisible;

/// How a prompt line reads what is pasted into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pasting {
    /// Whole texts that act, lower case.
    pub words: &'static [&'static str],
    /// Put before and behind a text that would otherwise act, end too early or lose its end.
    pub around: (&'static str, &'static str),
    /// From this version on nothing acts within what is put around. In an older one a word goes in front of what
    /// would act all the same.
    pub inert_since: Version,
}

/// A text as it is pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pasted {
    /// What is pasted.
    pub text: String,
    /// The way through a terminal and its prompt line changes the text itself: tabs become spaces, invisible
    /// characters vanish.
    pub altered: bool,
    /// A word had to be put in front.
    pub worded: bool,
}

impl HostAgent {
    /// The text as it has to be pasted for `version`.
    pub fn pasted(&self, text: &str, version: Option<Version>) -> Pasted {
        let lines = text.replace("\r\n", "\n").replace('\r', "\n");
        let plain: String = lines
            .chars()
            .filter(|c| matches!(c, '\n' | '\t') || (!c.is_control() && !is_invisible(*c)))
            .collect();
        let altered = plain != text || plain.contains('\t') || !unicode_normalization::is_nfc(&plain);
        // What is left when nothing can be seen of it still has to be something.
        let seen = plain.trim();
        let first = seen.chars().next();
        let command = first.is_none_or(|c| self.flags.commands.contains(&c))
            || self.pasting.words.contains(&seen.to_lowercase().as_str());
        if command && version.unwrap_or(self.oldest) < self.pasting.inert_since {
            let (_, behind) = self.pasting.around;
            return Pasted { text: format!("{}{plain}{behind}", self.flags.defuse), altered, worded: true };
        }
        let ends_well = plain.chars().last().is_some_and(|c| c != '\\' && !c.is_whitespace());
        let begins_well = plain.chars().next().is_some_and(char::is_alphanumeric);
        let safe = !command && begins_well && ends_well;
        let (front, behind) = if safe { ("", "") } else { self.pasting.around };
        Pasted { text: format!("{front}{plain}{behind}"), altered, worded: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::CLAUDE_CODE;

    #[test]
    fn what_would_act_is_put_between_lines_and_all_else_is_left_as_it_is() {
        let pasted = |text: &str| CLAUDE_CODE.pasted(text, Some(Version(2, 1, 332)));
        for text in ["fix the login", "two\nlines", "ends;", "支付 🦀", "Enter", "C-c"] {
            assert_eq!(pasted(text), Pasted { text: text.into(), altered: false, worded: false });
        }
        for text in ["/clear", " /clear", "!ls", "exit", "a\\", "a ", "  a", "   ", "- item", "#x", "@x", "?"]
        {
            assert_eq!(pasted(text).text, format!("\n{text}\n\n\n"), "{text:?}");
            assert!(!pasted(text).altered);
        }
    }

    #[test]
    fn what_a_terminal_changes_is_known_beforehand() {
        let pasted = |text: &str| CLAUDE_CODE.pasted(text, Some(Version(2, 1, 332)));
        assert_eq!(pasted("a\r\nb").text, "a\nb");
        assert_eq!(pasted("a\u{200b}b\u{7}").text, "ab");
        for text in ["a\r\nb", "a\tb", "a\u{200b}b", "a\u{7}b", "\u{200b}/clear"] {
            assert!(pasted(text).altered, "{text:?}");
        }
        assert!(!pasted("👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} family").altered);
    }

    #[test]
    fn where_nothing_else_helps_a_word_goes_in_front() {
        for version in [None, Some(Version(2, 0, 76))] {
            for (text, worded) in
                [("/clear", true), ("exit", true), ("  ", true), ("!ls", false), ("hello there", false)]
            {
                assert_eq!(CLAUDE_CODE.pasted(text, version).worded, worded, "{text:?}");
            }
        }
    }
}

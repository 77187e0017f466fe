//! Links: `pao://spawn?text=…&folder=…`. Whoever writes a page or a mail can write one, so what it says is read strictly
//! and can do one thing only: fill in the spawn panel. Pure; looks at no disk.

use percent_encoding::percent_decode_str;

use crate::text::is_invisible;

/// The scheme.
pub const SCHEME: &str = "pao";
/// The longest link that is read, in bytes: a text of the longest kind, every byte of it encoded.
const LONGEST: usize = 32 * 1024;
/// The longest text, in characters. More than fits into the panel could hide what comes at its end.
pub const LONGEST_TEXT: usize = 2_000;
/// The longest folder, in bytes; systems take no longer path.
const LONGEST_FOLDER: usize = 4_096;

/// What a link asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// What the agent is to do.
    pub text: String,
    /// Where: an absolute path, or one that begins with `~`.
    pub folder: Option<String>,
}

/// Why a link was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Too long altogether, or in one of its parts.
    #[error("it is too long")]
    TooLong,
    /// Not of the form it has to have.
    #[error("it is not written as such links are")]
    Malformed,
    /// It asks for something that links cannot do.
    #[error("it asks for something that links cannot do")]
    Unknown,
    /// It names something this version does not know.
    #[error("it names {0:?}, which links do not have")]
    UnknownKey(String),
    /// It says something twice.
    #[error("it says {0} twice")]
    Twice(&'static str),
    /// Characters that would not be seen in the panel.
    #[error("its {0} has characters that cannot be seen")]
    Unseen(&'static str),
    /// A folder that depends on where one is.
    #[error("its folder is not a whole path")]
    Folder,
}

/// Whether that is a link of ours, well written or not.
pub fn is_ours(word: &str) -> bool {
    scheme_of(word).is_some()
}

/// Reads one.
pub fn parse(link: &str) -> Result<Link, LinkError> {
    if link.len() > LONGEST {
        return Err(LinkError::TooLong);
    }
    if !link.bytes().all(|byte| byte.is_ascii_graphic()) || link.contains('#') {
        return Err(LinkError::Malformed);
    }
    let rest = scheme_of(link).and_then(|rest| rest.strip_prefix("//")).ok_or(LinkError::Malformed)?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let verb = place.strip_suffix('/').unwrap_or(place);
    if !verb.eq_ignore_ascii_case("spawn") {
        return Err(LinkError::Unknown);
    }
    let (mut text, mut folder) = (None, None);
    for part in query.split('&').filter(|_| !query.is_empty()) {
        let (key, value) = part.split_once('=').ok_or(LinkError::Malformed)?;
        let (slot, name) = match key {
            "text" => (&mut text, "text"),
            "folder" => (&mut folder, "folder"),
            other => return Err(LinkError::UnknownKey(other.chars().take(40).collect())),
        };
        if slot.replace(decoded(value)?).is_some() {
            return Err(LinkError::Twice(name));
        }
    }
    let text: String = text.unwrap_or_default();
    if text.chars().count() > LONGEST_TEXT {
        return Err(LinkError::TooLong);
    }
    if text.chars().any(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || is_invisible(c)) {
        return Err(LinkError::Unseen("text"));
    }
    let folder = folder.filter(|folder: &String| !folder.is_empty());
    if let Some(folder) = &folder {
        if folder.len() > LONGEST_FOLDER {
            return Err(LinkError::TooLong);
        }
        if folder.chars().any(|c| c.is_control() || is_invisible(c)) {
            return Err(LinkError::Unseen("folder"));
        }
        if !(folder.starts_with('/') || folder == "~" || folder.starts_with("~/")) {
            return Err(LinkError::Folder);
        }
    }
    Ok(Link { text, folder })
}

fn scheme_of(word: &str) -> Option<&str> {
    let (scheme, rest) = word.split_once(':')?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(rest)
}

/// A value as forms encode it: `+` is a space. Half a sign, or what is no text, is refused and not guessed at.
fn decoded(value: &str) -> Result<String, LinkError> {
    let bytes = value.as_bytes();
    let whole =
        |at: usize| bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
    if bytes.iter().enumerate().any(|(at, byte)| *byte == b'%' && !whole(at)) {
        return Err(LinkError::Malformed);
    }
    let value = value.replace('+', " ");
    percent_decode_str(&value).decode_utf8().map(Into::into).map_err(|_| LinkError::Malformed)
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    use super::*;

    fn encoded(text: &str) -> String {
        utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
    }

    #[test]
    fn a_link_fills_in_text_and_folder() {
        let read = |link: &str| parse(link).unwrap();
        let both = Link { text: "fix the login".into(), folder: Some("/a/支 付".into()) };
        assert_eq!(read("pao://spawn?text=fix+the%20login&folder=%2Fa%2F%E6%94%AF%20%E4%BB%98"), both);
        assert_eq!(read("PAO://Spawn/?folder=/a/%E6%94%AF%20%E4%BB%98&text=fix%20the%20login"), both);
        for empty in ["pao://spawn", "pao://spawn/", "pao://spawn?", "pao://spawn?text=&folder="] {
            assert_eq!(read(empty), Link::default(), "{empty}");
        }
        assert_eq!(read("pao://spawn?folder=~/code").folder.as_deref(), Some("~/code"));
        assert_eq!(read("pao://spawn?text=a%0Ab%2Bc").text, "a\nb+c");
    }

    #[test]
    fn anything_else_is_refused_with_its_reason() {
        use LinkError::{Folder, Malformed, TooLong, Twice, Unknown, UnknownKey, Unseen};
        let long = format!("pao://spawn?text={}", "a".repeat(LONGEST_TEXT + 1));
        let longer = format!("pao://spawn?text={}", "a".repeat(LONGEST));
        for (link, why) in [
            ("pao:spawn?text=a", Malformed),
            ("pao://", Unknown),
            ("pao://run?text=a", Unknown),
            ("pao://spawn/now?text=a", Unknown),
            ("pao://me@spawn?text=a", Unknown),
            ("pao://spawn:80?text=a", Unknown),
            ("pao://spawn?text=a#b", Malformed),
            ("pao://spawn?text", Malformed),
            ("pao://spawn?text=a&", Malformed),
            ("pao://spawn?text=a b", Malformed),
            ("pao://spawn?text=支", Malformed),
            ("pao://spawn?text=%", Malformed),
            ("pao://spawn?text=%4", Malformed),
            ("pao://spawn?text=%zz", Malformed),
            ("pao://spawn?text=%FF", Malformed),
            ("pao://spawn?text=a&text=b", Twice("text")),
            ("pao://spawn?permission=skip", UnknownKey("permission".into())),
            ("pao://spawn?text=a&yes=1", UnknownKey("yes".into())),
            ("pao://spawn?Text=a", UnknownKey("Text".into())),
            ("pao://spawn?text=a%00", Unseen("text")),
            ("pao://spawn?text=a%1B%5B2J", Unseen("text")),
            ("pao://spawn?text=a%E2%80%AEb", Unseen("text")),
            ("pao://spawn?text=%F3%A0%81%81", Unseen("text")),
            ("pao://spawn?folder=/a%0Ab", Unseen("folder")),
            ("pao://spawn?folder=code", Folder),
            ("pao://spawn?folder=~other/code", Folder),
            ("pao://spawn?folder=-C", Folder),
            (&long, TooLong),
            (&longer, TooLong),
            ("http://spawn?text=a", Malformed),
            ("", Malformed),
        ] {
            assert_eq!(parse(link), Err(why), "{link}");
        }
    }

    proptest! {
        #[test]
        fn every_text_that_can_be_seen_arrives_unharmed(text in "[\\PC\n\t]{0,200}", folder in "/[^\\pC]{0,60}") {
            prop_assume!(!text.chars().chain(folder.chars()).any(is_invisible));
            let link = format!("pao://spawn?folder={}&text={}", encoded(&folder), encoded(&text));
            prop_assert_eq!(parse(&link), Ok(Link { text, folder: Some(folder) }));
        }

        #[test]
        fn no_input_breaks_it_and_what_it_reads_keeps_its_limits(link in "(pao://spawn\\?)?(text=|folder=|&|%[0-9a-fA-F]{2}|\\PC|.){0,120}") {
            if let Ok(read) = parse(&link) {
                prop_assert!(is_ours(&link));
                prop_assert!(read.text.chars().count() <= LONGEST_TEXT);
                let unseen = read.text.contains(['\0', '\u{1b}', '\r']);
                prop_assert!(!unseen);
                prop_assert!(read.folder.is_none_or(|folder| folder.starts_with(['/', '~'])));
            }
        }
    }
}

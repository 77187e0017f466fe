//! Marks around text that PAO itself puts before an agent, so that capture never takes it for something new.
//!
//! The briefing opens with [`BEGIN`] and closes with [`END`]; whoever reads a transcript calls [`without`] first.
//! Memory text inside a briefing cannot forge a mark: the briefing neutralises every `<`.

use std::borrow::Cow;

/// First line of every text we inject.
pub const BEGIN: &str = "<!-- pao:briefing -->";

/// Last line of every text we inject.
pub const END: &str = "<!-- /pao:briefing -->";

/// The text without what we injected. A beginning without an end removes all that follows: text that was cut on
/// its way is still ours, and losing a line of a transcript is better than learning our own words again.
pub fn without(text: &str) -> Cow<'_, str> {
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, ours)) = rest.split_once(BEGIN) {
        kept.push_str(before);
        rest = ours.split_once(END).map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_we_injected_is_dropped_and_the_rest_stays() {
        let text = format!("before {BEGIN}\nours\n{END} between {BEGIN}\nours again\n{END} after");
        assert_eq!(without(&text), "before  between  after");
        assert_eq!(without("nothing of ours"), "nothing of ours");
    }

    #[test]
    fn a_beginning_without_an_end_takes_everything_after_it() {
        assert_eq!(without(&format!("before {BEGIN} ours, cut")), "before ");
        assert_eq!(without(&format!("an end alone {END} stays")), format!("an end alone {END} stays"));
    }
}

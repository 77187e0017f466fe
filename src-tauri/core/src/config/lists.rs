//! Lists in the configuration: one text comes or goes, and every comment stays beside what it speaks of.
//!
//! TOML hangs a comment to what follows it: one on an element's own line belongs to the next element, or to the end of
//! the list.

use toml_edit::{Array, Value};

/// Adds a text at the end, on a line of its own where the others have theirs.
pub(super) fn push(list: &mut Array, text: &str) {
    let lines = list.iter().next().and_then(indent);
    let mut value = Value::from(text);
    let end = end_of(list);
    match (end.rsplit_once('\n'), lines) {
        (Some((above, tail)), lines) => {
            value.decor_mut().set_prefix(format!("{above}\n{}", lines.as_deref().unwrap_or("  ")));
            list.set_trailing(format!("\n{tail}"));
            list.set_trailing_comma(true);
        }
        (None, Some(lines)) => {
            value.decor_mut().set_prefix(format!("\n{lines}"));
            list.set_trailing(end);
        }
        (None, None) => {
            list.set_trailing(end);
            list.push(value);
            return;
        }
    }
    list.push_formatted(value);
}

/// Removes a text and the comment on its line. False when it was not there.
pub(super) fn remove(list: &mut Array, text: &str) -> bool {
    let Some(place) = list.iter().position(|value| value.as_str() == Some(text)) else { return false };
    let before = prefix(list.get(place));
    let is_last = place + 1 == list.len();
    let after = if is_last { end_of(list) } else { prefix(list.get(place + 1)) };
    let between = match (before.rsplit_once('\n'), after.split_once('\n')) {
        // Up to its line all speaks of others; what follows on its line speaks of it.
        (Some((above, _)), Some((_, below))) => format!("{above}\n{below}"),
        (Some(_), None) => before,
        (None, _) if place == 0 && !is_last => before,
        (None, _) => after,
    };
    list.remove(place);
    match list.get_mut(place) {
        Some(next) => next.decor_mut().set_prefix(between),
        None => list.set_trailing(between),
    }
    true
}

/// What stands between the last element and the end, taken off both.
fn end_of(list: &mut Array) -> String {
    let mut end = list.trailing().as_str().unwrap_or_default().to_owned();
    if let Some(value) = list.len().checked_sub(1).and_then(|place| list.get_mut(place)) {
        let own = value.decor().suffix().and_then(|suffix| suffix.as_str()).unwrap_or_default().to_owned();
        value.decor_mut().set_suffix("");
        end.insert_str(0, &own);
    }
    list.set_trailing("");
    end
}

/// The space before an element that begins a line.
fn indent(value: &Value) -> Option<String> {
    let (_, space) = value.decor().prefix()?.as_str()?.rsplit_once('\n')?;
    space.trim().is_empty().then(|| space.to_owned())
}

fn prefix(value: Option<&Value>) -> String {
    value.and_then(|value| value.decor().prefix()?.as_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use toml_edit::DocumentMut;

    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut Array)) -> String {
        let mut document: DocumentMut = text.parse().unwrap();
        edit(document["a"].as_array_mut().unwrap());
        document.to_string()
    }

    #[test]
    fn a_text_comes_in_the_manner_of_the_others() {
        for (before, after) in [
            ("a = []\n", "a = [\"x\"]\n"),
            ("a = [ \"b\" ] # c\n", "a = [ \"b\", \"x\" ] # c\n"),
            ("a = [\n]\n", "a = [\n  \"x\",\n]\n"),
            ("a = [\n\t\"b\" # c\n]\n", "a = [\n\t\"b\", # c\n\t\"x\",\n]\n"),
            ("a = [\n \"b\",\n \"c\"]\n", "a = [\n \"b\",\n \"c\",\n \"x\"]\n"),
            ("a = [\n  # none yet\n]\n", "a = [\n  # none yet\n  \"x\",\n]\n"),
        ] {
            let made = edited(before, |list| push(list, "x"));
            // Whether a comment stands before or behind the comma says nothing.
            assert_eq!(made.replace(" # c,", ", # c"), after, "{before}");
        }
    }

    #[test]
    fn a_text_goes_with_its_own_comment_and_leaves_those_of_others() {
        for (before, after) in [
            ("a = [\"x\", \"b\"]\n", "a = [\"b\"]\n"),
            ("a = [\"b\", \"x\"]\n", "a = [\"b\"]\n"),
            ("a = [\"x\"]\n", "a = []\n"),
            (
                "a = [\n  \"b\", # b\n  \"x\", # x\n  \"c\", # c\n]\n",
                "a = [\n  \"b\", # b\n  \"c\", # c\n]\n",
            ),
            ("a = [\n  \"x\", # x\n  # c\n  \"c\"\n]\n", "a = [\n  # c\n  \"c\"\n]\n"),
            ("a = [\n  \"b\", # b\n  \"x\" # x\n]\n", "a = [\n  \"b\", # b\n]\n"),
        ] {
            let left = edited(before, |list| assert!(remove(list, "x")));
            assert_eq!(left.replace(" # b", ", # b").replace(",,", ","), after, "{before}");
            assert_eq!(edited(before, |list| assert!(!remove(list, "y"))), before);
        }
    }
}

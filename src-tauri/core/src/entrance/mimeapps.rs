//! The desktop's list of which application opens what (`mimeapps.list`), of which we change one line of ours.

/// The section that says which application opens a kind of thing.
const SECTION: &str = "[Default Applications]";

/// The application that opens that kind of thing by this list.
pub fn handler(text: &str, mime: &str) -> Option<String> {
    let (_, value) = lines(text).find_map(|(line, in_section)| in_section.then(|| entry(line, mime))?)?;
    // The first that is installed is taken; others of ours than the first do not open it.
    value.split(';').map(str::trim).find(|name| !name.is_empty()).map(Into::into)
}

/// The list with that application for that kind of thing. Every other line stays as it is.
pub fn with(text: &str, mime: &str, entry_name: &str) -> String {
    let text = without(text, mime, entry_name).unwrap_or_default();
    let ours = format!("{mime}={entry_name}\n");
    let Some(at) = lines(&text).position(|(line, _)| line.trim() == SECTION) else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return format!("{text}{gap}{SECTION}\n{ours}");
    };
    let mut out = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        out += line;
        if number == at {
            if !line.ends_with('\n') {
                out.push('\n');
            }
            out += &ours;
        }
    }
    out
}

/// The list without that application for that kind of thing; `None` where nothing is left of it.
pub fn without(text: &str, mime: &str, entry_name: &str) -> Option<String> {
    let mut out = String::new();
    for ((line, in_section), whole) in lines(text).zip(text.split_inclusive('\n')) {
        match entry(line, mime).filter(|_| in_section) {
            None => out += whole,
            Some((key, value)) => {
                let others: Vec<&str> =
                    value.split(';').map(str::trim).filter(|n| !n.is_empty() && *n != entry_name).collect();
                if !others.is_empty() {
                    out.extend([key, "=", &others.join(";"), "\n"]);
                }
            }
        }
    }
    let bare = out.trim() == SECTION || out.trim().is_empty();
    (!bare).then_some(out)
}

/// Each line, and whether it stands in our section.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.lines().scan(false, |inside, line| {
        if line.trim_start().starts_with('[') {
            *inside = line.trim() == SECTION;
        }
        Some((line, *inside))
    })
}

fn entry<'a>(line: &'a str, mime: &str) -> Option<(&'a str, &'a str)> {
    let (key, value) = line.split_once('=')?;
    (key.trim() == mime).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIME: &str = "x-scheme-handler/pao";
    const OURS: &str = "ours.desktop";

    #[test]
    fn our_line_comes_into_its_section_and_goes_again_byte_for_byte() {
        for before in [
            "# mine\n[Default Applications]\ntext/plain=editor.desktop\n\n[Added Associations]\na/b=c.desktop;\n",
            "[Added Associations]\nx-scheme-handler/pao=other.desktop\n[Default Applications]\n a/b = c\n",
        ] {
            let with_ours = with(before, MIME, OURS);
            assert_eq!(handler(&with_ours, MIME).as_deref(), Some(OURS));
            assert_eq!(handler(before, MIME), None, "another section says nothing");
            assert_eq!(without(&with_ours, MIME, OURS).as_deref(), Some(before));
            assert_eq!(with(&with_ours, MIME, OURS), with_ours);
        }
    }

    #[test]
    fn where_there_was_nothing_nothing_is_left() {
        let made = with("", MIME, OURS);
        assert_eq!(made, "[Default Applications]\nx-scheme-handler/pao=ours.desktop\n");
        assert_eq!(without(&made, MIME, OURS), None);
    }

    #[test]
    fn another_application_for_the_same_stays() {
        let text = "[Default Applications]\nx-scheme-handler/pao=ours.desktop;other.desktop;\n";
        assert_eq!(
            without(text, MIME, OURS).as_deref(),
            Some("[Default Applications]\nx-scheme-handler/pao=other.desktop\n")
        );
        assert_eq!(
            handler("[Default Applications]\nx-scheme-handler/pao=;other.desktop", MIME).as_deref(),
            Some("other.desktop")
        );
    }

    proptest::proptest! {
        #[test]
        fn every_other_line_of_any_list_survives(text in "(\\[Default Applications\\]\n|\\[x\\]\n|a/b=c;d\n|# e\n|\n|x-scheme-handler/pao=f\n)*") {
            let changed = with(&text, MIME, OURS);
            let kept = |text: &str| text.lines().filter(|l| !l.contains("pao=") && !l.is_empty() && l.trim() != SECTION).map(str::to_owned).collect::<Vec<_>>();
            proptest::prop_assert_eq!(kept(&changed), kept(&text));
            proptest::prop_assert_eq!(handler(&changed, MIME), Some(OURS.to_owned()));
        }
    }
}

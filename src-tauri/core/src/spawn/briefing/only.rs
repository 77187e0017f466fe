//! The briefing with some of its lines alone: for an agent that knows the others already.

use super::render::citation;
use crate::host::files;
use crate::spawn::passed::{Briefing, Line};

/// Whether a document holds that line already. A line that was cut to what bears on the question may be cut
/// elsewhere the next time, so there its citation is enough; of a whole one the words count too.
pub fn holds(document: &str, line: &Line) -> bool {
    let citation = citation(&line.source, line.at, &line.id);
    let cut = line.text.starts_with('…') || line.text.ends_with('…');
    document
        .lines()
        .any(|known| known.contains(&citation) && (cut || known.contains('…') || known.contains(&line.text)))
}

/// The briefing with those of its delivered lines that `wanted` says, and nothing under a heading where none is left.
pub fn only(briefing: &Briefing, title: &str, wanted: impl Fn(&Line) -> bool) -> Briefing {
    let delivered = || briefing.lines.iter().filter(|line| line.left_out.is_none());
    let unwanted: Vec<String> =
        delivered().filter(|line| !wanted(line)).map(|l| citation(&l.source, l.at, &l.id)).collect();
    let is_memory = |text: &str| text.starts_with("- ") && text.contains("“");
    let mut markdown = String::new();
    let mut heading: Option<&str> = None;
    for text in briefing.markdown.split_inclusive('\n') {
        if is_memory(text) && unwanted.iter().any(|citation| text.contains(citation.as_str())) {
            continue;
        }
        if text.starts_with("# ") {
            markdown.push_str("# ");
            markdown.push_str(title);
            markdown.push('\n');
            continue;
        }
        if text.starts_with("## ") {
            heading = Some(text);
            continue;
        }
        // A heading stands there only once something does under it.
        if let Some(heading) = heading.take_if(|_| !text.trim().is_empty())
            && !text.starts_with("To ask")
            && !text.starts_with('<')
        {
            markdown.push_str(heading);
        }
        markdown.push_str(text);
    }
    while markdown.contains("\n\n\n") {
        markdown = markdown.replace("\n\n\n", "\n\n");
    }
    let lines =
        briefing.lines.iter().filter(|line| line.left_out.is_some() || wanted(line)).cloned().collect();
    Briefing {
        hash: files::sha256(markdown.as_bytes()),
        tokens: super::estimate_tokens(&markdown),
        lines,
        self_warming: false,
        edited: briefing.edited,
        markdown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, text: &str) -> Line {
        Line {
            source: "history".into(),
            id: id.into(),
            at: None,
            text: text.into(),
            score: 1.0,
            tokens: 9,
            left_out: None,
            supersedes: None,
            because: None,
            mark: None,
            content: String::new(),
        }
    }

    const MARKDOWN: &str = "<!-- pao:briefing -->\n# Context briefing\n\nWhat follows …\n\n## Stores asked\n- history: 2 memories found\n\n\
        ## What the user said before\n- user said: “old” [history · undated · a]\n\n## Known facts\n\
        - recorded: “new” [history · undated · b]\n\nTo ask the stores for more: `pao recall`\n<!-- /pao:briefing -->\n";

    #[test]
    fn only_what_is_wanted_stays_and_no_heading_without_anything_under_it() {
        let briefing = Briefing {
            markdown: MARKDOWN.into(),
            hash: String::new(),
            tokens: 1,
            lines: vec![line("a", "old"), line("b", "new")],
            self_warming: false,
            edited: false,
        };
        let news = only(&briefing, "News", |line| line.id == "b");
        assert!(news.markdown.contains("# News\n") && news.markdown.contains("“new”"), "{}", news.markdown);
        assert!(
            !news.markdown.contains("“old”") && !news.markdown.contains("said before"),
            "{}",
            news.markdown
        );
        assert!(news.markdown.contains("## Stores asked\n- history"), "{}", news.markdown);
        assert_eq!(news.lines.len(), 1);
    }

    #[test]
    fn a_line_is_known_by_its_citation_and_where_it_is_whole_by_its_words() {
        assert!(holds(MARKDOWN, &line("a", "old")));
        assert!(!holds(MARKDOWN, &line("a", "changed")));
        assert!(!holds(MARKDOWN, &line("c", "old")));
        assert!(holds(MARKDOWN, &line("a", "…cut elsewhere")));
    }
}

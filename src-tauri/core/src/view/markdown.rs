//! Markdown as HTML for the windows. What a memory or an agent wrote is hostile: raw HTML becomes text, links and
//! pictures only their words, so that no markup comes out but our own.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// The HTML of a Markdown text.
pub fn html(markdown: &str) -> String {
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let mut out = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut out, events.filter_map(tame));
    out
}

fn tame(event: Event<'_>) -> Option<Event<'_>> {
    match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Some(Event::Text(raw)),
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Link { .. } | Tag::Image { .. }) | Event::End(TagEnd::Link | TagEnd::Image) => None,
        // A heading may carry an id and classes of the writer's choice.
        Event::Start(Tag::Heading { level, .. }) => {
            Some(Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() }))
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_markdown_becomes_html() {
        assert_eq!(
            html("# Facts\n\n- one `x`\n- *two*\n"),
            "<h1>Facts</h1>\n<ul>\n<li>one <code>x</code></li>\n<li><em>two</em></li>\n</ul>\n"
        );
    }

    #[test]
    fn nothing_hostile_comes_out_as_markup() {
        for hostile in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<iframe\nsrc='https://example.org'></iframe>",
            "[click](javascript:alert(1))",
            "<javascript:alert(1)>",
            "![x](https://example.org/track.png)",
            "[a]: javascript:x\n\n[a]",
            "<!-- --><svg onload=alert(1)>",
            "```\"><script>alert(1)</script>\nx\n```",
            "<style>*{display:none}</style>",
            "<a href='data:text/html,x'>y</a>",
            "&lt;script&gt;",
            "# x {#id .class onclick=x}",
        ] {
            assert_tame(hostile);
        }
    }

    /// Every tag is one of ours, without attributes but a code block's language and a cell's alignment.
    fn assert_tame(text: &str) {
        let ours = [
            "p",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "ul",
            "ol",
            "li",
            "em",
            "strong",
            "del",
            "code",
            "pre",
            "blockquote",
            "hr",
            "br",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
        ];
        let made = html(text);
        for piece in made.split('<').skip(1) {
            let tag = piece.split('>').next().unwrap();
            let tag = tag.trim_start_matches('/').trim_end_matches('/').trim();
            let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
            assert!(ours.contains(&name), "{text:?} gave {made}");
            let harmless = ["", "class=\"language-", "style=\"text-align: ", "start=\""];
            let fits = harmless.iter().any(|start| {
                (start.is_empty() && attributes.is_empty())
                    || (!start.is_empty() && attributes.starts_with(start))
            });
            assert!(fits && attributes.matches('"').count() <= 2, "{text:?} gave {made}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_only_our_own_markup_comes_out(text in "[ -~\n]{0,200}|[<>a-z/!\"'=\\[\\]()`#&;: \n-]{0,200}") {
            assert_tame(&text);
        }
    }
}

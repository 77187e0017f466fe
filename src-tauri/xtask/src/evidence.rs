//! Whether the briefing stood in the agent's first request, judged by the stand-in's log and nothing else: not by what
//! `pao` says of itself.

use serde_json::Value;

/// What the log shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Requests of the agent's own loop, those with tools.
    pub agent_requests: usize,
    /// Cited lines of the briefing that stood in the first of them.
    pub found: Vec<String>,
    /// Cited lines that did not.
    pub missing: Vec<String>,
    /// Facts that only the sample's past sessions know and that stood in it.
    pub facts: Vec<String>,
}

impl Evidence {
    /// True only when every cited line arrived, there was at least one, and a fact of the past was among them.
    pub fn proves_briefing(&self) -> bool {
        !self.found.is_empty() && self.missing.is_empty() && !self.facts.is_empty()
    }
}

/// Weighs the log (JSON lines) against the briefing that was to be delivered.
pub fn weigh(log: &str, briefing: &str, facts: &[&str]) -> Evidence {
    let bodies = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut agent_requests = bodies.filter(is_agent_request).map(|mut request| request["body"].take());
    let Some(first) = agent_requests.next() else { return Evidence::default() };
    let mut text = String::new();
    collect_text(&first["system"], &mut text);
    for message in first["messages"].as_array().into_iter().flatten() {
        collect_text(&message["content"], &mut text);
    }
    let (found, missing): (Vec<String>, Vec<String>) =
        cited_lines(briefing).map(str::to_owned).partition(|line| text.contains(line.as_str()));
    let facts = facts.iter().filter(|fact| found.iter().any(|line| line.contains(*fact)));
    let facts = facts.map(ToString::to_string).collect();
    Evidence { agent_requests: 1 + agent_requests.count(), found, missing, facts }
}

/// Lines that end in a citation, `[source · date · id]`.
fn cited_lines(briefing: &str) -> impl Iterator<Item = &str> {
    briefing.lines().map(str::trim).filter(|line| {
        line.ends_with(']') && line.rsplit_once('[').is_some_and(|(_, cited)| cited.contains(" · "))
    })
}

fn is_agent_request(request: &Value) -> bool {
    request["method"] == "POST"
        && request["path"].as_str().is_some_and(|path| path.split('?').next() == Some("/v1/messages"))
        && request["body"]["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

/// All text blocks of a content, each on lines of its own.
fn collect_text(content: &Value, into: &mut String) {
    match content {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(blocks) => {
            for block in blocks {
                collect_text(&block["text"], into);
                collect_text(&block["content"], into);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BRIEFING: &str = "# Briefing\n\nRecorded observations.\n\n\
        - the proxy's \"clock\" runs ahead [history · 2026-11-25 · a1b2]\n\
        - only POST renews [history · 2026-11-18 · c3d4]\n";
    const FACTS: [&str; 2] = ["clock\" runs ahead", "never seen"];

    fn line(path: &str, tools: &Value, content: &str) -> String {
        let block =
            json!([{"type": "text", "text": format!("SessionStart hook additional context: {content}")}]);
        let body = json!({"tools": tools, "messages": [
            {"role": "user", "content": "fix it"},
            {"role": "system", "content": block},
        ]});
        json!({"method": "POST", "path": path, "body": body}).to_string()
    }

    fn agent(content: &str) -> String {
        line("/v1/messages?beta=true", &json!([{"name": "Bash"}]), content)
    }

    #[test]
    fn all_cited_lines_and_a_fact_in_the_first_request_are_proof() {
        let log = format!("{}\n{}\n", agent(BRIEFING), agent("later"));
        let evidence = weigh(&log, BRIEFING, &FACTS);
        assert!(evidence.proves_briefing());
        assert_eq!(evidence.agent_requests, 2);
        assert_eq!(evidence.found.len(), 2);
        assert_eq!(evidence.facts, ["clock\" runs ahead"]);
    }

    #[test]
    fn a_briefing_that_comes_only_with_the_second_request_is_no_proof() {
        let log = format!("{}\n{}\n", agent("nothing yet"), agent(BRIEFING));
        let evidence = weigh(&log, BRIEFING, &FACTS);
        assert!(!evidence.proves_briefing());
        assert_eq!(evidence.missing.len(), 2);
    }

    #[test]
    fn side_requests_and_token_counts_do_not_count() {
        let title = line("/v1/messages", &json!([]), BRIEFING);
        let count = line("/v1/messages/count_tokens", &json!([{"name": "Bash"}]), BRIEFING);
        let evidence = weigh(&format!("{title}\n{count}\nnot json\n"), BRIEFING, &FACTS);
        assert_eq!(evidence, Evidence::default());
        assert!(!evidence.proves_briefing());
    }

    #[test]
    fn a_missing_line_an_empty_briefing_or_one_without_facts_is_no_proof() {
        let half = BRIEFING.replace("only POST renews", "changed on the way");
        assert!(!weigh(&agent(&half), BRIEFING, &FACTS).proves_briefing());
        assert!(
            !weigh(&agent("# Briefing\n"), "# Briefing\n\nAsk for yourself [1].\n", &FACTS).proves_briefing()
        );
        assert!(!weigh(&agent(BRIEFING), BRIEFING, &["never seen"]).proves_briefing());
    }

    #[test]
    fn a_fact_that_stands_elsewhere_in_the_request_does_not_count() {
        let log = agent(&format!("{BRIEFING}\nnever seen"));
        assert!(!weigh(&log, BRIEFING, &["never seen"]).proves_briefing());
    }
}

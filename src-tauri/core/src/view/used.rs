//! Which lines of a delivered briefing an agent took up, as far as that can be told: by a command, path or name that
//! stands in the line as code and came up in what the agent said or ran. Of a line without such a word nothing is said.

use crate::life::logs::Line;
use crate::wire::door::BriefingLine;

/// Shorter words come up by chance.
const SHORTEST: usize = 6;

/// Notes in each line when it was first taken up.
pub fn note(briefing: &mut [BriefingLine], said: &[Line]) {
    for line in briefing {
        let words = code(&line.line.text);
        let took_up = |said: &&Line| said.who != "you" && words.iter().any(|word| said.text.contains(word));
        line.used_at = said.iter().find(took_up).and_then(|said| said.at);
    }
}

/// What stands between backticks.
fn code(text: &str) -> Vec<&str> {
    let spans = text.split('`').skip(1).step_by(2).map(str::trim);
    spans.filter(|span| span.chars().count() >= SHORTEST).collect()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::view::agents::tests::now;
    use crate::view::preview::delivered;

    fn said(minutes: i64, who: &'static str, text: &str) -> Line {
        Line { at: Some(now() + TimeDelta::minutes(minutes)), who, text: text.into() }
    }

    #[test]
    fn a_line_is_taken_up_when_its_command_is_run_and_not_when_the_user_says_it() {
        let mut lines = delivered(
            "# B\n\n## How to\n- `just test-auth --repeat 50` reproduces it [facts · 2026-11-02 · 1]\n\
             - the cache is at `/tmp` [facts · 2026-11-02 · 2]\n- nothing in code [facts · 2026-11-02 · 3]\n",
        );
        let log = [
            said(1, "you", "run `just test-auth --repeat 50`"),
            said(2, "agent", "Read /tmp/x and nothing in code"),
            said(3, "subagent", "Bash just test-auth --repeat 50 — reproduce the race"),
            said(4, "agent", "just test-auth --repeat 50 failed once"),
        ];
        note(&mut lines, &log);
        let used: Vec<_> = lines.iter().map(|line| line.used_at).collect();
        assert_eq!(used, [log[2].at, None, None]);
    }
}

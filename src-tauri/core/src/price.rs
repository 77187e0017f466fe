//! What a briefing costs as input of one request. Nothing is looked up and nothing guessed: a price comes from the
//! configuration, or from the few models whose price is known here; without either there is none.

use crate::agent::HostAgent;
use crate::config::Config;

/// US dollars per million input tokens, by model, without what a cache takes off: the table "Model pricing" of
/// <https://platform.claude.com/docs/en/about-claude/pricing>, as it stood in spring 2026 when Claude Opus 4.6 was the
/// newest in it. Aliases such as `opus` mean another model from time to time, so they have no price here.
const KNOWN: &[(&str, f64)] = &[
    ("claude-opus-4-6", 5.0),
    ("claude-opus-4-5", 5.0),
    ("claude-opus-4-1", 15.0),
    ("claude-opus-4-0", 15.0),
    ("claude-opus-4", 15.0),
    ("claude-sonnet-4-6", 3.0),
    ("claude-sonnet-4-5", 3.0),
    ("claude-sonnet-4-0", 3.0),
    ("claude-sonnet-4", 3.0),
    ("claude-haiku-4-5", 1.0),
];

/// US dollars per million input tokens of what a host agent runs: as configured, else of the model that its configured
/// arguments name.
pub fn per_million(config: &Config, agent: &HostAgent) -> Option<f64> {
    config.input_price(agent).or_else(|| known(model(config.args(agent))?))
}

/// What that many tokens cost.
#[expect(clippy::cast_precision_loss, reason = "tokens of one document")]
pub fn of(tokens: usize, per_million: f64) -> f64 {
    tokens as f64 * per_million / 1e6
}

/// The model that arguments name; the last one wins.
fn model(args: &[String]) -> Option<&str> {
    let mut named = None;
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        if matches!(arg, "--model" | "-m") {
            named = args.next();
        } else if let Some(model) = arg.strip_prefix("--model=") {
            named = Some(model);
        }
    }
    named
}

/// A model's price; a date at the end of its name names one edition of it.
fn known(model: &str) -> Option<f64> {
    let is_date = |end: &str| end.len() == 8 && end.bytes().all(|b| b.is_ascii_digit());
    let model = model.rsplit_once('-').filter(|(_, end)| is_date(end)).map_or(model, |(name, _)| name);
    KNOWN.iter().find(|(name, _)| *name == model).map(|(_, price)| *price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::CLAUDE_CODE;

    fn with(toml: &str) -> Option<f64> {
        per_million(&toml_edit::de::from_str(toml).unwrap(), &CLAUDE_CODE)
    }

    #[test]
    fn a_price_is_configured_or_of_a_model_that_is_known_and_else_there_is_none() {
        assert_eq!(with(""), None, "which model it will be is not known");
        assert_eq!(with("[agent]\nargs = ['--model', 'claude-sonnet-4-5-20250929']"), Some(3.0));
        assert_eq!(with("[agent]\nargs = ['--model=claude-opus-4-6']"), Some(5.0));
        for unknown in ["opus", "claude-opus-9", "claude-sonnet-4-5[1m]", "", "20250929"] {
            assert_eq!(with(&format!("[agent]\nargs = ['--model', '{unknown}']")), None, "{unknown}");
        }
        assert_eq!(with("[agent]\nargs = ['--model']"), None);
        assert_eq!(with("[agent]\ninput_price = 2.5\nargs = ['--model=claude-opus-4-6']"), Some(2.5));
        assert_eq!(with("[agents.claude-code]\ninput_price = 4\n[agent]\ninput_price = 2.5"), Some(4.0));
        assert_eq!(with("[agent]\nkind = 'codex'\ninput_price = 2.5"), None, "that is of another agent");
        assert!((of(2_000, 5.0) - 0.01).abs() < 1e-9);
    }
}

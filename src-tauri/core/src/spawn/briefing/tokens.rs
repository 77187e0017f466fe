//! Estimates how many tokens a text costs, without a tokenizer.
//!
//! The host agent's own tokenizer is not public, so any count is an estimate and is called one. This one sums
//! per-class costs fitted by least squares against `cl100k_base` over English conversations, code, Markdown,
//! Chinese, Japanese, Korean, German, French, Spanish and Russian text; a test holds it to a mean absolute error of
//! 10 % and to never falling short of a whole document by more than 15 %.

/// Cost of each class, in tokens, in the order of [`classes`]. The fit, raised by 3 %: a budget that is kept is
/// worth more than one that is used up. Blanks cost nothing, since a word takes the blank before it along.
const COSTS: [f64; CLASSES] = [0.97, 0.46, 1.42, 0.58, 0.33, 0.99, 1.09, 0.45, 1.32];

const CLASSES: usize = 9;

/// Estimated tokens.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of small positive numbers"
)]
pub fn estimate(text: &str) -> usize {
    let cost: f64 = classes(text).iter().zip(COSTS).map(|(n, cost)| n * cost).sum();
    cost.ceil() as usize
}

/// What kind of character stands before the one looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Start,
    Blank,
    Lower,
    Upper,
    Digit,
    Sign,
    Other,
}

/// How often each class occurs: words of ASCII letters (a change to upper case begins a new one), letters beyond
/// the sixth of a word, groups of three digits, runs of ASCII signs, further signs in a run, Han characters, kana
/// and hangul, other letters, and anything else.
fn classes(text: &str) -> [f64; CLASSES] {
    let mut n = [0.0; CLASSES];
    let mut run = Run::Start;
    let mut length = 0u32;
    for c in text.chars() {
        let next = match c {
            'a'..='z' => Run::Lower,
            'A'..='Z' => Run::Upper,
            '0'..='9' => Run::Digit,
            _ if c.is_whitespace() => Run::Blank,
            _ if c.is_ascii() => Run::Sign,
            _ => Run::Other,
        };
        let goes_on = next == run || (run, next) == (Run::Upper, Run::Lower);
        length = if goes_on { length + 1 } else { 1 };
        let class = match next {
            Run::Lower | Run::Upper if length == 1 => Some(0),
            Run::Lower | Run::Upper => (length > 6).then_some(1),
            Run::Digit => (length % 3 == 1).then_some(2),
            Run::Sign if length == 1 => Some(3),
            Run::Sign => Some(4),
            Run::Blank | Run::Start => None,
            Run::Other => Some(match u32::from(c) {
                0x2E80..=0x2FDF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => {
                    5
                }
                0x3040..=0x30FF | 0x1100..=0x11FF | 0xAC00..=0xD7AF => 6,
                _ if c.is_alphabetic() => 7,
                _ => 8,
            }),
        };
        if let Some(slot) = class.and_then(|class| n.get_mut(class)) {
            *slot += 1.0;
        }
        run = next;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(text: &str) -> usize {
        tiktoken_rs::cl100k_base_singleton().encode_ordinary(text).len()
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn error(text: &str) -> f64 {
        estimate(text) as f64 / measured(text) as f64 - 1.0
    }

    fn conversations() -> Vec<String> {
        let file = include_str!("../../../../../tests/fixtures/eval/devmembench.json");
        let eval: serde_json::Value = serde_json::from_str(file).unwrap();
        eval["documents"].as_array().unwrap().iter().map(|d| d["text"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_estimate_is_within_ten_per_cent_of_a_real_tokenizer_on_average() {
        let passages = include_str!("fixtures/tokens.txt").split("%\n").map(ToOwned::to_owned);
        let errors: Vec<f64> = conversations().into_iter().chain(passages).map(|t| error(&t).abs()).collect();
        let mean = errors.iter().sum::<f64>() / f64::from(u32::try_from(errors.len()).unwrap());
        assert!(errors.len() > 40 && mean <= 0.10, "mean absolute error {mean:.3} over {}", errors.len());
    }

    #[test]
    fn a_whole_document_is_never_underestimated_by_more_than_fifteen_per_cent() {
        let mut documents = conversations();
        documents.push(include_str!("fixtures/tokens.txt").to_owned());
        for golden in super::super::tests::documents() {
            documents.push(golden);
        }
        for document in documents {
            assert!(error(&document) >= -0.15, "{:+.3}: {document}", error(&document));
        }
    }

    #[test]
    fn nothing_costs_nothing_and_more_text_never_costs_less() {
        assert_eq!(estimate(""), 0);
        let mut last = 0;
        let text = include_str!("fixtures/tokens.txt");
        for (end, _) in text.char_indices().step_by(97) {
            let now = estimate(&text[..end]);
            assert!(now >= last);
            last = now;
        }
    }
}

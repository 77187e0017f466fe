use super::*;

#[test]
fn only_nul_and_escapes_are_refused() {
    for text in ["", "a\0b", "\u{1b}[201~rm", "a\u{9b}31m"] {
        assert!(check(text).is_err(), "{text:?}");
    }
    for text in ["   ", "/clear", "!ls", "a\tb\r\nc", "\u{7}", "支付 🦀", "$(x) `y`", "\u{200b}"] {
        assert!(check(text).is_ok(), "{text:?}");
    }
}

//! Whether a text is a combination of keys the app can ask the system for. Whether it is to be had only the app finds
//! out: another program may use it.

/// An example for people.
pub const EXAMPLE: &str = "Ctrl+Alt+P";

const MODIFIERS: &[&str] = &[
    "ALT",
    "OPTION",
    "CTRL",
    "CONTROL",
    "SHIFT",
    "CMD",
    "COMMAND",
    "SUPER",
    "CMDORCTRL",
    "CMDORCONTROL",
    "COMMANDORCTRL",
    "COMMANDORCONTROL",
];

/// Keys by a name of several letters; a figure, a letter or a sign stands for itself.
const NAMED: &[&str] = &[
    "BACKQUOTE",
    "BACKSLASH",
    "BRACKETLEFT",
    "BRACKETRIGHT",
    "COMMA",
    "EQUAL",
    "MINUS",
    "PERIOD",
    "QUOTE",
    "SEMICOLON",
    "SLASH",
    "PAUSE",
    "PAUSEBREAK",
    "BACKSPACE",
    "CAPSLOCK",
    "ENTER",
    "SPACE",
    "TAB",
    "DELETE",
    "END",
    "HOME",
    "INSERT",
    "PAGEDOWN",
    "PAGEUP",
    "PRINTSCREEN",
    "SCROLLLOCK",
    "ARROWDOWN",
    "DOWN",
    "ARROWLEFT",
    "LEFT",
    "ARROWRIGHT",
    "RIGHT",
    "ARROWUP",
    "UP",
    "NUMLOCK",
    "ESCAPE",
    "ESC",
    "NUMPADADD",
    "NUMADD",
    "NUMPADPLUS",
    "NUMPLUS",
    "NUMPADDECIMAL",
    "NUMDECIMAL",
    "NUMPADDIVIDE",
    "NUMDIVIDE",
    "NUMPADENTER",
    "NUMENTER",
    "NUMPADEQUAL",
    "NUMEQUAL",
    "NUMPADMULTIPLY",
    "NUMMULTIPLY",
    "NUMPADSUBTRACT",
    "NUMSUBTRACT",
    "AUDIOVOLUMEDOWN",
    "VOLUMEDOWN",
    "AUDIOVOLUMEUP",
    "VOLUMEUP",
    "AUDIOVOLUMEMUTE",
    "VOLUMEMUTE",
    "MEDIAPLAY",
    "MEDIAPAUSE",
    "MEDIAPLAYPAUSE",
    "MEDIASTOP",
    "MEDIATRACKNEXT",
    "MEDIATRACKPREV",
    "MEDIATRACKPREVIOUS",
];

/// Whether these are at least one modifier and then one key.
pub fn is_combination(text: &str) -> bool {
    let words: Vec<String> = text.split('+').map(|word| word.trim().to_uppercase()).collect();
    match &words[..] {
        [modifiers @ .., key] if !modifiers.is_empty() => {
            modifiers.iter().all(|word| MODIFIERS.contains(&word.as_str())) && is_key(key)
        }
        _ => false,
    }
}

fn is_key(word: &str) -> bool {
    let mut letters = word.chars();
    if let (Some(only), None) = (letters.next(), letters.next()) {
        return only.is_ascii_alphanumeric() || "`\\[],=-.';/".contains(only);
    }
    let counted = |before: &str, fits: &dyn Fn(&str) -> bool| word.strip_prefix(before).is_some_and(fits);
    let figure = |rest: &str| rest.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_digit());
    NAMED.contains(&word)
        || counted("KEY", &|rest| rest.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_uppercase()))
        || ["DIGIT", "NUMPAD", "NUM"].iter().any(|before| counted(before, &figure))
        || counted("F", &|rest| {
            !rest.starts_with(['0', '+']) && rest.parse().is_ok_and(|number: u8| (1..=24).contains(&number))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_modifier_at_least_and_one_key_behind_it_are_a_combination() {
        for good in ["Ctrl+Alt+P", "cmd + shift + F12", "Super+`", "CmdOrCtrl+Num7", "Alt+KeyQ", "Option+Esc"]
        {
            assert!(is_combination(good), "{good}");
        }
        for bad in [
            "", "foo", "P", "F5", "Ctrl", "Ctrl+", "+P", "P+Ctrl", "Ctrl+A+B", "Ctrl+Alt", "Ctrl+F25",
            "Ctrl+é",
        ] {
            assert!(!is_combination(bad), "{bad}");
        }
    }
}

//! The hotkey that opens the spawn panel from anywhere. It follows the configuration, acts on press only, and a
//! conflict is something to be said, never something to fail on.

use pao_core::Error;
use pao_core::config::edit::Editor;
use pao_core::wire::door::Hotkey;
use tauri_plugin_global_shortcut::{GlobalShortcutExt, Shortcut, ShortcutState};

use crate::door::Page;
use crate::shell::{Shell, lock};
use crate::windows;

/// The key in the configuration.
const KEY: &str = "app.hotkey";
/// Its value for none.
const OFF: &str = "off";

/// What is proposed in the first run.
pub const PROPOSED: &str = if cfg!(target_os = "macos") { "Ctrl+Alt+Cmd+P" } else { "Ctrl+Alt+P" };

/// Registers what the configuration says, where that is another than before.
pub fn follow(shell: &Shell, keys: &str) {
    let keys = Some(keys.trim()).filter(|keys| *keys != OFF);
    let before = lock(&shell.hotkey).keys.clone();
    if before.as_deref() == keys {
        return;
    }
    if let Some(before) = before.as_deref().and_then(|keys| keys.parse::<Shortcut>().ok()) {
        let _ = shell.app.global_shortcut().unregister(before);
    }
    let tried = keys.map(|keys| register(shell, keys));
    let note = tried.as_ref().and_then(|tried| tried.as_ref().err()).cloned();
    if let Some(note) = &note {
        tracing::warn!(note, "the hotkey is not active");
    }
    let active = matches!(tried, Some(Ok(())));
    *lock(&shell.hotkey) = Hotkey { keys: keys.map(Into::into), active, note };
}

/// Changes it. Keys that cannot be had are not kept; what was active before stays so, and the note says why.
pub fn change(shell: &Shell, keys: Option<&str>) -> Result<Hotkey, Error> {
    let before = lock(&shell.hotkey).keys.clone();
    follow(shell, keys.unwrap_or(OFF));
    let tried = lock(&shell.hotkey).clone();
    if tried.note.is_some() {
        follow(shell, before.as_deref().unwrap_or(OFF));
        let mut hotkey = lock(&shell.hotkey);
        hotkey.note.clone_from(&tried.note);
        return Ok(hotkey.clone());
    }
    let mut editor = Editor::open_anyway(&shell.host)?;
    editor.set(KEY, keys.unwrap_or(OFF))?;
    editor.save()?;
    Ok(tried)
}

/// `Err` is a sentence for people.
fn register(shell: &Shell, keys: &str) -> Result<(), String> {
    let shortcut: Shortcut =
        keys.parse().map_err(|_| format!("{keys} is no combination of keys: write it like {PROPOSED}"))?;
    if shortcut.mods.is_empty() {
        return Err(format!("{keys} has no modifier, so it would be gone for every other program"));
    }
    let handler =
        |app: &tauri::AppHandle, _: &Shortcut, event: tauri_plugin_global_shortcut::ShortcutEvent| {
            if event.state == ShortcutState::Pressed {
                windows::open(app, Page::spawn(None));
            }
        };
    shell.app.global_shortcut().on_shortcut(shortcut, handler).map_err(|error| {
        tracing::info!(%error, keys, "not registered");
        format!("{keys} could not be had; another program may use it already")
    })
}

#[cfg(test)]
mod tests {
    use pao_core::config::hotkey::is_combination;

    use super::*;

    #[test]
    fn the_configuration_takes_just_what_can_be_registered() {
        let signs = (' '..='~').map(|sign| format!("Ctrl+{sign}"));
        let counted =
            (0..=26).flat_map(|n| ["F", "Num", "Numpad", "Digit"].map(|key| format!("Alt+{key}{n}")));
        let others =
            ["", "foo", "P", "Ctrl", "Ctrl+", "+P", "P+Ctrl", "Ctrl+A+B", "Ctrl+Shift", "Ctrl+é", PROPOSED];
        let more = ["cmd + Option+Space", "CmdOrCtrl+PageUp", "Shift+KeyQ", "Super+BracketLeft", "Hyper+A"];
        let others = others.into_iter().chain(more).map(str::to_owned);
        for keys in signs.chain(counted).chain(others) {
            let registers = keys.parse::<Shortcut>().is_ok_and(|shortcut| !shortcut.mods.is_empty());
            assert_eq!(is_combination(&keys), registers, "{keys:?}");
        }
    }
}

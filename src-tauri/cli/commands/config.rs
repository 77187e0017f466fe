//! `pao config`: where the file is, what is in effect, one key changed.

use pao_core::config::edit::{Editor, Setting, settings};
use pao_core::host::Host;
use pao_core::{Error, wire};

use crate::args::Config;
use crate::render::{QUIET, Screen, Table, paint};

pub fn run(host: &Host, screen: Screen, what: Config) -> Result<u8, Error> {
    match what {
        Config::Path => {
            let path = host.config_file().to_string_lossy().into_owned();
            if screen.json {
                screen.document(&path)?;
            } else {
                screen.raw(format!("{path}\n"))?;
            }
        }
        Config::Show => show(host, screen)?,
        Config::Set { key, value } => {
            let mut editor = Editor::open(host)?;
            editor.set(&key, &value)?;
            save(editor, host, screen, &key)?;
        }
        Config::Unset { key } => {
            let mut editor = Editor::open(host)?;
            if editor.unset(&key)? {
                save(editor, host, screen, &key)?;
            } else {
                one(screen, &editor.settings(), &key)?;
            }
        }
    }
    Ok(0)
}

fn save(editor: Editor, host: &Host, screen: Screen, key: &str) -> Result<(), Error> {
    editor.save()?;
    one(screen, &settings(host)?, key)
}

/// Says what is now in effect for a key.
fn one(screen: Screen, settings: &[Setting], key: &str) -> Result<(), Error> {
    let Some(setting) = settings.iter().find(|s| s.key == key) else { return Ok(()) };
    if screen.json {
        return screen.document(&wire::Setting::from(setting));
    }
    let value = setting.value.as_deref().unwrap_or("(not set)");
    let mark = if setting.default { paint(QUIET, "  default") } else { String::new() };
    screen.say(&format!("{key} = {value}{mark}\n"))
}

fn show(host: &Host, screen: Screen) -> Result<(), Error> {
    let settings = settings(host)?;
    if screen.json {
        return screen.document(&settings.iter().map(wire::Setting::from).collect::<Vec<_>>());
    }
    let mut table = Table::new(&["KEY", "VALUE", "", "MEANING"]);
    for setting in settings {
        let value = setting.value.unwrap_or_else(|| "-".into());
        let (value, mark) = if setting.default {
            (paint(QUIET, &value), paint(QUIET, "default"))
        } else {
            (value, String::new())
        };
        table.row([setting.key, value, mark, paint(QUIET, setting.says)]);
    }
    screen.say(&table.to_string())
}

//! `pao app`: opens the menu-bar app.

use std::path::Path;

use pao_core::Error;
use pao_core::host::{Host, app};

use crate::render::{Screen, clean};

pub fn run(host: &Host, screen: Screen, folder: Option<&Path>) -> Result<u8, Error> {
    let opened = app::open(host, folder)?;
    if screen.json {
        screen.document(&opened)?;
    } else {
        screen.say(&format!("opened {}\n", clean(&host.display(&opened))))?;
    }
    Ok(0)
}

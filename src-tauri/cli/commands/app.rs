//! `pao app`: opens the menu-bar app.

use std::path::PathBuf;

use pao_core::host::{Host, app};
use pao_core::{Error, wire};

use crate::render::{Screen, clean};

pub async fn run(host: &Host, screen: Screen, folders: &[PathBuf]) -> Result<u8, Error> {
    let opened = app::open(host, folders).await?;
    if screen.json {
        screen.document(&wire::look::OpenedApp::new(host, &opened, folders))?;
    } else {
        screen.say(&format!("opened {}\n", clean(&host.display(&opened))))?;
    }
    Ok(0)
}

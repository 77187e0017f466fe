//! The windows themselves, the clipboard, and what helps to understand a fault.

use pao_core::entrance::reveal::{self, Place};
use pao_core::view::diagnostics as view;
use pao_core::{Error, doctor};

use crate::door::{Page, Reveal};
use crate::shell::{Shell, lock};
use crate::{log, popover, windows};

pub async fn diagnostics(shell: &Shell, _with: ()) -> Result<String, Error> {
    let checks = doctor::examine(&shell.host).await;
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let webview = tauri::webview_version().unwrap_or_else(|error| format!("unknown ({error})"));
    let versions = [
        (pao_core::view::tray::APP, env!("CARGO_PKG_VERSION")),
        ("system", &system),
        ("tauri", tauri::VERSION),
        ("webview", &webview),
    ];
    Ok(view::text(&versions, &checks, &log::last_lines(&shell.host), &shell.host.home))
}

pub async fn open(shell: &Shell, page: Page) -> Result<(), Error> {
    windows::open(&shell.app, page);
    Ok(())
}

pub async fn page(shell: &Shell, _with: ()) -> Result<Option<Page>, Error> {
    Ok(lock(&shell.page).take())
}

pub async fn reveal(shell: &Shell, what: Reveal) -> Result<(), Error> {
    let place = match what {
        Reveal::Config => Place::Config,
        Reveal::Log => Place::Log,
        Reveal::FileManager => Place::FileManager,
        Reveal::LoginItems => Place::LoginItems,
        Reveal::Notifications => Place::Notifications,
        Reveal::Automation => Place::Automation,
    };
    reveal::reveal(&shell.host, place)
}

pub async fn close(shell: &Shell, label: String) -> Result<(), Error> {
    use tauri::Manager;
    if label == windows::POPOVER {
        popover::hide(&shell.app);
        return Ok(());
    }
    let window = shell.app.get_webview_window(&label);
    let window = window.ok_or_else(|| Error::internal(format!("there is no window {label:?}")))?;
    window.hide().map_err(|e| Error::environment(format!("the window stays: {e}"), "close it by its frame"))
}

pub async fn pin(shell: &Shell, pinned: bool) -> Result<(), Error> {
    lock(&shell.popover).pinned = pinned;
    Ok(())
}

pub async fn copy(shell: &Shell, text: String) -> Result<(), Error> {
    let refused = |e: arboard::Error| {
        Error::environment(format!("the clipboard was refused: {e}"), "select and copy it")
    };
    let mut clipboard = lock(&shell.clipboard);
    let mut open = match clipboard.take() {
        Some(open) => open,
        None => arboard::Clipboard::new().map_err(refused)?,
    };
    open.set_text(text).map_err(refused)?;
    *clipboard = Some(open);
    Ok(())
}

pub async fn quit(shell: &Shell, _with: ()) -> Result<(), Error> {
    shell.app.exit(0);
    Ok(())
}

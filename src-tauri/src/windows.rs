//! The two windows. Both are made hidden when the app starts, so that showing one is only showing it.

use tauri::{AppHandle, Emitter, Manager, WebviewUrl, WebviewWindowBuilder, Window, WindowEvent};

use crate::desktop;
use crate::door::Page;
use crate::popover;
use crate::shell::{Shell, lock};

/// The panel: spawn, agent, cleanup, settings, first run.
pub const PANEL: &str = "panel";
/// The popover: the list of agents.
pub const POPOVER: &str = "popover";

/// Makes both, hidden.
pub fn create(app: &AppHandle) -> tauri::Result<()> {
    let panel = WebviewWindowBuilder::new(app, PANEL, WebviewUrl::App("index.html".into()))
        .title(pao_core::view::tray::APP)
        .inner_size(1025.0, 750.0)
        .min_inner_size(640.0, 420.0)
        .visible(false)
        .build()?;
    popover::create_beside(&panel)
}

/// Shows the panel at a page.
pub fn open(app: &AppHandle, page: Page) {
    let Some(panel) = app.get_webview_window(PANEL) else {
        tracing::error!("there is no panel");
        return;
    };
    // It may not listen yet; once it does, it asks.
    if let Some(shell) = app.try_state::<Shell>() {
        *lock(&shell.page) = Some(page.clone());
    }
    let shown = panel.unminimize().and_then(|()| desktop::bring(&panel));
    if let Err(error) = shown.and_then(|()| app.emit_to(PANEL, "page", page)) {
        tracing::warn!(%error, "the panel was not shown");
    }
}

/// Closing hides: the app stays in its tray.
pub fn happened(window: &Window, event: &WindowEvent) {
    match event {
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            if let Err(error) = window.hide() {
                tracing::warn!(%error, "a window was not hidden");
            }
        }
        WindowEvent::Focused(focused) if window.label() == POPOVER => {
            popover::focused(window.app_handle(), *focused);
        }
        _ => {}
    }
}

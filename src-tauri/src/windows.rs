//! The two windows. The popover is made hidden when the app starts, so that showing it is only showing it; the panel, which
//! takes several megabytes, when it is first needed. What is closed is hidden and stays as it was.

use tauri::{
    AppHandle, Emitter, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder, Window, WindowEvent,
};

use crate::desktop;
use crate::door::Page;
use crate::popover;
use crate::shell::{Shell, lock};

/// The panel: spawn, agent, cleanup, settings, first run.
pub const PANEL: &str = "panel";
/// The popover: the list of agents.
pub const POPOVER: &str = "popover";

/// Shows the panel at a page.
pub fn open(app: &AppHandle, page: Page) {
    // It may not be there or not listen yet; once it does, it asks.
    if let Some(shell) = app.try_state::<Shell>() {
        *lock(&shell.page) = Some(page.clone());
    }
    let shown = match app.get_webview_window(PANEL) {
        Some(panel) => bring(&panel).and_then(|()| app.emit_to(PANEL, "page", page)),
        None => make_panel(app),
    };
    if let Err(error) = shown {
        tracing::warn!(%error, "the panel was not shown");
    }
}

fn bring(panel: &WebviewWindow) -> tauri::Result<()> {
    panel.unminimize().and_then(|()| desktop::bring(panel))
}

#[cfg(not(target_os = "linux"))]
fn make_panel(app: &AppHandle) -> tauri::Result<()> {
    made(panel(app))
}

/// In the web process of the popover: two would take half as much memory again.
#[cfg(target_os = "linux")]
fn make_panel(app: &AppHandle) -> tauri::Result<()> {
    let Some(popover) = app.get_webview_window(POPOVER) else { return made(panel(app)) };
    let app = app.clone();
    popover.with_webview(move |view| {
        // Asked for twice at once, it is made once.
        let shown = match app.get_webview_window(PANEL) {
            Some(panel) => bring(&panel),
            None => made(panel(&app).with_related_view(view.inner())),
        };
        if let Err(error) = shown {
            tracing::error!(%error, "there is no panel");
        }
    })
}

fn panel(app: &AppHandle) -> WebviewWindowBuilder<'_, tauri::Wry, AppHandle> {
    WebviewWindowBuilder::new(app, PANEL, WebviewUrl::App("index.html".into()))
        .title(pao_core::view::tray::APP)
        .inner_size(1025.0, 750.0)
        .min_inner_size(640.0, 420.0)
        .visible(false)
}

fn made(builder: WebviewWindowBuilder<'_, tauri::Wry, AppHandle>) -> tauri::Result<()> {
    bring(&builder.build()?)
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

//! The two windows. Both are made hidden when the app starts, so that showing one is only showing it.

use std::path::Path;

use tauri::{AppHandle, Emitter, Manager, WebviewUrl, WebviewWindowBuilder, Window, WindowEvent};

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

/// A page opens when the app is started: the first run where nothing was ever set up, else what its arguments name.
pub fn first(shell: &Shell) {
    let arguments: Vec<String> =
        shell.app.env().args_os.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let cwd = shell.host.cwd.clone();
    if arguments.len() > 1 {
        arrive(&shell.app, &arguments, &cwd);
    } else if !shell.host.config_file().exists() && !shell.host.registry_file().exists() {
        open(&shell.app, Page::FirstRun);
    }
}

/// What a second launch brings: a folder opens the spawn panel there, nothing the list of agents.
pub fn arrive(app: &AppHandle, arguments: &[String], cwd: &Path) {
    let named = arguments.iter().skip(1).map(|argument| cwd.join(argument)).find(|path| path.is_dir());
    match named.and_then(|folder| folder.canonicalize().ok()) {
        Some(folder) => {
            let folder = Some(folder.to_string_lossy().into_owned());
            open(app, Page::Spawn { text: String::new(), folder });
        }
        None => popover::show(app, None),
    }
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
    let shown = panel.show().and_then(|()| panel.unminimize()).and_then(|()| panel.set_focus());
    if let Err(error) = shown.and_then(|()| app.emit_to(PANEL, "page", &page)) {
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

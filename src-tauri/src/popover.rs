//! The popover under the tray icon. It goes when the focus leaves it, but only after it once had the focus, and not
//! while it is pinned. On macOS it is a panel that takes keys without making the app the active one.

use std::time::{Duration, Instant};

use pao_core::view::place::{self, Monitor, Rect};
use tauri::{AppHandle, LogicalPosition, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder};

use crate::shell::{Shell, lock};
use crate::windows::POPOVER;

/// Size in points.
const SIZE: (f64, f64) = (380.0, 560.0);
/// A click on the icon takes the focus away first; within this time it means to close what the blur has closed.
const SAME_CLICK: Duration = Duration::from_millis(250);

/// How the popover behaves.
#[derive(Debug, Default)]
pub struct Popover {
    /// It stays when it loses the focus.
    pub pinned: bool,
    had_focus: bool,
    went: Option<Instant>,
}

#[cfg(target_os = "macos")]
tauri_nspanel::tauri_panel! {
    panel!(PopoverPanel {
        config: {
            can_become_key_window: true,
            is_floating_panel: true
        }
    })
}

/// Makes it, hidden.
pub fn create(app: &AppHandle) -> tauri::Result<()> {
    let window = WebviewWindowBuilder::new(app, POPOVER, WebviewUrl::App("index.html".into()))
        .title(pao_core::view::tray::APP)
        .inner_size(SIZE.0, SIZE.1)
        .decorations(false)
        .resizable(false)
        .skip_taskbar(true)
        .always_on_top(true)
        .visible_on_all_workspaces(true)
        .visible(false)
        .build()?;
    float(&window)
}

#[cfg(target_os = "macos")]
fn float(window: &WebviewWindow) -> tauri::Result<()> {
    use tauri_nspanel::{CollectionBehavior, PanelLevel, StyleMask, WebviewWindowExt};
    let panel = window.to_panel::<PopoverPanel>()?;
    panel.set_level(PanelLevel::Floating.value());
    if let Err(error) = panel.add_style_mask(StyleMask::empty().nonactivating_panel().value()) {
        tracing::warn!(?error, "the popover makes the app the active one");
    }
    panel.set_collection_behavior(
        CollectionBehavior::new().full_screen_auxiliary().can_join_all_spaces().value(),
    );
    Ok(())
}

#[cfg(not(target_os = "macos"))]
#[expect(clippy::unnecessary_wraps, reason = "on macOS it can fail")]
fn float(_window: &WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

/// Shows or hides it, as a click on the icon wants it.
pub fn toggle(app: &AppHandle, icon: Option<tauri::Rect>) {
    let Some(window) = app.get_webview_window(POPOVER) else { return };
    let shell = app.state::<Shell>();
    let just_went = lock(&shell.popover).went.is_some_and(|at| at.elapsed() < SAME_CLICK);
    if window.is_visible().unwrap_or(false) {
        hide(app);
    } else if !just_went {
        show(app, icon);
    }
}

/// Shows it under the icon or, where that is not known, in the main display's upper right corner.
pub fn show(app: &AppHandle, icon: Option<tauri::Rect>) {
    let Some(window) = app.get_webview_window(POPOVER) else { return };
    if let Some(shell) = app.try_state::<Shell>() {
        let mut popover = lock(&shell.popover);
        popover.had_focus = false;
        popover.went = None;
    }
    if let Err(error) = put(&window, icon).and_then(|()| bring(app, &window)) {
        tracing::warn!(%error, "the popover was not shown");
    }
}

#[cfg(target_os = "macos")]
fn bring(app: &AppHandle, window: &WebviewWindow) -> tauri::Result<()> {
    use tauri_nspanel::ManagerExt;
    match app.get_webview_panel(POPOVER) {
        Ok(panel) => {
            panel.show_and_make_key();
            Ok(())
        }
        Err(_) => window.show().and_then(|()| window.set_focus()),
    }
}

#[cfg(not(target_os = "macos"))]
fn bring(_app: &AppHandle, window: &WebviewWindow) -> tauri::Result<()> {
    crate::desktop::bring(window)
}

fn put(window: &WebviewWindow, icon: Option<tauri::Rect>) -> tauri::Result<()> {
    let main = window.primary_monitor()?;
    let monitors: Vec<Monitor> = window
        .available_monitors()?
        .iter()
        .map(|monitor| Monitor {
            position: (f64::from(monitor.position().x), f64::from(monitor.position().y)),
            size: (f64::from(monitor.size().width), f64::from(monitor.size().height)),
            scale: monitor.scale_factor(),
            main: main.as_ref().is_some_and(|main| main.position() == monitor.position()),
        })
        .collect();
    // The tray gives pixels of the icon's own display; nothing is to be scaled here.
    let icon = icon.map(|icon| {
        let (position, size) = (icon.position.to_physical::<f64>(1.0), icon.size.to_physical::<f64>(1.0));
        Rect { position: (position.x, position.y), size: (size.width, size.height) }
    });
    match place::place(&monitors, icon, SIZE) {
        Some((x, y)) => window.set_position(LogicalPosition::new(x, y)),
        None => Ok(()),
    }
}

/// Hides it.
pub fn hide(app: &AppHandle) {
    let Some(window) = app.get_webview_window(POPOVER) else { return };
    if let Err(error) = window.hide() {
        tracing::warn!(%error, "the popover was not hidden");
    }
}

/// It got or lost the focus.
pub fn focused(app: &AppHandle, focused: bool) {
    let Some(shell) = app.try_state::<Shell>() else { return };
    let goes = {
        let mut popover = lock(&shell.popover);
        let goes = !focused && popover.had_focus && !popover.pinned;
        popover.had_focus |= focused;
        if goes {
            popover.had_focus = false;
            popover.went = Some(Instant::now());
        }
        goes
    };
    if goes {
        hide(app);
    }
}

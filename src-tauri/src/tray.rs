//! The tray icon and its native menu, which on Linux is the only entrance. Both change only when what they say has.

use pao_core::Error;
use pao_core::view::icon;
use pao_core::view::menu::{Act, Entry, menu};
use pao_core::wire::door::{Glance, Shape, Tray, Verb};
use tauri::image::Image;
use tauri::menu::{IsMenuItem, Menu, MenuItem, PredefinedMenuItem, Submenu};
use tauri::tray::{MouseButton, MouseButtonState, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, Wry};
use tauri_plugin_dialog::DialogExt;

use crate::commands;
use crate::door::{Checkpointing, Page, Target};
use crate::popover;
use crate::shell::{Shell, lock};
use crate::windows;

const ID: &str = "main";
/// Twice as many pixels as points: sharp on every display, and panels scale it down well.
const SCALE: u8 = 2;

/// What is shown.
#[derive(Debug, Default)]
pub struct Shown {
    tray: Option<Tray>,
    menu: Vec<Entry>,
}

/// Puts the icon into the tray.
pub fn create(shell: &Shell) -> tauri::Result<()> {
    let app = &shell.app;
    let mut builder = TrayIconBuilder::with_id(ID)
        .icon_as_template(true)
        .show_menu_on_left_click(false)
        .on_menu_event(|app, event| chosen(app, event.id().as_ref()))
        .on_tray_icon_event(|tray, event| {
            if let TrayIconEvent::Click {
                button: MouseButton::Left,
                button_state: MouseButtonState::Up,
                rect,
                ..
            } = event
            {
                popover::toggle(tray.app_handle(), Some(rect));
            }
        });
    if let Some(image) = drawn(Shape::Idle, 0) {
        builder = builder.icon(image);
    }
    builder.build(app)?;
    Ok(())
}

/// A template on macOS, which the system draws in the menu bar's own ink.
fn drawn(shape: Shape, number: u32) -> Option<Image<'static>> {
    let icon = icon::icon(shape, number, SCALE)?;
    let icon = if cfg!(target_os = "macos") { icon } else { icon.rimmed() };
    Some(Image::new_owned(icon.rgba, icon.width, icon.height))
}

/// Shows what is new in a glance.
pub fn show(shell: &Shell, glance: &Glance) {
    let Some(tray) = shell.app.tray_by_id(ID) else { return };
    let entries = menu(glance);
    let (look, entries) = {
        let mut shown = lock(&shell.tray);
        let look = shown.tray.replace(glance.tray.clone()).as_ref() != Some(&glance.tray);
        let changed = shown.menu != entries;
        shown.menu.clone_from(&entries);
        (look, changed.then_some(entries))
    };
    let mut result = Ok(());
    if look && let Some(image) = drawn(glance.tray.shape, glance.tray.number) {
        result = tray
            .set_icon_with_as_template(Some(image), true)
            .and_then(|()| tray.set_tooltip(Some(&glance.tray.label)));
        // Where there are no tooltips the sentence is the icon's title for assistive technology.
        #[cfg(target_os = "linux")]
        let _ = tray.set_title(Some(&glance.tray.label));
    }
    if let Some(entries) = entries {
        result = result.and_then(|()| tray.set_menu(Some(built(&shell.app, &entries)?)));
    }
    if let Err(error) = result {
        tracing::warn!(%error, "the tray was not updated");
    }
}

fn built(app: &AppHandle, entries: &[Entry]) -> tauri::Result<Menu<Wry>> {
    let menu = Menu::new(app)?;
    for entry in entries {
        menu.append(item(app, entry)?.as_ref())?;
    }
    Ok(menu)
}

fn item(app: &AppHandle, entry: &Entry) -> tauri::Result<Box<dyn IsMenuItem<Wry>>> {
    Ok(match entry {
        Entry::Item { act, text } => Box::new(MenuItem::with_id(app, act.id(), text, true, None::<&str>)?),
        Entry::Note(text) => Box::new(MenuItem::new(app, text, false, None::<&str>)?),
        Entry::Line => Box::new(PredefinedMenuItem::separator(app)?),
        Entry::Menu { text, entries } => {
            let menu = Submenu::new(app, text, true)?;
            for entry in entries {
                menu.append(item(app, entry)?.as_ref())?;
            }
            Box::new(menu)
        }
    })
}

/// Does what an entry says.
fn chosen(app: &AppHandle, id: &str) {
    let Some(act) = Act::from_id(id) else {
        tracing::warn!(id, "the menu has no such entry");
        return;
    };
    let page = match act {
        Act::Agents => return popover::show(app, None),
        Act::Quit => return app.exit(0),
        Act::Do(verb, id) => match verb {
            Verb::Tell | Verb::Handover | Verb::Forget => Page::Agent { id },
            verb => return at_once(app, verb, id),
        },
        Act::Spawn(folder) => Page::spawn(folder),
        Act::Agent(id) => Page::Agent { id },
        Act::Cleanup => Page::Cleanup,
        Act::Settings => Page::Settings { pane: None },
    };
    windows::open(app, page);
}

/// A verb that needs no words. When it fails, a dialog says why.
fn at_once(app: &AppHandle, verb: Verb, id: String) {
    let Some(shell) = app.try_state::<Shell>().map(|shell| shell.inner().clone()) else { return };
    tauri::async_runtime::spawn(async move {
        let target = |id| Target { agent: Some(id), now: false };
        let one = |outcomes: Vec<_>| outcomes.into_iter().next().ok_or_else(|| Error::internal("no outcome"));
        let done = match verb {
            Verb::Focus => commands::agents::focus(&shell, id).await,
            Verb::Checkpoint => {
                commands::agents::checkpoint(&shell, Checkpointing { agent: id, message: None }).await
            }
            Verb::Pause => commands::agents::pause(&shell, target(id)).await.and_then(one),
            Verb::Resume => commands::resume::resume(&shell, target(id)).await.and_then(one),
            _ => commands::agents::rebrief(&shell, id).await,
        };
        let (title, text) = match done {
            Ok(outcome) if outcome.well => return,
            Ok(outcome) => (outcome.what, outcome.outcome),
            Err(error) => {
                let error = error.for_window();
                (error.message, error.next)
            }
        };
        shell.app.dialog().message(text).title(title).show(|_| ());
    });
}

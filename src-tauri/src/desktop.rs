//! What a desktop on Linux may lack: a display that can be opened, somebody who shows tray icons, a window that has the
//! focus as soon as it is asked for. On macOS all of it is always there.

use pao_core::Error;
use pao_core::host::Host;
use tauri::WebviewWindow;

use crate::shell::Shell;

/// Refuses where no window can be shown; the toolkit itself would only break down.
#[cfg(target_os = "linux")]
pub fn check_display(host: &Host) -> Result<(), Error> {
    let no_display = |what: &str| {
        Error::environment(
            what,
            "start it inside a desktop session; everything it does `pao` does in a terminal",
        )
    };
    if !pao_core::host::os::has_display(host) {
        return Err(no_display("there is no display to show the app on"));
    }
    gtk::init().map_err(|_| {
        let named = host.var("WAYLAND_DISPLAY").or_else(|| host.var("DISPLAY")).unwrap_or_default();
        no_display(&format!("the display {named} cannot be opened"))
    })
}

/// Without a tray the list of agents opens by itself, stays, and says why: nobody could find it otherwise.
#[cfg(target_os = "linux")]
pub fn begin(shell: &Shell) {
    let shell = shell.clone();
    tauri::async_runtime::spawn(async move {
        // At login the panel with the tray may come up later than the app.
        for _ in 0..LOOKS {
            // Where nobody on the bus does, the icon goes to the display's own tray.
            let on_bus = tokio::task::spawn_blocking(has_tray).await.unwrap_or(false);
            if on_bus || pao_core::host::os::has_tray(&shell.host).await {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        let none = Error::environment(
            "this desktop shows no tray icons, so there is none to click",
            "open this list with the hotkey, or by starting the app again; on GNOME the extension AppIndicator shows them",
        );
        shell.trouble("no-tray", Some(&none));
        shell.refresh().await;
        crate::shell::lock(&shell.popover).pinned = true;
        crate::popover::show(&shell.app, None);
    });
}

#[cfg(target_os = "linux")]
const LOOKS: u32 = 10;
#[cfg(target_os = "linux")]
const LOOK: std::time::Duration = std::time::Duration::from_millis(500);

/// Shows a window with the focus. Until the window really is there the toolkit drops what is asked about its focus.
#[cfg(target_os = "linux")]
pub fn bring(window: &WebviewWindow) -> tauri::Result<()> {
    window.show()?;
    let window = window.clone();
    tauri::async_runtime::spawn(async move {
        for _ in 0..TRIES {
            if window.is_focused().unwrap_or(true) {
                return;
            }
            let _ = window.set_focus();
            tokio::time::sleep(TRY).await;
        }
    });
    Ok(())
}

#[cfg(target_os = "linux")]
const TRIES: u32 = 40;
#[cfg(target_os = "linux")]
const TRY: std::time::Duration = std::time::Duration::from_millis(25);

#[cfg(target_os = "linux")]
fn has_tray() -> bool {
    use gtk::gio;
    use gtk::glib::ToVariant;
    let ask = || {
        let bus = gio::bus_get_sync(gio::BusType::Session, gio::Cancellable::NONE)?;
        bus.call_sync(
            Some("org.freedesktop.DBus"),
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus",
            "NameHasOwner",
            Some(&("org.kde.StatusNotifierWatcher",).to_variant()),
            None,
            gio::DBusCallFlags::NONE,
            2000,
            gio::Cancellable::NONE,
        )
    };
    ask().is_ok_and(|answer| answer.get::<(bool,)>() == Some((true,)))
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "its twin for Linux refuses")]
pub fn check_display(_host: &Host) -> Result<(), Error> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn bring(window: &WebviewWindow) -> tauri::Result<()> {
    window.show().and_then(|()| window.set_focus())
}

#[cfg(not(target_os = "linux"))]
pub fn begin(_shell: &Shell) {}

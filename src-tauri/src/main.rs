//! The menu-bar app: a thin shell over `pao-core`. It parses, calls one verb of the core, and shows the answer.

mod arrival;
mod commands;
mod credentials;
mod desktop;
mod door;
mod events;
mod hotkey;
mod jobs;
mod log;
mod notices;
mod popover;
#[cfg(target_os = "linux")]
mod second;
mod shell;
mod switches;
mod tray;
mod windows;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use pao_core::Error;
use pao_core::host::{Host, secrets};
use tauri::{Manager, RunEvent};

use crate::shell::Shell;

fn main() -> ExitCode {
    let host = match Host::current() {
        Ok(host) => host,
        Err(error) => return told(&error),
    };
    if let Err(error) = desktop::check_display(&host) {
        return told(&error);
    }
    #[cfg(target_os = "linux")]
    let _place = {
        let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into()).collect();
        match second::first(&host, &words) {
            Ok(Some(place)) => place,
            Ok(None) => return ExitCode::SUCCESS,
            Err(error) => return told(&error),
        }
    };
    let started_in = host.cwd.clone();
    let host = host.of_app();
    let _log = log::begin(&host);
    // Reads nothing yet: a secret is read when it is needed.
    secrets::own();
    match build(host, started_in) {
        Ok(app) => {
            app.run(happened);
            ExitCode::SUCCESS
        }
        Err(error) => {
            tracing::error!(%error, "the app could not start");
            told(&Error::environment(format!("the app could not start: {error}"), "run `pao doctor`"))
        }
    }
}

/// The app's own terminal is all there is as long as nothing can be shown.
fn told(error: &Error) -> ExitCode {
    eprintln!("{}\n{}", error.message, error.next);
    ExitCode::from(error.kind.exit_code())
}

fn build(host: Host, started_in: PathBuf) -> tauri::Result<tauri::App> {
    let builder = tauri::Builder::default()
        // First, so that a second launch ends before it has begun anything.
        .plugin(tauri_plugin_single_instance::init(|app, arguments, folder| {
            arrival::second(app, &arguments, std::path::Path::new(&folder));
        }))
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_global_shortcut::Builder::new().build());
    #[cfg(target_os = "macos")]
    let builder = builder.plugin(tauri_nspanel::init());
    builder
        .manage(arrival::Waiting::default())
        .invoke_handler(tauri::generate_handler![door::door])
        .on_window_event(windows::happened)
        .setup(move |app| {
            #[cfg(target_os = "macos")]
            app.set_activation_policy(tauri::ActivationPolicy::Accessory);
            let shell = Shell::new(app.handle().clone(), host, started_in);
            app.manage(shell.clone());
            popover::create(app.handle())?;
            tray::create(&shell)?;
            events::begin(&shell);
            desktop::begin(&shell);
            arrival::first(&shell);
            Ok(())
        })
        .build(tauri::generate_context!())
}

fn happened(app: &tauri::AppHandle, event: RunEvent) {
    match event {
        // The last window was closed; the tray stays. Only quitting has a code.
        RunEvent::ExitRequested { code: None, api, .. } => api.prevent_exit(),
        RunEvent::Exit => {
            if let Some(shell) = app.try_state::<Shell>() {
                credentials::end(&shell);
                if shell.removed.load(Ordering::Relaxed) {
                    let work = pao_core::uninstall::remove_kept_for_app(&shell.host);
                    tauri::async_runtime::block_on(work);
                }
            }
            tracing::info!("the app ends; agents go on");
        }
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => popover::show(app, None),
        #[cfg(target_os = "macos")]
        RunEvent::Opened { urls } => arrival::opened(app, urls.iter().map(ToString::to_string).collect()),
        _ => {
            let _ = app;
        }
    }
}

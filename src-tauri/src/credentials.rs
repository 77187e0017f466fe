//! The app reads and keeps secrets for `pao`, as long as it runs, and takes what later launches bring.

use std::path::Path;

use pao_core::config::Config;
use pao_core::credentials;
use pao_core::host::os;
use pao_core::host::secrets::{Launch, Service};
use tauri::AppHandle;
use tokio::sync::oneshot;

use crate::arrival;
use crate::shell::Shell;

/// Sees to it that the app can be asked. Only where our folder is: whoever removed everything is not undone.
pub async fn keep(shell: &Shell) {
    let mut service = shell.credentials.lock().await;
    if service.as_ref().is_some_and(Service::stands) || !shell.host.pao_home.is_dir() {
        return;
    }
    // The old one first: it holds what the new one needs.
    *service = None;
    let app = shell.app.clone();
    let began = credentials::serve(&shell.host, move |launch| shown(app.clone(), launch)).await;
    let began = began.map(|begun| *service = Some(begun));
    let error = began.err().map(pao_core::Error::from);
    if let Some(error) = &error {
        tracing::warn!(what = error.message, "pao cannot ask the app for secrets");
    }
    // Elsewhere `pao` reads the store by itself.
    let needed = os::IS_MACOS || Config::load(&shell.host).is_ok_and(|config| config.secrets.store == "app");
    shell.trouble("credentials", error.as_ref().filter(|_| needed));
}

/// Shows what a later launch brings. Windows are shown by the main thread: only when it has done so, it is.
async fn shown(app: AppHandle, launch: Launch) -> bool {
    let (done, is_done) = oneshot::channel();
    let own = app.clone();
    let asked = app.run_on_main_thread(move || {
        arrival::second(&own, &launch.words, Path::new(&launch.folder));
        // Who asked may have gone.
        let _ = done.send(());
    });
    asked.is_ok() && is_done.await.is_ok()
}

/// The app ends: nobody is to find its socket.
pub fn end(shell: &Shell) {
    if let Ok(mut service) = shell.credentials.try_lock() {
        *service = None;
    }
}

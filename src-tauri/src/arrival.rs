//! What a launch brings to the app, the first or a later one: it opens the panel filled in, or shows the list of agents.
//! What words and addresses mean is decided in the core.

use std::path::Path;
use std::sync::Mutex;

use pao_core::entrance::arrival::{self, Arrival};
use tauri::{AppHandle, Manager};

use crate::door::Page;
use crate::shell::{Shell, lock};
use crate::{popover, windows};

/// Addresses that came before there was a window.
#[derive(Debug, Default)]
pub struct Waiting(Mutex<Option<Vec<String>>>);

/// A page opens when the app is started: what it was started with, else the first run where nothing was ever set up.
pub fn first(shell: &Shell) {
    let words: Vec<String> =
        shell.app.env().args_os.iter().skip(1).map(|w| w.to_string_lossy().into()).collect();
    let waiting = shell.app.try_state::<Waiting>().and_then(|waiting| lock(&waiting.0).take());
    let urls = waiting.unwrap_or_default();
    let brought = arrival::of_urls(&shell.host, urls.iter().map(String::as_str))
        .or_else(|| arrival::of_arguments(&shell.host, &words, &shell.started_in));
    if let Some(brought) = brought {
        windows::open(&shell.app, page(brought));
    } else if !shell.host.config_file().exists() && !shell.host.registry_file().exists() {
        windows::open(&shell.app, Page::FirstRun);
    }
}

/// A second launch ends at once and leaves what it was started with to this one.
pub fn second(app: &AppHandle, arguments: &[String], cwd: &Path) {
    let Some(shell) = app.try_state::<Shell>() else { return };
    match arrival::of_arguments(&shell.host, arguments.get(1..).unwrap_or_default(), cwd) {
        Some(brought) => windows::open(app, page(brought)),
        None => popover::show(app, None),
    }
}

/// The system opens folders or links with the app.
#[cfg_attr(not(target_os = "macos"), expect(dead_code, reason = "elsewhere they come as arguments"))]
pub fn opened(app: &AppHandle, urls: Vec<String>) {
    if let Some(shell) = app.try_state::<Shell>() {
        if let Some(brought) = arrival::of_urls(&shell.host, urls.iter().map(String::as_str)) {
            windows::open(app, page(brought));
        }
    } else if let Some(waiting) = app.try_state::<Waiting>() {
        lock(&waiting.0).get_or_insert_default().extend(urls);
    }
}

fn page(arrival: Arrival) -> Page {
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    Page::Spawn {
        text: arrival.text,
        folder: arrival.folder.map(text),
        others: arrival.others.into_iter().map(text).collect(),
        note: arrival.note,
    }
}

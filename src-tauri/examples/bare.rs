//! A Tauri program with one page and nothing on it, which the benchmark puts beside the app: what the toolkit itself takes.

use tauri::http::Response;
use tauri::{WebviewUrl, WebviewWindowBuilder};

const PAGE: &[u8] = b"<!doctype html><title>Bare</title><p>bare";

fn main() -> tauri::Result<()> {
    tauri::Builder::default()
        .register_uri_scheme_protocol("bare", |_, _| Response::new(PAGE))
        .setup(|app| {
            let page = WebviewUrl::CustomProtocol("bare://localhost/".parse()?);
            WebviewWindowBuilder::new(app, "bare", page).title("Bare").build()?;
            Ok(())
        })
        .run(tauri::generate_context!())
}

//! The menu-bar app: a thin shell over `pao-core`. It parses, calls one verb of the core, and shows the answer.

mod commands;
mod door;
mod shell;

fn main() {
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_single_instance::init(|_app, _args, _cwd| {}))
        .plugin(tauri_plugin_global_shortcut::Builder::new().build())
        .invoke_handler(tauri::generate_handler![door::door])
        .setup(|app| {
            tauri::WebviewWindowBuilder::new(app, "panel", tauri::WebviewUrl::App("index.html".into()))
                .title("Prime Agent Orchestrator")
                .inner_size(1025.0, 750.0)
                .build()?;
            Ok(())
        })
        .build(tauri::generate_context!());
    match app {
        Ok(app) => app.run(|_, _| {}),
        Err(error) => tracing::error!(%error, "the app could not start"),
    }
}

//! Embeds the built user interface and the capability files. The one command a window may call is named here, so that a
//! window without the permission for it cannot.

fn main() {
    let manifest = tauri_build::AppManifest::new().commands(&["door"]);
    if let Err(error) = tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest)) {
        println!("cargo::error={error:#}");
    }
}

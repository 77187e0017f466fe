//! Embeds the built user interface and the capability files.

fn main() {
    tauri_build::build();
}

//! The Debian package as `cargo xtask bundle --debug` packs it: what is in it, and that both programs run from where it
//! puts them and find each other. The property lists of the Mac's bundle are read back, too.

use std::fs;
use std::path::{Path, PathBuf};

use super::desktop::program;
use crate::harness::world::World;

/// The package, unpacked.
fn unpacked(world: &World) -> PathBuf {
    let folder = program().with_file_name("bundle").join("deb");
    let mut found = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let package = found.find(|path| path.extension().is_some_and(|e| e == "deb"));
    let package = package.unwrap_or_else(|| {
        panic!("no package in {}: run `cargo xtask bundle --debug` first", folder.display())
    });
    let into = world.folder("installed");
    assert!(world.command("dpkg-deb").arg("-x").args([&package, &into]).status().unwrap().success());
    let said = world.command("dpkg-deb").arg("-f").arg(&package).output().unwrap();
    fs::write(into.join("control"), said.stdout).unwrap();
    into
}

fn named(file: &Path, key: &str) -> String {
    let text = fs::read_to_string(file).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    value.unwrap_or_else(|| panic!("{key} is not in {text}")).to_owned()
}

#[test]
fn the_package_brings_the_app_the_command_an_entry_in_the_menu_and_its_icons() {
    let mut world = World::new();
    world.real_clock();
    let root = unpacked(&world);
    let control = fs::read_to_string(root.join("control")).unwrap();
    assert!(control.contains("Package: prime-agent-orchestrator\n"), "{control}");
    for needed in ["libwebkit2gtk-4.1-0", "libayatana-appindicator3-1", "Recommends: tmux"] {
        assert!(control.contains(needed), "{needed}: {control}");
    }
    let entry = root.join("usr/share/applications/Prime Agent Orchestrator.desktop");
    assert!(named(&entry, "Exec").starts_with("prime-agent-orchestrator"));
    assert_eq!(named(&entry, "Icon"), "prime-agent-orchestrator");
    assert_eq!(named(&entry, "Terminal"), "false");
    assert_eq!(named(&entry, "MimeType").trim_end_matches(';'), "x-scheme-handler/pao");
    assert!(named(&entry, "Exec").ends_with(" %U"), "a link is handed over");
    for size in ["32x32", "128x128", "256x256@2", "512x512"] {
        let icon = root.join(format!("usr/share/icons/hicolor/{size}/apps/prime-agent-orchestrator.png"));
        assert!(icon.is_file(), "{}", icon.display());
    }
    // Both run from there.
    let version = world.command(root.join("usr/bin/pao")).arg("--version").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("pao {}\n", env!("CARGO_PKG_VERSION")));
    let told = world.command(root.join("usr/bin/prime-agent-orchestrator")).output().unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(4), "{said}");
    assert!(said.contains("there is no display"), "{said}");
    let opened = world.command(root.join("usr/bin/pao")).args(["app", "--json"]).output().unwrap();
    let said = String::from_utf8_lossy(&opened.stdout);
    assert!(said.contains("there is no display"), "the command found the app beside it: {said}");
}

#[test]
fn the_property_lists_of_the_macos_bundle_say_what_the_system_asks_for() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src-tauri");
    let info = plist::Value::from_file(folder.join("Info.plist")).unwrap();
    let info = info.as_dictionary().unwrap();
    assert_eq!(info["LSUIElement"].as_boolean(), Some(true), "no Dock icon flashes up");
    assert!(info["NSAppleEventsUsageDescription"].as_string().unwrap().len() > 40);
    // Else `open` may refuse to hand it a folder.
    let opens = info["CFBundleDocumentTypes"].as_array().unwrap()[0].as_dictionary().unwrap();
    let types: Vec<_> =
        opens["LSItemContentTypes"].as_array().unwrap().iter().filter_map(|t| t.as_string()).collect();
    assert_eq!(types, ["public.folder"]);
    assert_eq!(opens["CFBundleTypeRole"].as_string(), Some("Viewer"));
    assert_eq!(opens["LSHandlerRank"].as_string(), Some("Alternate"), "never what opens folders by itself");
    let rights = plist::Value::from_file(folder.join("entitlements.plist")).unwrap();
    let rights: Vec<_> = rights.as_dictionary().unwrap().keys().cloned().collect();
    // They sign the command as well, which a restricted one would keep from running.
    assert_eq!(rights, ["com.apple.security.automation.apple-events"]);
    let config = fs::read_to_string(folder.join("tauri.conf.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["identifier"], pao_core::entrance::APP_ID, "what the file managers' entries open");
    assert_eq!(config["plugins"]["deep-link"]["desktop"]["schemes"], serde_json::json!(["pao"]));
    let bundle = &config["bundle"]["macOS"];
    assert_eq!(bundle["minimumSystemVersion"], "13.0");
    assert_eq!(bundle["signingIdentity"], "-", "ad-hoc, unless a variable names an identity");
    assert_eq!(bundle["entitlements"], "entitlements.plist");
    let csp = config["app"]["security"]["csp"].as_str().unwrap();
    assert!(csp.starts_with("default-src 'none'") && !csp.contains("unsafe"), "{csp}");
}

//! The ways in from outside, each run for real by what runs it on a desktop.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness::world::{PAO, World};

/// Folder names as people, and those who mean harm, make them.
const NAMES: [&str; 17] = [
    "plain",
    "a b",
    " edge ",
    "it's",
    "say \"hi\"",
    "line\nbreak",
    "100%",
    "%F %u %%",
    "$HOME",
    "`id`",
    "$(id)",
    "-rf",
    "--help",
    "back\\slash",
    "支付对账",
    ";true&",
    "*",
];

/// A machine on which command and app lie in a folder with a difficult name. The app is a script that writes down what it
/// is called with.
struct Machine {
    world: World,
    pao: PathBuf,
    said: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let mut world = World::new();
        world.set("DISPLAY", ":99");
        world.set("XDG_DATA_DIRS", world.path("none"));
        let programs = world.folder("it's \"mine\" at 100% $HOME");
        let pao = programs.join("pao");
        if std::fs::hard_link(PAO, &pao).is_err() {
            std::fs::copy(PAO, &pao).unwrap();
        }
        let said = world.path("said");
        let app = programs.join("prime-agent-orchestrator");
        let script =
            format!("#!/bin/sh\nprintf '%s\\0' \"$@\" > '{0}.part' && mv '{0}.part' '{0}'\n", said.display());
        std::fs::write(&app, script).unwrap();
        std::fs::set_permissions(&app, std::fs::Permissions::from_mode(0o755)).unwrap();
        for manager in ["nautilus", "dolphin"] {
            world.program(manager, "#!/bin/sh\n");
        }
        Self { world, pao, said }
    }

    fn pao(&self, words: &[&str]) -> String {
        let output = self.world.command(&self.pao).args(words).output().unwrap();
        let text = |bytes: &[u8]| self.world.timeless(&String::from_utf8_lossy(bytes));
        assert!(output.status.success(), "{words:?}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    /// What the app is called with by that.
    fn brings(&self, command: &mut Command) -> Vec<String> {
        let _ = std::fs::remove_file(&self.said);
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command:?}: {error}");
        let until = Instant::now() + Duration::from_secs(20);
        while !self.said.exists() {
            assert!(Instant::now() < until, "the app was not opened: {error}");
            std::thread::sleep(Duration::from_millis(20));
        }
        let said = std::fs::read(&self.said).unwrap();
        let words = said.strip_suffix(b"\0").unwrap_or_default().split(|byte| *byte == 0);
        words.map(|word| String::from_utf8(word.to_vec()).unwrap()).collect()
    }
}

#[test]
fn the_entry_is_shown_written_found_and_taken_away() {
    let machine = Machine::new();
    machine.world.write(".config/mimeapps.list", "[Default Applications]\ntext/plain=editor.desktop\n");
    let mut screens = Vec::new();
    for words in [
        &["file-manager", "install", "--dry-run"][..],
        &["file-manager", "install"],
        &["finder", "status"],
        &["file-manager", "status", "--json"],
        &["file-manager", "remove"],
        &["file-manager", "status"],
    ] {
        screens.push(format!("$ pao {}\n{}", words.join(" "), machine.pao(words)));
    }
    insta::assert_snapshot!(screens.join("\n"));
    assert_eq!(
        machine.world.read(".config/mimeapps.list"),
        "[Default Applications]\ntext/plain=editor.desktop\n"
    );
}

#[test]
fn without_the_app_nothing_is_installed_and_what_is_not_ours_stays() {
    let machine = Machine::new();
    let mine = machine.world.write(".local/share/nautilus/scripts/Spawn agent here", "mine");
    let refused = machine.world.command(&machine.pao).args(["finder", "install", "--json"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(said.contains("is there already and is not ours"), "{said}");
    assert!(!machine.world.path(".local/share/kio").exists());
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    std::fs::remove_file(machine.pao.with_file_name("prime-agent-orchestrator")).unwrap();
    let refused = machine.world.command(&machine.pao).args(["finder", "install"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(4));
}

#[test]
fn the_script_of_gnome_files_hands_over_every_folder_as_it_is_called() {
    let machine = Machine::new();
    machine.pao(&["file-manager", "install"]);
    let script = machine.world.path(".local/share/nautilus/scripts/Spawn agent here");
    let here = machine.world.folder("code");
    for name in NAMES {
        std::fs::create_dir_all(here.join(name)).unwrap();
        // A name in the folder that is shown.
        let brought = machine.brings(machine.world.command(&script).arg(name).current_dir(&here));
        assert_eq!(brought, [here.join(name).to_str().unwrap()], "{name:?}");
    }
    let all: Vec<PathBuf> = NAMES.iter().map(|name| here.join(name)).collect();
    let brought = machine.brings(machine.world.command(&script).args(&all).current_dir("/"));
    assert_eq!(brought.iter().map(Path::new).collect::<Vec<_>>(), all);
    let brought = machine.brings(machine.world.command(&script).current_dir(&here));
    assert_eq!(Path::new(&brought[0]).canonicalize().unwrap(), here, "nothing is selected: the folder shown");
    let elsewhere = ("NAUTILUS_SCRIPT_CURRENT_URI", "sftp://host/code");
    let brought =
        machine.brings(machine.world.command(&script).env(elsewhere.0, elsewhere.1).current_dir("/"));
    assert!(brought.iter().all(String::is_empty), "a folder of another machine: {brought:?}");
}

#[test]
fn the_service_menu_of_dolphin_hands_over_every_folder_as_it_is_called() {
    let machine = Machine::new();
    machine.pao(&["file-manager", "install"]);
    let menu = machine.world.path(".local/share/kio/servicemenus/dev.prime-agent-orchestrator.app.desktop");
    assert_eq!(menu.metadata().unwrap().permissions().mode() & 0o777, 0o755, "else it is not taken");
    let text = std::fs::read_to_string(&menu).unwrap();
    assert!(text.contains("\nMimeType=inode/directory;\n"), "{text}");
    let exec = text.lines().find(|line| line.starts_with("Exec=")).unwrap();
    // What runs such lines here reads them only from an application's entry.
    let entry = format!("[Desktop Entry]\nType=Application\nName=x\n{exec}\n");
    let entry = machine.world.write("as-application.desktop", &entry);
    let here = machine.world.folder("code");
    let all: Vec<PathBuf> = NAMES.iter().map(|name| here.join(name)).collect();
    for folder in &all {
        std::fs::create_dir_all(folder).unwrap();
        let brought = machine.brings(machine.world.command("gio").arg("launch").arg(&entry).arg(folder));
        assert_eq!(brought.iter().map(Path::new).collect::<Vec<_>>(), [folder]);
    }
    let brought = machine.brings(machine.world.command("gio").arg("launch").arg(&entry).args(&all));
    assert_eq!(brought.iter().map(Path::new).collect::<Vec<_>>(), all);
}

#[test]
fn the_desktop_opens_links_with_the_app_and_no_longer_afterwards() {
    let machine = Machine::new();
    let link = "pao://spawn?text=it's%20100%25%20%24HOME&folder=%2Fa%20b";
    machine.pao(&["file-manager", "install"]);
    assert_eq!(machine.brings(machine.world.command("gio").args(["open", link])), [link]);
    machine.pao(&["file-manager", "remove"]);
    let ended = machine.world.command("gio").args(["open", link]).output().unwrap();
    assert!(!ended.status.success());
}

#[test]
fn uninstalling_takes_the_ways_in_along() {
    let machine = Machine::new();
    machine.pao(&["file-manager", "install"]);
    let listed = machine.pao(&["uninstall", "--dry-run"]);
    for what in
        ["script of GNOME Files", "service menu of Dolphin", "app among the applications", "pao:// links"]
    {
        assert!(listed.contains(what), "{listed}");
    }
    machine.pao(&["uninstall", "--yes"]);
    for gone in [
        ".local/share/nautilus/scripts/Spawn agent here",
        ".local/share/kio/servicemenus/dev.prime-agent-orchestrator.app.desktop",
        ".local/share/applications/dev.prime-agent-orchestrator.app.desktop",
        ".config/mimeapps.list",
    ] {
        assert!(!machine.world.path(gone).exists(), "{gone}");
    }
}

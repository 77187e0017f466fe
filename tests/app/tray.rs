//! The tray icon as a panel sees it: on the bus, without a mouse.

use std::time::{Duration, Instant};

use super::desktop::{PATIENCE, dbus};
use super::window::Window;
use crate::harness::world::World;

/// How long an effect is waited for before the entry is chosen again.
const AGAIN: Duration = Duration::from_secs(5);

const GET: &str = "org.freedesktop.DBus.Properties.Get";

/// Where the tray icon is on the bus: the name and the path.
pub fn item(world: &World) -> Option<(String, String)> {
    let of = ["org.kde.StatusNotifierWatcher", "RegisteredStatusNotifierItems"];
    let listed = dbus(world, "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher", GET, &of);
    let item = listed.split('\'').find(|word| word.contains("/org/ayatana"))?;
    let (name, path) = item.split_at(item.find('/')?);
    Some((name.to_owned(), path.to_owned()))
}

/// A property of the icon, e.g. `Title`, as the bus writes it; empty while there is no icon.
pub fn property(world: &World, name: &str) -> String {
    let Some((to, path)) = item(world) else { return String::new() };
    let said = dbus(world, &to, &path, GET, &["org.kde.StatusNotifierItem", name]);
    let value = said.trim().trim_start_matches("(<").trim_end_matches(">,)");
    value.trim_matches('\'').to_owned()
}

/// The bytes of the picture it shows.
pub fn picture(world: &World) -> Vec<u8> {
    let name = property(world, "IconName");
    std::fs::read(&name)
        .or_else(|_| std::fs::read(format!("{}/{name}.png", property(world, "IconThemePath"))))
        .unwrap_or_default()
}

/// Where the menu is on the bus.
fn menu_path(world: &World) -> Option<(String, String)> {
    let (name, _) = item(world)?;
    let said = property(world, "Menu");
    // "objectpath '/…'" or the path alone, as the bus likes.
    let path = said.split('\'').find(|word| word.starts_with('/'))?;
    Some((name, path.to_owned()))
}

/// The whole menu as the bus writes it.
pub fn menu(world: &World) -> String {
    let Some((name, path)) = menu_path(world) else { return String::new() };
    dbus(world, &name, &path, "com.canonical.dbusmenu.GetLayout", &["0", "--", "-1", "[]"])
}

/// Chooses the entry at the end of these labels, each one beneath the one before; `false` where there is none yet. A
/// label is given by its beginning.
pub fn choose(world: &World, labels: &[&str]) -> bool {
    entry(world, labels).is_some_and(|entry| {
        click(world, &entry);
        true
    })
}

/// An entry of the menu: the name and path of the menu on the bus, and its number there.
pub struct Entry(String, String, String);

/// Finds an entry by its labels, as `choose` does.
pub fn entry(world: &World, labels: &[&str]) -> Option<Entry> {
    let (name, path) = menu_path(world)?;
    let id = id_of(&menu(world), labels)?;
    Some(Entry(name, path, id))
}

/// Clicks at it.
pub fn click(world: &World, Entry(name, path, id): &Entry) {
    dbus(world, name, path, "com.canonical.dbusmenu.Event", &[id, "clicked", "<''>", "0"]);
}

/// Chooses an entry until it has its effect: what is chosen while the menu is being replaced goes nowhere, and a person
/// would choose again, too.
pub fn choose_until(world: &World, labels: &[&str], effect: impl Fn() -> bool) {
    let began = Instant::now();
    let mut chosen: Option<Instant> = None;
    while !effect() {
        assert!(began.elapsed() < PATIENCE, "{labels:?} had no effect; the menu:\n{}", menu(world));
        if chosen.is_none_or(|at| at.elapsed() > AGAIN) && choose(world, labels) {
            chosen = Some(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Opens a window by an entry.
pub fn open(world: &World, window: &Window<'_>, labels: &[&str]) {
    choose_until(world, labels, || window.visible());
}

/// An entry is written `(5, {'label': <'Text'>, …}, [children])`, and no other property holds a brace.
fn id_of(layout: &str, labels: &[&str]) -> Option<String> {
    let mut at = 0;
    for label in labels {
        let written = ["'", "\""].map(|quote| format!("'label': <{quote}{label}"));
        at += written.iter().filter_map(|text| layout[at..].find(text.as_str())).min()? + 1;
    }
    let entry = layout[..layout[..at].rfind('{')?].trim_end_matches([' ', ',']);
    let digits = &entry[entry.rfind(|c: char| !c.is_ascii_digit())? + 1..];
    Some(digits.to_owned()).filter(|digits| !digits.is_empty())
}

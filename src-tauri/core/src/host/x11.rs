//! Windows on an X11 display: whose is in front, and bringing one there. It asks the window manager and never moves,
//! closes or types into a window.

use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{Atom, AtomEnum, ClientMessageEvent, ConnectionExt, EventMask, Window};
use x11rb::rust_connection::RustConnection;

/// How long a display may take to answer.
const LIMIT: Duration = Duration::from_secs(1);
/// How long a window may take to come to the front.
const COMES: Duration = Duration::from_millis(700);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);
/// At most that many windows are looked at; the unit of the protocol is four bytes, which is one of them.
const MOST: u32 = 4096;

/// The process that owns the window in front.
pub async fn front(display: &str) -> Option<u32> {
    let display = display.to_owned();
    apart(LIMIT, move || {
        let display = Display::open(&display)?;
        display.process(display.active()?)
    })
    .await
}

/// Brings the window of the first of these processes that has one to the front; where that one has several, the one of
/// that title. Whether it came.
pub async fn raise(display: &str, processes: Vec<u32>, title: &str) -> bool {
    let (display, title) = (display.to_owned(), title.to_owned());
    let raised = apart(LIMIT + COMES, move || {
        let display = Display::open(&display)?;
        let windows = display.of(&processes)?;
        let window = match windows[..] {
            [only] => only,
            _ => windows.into_iter().find(|window| display.title(*window).as_deref() == Some(&title))?,
        };
        display.activate(window)
    });
    raised.await.is_some()
}

/// Whether somebody shows tray icons the way that needs no bus.
pub async fn has_tray(display: &str) -> bool {
    let display = display.to_owned();
    let owner = apart(LIMIT, move || {
        let display = Display::open(&display)?;
        let tray = display.atom(&format!("_NET_SYSTEM_TRAY_S{}", display.screen))?;
        Some(display.connection.get_selection_owner(tray).ok()?.reply().ok()?.owner)
    });
    owner.await.is_some_and(|owner| owner != 0)
}

/// A display that hangs takes its thread with it and nobody else.
async fn apart<T: Send + 'static>(
    limit: Duration,
    ask: impl FnOnce() -> Option<T> + Send + 'static,
) -> Option<T> {
    let (send, receive) = tokio::sync::oneshot::channel();
    let asked = std::thread::Builder::new().name("display".into()).spawn(move || {
        // Nobody may be waiting any more.
        let _ = send.send(ask());
    });
    asked.ok()?;
    tokio::time::timeout(limit, receive).await.ok()?.ok()?
}

struct Display {
    connection: RustConnection,
    root: Window,
    screen: usize,
}

impl Display {
    fn open(display: &str) -> Option<Self> {
        let (connection, screen) = x11rb::connect(Some(display)).ok()?;
        let root = connection.setup().roots.get(screen)?.root;
        Some(Self { connection, root, screen })
    }

    /// A name the display knows already.
    fn atom(&self, name: &str) -> Option<Atom> {
        let atom = self.connection.intern_atom(true, name.as_bytes()).ok()?.reply().ok()?.atom;
        Some(atom).filter(|atom| *atom != 0)
    }

    fn numbers(&self, window: Window, name: &str, kind: AtomEnum, most: u32) -> Option<Vec<u32>> {
        let read = self.connection.get_property(false, window, self.atom(name)?, kind, 0, most);
        Some(read.ok()?.reply().ok()?.value32()?.collect())
    }

    fn number(&self, window: Window, name: &str, kind: AtomEnum) -> Option<u32> {
        self.numbers(window, name, kind, 1)?.first().copied().filter(|number| *number != 0)
    }

    fn active(&self) -> Option<Window> {
        self.number(self.root, "_NET_ACTIVE_WINDOW", AtomEnum::WINDOW)
    }

    fn process(&self, window: Window) -> Option<u32> {
        self.number(window, "_NET_WM_PID", AtomEnum::CARDINAL)
    }

    fn title(&self, window: Window) -> Option<String> {
        let (name, kind) = (self.atom("_NET_WM_NAME")?, self.atom("UTF8_STRING")?);
        let read = self.connection.get_property(false, window, name, kind, 0, MOST).ok()?.reply().ok()?;
        String::from_utf8(read.value).ok()
    }

    /// The windows of the first of these processes that has any.
    fn of(&self, processes: &[u32]) -> Option<Vec<Window>> {
        let all = self.numbers(self.root, "_NET_CLIENT_LIST", AtomEnum::WINDOW, MOST)?;
        let owned: Vec<_> =
            all.into_iter().filter_map(|window| Some((window, self.process(window)?))).collect();
        let of = |process: &u32| -> Vec<Window> {
            owned.iter().filter(|(_, owner)| owner == process).map(|(window, _)| *window).collect()
        };
        processes.iter().map(of).find(|windows| !windows.is_empty())
    }

    /// Asks the window manager to bring it to the front, and sees whether it does.
    fn activate(&self, window: Window) -> Option<()> {
        let message = self.atom("_NET_ACTIVE_WINDOW")?;
        // 2: the user asked for it, by another program than the window's own.
        let event = ClientMessageEvent::new(32, window, message, [2, 0, 0, 0, 0]);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.connection.send_event(false, self.root, mask, event).ok()?.check().ok()?;
        let asked = Instant::now();
        while self.active() != Some(window) {
            if asked.elapsed() > COMES {
                return None;
            }
            std::thread::sleep(LOOK);
        }
        Some(())
    }
}

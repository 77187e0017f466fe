//! A second launch on Linux hands its words over before it has begun anything. The plugin that listens in the first app
//! would do the same, but only after the toolkit was started, whose threads then may not survive the program's end; and
//! not without a session bus, nor in bounded time. The first app is therefore asked at its socket, then on the bus.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use pao_core::Error;
use pao_core::entrance::APP_ID;
use pao_core::host::secrets::Launch;
use pao_core::host::{Host, app, files};
use zbus::blocking::Connection;
use zbus::blocking::connection::Builder;

/// What the plugin calls its one method.
const INTERFACE: &str = "org.SingleInstance.DBus";
const METHOD: &str = "ExecuteCallback";
/// How long the app may take to answer on the bus.
const ANSWER: Duration = Duration::from_secs(3);
/// How long one that has only just been started may take until it can be asked.
const BEGINS: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(100);

/// The place of the one app. The kernel lets go of it when the program ends.
pub struct Place {
    _lock: Option<files::Lock>,
}

/// The place, for the first app; none where one that runs has taken these words, the program's name first.
pub fn first(host: &Host, words: &[String]) -> Result<Option<Place>, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| {
        Error::environment(format!("nothing can be asked of an app that runs: {e}"), "try again")
    })?;
    let launch = Launch { words: words.to_vec(), folder: host.cwd.to_string_lossy().into_owned() };
    let run = host.pao_home.join("run");
    let lock = run.join("launch.lock");
    let began = Instant::now();
    loop {
        if runtime.block_on(app::hand_over(host, launch.clone()))? || on_the_bus(&launch)? {
            return Ok(None);
        }
        let locked =
            files::private_dir(&run).and_then(|()| runtime.block_on(files::lock(&lock, Duration::ZERO)));
        match locked {
            // Another is beginning, or ending.
            Err(error) if error.kind() == ErrorKind::TimedOut => {}
            // A disk that takes no lock is for the app to show.
            lock => return Ok(Some(Place { _lock: lock.ok() })),
        }
        if began.elapsed() > BEGINS {
            return Err(app::silent(None));
        }
        std::thread::sleep(LOOK);
    }
}

/// Whether an app that is known on the session bus has taken them.
fn on_the_bus(launch: &Launch) -> Result<bool, Error> {
    let name = format!("{APP_ID}.SingleInstance");
    let path = format!("/{}", name.replace('.', "/").replace('-', "_"));
    let Ok(bus) = Builder::session().and_then(|bus| bus.method_timeout(ANSWER).build()) else {
        return Ok(false);
    };
    let with = (&launch.words, &launch.folder);
    match bus.call_method(Some(name.as_str()), path.as_str(), Some(INTERFACE), METHOD, &with) {
        Ok(_) => Ok(true),
        Err(zbus::Error::InputOutput(error)) if error.kind() == ErrorKind::TimedOut => {
            Err(app::silent(process(&bus, &name)))
        }
        // Nobody has that name.
        Err(_) => Ok(false),
    }
}

/// Who has that name.
fn process(bus: &Connection, name: &str) -> Option<i32> {
    let (to, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
    let answer = bus.call_method(Some(to), path, Some(to), "GetConnectionUnixProcessID", &name).ok()?;
    answer.body().deserialize::<u32>().ok()?.try_into().ok()
}

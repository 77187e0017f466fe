//! Where the menu-bar app is, opening it, and what a later launch says to the one that runs.

use std::path::PathBuf;
use std::time::Duration;

use super::memory;
use super::process::{Identity, Run, gone};
use super::secrets::{self, Launch, Reply, Request, SecretError, Unanswered};
use super::{Host, os};
use crate::Error;

/// How long the app may take to show what a launch brings, once it has heard of it: it may be busy beginning itself.
const SHOWN: Duration = Duration::from_secs(5);

/// How long it may take to quit.
const QUITS: Duration = Duration::from_secs(5);

/// How long what draws its windows may take to be gone.
const WINDOWS_END: Duration = Duration::from_secs(1);

/// The app's program, beside the command or wherever its package puts it.
pub const PROGRAM: &str = "prime-agent-orchestrator";
/// The app as macOS has it.
const BUNDLE: &str = "Prime Agent Orchestrator.app";

/// The app: its program or, on macOS, its bundle.
pub fn find(host: &Host) -> Option<PathBuf> {
    // The command may have been reached by a link.
    let real = host.exe.canonicalize().ok();
    let beside = real.iter().chain([&host.exe]).map(|exe| exe.with_file_name(PROGRAM));
    let places = [PathBuf::from("/Applications"), host.home.join("Applications")];
    let bundles = places.iter().filter(|_| os::IS_MACOS).map(|folder| folder.join(BUNDLE));
    let found = beside.filter(|path| path.is_file()).chain(bundles.filter(|path| path.is_dir())).next();
    found.or_else(|| host.find_on_path(PROGRAM))
}

/// Opens the app, at the spawn panel where folders are named. One that runs already shows itself; one that does not
/// answer is an error.
pub async fn open(host: &Host, folders: &[PathBuf]) -> Result<PathBuf, Error> {
    if let Some(missing) = folders.iter().find(|folder| !host.cwd.join(folder).exists()) {
        return Err(Error::user(
            format!("there is no folder {}", host.display(missing)),
            "name one that is there, or none to see the list of agents",
        ));
    }
    let app = find(host).ok_or_else(|| {
        Error::environment(
            "the app is not on this machine",
            "build and open it: `cargo xtask app` in PAO's source",
        )
    })?;
    if !os::has_display(host) {
        return Err(Error::environment(
            "there is no display to show the app on",
            "everything it does `pao` does in a terminal: see `pao --help`",
        ));
    }
    let folders = folders.iter().map(|folder| host.cwd.join(folder));
    let run = if app.is_dir() {
        // The system finds the one that runs, and lets it come to the front.
        Run::new("/usr/bin/open").arg("-a").arg(&app)
    } else {
        let words = std::iter::once(app.clone()).chain(folders.clone());
        let words = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let launch = Launch { words, folder: host.cwd.to_string_lossy().into_owned() };
        if hand_over(host, launch).await? {
            return Ok(app);
        }
        Run::new(&app)
    };
    run.args(folders)
        .cwd(&host.home)
        .detach()
        .map_err(|e| Error::environment(format!("the app was not opened: {e}"), "run `pao doctor`"))?;
    Ok(app)
}

/// Hands what a launch brings over to the app that runs, at the socket where it listens. False where none listens
/// there, or one that knows nothing of later launches; one that does not answer is an error.
pub async fn hand_over(host: &Host, launch: Launch) -> Result<bool, Error> {
    let app = match secrets::reach(host, "").await {
        Ok(Some(app)) => app,
        Err(SecretError::App { .. }) => return Err(silent(None)),
        // What stands there is none of ours.
        Ok(None) | Err(_) => return Ok(false),
    };
    let process = app.peer_cred().ok().and_then(|peer| peer.pid());
    match secrets::exchange(app, &Request::Open(launch), SHOWN).await {
        Ok(reply) => Ok(reply == Reply::Done),
        Err(Unanswered::Silent | Unanswered::Slow) => Err(silent(process)),
        Err(Unanswered::Closed | Unanswered::Other | Unanswered::TooLong) => Ok(false),
    }
}

/// The app that runs for this folder of ours, where it is another process than this one.
pub async fn running(host: &Host) -> Option<Identity> {
    let app = secrets::reach(host, "").await.ok().flatten()?;
    let pid = u32::try_from(app.peer_cred().ok()?.pid()?).ok()?;
    Identity::of(pid).filter(|app| app.pid != Identity::own().pid)
}

/// Asks that process to quit and waits until it has, with what draws its windows; whether it did.
pub async fn quit(app: Identity) -> bool {
    let windows = windows(app);
    if let Err(error) = app.terminate() {
        tracing::warn!(%error, pid = app.pid, "the app could not be asked to quit");
    }
    if !gone(&[app], QUITS).await {
        return false;
    }
    end(&windows).await;
    true
}

/// Ends what draws the windows of this very app, as the last thing that it does.
pub async fn end_windows() {
    end(&windows(Identity::own())).await;
}

/// Processes that the webview made for an app. On macOS they are the system's and none of the app's.
fn windows(app: Identity) -> Vec<Identity> {
    let below = memory::tree(app).below.into_iter();
    below.filter(|(_, name)| name.starts_with("WebKit")).map(|(process, _)| process).collect()
}

/// They would end by themselves, but write what is kept for the windows once more before that.
async fn end(windows: &[Identity]) {
    for window in windows {
        if let Err(error) = window.kill() {
            tracing::warn!(%error, "a process of the windows goes on");
        }
    }
    gone(windows, WINDOWS_END).await;
}

/// The app runs, and says nothing.
pub fn silent(process: Option<i32>) -> Error {
    let (named, end) = match process {
        Some(pid) => (format!(", as process {pid},"), format!("`kill -9 {pid}`")),
        None => (String::new(), "the system's means".into()),
    };
    Error::environment(
        format!("the app runs already{named} and does not answer"),
        format!("try again in a moment; if it stays silent, end it by {end} and start it anew: agents go on"),
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::credentials;

    fn launch(words: &[&str]) -> Launch {
        Launch { words: words.iter().copied().map(String::from).collect(), folder: "/code".into() }
    }

    #[tokio::test]
    async fn a_later_launch_is_handed_to_the_app_that_listens_and_one_that_is_silent_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let host = Host { pao_home: dir.path().join("pao"), ..Host::at(dir.path()) };
        let odd = launch(&["app", "it's \"100%\"\n-rf", "", "支付"]);
        assert_eq!(hand_over(&host, odd.clone()).await, Ok(false));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        let app = credentials::serve(&host, move |launch| {
            let shown = !launch.words.is_empty();
            notes.lock().unwrap().push(launch);
            std::future::ready(shown)
        });
        let app = app.await.unwrap();
        assert_eq!(hand_over(&host, odd.clone()).await, Ok(true));
        // What could not be shown is not taken.
        assert_eq!(hand_over(&host, launch(&[])).await, Ok(false));
        assert_eq!(*seen.lock().unwrap(), [odd.clone(), launch(&[])]);
        drop(app);
        assert_eq!(hand_over(&host, odd.clone()).await, Ok(false));

        let socket = host.pao_home.join("run/app.sock");
        let _hangs = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600)).unwrap();
        let silent = hand_over(&host, odd).await.unwrap_err();
        let own = format!("process {}, and does not answer", std::process::id());
        assert!(silent.message.ends_with(&own), "{silent}");
        assert_eq!(silent.kind.exit_code(), 4);
    }

    #[tokio::test]
    async fn the_app_is_found_beside_the_command_also_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (there, bin) = (dir.path().join("there"), dir.path().join("bin"));
        std::fs::create_dir(&there).unwrap();
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(there.join("pao"), "").unwrap();
        symlink(there.join("pao"), bin.join("pao")).unwrap();
        let host = Host { exe: bin.join("pao"), cwd: dir.path().into(), ..Host::at(dir.path()) };
        assert_eq!(find(&host), None);
        assert!(open(&host, &[]).await.unwrap_err().next.contains("cargo xtask app"));
        let missing = open(&host, &["there".into(), "nowhere".into()]).await.unwrap_err();
        assert_eq!((&*missing.message, missing.kind.exit_code()), ("there is no folder nowhere", 2));
        std::fs::write(there.join(PROGRAM), "").unwrap();
        assert_eq!(find(&host), Some(there.canonicalize().unwrap().join(PROGRAM)));
    }
}

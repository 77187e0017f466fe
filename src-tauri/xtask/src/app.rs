//! `cargo xtask app`: from a fresh machine to the open app. Sets up, builds the user interface and both programs, installs
//! them and opens the app; with `--demo` on a stage of its own, where nothing of the user's is seen.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

use crate::demo::Standin;
use crate::fault::{Context, Fault};
use crate::guard::Guard;
use crate::machine::{Machine, System};
use crate::run::{cannot_start, run, say, succeeds};
use crate::sample::Stage;
use crate::setup::{C_COMPILER, GIT, Need, Plan, TMUX, agreement, carry_out};
use crate::{build, claude};

/// Builds the user interface.
const NODE: Need = Need {
    name: "Node.js",
    why: "builds the user interface",
    found: |m| m.has("npm"),
    apt: &["nodejs", "npm"],
    brew: Some("node"),
};

/// Shows the app. On macOS it comes with the system.
const WEBKIT: Need = Need {
    name: "WebKitGTK",
    why: "shows the app",
    found: |m| m.system == System::Mac || has_library("webkit2gtk-4.1"),
    apt: &["libwebkit2gtk-4.1-dev", "librsvg2-dev", "libxdo-dev", "pkg-config"],
    brew: None,
};

/// Puts the app into the tray.
const TRAY: Need = Need {
    name: "AppIndicator",
    why: "puts the app into the tray",
    found: |m| m.system == System::Mac || has_library("ayatana-appindicator3-0.1"),
    apt: &["libayatana-appindicator3-dev"],
    brew: None,
};

/// What building the app takes.
pub const NEEDS: [Need; 3] = [NODE, WEBKIT, TRAY];

/// What its tests need beyond that: a browser for the pages alone, and a desktop of its own for the whole app. On a Mac
/// the latter do not run.
pub const TEST_NEEDS: [Need; 8] = [
    desktop("Chromium", |m| m.system == System::Mac || browser(m).is_some(), &["chromium"]),
    desktop("Xvfb", |m| m.has("Xvfb"), &["xvfb", "xauth"]),
    desktop("openbox and a panel", |m| m.has("openbox") && m.has("xfce4-panel"), &["openbox", "xfce4-panel"]),
    desktop("xdotool", |m| m.has("xdotool") && m.has("gdbus"), &["xdotool", "libglib2.0-bin"]),
    desktop("a terminal window", |m| m.has("xterm"), &["xterm"]),
    desktop("pictures of windows", |m| m.has("scrot") && m.has("xwininfo"), &["scrot", "x11-utils"]),
    desktop("a notification server", |_| has_dbusmock(), &["python3-dbusmock"]),
    desktop("WebKitWebDriver", |m| m.has("WebKitWebDriver"), &["webkit2gtk-driver"]),
];

/// A module of the system's own Python, whichever other comes first on the PATH.
fn has_dbusmock() -> bool {
    let python = Path::new("/usr/lib/python3/dist-packages/dbusmock");
    python.is_dir()
}

/// A browser of the Chromium family.
pub fn browser(machine: &Machine) -> Option<PathBuf> {
    let of_mac = PathBuf::from("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    let named = ["chromium", "google-chrome"].iter().find_map(|name| machine.find(name));
    named.or_else(|| of_mac.is_file().then_some(of_mac))
}

const fn desktop(name: &'static str, there: fn(&Machine) -> bool, apt: &'static [&'static str]) -> Need {
    Need { name, why: "tests of the app", found: there, apt, brew: None }
}

fn has_library(name: &str) -> bool {
    succeeds("pkg-config", &["--exists", name])
}

/// What may be said to `cargo xtask app`.
#[derive(Debug, Clone, Copy, Args)]
pub struct App {
    /// Agree to all that would be installed
    #[arg(long)]
    yes: bool,
    /// Show the app with a sample project in a temporary home, without an account
    #[arg(long)]
    demo: bool,
}

/// Runs it.
pub fn app(asked: App, machine: &Machine) -> Result<ExitCode, Fault> {
    let mut plan = Plan::default();
    let needs = [TMUX, GIT, C_COMPILER].into_iter().chain(NEEDS);
    let missing: Vec<Need> = needs
        .filter(|need| !(need.found)(machine))
        // Terminal.app runs agents where tmux is not asked for.
        .filter(|need| asked.demo || machine.system == System::Linux || need.name != TMUX.name)
        .collect();
    plan.system(&missing, machine.system, machine.manager());
    claude::plan(machine, &mut plan);
    carry_out(&plan, agreement(asked.yes, false, machine), "cargo xtask app")?;
    interface(machine)?;
    let packages: &[&str] =
        if asked.demo { &["pao", "pao-app", "messages-api"] } else { &["pao", "pao-app"] };
    let built = build::programs(machine, packages, true)?;
    let pao = build::install(machine, &built.join("pao"))?;
    let program = build::install_app(&built.join(build::APP), &pao)?;
    if !asked.demo {
        run(Command::new(&pao).arg("app").env("PATH", machine.path_variable()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let agent = claude::ensure(machine)?;
    let stage = Stage::set(machine, &agent)?;
    let mut guard = Guard::over(&stage.home)?;
    let mut shown = || {
        let standin = Standin::start(&built.join("messages-api"), &stage, false)?;
        say("Indexing the sample's past sessions.");
        run(stage.command(&pao).arg("index"))?;
        let mut command = stage.command(&program);
        command.arg(&stage.project).env("ANTHROPIC_BASE_URL", &standin.url);
        for name in DESKTOP {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        say(format!("The app is open. Ask it, for instance: {}", stage.topic));
        say("Quit it from its tray menu, and the demo removes all it made.");
        let mut running = command.spawn().map_err(|e| cannot_start(&command, &e))?;
        guard.mind(&running)?;
        running.wait().doing("waiting for the app")
    };
    let ended = shown();
    guard.end()?;
    Ok(if ended?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a program needs of the desktop it is shown on.
const DESKTOP: [&str; 7] = [
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// Builds the user interface into `ui/dist`.
pub fn interface(machine: &Machine) -> Result<(), Fault> {
    run(npm(machine).args(["ci", "--no-audit", "--no-fund"]))?;
    run(npm(machine).args(["run", "build"]))
}

/// Checks the pages' types and runs their own tests. `None` where the tests in a browser could not run, because there is
/// none.
pub fn pages(machine: &Machine) -> Result<Option<()>, Fault> {
    run(npm(machine).args(["run", "check"]))?;
    run(npm(machine).args(["run", "test"]))?;
    let Some(browser) = browser(machine) else { return Ok(None) };
    run(npm(machine).args(["run", "test:browser"]).env("CHROMIUM", browser))?;
    Ok(Some(()))
}

/// Measures how long the pages work without letting a frame through. They print it, and are held to the budget.
pub fn measured(machine: &Machine) -> Result<(), Fault> {
    let Some(browser) = browser(machine) else {
        say("The pages were not measured: there is no Chromium and no Chrome.");
        return Ok(());
    };
    run(npm(machine).args(["run", "bench"]).env("CHROMIUM", browser))
}

fn npm(machine: &Machine) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(machine.root_dir.join("ui")).env("PATH", machine.path_variable());
    npm
}

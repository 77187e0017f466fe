//! A picture of every screen, in light and in dark, in `target/screens`. They are made to be looked at; what is asserted
//! is that each shows what it should before it is taken, and that the desktop's choice of light or dark is followed.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use messages_api::{Reply, Script};
use serde_json::{Value, json};

use super::desktop::{Desktop, empty, program};
use super::story::said;
use super::tray;
use super::window::Window;
use crate::harness::claude::{Claude, Version};
use crate::harness::world::World;

/// What the past sessions know.
const FACTS: [&str; 4] = [
    "The checkout test is flaky because the price cache is shared between workers; clear it in beforeEach.",
    "We decided to keep prices in cents as integers, because rounding in the cart was off by one cent twice.",
    "Never run the checkout migration on the shared staging database: ask Mira first.",
    "The checkout service reads its port from PORT, 8021 by default, and prints it when it starts.",
];

/// Between two pictures that must be the same.
const STILL: Duration = Duration::from_millis(150);
const LIST: u32 = 380;
const PANEL: u32 = 1025;

struct Album<'d> {
    folder: PathBuf,
    world: &'d World,
    theme: &'static str,
    desktop: &'d Desktop,
}

impl Album<'_> {
    /// The window as the display shows it, once it stands still.
    fn take(&self, window: &Window<'_>, width: u32, name: &str) {
        let file = self.folder.join(format!("{name}-{}.png", self.theme));
        let shell = format!(
            "for w in $(xdotool search --onlyvisible --name 'Prime Agent'); do set -- $(xwininfo -id $w | sed -n \
             's/.*\\(Absolute.*\\|Width\\|Height\\): *//p'); [ $3 = {width} ] && xdotool windowraise $w && \
             exec scrot -o -a $1,$2,$3,$4 \"$0\"; done; exit 1"
        );
        let shot = || {
            let taken = self.world.command("sh").args(["-c", &shell]).arg(&file).status().unwrap();
            taken.success().then(|| fs::read(&file).unwrap())
        };
        let last = std::cell::RefCell::new(None);
        window.until(format_args!("a still picture of {name}"), || {
            std::thread::sleep(STILL);
            let now = shot();
            // A running clock is never still.
            now.is_some() && (["question", "progress"].contains(&name) || last.replace(now.clone()) == now)
        });
    }

    fn open(&self, page: &Value) -> Window<'_> {
        self.desktop.gives("open", page);
        let panel = self.desktop.panel();
        panel.is_shown(true);
        panel
    }
}

fn script() -> Script {
    let bash = json!({ "command": "rm -r build && npm run build", "description": "builds anew" });
    Script::saying("done")
        .when("build it anew", Reply::tool("Bash", bash))
        .and_then(|script| script.when("go through", Reply::text("slow").after_ms(600_000)))
        .unwrap()
}

/// Agents in every state a list can have.
fn cast(claude: &Claude) -> Value {
    let shop = claude.repository("code/checkout");
    for (number, fact) in FACTS.iter().enumerate() {
        said(claude, &shop, u32::try_from(number).unwrap(), fact);
    }
    claude.world.pao(["index"]).ok();
    let spawn = |folder: &str, words: &[&str]| claude.spawn(&claude.repository(folder), words);
    let gone = spawn("code/docs", &["fix the links in the handbook"]);
    let rests = spawn("code/ledger", &["why is the monthly report off by one cent"]);
    let idle = spawn("code/design-tokens", &["rename the colour tokens"]);
    for agent in [&gone, &rests, &idle] {
        claude.comes_to(agent, "idle");
    }
    claude.kill(&gone);
    claude.tmux(&["kill-pane", "-t", gone["handle"].as_str().unwrap_or("%0")]);
    claude.world.pao(["pause", rests["id"].as_str().unwrap()]).ok();
    spawn("code/search", &["go through the slow queries and say which index is missing"]);
    let asks = claude.spawn(&shop, &["build it anew, then fix the flaky checkout test"]);
    claude.comes_to(&asks, "needs-you");
    claude.world.pao(["checkpoint", asks["id"].as_str().unwrap(), "-m", "before the build"]).run();
    asks
}

#[test]
fn every_screen_in_light_and_in_dark() {
    let mut claude = Claude::with_script(Version::New, script());
    claude.world.write(".pao/config.toml", "[projects]\nroots = [\"~/code\"]\n");
    // A terminal's own window would cover what is to be seen.
    claude.world.program("x-terminal-emulator", "#!/bin/sh\n");
    let asks = cast(&claude);
    for theme in ["light", "dark"] {
        claude.repository(&format!("code/import-{theme}"));
    }
    let folder = program().with_file_name("..").join("screens").canonicalize().unwrap_or_else(|_| {
        let folder = program().with_file_name("..").join("screens");
        fs::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap()
    });
    for (theme, of_gtk) in [("light", "Adwaita"), ("dark", "Adwaita:dark")] {
        // One desktop each: a panel may lose its tray when an icon vanishes as in a crash.
        let mut desktop = empty(&mut claude.world);
        claude.world.set("GTK_THEME", of_gtk);
        desktop.launch(&claude.world, &[]);
        let album = Album { folder: folder.clone(), world: &claude.world, theme, desktop: &desktop };
        pictures(&claude, &album, &asks);
    }
    let light = fs::read(folder.join("list-light.png")).unwrap();
    assert_ne!(light, fs::read(folder.join("list-dark.png")).unwrap());
}

fn pictures(claude: &Claude, album: &Album<'_>, asks: &Value) {
    let (desktop, theme) = (album.desktop, album.theme);
    let list = desktop.popover();
    let dark = "return matchMedia('(prefers-color-scheme: dark)').matches";
    assert_eq!(list.run(dark, &json!([])), json!(theme == "dark"));

    tray::open(&claude.world, &list, &["Open Prime Agent Orchestrator"]);
    list.until("every agent", || list.rows("Agents").len() >= 5);
    list.says("checkout");
    album.take(&list, LIST, "list");
    list.press("Down");
    list.press("t");
    list.says("It waits for an answer now.");
    album.take(&list, LIST, "tell");
    list.press("Escape");
    list.until("no sheet", || !list.text().contains("It waits for an answer now."));
    list.press("Escape");
    list.press("Escape");
    list.is_shown(false);

    let panel = album.open(
        &json!({ "page": "spawn", "text": "fix the flaky checkout test in ~/code/checkout", "folder": null }),
    );
    panel.says("price cache");
    panel.until("the answer", || panel.text().contains("ms in all"));
    album.take(&panel, PANEL, "spawn");
    panel.press("Control+d");
    panel.says("Context briefing");
    album.take(&panel, PANEL, "briefing");

    let place = format!("look around in ~/code/import-{theme}");
    let panel = album.open(&json!({ "page": "spawn", "text": place, "folder": null }));
    panel.until("its project", || panel.has("button", &format!("Project: import-{theme}")));
    panel.press("Control+Enter");
    panel.says("Trust ~/code/import");
    album.take(&panel, PANEL, "question");
    panel.press("Control+Enter");
    panel.until("the start", || panel.text().contains("done") || panel.text().contains("Starting"));
    album.take(&panel, PANEL, "progress");
    panel.says(&format!("import-{theme} is ready"));
    album.take(&panel, PANEL, "ready");

    let panel = album.open(&json!({ "page": "agent", "id": asks["id"] }));
    panel.says("before the build");
    album.take(&panel, PANEL, "agent");

    let panel = album.open(&json!({ "page": "cleanup" }));
    panel.says("docs");
    panel.click("checkbox", "docs");
    panel.says("1 of 2 selected");
    album.take(&panel, PANEL, "cleanup");
    panel.press("Control+Enter");
    panel.says("Clean up docs as well?");
    panel.press("Control+Enter");
    panel.says("cleaned up.");
    album.take(&panel, PANEL, "cleanup-done");
    panel.press("Control+z");
    panel.says("Everything is back");

    for pane in ["general", "sources", "agents", "terminal", "hotkey", "notifications", "privacy"] {
        let panel = album.open(&json!({ "page": "settings", "pane": pane }));
        panel.until("the settings", || !panel.text().contains("Looking") && panel.text().len() > 200);
        album.take(&panel, PANEL, &format!("settings-{pane}"));
    }
    // As it is before anything was chosen.
    let config = claude.world.read(".pao/config.toml");
    fs::remove_file(claude.world.path(".pao/config.toml")).unwrap();
    let panel = album.open(&json!({ "page": "first-run" }));
    panel.says("would know");
    panel.until("the folder of all projects", || panel.has("checkbox", "~/code"));
    album.take(&panel, PANEL, "first-run");
    claude.world.write(".pao/config.toml", &config);
}

//! A person at a real terminal who is asked, says no, edits, watches; and starts that end without an agent.

use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::harness::claude::Version;
use crate::harness::world::PAO;

/// A terminal with a shell line running in it, on a tmux server apart from the agents'.
struct Person<'w> {
    world: &'w World,
    socket: String,
}

impl<'w> Person<'w> {
    /// Types the words after `pao` in that folder; what stays on the screen ends in `ended: CODE`.
    fn runs(world: &'w World, folder: &Path, line: &str) -> Self {
        static PEOPLE: AtomicU32 = AtomicU32::new(0);
        let socket = world.env()[OsStr::new("PAO_TMUX_SOCKET")].to_string_lossy().into_owned();
        // A server that is just ending would take the next one of its name with it.
        let socket = format!("{socket}-person{}", PEOPLE.fetch_add(1, Ordering::Relaxed));
        let script = world.path("person.sh");
        let text = format!("unset TMUX TMUX_PANE\n'{PAO}' {line}\necho \"ended: $?\"\nexec sleep 600\n");
        fs::write(&script, text).unwrap();
        let person = Self { world, socket };
        let output = person
            .tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "50", "-c"])
            .arg(folder)
            .arg("sh")
            .arg(&script)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        person
    }

    fn tmux(&self, args: &[&str]) -> std::process::Command {
        let mut tmux = self.world.command("tmux");
        tmux.arg("-L").arg(&self.socket).args(args);
        tmux
    }

    fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim_end().to_string()
    }

    /// Waits until the text can be seen, and gives the screen.
    fn sees(&self, text: &str) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(began.elapsed() < Duration::from_mins(2), "{text:?} was never seen:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn types(&self, line: &str) {
        assert!(self.tmux(&["send-keys", "-l", line]).status().unwrap().success());
        assert!(self.tmux(&["send-keys", "Enter"]).status().unwrap().success());
    }
}

impl Drop for Person<'_> {
    fn drop(&mut self) {
        let mut ended = self.tmux(&["kill-server"]);
        let _ = ended.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// The agent is started under this script instead: it knows its version, and then does this.
fn pretend(world: &World, then: &str) {
    let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.332 (Claude Code)' && exit\n{then}\n");
    world.program("claude", &text);
    world.write(".claude.json", r#"{"hasCompletedOnboarding": true, "projects": {}}"#);
}

fn pretending(then: &str, limit: u32) -> World {
    let mut world = World::new();
    world.real_clock();
    pretend(&world, then);
    world.write(".pao/config.toml", &format!("[spawn]\nready_timeout_s = {limit}\n"));
    world
}

/// A folder that brings a hook and a server.
fn armed(world: &World) -> PathBuf {
    let hook = json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [
        { "type": "command", "command": "echo checked" }] }] } });
    let server = json!({ "mcpServers": { "search": { "command": "search-server", "args": ["--stdio"] } } });
    world.write("code/api/.claude/settings.json", &hook.to_string());
    world.write("code/api/.mcp.json", &server.to_string());
    world.path("code/api")
}

#[test]
fn a_no_to_uninstalling_removes_nothing_and_is_no_error() {
    let world = World::new();
    world.pao(["config", "set", "spawn.budget", "3000"]).ok();
    let person = Person::runs(&world, &world.home, "uninstall");
    person.sees("Remove all of it? [y/N]");
    person.types("n");
    let screen = person.sees("ended: ");
    assert!(screen.contains("nothing was removed") && screen.contains("ended: 0"), "{screen}");
    assert!(world.path(".pao/config.toml").exists());
}

#[test]
fn trust_is_asked_once_with_what_it_enables_and_a_no_leaves_nothing_behind() {
    let claude = Claude::new(Version::New);
    let world = &claude.world;
    world.write(".pao/config.toml", "[spawn]\nready_timeout_s = 90\n");
    let folder = armed(world);
    let (before, file) = (tree(&folder), world.read(".claude.json"));
    for answer in ["n", ""] {
        let person = Person::runs(world, &folder, "spawn --terminal tmux fix the login bug");
        let screen = person.sees("Trust it? [y/N]");
        assert!(screen.contains("Trust ~/code/api for Claude Code?"), "{screen}");
        assert!(screen.contains("echo checked") && screen.contains("search"), "{screen}");
        person.types(answer);
        let screen = person.sees("ended: 2");
        assert!(screen.contains("you did not agree to mark this folder as trusted"), "{screen}");
        assert!(differences(&before, &tree(&folder)).is_empty());
        assert_eq!(world.read(".claude.json"), file);
        assert_eq!(private_folders(world), Vec::<PathBuf>::new());
        assert!(claude.panes().is_empty() && claude.agents().is_empty());
    }
    // The agent itself would ask about the server; that question is none of ours.
    fs::remove_file(folder.join(".mcp.json")).unwrap();
    let person = Person::runs(world, &folder, "spawn --terminal tmux fix the login bug");
    person.sees("Trust it? [y/N]");
    person.types("y");
    person.sees("ended: 0");
    assert!(is_trusted(world, &folder));
    drop(person);
    end(&claude, &folder);
    assert!(!is_trusted(world, &folder));
    // Nobody is there to be asked, and nobody needs to be.
    let words =
        ["spawn", "--json", "--terminal", "tmux", "-C", folder.to_str().unwrap(), "fix the logout bug"];
    let again = world.pao(words).limit(Duration::from_mins(2)).ok().json();
    assert_eq!(again["confirmed"], true, "{again:#}");
    end(&claude, &folder);
    // What has come into it since nobody has agreed to, neither by a new spawn nor by what a cleanup puts back.
    let settings = folder.join(".claude/settings.json");
    fs::write(&settings, fs::read_to_string(&settings).unwrap().replace("echo checked", "echo more"))
        .unwrap();
    let refused = world.pao(words).run();
    assert_eq!(refused.code, Some(2), "{}", refused.screen);
    assert!(refused.stdout.contains("is not trusted yet"), "{}", refused.screen);
    assert!(!is_trusted(world, &folder));
}

#[test]
fn what_is_changed_in_the_editor_stands_in_the_first_request_and_an_editor_that_fails_ends_it() {
    let mut claude = Claude::new(Version::New);
    let editor =
        claude.world.program("editor", "#!/bin/sh\nsed -i.old 's/midnight UTC/noon in Lisbon/' \"$1\"\n");
    claude.world.set("EDITOR", &editor);
    let world = &claude.world;
    world.write(".pao/config.toml", "[spawn]\nready_timeout_s = 90\ndeadline_ms = 20000\n");
    let folder = claude.repository("code/api");
    remember(world, &folder, 1, "The login bug comes from the session cookie: it expires at midnight UTC.");
    let (before, file) = (tree(&folder), world.read(".claude.json"));
    let spawn = [
        "spawn",
        "--json",
        "--yes",
        "--edit",
        "--terminal",
        "tmux",
        "-C",
        folder.to_str().unwrap(),
        "fix",
        "the login bug",
    ];
    for (refuses, code) in [("false", 2), ("sh -c ': > \"$0\"'", 2), ("/nowhere/editor", 4)] {
        let ran = world.pao(spawn).env("EDITOR", refuses).run();
        assert_eq!(ran.code, Some(code), "{refuses}: {}", ran.screen);
        assert!(differences(&before, &tree(&folder)).is_empty());
        assert_eq!(world.read(".claude.json"), file);
        assert!(private_folders(world).is_empty() && claude.panes().is_empty() && claude.agents().is_empty());
    }
    let ran = world.pao(spawn).limit(Duration::from_mins(2)).ok().json();
    assert_eq!(ran["confirmed"], true, "{ran:#}");
    let text = claude.first_request("fix the login bug").text();
    assert!(text.contains("it expires at noon in Lisbon") && !text.contains("midnight UTC"), "{text}");
    assert_eq!(holding(&world.path(".pao/edit"), "Lisbon"), Vec::<PathBuf>::new(), "the edited text stays");
}

/// A line of progress as it would read on any machine.
fn without_time(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    for unit in ["ms", "s"] {
        if let Some(at) = words.iter().position(|word| *word == unit) {
            words.splice(at - 1..=at, ["(time)"]);
            break;
        }
    }
    words.join(" ")
}

#[test]
fn on_a_terminal_the_steps_are_one_block_that_is_redrawn() {
    let claude = Claude::new(Version::New);
    let world = &claude.world;
    world.write(".pao/config.toml", "[spawn]\nready_timeout_s = 90\ndeadline_ms = 20000\n");
    let folder = claude.repository("code/api");
    remember(world, &folder, 1, "The login bug comes from the session cookie: it expires at midnight UTC.");
    let person = Person::runs(world, &folder, "spawn --yes --terminal tmux fix the login bug");
    let screen = person.sees("ended: 0");
    // Which proof comes first differs, and so do the tokens: the briefing names the built program's path.
    let settled = |line: String| match (line.split_once(" confirmed,"), line.split_once(", about ")) {
        (Some((step, _)), _) => format!("{step} confirmed"),
        (_, Some((step, _))) => format!("{step}, about (tokens)"),
        _ => line,
    };
    let steps: Vec<String> = screen.lines().take(8).map(without_time).map(settled).collect();
    insta::assert_snapshot!(steps.join("\n"));
    assert_eq!(screen.matches("gather").count(), 1, "a step is drawn twice:\n{screen}");
    assert!(!screen.contains('⠋') && !screen.contains('\u{1b}'), "{screen}");
}

#[test]
fn what_is_missing_or_wrong_has_its_exit_code_and_a_next_step() {
    let world = World::new();
    let folder = world.folder("code/api");
    let spawn = ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder.to_str().unwrap(), "fix it"];
    let error = |ran: &crate::harness::world::Ran, code: i32, kind: &str| {
        assert_eq!(ran.code, Some(code), "{}", ran.screen);
        let error = ran.json();
        assert_eq!(error["kind"], kind, "{error:#}");
        assert!(!error["next"].as_str().unwrap().is_empty(), "{error:#}");
        error["message"].as_str().unwrap().to_string()
    };
    world.write(".pao/config.toml", "[agent]\ncommand = \"agent-of-nobody\"\n");
    let missing = error(&world.pao(spawn).run(), 4, "environment");
    assert!(missing.contains("agent-of-nobody"), "{missing}");
    error(&world.pao(spawn.into_iter().chain(["--no-such-flag"])).run(), 2, "user");
    error(&world.pao(spawn.into_iter().chain(["--permission", "all"])).run(), 2, "user");
    world.write(".pao/config.toml", "[spawn]\nbudget = \"many\"\n");
    let broken = error(&world.pao(spawn).run(), 3, "config");
    assert!(broken.contains("config.toml"), "{broken}");
    assert_eq!(tree(&folder).len(), 0);
}

/// A spawn whose start is not confirmed, and what it waits for.
fn waits_for_the_user(world: &World) -> String {
    let folder = world.folder("code/api");
    let words = ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder.to_str().unwrap(), "fix it"];
    let ran = world.pao(words).limit(Duration::from_mins(2)).run();
    assert_eq!(ran.code, Some(5), "{}", ran.screen);
    let said = ran.json();
    assert_eq!((&said["confirmed"], &said["error"]["kind"]), (&json!(false), &json!("unconfirmed")));
    assert!(said["error"]["next"].as_str().unwrap().contains("attach"), "{}", ran.screen);
    let undone = world.pao(["undo", "--end", "-C", folder.to_str().unwrap()]).ok();
    assert!(private_folders(world).is_empty(), "{}", undone.screen);
    assert_eq!(tree(&folder).len(), 0);
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("api waits for you: "), "{}", ran.screen);
    message.to_string()
}

#[test]
fn a_question_nobody_knows_and_a_first_start_are_exit_code_5_and_are_quoted() {
    let unknown = format!(
        "{}\n Flux calibration\n\n Do you want to recalibrate the flux?\n\n ❯ 1. Yes\n   2. No\n\n Enter to confirm · \
         Esc to cancel\n",
        "─".repeat(60)
    );
    let captured = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code/screens");
    let first = fs::read_to_string(captured.join("01-onboarding-theme.txt")).unwrap();
    for (screen, quoted) in [(unknown, "Do you want to recalibrate the flux?"), (first, "choose its colours")]
    {
        let world = pretending("cat \"$HOME/screen.txt\"\nexec sleep 600", 90);
        world.write("screen.txt", &screen);
        let said = waits_for_the_user(&world);
        assert!(said.contains(quoted), "{said}");
    }
}

#[test]
fn an_agent_that_is_not_logged_in_is_soon_seen_to_need_you() {
    let mut claude = Claude::new(Version::New);
    claude.world.unset("ANTHROPIC_API_KEY");
    claude.world.write(".pao/config.toml", "[spawn]\nready_timeout_s = 90\n");
    let folder = claude.world.folder("code/api");
    let words = ["spawn", "--json", "--yes", "--terminal", "tmux", "-C", folder.to_str().unwrap(), "fix it"];
    // It takes the prompt in before it finds out, so both are true starts.
    let ran = claude.world.pao(words).limit(Duration::from_mins(2)).run();
    assert!(matches!(ran.code, Some(0 | 5)), "{}", ran.screen);
    claude.until("an agent that needs its user to log in", || {
        let row = claude.agents().remove(0);
        row["state"] == "needs-you" && row["needs"].as_str().unwrap_or_default().contains("log")
    });
}

#[test]
fn an_agent_that_dies_at_once_is_quoted_and_everything_is_taken_back() {
    let dies = "echo 'starting up'\necho 'error: the licence file is unreadable' >&2\nexit 3";
    let world = pretending(dies, 60);
    let folder = world.folder("code/api");
    world.write("code/api/README.md", "mine\n");
    let (before, file) = (tree(&folder), world.read(".claude.json"));
    for way in ["session", "files"] {
        let folder = folder.to_str().unwrap();
        let words =
            ["spawn", "--json", "--yes", "--terminal", "tmux", "--delivery", way, "-C", folder, "fix it"];
        let ran = world.pao(words).run();
        assert_eq!(ran.code, Some(4), "{}", ran.screen);
        let error = ran.json();
        assert!(
            error["message"].as_str().unwrap().contains("the licence file is unreadable"),
            "{}",
            ran.screen
        );
        assert_eq!(error["done"], "everything done before was taken back", "{}", ran.screen);
        assert!(differences(&before, &tree(Path::new(folder))).is_empty());
        let trusted: Value = serde_json::from_str(&file).unwrap();
        assert_eq!(agent_file(&world), trusted);
        assert_eq!(private_folders(&world), Vec::<PathBuf>::new());
        assert_eq!(world.pao(["agents", "--all", "--json"]).ok().json(), json!([]));
    }
}

#[test]
fn as_root_an_agent_that_asks_for_nothing_is_refused_before_anything_is_asked_or_written() {
    let world = pretending("exec sleep 600", 4);
    let folder = world.folder("code/api");
    let file = world.read(".claude.json");
    let words = [
        "spawn",
        "--json",
        "--terminal",
        "tmux",
        "--permission",
        "skip",
        "-C",
        folder.to_str().unwrap(),
        "fix it",
    ];
    let ran = world.pao(words).run();
    assert_eq!(ran.code, Some(2), "{}", ran.screen);
    let message = ran.json()["message"].as_str().unwrap().to_string();
    // Whoever is not root is asked, and here nobody can be.
    let says = if nix::unistd::geteuid().is_root() { "as root" } else { "nobody to ask" };
    assert!(message.contains(says), "{message}");
    assert_eq!(world.read(".claude.json"), file);
    assert_eq!((tree(&folder).len(), private_folders(&world).len()), (0, 0));
}

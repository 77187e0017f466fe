//! `pao config` and `pao sources` on a real file.

use crate::harness::world::World;

const FILE: &str = ".pao/config.toml";

#[test]
fn a_key_is_set_shown_and_taken_out_again_around_comments() {
    let world = World::new();
    world.write(FILE, "# my settings\n[spawn] # defaults\nbudget = 1500 # tokens\n");
    let screens = [
        world.pao(["config", "set", "spawn.budget", "3000"]).ok(),
        world.pao(["config", "set", "spawn.terminal", "tmux"]).ok(),
        world.pao(["config", "unset", "spawn.terminal"]).ok(),
        world.pao(["config", "show"]).ok(),
        world.pao(["config", "path"]).ok(),
    ]
    .map(|ran| ran.screen);
    insta::assert_snapshot!(screens.join("\n"));
    assert_eq!(world.read(FILE), "# my settings\n[spawn] # defaults\nbudget = 3000 # tokens\n");
}

#[test]
fn a_mistake_is_refused_and_the_file_is_left_alone() {
    let world = World::new();
    let text = "# mine\n[spawn]\nbudget = 1500\n";
    world.write(FILE, text);
    let screens = [
        world.pao(["config", "set", "spawn.budget", "plenty"]).run(),
        world.pao(["config", "set", "spawn.bugdet", "1"]).run(),
        world.pao(["config", "set", "app.hotkey", "foo"]).run(),
        world.pao(["config", "set", "spawn.permission", "yolo", "--json"]).run(),
        world.pao(["sources", "add", "postgres", "db", "--url", "postgres://me:FAKE@localhost/m"]).run(),
        world.pao(["sources", "add", "worker", "a b", "--url", "https://h", "--protocol", "mcp"]).run(),
        world.pao(["sources", "remove", "db"]).run(),
    ]
    .map(|ran| {
        assert_eq!(ran.code, Some(2), "{}", ran.screen);
        let (_, said) = ran.screen.split_once('\n').unwrap();
        assert!(!said.contains("FAKE"), "a password is repeated: {said}");
        ran.screen
    });
    insta::assert_snapshot!(screens.join("\n"));
    assert_eq!(world.read(FILE), text);
}

#[test]
fn a_file_that_does_not_read_stops_every_verb_with_its_line() {
    let world = World::new();
    let text = "[spawn]\nbudget = 1500\ncolour = \"blue\"\n";
    world.write(FILE, text);
    let ran = world.pao(["sources"]).run();
    assert_eq!(ran.code, Some(3));
    insta::assert_snapshot!(ran.screen);
    assert_eq!(world.pao(["config", "set", "spawn.budget", "300"]).run().code, Some(3));
    assert_eq!(world.read(FILE), text);
}

#[test]
fn sources_are_added_listed_and_removed() {
    let world = World::new();
    let screens = [
        world.pao(["sources"]).ok(),
        world
            .pao([
                "sources",
                "add",
                "postgres",
                "facts",
                "--url",
                "postgres://me@localhost/memory",
                "--archive",
                "true",
            ])
            .ok(),
        world
            .pao([
                "sources",
                "add",
                "worker",
                "chats",
                "--url",
                "https://memory.example",
                "--protocol",
                "search",
            ])
            .ok(),
        world
            .pao([
                "sources",
                "add",
                "postgres",
                "notes",
                "--url",
                "postgres://localhost/n",
                "--table",
                "public.notes",
                "--id",
                "id",
                "--text",
                "body",
            ])
            .ok(),
        world.pao(["config", "set", "sources.chats.enabled", "false"]).ok(),
        world.pao(["sources"]).ok(),
        world.pao(["sources", "--json"]).ok(),
        world.pao(["sources", "remove", "chats"]).ok(),
    ]
    .map(|ran| ran.screen);
    insta::assert_snapshot!(format!("{}\n$ cat config.toml\n{}", screens.join("\n"), world.read(FILE)));
}

#[test]
fn endings_byte_order_mark_and_comments_survive_every_edit() {
    let world = World::new();
    let before = "\u{feff}# mine\r\n[spawn]\r\n# how much\r\nbudget = 1500 # tokens\r\n# where\r\nterminal = \"tmux\"\r\n# the end\r\n";
    world.write(FILE, before);
    world.pao(["config", "set", "spawn.budget", "3000"]).ok();
    assert_eq!(world.read(FILE), before.replace("1500", "3000"));
    world.pao(["config", "unset", "spawn.terminal"]).ok();
    assert_eq!(world.read(FILE), before.replace("1500", "3000").replace("terminal = \"tmux\"\r\n", ""));
    world.pao(["config", "set", "agent.command", "claude"]).ok();
    let after = world.read(FILE);
    assert!(after.starts_with('\u{feff}') && after.contains("# the end\r\n"), "{after:?}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
    world.pao(["config", "unset", "spawn.budget"]).ok();
    assert!(world.read(FILE).contains("# how much\r\n# where\r\n"), "{:?}", world.read(FILE));
}

#[test]
fn what_is_there_by_default_is_switched_off_like_anything_else() {
    let world = World::new();
    let shown = world.pao(["config", "show"]).ok().stdout;
    assert!(shown.contains("sources.history.enabled"), "{shown}");
    assert_eq!(
        world.pao(["config", "unset", "sources.history.enabled"]).ok().stdout,
        "sources.history.enabled = true  default\n"
    );
    world.pao(["config", "set", "sources.history.enabled", "false"]).ok();
    assert_eq!(world.read(FILE), "[sources.history]\nkind = \"history\"\nenabled = false\n");
    assert!(world.pao(["sources"]).ok().stdout.contains("off"));
    assert_eq!(world.pao(["config", "set", "sources.histroy.enabled", "false"]).run().code, Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_of_another_system_is_not_set() {
    let world = World::new();
    let ran = world.pao(["config", "set", "spawn.terminal", "terminal"]).run();
    assert_eq!(ran.code, Some(2), "{}", ran.screen);
    assert!(
        ran.stderr.contains("only on macOS") && ran.stderr.contains("one of auto, tmux"),
        "{}",
        ran.screen
    );
    // A file that came from a Mac still reads.
    world.write(FILE, "[spawn]\nterminal = \"terminal\"\n");
    world.pao(["config", "show"]).ok();
}

#[test]
fn json_may_stand_before_the_inner_word_too() {
    let world = World::new();
    let asked = ["list", "check"].map(|word| world.pao(["sources", "--json", word]).ok().json());
    assert!(asked.iter().all(|answer| answer[0]["name"] == "history"), "{asked:?}");
}

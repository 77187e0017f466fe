//! The face of `pao`: help, errors, colour, completions.

use std::io::Read;

use crate::harness::world::World;

#[test]
fn every_verb_explains_itself() {
    let world = World::new();
    let mut pages = vec![world.pao(["--help"]).ok().screen];
    for verb in VERBS {
        let words = verb.split(' ').chain(["--help"]);
        let page = world.pao(words).ok();
        assert!(page.stdout.contains("Usage: pao"), "{verb}");
        pages.push(page.screen);
    }
    insta::assert_snapshot!(pages.join("\n────────\n"));
}

const VERBS: &[&str] = &[
    "agents",
    "sources",
    "sources add postgres",
    "sources add worker",
    "config",
    "config set",
    "completions",
];

#[test]
fn wrong_use_is_exit_code_2_with_a_next_step() {
    let world = World::new();
    let screens = [
        world.pao(["agents", "--colour"]).run(),
        world.pao(["agnts"]).run(),
        world.pao(["config", "set", "spawn.budget"]).run(),
        world.pao(["agents", "--colour", "--json"]).run(),
        world.pao(["--json", "agnts"]).run(),
        world.pao(["--json"]).run(),
    ]
    .map(|ran| {
        assert_eq!(ran.code, Some(2), "{}", ran.screen);
        ran.screen
    });
    insta::assert_snapshot!(screens.join("\n"));
}

#[test]
fn without_a_word_the_help_is_shown() {
    let ran = World::new().pao::<_, &str>([]).run();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("Usage: pao"), "{}", ran.screen);
}

#[test]
fn an_error_with_json_is_one_document_on_standard_output() {
    let world = World::new();
    world.write(".pao/config.toml", "[spawn]\nbudget = true\n");
    let ran = world.pao(["sources", "--json"]).run();
    assert_eq!(ran.code, Some(3));
    assert_eq!(ran.stderr, "");
    let error = ran.json();
    let keys: Vec<_> = error.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["kind", "message", "done", "next"]);
    assert_eq!(error["kind"], "config");
}

#[test]
fn a_pipe_gets_no_colour_unless_it_is_forced() {
    let world = World::new();
    let plain = world.pao(["sources"]).ok();
    assert!(!plain.stdout.contains('\x1b'), "{:?}", plain.stdout);
    let forced = world.pao(["sources"]).env("CLICOLOR_FORCE", "1").ok();
    assert!(forced.stdout.contains('\x1b'), "{:?}", forced.stdout);
    let both = world.pao(["sources"]).env("NO_COLOR", "1").ok();
    assert!(!both.stdout.contains('\x1b'), "{:?}", both.stdout);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = World::new();
    let mut child = world.pao(["completions", "bash"]).start();
    drop(child.stdin.take());
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn completion_scripts_are_accepted_by_their_shells() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.pao(["completions", shell]).ok().stdout;
        assert!(script.contains("sources"), "{shell}");
        if shell == "bash" {
            let file = world.write("pao.bash", &script);
            assert!(world.command("bash").arg("-n").arg(file).status().unwrap().success());
        }
    }
}

#[test]
fn without_agents_the_list_says_so() {
    let world = World::new();
    assert_eq!(world.pao(["agents"]).ok().stdout, "no agents\n");
    assert_eq!(world.pao(["agents", "--json"]).ok().json(), serde_json::json!([]));
}

#[test]
fn our_folder_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.pao(["agents"]).ok();
    let mode = |path: &str| world.path(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(".pao"), 0o700);
}

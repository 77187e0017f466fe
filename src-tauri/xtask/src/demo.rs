//! `cargo xtask spawn --demo`: the whole job on a stage of its own, with the real agent in a real terminal and only the
//! model replaced. What it claims at the end it has read in the stand-in's log.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::evidence::{Evidence, weigh};
use crate::fault::{Context, Fault};
use crate::guard::Guard;
use crate::machine::Machine;
use crate::run::{run, say, shown};
use crate::sample::Stage;
use crate::spawn::Spawn;
use crate::{build, claude};

/// What the stand-in answers to the agent's first request.
const ANSWER: &str = "I am the stand-in, so I cannot fix anything. But the briefing that came with your request \
                      reached me, and a real model would start from it.";

/// How long the agent may take from its start to its first request.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs it with this agent program.
pub fn demo(asked: &Spawn, machine: &Machine, agent: &Path) -> Result<ExitCode, Fault> {
    let built = build::programs(machine, &["pao", "messages-api"], true)?;
    let pao = build::install(machine, &built.join("pao"))?;
    let stage = Stage::set(machine, agent)?;
    let mut guard = Guard::over(&stage.home)?;
    let (mut standin, mut result) = match play(asked, &stage, &mut guard, &pao, &built.join("messages-api")) {
        Ok(played) => played,
        Err(fault) => {
            guard.end()?;
            return Err(fault);
        }
    };
    result["claude_code"] = json!(claude::version_of(agent));
    if asked.json {
        println!("{result}");
    } else {
        tell(&result);
        linger(asked, &result);
    }
    if asked.keep {
        say(kept(&stage.home, &standin));
        standin.keep = true;
        guard.dismiss()?;
    } else {
        guard.end()?;
    }
    Ok(match (result["confirmed"] == true, result["briefing_in_first_request"] == true) {
        (true, true) => ExitCode::SUCCESS,
        (false, true) => ExitCode::from(5),
        (_, false) => ExitCode::FAILURE,
    })
}

/// Spawns on the stage and returns the stand-in with the one object that says what happened.
fn play(
    asked: &Spawn,
    stage: &Stage,
    guard: &mut Guard,
    pao: &Path,
    standin: &Path,
) -> Result<(Standin, Value), Fault> {
    let standin = Standin::start(standin, stage, asked.keep)?;
    say("Indexing the sample's past sessions.");
    run(stage.command(pao).arg("index"))?;
    let mut spawn = stage.command(pao);
    spawn.env("ANTHROPIC_BASE_URL", &standin.url).args([
        "spawn",
        "--json",
        "--yes",
        "--terminal",
        "tmux",
        "-C",
    ]);
    spawn.arg(&stage.project).args(&asked.rest);
    if !names_a_topic(&asked.rest) {
        spawn.arg(&stage.topic);
    }
    say(format!("$ {}", shown(&spawn)));
    let spawning = spawn.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().doing("starting pao")?;
    guard.mind(&spawning)?;
    let output = spawning.wait_with_output().doing("waiting for pao")?;
    let told = String::from_utf8_lossy(&output.stdout);
    let mut result: Value = serde_json::from_str(&told).map_err(|e| {
        Fault::failed(format!("`pao spawn --json` did not print one JSON object: {e}\n{told}"))
    })?;
    if !matches!(output.status.code(), Some(0 | 5)) {
        let reason = result["message"].as_str().unwrap_or("it does not say why");
        return Err(Fault::failed(format!("`pao spawn` failed ({}): {reason}", output.status)));
    }
    let evidence = wait_for_evidence(stage)?;
    result["briefing_in_first_request"] = json!(evidence.proves_briefing());
    result["proof"] = json!({
        "log": "the stand-in's",
        "agent_requests": evidence.agent_requests,
        "lines_in_first_request": evidence.found,
        "lines_missing": evidence.missing,
        "facts_of_the_past": evidence.facts,
    });
    Ok((standin, result))
}

/// Reads the log until it proves the briefing or shows that it cannot.
fn wait_for_evidence(stage: &Stage) -> Result<Evidence, Fault> {
    let briefing = delivered_briefing(&stage.home)?;
    let facts: Vec<&str> = stage.facts.iter().map(String::as_str).collect();
    let start = Instant::now();
    loop {
        let log = fs::read_to_string(&stage.log).doing("reading the stand-in's log")?;
        let evidence = weigh(&log, &briefing, &facts);
        // The first request never changes once it is there.
        if evidence.agent_requests > 0 || start.elapsed() > PATIENCE {
            return Ok(evidence);
        }
        sleep(Duration::from_millis(50));
    }
}

/// The document in the agent's private folder, of which there is one in a fresh home; with delivery by files it lies
/// in the project instead.
fn delivered_briefing(home: &Path) -> Result<String, Fault> {
    let agents = fs::read_dir(home.join(".pao/agents")).into_iter().flatten().flatten();
    let private = agents.map(|agent| agent.path().join("CONTEXT_BRIEFING.md"));
    let found = private.chain([home.join("linkshelf/CONTEXT_BRIEFING.md")]).find(|file| file.is_file());
    let file = found.ok_or_else(|| Fault::failed("pao left no CONTEXT_BRIEFING.md behind"))?;
    fs::read_to_string(&file).doing(format!("reading {}", file.display()))
}

/// Whether the words for `pao spawn` hold a topic: one that is neither an option nor may be an option's value.
fn names_a_topic(words: &[String]) -> bool {
    let takes_value = |word: &String| word.starts_with('-') && !word.contains('=');
    words
        .iter()
        .enumerate()
        .any(|(i, word)| !word.starts_with('-') && (i == 0 || !takes_value(&words[i - 1])))
}

/// Says for people what the object says for programs.
fn tell(result: &Value) {
    println!("\nThe seven steps of `{}`:", result["agent"].as_str().unwrap_or("?"));
    for step in result["steps"].as_array().into_iter().flatten() {
        let text = |key: &str| step[key].as_str().unwrap_or_default();
        println!(
            "  {:9} {:>6} ms  {:8} {}",
            text("name"),
            step["ms"].as_u64().unwrap_or_default(),
            text("state"),
            text("note")
        );
    }
    let lines = |key: &str| result["proof"][key].as_array().cloned().unwrap_or_default();
    println!("\nIn the agent's first request, as the stand-in of the Messages API logged it:");
    for line in lines("lines_in_first_request") {
        println!("  {}", line.as_str().unwrap_or_default());
    }
    for line in lines("lines_missing") {
        println!("  MISSING: {}", line.as_str().unwrap_or_default());
    }
    let verdict = |key: &str| if result[key] == true { "yes" } else { "NO" };
    println!(
        "\nPrompt confirmed: {}. Briefing in the first request: {}.",
        verdict("confirmed"),
        verdict("briefing_in_first_request")
    );
}

/// Lets somebody look at the agent before it goes.
fn linger(asked: &Spawn, result: &Value) {
    if let Some(attach) = result["attach"].as_str() {
        say(format!("\nLook at the agent from another terminal: {attach}"));
    }
    if !asked.keep && std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        eprint!("Press Enter to end the demo and remove all it made. ");
        // Whatever comes, even the end of input, means to go on.
        let _ = std::io::stdin().read_line(&mut String::new());
    }
}

fn kept(home: &Path, standin: &Standin) -> String {
    let home = home.display();
    let pid = standin.process.id();
    format!(
        "\nThe demo stays. To end it:\n  for s in {home}/tmux/*/*; do tmux -S $s kill-server; done; kill {pid}; rm -r {home}"
    )
}

/// The running stand-in.
#[derive(Debug)]
pub struct Standin {
    process: Child,
    /// Its address.
    pub url: String,
    keep: bool,
}

impl Standin {
    /// Starts it. One that may be kept is out of reach of this terminal's Ctrl-C; any other ends with us.
    pub fn start(program: &Path, stage: &Stage, keep: bool) -> Result<Self, Fault> {
        let port_file: PathBuf = stage.home.join("port");
        let script = stage.home.join("script.json");
        fs::write(&script, json!({"queue": [ANSWER], "default": "ok"}).to_string())
            .doing("writing a script")?;
        let mut command = Command::new(program);
        command.arg("--port-file").arg(&port_file).arg("--log").arg(&stage.log).arg("--script").arg(&script);
        // Not our standard error: a kept one would hold a pipe open that somebody waits on.
        let complaints =
            fs::File::create(stage.home.join("standin.log")).doing("making the stand-in's own log")?;
        command.stdout(Stdio::null()).stderr(complaints);
        if keep {
            command.stdin(Stdio::null()).process_group(0);
        } else {
            command.arg("--while-stdin-open").stdin(Stdio::piped());
        }
        let mut process = command.spawn().doing("starting the stand-in")?;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if let Ok(port) = fs::read_to_string(&port_file) {
                let url = format!("http://127.0.0.1:{}", port.trim());
                return Ok(Self { process, url, keep: false });
            }
            if let Ok(Some(status)) = process.try_wait() {
                let why = fs::read_to_string(stage.home.join("standin.log")).unwrap_or_default();
                return Err(Fault::failed(format!("the stand-in ended: {status} {}", why.trim())));
            }
            sleep(Duration::from_millis(10));
        }
        // It may be stuck, but it is still ours to end.
        let _ = process.kill();
        Err(Fault::failed("the stand-in did not open its port within 10 s"))
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        if !self.keep {
            // Fails only where it has already ended.
            let _ = self.process.kill().and_then(|()| self.process.wait());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_topic_is_used_unless_another_is_named() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert!(!names_a_topic(&[]));
        assert!(!names_a_topic(&words("--delivery files --budget=500")));
        assert!(names_a_topic(&words("--delivery files fix it")));
        assert!(names_a_topic(&words("fix")));
    }
}

//! The demo's stage: a temporary home with a sample project, sample sessions of the past and a made-up account. Only
//! the stage is set here; nothing is started but git.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::fault::{Context, Fault};
use crate::machine::Machine;
use crate::run::run;

/// A key in the shape of a real one; the stand-in never looks at it.
const KEY: &str = "sk-ant-api03-made-up-for-the-demo-of-pao-0000000000";

/// Start of every demo home's name; only such folders are ever removed.
pub const PREFIX: &str = "pao-demo-";

/// A set stage.
#[derive(Debug)]
pub struct Stage {
    /// The temporary home.
    pub home: PathBuf,
    /// The sample project in it.
    pub project: PathBuf,
    /// Where the stand-in logs.
    pub log: PathBuf,
    /// What the agent is asked to do.
    pub topic: String,
    /// What only the past sessions know.
    pub facts: Vec<String>,
    /// The whole environment of whatever is started here, but the stand-in's address.
    environment: Vec<(&'static str, OsString)>,
}

impl Stage {
    /// Sets the stage for this agent program.
    pub fn set(machine: &Machine, agent: &Path) -> Result<Self, Fault> {
        let sample = machine.root_dir.join("tests/demo");
        let home = temporary_home()?;
        let project = home.join("linkshelf");
        copy_folder(&sample.join("project"), &project).doing("copying the sample project")?;
        let text = |file: &str| fs::read_to_string(sample.join(file)).doing(format!("reading {file}"));
        let stage = Self {
            log: home.join("requests.jsonl"),
            topic: text("topic.txt")?.trim().to_owned(),
            facts: text("facts.txt")?.lines().map(str::to_owned).collect(),
            environment: environment(machine, &home),
            project,
            home,
        };
        stage.seed_agent(&sample.join("transcripts")).doing("seeding the sample sessions")?;
        stage.seed_pao(agent).doing("writing the demo's configuration")?;
        stage.commit()?;
        Ok(stage)
    }

    /// A command that sees this stage and nothing of the user's own settings.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment.iter().cloned()).current_dir(&self.project);
        command
    }

    /// What an onboarded user has: no dialog about keys or themes, past sessions, but no trust in this folder.
    fn seed_agent(&self, transcripts: &Path) -> std::io::Result<()> {
        let last = &KEY[KEY.len() - 20..];
        let settings = json!({
            "hasCompletedOnboarding": true,
            "hasSeenAutoDefaultNotice": true,
            "customApiKeyResponses": {"approved": [last], "rejected": []},
        });
        fs::write(self.home.join(".claude.json"), format!("{settings:#}\n"))?;
        let project = self.project.to_string_lossy();
        let folder = self.home.join(".claude/projects").join(mangled(&project));
        fs::create_dir_all(&folder)?;
        let today = days_since_1970();
        for file in fs::read_dir(transcripts)? {
            let file = file?;
            let text = rendered(&fs::read_to_string(file.path())?, &project, today);
            fs::write(folder.join(file.file_name()), text)?;
        }
        Ok(())
    }

    fn seed_pao(&self, agent: &Path) -> std::io::Result<()> {
        let folder = self.home.join(".pao");
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        // A JSON string of a path is a TOML string too.
        let command = json!(agent.to_string_lossy());
        fs::write(folder.join("config.toml"), format!("[agent]\ncommand = {command}\n"))
    }

    fn commit(&self) -> Result<(), Fault> {
        let identity =
            ["-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"];
        run(self.command(Path::new("git")).args(["init", "--quiet", "--initial-branch=main"]))?;
        run(self.command(Path::new("git")).args(["add", "--all"]))?;
        run(self.command(Path::new("git")).args(identity).args([
            "commit",
            "--quiet",
            "-m",
            "linkshelf: a shelf for links",
        ]))
    }
}

/// A new private folder. Under `/tmp` where there is one: a socket's path must stay below 104 bytes, and the temporary
/// folder of macOS takes half of them.
fn temporary_home() -> Result<PathBuf, Fault> {
    let parent = Some(PathBuf::from("/tmp")).filter(|tmp| tmp.is_dir()).unwrap_or_else(std::env::temp_dir);
    let parent = parent.canonicalize().doing("finding the temporary folder")?;
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
    let home = parent.join(format!("{PREFIX}{}-{nanos:x}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&home).doing(format!("making {}", home.display()))?;
    for inner in ["tmux", "tmp"] {
        fs::DirBuilder::new().mode(0o700).create(home.join(inner)).doing("making the demo's folders")?;
    }
    Ok(home)
}

fn environment(machine: &Machine, home: &Path) -> Vec<(&'static str, OsString)> {
    let user = std::env::var_os("USER").unwrap_or_else(|| "demo".into());
    let locale = if machine.system == crate::machine::System::Mac { "en_US.UTF-8" } else { "C.UTF-8" };
    vec![
        ("HOME", home.into()),
        ("PATH", machine.path_variable()),
        ("USER", user.clone()),
        ("LOGNAME", user),
        ("SHELL", "/bin/sh".into()),
        ("LANG", locale.into()),
        ("TERM", "xterm-256color".into()),
        ("TMPDIR", home.join("tmp").into()),
        ("TMUX_TMPDIR", home.join("tmux").into()),
        ("PAO_HOME", home.join(".pao").into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("ANTHROPIC_API_KEY", KEY.into()),
        ("DISABLE_AUTOUPDATER", "1".into()),
        ("DISABLE_TELEMETRY", "1".into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
    ]
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// The name Claude Code gives a project's folder of transcripts.
fn mangled(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// A transcript with the project's path and dates that stay recent, however old this checkout is.
fn rendered(transcript: &str, project: &str, today: i64) -> String {
    let path = json!(project).to_string();
    let mut text = transcript.replace("{{PROJECT}}", path.trim_matches('"'));
    while let Some((before, rest)) = text.split_once("{{DAYS_AGO_") {
        let Some((days, after)) = rest.split_once("}}") else { break };
        let days: i64 = days.parse().unwrap_or_default();
        text = format!("{before}{}{after}", date(today - days));
    }
    text
}

fn days_since_1970() -> i64 {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    i64::try_from(seconds / 86_400).unwrap_or_default()
}

/// `YYYY-MM-DD` of a day counted from 1970-01-01, by Howard Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html>). A calendar crate would double what has to be compiled
/// before the first word.
fn date(days: i64) -> String {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn sample() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/demo")
    }

    fn transcripts() -> String {
        let files = fs::read_dir(sample().join("transcripts")).expect("transcripts");
        files.map(|f| fs::read_to_string(f.expect("entry").path()).expect("text")).collect()
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_787), "2026-11-30");
        assert_eq!(date(-1), "1969-12-31");
    }

    #[test]
    fn a_rendered_transcript_is_whole_and_has_no_placeholder_left() {
        let text = rendered(&transcripts(), "/tmp/a \"b\"/linkshelf", 20_787);
        assert!(!text.contains("{{"), "{text}");
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).expect("JSON");
            if record["type"] != "custom-title" {
                assert_eq!(record["cwd"], "/tmp/a \"b\"/linkshelf");
                assert!(record["timestamp"].as_str().is_some_and(|t| t.starts_with("2026-11-")), "{line}");
            }
        }
    }

    #[test]
    fn only_the_transcripts_know_the_facts() {
        let mut known = fs::read_to_string(sample().join("topic.txt")).expect("topic");
        for file in ["README.md", "CLAUDE.md", "app.py", "sessions.py", "tests/test_sessions.py"] {
            known.push_str(&fs::read_to_string(sample().join("project").join(file)).expect("project"));
        }
        let past = transcripts();
        let facts = fs::read_to_string(sample().join("facts.txt")).expect("facts");
        assert!(facts.lines().count() > 0);
        for fact in facts.lines() {
            assert!(past.contains(fact), "no session knows: {fact}");
            assert!(!known.contains(fact), "the project itself knows: {fact}");
        }
    }

    #[test]
    fn a_project_folder_is_named_as_claude_code_names_it() {
        assert_eq!(mangled("/tmp/pao-demo-1/My_App.v2"), "-tmp-pao-demo-1-My-App-v2");
    }
}

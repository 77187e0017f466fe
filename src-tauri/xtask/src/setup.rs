//! What is missing, how it would be installed, and whether that was agreed to. Nothing is installed that was not named
//! first; where nothing can be installed by itself it says what to do by hand.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

use crate::fault::{Context, Fault};
use crate::machine::{Machine, Manager, System};
use crate::pins::CLAUDE_PACKAGE;
use crate::run::{run, say, succeeds};

/// A system program that a command of ours needs.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    /// What people call it.
    pub name: &'static str,
    /// What it is for.
    pub why: &'static str,
    /// Whether it is there.
    pub found: fn(&Machine) -> bool,
    /// Debian packages.
    pub apt: &'static [&'static str],
    /// Homebrew formula; `None` where macOS does without.
    pub brew: Option<&'static str>,
}

/// Runs agents where they can be watched. On macOS Terminal.app does that.
pub const TMUX: Need = Need {
    name: "tmux",
    why: "runs the agent where it can be watched",
    found: |m| m.has("tmux"),
    apt: &["tmux"],
    brew: Some("tmux"),
};

/// Version control.
pub const GIT: Need = Need {
    name: "git",
    why: "knows which folder belongs to which project",
    // On macOS /usr/bin/git is a stub that opens an installer until the developer tools are there.
    found: |m| m.find("git").is_some_and(|git| succeeds(git, &["--version"])),
    apt: &["git", "ca-certificates"],
    brew: Some("git"),
};

/// Compiles the C code of the embedded database.
pub const C_COMPILER: Need = Need {
    name: "C compiler",
    why: "compiles the embedded database",
    found: |m| m.has("cc"),
    apt: &["gcc", "libc6-dev"],
    brew: None,
};

/// What the tests need beyond what a spawn needs.
pub const TEST_NEEDS: [Need; 5] = [
    Need {
        name: "PostgreSQL",
        why: "tests of the postgres source",
        found: |m| postgres_folders(m).iter().any(|folder| folder.join("initdb").exists()),
        apt: &["postgresql", "postgresql-contrib"],
        brew: Some("postgresql@17"),
    },
    Need {
        name: "pgbouncer",
        why: "tests of the postgres source behind a pool",
        found: |m| m.has("pgbouncer") || PathBuf::from("/usr/sbin/pgbouncer").exists(),
        apt: &["pgbouncer"],
        brew: Some("pgbouncer"),
    },
    Need {
        name: "openssl",
        why: "certificates for tests with TLS",
        found: |m| m.has("openssl"),
        apt: &["openssl"],
        brew: Some("openssl"),
    },
    Need {
        name: "gnome-keyring",
        why: "tests of the secret store",
        found: |m| m.system == System::Mac || m.has("gnome-keyring-daemon"),
        apt: &["gnome-keyring"],
        brew: None,
    },
    Need {
        name: "dbus-run-session",
        why: "tests of the secret store",
        found: |m| m.system == System::Mac || m.has("dbus-run-session"),
        apt: &["dbus", "dbus-x11"],
        brew: None,
    },
];

/// Where PostgreSQL's programs may be: Debian and Homebrew keep versioned ones off the path.
fn postgres_folders(machine: &Machine) -> Vec<PathBuf> {
    let mut folders = machine.path.clone();
    for (parent, tail) in
        [("/usr/lib/postgresql", "bin"), ("/opt/homebrew/opt", "bin"), ("/usr/local/opt", "bin")]
    {
        let versions = std::fs::read_dir(parent).into_iter().flatten().flatten();
        folders.extend(
            versions
                .filter(|v| {
                    parent.ends_with("postgresql")
                        || v.file_name().to_string_lossy().starts_with("postgresql")
                })
                .map(|v| v.path().join(tail)),
        );
    }
    folders
}

/// One thing to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it brings and what for, one entry each.
    pub brings: Vec<String>,
    /// Commands, in order.
    pub commands: Vec<Vec<String>>,
    /// Whether nothing can go on without it.
    pub essential: bool,
}

/// What would be done, and what cannot be done for the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// In order.
    pub steps: Vec<Step>,
    /// Sentences that say what to do by hand.
    pub by_hand: Vec<String>,
}

/// How Claude Code gets onto this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Npm {
    /// npm's own prefix is writable.
    Global,
    /// Into this prefix instead, but with the global settings of npm's own prefix, which another prefix loses: a
    /// company's certificates may stand there.
    Prefix { prefix: PathBuf, settings: Option<PathBuf> },
    /// There is no npm.
    Missing,
}

impl Plan {
    /// Adds the system packages that bring what is missing.
    pub fn system(&mut self, missing: &[Need], system: System, manager: Option<Manager>) {
        if missing.is_empty() {
            return;
        }
        let brings = missing.iter().map(|need| format!("{} ({})", need.name, need.why)).collect();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let debian: Vec<String> = missing.iter().flat_map(|n| n.apt).map(ToString::to_string).collect();
        let formulas: Vec<String> = missing.iter().filter_map(|n| n.brew).map(str::to_owned).collect();
        match manager {
            Some(Manager::Brew) => {
                let unbrewed = missing.iter().filter(|n| n.brew.is_none());
                self.by_hand
                    .extend(unbrewed.map(|n| format!("install {}: `xcode-select --install`", n.name)));
                if !formulas.is_empty() {
                    self.steps.push(Step {
                        brings,
                        commands: vec![[words("brew install"), formulas].concat()],
                        essential: true,
                    });
                }
            }
            Some(manager) => {
                let sudo = if manager == Manager::SudoApt { words("sudo") } else { Vec::new() };
                let install =
                    words("env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends");
                let commands =
                    vec![[sudo.clone(), words("apt-get update")].concat(), [sudo, install, debian].concat()];
                self.steps.push(Step { brings, commands, essential: true });
            }
            None if system == System::Mac => {
                let names: Vec<&str> = missing.iter().map(|n| n.name).collect();
                self.by_hand.push(format!(
                    "install {}: get Homebrew from https://brew.sh, then `brew install {}`",
                    names.join(", "),
                    formulas.join(" ")
                ));
            }
            None => {
                let names: Vec<&str> = missing.iter().map(|n| n.name).collect();
                self.by_hand.push(format!(
                    "install {} with this system's package manager (on Debian, as root: `apt-get install {}`)",
                    names.join(", "),
                    debian.join(" ")
                ));
            }
        }
    }

    /// Adds Claude Code.
    pub fn claude(&mut self, version: &str, npm: &Npm) {
        let mut install = vec!["npm".to_owned(), "install".to_owned(), "--global".to_owned()];
        match npm {
            Npm::Global => {}
            Npm::Prefix { prefix, settings } => {
                install.extend(["--prefix".to_owned(), prefix.display().to_string()]);
                install.extend(settings.iter().map(|file| format!("--globalconfig={}", file.display())));
            }
            Npm::Missing => {
                self.by_hand.push(format!(
                    "install Claude Code: get Node.js 22 or newer from https://nodejs.org, then `npm install -g \
                     {CLAUDE_PACKAGE}@{version}`"
                ));
                return;
            }
        }
        // npm 11 runs no install script unasked, and this package's script is what puts the program in place.
        install.push(format!("--allow-scripts={CLAUDE_PACKAGE}"));
        install.push(format!("{CLAUDE_PACKAGE}@{version}"));
        self.steps.push(Step {
            brings: vec![format!("Claude Code {version} (the agent; about 400 MB)")],
            commands: vec![install],
            essential: true,
        });
    }

    /// Adds something of one command that is welcome but not needed.
    pub fn welcome(&mut self, brings: impl Into<String>, command: &[&str]) {
        let command = command.iter().map(ToString::to_string).collect();
        self.steps.push(Step { brings: vec![brings.into()], commands: vec![command], essential: false });
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.by_hand.is_empty()
    }
}

/// Why a plan may be carried out without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Said on the command line.
    Given,
    /// Nobody is there to ask, and this is a build machine's root or root without a terminal.
    Unattended,
    /// Somebody has to be asked.
    Ask,
    /// Nobody can be asked, and nothing says yes.
    Impossible,
}

/// Decides whether to ask. Only where `root_agrees` does an unattended root count as agreement.
pub fn agreement(yes: bool, root_agrees: bool, machine: &Machine) -> Agreement {
    if yes {
        Agreement::Given
    } else if root_agrees && machine.root && (machine.ci || !machine.terminal) {
        Agreement::Unattended
    } else if machine.terminal {
        Agreement::Ask
    } else {
        Agreement::Impossible
    }
}

/// Shows the plan, gets agreement and carries it out.
pub fn carry_out(plan: &Plan, agreement: Agreement, again: &str) -> Result<(), Fault> {
    if plan.is_empty() {
        return Ok(());
    }
    if !plan.steps.is_empty() {
        say("Missing on this machine, and how it would be installed:");
    }
    for step in &plan.steps {
        for brings in &step.brings {
            say(format!("  {brings}"));
        }
        for command in &step.commands {
            say(format!("      {}", command.join(" ")));
        }
    }
    if !plan.by_hand.is_empty() {
        return Err(Fault::environment(
            "something is missing that cannot be installed from here",
            plan.by_hand.join("; "),
        ));
    }
    match agreement {
        Agreement::Given => {}
        Agreement::Unattended => say("Nobody is here to ask and this runs as root: taken as agreed."),
        Agreement::Ask => {
            eprint!("Install now? [y/N] ");
            io::stderr().flush().doing("asking")?;
            let mut answer = String::new();
            io::stdin().read_line(&mut answer).doing("reading the answer")?;
            if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
                return Err(Fault::environment(
                    "nothing was installed",
                    format!("agree, or run `{again} --yes`"),
                ));
            }
        }
        Agreement::Impossible => {
            return Err(Fault::environment(
                "nobody can be asked whether to install what is missing, so nothing was installed",
                format!("agree with `{again} --yes`"),
            ));
        }
    }
    for step in &plan.steps {
        let carried_out = step.commands.iter().try_for_each(|command| match command.as_slice() {
            [program, arguments @ ..] => run(Command::new(program).args(arguments)),
            [] => Ok(()),
        });
        match carried_out {
            Err(fault) if step.essential => return Err(fault),
            Err(fault) => say(format!("going on without: {}", fault.message)),
            Ok(()) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(root: bool, terminal: bool, ci: bool) -> Machine {
        Machine {
            system: System::Linux,
            root,
            terminal,
            ci,
            home: "/home/u".into(),
            path: Vec::new(),
            root_dir: ".".into(),
        }
    }

    fn commands(plan: &Plan) -> Vec<String> {
        plan.steps.iter().flat_map(|step| &step.commands).map(|c| c.join(" ")).collect()
    }

    #[test]
    fn nothing_missing_is_an_empty_plan() {
        let mut plan = Plan::default();
        plan.system(&[], System::Linux, None);
        assert!(plan.is_empty());
        assert_eq!(carry_out(&plan, Agreement::Impossible, "x"), Ok(()));
    }

    #[test]
    fn apt_updates_first_and_goes_through_sudo_where_it_must() {
        let mut plan = Plan::default();
        plan.system(&[TMUX, GIT], System::Linux, Some(Manager::SudoApt));
        assert_eq!(
            commands(&plan),
            [
                "sudo apt-get update",
                "sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tmux git \
                 ca-certificates"
            ]
        );
        assert_eq!(plan.steps[0].brings[0], "tmux (runs the agent where it can be watched)");
    }

    #[test]
    fn homebrew_installs_formulas_and_names_what_it_does_not_have() {
        let mut plan = Plan::default();
        plan.system(&[GIT, C_COMPILER], System::Mac, Some(Manager::Brew));
        assert_eq!(commands(&plan), ["brew install git"]);
        assert_eq!(plan.by_hand, ["install C compiler: `xcode-select --install`"]);
    }

    #[test]
    fn without_a_package_manager_it_says_what_to_do_by_hand() {
        let mut plan = Plan::default();
        plan.system(&[TMUX], System::Linux, None);
        plan.system(&[TMUX], System::Mac, None);
        plan.claude("1.2.3", &Npm::Missing);
        assert!(plan.steps.is_empty());
        assert!(plan.by_hand[0].contains("apt-get install tmux"));
        assert!(plan.by_hand[1].contains("brew.sh"));
        assert!(plan.by_hand[2].contains("npm install -g @anthropic-ai/claude-code@1.2.3"));
        let fault = carry_out(&plan, Agreement::Given, "cargo xtask spawn").expect_err("by hand");
        assert_eq!(fault.code, 4);
    }

    #[test]
    fn claude_code_goes_where_the_user_may_write() {
        let mut plan = Plan::default();
        plan.claude("1.2.3", &Npm::Global);
        let own = Npm::Prefix { prefix: "/home/u/.local".into(), settings: Some("/usr/etc/npmrc".into()) };
        plan.claude("1.2.3", &own);
        let allow = "--allow-scripts=@anthropic-ai/claude-code @anthropic-ai/claude-code@1.2.3";
        assert_eq!(
            commands(&plan),
            [
                format!("npm install --global {allow}"),
                format!("npm install --global --prefix /home/u/.local --globalconfig=/usr/etc/npmrc {allow}")
            ]
        );
    }

    #[test]
    fn nobody_to_ask_is_a_refusal_unless_root_tests_unattended() {
        assert_eq!(agreement(true, false, &machine(false, false, false)), Agreement::Given);
        assert_eq!(agreement(false, false, &machine(true, false, true)), Agreement::Impossible);
        assert_eq!(agreement(false, true, &machine(true, false, false)), Agreement::Unattended);
        assert_eq!(agreement(false, true, &machine(true, true, true)), Agreement::Unattended);
        assert_eq!(agreement(false, true, &machine(true, true, false)), Agreement::Ask);
        assert_eq!(agreement(false, true, &machine(false, false, true)), Agreement::Impossible);
    }

    #[test]
    fn a_refusal_installs_nothing_and_ends_with_the_code_for_the_environment() {
        let dir = tempfile::tempdir().expect("folder");
        let mark = dir.path().join("mark");
        let mut plan = Plan::default();
        plan.welcome("a mark", &["touch", &mark.to_string_lossy()]);
        let fault = carry_out(&plan, Agreement::Impossible, "cargo xtask spawn").expect_err("refused");
        assert_eq!(fault.code, 4);
        assert!(fault.next.contains("cargo xtask spawn --yes"));
        assert!(!mark.exists());
        plan.welcome("what cannot be had", &["false"]);
        carry_out(&plan, Agreement::Given, "").expect("goes on without what is only welcome");
        assert!(mark.exists());
    }
}

//! The command `pao`: reads the command line, calls one verb of the core, shows what came of it.
//!
//! Verbs that nobody types (`hook`, `run`, `sweep`) are told apart before anything else happens: a hook has milliseconds.

mod args;
mod ask;
mod commands;
mod editor;
mod face;
mod interrupt;
mod render;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap::error::ErrorKind;
use pao_core::config::Config;
use pao_core::host::{Host, probe};
use pao_core::life::sweep::sweep;
use pao_core::life::tell;
use pao_core::registry::Registry;
use pao_core::source::history::{IngestError, refresh};
use pao_core::spawn::launch;
use pao_core::{Error, hook};
use render::Screen;
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    let argv: Vec<OsString> = std::env::args_os().collect();
    let screen = Screen { json: wants_json(&argv) };
    let done = match argv.get(1).and_then(|verb| verb.to_str()) {
        Some("hook") => return answer_hook(&argv[2..]),
        Some("run") => become_agent(&argv[2..]),
        Some(hook::SWEEP) => sweep_up(),
        Some(hook::DELIVER) => tell_queued(&argv[2..]),
        Some(probe::VERB) => answer_probe(&argv[2..], screen),
        _ => typed(&argv, screen),
    };
    ExitCode::from(match done {
        Ok(code) => code,
        Err(error) => {
            screen.error(&error);
            error.kind.exit_code()
        }
    })
}

/// What the host agent's hook calls: takes the event in, prints what there is to hand over, ends well whatever
/// happens. No argument parser and no second thread: the user waits for this many times a session.
fn answer_hook(args: &[OsString]) -> ExitCode {
    let (agent, kind) = match args {
        [flag, agent, second, kind, ..] if flag == "--agent" && second == "--kind" => {
            (agent.to_str(), kind.to_str())
        }
        [flag, agent, ..] if flag == "--agent" => (agent.to_str(), None),
        _ => (None, None),
    };
    if let (Some(agent), Ok(host), Ok(runtime)) = (agent, Host::current(), single()) {
        let answer = runtime.block_on(hook::answer(&host, agent, kind, std::io::stdin().lock()));
        if let Some(text) = answer.stdout {
            // A reader that went away is the host agent's affair.
            let printed = Screen { json: true }.raw(text);
            if printed.is_ok() {
                answer.handed.into_iter().for_each(hook::next::Taken::settle);
            }
        }
    }
    ExitCode::SUCCESS
}

/// What the launch script ends in: this process becomes the agent. Returns only when that fails.
fn become_agent(args: &[OsString]) -> Result<u8, Error> {
    let [id] = args else {
        return Err(Error::user("pao run is for pao itself", "see `pao --help`"));
    };
    let host = Host::current()?;
    Err(single()?.block_on(async {
        let file = host.registry_file();
        // Whoever has something to become was written into a registry before; none is made for a slip of the finger.
        let opened = if file.exists() { Registry::open(&file).await } else { Registry::in_memory().await };
        match opened {
            Ok(registry) => launch::run(&host, &registry, &id.to_string_lossy()).await,
            Err(error) => error.into(),
        }
    }))
}

/// How long what runs in the background waits for another writer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the last hook of a session starts: takes back what the session was lent, and indexes what was said in it, so
/// that the next one knows.
fn sweep_up() -> Result<u8, Error> {
    let host = Host::current()?;
    single()?.block_on(async {
        let Ok(registry) = Registry::open_as_is(&host.registry_file(), PATIENCE).await else { return };
        sweep(&host, &registry).await;
        registry.close().await;
    });
    // Where everything of ours was removed meanwhile nothing is made anew.
    if !host.registry_file().exists() {
        return Ok(0);
    }
    let Some((_, history)) = Config::load(&host)?.history().map(|(name, history)| (name.to_owned(), history))
    else {
        return Ok(0);
    };
    // Another process that is at it already does the same work.
    match refresh(&host, &history, &mut |_| {}, &CancellationToken::new()) {
        Ok(_) | Err(IngestError::Busy) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// What a hook starts when its agent is idle and a text is queued for it.
fn tell_queued(args: &[OsString]) -> Result<u8, Error> {
    let [agent] = args else {
        return Err(Error::user("pao deliver is for pao itself", "see `pao tell --help`"));
    };
    let host = Host::current()?;
    let file = host.registry_file();
    if !file.exists() {
        return Ok(0);
    }
    single()?.block_on(async {
        let registry = Registry::open_as_is(&file, PATIENCE).await?;
        let told = tell::deliver(&host, &registry, &agent.to_string_lossy(), tell::PATIENCE).await;
        registry.close().await;
        told.map(|()| 0)
    })
}

/// A runtime of this one thread, for what must be small.
fn single() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| {
        Error::environment(format!("no event loop could be started: {e}"), "close some programs")
    })
}

/// One small question of our own to a second process; see [`probe`].
fn answer_probe(args: &[OsString], screen: Screen) -> Result<u8, Error> {
    let host = Host::current()?;
    screen.raw(single()?.block_on(probe::answer(&host, args))?)?;
    Ok(0)
}

/// Whether `--json` stands anywhere before `--`; it must be known even where the command line does not parse.
fn wants_json(argv: &[OsString]) -> bool {
    argv.iter().skip(1).take_while(|a| *a != "--").any(|a| a == "--json")
}

fn typed(argv: &[OsString], screen: Screen) -> Result<u8, Error> {
    if commands::completions::answered(argv) {
        return Ok(0);
    }
    let cli = match args::Cli::try_parse_from(argv) {
        Ok(cli) => cli,
        Err(e) => return misread(&e, screen),
    };
    let host = Host::current()?;
    log(&host);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().map_err(|e| {
            Error::environment(format!("no threads could be started: {e}"), "close some programs")
        })?;
    let done = runtime.block_on(commands::run(cli.verb, host, screen));
    // A source that ignored its deadline may still hold a thread; nothing of it is wanted any more.
    runtime.shutdown_background();
    done
}

/// Help and version are answers; all else is wrong use.
fn misread(error: &clap::Error, screen: Screen) -> Result<u8, Error> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            screen.say(&error.render().ansi().to_string())?;
            Ok(0)
        }
        _ if screen.json => {
            let text = error.render().to_string();
            let message = text.split("\n\n").next().unwrap_or_default();
            let message = message.strip_prefix("error: ").unwrap_or(message).trim();
            let message = match error.kind() {
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
                    "no command was given"
                }
                _ => message,
            };
            Err(Error::user(message, "see the command's --help"))
        }
        _ => {
            screen.aside(error.render().ansi().to_string().trim_end());
            Ok(pao_core::Kind::User.exit_code())
        }
    }
}

/// What happens inside, to standard error, where `PAO_LOG` asks for it.
fn log(host: &Host) {
    let Some(filter) = host.var("PAO_LOG") else { return };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
}

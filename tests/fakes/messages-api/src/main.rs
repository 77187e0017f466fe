//! The stand-in as a program, for the demo and for trials by hand.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use messages_api::{Options, Script, Standin};

/// A scripted stand-in of the Anthropic Messages, `OpenAI` Responses and Gemini APIs on 127.0.0.1.
///
/// Point an agent at it with `ANTHROPIC_BASE_URL`, `GOOGLE_GEMINI_BASE_URL` or a provider's `base_url`. While it runs, `GET /__standin__/requests` and `/__standin__/count`
/// show what arrived, `POST /__standin__/script` replaces the script, `POST /__standin__/reset` starts over.
#[derive(Parser)]
struct Arguments {
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Write the port here once it listens
    #[arg(long)]
    port_file: Option<PathBuf>,
    /// Append every request here as one JSON line, credentials masked
    #[arg(long)]
    log: Option<PathBuf>,
    /// What to say: JSON with "rules", "queue" and "default"; read again when it changes
    #[arg(long)]
    script: Option<PathBuf>,
    /// What to say when there is no script
    #[arg(long, default_value = "ok")]
    default: String,
    /// End when standard input closes, so that it never outlives who started it
    #[arg(long)]
    while_stdin_open: bool,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("messages-api: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> std::io::Result<()> {
    let standin = Standin::start_with(Options {
        port: arguments.port,
        log: arguments.log,
        script_file: arguments.script,
        script: Script::saying(arguments.default),
    })?;
    if let Some(file) = arguments.port_file {
        publish(&file, standin.port())?;
    }
    println!("listening on {}", standin.url());
    std::io::stdout().flush()?;
    if arguments.while_stdin_open {
        std::io::stdin().read_to_end(&mut Vec::new())?;
        return Ok(());
    }
    loop {
        std::thread::park();
    }
}

/// Whoever waits for the file must never see it half-written.
fn publish(file: &Path, port: u16) -> std::io::Result<()> {
    let half = file.with_extension("half");
    std::fs::write(&half, format!("{port}\n"))?;
    std::fs::rename(&half, file)
}

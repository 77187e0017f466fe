//! `pao logs`: what is said in an agent's conversation.

use pao_core::host::Host;
use pao_core::life::logs::{Line, Log, transcript};
use pao_core::life::state_of;
use pao_core::life::watch::Changes;
use pao_core::registry::agents::Agent;
use pao_core::wire::look::LogLine;
use pao_core::{Context, Error};

use crate::args::look::Logs;
use crate::interrupt::Interrupt;
use crate::render::{GOOD, QUIET, STRONG, Screen, clean_lines, paint};

pub async fn run(host: Host, screen: Screen, what: Logs) -> Result<u8, Error> {
    let context = Context::open_to_look(host).await?;
    screen.unreadable(&context.registry);
    let agent = context.registry.named(&what.agent).await?;
    super::say_which(screen, &context, &what.agent, &agent).await?;
    let count = usize::try_from(what.count).unwrap_or(usize::MAX);
    let opened = match transcript(&context.host, &agent) {
        Some(path) => Some(Log::tail(&path, count).map_err(|e| unreadable(&path, &e))?),
        None if what.follow && agent.state.live() => None,
        None => return Err(nothing(&agent)),
    };
    let (log, lines) = opened.map_or((None, Vec::new()), |(log, lines)| (Some(log), lines));
    if what.follow {
        show(&context.host, screen, &lines, true)?;
        return follow(&context, screen, &agent, log).await;
    }
    show(&context.host, screen, &lines, false)?;
    Ok(0)
}

/// Shows what is said from now on, through every change of the conversation, until the agent has ended.
async fn follow(context: &Context, screen: Screen, agent: &Agent, log: Option<Log>) -> Result<u8, Error> {
    let interrupt = Interrupt::of_viewer(screen)?;
    let mut changes = Changes::new();
    changes.also(context.host.pao_home.clone());
    let mut log = log;
    loop {
        if let Some(folder) = log.as_ref().and_then(|log| log.path.parent()) {
            changes.also(folder.to_path_buf());
        }
        tokio::select! {
            () = changes.next() => {}
            () = tokio::time::sleep(std::time::Duration::from_secs(2)) => {}
            () = interrupt.cancel.cancelled() => return Ok(0),
        }
        let row = state_of(context, &agent.id).await?;
        if let Some(log) = &mut log {
            let news = log.news().map_err(|e| unreadable(&log.path, &e))?;
            show(&context.host, screen, &news, true)?;
        }
        let Some(row) = row.filter(|row| row.state.live()) else { return Ok(0) };
        let current = transcript(&context.host, &row);
        if let Some(path) = current.filter(|path| log.as_ref().is_none_or(|log| log.path != *path)) {
            let (next, lines) = Log::tail(&path, usize::MAX).map_err(|e| unreadable(&path, &e))?;
            if log.is_some() {
                screen.aside(&paint(QUIET, "another conversation begins"));
            }
            show(&context.host, screen, &lines, true)?;
            log = Some(next);
        }
    }
}

fn show(host: &Host, screen: Screen, lines: &[Line], as_lines: bool) -> Result<(), Error> {
    if screen.json {
        if as_lines {
            return lines.iter().try_for_each(|line| screen.line(&LogLine::from(line)));
        }
        return screen.document(&lines.iter().map(LogLine::from).collect::<Vec<_>>());
    }
    lines.iter().try_for_each(|line| {
        let at = line.at.map(|at| host.local(at).format("%Y-%m-%d %H:%M").to_string()).unwrap_or_default();
        let style = if line.who == "you" { GOOD } else { STRONG };
        let text = clean_lines(line.text.trim_end()).replace('\n', "\n  ");
        screen.say(&format!("{} {}\n  {text}\n", paint(style, line.who), paint(QUIET, &at)))
    })
}

fn nothing(agent: &Agent) -> Error {
    let next = if agent.state.live() {
        "wait for its first turn, or use --follow"
    } else {
        "see `pao agents --all`"
    };
    Error::user(format!("{} has no transcript (any more)", agent.name), next)
}

fn unreadable(path: &std::path::Path, error: &std::io::Error) -> Error {
    Error::environment(format!("{} cannot be read: {error}", path.display()), "make it readable for you")
}

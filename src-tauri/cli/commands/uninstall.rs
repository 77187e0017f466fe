//! `pao uninstall`: lists every trace, asks, removes.

use pao_core::host::Host;
use pao_core::uninstall::{Plan, app_runs, plan, remove, still_running};
use pao_core::{Error, wire};
use tokio_util::sync::CancellationToken;

use super::undo::outcomes;
use super::waiting;
use crate::args::Uninstall;
use crate::ask;
use crate::render::{Screen, bullets};

pub async fn run(host: &Host, screen: Screen, what: Uninstall) -> Result<u8, Error> {
    let Plan { traces, running, app, paused } = waiting(host, screen, plan(host)).await?;
    if traces.is_empty() {
        if screen.json {
            screen.document(&Vec::<wire::Item>::new())?;
        } else {
            screen.say("no trace of pao was found\n")?;
        }
        return Ok(0);
    }
    let list = bullets(
        "This is what pao has left on this machine, and what is removed:",
        traces.iter().map(|trace| trace.what.as_str()),
    );
    let list = if paused.is_empty() {
        list
    } else {
        let heading = "These are paused, and pao cannot bring them back afterwards:";
        list + &bullets(heading, paused.iter().map(String::as_str))
    };
    if what.dry_run {
        if screen.json {
            let item = |what: &String| wire::Item {
                what: what.clone(),
                state: "would be removed".into(),
                gone: false,
            };
            screen.document(&traces.iter().map(|trace| item(&trace.what)).collect::<Vec<_>>())?;
        } else {
            screen.say(&list)?;
            if !running.is_empty() {
                screen.say(&format!("Still at work, and only ended with --end: {}\n", running.join(", ")))?;
            }
        }
        return Ok(0);
    }
    if !running.is_empty() && !what.end {
        let mut error = still_running(&running);
        let yes = if what.yes { " --yes" } else { "" };
        error.next = format!("end them yourself, or let pao end them: pao uninstall --end{yes}");
        return Err(error);
    }
    if app && !what.end {
        return Err(app_runs());
    }
    if !what.yes {
        screen.aside(&list);
        match ask::yes("Remove all of it?", &CancellationToken::new()) {
            Some(true) => {}
            Some(false) => {
                if screen.json {
                    screen.document(&Vec::<wire::Item>::new())?;
                } else {
                    screen.say("nothing was removed\n")?;
                }
                return Ok(0);
            }
            None => {
                return Err(Error::user(
                    "there is nobody to ask",
                    "run it in a terminal, or agree with --yes",
                ));
            }
        }
    }
    let removed = remove(host, &traces, what.end).await?;
    if screen.json {
        let item =
            |r: pao_core::uninstall::Removed| wire::Item { what: r.what, state: r.outcome, gone: r.gone };
        screen.document(&removed.into_iter().map(item).collect::<Vec<_>>())?;
    } else {
        screen.say(&outcomes(removed.iter().map(|r| (&*r.what, &*r.outcome, r.gone))))?;
        if what.yes && !paused.is_empty() {
            let heading = "These were paused; their conversations are kept:";
            screen.say(&bullets(heading, paused.iter().map(String::as_str)))?;
        }
    }
    Ok(0)
}

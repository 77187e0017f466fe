//! `pao agent show`: all that is known of one agent.

use std::fmt::Write;

use pao_core::host::Host;
use pao_core::life::account::{Account, account};
use pao_core::{Context, Error, wire};

use super::agents;
use crate::args::look::Agent;
use crate::render::{QUIET, STRONG, Screen, Table, WARNING, clean, clean_lines, count, paint};

pub async fn run(host: Host, screen: Screen, what: Agent) -> Result<u8, Error> {
    let Agent::Show { agent } = what;
    let context = Context::open_to_look(host).await?;
    screen.unreadable(&context.registry);
    let account = account(&context, &agent).await?;
    super::say_which(screen, &context, &agent, &account.agent).await?;
    if screen.json {
        screen.document(&wire::look::Account::new(&account))?;
    } else {
        screen.say(&text(&context.host, &account))?;
    }
    Ok(0)
}

fn text(host: &Host, account: &Account) -> String {
    let row = &account.agent;
    let mut table = Table::plain();
    let mut fact = |name: &str, value: String| table.row([paint(QUIET, name), value]);
    let evidence = row.state_by.as_deref().map(|by| format!(" ({})", clean(by))).unwrap_or_default();
    // The reason may begin with the very state.
    let reason = account
        .reason
        .strip_prefix(row.state.name())
        .map_or_else(|| format!(", {}", account.reason), str::to_string);
    fact("state", agents::state(row) + &reason + &evidence);
    if let Some(needs) = &row.needs {
        fact("needs", paint(WARNING, &clean(needs)));
    }
    fact("folder", clean(&host.display(&row.folder)));
    if let Some(origin) = &row.origin {
        fact("from", clean(&origin.told()));
    }
    fact("prompt", row.prompt.as_deref().map_or("none".into(), clean));
    if row.prompt.as_deref() != Some(&row.query) {
        fact("asked", clean(&row.query));
    }
    let version = row.version.as_deref().unwrap_or("version unknown");
    fact("agent", format!("{} {}, permission {}", row.host_agent, clean(version), row.permission.name()));
    if let Some(process) = row.process.filter(|_| row.state.live()) {
        fact("process", process.pid.to_string());
    }
    if let Some(attach) = &account.attach {
        fact("terminal", clean(attach));
    } else if let Some(terminal) = &row.terminal {
        fact("terminal", clean(terminal));
    }
    fact("briefing", briefing_fact(host, account));
    let mut text = format!("{}  {}\n{table}", paint(STRONG, &clean(&row.name)), paint(QUIET, &row.id));

    let states = account.states.iter().map(|turn| {
        let needs = turn.needs.as_deref().map(clean).unwrap_or_default();
        [
            stamp(host, turn.at),
            turn.state.name().into(),
            needs,
            turn.by.as_deref().map(clean).unwrap_or_default(),
        ]
    });
    section(&mut text, "States", states.collect());
    let conversations = account.conversations.iter().map(|c| {
        let after = c.parent.as_deref().map(|parent| format!("after {}", clean(parent))).unwrap_or_default();
        [stamp(host, c.at), clean(&c.source), clean(&c.session), after]
    });
    section(&mut text, "Conversations", conversations.collect());
    let messages = account
        .messages
        .iter()
        .map(|m| [stamp(host, m.at), m.fate.name().into(), clean(&m.text), String::new()]);
    section(&mut text, "Told", messages.collect());
    let checkpoints = account.checkpoints.iter().map(|c| {
        [stamp(host, c.at), clean(&c.id), c.message.as_deref().map(clean).unwrap_or_default(), String::new()]
    });
    section(&mut text, "Checkpoints", checkpoints.collect());
    let written =
        account.written.iter().map(|what| [clean(what), String::new(), String::new(), String::new()]);
    section(&mut text, "Written for it", written.collect());
    if let Some(handed) = &account.handed_over {
        let _ =
            write!(text, "\n{}\n{}", paint(STRONG, "Handed over at its last return"), clean_lines(handed));
    }
    if let Some(briefing) = &account.briefing.text {
        let _ = write!(text, "\n{}\n{}", paint(STRONG, "Briefing"), clean_lines(briefing));
    }
    text
}

fn briefing_fact(host: &Host, account: &Account) -> String {
    let place = clean(&host.display(&account.briefing.path));
    let sources: Vec<String> =
        account.briefing.sources.iter().map(|(name, lines)| format!("{} {lines}", clean(name))).collect();
    let from =
        if sources.is_empty() { String::new() } else { format!("; lines by source: {}", sources.join(", ")) };
    match (&account.briefing.text, account.briefing.as_delivered, &account.agent.briefing_hash) {
        (None, _, Some(hash)) => format!("gone from {place}; its SHA-256 was {hash}"),
        (None, _, None) => "none".into(),
        (Some(_), true, _) => {
            let lines = count(account.briefing.sources.values().sum::<usize>(), "line", "lines");
            format!("as delivered, {lines}, about {} tokens{from}", account.briefing.tokens)
        }
        (Some(_), false, _) => paint(WARNING, &format!("{place} is not what was delivered any more")) + &from,
    }
}

fn stamp(host: &Host, at: chrono::DateTime<chrono::Utc>) -> String {
    paint(QUIET, &host.local(at).format("%Y-%m-%d %H:%M:%S").to_string())
}

fn section(text: &mut String, heading: &str, rows: Vec<[String; 4]>) {
    if rows.is_empty() {
        return;
    }
    let mut table = Table::plain();
    for row in rows {
        table.row(row.map(|cell| cell));
    }
    let _ = write!(text, "\n{}\n{table}", paint(STRONG, heading));
}

//! `pao checkpoint`: where an agent stood, kept and looked at again.

use std::fmt::Write as _;

use pao_core::Context;
use pao_core::host::Host;
use pao_core::life::checkpoint::{self, Compared};
use pao_core::life::repository::{Between, Differs};
use pao_core::{Error, wire};

use crate::args::{Checkpoint, Checkpoints};
use crate::render::{GOOD, QUIET, STRONG, Screen, Table, WARNING, age, bullets, clean, count, paint};

pub async fn run(host: Host, screen: Screen, what: Checkpoint) -> Result<u8, Error> {
    let looks = matches!(
        what.what,
        Some(Checkpoints::List { .. } | Checkpoints::Show { .. } | Checkpoints::Compare { .. })
    );
    let context = super::context(host, screen, looks).await?;
    screen.unreadable(&context.registry);
    let registry = &context.registry;
    match what.what {
        None => make(&context, screen, &what.agent.unwrap_or_default(), what.message.as_deref()).await?,
        Some(Checkpoints::List { agent }) => {
            let agent = match &agent {
                Some(word) => Some(context.registry.named(word).await?.id),
                None => None,
            };
            list(&context, screen, &checkpoint::list(registry, agent.as_deref()).await?)?;
        }
        Some(Checkpoints::Show { id }) => {
            let kept = checkpoint::find(registry, &id).await?;
            if screen.json {
                screen.document(&wire::rest::Checkpoint::from(&kept))?;
            } else {
                screen.say(&whole(&context.host, &kept))?;
            }
        }
        Some(Checkpoints::Compare { first, second }) => {
            let (first, second) =
                (checkpoint::find(registry, &first).await?, checkpoint::find(registry, &second).await?);
            let found = checkpoint::compare(&first, &second).await;
            if screen.json {
                screen.document(&wire::rest::Compared::from(&found))?;
            } else {
                screen.say(&compared(&found))?;
            }
        }
        Some(Checkpoints::Remove { id }) => {
            let removed = checkpoint::remove(registry, &id).await?;
            if screen.json {
                screen.document(&wire::rest::Checkpoint::from(&removed))?;
            } else {
                screen.say(&format!("{} checkpoint {} removed\n", paint(GOOD, "✓"), removed.id))?;
            }
        }
    }
    Ok(0)
}

async fn make(context: &Context, screen: Screen, word: &str, message: Option<&str>) -> Result<(), Error> {
    let agent = context.registry.named(word).await?;
    let kept = checkpoint::make(&context.host, &context.registry, &agent, message).await?;
    if screen.json {
        return screen.document(&wire::rest::Checkpoint::from(&kept));
    }
    let (id, name) = (paint(STRONG, &kept.id), clean(&agent.name));
    let what = kept.message.clone().unwrap_or_else(|| kept.data.summary());
    screen.say(&format!("{} checkpoint {id} of {name}: {}\n", paint(GOOD, "✓"), clean(&what)))
}

fn list(context: &Context, screen: Screen, kept: &[checkpoint::Checkpoint]) -> Result<(), Error> {
    if screen.json {
        return screen.document(&kept.iter().map(wire::rest::Checkpoint::from).collect::<Vec<_>>());
    }
    if kept.is_empty() {
        return screen.say("no checkpoints\n");
    }
    let mut table = Table::new(&["ID", "AGENT", "AGE", "COMMIT", "WHAT"]);
    for one in kept {
        let head = one.data.git.as_ref().and_then(|git| git.head.clone()).unwrap_or_default();
        table.row([
            paint(STRONG, &one.id),
            clean(&one.data.name),
            age(context.host.now(), one.at),
            clean(&head.chars().take(7).collect::<String>()),
            clean(&one.message.clone().unwrap_or_else(|| one.data.summary())),
        ]);
    }
    screen.say(&table.to_string())
}

fn whole(host: &Host, kept: &checkpoint::Checkpoint) -> String {
    let (data, said) = (&kept.data, &kept.data.said);
    let mut text = format!("{} of {}\n", paint(STRONG, &kept.id), clean(&data.name));
    let mut row = |word: &str, what: &str| {
        if !what.is_empty() {
            let _ = writeln!(text, "  {} {}", paint(QUIET, &format!("{word:<10}")), clean(what));
        }
    };
    row("made", &host.local(kept.at).format("%Y-%m-%d %H:%M:%S").to_string());
    row("message", kept.message.as_deref().unwrap_or_default());
    row("folder", &host.display(&data.folder));
    row(
        "state",
        &[Some(&data.state), data.needs.as_ref()]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join(": "),
    );
    row("task", data.task.as_deref().unwrap_or_default());
    row("agent", &[&*data.host_agent, data.version.as_deref().unwrap_or_default()].join(" "));
    row("session", data.session.as_deref().unwrap_or_default());
    if let Some(place) = &data.transcript {
        row("transcript", &format!("{}, byte {}", host.display(&place.path), place.position));
    }
    if let Some(git) = &data.git {
        row("branch", git.branch.as_deref().unwrap_or("(none)"));
        row("commit", git.head.as_deref().unwrap_or("(none yet)"));
        let upstream = git.upstream.as_deref().unwrap_or_default();
        match git.ahead_behind {
            Some((ahead, behind)) => row("upstream", &format!("{upstream}, {ahead} ahead, {behind} behind")),
            None => row("upstream", upstream),
        }
        row(
            "changes",
            &format!("{} staged, {} unstaged, {} untracked", git.staged, git.unstaged, git.untracked),
        );
    }
    let mut list = |heading: &str, items: &[String]| {
        if !items.is_empty() {
            text += &bullets(heading, items.iter().map(String::as_str));
        }
    };
    if let Some(git) = &data.git {
        let mut dirty: Vec<String> =
            git.dirty.iter().map(|d| format!("{} {}{}", d.status, d.path, lines(d.lines))).collect();
        if git.more > 0 {
            dirty.push(format!("and {} more", git.more));
        }
        list("Not committed", &dirty);
    }
    list("Last prompts", &said.last_prompts);
    list("To do", &said.todos);
    list("Decided", &said.decisions);
    list("Left open", &said.open_ends);
    list("Files it changed", &said.files);
    list("Errors", &said.errors);
    list("Last reply", said.last_reply.as_slice());
    text
}

fn lines(count: Option<(u64, u64)>) -> String {
    count.map(|(added, removed)| format!(" (+{added} −{removed})")).unwrap_or_default()
}

fn compared(found: &Compared) -> String {
    let mut text = String::new();
    if let Some((then, now)) = &found.branches {
        let name = |branch: &Option<String>| branch.clone().unwrap_or_else(|| "(none)".into());
        text += &bullets("Branch", [format!("{} → {}", name(then), name(now))].iter().map(String::as_str));
    }
    if let Some(between) = &found.between {
        text += &commits(between);
    }
    let mut list = |heading: &str, items: &[String]| {
        if !items.is_empty() {
            text += &bullets(heading, items.iter().map(String::as_str));
        }
    };
    list("Newly not committed", &found.dirty);
    list("Prompts since", &found.prompts);
    list("To-dos done", &found.todos_done);
    list("To-dos new", &found.todos_new);
    list("Files the agent changed since", &found.files_touched);
    for note in &found.notes {
        text = text + &paint(WARNING, "! ") + &clean(note) + "\n";
    }
    if text.is_empty() { "nothing came between them\n".into() } else { text }
}

fn commits(between: &Between) -> String {
    let mut commits: Vec<String> =
        between.commits.iter().map(|c| format!("{} {} ({})", c.id, c.subject, c.author)).collect();
    if between.more_commits > 0 {
        commits.push(format!("and {} more", between.more_commits));
    }
    let file = |f: &Differs| format!("{}{}", f.path, lines(f.lines));
    let mut files: Vec<String> = between.files.iter().map(file).collect();
    if between.more_files > 0 {
        files.push(format!("and {}", count(between.more_files, "more file", "more files")));
    }
    let mut text = String::new();
    if !commits.is_empty() {
        text += &bullets("Commits since", commits.iter().map(String::as_str));
    }
    if !files.is_empty() {
        text += &bullets("Files they changed", files.iter().map(String::as_str));
    }
    text
}

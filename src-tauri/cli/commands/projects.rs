//! `pao projects`: where there is work, in what state, and who is at it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pao_core::config::Config;
use pao_core::host::Host;
use pao_core::life::watch as agents;
use pao_core::projects::{self, Agents, Asked, Look, Project, Proposal, Root, RootState, Seen};
use pao_core::registry::Registry;
use pao_core::registry::agents::Agent;
use pao_core::{Error, wire};
use tokio::sync::mpsc;

use super::agents::draw;
use super::waiting;
use crate::args::projects::{Projects, ProjectsVerb};
use crate::interrupt::Interrupt;
use crate::render::{BAD, GOOD, QUIET, STRONG, Screen, Table, WARNING, age, clean, count, paint};

/// Projects that are listed without `--all`, and of which git is asked.
const LISTED: usize = 30;
/// How long git may take for all of them.
const PATIENCE: Duration = Duration::from_secs(4);

pub async fn run(host: Host, screen: Screen, what: Projects) -> Result<u8, Error> {
    match &what.what {
        Some(ProjectsVerb::Add { folder }) => add(&host, screen, folder),
        Some(ProjectsVerb::Remove { folder }) => remove(&host, screen, folder),
        None if what.watch => watch(&host, screen, &what).await,
        None => list(&host, screen, &what).await,
    }
}

async fn list(host: &Host, screen: Screen, what: &Projects) -> Result<u8, Error> {
    let config = Config::load(host)?;
    // Without the registry there is still everything else.
    let agents = match Registry::open_to_ask(&host.registry_file()).await {
        Ok(registry) => {
            let agents = registry.agents().await.unwrap_or_default();
            screen.unreadable(&registry);
            registry.close().await;
            agents
        }
        Err(_) => Vec::new(),
    };
    let listed = if what.all { usize::MAX } else { LISTED };
    let asked = Asked { changed: listed, within: PATIENCE };
    let look = projects::look(host, &config, &agents, asked).await;
    if screen.json {
        screen.document(&wire::projects::Projects::from(&look))?;
        return Ok(0);
    }
    screen.say(&table(host, &look.projects, listed))?;
    for line in footer(host, &look, listed) {
        screen.aside(&line);
    }
    Ok(0)
}

/// Shows every change until Ctrl-C.
async fn watch(host: &Host, screen: Screen, what: &Projects) -> Result<u8, Error> {
    let config = Config::load(host)?;
    let registry = waiting(host, screen, Registry::open(&host.registry_file())).await?;
    let interrupt = Interrupt::of_viewer(screen)?;
    let mut at_work = agents::Watch::new(host, &registry);
    let (tell, mut told) = mpsc::channel(1);
    // One future for all of the time: given up half-way, it would lose a change.
    let agents = async {
        loop {
            let agents = at_work.next().await?;
            if tell.send(agents).await.is_err() {
                return Ok::<(), Error>(());
            }
        }
    };
    let mut agents = std::pin::pin!(agents);
    let mut watch = projects::Watch::start(host, &config);
    let listed = if what.all { usize::MAX } else { LISTED };
    let (mut all, mut last, mut said) = (Vec::new(), Seen::default(), BTreeSet::new());
    let mut seen = None;
    loop {
        let came = tokio::select! {
            ended = &mut agents => return ended.map(|()| 0),
            Some(agents) = told.recv() => Came::Agents(agents),
            now = watch.next() => now.map_or(Came::Broken, Came::Seen),
            () = interrupt.cancel.cancelled() => break,
        };
        match came {
            Came::Agents(agents) => all = agents,
            Came::Seen(now) => seen = Some(now),
            Came::Broken => watch = projects::Watch::start(host, &Config::load(host)?),
        }
        let Some(seen) = &seen else { continue };
        let mut now = Seen::clone(seen);
        projects::with_agents(&mut now.projects, &all, host.now());
        projects::sort(&mut now.projects);
        watch.show(now.projects.iter().take(listed).map(|project| project.folder.clone()));
        if screen.json {
            for event in projects::events(&last, &now) {
                screen.line(&wire::projects::Changed::new(&event, host.now()))?;
            }
        } else if now != last {
            let table = table(host, &now.projects, listed);
            let notes = now.roots.iter().filter_map(|root| note(host, root)).map(|line| line + "\n");
            draw(screen, &(table + &notes.collect::<String>()))?;
        }
        for line in limits(host, &now) {
            if said.insert(line.clone()) {
                screen.aside(&line);
            }
        }
        last = now;
    }
    drop(watch);
    // The registry closes with the process: what watches it borrows it to the end.
    Ok(0)
}

/// What there was to wait for.
enum Came {
    Agents(Vec<Agent>),
    Seen(Arc<Seen>),
    Broken,
}

/// What cannot be watched, and how it could be.
fn limits(host: &Host, seen: &Seen) -> Vec<String> {
    let mut lines = Vec::new();
    for root in &seen.roots {
        if let RootState::Polled { next, .. } = &root.state
            && let Some(note) = root.state.note()
        {
            lines.push(clean(&format!("{}: {note}; {next}", host.display(&root.folder))));
        }
    }
    lines.extend(
        seen.transcripts_polled
            .iter()
            .map(|why| clean(&format!("transcripts are looked for now and then: {why}"))),
    );
    lines
}

/// The list.
fn table(host: &Host, projects: &[Project], most: usize) -> String {
    if projects.is_empty() {
        return "no projects\n".into();
    }
    let mut table = Table::new(&["NAME", "BRANCH", "CHANGED", "AGENTS", "SESSION", "ACTIVE", "FOLDER"]);
    let now = host.now();
    for project in projects.iter().take(most) {
        let changed = match project.changed {
            Some(0) => paint(QUIET, "–"),
            Some(changed) => paint(WARNING, &changed.to_string()),
            None => String::new(),
        };
        let ago = |at: Option<_>| at.map_or(String::new(), |at| age(now, at));
        table.row([
            paint(STRONG, &clean(&project.name)),
            clean(project.branch.as_deref().unwrap_or_default()),
            changed,
            at_work(&project.agents),
            ago(project.session_at),
            ago(project.active_at),
            clean(&host.display(&project.folder)),
        ]);
    }
    table.to_string()
}

/// "1 needs you, 2 working".
fn at_work(agents: &Agents) -> String {
    let told = [
        (agents.needs_you, WARNING, if agents.needs_you == 1 { "needs you" } else { "need you" }),
        (agents.working, GOOD, "working"),
        (agents.starting, WARNING, "starting"),
        (agents.idle, GOOD, "idle"),
        (agents.paused, QUIET, "paused"),
        (agents.lost, BAD, "lost"),
    ];
    let told = told.into_iter().filter(|(number, ..)| *number > 0);
    told.map(|(number, style, word)| paint(style, &format!("{number} {word}"))).collect::<Vec<_>>().join(", ")
}

/// What is said below the list: of roots that are not as they should be, and of folders that could be roots.
fn footer(host: &Host, look: &Look, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = look.roots.iter().filter_map(|root| note(host, root)).collect();
    let hidden = look.projects.len().saturating_sub(most);
    if hidden > 0 {
        lines.push(format!("{} not shown; see them with --all", count(hidden, "project", "projects")));
    }
    if look.roots.is_empty() {
        lines.push(match look.proposals.as_slice() {
            [] => "name a folder in which your projects are: pao projects add ~/code".into(),
            _ => "no folder is named yet; agents were at work in these:".into(),
        });
        lines.extend(look.proposals.iter().take(5).map(|proposal| proposed(host, proposal)));
    }
    lines
}

fn note(host: &Host, root: &Root) -> Option<String> {
    let cut = root.cut.then(|| "too large: only its first folders were gone through".into());
    let note = root.state.note().or(cut)?;
    Some(paint(WARNING, &clean(&format!("{}: {note}", host.display(&root.folder)))))
}

fn proposed(host: &Host, proposal: &Proposal) -> String {
    let more = proposal.projects.saturating_sub(proposal.examples.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (shown, examples) = (host.display(&proposal.folder), proposal.examples.join(", "));
    let ago = age(host.now(), proposal.active_at);
    // The shell is to see the tilde.
    let (tilde, rest) = shown.strip_prefix("~/").map_or(("", shown.as_str()), |rest| ("~/", rest));
    let quoted = shlex::try_quote(rest).unwrap_or(rest.into());
    clean(&format!("  pao projects add {tilde}{quoted}   {examples}{more}, {ago}"))
}

fn add(host: &Host, screen: Screen, folder: &Path) -> Result<u8, Error> {
    let (named, changed) = projects::add(host, folder)?;
    let shown = clean(&host.display(&named));
    let words = if changed {
        format!("projects in {shown} are found from now on\n")
    } else {
        format!("{shown} is among them already\n")
    };
    said(screen, &named, changed, &words)
}

fn remove(host: &Host, screen: Screen, folder: &Path) -> Result<u8, Error> {
    let named = projects::remove(host, folder)?;
    let words = format!("projects in {} are found no more\n", clean(&host.display(&named)));
    said(screen, &named, true, &words)
}

fn said(screen: Screen, folder: &Path, changed: bool, words: &str) -> Result<u8, Error> {
    if screen.json {
        screen.document(&wire::projects::Named { folder: folder.to_string_lossy().into_owned(), changed })?;
    } else {
        screen.say(words)?;
    }
    Ok(0)
}

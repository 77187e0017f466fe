//! The tray's native menu: every verb, as data that can be compared, so that it is rebuilt only when it changed.

use super::tray::APP;
use crate::wire::door::{AgentRow, AgentState, Glance, Verb};

/// How many projects the menu offers.
const PROJECTS: usize = 8;
/// How many agents that are lost, and how many that have ended, it offers.
const GONE: usize = 8;
/// Longest text of an entry, in characters.
const TEXT: usize = 60;

/// What an entry does. Its text form is the entry's id in the menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Shows the list of agents.
    Agents,
    /// Opens the spawn panel, in that folder where one is named.
    Spawn(Option<String>),
    /// Opens an agent's page.
    Agent(String),
    /// Does that with an agent.
    Do(Verb, String),
    /// Opens the cleanup.
    Cleanup,
    /// Opens the settings.
    Settings,
    /// Ends the app.
    Quit,
}

impl Act {
    /// The id of its entry.
    pub fn id(&self) -> String {
        match self {
            Act::Agents => "agents".into(),
            Act::Spawn(None) => "spawn".into(),
            Act::Spawn(Some(folder)) => format!("spawn {folder}"),
            Act::Agent(id) => format!("agent {id}"),
            Act::Do(verb, id) => format!("{} {id}", word(*verb)),
            Act::Cleanup => "cleanup".into(),
            Act::Settings => "settings".into(),
            Act::Quit => "quit".into(),
        }
    }

    /// The act of that id.
    pub fn from_id(id: &str) -> Option<Self> {
        let (word, rest) =
            id.split_once(' ').map_or((id, None), |(word, rest)| (word, Some(rest.to_string())));
        Some(match (word, rest) {
            ("agents", None) => Act::Agents,
            ("spawn", folder) => Act::Spawn(folder),
            ("agent", Some(id)) => Act::Agent(id),
            ("cleanup", None) => Act::Cleanup,
            ("settings", None) => Act::Settings,
            ("quit", None) => Act::Quit,
            (word, Some(id)) => Act::Do(VERBS.into_iter().find(|verb| self::word(*verb) == word)?, id),
            _ => return None,
        })
    }
}

const VERBS: [Verb; 8] = [
    Verb::Focus,
    Verb::Tell,
    Verb::Checkpoint,
    Verb::Pause,
    Verb::Resume,
    Verb::Handover,
    Verb::Rebrief,
    Verb::Forget,
];

fn word(verb: Verb) -> &'static str {
    match verb {
        Verb::Focus => "focus",
        Verb::Tell => "tell",
        Verb::Checkpoint => "checkpoint",
        Verb::Pause => "pause",
        Verb::Resume => "resume",
        Verb::Handover => "handover",
        Verb::Rebrief => "rebrief",
        Verb::Forget => "forget",
    }
}

/// Text of a verb's entry. The ellipsis says that something is asked first.
fn label(verb: Verb) -> &'static str {
    match verb {
        Verb::Focus => "Show Its Terminal",
        Verb::Tell => "Tell It Something…",
        Verb::Checkpoint => "Make a Checkpoint",
        Verb::Pause => "Pause",
        Verb::Resume => "Resume",
        Verb::Handover => "Hand Over…",
        Verb::Rebrief => "Give It What Is New",
        Verb::Forget => "Forget…",
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Something that can be done.
    Item {
        /// What.
        act: Act,
        /// Its text.
        text: String,
    },
    /// Something that is only said.
    Note(String),
    /// A menu of its own.
    Menu {
        /// Its text.
        text: String,
        /// Its entries.
        entries: Vec<Entry>,
    },
    /// A line.
    Line,
}

/// The menu.
pub fn menu(glance: &Glance) -> Vec<Entry> {
    let item = |act, text: &str| Entry::Item { act, text: short(text) };
    let mut entries =
        vec![item(Act::Agents, &format!("Open {APP}")), item(Act::Spawn(None), "Spawn an Agent…")];
    if !glance.projects.is_empty() {
        let projects = glance.projects.iter().take(PROJECTS);
        let projects = projects.map(|p| item(Act::Spawn(Some(p.folder.clone())), &p.shown)).collect();
        entries.push(Entry::Menu { text: "Spawn in a Recent Project".into(), entries: projects });
    }
    entries.push(Entry::Line);
    entries.extend(glance.troubles.iter().map(|trouble| Entry::Note(short(&trouble.message))));
    let is = |state| move |row: &&AgentRow| row.state == state;
    let gone = |row: &&AgentRow| is(AgentState::Ended)(row) || is(AgentState::Lost)(row);
    let (there, agents) = (entries.len(), &glance.agents);
    entries.extend(agents.iter().filter(|row| !gone(row)).map(agent));
    entries.extend(agents.iter().filter(is(AgentState::Lost)).take(GONE).map(agent));
    if entries.len() == there {
        entries.push(Entry::Note("No agent is running".into()));
    }
    let ended: Vec<Entry> = agents.iter().filter(is(AgentState::Ended)).take(GONE).map(agent).collect();
    if !ended.is_empty() {
        entries.push(Entry::Menu { text: "Ended".into(), entries: ended });
    }
    entries.push(Entry::Line);
    entries.push(item(Act::Cleanup, "Clean Up…"));
    entries.push(item(Act::Settings, "Settings…"));
    entries.push(Entry::Line);
    entries.push(item(Act::Quit, "Quit (Agents Go On)"));
    entries
}

fn agent(row: &AgentRow) -> Entry {
    let state = match (row.state, &row.needs) {
        (AgentState::NeedsYou, Some(needs)) => format!("needs you: {needs}"),
        (AgentState::NeedsYou, None) => "needs you".into(),
        (AgentState::Working, _) => "working".into(),
        (AgentState::Idle, _) => "idle".into(),
        (AgentState::Starting, _) => "starting".into(),
        (AgentState::Paused, _) => "paused".into(),
        (AgentState::Ended, _) => "ended".into(),
        (AgentState::Lost, _) => "lost".into(),
    };
    let mut entries: Vec<Entry> = row
        .verbs
        .iter()
        .map(|verb| Entry::Item { act: Act::Do(*verb, row.id.clone()), text: label(*verb).into() })
        .collect();
    entries.push(Entry::Line);
    entries.push(Entry::Item { act: Act::Agent(row.id.clone()), text: "Details…".into() });
    Entry::Menu { text: short(&format!("{} — {state}", row.name)), entries }
}

/// One line; an ampersand would mark a key in a menu's text.
fn short(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let cut = match line.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    };
    cut.replace('&', "&&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::agents::tests::row;
    use crate::view::tray;

    fn glance(agents: Vec<AgentRow>) -> Glance {
        Glance {
            tray: tray::tray(&agents, &[]),
            agents,
            projects: Vec::new(),
            roots: Vec::new(),
            indexed: 0,
            sources: Vec::new(),
            troubles: Vec::new(),
            first_run: false,
            undoable: Vec::new(),
        }
    }

    #[test]
    fn every_act_is_known_again_by_its_id() {
        let mut acts = vec![
            Act::Agents,
            Act::Spawn(None),
            Act::Spawn(Some("/code/支付 对账".into())),
            Act::Agent("0a".into()),
            Act::Cleanup,
            Act::Settings,
            Act::Quit,
        ];
        acts.extend(VERBS.map(|verb| Act::Do(verb, "0a".into())));
        for act in acts {
            assert_eq!(Act::from_id(&act.id()), Some(act));
        }
        assert_eq!(Act::from_id("rm -rf"), None);
    }

    #[test]
    fn an_agent_that_is_there_has_a_menu_of_what_can_be_done_with_it() {
        let mut asking = row(AgentState::NeedsYou);
        (asking.name, asking.needs) = ("a&b".into(), Some("permission for Bash".into()));
        let made = menu(&glance(vec![asking]));
        let menus: Vec<&Entry> = made.iter().filter(|entry| matches!(entry, Entry::Menu { .. })).collect();
        let [Entry::Menu { text, entries }] = menus.as_slice() else { panic!("{made:?}") };
        assert_eq!(text, "a&&b — needs you: permission for Bash");
        let pause = Entry::Item { act: Act::Do(Verb::Pause, "a".into()), text: "Pause".into() };
        assert!(entries.contains(&pause), "{entries:?}");
        assert!(menu(&glance(Vec::new())).contains(&Entry::Note("No agent is running".into())));
    }

    #[test]
    fn an_agent_that_is_paused_lost_or_ended_can_be_resumed_from_the_menu() {
        let resume = Entry::Item { act: Act::Do(Verb::Resume, "a".into()), text: "Resume".into() };
        let offered = |entries: &[Entry]| {
            entries.iter().find_map(|entry| match entry {
                Entry::Menu { text, entries } if entries.contains(&resume) => Some(text.clone()),
                _ => None,
            })
        };
        let of = |state| menu(&glance(vec![row(state)]));
        assert_eq!(offered(&of(AgentState::Paused)).as_deref(), Some("a — paused"));
        assert_eq!(offered(&of(AgentState::Lost)).as_deref(), Some("a — lost"));
        let ended = of(AgentState::Ended);
        let within = ended.iter().find_map(|entry| match entry {
            Entry::Menu { text, entries } if text == "Ended" => Some(entries),
            _ => None,
        });
        assert_eq!(within.and_then(|entries| offered(entries)).as_deref(), Some("a — ended"));
        assert!(ended.contains(&Entry::Note("No agent is running".into())));
    }
}

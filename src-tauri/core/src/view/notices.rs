//! Which notices are to stand on the user's screen: one for each agent that turned to needing the user or was lost,
//! told once, taken back when it no longer holds, and none for what the user has before them anyway.
//!
//! Pure: what was told before, what is now, and what is in front go in; what to show and what to take back come out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use unicode_normalization::UnicodeNormalization;

use crate::text::is_invisible;
use crate::wire::door::{AgentRow, AgentState, Switch};
use crate::words::counted;

/// Most notices that stand beside each other; more are told as one.
const MOST: usize = 3;
/// Longest title, in characters.
const TITLE: usize = 80;
/// Longest text, in characters.
const BODY: usize = 240;
/// An agent's window whose keyboard was used this recently is being looked at.
pub const LATELY: Duration = Duration::from_mins(1);

/// What stands for several agents at once.
pub const SEVERAL: &str = "several";

/// A notice. Plain text: whoever shows it escapes what its screen would take for markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The agent's registry id, or [`SEVERAL`]. A notice replaces the one of its id.
    pub id: String,
    /// One line.
    pub title: String,
    /// What there is to it.
    pub body: String,
}

/// What is to be done on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Shows a notice, in place of the one of its id.
    Show(Notice),
    /// Takes the notice of that id back.
    Withdraw(String),
}

/// Why an agent is worth a notice. Two that are equal are the same question.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cause {
    lost: bool,
    since: DateTime<Utc>,
    needs: Option<String>,
    asks: Option<String>,
}

fn cause(row: &AgentRow) -> Option<Cause> {
    let lost = row.state == AgentState::Lost;
    let told = lost || row.state == AgentState::NeedsYou;
    told.then(|| Cause { lost, since: row.since, needs: row.needs.clone(), asks: row.asks.clone() })
}

/// What was told so far.
#[derive(Debug, Default)]
pub struct Told {
    begun: bool,
    causes: BTreeMap<String, Cause>,
    standing: BTreeSet<String>,
    together: BTreeSet<String>,
}

impl Told {
    /// Agents that turned to something worth a notice since the last turn: for these it has to be known whether they
    /// are in front.
    pub fn fresh<'a>(&self, agents: &'a [AgentRow]) -> Vec<&'a AgentRow> {
        let is_new = |row: &&AgentRow| cause(row).is_some_and(|now| self.causes.get(&row.id) != Some(&now));
        if self.begun { agents.iter().filter(is_new).collect() } else { Vec::new() }
    }

    /// Takes in how the agents are now. What the first turn finds was there before anybody looked and is told by
    /// nobody; nor is what is in front, or what comes while notices are off.
    pub fn turn(&mut self, agents: &[AgentRow], on: bool, in_front: &BTreeSet<String>) -> Vec<Change> {
        let fresh: Vec<String> = self.fresh(agents).into_iter().map(|row| row.id.clone()).collect();
        let now: BTreeMap<String, Cause> =
            agents.iter().filter_map(|row| Some((row.id.clone(), cause(row)?))).collect();
        self.begun = true;
        let mut changes = Vec::new();
        let before = std::mem::replace(&mut self.causes, now);
        let holds = |id: &String| on && before.contains_key(id) && self.causes.get(id) == before.get(id);
        let gone: BTreeSet<String> = self.standing.iter().filter(|id| !holds(id)).cloned().collect();
        let together_before = !self.together.is_empty();
        self.together.retain(holds);
        let mut tell: BTreeSet<String> =
            fresh.into_iter().filter(|id| on && !in_front.contains(id)).collect();
        self.standing.retain(|id| !gone.contains(id));
        let many = self.standing.len() + tell.len() > MOST;
        let gather = !tell.is_empty() && (many || !self.together.is_empty());
        // Else a new question takes the old one's place by itself.
        let withdrawn = gone.into_iter().filter(|id| gather || !tell.contains(id));
        changes.extend(withdrawn.map(Change::Withdraw));
        if gather {
            changes.extend(std::mem::take(&mut self.standing).into_iter().map(|id| {
                self.together.insert(id.clone());
                Change::Withdraw(id)
            }));
            self.together.append(&mut tell);
            changes.push(Change::Show(together(agents, &self.together)));
        } else if together_before && self.together.is_empty() {
            changes.push(Change::Withdraw(SEVERAL.into()));
        }
        for row in agents.iter().filter(|row| tell.contains(&row.id)) {
            self.standing.insert(row.id.clone());
            changes.push(Change::Show(single(row)));
        }
        changes
    }

    /// The user did away with a notice, by a click or otherwise: there is nothing to take back any more.
    pub fn gone(&mut self, id: &str) {
        if id == SEVERAL {
            self.together.clear();
        }
        self.standing.remove(id);
    }
}

fn single(row: &AgentRow) -> Notice {
    let (title, body) = if row.state == AgentState::Lost {
        (format!("{} is lost", row.name), "its process ended without a word".to_string())
    } else {
        let body = match (&row.needs, &row.asks) {
            (Some(needs), Some(asks)) => format!("{needs}: {asks}"),
            (Some(said), None) | (None, Some(said)) => said.clone(),
            (None, None) => String::new(),
        };
        (format!("{} needs you", row.name), body)
    };
    Notice { id: row.id.clone(), title: line(&title, TITLE), body: line(&body, BODY) }
}

fn together(agents: &[AgentRow], ids: &BTreeSet<String>) -> Notice {
    let about = || agents.iter().filter(|row| ids.contains(&row.id));
    let lost = about().filter(|row| row.state == AgentState::Lost).count();
    let needing = about().count() - lost;
    let mut said = Vec::new();
    if needing > 0 {
        said.push(counted(needing, "agent needs you", "agents need you"));
    }
    if lost > 0 {
        said.push(if needing > 0 {
            format!("{lost} lost")
        } else {
            counted(lost, "agent is lost", "agents are lost")
        });
    }
    let names: Vec<&str> = about().map(|row| row.name.as_str()).collect();
    Notice { id: SEVERAL.into(), title: line(&said.join(", "), TITLE), body: line(&names.join(", "), BODY) }
}

/// The notice of a spawn that failed.
pub fn failed(job: &str, name: &str, message: &str) -> Notice {
    Notice {
        id: job.into(),
        title: line(&format!("{name} was not started"), TITLE),
        body: line(message, BODY),
    }
}

/// What is left of a text when it has to be one short line: agents and their tools write what they like.
fn line(text: &str, most: usize) -> String {
    let seen: String =
        text.nfc().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !is_invisible(*c)).collect();
    let mut line = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(most) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// The text for a screen that reads markup.
pub fn as_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// How the user's screen takes notices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Screen {
    /// None was shown yet.
    #[default]
    Untried,
    /// It shows them.
    Fine,
    /// There is no service for them.
    NoService,
    /// The system refuses.
    Refused,
    /// The service does not answer.
    Silent,
    /// macOS shows those of bundled apps only, and this is none.
    Unbundled,
}

/// What the settings say of notices that are switched on or off.
pub fn switch(on: bool, screen: Screen) -> Switch {
    const INSTEAD: &str = "the icon and the list say who needs you";
    let why = match screen {
        Screen::Untried | Screen::Fine => None,
        Screen::NoService => Some("this desktop has no notification service"),
        Screen::Refused => {
            Some("the system refuses them: allow Prime Agent Orchestrator in its notification settings")
        }
        Screen::Silent => Some("the system's notification service does not answer"),
        Screen::Unbundled => Some("macOS shows them for the installed app only"),
    };
    let note = why.filter(|_| on || screen == Screen::Unbundled).map(|why| format!("{why}; {INSTEAD}"));
    Switch { on, possible: on || screen != Screen::Unbundled, note }
}

/// Somebody who has an agent's terminal open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watcher {
    /// Its process and those above it: one of them owns the window.
    pub processes: Vec<u32>,
    /// Since when its keyboard was not used.
    pub idle: Duration,
}

/// Whether one of them is looking: it was used lately, and the window in front, where that can be known, is its own.
pub fn looked_at(front: Option<u32>, watchers: &[Watcher]) -> bool {
    watchers
        .iter()
        .any(|watcher| watcher.idle <= LATELY && front.is_none_or(|owner| watcher.processes.contains(&owner)))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;
    use crate::view::agents::tests::row;

    fn agent(id: &str, state: AgentState, since: i64, needs: Option<&str>) -> AgentRow {
        let mut row = row(state);
        row.since += TimeDelta::seconds(since);
        row.id = id.into();
        row.name = id.into();
        row.needs = needs.map(Into::into);
        row
    }

    fn asks(id: &str, since: i64, needs: &str) -> AgentRow {
        agent(id, AgentState::NeedsYou, since, Some(needs))
    }

    fn works(id: &str) -> AgentRow {
        agent(id, AgentState::Working, 0, None)
    }

    fn begun(agents: &[AgentRow]) -> Told {
        let mut told = Told::default();
        assert_eq!(told.turn(agents, true, &BTreeSet::new()), []);
        told
    }

    fn nowhere() -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn shown(changes: &[Change]) -> Vec<&Notice> {
        changes
            .iter()
            .filter_map(|c| if let Change::Show(notice) = c { Some(notice) } else { None })
            .collect()
    }

    #[test]
    fn a_question_is_told_once_and_taken_back_when_it_is_answered() {
        let mut told = begun(&[works("api")]);
        let question = [asks("api", 1, "permission for Bash")];
        let changes = told.turn(&question, true, &nowhere());
        let wanted =
            Notice { id: "api".into(), title: "api needs you".into(), body: "permission for Bash".into() };
        assert_eq!(changes, [Change::Show(wanted)]);
        assert_eq!(told.turn(&question, true, &nowhere()), []);
        assert_eq!(told.turn(&[works("api")], true, &nowhere()), [Change::Withdraw("api".into())]);
        assert_eq!(told.turn(&[works("api")], true, &nowhere()), []);
    }

    #[test]
    fn the_next_question_of_an_agent_takes_the_place_of_its_last() {
        let mut told = begun(&[works("api")]);
        told.turn(&[asks("api", 1, "permission for Bash")], true, &nowhere());
        let next = told.turn(&[asks("api", 1, "permission for Edit")], true, &nowhere());
        assert!(
            matches!(&next[..], [Change::Show(n)] if n.id == "api" && n.body == "permission for Edit"),
            "{next:?}"
        );
        // The same words again, asked anew.
        assert_eq!(told.turn(&[asks("api", 9, "permission for Edit")], true, &nowhere()).len(), 1);
    }

    #[test]
    fn who_is_lost_is_told_and_who_ended_or_rests_is_not() {
        let mut told = begun(&[works("a"), works("b"), works("c"), works("d")]);
        let now = [
            agent("a", AgentState::Lost, 1, None),
            agent("b", AgentState::Ended, 1, None),
            agent("c", AgentState::Idle, 1, None),
            agent("d", AgentState::Paused, 1, None),
        ];
        let changes = told.turn(&now, true, &nowhere());
        assert!(matches!(&changes[..], [Change::Show(n)] if n.title == "a is lost"), "{changes:?}");
        // Put aside, there is nothing to tell any more.
        assert_eq!(told.turn(&now[1..], true, &nowhere()), [Change::Withdraw("a".into())]);
    }

    #[test]
    fn what_was_there_before_or_is_in_front_or_comes_while_they_are_off_is_never_told() {
        let question = [asks("api", 1, "permission for Bash")];
        let mut told = begun(&question);
        assert_eq!(told.turn(&question, true, &nowhere()), []);
        let mut told = begun(&[works("api")]);
        let front = BTreeSet::from(["api".to_string()]);
        assert_eq!(told.turn(&question, true, &front), []);
        assert_eq!(told.turn(&question, true, &nowhere()), []);
        let mut told = begun(&[works("api")]);
        assert_eq!(told.turn(&question, false, &nowhere()), []);
        assert_eq!(told.turn(&question, true, &nowhere()), []);
    }

    #[test]
    fn switching_them_off_takes_back_what_stands() {
        let mut told = begun(&[works("api")]);
        let question = [asks("api", 1, "x")];
        told.turn(&question, true, &nowhere());
        assert_eq!(told.turn(&question, false, &nowhere()), [Change::Withdraw("api".into())]);
        assert_eq!(told.turn(&question, true, &nowhere()), []);
    }

    #[test]
    fn many_at_once_are_told_as_one_that_goes_when_the_last_was_answered() {
        let names = ["a", "b", "c", "d", "e"];
        let mut told = begun(&names.map(works));
        let all = names.map(|name| asks(name, 1, "x"));
        let changes = told.turn(&all, true, &nowhere());
        let wanted =
            Notice { id: SEVERAL.into(), title: "5 agents need you".into(), body: "a, b, c, d, e".into() };
        assert_eq!(changes, [Change::Show(wanted)]);
        let mut later = all.clone();
        later[..4].clone_from_slice(&["a", "b", "c", "d"].map(works));
        assert_eq!(told.turn(&later, true, &nowhere()), []);
        assert_eq!(told.turn(&names.map(works), true, &nowhere()), [Change::Withdraw(SEVERAL.into())]);
    }

    #[test]
    fn one_more_than_fit_gathers_those_that_stand() {
        let names = ["a", "b", "c", "d"];
        let mut told = begun(&names.map(works));
        let mut now = names.map(works);
        for (at, name) in names.iter().enumerate().take(3) {
            now[at] = asks(name, 1, "x");
            assert_eq!(shown(&told.turn(&now, true, &nowhere())).len(), 1);
        }
        now[3] = agent("d", AgentState::Lost, 1, None);
        let changes = told.turn(&now, true, &nowhere());
        assert_eq!(changes.iter().filter(|c| matches!(c, Change::Withdraw(_))).count(), 3);
        assert_eq!(shown(&changes)[0].title, "3 agents need you, 1 lost");
    }

    #[test]
    fn a_notice_the_user_did_away_with_is_not_taken_back() {
        let mut told = begun(&[works("api")]);
        told.turn(&[asks("api", 1, "x")], true, &nowhere());
        told.gone("api");
        assert_eq!(told.turn(&[works("api")], true, &nowhere()), []);
    }

    #[test]
    fn what_agents_write_is_one_short_line_and_no_markup() {
        let evil = "Bash: \u{1b}[31m<b>rm</b> \u{202e}&\r\n\u{0}x".to_string() + &"支".repeat(500);
        let mut told = begun(&[works("api")]);
        let changes = told.turn(&[asks("api", 1, &evil)], true, &nowhere());
        let body = &shown(&changes)[0].body;
        assert!(body.starts_with("Bash: [31m<b>rm</b> & x支") && body.chars().count() == BODY + 1, "{body}");
        assert!(!body.chars().any(|c| c.is_control() || is_invisible(c)));
        assert_eq!(as_markup("<b>&\"'"), "&lt;b&gt;&amp;\"'");
    }

    #[test]
    fn a_terminal_is_looked_at_when_its_window_is_in_front_and_it_was_used_lately() {
        let watcher = |seconds| Watcher { processes: vec![30, 20, 10], idle: Duration::from_secs(seconds) };
        assert!(looked_at(Some(10), &[watcher(5)]) && looked_at(None, &[watcher(5)]));
        assert!(!looked_at(Some(99), &[watcher(5)]) && !looked_at(None, &[watcher(600)]));
        assert!(!looked_at(Some(10), &[watcher(600)]) && !looked_at(None, &[]));
        assert!(looked_at(Some(10), &[watcher(600), watcher(1)]));
    }

    #[test]
    fn settings_say_why_none_will_be_seen_and_what_says_it_instead() {
        let on = |screen| switch(true, screen).note.unwrap_or_default();
        assert_eq!(on(Screen::Fine), "");
        assert_eq!(
            on(Screen::NoService),
            "this desktop has no notification service; the icon and the list say who needs you"
        );
        assert!(on(Screen::Refused).contains("refuses") && on(Screen::Silent).contains("does not answer"));
        assert_eq!(switch(false, Screen::Refused), Switch { on: false, possible: true, note: None });
        assert!(!switch(false, Screen::Unbundled).possible);
    }

    /// Each agent's state and question, whether notices are on, who is in front.
    type Turn = (Vec<(u8, u8)>, bool, BTreeSet<String>);

    fn turns() -> impl Strategy<Value = Vec<Turn>> {
        let states = proptest::collection::vec((0_u8..7, 0_u8..3), 6);
        let front = proptest::collection::btree_set("[0-5]", 0..3);
        proptest::collection::vec((states, proptest::bool::weighted(0.8), front), 1..30)
    }

    proptest! {
        /// Whatever happens: only who needs the user or is lost is told, no question twice, never while off or in
        /// front, never more than fit, and nothing stands that no longer holds.
        #[test]
        fn no_question_is_told_twice_and_nothing_else_at_all(turns in turns()) {
            let kinds = [
                AgentState::NeedsYou, AgentState::Working, AgentState::Idle, AgentState::Starting,
                AgentState::Paused, AgentState::Ended, AgentState::Lost,
            ];
            let mut told = Told::default();
            let mut before: BTreeMap<String, Cause> = BTreeMap::new();
            let mut screen: BTreeSet<String> = BTreeSet::new();
            for (states, on, front) in turns {
                let agents: Vec<AgentRow> = states
                    .iter()
                    .enumerate()
                    .map(|(id, (kind, question))| {
                        let question = i64::from(*question);
                        agent(&id.to_string(), kinds[usize::from(*kind)], question, Some("x"))
                    })
                    .collect();
                let fresh: BTreeSet<String> = told.fresh(&agents).iter().map(|row| row.id.clone()).collect();
                for change in told.turn(&agents, on, &front) {
                    match change {
                        Change::Withdraw(id) => prop_assert!(screen.remove(&id), "{} does not stand", id),
                        Change::Show(notice) => {
                            prop_assert!(on);
                            screen.insert(notice.id.clone());
                            if notice.id == SEVERAL {
                                prop_assert!(fresh.iter().any(|id| !front.contains(id)));
                                continue;
                            }
                            prop_assert!(fresh.contains(&notice.id) && !front.contains(&notice.id));
                            let row = agents.iter().find(|row| row.id == notice.id).unwrap();
                            prop_assert!(matches!(row.state, AgentState::NeedsYou | AgentState::Lost));
                            let now = cause(row);
                            prop_assert_ne!(before.get(&row.id), now.as_ref());
                        }
                    }
                }
                prop_assert!(screen.len() <= MOST + 1 && (on || screen.is_empty()));
                for id in screen.iter().filter(|id| *id != SEVERAL) {
                    let row = agents.iter().find(|row| row.id == *id).unwrap();
                    prop_assert!(cause(row).is_some());
                }
                before = agents.iter().filter_map(|row| Some((row.id.clone(), cause(row)?))).collect();
            }
        }
    }
}

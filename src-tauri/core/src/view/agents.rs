//! Registry rows as a list shows them: in the order in which they matter, each with what can be done with it now.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::agent::by_kind;
use crate::host::Host;
use crate::life::freshness;
use crate::registry::agents::{Agent, State};
use crate::wire::door::{AgentRow, AgentState, Verb};

/// Longest sentence about what an agent is doing, in characters.
const DOING: usize = 160;

/// Rows of agents that were not put aside: those that need the user, then working, starting, idle, paused, ended,
/// lost; the fresher first within each. `queued` says how many texts wait for whom.
pub fn rows(
    agents: &[Agent],
    queued: &BTreeMap<String, u32>,
    host: &Host,
    now: DateTime<Utc>,
    half_life: TimeDelta,
) -> Vec<AgentRow> {
    let mut shown: Vec<&Agent> = agents.iter().filter(|agent| agent.archived_at.is_none()).collect();
    shown.sort_by(|a, b| {
        let sign = |agent: &Agent| agent.sign_at.max(agent.state_at);
        (rank(a.state), sign(b), &a.id).cmp(&(rank(b.state), sign(a), &b.id))
    });
    shown.into_iter().map(|agent| row(agent, queued, host, now, half_life)).collect()
}

/// One row.
pub fn row(
    agent: &Agent,
    queued: &BTreeMap<String, u32>,
    host: &Host,
    now: DateTime<Utc>,
    half_life: TimeDelta,
) -> AgentRow {
    let (needs, asks) = asked(agent.needs.as_deref());
    AgentRow {
        id: agent.id.clone(),
        name: agent.name.clone(),
        folder: agent.folder.to_string_lossy().into_owned(),
        shown: host.display(&agent.folder),
        state: state(agent.state),
        since: agent.state_at,
        needs,
        asks,
        doing: doing(agent),
        sign_at: agent.sign_at,
        freshness: freshness::of(agent, now, half_life),
        host_agent: by_kind(&agent.host_agent).map_or(agent.host_agent.clone(), |kind| kind.display.into()),
        terminal: agent.terminal.clone(),
        verbs: verbs(agent),
        queued: queued.get(&agent.id).copied().unwrap_or(0),
    }
}

fn rank(state: State) -> u8 {
    match state {
        State::NeedsYou => 0,
        State::Working => 1,
        State::Starting => 2,
        State::Idle => 3,
        State::Paused => 4,
        State::Ended => 5,
        State::Lost => 6,
    }
}

/// The state as the windows know it.
pub fn state(state: State) -> AgentState {
    match state {
        State::Starting => AgentState::Starting,
        State::Working => AgentState::Working,
        State::NeedsYou => AgentState::NeedsYou,
        State::Idle => AgentState::Idle,
        State::Paused => AgentState::Paused,
        State::Ended => AgentState::Ended,
        State::Lost => AgentState::Lost,
    }
}

/// What is waited for, apart from what exactly is asked: "permission for Bash: rm -r build".
fn asked(needs: Option<&str>) -> (Option<String>, Option<String>) {
    match needs.and_then(|needs| needs.split_once(": ")) {
        Some((what, exactly)) if what.starts_with("permission for ") || what == "question" => {
            (Some(what.into()), Some(exactly.into()))
        }
        _ => (needs.map(Into::into), None),
    }
}

/// What it was last asked; where nothing was, what its sources were asked.
fn doing(agent: &Agent) -> String {
    let said = agent.prompt.as_deref().unwrap_or(&agent.query);
    let mut words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(DOING) {
        words.truncate(end);
        words.push('…');
    }
    words
}

/// What can be done with an agent in its state. Whether it then works may still depend on its terminal.
pub fn verbs(agent: &Agent) -> Vec<Verb> {
    use Verb::{Checkpoint, Focus, Forget, Handover, Pause, Rebrief, Resume, Tell};
    let mut verbs = match agent.state {
        State::NeedsYou | State::Working | State::Idle => {
            vec![Focus, Tell, Checkpoint, Pause, Handover, Rebrief]
        }
        State::Starting => vec![Focus, Tell],
        State::Paused => vec![Resume, Tell, Checkpoint, Handover, Forget],
        State::Ended | State::Lost => vec![Resume, Checkpoint, Handover, Forget],
    };
    if agent.handle.is_none() {
        verbs.retain(|verb| *verb != Focus);
    }
    verbs
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    pub fn host() -> Host {
        Host { exe: "/usr/bin/pao".into(), ..Host::at(Path::new("/home/me")) }
    }

    pub fn now() -> DateTime<Utc> {
        DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc()
    }

    pub fn agent(id: &str, state: State, minutes: i64) -> Agent {
        let at = now() - TimeDelta::minutes(minutes);
        let folder = PathBuf::from("/home/me/code/api");
        Agent { state, handle: Some("%1".into()), ..Agent::starting(id, id, &folder, "claude-code", at) }
    }

    pub fn row(shown: AgentState) -> AgentRow {
        let states = [
            State::Starting,
            State::Working,
            State::NeedsYou,
            State::Idle,
            State::Paused,
            State::Ended,
            State::Lost,
        ];
        let known = states.into_iter().find(|known| state(*known) == shown).unwrap();
        let agent = agent("a", known, 1);
        super::row(&agent, &BTreeMap::new(), &host(), now(), TimeDelta::hours(24))
    }

    #[test]
    fn who_needs_the_user_stands_first_and_who_was_put_aside_nowhere() {
        let mut aside = agent("aside", State::NeedsYou, 1);
        aside.archived_at = Some(now());
        let agents = [
            agent("lost", State::Lost, 1),
            agent("ended", State::Ended, 1),
            agent("paused", State::Paused, 1),
            agent("idle", State::Idle, 1),
            agent("starting", State::Starting, 1),
            agent("works-old", State::Working, 60),
            agent("works-new", State::Working, 1),
            agent("asks", State::NeedsYou, 600),
            aside,
        ];
        let shown = rows(&agents, &BTreeMap::new(), &host(), now(), TimeDelta::hours(24));
        let names: Vec<&str> = shown.iter().map(|row| row.name.as_str()).collect();
        let wanted = ["asks", "works-new", "works-old", "starting", "idle", "paused", "ended", "lost"];
        assert_eq!(names, wanted);
        assert_eq!(shown[0].shown, "~/code/api");
        assert_eq!(shown[0].host_agent, "Claude Code");
    }

    #[test]
    fn what_is_asked_for_is_told_from_what_exactly_is_asked() {
        let mut one = agent("a", State::NeedsYou, 1);
        one.needs = Some("permission for Bash: rm -r build".into());
        let shown = |agent: &Agent| super::row(agent, &BTreeMap::new(), &host(), now(), TimeDelta::hours(24));
        let row = shown(&one);
        assert_eq!(
            (row.needs.as_deref(), row.asks.as_deref()),
            (Some("permission for Bash"), Some("rm -r build"))
        );
        one.needs = Some("API Error: 529".into());
        let row = shown(&one);
        assert_eq!((row.needs.as_deref(), row.asks.as_deref()), (Some("API Error: 529"), None));
    }

    #[test]
    fn a_state_allows_only_what_can_be_done_in_it() {
        let allowed = |state| verbs(&agent("a", state, 1));
        assert!(!allowed(State::Paused).contains(&Verb::Pause));
        assert!(!allowed(State::Working).contains(&Verb::Forget));
        assert!(!allowed(State::Ended).contains(&Verb::Tell));
        assert!(
            allowed(State::Lost).contains(&Verb::Forget) && allowed(State::Ended).contains(&Verb::Resume)
        );
        let mut windowless = agent("a", State::Working, 1);
        windowless.handle = None;
        assert!(!verbs(&windowless).contains(&Verb::Focus));
    }

    #[test]
    fn what_it_does_is_one_short_line() {
        let mut one = Agent::starting("a", "a", Path::new("/"), "x", now());
        one.prompt = Some(format!("fix\n  the login {}", "支付对账 ".repeat(100)));
        let said = doing(&one);
        assert!(said.starts_with("fix the login 支付对账 ") && said.ends_with('…') && !said.contains('\n'));
        assert_eq!(said.chars().count(), DOING + 1);
    }
}

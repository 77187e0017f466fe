//! What the tray icon says: a shape, a number and a sentence. The sentence is what `VoiceOver` reads.

use crate::wire::door::{AgentRow, AgentState, Shape, Tray, Trouble};
use crate::words::counted;

/// The name a person knows the app by.
pub const APP: &str = "Prime Agent Orchestrator";

/// Who needs the user goes before who works; what keeps the app from its work goes before both.
pub fn tray(agents: &[AgentRow], troubles: &[Trouble]) -> Tray {
    let number = |state| agents.iter().filter(|agent| agent.state == state).count();
    let (working, needing) = (number(AgentState::Working), number(AgentState::NeedsYou));
    let (shape, shown) = match (troubles.is_empty(), needing, working) {
        (false, ..) => (Shape::Error, 0),
        (true, 0, 0) => (Shape::Idle, 0),
        (true, 0, working) => (Shape::Working, working),
        (true, needing, _) => (Shape::NeedsYou, needing),
    };
    let mut said = Vec::new();
    if let Some(trouble) = troubles.first() {
        said.push(trouble.message.clone());
    }
    if working > 0 {
        said.push(format!("{working} working"));
    }
    if needing > 0 {
        said.push(counted(needing, "needs you", "need you"));
    }
    if said.is_empty() {
        let quiet = quiet(agents);
        said.push(if quiet.is_empty() { "nothing is running".into() } else { quiet });
    }
    let said = said.join(", ");
    Tray { shape, number: u32::try_from(shown).unwrap_or(u32::MAX), label: format!("{APP} — {said}") }
}

/// How many agents are there without working: "1 idle, 2 paused". Empty where there is none.
fn quiet(agents: &[AgentRow]) -> String {
    let words =
        [(AgentState::Starting, "starting"), (AgentState::Idle, "idle"), (AgentState::Paused, "paused")];
    let number = |state| agents.iter().filter(|agent| agent.state == state).count();
    let counted = words.map(|(state, word)| (number(state), word));
    let there = counted.into_iter().filter(|(number, _)| *number > 0);
    there.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::agents::tests::row;

    fn said(agents: &[AgentState], troubles: &[Trouble]) -> (Shape, u32, String) {
        let rows: Vec<AgentRow> = agents.iter().map(|state| row(*state)).collect();
        let Tray { shape, number, label } = tray(&rows, troubles);
        (shape, number, label)
    }

    #[test]
    fn shape_and_number_say_the_most_pressing_and_the_sentence_says_all() {
        use AgentState::{Idle, Lost, NeedsYou, Paused, Working};
        let named = |rest: &str| format!("Prime Agent Orchestrator — {rest}");
        assert_eq!(said(&[], &[]), (Shape::Idle, 0, named("nothing is running")));
        assert_eq!(said(&[Lost], &[]), (Shape::Idle, 0, named("nothing is running")));
        assert_eq!(said(&[Idle, Lost, Paused], &[]), (Shape::Idle, 0, named("1 idle, 1 paused")));
        assert_eq!(said(&[Working, Working, Idle], &[]), (Shape::Working, 2, named("2 working")));
        let both = [Working, NeedsYou, Working];
        assert_eq!(said(&both, &[]), (Shape::NeedsYou, 1, named("2 working, 1 needs you")));
        assert_eq!(said(&[NeedsYou, NeedsYou], &[]), (Shape::NeedsYou, 2, named("2 need you")));
        let trouble = Trouble::of("config", &crate::Error::config("config.toml does not read", ""));
        let wanted = named("config.toml does not read, 1 working");
        assert_eq!(said(&[Working], &[trouble]), (Shape::Error, 0, wanted));
    }
}

//! Cleanups as a window shows them: what could go and why, what went, what came back.

use chrono::{DateTime, TimeDelta, Utc};

use crate::life::clean::{Asks, Group, KEPT, Plan, Record, Stage};
use crate::wire::door::{CleanDone, CleanEntry, CleanPlan, Outcome};

/// The plan.
pub fn plan(plan: &Plan, now: DateTime<Utc>) -> CleanPlan {
    CleanPlan {
        entries: plan.groups.iter().map(|group| entry(group, now)).collect(),
        undo_days: u32::try_from(KEPT.num_days()).unwrap_or(u32::MAX),
    }
}

fn entry(group: &Group, now: DateTime<Utc>) -> CleanEntry {
    let since = group.since.map(|at| format!(" {} ago", span(now - at))).unwrap_or_default();
    let asks = match group.asks {
        Asks::Nothing => None,
        Asks::Paused => Some("it is paused and could be resumed"),
        Asks::Fresh => Some("it was lost only lately and may come back"),
        Asks::Running => Some("it still runs and would be ended"),
        Asks::Final => Some("it cannot be undone"),
    };
    let means = match group.asks {
        Asks::Nothing => None,
        Asks::Paused => Some("it leaves the list and cannot be resumed, unless you undo the cleanup"),
        Asks::Fresh => Some("it leaves the list even if it was only out of sight; undoing brings it back"),
        Asks::Running => Some("what still runs is ended, and undoing does not start it again"),
        Asks::Final => Some("it is removed for good, and cannot be undone"),
    };
    let mut when = format!("{}{since}", group.state);
    if let Some(first) = when.get(..1).map(str::to_uppercase) {
        when.replace_range(..1, &first);
    }
    CleanEntry {
        id: group.key.clone(),
        title: group.title.clone(),
        when,
        evidence: group.why.join("; "),
        items: group.items.iter().map(|item| item.what.clone()).collect(),
        bytes: u32::try_from(group.bytes()).unwrap_or(u32::MAX),
        left_out: group.held.clone().or(asks.map(Into::into)),
        means: means.filter(|_| group.held.is_none()).map(Into::into),
        held: group.held.is_some(),
    }
}

fn span(time: TimeDelta) -> String {
    match time.num_seconds().max(0) {
        seconds @ ..90 => format!("{seconds} s"),
        seconds @ 90..5_400 => format!("{} min", seconds / 60),
        seconds @ 5_400..129_600 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// What a cleanup did; undone, what came back.
pub fn done(record: &Record, undone: bool) -> CleanDone {
    let mut items = Vec::new();
    for part in &record.parts {
        if let Some(why) = part.left.as_ref().filter(|_| !undone) {
            let outcome = format!("left alone: {why}");
            items.push(Outcome::new(part.group.title.clone(), outcome, false));
            continue;
        }
        for (item, piece) in part.group.items.iter().zip(&part.pieces) {
            let (word, well) = match (piece.stage, undone) {
                (Stage::Removed, false) => ("removed", true),
                (Stage::Removed, true) => ("stays away", false),
                (Stage::Restored, _) => ("put back", true),
                (Stage::Refused, _) => ("not put back", false),
                (Stage::Gone, false) => ("was gone already", true),
                (Stage::Kept, false) => ("kept", false),
                (Stage::Planned, _) | (Stage::Gone | Stage::Kept, true) => continue,
            };
            let note = if piece.note.is_empty() { String::new() } else { format!(": {}", piece.note) };
            items.push(Outcome::new(item.what.clone(), format!("{word}{note}"), well));
        }
    }
    CleanDone { id: record.id.clone(), items }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::clean::Of;
    use crate::view::agents::tests::now;

    fn group(asks: Asks, held: Option<&str>) -> Group {
        Group {
            key: "agent-1".into(),
            of: Of::Agent { id: "1".into() },
            title: "api".into(),
            state: "lost".into(),
            since: Some(now() - TimeDelta::days(2)),
            why: vec!["its process is gone".into(), "its window is gone".into()],
            items: Vec::new(),
            asks,
            held: held.map(Into::into),
        }
    }

    #[test]
    fn an_entry_says_when_why_and_what_keeps_it_from_being_selected() {
        let shown = entry(&group(Asks::Nothing, None), now());
        assert_eq!((shown.when.as_str(), shown.left_out.as_deref()), ("Lost 2 d ago", None));
        assert_eq!(shown.evidence, "its process is gone; its window is gone");
        let paused = entry(&group(Asks::Paused, None), now());
        assert_eq!(paused.left_out.as_deref(), Some("it is paused and could be resumed"));
        assert!(paused.means.is_some() && !paused.held && shown.means.is_none());
        let held = entry(&group(Asks::Paused, Some("its folder is not there")), now());
        assert_eq!(held.left_out.as_deref(), Some("its folder is not there"));
        assert!(held.held && held.means.is_none());
    }
}

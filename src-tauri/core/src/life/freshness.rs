//! Freshness: how much of an agent's presence is left since its last sign of life. It sorts and fades; it never
//! ends or removes anything, because an old agent may just be waiting for its user.

use chrono::{DateTime, TimeDelta, Utc};

use super::truth::by_error;
use crate::registry::agents::{Agent, State};

/// 2^(−age / half-life), in 0..=1; 1 for a sign that lies in the future, as after a clock was set back.
pub fn freshness(sign: DateTime<Utc>, now: DateTime<Utc>, half_life: TimeDelta) -> f64 {
    let age = (now - sign).as_seconds_f64().max(0.0);
    let half = half_life.as_seconds_f64().max(1.0);
    (-age / half).exp2()
}

/// An agent's freshness. One that is in a turn or being started is there right now.
pub fn of(agent: &Agent, now: DateTime<Utc>, half_life: TimeDelta) -> f64 {
    match agent.state {
        State::Starting | State::Working => 1.0,
        _ => freshness(agent.sign_at.max(agent.state_at), now, half_life),
    }
}

/// Why it is as fresh as it is, in words: "worked 3 min ago".
pub fn words(agent: &Agent, now: DateTime<Utc>) -> String {
    let since = |at| span(now - at);
    match agent.state {
        State::Starting => format!("starting for {}", since(agent.state_at)),
        State::Working => format!("working for {}", since(agent.state_at)),
        State::NeedsYou if by_error(agent) => format!("failed {} ago", since(agent.state_at)),
        State::NeedsYou => format!("asked {} ago", since(agent.state_at)),
        State::Idle => format!("worked {} ago", since(agent.sign_at.max(agent.state_at))),
        State::Paused | State::Ended | State::Lost => {
            format!("{} {} ago", agent.state.name(), since(agent.state_at))
        }
    }
}

/// A span of time in one unit, the way one would say it.
fn span(time: TimeDelta) -> String {
    let seconds = time.num_seconds().max(0);
    match seconds {
        ..90 => format!("{seconds} s"),
        90..5_400 => format!("{} min", seconds / 60),
        5_400..129_600 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// How long the words of [`words`] stay as they are. Words of a time to come change when it has come.
pub fn until_other_words(agent: &Agent, now: DateTime<Utc>) -> TimeDelta {
    let since = match agent.state {
        State::Idle => agent.sign_at.max(agent.state_at),
        _ => agent.state_at,
    };
    let age = now - since;
    let unit = match age.num_seconds() {
        ..90 => TimeDelta::seconds(1),
        90..5_400 => TimeDelta::minutes(1),
        5_400..129_600 => TimeDelta::hours(1),
        _ => TimeDelta::days(1),
    };
    if age < TimeDelta::zero() {
        return TimeDelta::seconds(1) - age;
    }
    let over = age.num_milliseconds() % unit.num_milliseconds();
    unit - TimeDelta::milliseconds(over)
}

/// Puts agents in the order in which they matter: who needs the user first, the longest waiting one before all, then
/// who was lost, works, is idle, starts, rests, has ended; the fresher first within each.
pub fn sort(agents: &mut [Agent]) {
    let rank = |state| match state {
        State::NeedsYou => 0,
        State::Lost => 1,
        State::Working => 2,
        State::Idle => 3,
        State::Starting => 4,
        State::Paused => 5,
        State::Ended => 6,
    };
    let sign = |agent: &Agent| agent.sign_at.max(agent.state_at);
    agents.sort_by(|a, b| {
        let within = match a.state {
            State::NeedsYou => a.state_at.cmp(&b.state_at),
            _ => sign(b).cmp(&sign(a)),
        };
        rank(a.state).cmp(&rank(b.state)).then(within).then_with(|| a.id.cmp(&b.id))
    });
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn who_needs_the_user_comes_first_and_the_reason_is_said() {
        let now = DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc();
        let agent = |id: &str, state, minutes| {
            let at = now - TimeDelta::minutes(minutes);
            Agent { state, ..Agent::starting(id, id, Path::new("/code"), "claude-code", at) }
        };
        let mut agents = [
            agent("asks-now", State::NeedsYou, 0),
            agent("lost", State::Lost, 1),
            agent("old", State::Idle, 5000),
            agent("idle", State::Idle, 3),
            agent("works", State::Working, 2),
            agent("asks", State::NeedsYou, 200),
        ];
        sort(&mut agents);
        let said: Vec<String> = agents.iter().map(|a| format!("{}: {}", a.id, words(a, now))).collect();
        let wanted = [
            "asks: asked 3 h ago",
            "asks-now: asked 0 s ago",
            "lost: lost 60 s ago",
            "works: working for 2 min",
            "idle: worked 3 min ago",
            "old: worked 3 d ago",
        ];
        assert_eq!(said, wanted);
        let day = TimeDelta::days(1);
        assert!((of(&agents[3], now, day) - 1.0).abs() < 1e-9);
        assert!(of(&agents[5], now, day) < 0.1);
    }

    #[test]
    fn words_stay_exactly_as_long_as_is_said() {
        let at = DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc();
        let agent =
            Agent { state: State::Idle, ..Agent::starting("a", "a", Path::new("/"), "claude-code", at) };
        for seconds in [-5, 0, 1, 60, 89, 90, 100, 119, 5_399, 5_400, 90_000, 129_599, 129_600, 400_000] {
            let now = at + TimeDelta::milliseconds(seconds * 1_000 + 250);
            let other = now + until_other_words(&agent, now);
            assert_eq!(words(&agent, now), words(&agent, other - TimeDelta::milliseconds(1)), "{seconds}");
            assert_ne!(words(&agent, now), words(&agent, other), "{seconds}");
        }
    }

    #[test]
    fn half_is_left_after_the_half_life_and_a_clock_set_back_takes_nothing() {
        let now = DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc();
        let day = TimeDelta::days(1);
        let left = |age: TimeDelta| freshness(now - age, now, day);
        assert!((left(TimeDelta::zero()) - 1.0).abs() < 1e-9);
        assert!((left(day) - 0.5).abs() < 1e-9);
        assert!((left(day * 3) - 0.125).abs() < 1e-9);
        assert!((left(-day) - 1.0).abs() < 1e-9);
        assert!(left(TimeDelta::days(100_000)) >= 0.0);
        assert!(freshness(now - day, now, TimeDelta::zero()).is_finite());
    }
}

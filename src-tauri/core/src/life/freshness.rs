//! Freshness: how much of an agent's presence is left since its last sign of life. It sorts and fades; it never
//! ends or removes anything, because an old agent may just be waiting for its user.

use chrono::{DateTime, TimeDelta, Utc};

/// 2^(−age / half-life), in 0..=1; 1 for a sign that lies in the future, as after a clock was set back.
pub fn freshness(sign: DateTime<Utc>, now: DateTime<Utc>, half_life: TimeDelta) -> f64 {
    let age = (now - sign).as_seconds_f64().max(0.0);
    let half = half_life.as_seconds_f64().max(1.0);
    (-age / half).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

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

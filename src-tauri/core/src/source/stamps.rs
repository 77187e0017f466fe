//! Points in time as stores write them: RFC 3339, SQL, dates, seconds or milliseconds since 1970.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};

/// Reads a point in time written as text; `None` when it is none or lies outside 1990..2100.
pub fn from_text(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if text.len() > 64 {
        return None;
    }
    if let Ok(number) = text.parse::<f64>() {
        return from_number(number);
    }
    let zoned = ["%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M:%S%.f%#z"];
    let plain = ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"];
    DateTime::parse_from_rfc3339(text)
        .ok()
        .or_else(|| DateTime::parse_from_rfc2822(text).ok())
        .or_else(|| zoned.iter().find_map(|f| DateTime::parse_from_str(text, f).ok()))
        .map(|t| t.to_utc())
        .or_else(|| {
            plain.iter().find_map(|f| NaiveDateTime::parse_from_str(text, f).ok()).map(|t| t.and_utc())
        })
        .or_else(|| {
            NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(|d| d.and_time(NaiveTime::MIN).and_utc())
        })
        .filter(plausible)
}

/// Reads seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their size.
pub fn from_number(number: f64) -> Option<DateTime<Utc>> {
    let millis = match number {
        n if n < 1e11 => n * 1e3,
        n if n < 1e14 => n,
        n if n < 1e17 => n / 1e3,
        n => n / 1e6,
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float beyond the range saturates and is not plausible"
    )]
    DateTime::from_timestamp_millis(millis as i64).filter(plausible)
}

fn plausible(at: &DateTime<Utc>) -> bool {
    (631_152_000..4_102_444_800).contains(&at.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usual_way_of_writing_a_time_is_read() {
        for text in [
            "2026-11-30T10:20:30Z",
            "2026-11-30T11:20:30+01:00",
            "2026-11-30 10:20:30+00",
            "2026-11-30 10:20:30.000+00",
            "2026-11-30 15:50:30+05:30",
            "2026-11-30 10:20:30",
            "2026-11-30T10:20:30.000",
            "Mon, 30 Nov 2026 10:20:30 GMT",
            "1796034030",
            "1796034030000",
        ] {
            let at = from_text(text).unwrap_or_else(|| panic!("{text} is not read"));
            assert_eq!(at.to_rfc3339(), "2026-11-30T10:20:30+00:00", "{text}");
        }
        assert_eq!(
            from_text("2026-11-30").map(|t| t.to_rfc3339()).as_deref(),
            Some("2026-11-30T00:00:00+00:00")
        );
    }

    #[test]
    fn nonsense_is_no_time() {
        for text in
            ["", "yesterday", "NaN", "inf", "-1", "9e99", "2026-13-45", "infinity", "0001-01-01 00:00:00 BC"]
        {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}

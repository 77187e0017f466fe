//! The days a question speaks of: "yesterday", "last week", "on 2026-11-03", "in May 2026", "昨天".
//!
//! Only plain expressions are understood, and all in UTC; a period prefers messages and excludes none, so a
//! misunderstood one costs little.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, Utc};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// First and last millisecond since 1970 of the days a question speaks of; `None` where it speaks of none.
pub(super) fn period(question: &str, now: DateTime<Utc>) -> Option<(i64, i64)> {
    let today = now.date_naive();
    let lower = question.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty()).collect();
    let (first, last) = in_chinese(&lower, today)
        .or_else(|| words.iter().find_map(|word| written(word)))
        .or_else(|| relative(&words, today))
        .or_else(|| named_month(&words, today))?;
    Some((start(first), start(last.checked_add_days(Days::new(1))?) - 1))
}

type Range = (NaiveDate, NaiveDate);

fn start(day: NaiveDate) -> i64 {
    day.and_time(chrono::NaiveTime::MIN).and_utc().timestamp_millis()
}

fn day(day: NaiveDate) -> Range {
    (day, day)
}

fn month(year: i32, month: u32) -> Option<Range> {
    let first = NaiveDate::from_ymd_opt(year, month, 1)?;
    Some((first, first.checked_add_months(Months::new(1))?.pred_opt()?))
}

/// Monday to Sunday, `back` weeks before this one.
fn week(today: NaiveDate, back: u64) -> Option<Range> {
    let monday =
        today.checked_sub_days(Days::new(u64::from(today.weekday().num_days_from_monday()) + 7 * back))?;
    Some((monday, monday.checked_add_days(Days::new(6))?))
}

fn month_before(today: NaiveDate, back: u32) -> Option<Range> {
    let then = today.checked_sub_months(Months::new(back))?;
    month(then.year(), then.month())
}

/// `2026-11-03` or `2026-11`.
fn written(word: &str) -> Option<Range> {
    if let Ok(date) = NaiveDate::parse_from_str(word, "%Y-%m-%d") {
        return Some(day(date));
    }
    let (year, of) = word.split_once('-')?;
    if year.len() != 4 || of.len() != 2 {
        return None;
    }
    month(year.parse().ok()?, of.parse().ok()?)
}

fn relative(words: &[&str], today: NaiveDate) -> Option<Range> {
    let back = |days| today.checked_sub_days(Days::new(days));
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or("");
        let found = match (*word, next) {
            ("today", _) => Some(day(today)),
            ("yesterday", _) => back(1).map(day),
            ("this", "week") => week(today, 0),
            ("last" | "previous", "week") => week(today, 1),
            ("this", "month") => month_before(today, 0),
            ("last" | "previous", "month") => month_before(today, 1),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
        let Ok(count) = word.parse::<u64>() else { continue };
        let unit = match next {
            "day" | "days" => 1,
            "week" | "weeks" => 7,
            "month" | "months" => 30,
            _ => continue,
        };
        let then = count.checked_mul(unit).filter(|days| *days < 36_500).and_then(back);
        if words.get(at + 2) == Some(&"ago") {
            // "Two weeks ago" is rarely meant to the day.
            let about = Days::new(unit / 2);
            return then
                .and_then(|then| Some((then.checked_sub_days(about)?, then.checked_add_days(about)?)));
        }
        if at > 0 && matches!(words[at - 1], "last" | "past") {
            return then.map(|then| (then, today));
        }
    }
    None
}

/// `may 2026`, `8 may 2026`, `may 8`, `in may`. A bare month name is too often a verb or a person.
fn named_month(words: &[&str], today: NaiveDate) -> Option<Range> {
    words.iter().enumerate().find_map(|(at, word)| {
        let number = u32::try_from(MONTHS.iter().position(|name| name == word)?).ok()? + 1;
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        let after: Vec<&str> = words.iter().skip(at + 1).take(2).copied().collect();
        let year_of = |word: &str| word.parse::<i32>().ok().filter(|year| (1990..2200).contains(year));
        let day_of = |word: &str| {
            let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            digits.parse::<u32>().ok().filter(|day| (1..=31).contains(day) && word.len() - digits.len() <= 2)
        };
        let year = after.iter().find_map(|word| year_of(word));
        let on = day_of(before).or_else(|| after.first().and_then(|word| day_of(word)));
        if year.is_none() && on.is_none() && !matches!(before, "in" | "since" | "during" | "of" | "last") {
            return None;
        }
        let latest = if number > today.month() { today.year() - 1 } else { today.year() };
        let year = year.unwrap_or(latest);
        match on {
            Some(on) => NaiveDate::from_ymd_opt(year, number, on).map(day),
            None => month(year, number),
        }
    })
}

fn in_chinese(text: &str, today: NaiveDate) -> Option<Range> {
    let back = |days| today.checked_sub_days(Days::new(days)).map(day);
    [("昨天", 1), ("前天", 2), ("今天", 0)]
        .iter()
        .find(|(word, _)| text.contains(word))
        .and_then(|(_, days)| back(*days))
        .or_else(|| (text.contains("上周") || text.contains("上星期")).then(|| week(today, 1)).flatten())
        .or_else(|| text.contains("上个月").then(|| month_before(today, 1)).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(question: &str) -> Option<String> {
        let now = DateTime::parse_from_rfc3339("2026-11-30T14:00:00Z").unwrap().to_utc();
        period(question, now).map(|(first, last)| {
            let day = |ms| DateTime::from_timestamp_millis(ms).unwrap().format("%m-%d").to_string();
            format!("{}..{}", day(first), day(last))
        })
    }

    #[test]
    fn plain_expressions_are_understood() {
        for (question, expected) in [
            ("what did we decide yesterday?", "11-29..11-29"),
            ("the bug from last week", "11-23..11-29"),
            ("3 days ago", "11-27..11-27"),
            ("errors of the last 10 days", "11-20..11-30"),
            ("on 2026-11-03 we", "11-03..11-03"),
            ("in May", "05-01..05-31"),
            ("on 8 May, 2026", "05-08..05-08"),
            ("last month", "10-01..10-31"),
            ("昨天的登录问题", "11-29..11-29"),
        ] {
            assert_eq!(days(question).as_deref(), Some(expected), "{question}");
        }
    }

    #[test]
    fn words_that_only_look_like_dates_are_left_alone() {
        for question in ["this may fail", "version 3-10", "march on", "fix 3 days", "2026-13-45", ""] {
            assert_eq!(days(question), None, "{question}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_question_breaks_it(question in "(\\PC{0,6}|last|[0-9]{1,20}|days|ago|may|-| ){0,12}") {
            let _ = days(&question);
        }
    }
}

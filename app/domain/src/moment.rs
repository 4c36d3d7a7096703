//! Moments in words. Milliseconds since 1970 in, text out: what time it is, the caller knows.

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// `2026-07-30 14:03 UTC`, the same on the server and in the browser.
pub fn utc(ms: i64) -> String {
    let (days, rest) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let (year, month, day) = date(days);
    let (hour, minute) = (rest / HOUR_MS, rest % HOUR_MS / MINUTE_MS);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// `2026-07-30T14:03:09.250Z`, for programs.
pub fn rfc3339(ms: i64) -> String {
    let (days, rest) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let (year, month, day) = date(days);
    let (hour, minute) = (rest / HOUR_MS, rest % HOUR_MS / MINUTE_MS);
    let (second, ms) = (rest % MINUTE_MS / SECOND_MS, rest % SECOND_MS);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// How long ago, in one unit. What lies ahead counts as now: clocks differ a little.
pub fn ago(now_ms: i64, then_ms: i64) -> String {
    let unit = |count: i64, name: &str| match count {
        1 => format!("1 {name} ago"),
        count => format!("{count} {name}s ago"),
    };
    match now_ms - then_ms {
        past if past < MINUTE_MS => "just now".into(),
        past if past < HOUR_MS => unit(past / MINUTE_MS, "minute"),
        past if past < DAY_MS => unit(past / HOUR_MS, "hour"),
        past => unit(past / DAY_MS, "day"),
    }
}

/// What is left of a time, `4:09`; nothing once it is over.
pub fn left(ms: i64) -> Option<String> {
    (ms > 0).then(|| {
        // Rounded up, so that it says 0:00 never and 0:01 for the whole last second.
        let seconds = (ms + SECOND_MS - 1) / SECOND_MS;
        format!("{}:{:02}", seconds / 60, seconds % 60)
    })
}

/// The Gregorian date of a day since 1970. Years are counted from March, so that a leap day ends one.
fn date(days: i64) -> (i64, i64, i64) {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    const FROM_YEAR_ZERO: i64 = 719_468;
    let days = days + FROM_YEAR_ZERO;
    let (era, day) = (days.div_euclid(DAYS_IN_400_YEARS), days.rem_euclid(DAYS_IN_400_YEARS));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let check = |ms, expected: &str| assert_eq!(utc(ms), expected);
        check(0, "1970-01-01 00:00 UTC");
        check(-1, "1969-12-31 23:59 UTC");
        check(951_782_400_000, "2000-02-29 00:00 UTC");
        check(951_868_800_000, "2000-03-01 00:00 UTC");
        check(1_772_236_799_999, "2026-02-27 23:59 UTC");
        check(1_785_420_180_000, "2026-07-30 14:03 UTC");
        check(4_107_542_400_000, "2100-03-01 00:00 UTC");
        assert_eq!(rfc3339(1_785_420_189_250), "2026-07-30T14:03:09.250Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn distances() {
        let check = |past, expected: &str| assert_eq!(ago(DAY_MS * 100, DAY_MS * 100 - past), expected);
        check(-HOUR_MS, "just now");
        check(59 * SECOND_MS, "just now");
        check(MINUTE_MS, "1 minute ago");
        check(59 * MINUTE_MS, "59 minutes ago");
        check(HOUR_MS, "1 hour ago");
        check(47 * HOUR_MS, "1 day ago");
        check(9 * DAY_MS, "9 days ago");
    }

    #[test]
    fn what_is_left() {
        let check = |ms, expected: Option<&str>| assert_eq!(left(ms).as_deref(), expected);
        check(300_000, Some("5:00"));
        check(9_001, Some("0:10"));
        check(1, Some("0:01"));
        check(0, None);
        check(-5, None);
    }
}

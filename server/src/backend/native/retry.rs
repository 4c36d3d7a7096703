//! How long a server that has too many requests wants us to wait.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderValue;

/// `Retry-After` is seconds or a date. Without it each wait is twice as long as the one before.
pub(super) fn wait(retry_after: Option<&HeaderValue>, waits: u32) -> Duration {
    let said = retry_after.and_then(|value| value.to_str().ok());
    said.and_then(|said| parse(said, SystemTime::now()))
        .unwrap_or_else(|| Duration::from_secs(1 << waits.min(6)))
}

/// Rounded up, so that nobody is told zero and then waits.
pub(super) fn seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)
}

fn parse(said: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = said.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(said.trim()).ok()?;
    // A date that has passed means now.
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (said, expected) in [
            ("0", Some(0)),
            (" 30 ", Some(30)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse(said, now), expected.map(Duration::from_secs), "{said}");
        }
    }

    #[test]
    fn unsaid_waits_grow() {
        let unsaid: Vec<u64> = (1..=3).map(|waits| wait(None, waits).as_secs()).collect();
        assert_eq!(unsaid, [2, 4, 8]);
        assert_eq!(wait(Some(&HeaderValue::from_static("soon")), 1).as_secs(), 2);
    }

    #[test]
    fn shown_seconds_are_rounded_up() {
        assert_eq!([0, 1, 1000, 1001].map(|millis| seconds(Duration::from_millis(millis))), [0, 1, 1, 2]);
    }
}

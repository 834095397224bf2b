//! Lines of news: a time, a level, a message, and what belongs to it.

use std::fmt::{Display, Write};
use std::io::Write as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a line of the log says beside its message.
pub(crate) type Parts<'a> = &'a [(&'a str, &'a (dyn Display + Sync))];

/// Where news go: lines like `time=2026-01-31T12:00:00.000Z level=INFO msg=connected bot=owner/bot@1`.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(String) + Send + Sync>);

impl Log {
    /// A log that hands each line, without its end, to `sink`.
    pub fn new(sink: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// A log on standard error.
    #[must_use]
    pub fn to_stderr() -> Self {
        Self::new(|line| drop(writeln!(std::io::stderr(), "{line}"))) // news that nobody takes are dropped
    }

    pub(crate) fn info(&self, message: &str, parts: Parts<'_>) {
        self.line("INFO", message, parts);
    }

    pub(crate) fn warn(&self, message: &str, parts: Parts<'_>) {
        self.line("WARN", message, parts);
    }

    pub(crate) fn error(&self, message: &str, parts: Parts<'_>) {
        self.line("ERROR", message, parts);
    }

    fn line(&self, level: &str, message: &str, parts: Parts<'_>) {
        let mut line = format!("time={} level={level} msg={}", utc(SystemTime::now()), quoted(message));
        for (name, value) in parts {
            let _ = write!(line, " {name}={}", quoted(&value.to_string()));
        }
        (self.0)(line);
    }
}

/// A text as it stands in a line: in quotes if it would not be one word.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'=';
    if !text.is_empty() && text.bytes().all(is_plain) { text.to_owned() } else { format!("{text:?}") }
}

/// A time in UTC (RFC 3339), with milliseconds.
fn utc(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Years of 365.2425 days that begin in March, as in Howard Hinnant's civil_from_days.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let date = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::{quoted, utc};

    #[test]
    fn times_are_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_399, "2000-02-28T23:59:59.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (1_798_761_599, "2026-12-31T23:59:59.007Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(7)), text);
        }
    }

    #[test]
    fn what_is_not_one_word_is_quoted() {
        for (text, shown) in
            [("a/b@1", "a/b@1"), ("a b", "\"a b\""), ("", "\"\""), ("a\n", "\"a\\n\""), ("a=", "\"a=\"")]
        {
            assert_eq!(quoted(text), shown);
        }
    }
}

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Longer waits are of no use to someone in front of the screen; whoever retries asks again after this.
pub(super) const LONGEST: Duration = Duration::from_secs(600);

/// How long the provider wants us to wait, at most [`LONGEST`]: `retry-after-ms`, or `retry-after` in seconds or as a
/// date. A date is compared with the answer's own `date`, so that a wrong clock on this machine does no harm.
pub(super) fn read(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let wait = text("retry-after-ms").and_then(|millis| seconds(millis, 1e-3));
    let wait = wait.or_else(|| text(RETRY_AFTER.as_str()).and_then(|value| seconds(value, 1.0)));
    wait.or_else(|| {
        let parser = DateTimeParser::new();
        let until = parser.parse_timestamp(text(RETRY_AFTER.as_str())?).ok()?;
        let now = parser.parse_timestamp(text(DATE.as_str())?).ok()?;
        let left = u64::try_from(until.as_second() - now.as_second()).unwrap_or(0);
        Some(Duration::from_secs(left).min(LONGEST))
    })
}

pub(super) fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds >= 0.0)?;
    Some(Duration::from_secs_f64((seconds * unit).min(LONGEST.as_secs_f64())))
}

#![allow(clippy::disallowed_methods, reason = "the one place that asks the system for the time and for new ids")]

/// Time, so that transcripts are stable.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;
}

/// Ids, so that transcripts are stable.
pub trait IdSource: Send + Sync {
    /// A new id, unique within the process and over restarts.
    fn next(&self) -> String;
}

/// The system's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }
}

/// Time-ordered UUIDs (version 7).
pub struct UuidSource;

impl IdSource for UuidSource {
    fn next(&self) -> String {
        uuid::Uuid::now_v7().simple().to_string()
    }
}

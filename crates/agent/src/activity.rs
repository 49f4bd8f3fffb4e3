use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// Counts what is going on in a turn and its subagents: model calls and running tools, not calls that wait for a
/// person. When nothing is going on although the turn has not ended, only a person can move it.
#[derive(Clone, Debug)]
pub struct Activity {
    busy: Arc<watch::Sender<usize>>,
    worked: Arc<Mutex<Worked>>,
}

/// How long there was anything going on, by whoever shares the time.
#[derive(Debug, Default)]
struct Worked {
    before: Duration,
    since: Option<Instant>,
    going_on: usize,
}

impl Default for Activity {
    fn default() -> Self {
        Self { busy: Arc::new(watch::Sender::new(0)), worked: Arc::default() }
    }
}

impl Activity {
    /// Counts until the guard is dropped.
    pub fn enter(&self) -> ActivityGuard {
        self.worked().begin();
        self.busy.send_modify(|count| *count += 1);
        ActivityGuard { activity: self.clone() }
    }

    /// One that is busy by itself and works on the same time.
    pub(crate) fn beside(&self) -> Self {
        Self::default().on_the_time_of(self)
    }

    /// The same, working on the time of `other` from now on.
    pub(crate) fn on_the_time_of(self, other: &Self) -> Self {
        Self { worked: Arc::clone(&other.worked), ..self }
    }

    /// How long something was going on, side by side or not. What a person takes to decide is not in it.
    pub fn worked_for(&self) -> Duration {
        let worked = self.worked();
        worked.before + worked.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn worked(&self) -> MutexGuard<'_, Worked> {
        self.worked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_quiet(&self) -> bool {
        *self.busy.borrow() == 0
    }

    /// Returns once nothing is going on.
    pub async fn quiet(&self) {
        let mut seen = self.busy.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        if seen.wait_for(|count| *count == 0).await.is_err() {
            tracing::debug!("activity ended while waiting for quiet");
        }
    }
}

/// One thing going on.
#[derive(Debug)]
pub struct ActivityGuard {
    activity: Activity,
}

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        self.activity.worked().end();
        self.activity.busy.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Worked {
    fn begin(&mut self) {
        self.since.get_or_insert_with(Instant::now);
        self.going_on += 1;
    }

    fn end(&mut self) {
        self.going_on = self.going_on.saturating_sub(1);
        if self.going_on == 0 {
            self.before += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        }
    }
}

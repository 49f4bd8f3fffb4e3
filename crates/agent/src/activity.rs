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

/// How long there was anything going on.
#[derive(Debug, Default)]
struct Worked {
    before: Duration,
    since: Option<Instant>,
}

impl Default for Activity {
    fn default() -> Self {
        Self { busy: Arc::new(watch::Sender::new(0)), worked: Arc::default() }
    }
}

impl Activity {
    /// Counts until the guard is dropped.
    pub fn enter(&self) -> ActivityGuard {
        self.busy.send_modify(|count| {
            if *count == 0 {
                self.worked().since = Some(Instant::now());
            }
            *count += 1;
        });
        ActivityGuard { activity: self.clone() }
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
        self.activity.busy.send_modify(|count| {
            *count = count.saturating_sub(1);
            if *count == 0 {
                let mut worked = self.activity.worked();
                let since = worked.since.take();
                worked.before += since.map_or(Duration::ZERO, |since| since.elapsed());
            }
        });
    }
}

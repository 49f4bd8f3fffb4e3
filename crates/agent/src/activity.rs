use std::sync::Arc;

use tokio::sync::watch;

/// Counts what is going on in a turn and its subagents: model calls and running tools, not calls that wait for a
/// person. When nothing is going on although the turn has not ended, only a person can move it.
#[derive(Clone, Debug)]
pub struct Activity {
    busy: Arc<watch::Sender<usize>>,
}

impl Default for Activity {
    fn default() -> Self {
        Self { busy: Arc::new(watch::Sender::new(0)) }
    }
}

impl Activity {
    /// Counts until the guard is dropped.
    pub fn enter(&self) -> ActivityGuard {
        self.busy.send_modify(|count| *count += 1);
        ActivityGuard { activity: self.clone() }
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
        self.activity.busy.send_modify(|count| *count = count.saturating_sub(1));
    }
}

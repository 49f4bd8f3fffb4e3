//! A place that is led to only when something needs it, and again after it has gone.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Executor, Finished, SandboxError, Script};
use crate::fault::unreachable;
use crate::{BackendError, BoxFuture, ExecRequest, ExecResult, OutputSink};

/// Whoever comes within this time of an attempt that failed gets its reason instead of one more attempt.
const PAUSE: Duration = Duration::from_secs(2);

/// How a place is led to; asked again after it could not be had, or has gone.
pub type Opening = Box<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn Executor>, SandboxError>> + Send + Sync>;

/// The place that `opening` leads to. Nothing is asked before something is to be done there; where it cannot be had, that
/// is an error of what was to be done, and the next attempt is made with what comes later.
pub fn late(opening: Opening) -> Arc<dyn Executor> {
    Arc::new(Late { opening, place: Mutex::default(), first: OnceLock::new() })
}

struct Late {
    opening: Opening,
    /// Held while it is led to, so that everybody else waits for that attempt.
    place: Mutex<Place>,
    /// As it was found the first time: what it is does not change with where it is found again.
    first: OnceLock<Arc<dyn Executor>>,
}

#[derive(Default)]
struct Place {
    open: Option<Arc<dyn Executor>>,
    failed: Option<(Instant, SandboxError)>,
}

impl Late {
    async fn place(&self, cancel: &CancellationToken) -> Result<Arc<dyn Executor>, BackendError> {
        cancel.run_until_cancelled(self.opened()).await.unwrap_or(Err(BackendError::Cancelled))
    }

    async fn opened(&self) -> Result<Arc<dyn Executor>, BackendError> {
        let mut place = self.place.lock().await;
        if let Some(open) = &place.open {
            return Ok(Arc::clone(open));
        }
        if let Some((at, error)) = &place.failed
            && at.elapsed() < PAUSE
        {
            return Err(unreachable(error.to_string()));
        }
        match (self.opening)().await {
            Ok(open) => {
                *place = Place { open: Some(Arc::clone(&open)), failed: None };
                self.first.get_or_init(|| Arc::clone(&open));
                Ok(open)
            }
            Err(error) => {
                tracing::warn!(%error, "a place could not be led to");
                let told = unreachable(error.to_string());
                place.failed = Some((Instant::now(), error));
                Err(told)
            }
        }
    }

    /// Lets go of `used`, where it did not answer because it is not there any more.
    async fn look_after<T>(&self, used: &Arc<dyn Executor>, answer: &Result<T, BackendError>) {
        if !matches!(answer, Err(BackendError::Unreachable { .. })) || !used.is_gone().await {
            return;
        }
        let mut place = self.place.lock().await;
        if place.open.as_ref().is_some_and(|open| Arc::ptr_eq(open, used)) {
            place.open = None;
        }
    }
}

impl Executor for Late {
    /// Empty until it was led to.
    fn root(&self) -> &str {
        self.first.get().map_or("", |first| first.root())
    }

    fn run<'a>(&'a self, script: Script<'a>) -> BoxFuture<'a, Result<Finished, BackendError>> {
        Box::pin(async move {
            let place = self.place(&script.cancel).await?;
            let answer = place.run(script).await;
            self.look_after(&place, &answer).await;
            answer
        })
    }

    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        Box::pin(async move {
            let place = self.place(&request.cancel).await?;
            let answer = place.execute(request, sink).await;
            self.look_after(&place, &answer).await;
            answer
        })
    }

    fn default_timeout(&self) -> Duration {
        let usual = || super::LocalExecutorOptions::default().default_timeout;
        self.first.get().map_or_else(usual, |first| first.default_timeout())
    }

    /// Of what was not seen yet nobody knows that it holds anything.
    fn sandbox(&self) -> Option<&str> {
        self.first.get().and_then(|first| first.sandbox())
    }

    fn host_folder(&self) -> Option<&Path> {
        self.first.get().and_then(|first| first.host_folder())
    }

    fn is_elsewhere(&self) -> bool {
        self.first.get().is_some_and(|first| first.is_elsewhere())
    }

    fn is_gone(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { self.place.lock().await.open.is_none() })
    }
}

#[cfg(test)]
#[path = "late_tests.rs"]
mod tests;

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::root::Root;
use crate::sandbox::{Environment, around};
use crate::{BackendError, ExecRequest, ExecResult, Executor, LocalExecutorOptions, OutputSink, SandboxError};

/// The sandbox of a folder, made for the first command that is to run in it.
#[derive(Clone)]
pub(super) struct Sandboxed {
    root: Arc<Root>,
    environment: Environment,
    options: LocalExecutorOptions,
    /// One that cannot be made is tried again with the next command: what it lacks may have been added.
    executor: Arc<OnceCell<Arc<dyn Executor>>>,
}

impl Sandboxed {
    pub(super) fn new(root: Arc<Root>, environment: Environment, options: LocalExecutorOptions) -> Self {
        Self { root, environment, options, executor: Arc::default() }
    }

    /// # Errors
    /// [`BackendError::NoSandbox`] where the command cannot run in a sandbox; then it does not run at all.
    pub(super) async fn execute(
        &self,
        request: ExecRequest,
        sink: &dyn OutputSink,
    ) -> Result<ExecResult, BackendError> {
        let make = || around(&self.root, Arc::clone(&self.environment), self.options.clone());
        let executor = tokio::select! {
            biased;
            () = request.cancel.cancelled() => return Err(BackendError::Cancelled),
            executor = self.executor.get_or_try_init(make) => executor.map_err(of_sandbox)?,
        };
        executor.execute(request, sink).await.map_err(of_run)
    }
}

impl std::fmt::Debug for Sandboxed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandboxed").field("root", &self.root).finish_non_exhaustive()
    }
}

fn of_sandbox(error: SandboxError) -> BackendError {
    match error {
        SandboxError::Folder(error) => error,
        error => BackendError::NoSandbox { reason: error.to_string() },
    }
}

/// A sandbox that worked once and does not now.
fn of_run(error: BackendError) -> BackendError {
    match error {
        BackendError::Unreachable { reason, .. } | BackendError::Spawn { reason } => BackendError::NoSandbox {
            reason: format!("bubblewrap cannot be used now: {reason}; fix that and try again"),
        },
        error => error,
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "sandboxed_tests.rs"]
mod tests;

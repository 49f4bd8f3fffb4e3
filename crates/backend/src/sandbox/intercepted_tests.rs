//! An executor for tests that are about what happens on the way to it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{Executor, Finished, LocalExecutorOptions, Script, local_process};
use crate::{BackendError, BoxFuture, ExecRequest, ExecResult, OutputSink};

/// The folder `root` of this machine, where `meet` sees each script on its way and says what runs in its place, or that
/// nothing does.
pub(super) fn intercepted<F>(root: &Path, meet: F) -> Arc<dyn Executor>
where
    F: for<'s> Fn(&Script<'s>) -> Result<Cow<'s, str>, BackendError> + Send + Sync + 'static,
{
    Arc::new(Intercepted { inner: local_process(root, LocalExecutorOptions::default()).unwrap(), meet })
}

struct Intercepted<F> {
    inner: Arc<dyn Executor>,
    meet: F,
}

impl<F> Executor for Intercepted<F>
where
    F: for<'s> Fn(&Script<'s>) -> Result<Cow<'s, str>, BackendError> + Send + Sync,
{
    fn root(&self) -> &str {
        self.inner.root()
    }

    fn run<'a>(&'a self, script: Script<'a>) -> BoxFuture<'a, Result<Finished, BackendError>> {
        Box::pin(async move {
            let text = (self.meet)(&script)?;
            self.inner.run(Script { text: &text, ..script }).await
        })
    }

    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        self.inner.execute(request, sink)
    }

    fn default_timeout(&self) -> Duration {
        self.inner.default_timeout()
    }

    fn sandbox(&self) -> Option<&str> {
        self.inner.sandbox()
    }
}

//! Real places behind an executor. Where a part is not on this machine its cases are passed over and the command that
//! adds it is told; with `CI=true` it has to be there.

mod container;
mod machine;

use std::path::Path;
use std::process::Command;

use bosun_backend::{
    BackendError, BoxFuture, Commands, ExecRequest, ExecResult, Executor, Finished, LocalExecutorOptions,
    LocalShellBackend, LocalShellOptions, OutputSink, SandboxBackend, SandboxError, Script, bubblewrap, local_process,
};
use bosun_testkit::missing;
pub use bosun_testkit::ran;
pub use container::{
    container, container_of, container_with_a_copy, container_with_a_copy_of_nothing, existing, labelled,
    labelled_container, no_such_image,
};
pub use machine::machine;

/// Whether a run worked that needs rights.
pub fn ran_if(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// The common part of all of them, with nothing between it and this machine.
pub async fn here(folder: &Path) -> SandboxBackend {
    SandboxBackend::open(local_process(folder, LocalExecutorOptions::default()).unwrap()).await
}

/// The same where no program is that takes locks, as on other systems.
pub async fn without_locks(folder: &Path) -> SandboxBackend {
    SandboxBackend::open(std::sync::Arc::new(WithoutLocks(
        local_process(folder, LocalExecutorOptions::default()).unwrap(),
    )))
    .await
}

struct WithoutLocks(std::sync::Arc<dyn Executor>);

impl Executor for WithoutLocks {
    fn root(&self) -> &str {
        self.0.root()
    }

    fn run<'a>(&'a self, script: Script<'a>) -> BoxFuture<'a, Result<Finished, BackendError>> {
        Box::pin(async move {
            let text = format!("flock() {{ return 127; }}\n{}", script.text);
            self.0.run(Script { text: &text, ..script }).await
        })
    }

    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        self.0.execute(request, sink)
    }

    fn default_timeout(&self) -> std::time::Duration {
        self.0.default_timeout()
    }

    fn sandbox(&self) -> Option<&str> {
        self.0.sandbox()
    }
}

/// The folder's own files, with commands in a sandbox.
pub async fn commands_in_a_sandbox(folder: &Path) -> Option<LocalShellBackend> {
    sandbox(folder).await?;
    let options = LocalShellOptions { commands: Commands::Sandbox.into(), ..LocalShellOptions::default() };
    Some(LocalShellBackend::open(folder, options).unwrap())
}

pub async fn sandbox(folder: &Path) -> Option<SandboxBackend> {
    match bubblewrap(folder, LocalExecutorOptions::default()).await {
        Ok(executor) => Some(SandboxBackend::open(executor).await),
        Err(SandboxError::Missing { .. }) => missing("bubblewrap", "apt-get install bubblewrap"),
        Err(error) => missing(&error.to_string(), "sysctl kernel.unprivileged_userns_clone=1, or run as root"),
    }
}

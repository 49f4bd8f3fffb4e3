//! Real places behind an executor. Where a part is not on this machine its cases are passed over and the command that
//! adds it is told; with `CI=true` it has to be there.

mod container;
mod machine;

use std::path::Path;
use std::process::Command;

use bosun_backend::{LocalExecutorOptions, SandboxBackend, SandboxError, bubblewrap, local_process};
use bosun_testkit::missing;
pub use bosun_testkit::ran;
pub use container::{
    container, container_with_a_copy, container_with_a_copy_of_nothing, existing, labelled, labelled_container,
    no_such_image,
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

pub async fn sandbox(folder: &Path) -> Option<SandboxBackend> {
    match bubblewrap(folder, LocalExecutorOptions::default()).await {
        Ok(executor) => Some(SandboxBackend::open(executor).await),
        Err(SandboxError::Missing { .. }) => missing("bubblewrap", "apt-get install bubblewrap"),
        Err(error) => missing(&error.to_string(), "sysctl kernel.unprivileged_userns_clone=1, or run as root"),
    }
}

//! Real places behind an executor. Where a part is not on this machine its cases are passed over and the command that
//! adds it is told; with `CI=true` it has to be there.

mod container;
mod machine;

use std::path::Path;
use std::process::Command;

use bosun_backend::{LocalExecutorOptions, SandboxBackend, SandboxError, bubblewrap, local_process};
pub use container::{container, container_with_a_copy, existing, no_such_image};
pub use machine::machine;

/// `None` where the part is missing, after saying so.
fn missing<T>(what: &str, remedy: &str) -> Option<T> {
    let required = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!required, "{what} is not here, and with CI=true it has to be: {remedy}");
    eprintln!("passed over: {what} is not here; add it with {remedy}");
    None
}

fn is_here(program: &str) -> bool {
    let found = Command::new("/bin/sh").arg("-c").arg(format!("command -v {program}")).output();
    found.is_ok_and(|found| found.status.success())
}

/// A run that has to work, and what it printed.
pub fn ran(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Whether a run worked that needs rights.
pub fn ran_if(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// The common part of all of them, with nothing between it and this machine.
pub fn here(folder: &Path) -> SandboxBackend {
    SandboxBackend::new(local_process(folder, LocalExecutorOptions::default()).unwrap())
}

pub async fn sandbox(folder: &Path) -> Option<SandboxBackend> {
    match bubblewrap(folder, LocalExecutorOptions::default()).await {
        Ok(executor) => Some(SandboxBackend::new(executor)),
        Err(SandboxError::Missing { .. }) => missing("bubblewrap", "apt-get install bubblewrap"),
        Err(error) => missing(&error.to_string(), "sysctl kernel.unprivileged_userns_clone=1, or run as root"),
    }
}

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::process::Command;

use super::{Launcher, LocalExecutorOptions, NamedThing, Prepared, ProcessExecutor, Purpose, SandboxError, last_words};
use crate::local_shell::{LocalShellOptions, environment};
use crate::{BackendError, Executor};

/// Scripts as plain processes of this machine, below the folder `root`. Nothing is held back; it is there to try the
/// other executors' common part without them.
///
/// # Errors
/// [`SandboxError::Folder`] for a folder that cannot be a name in a script.
pub fn local_process(root: &Path, options: LocalExecutorOptions) -> Result<Arc<dyn Executor>, SandboxError> {
    let local = Local { environment: usual(root), root: root.to_owned() };
    Ok(ProcessExecutor::shared(Arc::new(local), named(root)?, options))
}

struct Local {
    environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    root: PathBuf,
}

/// The environment that commands of this machine get.
pub(super) fn usual(root: &Path) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    environment::build(std::env::vars_os(), &LocalShellOptions::default(), root)
}

/// The folder as text.
pub(super) fn named(root: &Path) -> Result<String, SandboxError> {
    let given = root.to_string_lossy().into_owned();
    match root.to_str() {
        Some(root) => Ok(root.to_owned()),
        None => {
            Err(SandboxError::BadName { what: NamedThing::Folder, given, rule: "its path has to be text in UTF-8" })
        }
    }
}

impl Launcher for Local {
    fn program(&self, text: &str, args: &[String], _purpose: Purpose) -> Result<Prepared, BackendError> {
        let mut shell = Command::new("/bin/sh");
        shell.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        shell.arg("-c").arg(text).arg("sh").args(args);
        Ok(shell.into())
    }

    fn holds_back(&self) -> Option<&str> {
        None
    }

    fn host_folder(&self) -> Option<&Path> {
        Some(&self.root)
    }

    fn unreachable(&self, said: &str) -> String {
        format!("/bin/sh ended before it ran anything: {}", last_words(said))
    }

    fn broke_off(&self, _code: i32) -> bool {
        false
    }
}

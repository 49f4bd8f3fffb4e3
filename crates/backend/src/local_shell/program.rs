//! Programs that are talked to over their pipes: servers of tools, hooks.

mod once;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

pub use once::{ProgramAnswer, ProgramRun};

use super::run::Alive;
use super::tree::{ProcessTree, Tag};
use super::{LocalShellOptions, environment, launch};
use crate::BackendError;

/// A program, as it is started: without a shell, and with no more of the app's environment than it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// A path, or a name that is looked for in the search path without the folders of `folder`.
    pub program: String,
    pub args: Vec<String>,
    /// Where it starts.
    pub folder: PathBuf,
    /// Variables that are taken from the app's own environment besides the usual few, secrets included: whoever lists
    /// one has said so. The app's own keys are not in its environment.
    pub pass_environment: Vec<String>,
    /// Variables with these values.
    pub set_environment: Vec<(String, String)>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramExit {
    /// `None` where a signal ended it.
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// Both ends of a program's conversation, and what it says beside it.
pub struct ProgramPipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// A program that runs. It and everything it started end when this is dropped.
pub struct RunningProgram {
    child: Box<dyn ChildWrapper>,
    alive: Alive,
}

impl Program {
    /// Starts it in a session of its own.
    ///
    /// # Errors
    /// [`BackendError::Spawn`] with what the system says.
    pub fn start(&self) -> Result<(RunningProgram, ProgramPipes), BackendError> {
        let failed = |reason: String| BackendError::Spawn { reason };
        let has_nul = |text: &String| text.contains('\0');
        if self.program.trim().is_empty() || has_nul(&self.program) || self.args.iter().any(has_nul) {
            return Err(failed("it has no name, or a NUL byte in its arguments".into()));
        }
        let tag = Tag::fresh();
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.environment(std::env::vars_os()))
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        launch::prepare_child(&mut command, tag);
        let spawned = CommandWrap::from(command).wrap(ProcessSession).spawn();
        let mut child = spawned.map_err(|error| failed(error.to_string()))?;
        let tree =
            child.id().and_then(|id| ProcessTree::of(id, tag)).ok_or_else(|| failed("it has no process".into()))?;
        let alive = Alive::new(tree);
        match (child.stdin().take(), child.stdout().take(), child.stderr().take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Ok((RunningProgram { child, alive }, ProgramPipes { stdin, stdout, stderr }))
            }
            _ => Err(failed("its pipes cannot be used".into())),
        }
    }

    fn environment(&self, own: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let own: Vec<_> = own.collect();
        let listed = own.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let listed = listed.filter(|(name, _)| self.pass_environment.iter().any(|listed| listed == name));
        let mut set: Vec<(String, String)> = listed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        set.extend(self.set_environment.iter().cloned());
        let options = LocalShellOptions { set_environment: set, ..LocalShellOptions::default() };
        environment::build(own.into_iter(), &options, Path::new(&self.folder))
    }
}

impl RunningProgram {
    /// Waits for its end by itself.
    ///
    /// # Errors
    /// [`BackendError::Spawn`] where the system cannot tell.
    pub async fn wait(&mut self) -> Result<ProgramExit, BackendError> {
        let status = self.child.wait().await;
        status.map(ProgramExit::from).map_err(|error| BackendError::Spawn { reason: error.to_string() })
    }

    /// Ends it and everything it started: asks first, then kills.
    pub async fn end(mut self) {
        self.alive.end_now().await;
        // Only to leave no dead process behind.
        if tokio::time::timeout(std::time::Duration::from_secs(1), self.child.wait()).await.is_err() {
            tracing::warn!("a program was killed and has not ended yet");
        }
    }
}

impl From<ExitStatus> for ProgramExit {
    fn from(status: ExitStatus) -> Self {
        Self { code: status.code(), signal: status.signal() }
    }
}

impl std::fmt::Display for ProgramExit {
    /// Completes a sentence that begins with the program.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "ended with code {code}"),
            (None, Some(signal)) => write!(f, "was ended by signal {signal}"),
            (None, None) => f.write_str("ended"),
        }
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;

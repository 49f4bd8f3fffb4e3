//! Files and commands of this machine, below one folder.

mod commands;
pub(crate) mod environment;
pub(crate) mod launch;
mod output;
mod program;
pub(crate) mod run;
mod sandboxed;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use commands::{CommandSwitch, Commands};
pub use program::{Program, ProgramAnswer, ProgramExit, ProgramPipes, ProgramRun, RunningProgram};
use sandboxed::Sandboxed;
use tokio::sync::Semaphore;

use crate::fault::on_disk;
use crate::sandbox::{Environment, HOLDS_BACK};
use crate::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, CommandChanges, Delete, ExecRequest, ExecResult, Expect,
    FilesystemBackend, FilesystemOptions, LocalExecutorOptions, OutputSink, Replacement, Shell, Sightings, VirtualPath,
    hand_on,
};

/// Longest command, in bytes: what the system takes as one argument.
const MAX_COMMAND: usize = 128 * 1024 - 1;

/// How a [`LocalShellBackend`] runs commands.
#[derive(Clone, Debug)]
pub struct LocalShellOptions {
    pub files: FilesystemOptions,
    /// What a person calls the folder besides its own name ([`FilesystemBackend::open_called`]).
    pub names: Vec<PathBuf>,
    pub commands: CommandSwitch,
    /// For requests that name no limit.
    pub default_timeout: Duration,
    pub max_timeout: Duration,
    /// Commands that run at the same time; more wait.
    pub at_once: usize,
    /// Names of variables that commands get from the app's own environment besides the usual few. Names that look
    /// like those of secrets are never passed.
    pub pass_environment: Vec<String>,
    /// Variables that commands get with these values.
    pub set_environment: Vec<(String, String)>,
    /// Where long outputs wait, in files without a name; `None`: the system's temporary folder.
    pub spool_dir: Option<PathBuf>,
    /// What was seen of the project's files, so that commands can be told what they did; `None`: nothing is compared.
    pub sightings: Option<Arc<Sightings>>,
}

impl Default for LocalShellOptions {
    fn default() -> Self {
        Self {
            files: FilesystemOptions::default(),
            names: Vec::new(),
            commands: CommandSwitch::default(),
            default_timeout: Duration::from_secs(120),
            max_timeout: Duration::from_secs(3600),
            at_once: 8,
            pass_environment: Vec::new(),
            set_environment: Vec::new(),
            spool_dir: None,
            sightings: None,
        }
    }
}

/// A [`FilesystemBackend`] with a [`Shell`] beside it. Files are the same wherever commands run; what holds those back
/// is told by [`Shell::sandbox`].
#[derive(Clone, Debug)]
pub struct LocalShellBackend {
    files: FilesystemBackend,
    commands: CommandSwitch,
    sandboxed: Sandboxed,
    environment: Environment,
    default_timeout: Duration,
    max_timeout: Duration,
    spool_dir: PathBuf,
    running: Arc<Semaphore>,
    sightings: Option<Arc<Sightings>>,
}

impl LocalShellBackend {
    /// Takes hold of the folder at `root` and of the environment as it is now. Blocks on the disk for a moment.
    ///
    /// # Errors
    /// Those of [`FilesystemBackend::open`].
    pub fn open(root: &Path, options: LocalShellOptions) -> Result<Self, BackendError> {
        let files = FilesystemBackend::open_called(root, &options.names, options.files)?;
        let environment: Environment = environment::build(std::env::vars_os(), &options, files.root().host()).into();
        let spool_dir = options.spool_dir.unwrap_or_else(std::env::temp_dir);
        let in_sandbox = LocalExecutorOptions {
            default_timeout: options.default_timeout,
            max_timeout: options.max_timeout,
            at_once: options.at_once,
            spool_dir: spool_dir.clone(),
        };
        Ok(Self {
            sandboxed: Sandboxed::new(Arc::clone(files.root()), Arc::clone(&environment), in_sandbox),
            files,
            commands: options.commands,
            environment,
            default_timeout: options.default_timeout,
            max_timeout: options.max_timeout,
            spool_dir,
            running: Arc::new(Semaphore::new(options.at_once.max(1))),
            sightings: options.sightings,
        })
    }

    async fn run(&self, request: ExecRequest, sink: &dyn OutputSink) -> Result<ExecResult, BackendError> {
        // As it was when the command was asked for: the rest may take a while.
        let commands = self.commands.get();
        if request.held && commands == Commands::Machine {
            return Err(BackendError::SandboxOff);
        }
        check_command(&request.command)?;
        let timeout = request.timeout.unwrap_or(self.default_timeout);
        if timeout.is_zero() || timeout > self.max_timeout {
            return Err(BackendError::BadTimeout { given: timeout.as_secs(), max: self.max_timeout.as_secs() });
        }
        let _permit = tokio::select! {
            permit = self.running.acquire() => permit.map_err(|_| BackendError::Cancelled)?,
            () = request.cancel.cancelled() => return Err(BackendError::Cancelled),
        };
        let root = Arc::clone(self.files.root());
        on_disk(move || root.check_alive()).await?;
        let Some(sightings) = &self.sightings else {
            return self.launched(request, commands, timeout, sink).await;
        };
        let command = tokio::select! {
            biased;
            () = request.cancel.cancelled() => return Err(BackendError::Cancelled),
            command = sightings.command(self.files.root(), &request.cancel) => command,
        };
        // Where it could not be run there is nothing to look for.
        let ran = self.launched(request, commands, timeout, sink).await?;
        Ok(ExecResult { files: Some(command.ended(self.files.root()).await), ..ran })
    }

    async fn launched(
        &self,
        request: ExecRequest,
        commands: Commands,
        timeout: Duration,
        sink: &dyn OutputSink,
    ) -> Result<ExecResult, BackendError> {
        if commands == Commands::Sandbox {
            return self.sandboxed.execute(ExecRequest { timeout: Some(timeout), ..request }, sink).await;
        }
        let running = launch::launch(self.files.root(), &request.command, &self.environment)?;
        run::run(running, timeout, &request.cancel, sink, self.spool_dir.clone(), None).await
    }

    /// No command did this, whichever runs.
    fn note(&self, change: &Change) {
        if let Some(sightings) = &self.sightings {
            sightings.note(&change.path, change.after.as_ref().and_then(|stamp| stamp.hash.as_ref()));
        }
    }
}

pub(crate) fn check_command(command: &str) -> Result<(), BackendError> {
    let refused = |reason: String| Err(BackendError::BadCommand { reason });
    if command.trim().is_empty() {
        return refused("it is empty; give the command to run".to_owned());
    }
    if command.contains('\0') {
        return refused("it contains a NUL byte, which no shell accepts; leave it out".to_owned());
    }
    if command.len() > MAX_COMMAND {
        let length = command.len();
        return refused(format!(
            "it is {length} bytes long and the system takes {MAX_COMMAND}; write it to a file and run that"
        ));
    }
    Ok(())
}

impl Shell for LocalShellBackend {
    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        Box::pin(self.run(request, sink))
    }

    fn default_timeout(&self) -> Duration {
        self.default_timeout
    }

    fn sandbox(&self) -> Option<&str> {
        match self.commands.get() {
            Commands::Machine => None,
            Commands::Sandbox => Some(HOLDS_BACK),
        }
    }

    fn left_over(&self) -> BoxFuture<'_, Option<CommandChanges>> {
        Box::pin(async move {
            match &self.sightings {
                Some(sightings) => Some(sightings.left_over(self.files.root()).await),
                None => None,
            }
        })
    }
}

impl Backend for LocalShellBackend {
    hand_on!(files: ls, names, stat, read, grep, glob, upload, download, stamp, modes, tidy, host_path, direct, resolve);

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(
            async move { self.files.write(path, bytes, expect, witness).await.inspect(|change| self.note(change)) },
        )
    }

    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move {
            self.files.edit(path, replacement, expect, witness).await.inspect(|change| self.note(change))
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        Some(self)
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        Some(self)
    }
}

impl Delete for LocalShellBackend {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        Box::pin(async move {
            let deleted = self.files.delete(path, expect, witness).await;
            deleted.inspect(|changes| changes.iter().for_each(|change| self.note(change)))
        })
    }
}

#[cfg(test)]
#[path = "local_shell_tests.rs"]
mod tests;

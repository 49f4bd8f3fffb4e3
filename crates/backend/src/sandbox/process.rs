//! Executors that are a program of this machine: it takes a script there and brings back what it said.

mod bubblewrap;
mod container;
mod keeper;
mod local;
mod ssh;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::word::{End, Word};
use super::{Cut, Executor, Finished, OnDrop, Script, script};
use crate::fault::{on_disk, unreachable};
use crate::local_shell::launch::{Input, start};
use crate::local_shell::{check_command, run};
use crate::root::identity;
use crate::{BackendError, BoxFuture, ExecRequest, ExecResult, OutputSink, VirtualPath};
pub(crate) use bubblewrap::{Environment, HOLDS_BACK, around};
pub use bubblewrap::{bubblewrap, sandbox_trouble};
pub use container::{ContainerOptions, ProjectIn, container};
pub use local::local_process;
pub use ssh::{SshOptions, ssh};

/// Bytes of a script's standard error that are kept.
const COMPLAINT: usize = 64 * 1024;
const PIPE: usize = 64 * 1024;

/// What was given a name that it cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedThing {
    Host,
    Container,
    /// One that a container shall see.
    ContainerFolder,
    Folder,
}

impl fmt::Display for NamedThing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host",
            Self::Container => "container or image",
            Self::ContainerFolder => "folder for a container",
            Self::Folder => "folder",
        })
    }
}

/// Why an executor is not there, in words that say what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    #[error("{program} is not installed on this machine; install it with {remedy}")]
    Missing { program: &'static str, remedy: &'static str },
    #[error("{program} is installed but cannot be used: {reason}; {remedy}")]
    Unusable { program: String, reason: String, remedy: String },
    #[error("commands cannot run in a sandbox on this system: the sandbox needs Linux with bubblewrap")]
    Elsewhere,
    #[error("'{given}' cannot be the name of a {what}: {rule}; use another name")]
    BadName { what: NamedThing, given: String, rule: &'static str },
    #[error(
        "no container could be started from '{name}': {program} says: {reason}; name a running container, an image \
         that is on this machine, or one with its registry in the name"
    )]
    NoContainer { name: String, program: String, reason: String },
    #[error(
        "the container '{name}' already exists, and no folder can be mounted into it any more; leave out the folder to \
         work on what is in the container, copy the folder there with `{program} cp`, or name an image"
    )]
    NoFolderIn { name: String, program: String },
    #[error(transparent)]
    Folder(#[from] BackendError),
}

/// What a host's or a container's name has to be: anything else could be an option.
const NAME_RULE: &str = "it must not contain spaces or start with a dash";

/// How commands of an executor run.
#[derive(Clone, Debug)]
pub struct LocalExecutorOptions {
    /// For requests that name no limit.
    pub default_timeout: Duration,
    pub max_timeout: Duration,
    /// Commands that run at the same time; more wait.
    pub at_once: usize,
    /// Where long outputs wait, in files without a name.
    pub spool_dir: PathBuf,
}

impl Default for LocalExecutorOptions {
    fn default() -> Self {
        Self {
            default_timeout: Duration::from_secs(120),
            max_timeout: Duration::from_secs(3600),
            at_once: 8,
            spool_dir: std::env::temp_dir(),
        }
    }
}

/// What a program is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// A script about files.
    Files,
    /// A command of the user's or the model's.
    Command,
}

/// A program that is ready to be started.
struct Prepared {
    program: Command,
    /// What is held of it, where something is.
    watched: Option<Watched>,
}

impl From<Command> for Prepared {
    fn from(program: Command) -> Self {
        Self { program, watched: None }
    }
}

/// What is looked after of a command that may not change everything.
struct Watched {
    /// As [`ExecResult::unheld`].
    unheld: bool,
    /// What it has made by now, as [`ExecResult::armed`], and whether there is more. Blocks.
    armed: Box<dyn FnOnce() -> (Vec<VirtualPath>, bool) + Send>,
}

impl Watched {
    async fn told(self) -> Result<(Vec<VirtualPath>, bool), BackendError> {
        let Self { unheld, armed } = self;
        let (armed, cut) = on_disk(move || Ok(armed())).await?;
        Ok((armed, unheld || cut))
    }
}

/// Makes the local program that takes a script over there.
trait Launcher: Send + Sync {
    /// Waited for before a program is made: what all of them need is there then, or cannot be.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Programs that can be there at the same time; more wait.
    fn at_once(&self) -> Option<usize> {
        None
    }

    /// A program that runs `/bin/sh -c TEXT sh ARGS…` there, with its own standard input, output and error as theirs.
    fn program(&self, text: &str, args: &[String], purpose: Purpose) -> Result<Prepared, BackendError>;

    /// Whether the environment that a command finds is made for it already.
    fn makes_environment(&self) -> bool {
        false
    }

    /// What a command holds from before its program is made until it has ended, where it must be the only one.
    fn alone(&self) -> Option<&'static Semaphore> {
        None
    }

    /// Told once for every program made for [`Purpose::Command`], when it has ended or was never started.
    fn command_ended(&self) {}

    /// As [`Executor::sandbox`].
    fn holds_back(&self) -> Option<&str>;

    /// As [`Executor::host_folder`].
    fn host_folder(&self) -> Option<&Path> {
        None
    }

    /// Whether the programs over there are others than those of this machine, and what they start is not among its
    /// processes.
    fn is_elsewhere(&self) -> bool {
        false
    }

    /// Why the script did not begin, and what to do, by what was said in its place.
    fn unreachable(&self, said: &str) -> String;

    /// As [`Executor::is_gone`].
    fn is_gone(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { true })
    }

    /// Whether the program ends with `code` where the way there broke off; no script of files does.
    fn broke_off(&self, code: i32) -> bool;
}

struct ProcessExecutor {
    launcher: Arc<dyn Launcher>,
    root: String,
    options: LocalExecutorOptions,
    /// Which folder the root was when something first came there, in words of that place.
    folder: OnceLock<String>,
    /// The same of the folder of this machine that it is, as this machine tells.
    host: Option<(u64, u64)>,
    /// Commands.
    running: Semaphore,
    /// Everything.
    open: Semaphore,
}

impl ProcessExecutor {
    fn shared(launcher: Arc<dyn Launcher>, root: String, options: LocalExecutorOptions) -> Arc<dyn Executor> {
        let running = Semaphore::new(options.at_once.max(1));
        let open = Semaphore::new(launcher.at_once().unwrap_or(Semaphore::MAX_PERMITS));
        let host = launcher.host_folder().and_then(|folder| rustix::fs::stat(folder).ok());
        let host = host.map(|stat| identity(&stat));
        Arc::new(Self { launcher, root, options, folder: OnceLock::new(), host, running, open })
    }

    /// # Errors
    /// [`BackendError::RootGone`] where another folder has come to have the name of the one that is worked in: what is
    /// mounted into a place stays there, and what a person sees is the other.
    fn check_alive(&self) -> Result<(), BackendError> {
        let (Some(host), Some(folder)) = (self.host, self.launcher.host_folder()) else { return Ok(()) };
        let now = rustix::fs::stat(folder).ok().map(|stat| identity(&stat));
        if now == Some(host) { Ok(()) } else { Err(BackendError::RootGone) }
    }

    /// The way there, for one program.
    async fn way(&self) -> Result<SemaphorePermit<'_>, BackendError> {
        let permit = self.open.acquire().await.map_err(|_| BackendError::Cancelled)?;
        self.check_alive()?;
        self.launcher.ready().await;
        Ok(permit)
    }

    async fn run_script(&self, script: Script<'_>) -> Result<Finished, BackendError> {
        let _way = tokio::select! {
            way = self.way() => way?,
            () = tokio::time::sleep(script.time) => return Ok(cut(Cut::Wait)),
            () = script.cancel.cancelled() => return Err(BackendError::Cancelled),
        };
        let args: Vec<String> = std::iter::once(self.root.clone()).chain(script.args).collect();
        let mut word = Word::fresh();
        let Prepared { mut program, .. } =
            self.launcher.program(&word.in_front_of(script.text, self.folder()), &args, Purpose::Files)?;
        program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(script.on_drop == OnDrop::End);
        let failed = |error: std::io::Error| unreachable(error.to_string());
        let started = keeper::started(move || program.spawn()).await;
        // That is this machine's fault, and says nothing of the place.
        let spawned = |error: std::io::Error| BackendError::Spawn { reason: error.to_string() };
        let mut child = started.ok_or_else(not_started)?.map_err(spawned)?;
        let input = child.stdin.take();
        let feed = async move {
            if let Some(mut input) = input {
                // Where nobody reads it any more, the exit code says why.
                input.write_all(&script.input).await.ok();
            }
        };
        let talk = talk(&mut child, feed, script.limit, &mut word);
        let finished = tokio::select! {
            finished = talk => finished.map_err(failed)?,
            () = tokio::time::sleep(script.time) => return Ok(ended(child).await),
            () = script.cancel.cancelled() => {
                ended(child).await;
                return Err(BackendError::Cancelled);
            }
        };
        if !word.has_begun() {
            let said = [finished.output.as_slice(), finished.complaint.as_bytes()].join(&b'\n');
            let reason = self.launcher.unreachable(&String::from_utf8_lossy(&said));
            return Err(unreachable(reason));
        }
        if let Some(folder) = word.folder() {
            self.folder.get_or_init(|| folder.to_owned());
        }
        if finished.cut.is_some() || !finished.code.is_none_or(|code| self.launcher.broke_off(code)) {
            return Ok(finished);
        }
        match script.on_drop {
            OnDrop::End => Err(unreachable(self.launcher.unreachable(&finished.complaint))),
            OnDrop::Finish => Ok(Finished { cut: Some(Cut::Line), ..finished }),
        }
    }

    fn folder(&self) -> Option<&str> {
        self.folder.get().map(String::as_str)
    }

    /// The program for a command, made where looking through a large project keeps nobody waiting.
    async fn command_program(&self, command: String, word: &Word) -> Result<(Prepared, Ended), BackendError> {
        let launcher = Arc::clone(&self.launcher);
        let made = if launcher.makes_environment() { "made" } else { "" };
        let (mark, folder) = (script::fresh_word(), self.folder().unwrap_or_default().to_owned());
        let args = [self.root.clone(), command, word.as_str().to_owned(), made.to_owned(), mark, folder];
        on_disk(move || {
            let program = launcher.program(script::EXECUTE, &args, Purpose::Command)?;
            Ok((program, Ended(launcher)))
        })
        .await
    }

    async fn run_command(&self, request: ExecRequest, sink: &dyn OutputSink) -> Result<ExecResult, BackendError> {
        check_command(&request.command)?;
        let timeout = request.timeout.unwrap_or(self.options.default_timeout);
        if timeout.is_zero() || timeout > self.options.max_timeout {
            let max = self.options.max_timeout.as_secs();
            return Err(BackendError::BadTimeout { given: timeout.as_secs(), max });
        }
        let _permit = tokio::select! {
            permit = self.running.acquire() => permit.map_err(|_| BackendError::Cancelled)?,
            () = request.cancel.cancelled() => return Err(BackendError::Cancelled),
        };
        let _way = tokio::select! {
            way = self.way() => way?,
            () = request.cancel.cancelled() => return Err(BackendError::Cancelled),
        };
        let alone = async {
            match self.launcher.alone() {
                Some(alone) => alone.acquire().await.map(Some).map_err(|_| BackendError::Cancelled),
                None => Ok(None),
            }
        };
        let _alone = tokio::select! {
            alone = alone => alone?,
            () = request.cancel.cancelled() => return Err(BackendError::Cancelled),
        };
        let mut word = Word::fresh();
        let (Prepared { program, watched }, _ended) = self.command_program(request.command, &word).await?;
        let started = keeper::started(move || start(program, Input::Line)).await;
        let running = started.ok_or_else(not_started)??;
        let spool = self.options.spool_dir.clone();
        let result = run::run(running, timeout, &request.cancel, sink, spool, Some(&mut word)).await?;
        let told = word.end();
        let may_go_on = self.launcher.is_elsewhere() && told.is_none_or(|end| end.may_go_on);
        let (armed, unheld) = match watched {
            Some(watched) => watched.told().await?,
            None => (Vec::new(), false),
        };
        let result = ExecResult { unheld, armed, may_go_on, ..result };
        if result.timed_out || result.cancelled {
            return Ok(result);
        }
        match (told, result.exit_code) {
            (Some(End { exit_code, signal, .. }), _) => Ok(ExecResult { exit_code, signal, ..result }),
            (None, _) if word.has_begun() => {
                Ok(ExecResult { exit_code: None, signal: None, broke_off: true, ..result })
            }
            (None, Some(70)) => Err(BackendError::RootGone),
            (None, _) => Err(unreachable(self.launcher.unreachable(&result.output))),
        }
    }
}

/// Tells the launcher that a command has ended, however that came.
struct Ended(Arc<dyn Launcher>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.command_ended();
    }
}

fn not_started() -> BackendError {
    BackendError::Spawn {
        reason: "the part of the app that starts programs has broken off, so that the app has to be started anew"
            .to_owned(),
    }
}

/// The first of `names` in the folders of the system's programs: never one that a project could put there.
fn found(names: &[&'static str]) -> Option<(&'static str, PathBuf)> {
    const FOLDERS: [&str; 7] = [
        "/usr/bin",
        "/usr/local/bin",
        "/bin",
        "/usr/sbin",
        "/opt/homebrew/bin",
        "/run/current-system/sw/bin",
        "/nix/var/nix/profiles/default/bin",
    ];
    let places =
        names.iter().flat_map(|name| FOLDERS.iter().map(move |folder| (*name, PathBuf::from(folder).join(name))));
    let mut places = places.filter(|(_, path)| path.is_file());
    places.next()
}

/// The last of what was said, without the mark of its stream.
fn last_words(said: &str) -> &str {
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing was said");
    last.trim_start_matches("[stderr] ").trim()
}

/// Ends what did not end by itself. Its group goes with it, which is all of it that is on this machine.
async fn ended(mut child: Child) -> Finished {
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    let killed = match group {
        Some(group) => rustix::process::kill_process_group(group, rustix::process::Signal::KILL).map_err(Into::into),
        None => Ok(()),
    };
    let reaped = killed.and(child.wait().await.map(|_| ()));
    if let Err(error) = reaped {
        tracing::debug!(%error, "a script was over before it was ended");
    }
    cut(Cut::Time)
}

fn cut(why: Cut) -> Finished {
    Finished { code: None, output: Vec::new(), complaint: String::new(), cut: Some(why) }
}

/// Feeds a script and takes what it says until it ends; of one that did not begin, what was said in its place.
async fn talk(
    child: &mut Child,
    feed: impl Future<Output = ()>,
    limit: usize,
    word: &mut Word,
) -> std::io::Result<Finished> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let ((), output, complaint) = tokio::join!(feed, taken(out, limit, word), heard(err));
    let ((output, more), complaint) = (output?, complaint?);
    if more {
        // It has more to say than anybody takes, and would wait for ever.
        child.start_kill()?;
    }
    let status = child.wait().await?;
    let cut = more.then_some(Cut::Size);
    Ok(Finished { code: status.code(), output, complaint: String::from_utf8_lossy(&complaint).into_owned(), cut })
}

/// The beginning of what is said; the rest is let go, because who is not heard any more is ended by that.
async fn heard(from: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let Some(mut from) = from else { return Ok(Vec::new()) };
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; PIPE]);
    loop {
        let got = from.read(&mut buffer).await?;
        if got == 0 {
            return Ok(bytes);
        }
        let room = COMPLAINT.saturating_sub(bytes.len()).min(got);
        bytes.extend_from_slice(buffer.get(..room).unwrap_or_default());
    }
}

/// At most `limit` bytes of the script's own, and whether there was more.
async fn taken(
    from: Option<impl AsyncRead + Unpin>,
    limit: usize,
    word: &mut Word,
) -> std::io::Result<(Vec<u8>, bool)> {
    let Some(mut from) = from else { return Ok((Vec::new(), false)) };
    let mut bytes = Vec::new();
    let mut buffer = vec![0; PIPE];
    loop {
        let got = from.read(&mut buffer).await?;
        let part = if got == 0 { word.left() } else { word.hear(buffer.get(..got).unwrap_or_default()) };
        let room = limit.saturating_sub(bytes.len());
        bytes.extend_from_slice(part.get(..room).unwrap_or(&part));
        if got == 0 || part.len() > room {
            return Ok((bytes, part.len() > room));
        }
    }
}

impl Executor for ProcessExecutor {
    fn root(&self) -> &str {
        &self.root
    }

    fn run<'a>(&'a self, script: Script<'a>) -> BoxFuture<'a, Result<Finished, BackendError>> {
        Box::pin(self.run_script(script))
    }

    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        Box::pin(self.run_command(request, sink))
    }

    fn default_timeout(&self) -> Duration {
        self.options.default_timeout
    }

    fn sandbox(&self) -> Option<&str> {
        self.launcher.holds_back()
    }

    fn host_folder(&self) -> Option<&Path> {
        self.launcher.host_folder()
    }

    fn is_elsewhere(&self) -> bool {
        self.launcher.is_elsewhere()
    }

    fn is_gone(&self) -> BoxFuture<'_, bool> {
        self.launcher.is_gone()
    }
}

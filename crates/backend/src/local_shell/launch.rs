use std::ffi::OsString;
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};

use super::tree::{ProcessTree, Tag};
use crate::BackendError;
use crate::root::Root;

/// A command that has been started.
pub(crate) struct Running {
    pub(super) child: Box<dyn ChildWrapper>,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
    pub(super) tree: ProcessTree,
    /// Open while the command may go on, where something at the other end looks at that.
    pub(super) line: Option<ChildStdin>,
}

/// What a command's standard input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// There is none.
    Closed,
    /// Nothing comes, and its end says that the command is to end.
    Line,
}

/// Starts `command` in the folder that `root` holds, in a session of its own, with nothing to read.
pub(super) fn launch(
    root: &Root,
    command: &str,
    environment: &[(OsString, OsString)],
) -> Result<Running, BackendError> {
    let mut shell = Command::new("/bin/sh");
    shell
        .arg("-c")
        .arg(command)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(working_folder(root));
    start(shell, Input::Closed)
}

/// Starts a program in a session of its own, as the head of a tree that can be ended as a whole.
pub(crate) fn start(mut program: Command, input: Input) -> Result<Running, BackendError> {
    let failed = |reason: String| BackendError::Spawn { reason };
    let tag = Tag::fresh();
    program
        .stdin(if input == Input::Line { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    prepare_child(&mut program, tag);
    let said = |error: std::io::Error| match error.kind() {
        // The sandbox finds out in the new process that something is not what it was when it was looked at.
        std::io::ErrorKind::StaleNetworkFileHandle => "something in the project was replaced meanwhile".to_owned(),
        _ => error.to_string(),
    };
    let mut child = CommandWrap::from(program).wrap(ProcessSession).spawn().map_err(|error| failed(said(error)))?;
    let tree = child.id().and_then(|id| ProcessTree::of(id, tag)).ok_or_else(|| failed("it has no process".into()))?;
    let line = child.stdin().take();
    match (child.stdout().take(), child.stderr().take()) {
        (Some(stdout), Some(stderr)) => Ok(Running { child, stdout, stderr, tree, line }),
        _ => Err(failed("its output cannot be read".into())),
    }
}

/// The folder as an object, not by its name: whatever happens to the name, the command starts where the files are.
#[cfg(target_os = "linux")]
fn working_folder(root: &Root) -> std::path::PathBuf {
    use std::os::fd::AsRawFd;
    let held = format!("/proc/self/fd/{}", root.handle().as_raw_fd());
    if std::path::Path::new(&held).exists() { held.into() } else { root.host().to_owned() }
}

#[cfg(not(target_os = "linux"))]
fn working_folder(root: &Root) -> std::path::PathBuf {
    root.host().to_owned()
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the only way to do something between fork and exec")]
pub(super) fn prepare_child(shell: &mut Command, tag: Tag) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    // SAFETY: the closure runs in the forked child of a process with many threads. It makes two system calls and
    // nothing else: it allocates nothing and takes no lock.
    unsafe {
        shell.pre_exec(move || {
            tag.put_on_this_process();
            let none = Rlimit { current: Some(0), maximum: Some(0) };
            // A core file in the project would hold whatever the program had in memory.
            setrlimit(Resource::Core, none).or(Ok(()))
        });
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn prepare_child(_shell: &mut Command, _tag: Tag) {}

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::{BackendError, BoxFuture, ExecRequest, ExecResult, OutputSink};

/// Runs things in a place that has a POSIX shell. Uploading is a script's input, downloading its output.
pub trait Executor: Send + Sync {
    /// The folder over there that is `/` here: an absolute path, or one below where scripts begin.
    fn root(&self) -> &str;

    /// Runs `/bin/sh -c TEXT sh ROOT ARGS…` to its end, however that is.
    ///
    /// # Errors
    /// [`BackendError::Unreachable`] where the script did not begin, or only looked and was not heard to its end;
    /// [`BackendError::Cancelled`].
    fn run<'a>(&'a self, script: Script<'a>) -> BoxFuture<'a, Result<Finished, BackendError>>;

    /// As [`Shell::execute`](crate::Shell::execute), in the root.
    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>>;

    fn default_timeout(&self) -> Duration;

    /// What holds commands back, in words for a person: `None` where nothing does.
    fn sandbox(&self) -> Option<&str>;

    /// The root as a folder of this machine, where it is one: what changes there changes here.
    fn host_folder(&self) -> Option<&Path> {
        None
    }

    /// Whether its programs are others than those of this machine, such as what they know of locks.
    fn is_elsewhere(&self) -> bool {
        false
    }

    /// Whether the place is not there any more, for whoever found that it does not answer. Where it leads anew to what is
    /// there, saying so loses nothing.
    fn is_gone(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { true })
    }
}

/// A script of this crate's own.
pub struct Script<'a> {
    pub text: &'a str,
    /// `$2` and what follows; `$1` is the root.
    pub args: Vec<String>,
    /// Its standard input.
    pub input: Vec<u8>,
    /// Bytes of its output that are taken.
    pub limit: usize,
    pub time: Duration,
    pub cancel: CancellationToken,
    pub on_drop: OnDrop,
}

/// What becomes of a script whose caller goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDrop {
    /// It is ended: it only looks.
    End,
    /// It goes on by itself to where it leaves nothing half done.
    Finish,
}

/// How a script ended.
#[derive(Debug)]
pub struct Finished {
    /// `None` where it was ended.
    pub code: Option<i32>,
    pub output: Vec<u8>,
    /// The beginning of what it said on standard error.
    pub complaint: String,
    /// Why `output` is not all there was.
    pub cut: Option<Cut>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It was begun and took too long.
    Time,
    /// There was no way to the place for too long, so that it was not begun.
    Wait,
    Size,
    /// The way to the place broke off after the script had begun.
    Line,
}

//! Files and commands of another place that has a POSIX shell: a container, a machine behind SSH, a local sandbox.
//!
//! Every operation is a small script that an [`Executor`] runs there. Nothing but `sh` and the usual small programs is
//! assumed: names travel NUL-separated, ignore files are fetched and applied here, and a change is an upload beside the
//! file, a check of what is there, and a rename, in one script. That script stays in the folder that it found, so that no
//! link that others put in the way leads a change out; all else that races with other programs over there is settled by
//! hash, and not everything that group P asks of this machine's files is.
//!
//! Whether something ran is told by a word that its script says when it begins, and for a command again at the end: codes
//! and words of the programs that go there can be a command's own (`word.rs`).

mod answer;
mod change;
mod executor;
#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "sandbox/guard_tests.rs"]
mod guard_tests;
#[cfg(test)]
#[path = "sandbox/intercepted_tests.rs"]
mod intercepted;
mod large;
mod late;
mod process;
mod read;
mod remove;
mod root_name;
mod script;
mod search;
mod word;

use std::sync::Arc;
use std::time::Duration;

use crate::{
    Backend, BackendError, BoxFuture, Change, ChangeWitness, Delete, ExecRequest, ExecResult, Expect, FileStamp,
    GlobQuery, GlobResult, GrepQuery, GrepResult, Listed, OutputSink, ReadResult, ReadWindow, Replacement, SetMode,
    Shell, Unwitnessed, VirtualPath,
};
use change::Content;
pub use executor::{Cut, Executor, Finished, OnDrop, Script};
pub use late::{Opening, late};
pub use process::{
    ContainerOptions, LocalExecutorOptions, NamedThing, ProjectIn, SandboxError, SshOptions, bubblewrap, container,
    local_process, sandbox_trouble, ssh,
};
pub(crate) use process::{Environment, HOLDS_BACK, around};
use root_name::RootName;
pub(crate) use word::Word;

/// Largest file that goes over, in bytes.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// The files below an executor's root, and its commands.
#[derive(Clone)]
pub struct SandboxBackend {
    executor: Arc<dyn Executor>,
    /// Changes wait for each other: what one finds is what the next one left.
    changing: Arc<tokio::sync::Mutex<()>>,
    root: Arc<RootName>,
}

impl SandboxBackend {
    /// Asks what the root is called there; where nobody answers in time, paths mean what they say.
    pub async fn open(executor: Arc<dyn Executor>) -> Self {
        let root = Arc::new(RootName::of(&*executor).await);
        Self { executor, changing: Arc::default(), root }
    }

    /// For a place below a folder of another path space, where nobody calls the root by its name over there: nothing is
    /// asked, so that nobody waits for a place that is not used.
    pub fn below(executor: Arc<dyn Executor>) -> Self {
        Self { executor, changing: Arc::default(), root: Arc::default() }
    }
}

impl Backend for SandboxBackend {
    fn ls<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Listed, BackendError>> {
        Box::pin(async move {
            let rows = read::list(&*self.executor, path).await?;
            rows.iter().for_each(|row| self.root.saw(&row.path));
            Ok(rows)
        })
    }

    fn read<'a>(
        &'a self,
        path: &'a VirtualPath,
        window: ReadWindow,
    ) -> BoxFuture<'a, Result<ReadResult, BackendError>> {
        Box::pin(read::read(&*self.executor, path, window))
    }

    fn write<'a>(
        &'a self,
        path: &'a VirtualPath,
        bytes: Vec<u8>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(async move {
            let done = change::change(self, path, Content::Whole(bytes), expect, witness).await?;
            self.root.saw(path);
            Ok(done)
        })
    }

    fn edit<'a>(
        &'a self,
        path: &'a VirtualPath,
        replacement: Replacement<'a>,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Change, BackendError>> {
        Box::pin(change::change(self, path, Content::Edit(replacement), expect, witness))
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepResult, BackendError>> {
        Box::pin(search::grep(&*self.executor, query))
    }

    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobResult, BackendError>> {
        Box::pin(search::glob(&*self.executor, query))
    }

    fn upload(&self, files: Vec<(VirtualPath, Vec<u8>)>) -> BoxFuture<'_, Vec<Result<(), BackendError>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(files.len());
            for (path, bytes) in files {
                let done = change::change(self, &path, Content::Whole(bytes), Expect::Anything, &Unwitnessed).await;
                answers.push(done.map(|_| self.root.saw(&path)));
            }
            answers
        })
    }

    fn download(&self, paths: Vec<VirtualPath>) -> BoxFuture<'_, Vec<Result<Vec<u8>, BackendError>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(paths.len());
            for path in paths {
                answers.push(read::whole(&*self.executor, &path, read::Led::Anywhere).await.map(|file| file.bytes));
            }
            answers
        })
    }

    fn stamp<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<FileStamp, BackendError>> {
        Box::pin(async move {
            match read::whole(&*self.executor, path, read::Led::Anywhere).await {
                Err(BackendError::TooLarge { size, .. }) => {
                    let modified_ns = self.stat(path).await?.modified_ns.unwrap_or_default();
                    Ok(FileStamp { device: 0, inode: 0, size, modified_ns, hash: None })
                }
                file => Ok(file?.stamp()),
            }
        })
    }

    fn shell(&self) -> Option<&dyn Shell> {
        Some(self)
    }

    fn modes(&self) -> Option<&dyn SetMode> {
        Some(self)
    }

    fn deleter(&self) -> Option<&dyn Delete> {
        Some(self)
    }

    fn host_path(&self, path: &VirtualPath) -> Option<std::path::PathBuf> {
        let folder = self.executor.host_folder()?;
        Some(if path.is_root() { folder.to_owned() } else { folder.join(path.relative()) })
    }

    /// The root by the name that commands have for it becomes `/`, unless it had an entry of its own by the first part of
    /// that name when this was opened. Where it has come to have one since, such a path is refused; one without a slash
    /// in front is always below the root.
    fn resolve(&self, text: &str) -> Result<VirtualPath, BackendError> {
        let path = VirtualPath::parse(text)?;
        let below = if text.starts_with('/') { self.root.below(&path)? } else { None };
        Ok(below.unwrap_or(path))
    }
}

impl SetMode for SandboxBackend {
    fn set_mode<'a>(&'a self, path: &'a VirtualPath, mode: u32) -> BoxFuture<'a, Result<(), BackendError>> {
        Box::pin(async move {
            let _guard = self.changing.lock().await;
            let bits = format!("{:o}", mode & 0o777);
            script::run(&*self.executor, script::about(script::MODE, path, &[&bits]), path).await.map(drop)
        })
    }

    fn mode<'a>(&'a self, path: &'a VirtualPath) -> BoxFuture<'a, Result<Option<u32>, BackendError>> {
        Box::pin(async move {
            let told = script::run(&*self.executor, script::about(script::MODE, path, &[]), path).await?;
            let figures = std::str::from_utf8(&told).ok().and_then(answer::Figures::parse);
            Ok(figures.and_then(|(figures, _)| figures.permissions()).map(|bits| bits & 0o777))
        })
    }
}

impl Delete for SandboxBackend {
    fn delete<'a>(
        &'a self,
        path: &'a VirtualPath,
        expect: Expect,
        witness: &'a dyn ChangeWitness,
    ) -> BoxFuture<'a, Result<Vec<Change>, BackendError>> {
        Box::pin(remove::delete(self, path, expect, witness))
    }
}

impl Shell for SandboxBackend {
    fn execute<'a>(
        &'a self,
        request: ExecRequest,
        sink: &'a dyn OutputSink,
    ) -> BoxFuture<'a, Result<ExecResult, BackendError>> {
        Box::pin(async move {
            let ran = self.executor.execute(request, sink).await?;
            self.root.look_again(&*self.executor).await;
            Ok(ran)
        })
    }

    fn default_timeout(&self) -> Duration {
        self.executor.default_timeout()
    }

    fn sandbox(&self) -> Option<&str> {
        self.executor.sandbox()
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Executor, script};
use crate::{BackendError, VirtualPath};

/// Time for telling the name.
const TIME: Duration = Duration::from_secs(10);

/// What the root is called where commands run, which they tell and the model then uses (behaviour.md A26).
///
/// What a path means is settled when the place is opened, so that what was judged is what is done: from then on a path
/// can come to be refused, and never to mean another file.
#[derive(Debug, Default)]
pub(super) struct RootName {
    /// Absolute, without links. `None` where every path means what it says: the root is `/`, has an entry of its own that
    /// is called as the first part of its name, or could not be asked.
    name: Option<VirtualPath>,
    /// The root has come to have such an entry.
    has_double: AtomicBool,
}

/// What the place says.
struct Told {
    name: VirtualPath,
    is_own: bool,
}

impl RootName {
    pub(super) async fn of(executor: &dyn Executor) -> Self {
        let told = ask(executor).await.filter(|told| !told.name.is_root() && !told.is_own);
        Self { name: told.map(|told| told.name), has_double: AtomicBool::new(false) }
    }

    /// `path` as a path below the root, where it is the root's name or goes on from there.
    ///
    /// # Errors
    /// [`BackendError::AmbiguousPath`] where it could be an entry of the root's own as well.
    pub(super) fn below(&self, path: &VirtualPath) -> Result<Option<VirtualPath>, BackendError> {
        let Some(below) = self.name.as_ref().and_then(|name| path.strip_prefix(name)) else { return Ok(None) };
        if self.has_double.load(Ordering::SeqCst) {
            return Err(BackendError::AmbiguousPath { path: path.clone(), below });
        }
        Ok(Some(below))
    }

    /// This is in the root, or something below it.
    pub(super) fn saw(&self, path: &VirtualPath) {
        if self.name.as_ref().is_some_and(|name| name.segments().next() == path.segments().next()) {
            self.has_double.store(true, Ordering::SeqCst);
        }
    }

    /// A command may have made anything.
    pub(super) async fn look_again(&self, executor: &dyn Executor) {
        if self.name.is_some()
            && !self.has_double.load(Ordering::SeqCst)
            && ask(executor).await.is_some_and(|told| told.is_own)
        {
            self.has_double.store(true, Ordering::SeqCst);
        }
    }
}

async fn ask(executor: &dyn Executor) -> Option<Told> {
    let root = VirtualPath::root();
    let mut script = script::about(script::ROOT, &root, &[]);
    script.time = TIME;
    let told = match script::run(executor, script, &root).await {
        Ok(told) => told,
        Err(error) => {
            tracing::debug!(%error, "what the root is called was not told");
            return None;
        }
    };
    let mut parts = told.split(|byte| *byte == 0);
    let name = VirtualPath::parse(std::str::from_utf8(parts.next()?).ok()?).ok()?;
    Some(Told { name, is_own: parts.next() == Some(b"own") })
}

#[cfg(test)]
#[path = "root_name_tests.rs"]
mod tests;

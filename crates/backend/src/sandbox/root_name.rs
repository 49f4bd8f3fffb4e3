use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Executor, script};
use crate::VirtualPath;

/// What the root is called where commands run, which they tell and the model then uses (behaviour.md A26).
#[derive(Default)]
pub(super) struct RootName(Mutex<Option<Known>>);

struct Known {
    /// Absolute, without links.
    name: VirtualPath,
    /// The root has an entry of its own that is called as the first part of its name: a path that begins so is that.
    is_own: bool,
}

impl RootName {
    /// Asks once.
    pub(super) async fn learn(&self, executor: &dyn Executor) {
        if self.known().is_some() {
            return;
        }
        let root = VirtualPath::root();
        let told = match script::run(executor, script::about(script::ROOT, &root, &[]), &root).await {
            Ok(told) => told,
            Err(error) => {
                tracing::debug!(%error, "what the root is called was not told");
                return;
            }
        };
        let mut parts = told.split(|byte| *byte == 0);
        let name = parts.next().and_then(|name| VirtualPath::parse(std::str::from_utf8(name).ok()?).ok());
        if let Some(name) = name.filter(|name| !name.is_root()) {
            *self.known() = Some(Known { name, is_own: parts.next() == Some(b"own") });
        }
    }

    /// `path` as a path below the root, where it is the root's name or goes on from there.
    pub(super) fn below(&self, path: &VirtualPath) -> Option<VirtualPath> {
        let known = self.known();
        let Known { name, is_own: false } = known.as_ref()? else { return None };
        path.strip_prefix(name)
    }

    /// The names of all that is in the root.
    pub(super) fn listed<'a>(&self, mut names: impl Iterator<Item = &'a str>) {
        if let Some(known) = &mut *self.known() {
            let first = known.name.segments().next();
            known.is_own = names.any(|name| Some(name) == first);
        }
    }

    /// Something is at `path` now.
    pub(super) fn made(&self, path: &VirtualPath) {
        if let Some(known) = &mut *self.known() {
            known.is_own |= path.segments().next() == known.name.segments().next();
        }
    }

    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

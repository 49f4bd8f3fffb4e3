use std::collections::BTreeMap;

use bosun_backend::{FileConflict, FileData, VirtualPath, merge_files};
use bosun_tools::StateUpdate;

use crate::State;

/// What a subagent was given by its parent, kept where it changed it since: so much of the common ground as merging
/// needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seed {
    given: bool,
    /// Changed files as they were given; `None` where there was none.
    files: BTreeMap<VirtualPath, Option<FileData>>,
}

impl Seed {
    pub(super) fn of(_state: &State) -> Self {
        Self { given: true, files: BTreeMap::new() }
    }

    /// `path` is about to change from `now`.
    pub(super) fn touch(&mut self, path: &VirtualPath, now: Option<&FileData>) {
        if self.given && !self.files.contains_key(path) {
            self.files.insert(path.clone(), now.cloned());
        }
    }
}

impl State {
    /// What a subagent gets: the parent's files and what the parent has read, not its plan and not its messages.
    pub(crate) fn seed(&self) -> StateUpdate {
        StateUpdate {
            files: self.files.iter().map(|(path, data)| (path.clone(), Some(data.clone()))).collect(),
            reads: self.reads.iter().map(|(path, stamp)| (path.clone(), Some(stamp.clone()))).collect(),
            ..StateUpdate::default()
        }
    }

    /// What brings a subagent, whose state this is and whose work is merged, to where its parent is now. What it knows
    /// of files itself stays.
    pub(crate) fn seed_again(&self, parent: &Self) -> StateUpdate {
        let mut seed = parent.seed();
        seed.files.retain(|(path, data)| self.files.get(path) != data.as_ref());
        seed.files.extend(
            self.files.keys().filter(|path| !parent.files.contains_key(*path)).map(|path| (path.clone(), None)),
        );
        seed.reads.retain(|(path, _)| !self.reads.contains_key(path));
        seed
    }

    /// What a subagent, whose state this is, made of what it was given, for a parent that may have gone on meanwhile.
    /// Where both changed a file, the parent's stays and the subagent's is kept beside it.
    pub(crate) fn merged_into(&self, parent: &Self) -> (StateUpdate, Vec<FileConflict>) {
        let base: BTreeMap<VirtualPath, FileData> = self
            .seed
            .files
            .iter()
            .filter_map(|(path, data)| data.as_ref().map(|data| (path.clone(), data.clone())))
            .collect();
        let theirs = self.seed.files.keys().map(|path| (path.clone(), self.files.get(path).cloned())).collect();
        let (files, conflicts) = merge_files(&parent.files, &base, theirs);
        (StateUpdate { files, ..StateUpdate::default() }, conflicts)
    }
}

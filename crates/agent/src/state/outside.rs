use std::collections::HashSet;

use bosun_backend::{FileStamp, VirtualPath};
use bosun_tools::StateUpdate;

use crate::{OutsideChange, State};

/// What there is to know of files beside their stamps, for telling an agent when they change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Following {
    /// Files of which the agent is not to be told: it was told already, or knows of them only that its parent has read
    /// them.
    quiet: HashSet<VirtualPath>,
    /// Every reading and writing, in that order, so that whoever follows files looks at new ones only.
    met: Vec<VirtualPath>,
}

impl Following {
    /// The agent has read or changed the file, or has forgotten it.
    pub(super) fn known(&mut self, path: &VirtualPath) {
        self.quiet.remove(path);
        self.met.push(path.clone());
    }

    /// What a subagent is given was read by its parent.
    pub(super) fn heard_of(&mut self, seed: &StateUpdate) {
        self.quiet.extend(seed.reads.iter().map(|(path, _)| path.clone()));
    }

    pub(super) fn told_of(&mut self, files: &[OutsideChange]) {
        self.quiet.extend(files.iter().map(|file| file.path.clone()));
    }
}

/// A file as an agent read or wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedFile {
    pub path: VirtualPath,
    pub stamp: FileStamp,
}

impl State {
    /// The files of which the agent is to be told when they are no longer as it knows them.
    pub fn followed(&self) -> Vec<FollowedFile> {
        self.reads.keys().filter_map(|path| self.followed_file(path)).collect()
    }

    /// The same for one file.
    pub fn followed_file(&self, path: &VirtualPath) -> Option<FollowedFile> {
        let stamp = self.reads.get(path).filter(|_| !self.following.quiet.contains(path))?;
        Some(FollowedFile { path: path.clone(), stamp: stamp.clone() })
    }

    /// How often files were read or written so far.
    pub fn met(&self) -> usize {
        self.following.met.len()
    }

    /// The files that were read or written since there were so many of that.
    pub fn met_since(&self, met: usize) -> Vec<FollowedFile> {
        let new: HashSet<&VirtualPath> = self.following.met.iter().skip(met).collect();
        new.into_iter().filter_map(|path| self.followed_file(path)).collect()
    }
}

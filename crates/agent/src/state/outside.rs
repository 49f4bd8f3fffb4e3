use std::collections::HashSet;

use bosun_backend::{FileStamp, VirtualPath};
use bosun_tools::StateUpdate;

use crate::{OutsideChange, State};

/// Files of which the agent is not to be told when they change: it was told already, or knows of them only that its
/// parent has read them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Quiet(HashSet<VirtualPath>);

impl Quiet {
    /// The agent has read or changed the file, or has forgotten it.
    pub(super) fn known(&mut self, path: &VirtualPath) {
        self.0.remove(path);
    }

    /// What a subagent is given was read by its parent.
    pub(super) fn heard_of(&mut self, seed: &StateUpdate) {
        self.0.extend(seed.reads.iter().map(|(path, _)| path.clone()));
    }

    pub(super) fn told_of(&mut self, files: &[OutsideChange]) {
        self.0.extend(files.iter().map(|file| file.path.clone()));
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
        let heard = self.reads.iter().filter(|(path, _)| !self.quiet.0.contains(*path));
        heard.map(|(path, stamp)| FollowedFile { path: path.clone(), stamp: stamp.clone() }).collect()
    }
}

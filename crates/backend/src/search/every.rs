use std::fs::File;

use rustix::fs::{FileType, Stat};

use super::dialect::{Glob, Hidden};
use super::unread::Why;
use super::walk::{Found, Visitor, Walk};
use super::{Budget, truncation};
use crate::root::{Root, file_type};
use crate::{BackendError, Truncation, VirtualPath};

/// A regular file that a walk over all of them has met.
pub(crate) struct SeenFile<'a> {
    pub(crate) path: VirtualPath,
    pub(crate) stat: Stat,
    found: &'a Found<'a>,
    root: &'a Root,
}

impl SeenFile<'_> {
    /// `None` where it is no regular file any more or cannot be read.
    pub(crate) fn open(&self) -> Option<File> {
        self.found.open(self.root).ok().flatten()
    }
}

/// Takes files, on several threads.
pub(crate) trait Seeing: Sync {
    fn see(&self, file: &SeenFile<'_>);
}

/// Shows `seeing` every regular file below the root that ignore files do not leave out, hidden ones too. Links and what
/// is in `.git` are passed over. Gives why some were not met, where that is so.
///
/// # Errors
/// As of a search; [`BackendError::Cancelled`] where the budget was stopped.
pub(crate) fn every_file(
    root: &Root,
    budget: &Budget,
    seeing: &impl Seeing,
) -> Result<Option<Truncation>, BackendError> {
    let all = Glob::parse("{*,.*}", Hidden::Enter)?;
    let walk = Walk::new(root, budget, &VirtualPath::root(), Some(all), false)?;
    Ok(truncation(&walk.run(&Every { root, seeing })?, false))
}

struct Every<'a, S> {
    root: &'a Root,
    seeing: &'a S,
}

impl<S: Seeing> Visitor for Every<'_, S> {
    type Local = ();

    fn local(&self) {}

    fn wants(&self, _path: &str) -> bool {
        true
    }

    fn visit(&self, found: &Found<'_>, (): &mut ()) -> Result<(), Why> {
        let stat = found.stat()?;
        if file_type(&stat) == FileType::RegularFile
            && let Some(path) = found.path()
        {
            self.seeing.see(&SeenFile { path, stat, found, root: self.root });
        }
        Ok(())
    }
}

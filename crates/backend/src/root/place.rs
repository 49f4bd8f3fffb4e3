use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use super::{FOLDER, Links, Root, file_type};
use crate::VirtualPath;

/// What a change at a link means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinalLink {
    /// Writing goes through it to its target.
    Follow,
    /// Deleting removes the link itself.
    Keep,
}

/// Where a change happens: a name in an open folder, without a link anywhere on the way.
#[derive(Debug)]
pub(crate) struct Place {
    /// The nearest folder that exists.
    pub(crate) dir: Arc<OwnedFd>,
    /// Folders between `dir` and the file that have to be made first.
    pub(crate) missing: Vec<String>,
    pub(crate) name: String,
    /// The path without links; equal to the caller's where there are none.
    pub(crate) path: VirtualPath,
    /// What is there now.
    pub(crate) found: Option<Stat>,
}

/// A link that appears between resolving and opening makes the opening fail; then all is done again.
const TRIES: u32 = 8;

impl Root {
    /// Finds the place of `path`, which is not the root.
    pub(crate) fn place(&self, path: &VirtualPath, link: FinalLink) -> Result<Place, Errno> {
        let mut direct = path.clone();
        for _ in 0..TRIES {
            match self.place_directly(&direct) {
                Ok(place) => {
                    let is_link = place.found.as_ref().is_some_and(|stat| file_type(stat) == FileType::Symlink);
                    if !is_link || link == FinalLink::Keep {
                        return Ok(place);
                    }
                    direct = self.direct(path)?;
                }
                Err(Errno::LOOP) => {
                    direct = match (link, path.parent(), path.name()) {
                        (FinalLink::Keep, Some(parent), Some(name)) => {
                            self.direct(&parent)?.join(name).map_err(|_| Errno::NAMETOOLONG)?
                        }
                        _ => self.direct(path)?,
                    };
                }
                Err(errno) => return Err(errno),
            }
        }
        Err(Errno::LOOP)
    }

    /// `path` with its links replaced by where they lead below the root; see [`Root::untangle`].
    pub(crate) fn direct(&self, path: &VirtualPath) -> Result<VirtualPath, Errno> {
        VirtualPath::parse(&format!("/{}", self.untangle(path.relative())?)).map_err(|_| Errno::NAMETOOLONG)
    }

    fn place_directly(&self, path: &VirtualPath) -> Result<Place, Errno> {
        let name = path.name().ok_or(Errno::ISDIR)?.to_owned();
        let mut parent = path.parent().unwrap_or_else(VirtualPath::root);
        let mut missing = Vec::new();
        let dir = loop {
            match self.open_path(&parent, FOLDER, Links::Refuse) {
                Err(Errno::NOENT) => {
                    let name = parent.name().ok_or(Errno::NOENT)?.to_owned();
                    missing.push(name);
                    parent = parent.parent().unwrap_or_else(VirtualPath::root);
                }
                opened => break opened?,
            }
        };
        missing.reverse();
        let found = if missing.is_empty() {
            match rustix::fs::statat(&dir, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => Some(stat),
                Err(Errno::NOENT) => None,
                Err(errno) => return Err(errno),
            }
        } else {
            None
        };
        Ok(Place { dir: Arc::new(dir), missing, name, path: path.clone(), found })
    }
}

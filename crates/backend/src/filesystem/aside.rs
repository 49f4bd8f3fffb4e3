//! What a name stands for is taken from under it before it goes: what was taken can be looked at and given back, while
//! between a look at a name and an end to it somebody can save.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::leftovers::{aside_name, beside_name};
use crate::ContentHash;

/// An object without its name. It is not dropped by itself: whoever took it removes it or puts it back.
#[derive(Debug)]
#[must_use]
pub(super) struct Aside<'a> {
    dir: BorrowedFd<'a>,
    /// What it was called.
    name: &'a str,
    waiting: String,
}

/// What could not be put back is under this name.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) errno: Errno,
}

impl<'a> Aside<'a> {
    /// `recorded`: the bytes that need not be kept, should this be as far as it comes.
    pub(super) fn take(dir: BorrowedFd<'a>, name: &'a str, recorded: Option<&ContentHash>) -> Result<Self, Errno> {
        let waiting = aside_name(name, recorded.as_slice());
        match rustix::fs::renameat_with(dir, name, dir, &*waiting, RenameFlags::NOREPLACE) {
            // Nobody else has this name: it was made just now.
            Err(errno) if unsupported(errno) => rustix::fs::renameat(dir, name, dir, &*waiting)?,
            result => result?,
        }
        Ok(Self { dir, name, waiting })
    }

    /// Of a link, where it leads.
    pub(super) fn target(&self) -> Result<Vec<u8>, Errno> {
        Ok(rustix::fs::readlinkat(self.dir, &*self.waiting, Vec::new())?.into_bytes())
    }

    pub(super) fn stat(&self) -> Result<Stat, Errno> {
        rustix::fs::statat(self.dir, &*self.waiting, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Ends it for good. Where that cannot be it is still there.
    pub(super) fn remove(&self) -> Result<(), Errno> {
        rustix::fs::unlinkat(self.dir, &*self.waiting, AtFlags::empty())
    }

    /// Gives it its name again, unless something has that by now.
    pub(super) fn put_back(self) -> Result<(), Kept> {
        give_back(self.dir, self.name, &self.waiting)
    }
}

/// Gives what waits under a name of ours the name `name`, unless something has that by now.
pub(super) fn give_back(dir: BorrowedFd<'_>, name: &str, waiting: &str) -> Result<(), Kept> {
    let back = match rustix::fs::renameat_with(dir, waiting, dir, name, RenameFlags::NOREPLACE) {
        Err(errno) if unsupported(errno) => rustix::fs::linkat(dir, waiting, dir, name, AtFlags::empty())
            .and_then(|()| rustix::fs::unlinkat(dir, waiting, AtFlags::empty())),
        result => result,
    };
    back.map_err(|errno| Kept { name: keep_beside(dir, name, waiting), errno })
}

/// Lets what waits under a name of ours be, under one that no crash is thought to have left, and gives the name it has.
pub(super) fn keep_beside(dir: BorrowedFd<'_>, name: &str, waiting: &str) -> String {
    let beside = beside_name(name, waiting);
    let moved = rustix::fs::renameat_with(dir, waiting, dir, &*beside, RenameFlags::NOREPLACE);
    let kept = if moved.is_ok() { beside } else { waiting.to_owned() };
    tracing::warn!(%name, %kept, "what was under a name is kept beside it");
    kept
}

/// Whether a file system says that it does not know such a rename.
pub(super) fn unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::{AsFd, OwnedFd};

    use pretty_assertions::assert_eq;

    use super::*;

    /// It is given back, and where its name was taken meanwhile both stay.
    #[test]
    fn what_was_taken_aside_is_put_back_or_kept_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let dir = OwnedFd::from(fs::File::open(folder.path()).unwrap());
        fs::write(&path, "saved").unwrap();
        let aside = Aside::take(dir.as_fd(), "a.txt", None).unwrap();
        assert!(!path.exists() && aside.stat().is_ok());
        aside.put_back().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "saved");
        let aside = Aside::take(dir.as_fd(), "a.txt", None).unwrap();
        fs::write(&path, "saved again").unwrap();
        let kept = aside.put_back().unwrap_err();
        assert_eq!((kept.errno, fs::read_to_string(&path).unwrap()), (Errno::EXIST, "saved again".to_owned()));
        assert!(kept.name.starts_with("a.txt.bosun-"), "it can be seen whose it was: {}", kept.name);
        assert_eq!(fs::read_to_string(folder.path().join(kept.name)).unwrap(), "saved");
    }
}

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{Mounts, NAME, identity};

/// Opens `relative` one name at a time, never through a link: what each step holds is an object, so that nothing that
/// is swapped behind it can lead out.
pub(super) fn open(
    dir: BorrowedFd<'_>,
    relative: impl AsRef<Path>,
    flags: OFlags,
    mounts: Mounts,
) -> Result<OwnedFd, Errno> {
    let device = identity(&rustix::fs::fstat(dir)?).0;
    let mut held: Option<OwnedFd> = None;
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    let mut names = relative.as_ref().components().filter(is_name).peekable();
    if names.peek().is_none() {
        return rustix::fs::openat(dir, ".", flags, Mode::empty());
    }
    while let Some(name) = names.next() {
        let Component::Normal(name) = name else { return Err(Errno::XDEV) };
        let last = names.peek().is_none();
        let flags = if last { flags } else { NAME | OFlags::DIRECTORY };
        let at = held.as_ref().map_or(dir, AsFd::as_fd);
        let next = match rustix::fs::openat(at, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
            // A link in the middle: systems differ in which of the two they report.
            Err(Errno::NOTDIR) if is_link(at, name) => return Err(Errno::LOOP),
            result => result?,
        };
        let stat = rustix::fs::fstat(&next)?;
        if mounts == Mounts::Refuse && identity(&stat).0 != device {
            return Err(Errno::XDEV);
        }
        if super::file_type(&stat) == rustix::fs::FileType::Symlink && !flags.contains(OFlags::NOFOLLOW) {
            return Err(Errno::LOOP);
        }
        held = Some(next);
    }
    held.ok_or(Errno::NOENT)
}

fn is_link(at: BorrowedFd<'_>, name: &OsStr) -> bool {
    rustix::fs::statat(at, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| super::file_type(&stat) == rustix::fs::FileType::Symlink)
}

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{Links, Mounts};

/// A rename elsewhere can interrupt a walk that has to stay below the root; the kernel then asks to try again.
const TRIES: u32 = 64;

pub(super) fn open(
    dir: BorrowedFd<'_>,
    relative: impl AsRef<Path>,
    flags: OFlags,
    links: Links,
    mounts: Mounts,
) -> Result<OwnedFd, Errno> {
    let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if links == Links::Refuse {
        resolve |= ResolveFlags::NO_SYMLINKS;
    }
    if mounts == Mounts::Refuse {
        resolve |= ResolveFlags::NO_XDEV;
    }
    let mut tries = 0;
    loop {
        match rustix::fs::openat2(dir, relative.as_ref(), flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => tries += 1,
            result => return result,
        }
    }
}
